"""Installing an application anew, on a scripted phone: what its package manager or its disk may answer."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pipeline.app_entry import ApkFile
from pipeline.envs.android_reinstall import installed_files, reinstall
from pipeline.errors import SetupError
from pipeline.handset.wire import Output
from tests.androids import PACKAGE, AndroidPhone
from tests.phones import Plugged, plugged

DATA = b"an application"
SHA256 = hashlib.sha256(DATA).hexdigest()
APK = ApkFile(file="notes.apk", sha256=SHA256)
PUSHED = f"/data/local/tmp/pathproof-{PACKAGE}.apk"
INSTALLED = f"/data/app/{PACKAGE}-1/base.apk"


class Market(AndroidPhone):
    """A phone whose package manager does as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.installed = True
        self.on("pm path", self._path)
        self.on("pm uninstall", self._uninstall)
        self.on("pm install", self._install)
        self.on("sha256sum", f"{SHA256}  somewhere\n")

    async def _path(self, command: str, output: Output) -> int:
        del command
        await output.out(f"package:{INSTALLED}\npackage:/data/app/split.apk\n".encode() if self.installed else b"")
        return 0 if self.installed else 1

    async def _uninstall(self, command: str, output: Output) -> int:
        del command
        self.installed = False
        await output.out(b"Success\n")
        return 0

    async def _install(self, command: str, output: Output) -> int:
        del command
        self.installed = True
        await output.out(b"Success\n")
        return 0

    @property
    def done(self) -> list[str]:
        """What was changed on it, in order."""
        words = ("pm uninstall", "pm install", "rm ")
        return [command for _, command in self.asked if command.startswith(words)]


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plug(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Plugged]:
    """One phone and one adb server for this file."""
    async with plugged(tmp_path_factory.mktemp("plug"), Market()) as found:
        yield found


@pytest.fixture
def market(plug: Plugged) -> Market:
    assert isinstance(plug.phone, Market)
    plug.phone.renew()
    return plug.phone


@pytest.fixture
def there(tmp_path: Path, plug: Plugged, market: Market) -> Plugged:
    (tmp_path / APK.file).write_bytes(DATA)
    assert plug.phone is market
    return plug


@pytest.mark.parametrize("installed", [True, False])
async def test_a_package_is_removed_if_it_is_there_and_installed(
    there: Plugged, market: Market, tmp_path: Path, installed: bool
) -> None:
    market.installed = installed

    await reinstall(there.device, PACKAGE, tmp_path, APK)

    removed = [f"pm uninstall {PACKAGE}"] if installed else []
    assert market.done == [*removed, f"pm install -g {PUSHED}", f"rm -f {PUSHED}"]
    assert market.files[PUSHED] == DATA
    assert market.count(f"sha256sum {INSTALLED}") == 1


@pytest.mark.parametrize(
    ("pattern", "said", "code"),
    [
        ("pm uninstall", "Failure [DELETE_FAILED_INTERNAL_ERROR]\n", "reset_failed"),
        ("pm install", "Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n", "reset_failed"),
        (f"sha256sum {PUSHED}", f"{'0' * 64}  x\n", "apk_differs"),
        (f"sha256sum {INSTALLED}", f"{'1' * 64}  x\n", "apk_differs"),
        ("sha256sum", 1, "reset_failed"),
    ],
)
async def test_what_goes_wrong_on_the_device_is_a_failure_of_the_set_up_and_nothing_is_left(
    there: Plugged, market: Market, tmp_path: Path, pattern: str, said: str | int, code: str
) -> None:
    market.on(pattern, said)

    with pytest.raises(SetupError) as caught:
        await reinstall(there.device, PACKAGE, tmp_path, APK)

    assert caught.value.code == code
    assert market.done[-1] == f"rm -f {PUSHED}"


async def test_a_file_of_another_package_is_noticed(there: Plugged, market: Market, tmp_path: Path) -> None:
    market.installed = False
    market.on("pm install", "Success\n")

    with pytest.raises(SetupError, match=f"does not install the package {PACKAGE}") as caught:
        await reinstall(there.device, PACKAGE, tmp_path, APK)

    assert caught.value.code == "app_not_installed"


async def test_a_package_that_is_not_there_has_no_files(there: Plugged, market: Market) -> None:
    market.installed = False

    assert await installed_files(there.device, PACKAGE) == []
