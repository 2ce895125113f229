"""Programs that change the machine or reach others, and those known to only look, compute or show.

Most such programs ask as well as change: each has the words with which it only asks, everything else that it is told
counts as a change. Knows no paths and no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.safety.writing import Call, Effect, operands
from pipeline.words import Consequence


class _Asking(NamedTuple):
    """How a program asks: the verbs it asks with, which operand is the verb, and options that do."""

    verbs: frozenset[str] = frozenset()
    place: int = 0
    options: frozenset[str] = frozenset()
    alone: bool = False
    """Whether it asks when it is told nothing."""
    tries: frozenset[str] = frozenset()
    """Options with which it says what it would do."""
    valued: str = ""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERSIONS = _words("-V -v -h")
_LISTS = _words("get help info list ls search show status version view")
_DRY = _words("--dry-run")
_APT = _Asking(
    _LISTS | _words("policy depends rdepends madison showpkg update changelog moo"),
    tries=_words("-s --simulate --just-print --dry-run --no-act --recon"),
    alone=True,
    valued="oct",
)
_INSTALLERS: dict[str, _Asking] = {
    **dict.fromkeys(("apt", "apt-get", "aptitude", "nala"), _APT),
    "apt-cache": _Asking(_APT.verbs, alone=True),
    **dict.fromkeys(
        ("dnf", "yum", "zypper", "apk"), _Asking(_LISTS | _words("check-update repolist provides"), alone=True)
    ),
    "dpkg": _Asking(options=_words("-l -L -s -S -p -c -I --list --listfiles --status --search --print-avail --audit")),
    "rpm": _Asking(options=_words("-q -qa -qi -ql -qf --query -V --verify")),
    "pacman": _Asking(options=_words("-Q -Qi -Ql -Qs -Qe -Ss -Si --query")),
    **dict.fromkeys(
        ("pip", "pip3", "pipx"),
        _Asking(_LISTS | _words("freeze check inspect index debug hash"), alone=True, tries=_DRY),
    ),
    "uv": _Asking(_words("version help tree"), alone=True),
    **dict.fromkeys(("conda", "mamba"), _Asking(_LISTS | _words("activate deactivate"), alone=True, tries=_DRY)),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn"),
        _Asking(_LISTS | _words("outdated audit why root prefix bin doctor ping whoami"), alone=True, tries=_DRY),
    ),
    "gem": _Asking(_LISTS | _words("query environment outdated"), alone=True),
    "brew": _Asking(_LISTS | _words("config deps doctor leaves outdated"), alone=True),
    "snap": _Asking(_LISTS | _words("find changes connections"), alone=True),
    "flatpak": _Asking(_LISTS | _words("history remote-ls remotes ps"), alone=True),
    **dict.fromkeys(("npx", "bunx", "uvx"), _Asking()),
}
_GONE = re.compile(
    r"autoremove|clean|del|delete|erase|purge|remove|rm|uninstall|unlink|--(?:purge|remove|erase)|-[rPRe]\w*"
)

_SERVICES = _words(
    "status is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets "
    "list-jobs list-dependencies list-sessions list-users show show-session show-user show-environment "
    "cat help get-default"
)
_ADMINISTRATORS: dict[str, _Asking] = {
    **dict.fromkeys(("systemctl", "loginctl", "machinectl"), _Asking(_SERVICES, alone=True, valued="tpHMno")),
    "service": _Asking(_words("status"), place=1, options=_words("--status-all")),
    "rc-service": _Asking(_words("status"), place=1),
    "gsettings": _Asking(
        _words("get list-schemas list-keys list-children list-recursively describe range writable monitor help")
    ),
    "dconf": _Asking(_words("read list dump watch help")),
    "gconftool-2": _Asking(options=_words("-g -a --get --all-entries")),
    "xfconf-query": _Asking(),
    "settings": _Asking(_words("get list help")),
    "svc": _Asking(),
    "setprop": _Asking(),
    "device_config": _Asking(_words("get list")),
    "cmd": _Asking(_LISTS | _words("path query dump query-activities resolve-activity"), place=1, options=_words("-l")),
    "pm": _Asking(_words("list path dump help get-install-location get-max-users resolve-activity"), alone=True),
    "am": _Asking(_words("help get-config get-current-user get-standby-bucket stack"), alone=True),
    "wm": _Asking(),
    "content": _Asking(_words("query gettype")),
    "input": _Asking(),
    "bmgr": _Asking(_words("list")),
    "dpm": _Asking(_words("list-owners")),
    "ime": _Asking(_words("list")),
    "appops": _Asking(_words("get query-op")),
    "sm": _Asking(_words("list-disks list-volumes get-primary-storage-uuid")),
    "fastboot": _Asking(_words("devices getvar help")),
    **dict.fromkeys(
        ("hostnamectl", "timedatectl", "localectl"),
        _Asking(
            _words(
                "status show list-timezones list-locales list-keymaps timesync-status show-timesync "
                "list-x11-keymap-layouts"
            ),
            alone=True,
        ),
    ),
    "ip": _Asking(_words("show list ls l get s sh lst"), place=1, alone=True, valued="f"),
    "ifconfig": _Asking(options=_words("-a"), alone=True),
    "route": _Asking(options=_words("-n"), alone=True),
    "iw": _Asking(_words("list dev phy help")),
    "iwconfig": _Asking(alone=True),
    **dict.fromkeys(
        ("iptables", "ip6tables", "ebtables", "arptables"), _Asking(options=_words("-L -nL -vnL -Lnv -S --list"))
    ),
    "nft": _Asking(_words("list")),
    "ufw": _Asking(_words("status show version")),
    "firewall-cmd": _Asking(options=_words("--state --list-all --list-ports --list-services --get-zones")),
    "nmcli": _Asking(_words("show status list s"), place=1, alone=True, valued="fem"),
    "rfkill": _Asking(_words("list"), alone=True),
    "bluetoothctl": _Asking(_words("show list devices info")),
    "sysctl": _Asking(options=_words("-a -n --all")),
    "setenforce": _Asking(),
    "semanage": _Asking(),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "kubectl", "lxc", "virsh", "vboxmanage"),
        _Asking(
            _LISTS | _words("ps images logs inspect stats top port diff describe explain history dumpxml dominfo"),
            alone=True,
        ),
    ),
    "mount": _Asking(alone=True, options=_words("-l")),
    **dict.fromkeys(("umount", "swapoff", "modprobe", "rmmod", "insmod", "kexec", "depmod", "cryptsetup"), _Asking()),
    "swapon": _Asking(alone=True, options=_words("-s --show")),
    "losetup": _Asking(alone=True, options=_words("-a -l --list")),
    "hostname": _Asking(alone=True, options=_words("-f -i -I -s -d -A --fqdn")),
    "crontab": _Asking(options=_words("-l")),
    **dict.fromkeys(("at", "batch"), _Asking(options=_words("-l"))),
    "atrm": _Asking(),
    "update-alternatives": _Asking(options=_words("--list --display --query")),
    **dict.fromkeys(
        ("update-grub", "grub-install", "update-initramfs", "efibootmgr", "update-rc.d", "ldconfig", "chsh"), _Asking()
    ),
    **dict.fromkeys(("busctl",), _Asking(_words("list status tree introspect get-property monitor"), alone=True)),
    **dict.fromkeys(
        ("dbus-send", "gdbus", "qdbus", "initctl", "debconf-set-selections", "dpkg-reconfigure"), _Asking()
    ),
    **dict.fromkeys(("gnome-session-quit", "xfce4-session-logout", "mate-session-save", "lxsession-logout"), _Asking()),
    **dict.fromkeys(("killall", "pkill", "skill", "xkill", "fuser", "killall5"), _Asking(options=_words("-l --list"))),
    **dict.fromkeys(
        ("xset", "xrandr", "xinput"), _Asking(alone=True, options=_words("q -q --query --listmonitors list"))
    ),
    "xdotool": _Asking(_words("getactivewindow getmouselocation search getwindowname")),
    "setxkbmap": _Asking(options=_words("-query -print")),
    "git-lfs": _Asking(_LISTS, alone=True),
    "logcat": _Asking(alone=True, options=_words("-d")),
    "crudini": _Asking(options=_words("--get")),
}
_FORGES = dict.fromkeys(("gh", "glab"), _Asking(_LISTS | _words("checks diff"), place=1, alone=True))
_POWER = _words("halt poweroff reboot shutdown init telinit runlevel0 pm-suspend pm-hibernate systemd-shutdown")
_DISKS = _words(
    "badblocks blkdiscard cfdisk fdisk fsck gdisk hdparm lvremove mdadm mke2fs mkfs mkswap nvme parted partprobe "
    "pvremove resize2fs sfdisk sgdisk tune2fs vgremove wipefs zfs zpool"
)
_ACCOUNTS = _words(
    "addgroup adduser chage chfn chpasswd delgroup deluser faillock gpasswd groupadd groupdel groupmod newusers passwd "
    "useradd userdel usermod vigr vipw visudo sudoedit ssh-copy-id"
)
_OUTWARD = _words(
    "aws ftp gcloud gsutil lftp mail mailx msmtp mutt nc ncat netcat rclone scp s3cmd sendmail sftp socat ssh "
    "ssmtp swaks telnet tftp"
)
_INTERACTIVE = _words("su runuser sulogin login newgrp machinectl")
_READERS = _words(
    ". .. : [ alias apropos arch base32 base64 basename bat bc bg break bzcat cal cat cksum clear cmp column comm "
    "continue cut date dc declare df diff dir dirname dirs disown dmesg du echo egrep env exit expand export expr "
    "eza factor false fd fg fgrep file fmt fold free getconf getent getopts getprop grep groups hash hd head "
    "help hexdump hexyl history host htop id info iostat jobs join jq kill last let ll local locale locate "
    "logname logout look ls lsattr lsb_release lsblk lscpu lsmod lsof lspci lsusb man md5sum more nl nproc numfmt od "
    "paste pgrep pidof ping popd printenv printf ps pstree pushd pwd read readarray readelf readlink readonly realpath "
    "return rev rg seq set sha1sum sha256sum sha512sum shift shopt sleep ss stat strings stty sum tac tail test top "
    "tput tr true tsort tty type typeset ulimit umask uname unalias unexpand unset uptime users vmstat w wait wc "
    "whatis whereis which who whoami xzcat yes zcat zgrep zless cd dig nslookup netstat traceroute nm objdump "
    "dumpsys xdg-open evince eog feh firefox chromium okular notify-send"
)
_DEVELOPERS: dict[str, frozenset[str]] = {
    "cargo": _words("install uninstall publish login owner yank"),
    "go": _words("install get"),
    "make": _words("install uninstall"),
    "ninja": _words("install uninstall"),
}


def machine_effect(call: Call) -> Effect | None:
    """What a program does to the machine or sends to others; nothing when it only asks, or is none of these."""
    name = "mkfs" if call.name.startswith("mkfs.") else call.name
    for kind, names in _ALWAYS:
        if name in names:
            return None if name in _DISKS and set(call.arguments) & {"-l", "--list", "-I"} else Effect(kind, True)
    if name in ("npm", "pnpm", "yarn") and (script := _runs_script(call)) is not None:
        return script
    for kind, table in _KINDS:
        if name in table:
            return None if _asks(table[name], call.arguments) else Effect(_removal(kind, call.arguments), True)
    special = _SPECIAL.get(name)
    return special(call) if special is not None else None


def only_looks(name: str) -> bool:
    """Whether a program is known to change nothing but through a redirection."""
    return name in _READERS


def is_known(name: str) -> bool:
    """Whether it is known what a program does to the machine."""
    return name in _SPECIAL or any(name in table for _, table in _KINDS)


_ALWAYS: tuple[tuple[Consequence, frozenset[str]], ...] = (
    ("system", _POWER),
    ("uninstall", _DISKS),
    ("credential", _ACCOUNTS),
    ("run", _INTERACTIVE),
    ("send", _OUTWARD),
)
_KINDS: tuple[tuple[Consequence, dict[str, _Asking]], ...] = (
    ("run", _INSTALLERS),
    ("system", _ADMINISTRATORS),
    ("push", _FORGES),
)


def _asks(asking: _Asking, arguments: Sequence[str]) -> bool:
    """Whether a program is only asked how things are."""
    if asking.tries & set(arguments):
        return True
    told = operands(arguments, asking.valued)
    if not told:
        known = asking.options | _VERSIONS
        return (asking.alone and set(arguments) <= known) or bool(known & set(arguments[:1]))
    if not asking.verbs:
        return bool(asking.options & set(arguments[:1]))
    return told[asking.place] in asking.verbs if len(told) > asking.place else asking.place == 1 and asking.alone


def _removal(kind: Consequence, arguments: Sequence[str]) -> Consequence:
    """An installer, or a phone's package manager, that takes something away."""
    if any(_GONE.fullmatch(word) for word in arguments) and kind == "run":
        return "uninstall"
    return "uninstall" if {"uninstall", "clear"} & set(arguments[:2]) else kind


def _kills(call: Call) -> Effect | None:
    """Jobs of the shell belong to the work; a number may be any program of the machine."""
    if set(call.arguments[:1]) & {"-l", "-L", "-0", "--list"}:
        return None
    targets = [word for word in call.arguments[-1:] if not re.fullmatch(r"%[\w+-]*", word)]
    return Effect("system", True) if targets else None


def _sets_date(call: Call) -> Effect | None:
    told = operands(call.arguments, "dfrI", ("--date", "--file", "--reference"))
    sets = any(re.match(r"-\w*s|--set", word) for word in call.arguments if not word.startswith("-d"))
    return Effect("system", True) if sets or any(not word.startswith("+") for word in told) else None


def _clears_log(call: Call) -> Effect | None:
    clearing = r"-\w*[cCDEn]|--(?:clear|read-clear|console)" if call.name == "dmesg" else r"--(?:vacuum|rotate|flush)"
    return Effect("delete", True) if any(re.match(clearing, word) for word in call.arguments) else None


def _runs_script(call: Call) -> Effect | None:
    """A package's own script stays where the package lies."""
    return Effect("run", False) if set(operands(call.arguments)[:1]) & {"run", "start", "test"} else None


def _develops(call: Call) -> Effect | None:
    if {"-n", "--dry-run", "--just-print"} & set(call.arguments):
        return None
    told = set(operands(call.arguments)) & _DEVELOPERS[call.name]
    return Effect("run", bool(told))


def _phones(call: Call) -> Effect | None:
    """`adb`, beside the lines it gives to the phone's shell."""
    verbs = operands(call.arguments, "sHPLt")
    if not verbs or verbs[0] in (
        "devices",
        "version",
        "help",
        "logcat",
        "get-state",
        "get-serialno",
        "pull",
        "bugreport",
    ):
        return None
    return Effect("uninstall" if verbs[0] == "uninstall" else "system", True)


_SPECIAL = {
    "kill": _kills,
    "date": _sets_date,
    "dmesg": _clears_log,
    "journalctl": _clears_log,
    "adb": _phones,
    **dict.fromkeys(_DEVELOPERS, _develops),
}
