# The user's session: bus, accessibility, window manager; what a machine without them lacks, its programs do without.
set -eu
until xset -b r off s off -dpms 2>/dev/null; do sleep 0.2; done
xsetroot -solid '#5A6B7B' -cursor_name left_ptr
dbus-daemon --session --nofork --nopidfile --address="$DBUS_SESSION_BUS_ADDRESS" &
until [ -S /run/pathproof/bus ]; do sleep 0.1; done
[ ! -x /usr/libexec/at-spi-bus-launcher ] || /usr/libexec/at-spi-bus-launcher --launch-immediately &
exec openbox --sm-disable --config-file /etc/pathproof/openbox.xml
