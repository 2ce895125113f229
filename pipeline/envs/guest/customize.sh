# After packages are configured, with the folder of the new system as the argument. LOCALES names languages, FILES is
# where the folder `root` lies, whose files go over the system, and PARTS names more of them, as SOURCE=TARGET lines.
set -eu
cp -R "$FILES/root/." "$1/"
printf '%s\n' "$PARTS" | while IFS='=' read -r from to; do
    mkdir -p "$(dirname "$1$to")"
    cp "$from" "$1$to"
done
chmod -R u=rwX,go=rX "$1/etc/pathproof"
for locale in $LOCALES; do
    [ ! -e "$1/usr/share/i18n/locales/$locale" ] || chroot "$1" localedef -i "$locale" -f UTF-8 "$locale.UTF-8"
done
chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash user
install -d -m 700 -o 1000 -g 1000 "$1/home/user/.config" "$1/home/user/.config/gtk-3.0"
install -m 600 -o 1000 -g 1000 "$1/etc/pathproof/gtk-settings.ini" "$1/home/user/.config/gtk-3.0/settings.ini"
chroot "$1" systemctl -q enable pathproof-screen.service pathproof-session.service
chroot "$1" systemctl -q mask getty@tty1.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    e2scrub_all.timer e2scrub_reap.service fstrim.timer logrotate.timer man-db.timer systemd-timesyncd.service
chroot "$1" dpkg-query -W >"$1/etc/pathproof/packages.txt"
echo pathproof >"$1/etc/hostname"
printf '127.0.0.1 localhost pathproof\n' >"$1/etc/hosts"
: >"$1/etc/machine-id"
# Caches of fonts hold for the times of folders, which lose their fractions on the way into a file system.
find "$1/usr/share/fonts" "$1/usr/local/share/fonts" -type d -exec touch -d @1700000000 {} + 2>/dev/null || :
[ ! -x "$1/usr/bin/fc-cache" ] || chroot "$1" fc-cache -f
