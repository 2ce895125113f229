"""Packages on the phone: the applications it ships with, wrapped web applications, input methods, and its own parts.

Knows what is installed and what each is called; what an application does is elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

LAUNCHER = "org.pathproof.launcher"
SYSTEM_UI = "com.android.systemui"
ADB_IME = "com.android.adbkeyboard/.AdbIME"
WEB = "org.pathproof.web."
"""What the names of wrapped web applications begin with."""

Kind = Literal["builtin", "web", "ime", "system"]


class Package(NamedTuple):
    """One package."""

    name: str
    kind: Kind
    labels: Mapping[str, str]
    """What it is called, by language."""
    activity: str = ".MainActivity"
    colour: str = "#5f6368"
    icon: str = "globe"

    @property
    def component(self) -> str:
        """Its activity, as the package manager writes it."""
        return f"{self.name}/{self.activity}"

    @property
    def full_component(self) -> str:
        """The same with the class written out, as the window manager has it."""
        return f"{self.name}/{self.name}{self.activity}"

    @property
    def launchable(self) -> bool:
        """Whether a person can open it from the launcher."""
        return self.kind in ("builtin", "web")

    @property
    def path(self) -> str:
        """Its file on the phone."""
        if self.kind == "web":
            return f"/data/app/{self.name}/base.apk"
        return f"/system/app/{self.name}/{self.name}.apk"


SYSTEM_PACKAGES = (
    Package("android", "system", {"en": "Android System", "zh": "Android 系统"}),
    Package(SYSTEM_UI, "system", {"en": "System UI", "zh": "系统界面"}),
    Package(LAUNCHER, "system", {"en": "Home", "zh": "主屏幕"}, ".HomeActivity"),
    Package("com.android.adbkeyboard", "ime", {"en": "ADB Keyboard", "zh": "ADB 键盘"}, ".AdbIME"),
    Package("com.android.inputmethod.latin", "ime", {"en": "Keyboard", "zh": "键盘"}, ".LatinIME"),
    Package("com.android.providers.settings", "system", {"en": "Settings Storage", "zh": "设置存储"}),
)


def web_package(name: str, title: str) -> Package:
    """A package that shows the pages of a web application."""
    return Package(f"{WEB}{name}", "web", {"en": title, "zh": title}, colour="#3c6e9f")


class Packages:
    """What is installed; whatever the phone came with can be installed again."""

    def __init__(self, packages: Iterable[Package]) -> None:
        """All the phone comes with."""
        self._known = {package.name: package for package in sorted((*SYSTEM_PACKAGES, *packages))}
        self._removed: set[str] = set()

    def get(self, name: str) -> Package | None:
        """An installed package."""
        return None if name in self._removed else self._known.get(name)

    def known(self, name: str) -> Package | None:
        """A package that is or was installed."""
        return self._known.get(name)

    def installed(self) -> list[Package]:
        """By name."""
        return [package for name, package in self._known.items() if name not in self._removed]

    def launchable(self) -> list[Package]:
        """Those a person can open, by name."""
        return [package for package in self.installed() if package.launchable]

    def install(self, name: str) -> None:
        """Bring a known package back."""
        self._removed.discard(name)

    def uninstall(self, name: str) -> bool:
        """Remove a package; the phone's own parts stay."""
        package = self.get(name)
        if package is None or package.kind == "system":
            return False
        self._removed.add(name)
        return True

    def input_methods(self) -> list[str]:
        """Ids of the installed input methods."""
        return [package.component for package in self.installed() if package.kind == "ime"]
