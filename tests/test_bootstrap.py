"""Set-up of a bare checkout, with real environments and stand-ins for the programs of the system."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pipeline import bootstrap
from pipeline.bootstrap import BootstrapError, CommandError, check_python, locked, make_environment, run
from tests.tinyapp import make_entry

LOCK = """\
alpha==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
uv==0.9.1 \\
    --hash=sha256:bb
uvloop==1 \\
    --hash=sha256:cc
"""

Fake = Callable[[str, str], Path]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes shell programs, the only ones on the path beside the shell's own."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, body: str) -> Path:
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{body}\n")
        program.chmod(0o755)
        return program

    return make


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose lock has one small package; our own uv is on the path, for speed."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    checkout = tmp_path / "check out"
    checkout.mkdir()
    make_entry(checkout)
    (checkout / "pipeline").mkdir()
    (checkout / "pipeline" / "__init__.py").touch()
    (checkout / "pipeline" / "cli.py").write_text("import sys, tinyapp_is_there\ndef main(): print(sys.argv[1:])\n")
    (checkout / "tinyapp_is_there.py").touch()
    return checkout


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What was told to the person."""
    return lambda: capsys.readouterr().err


def test_an_old_python_is_refused() -> None:
    check_python((3, 11))
    check_python((3, 13))
    with pytest.raises(BootstrapError, match=r"3\.11 or newer is needed, this is 3\.9; install"):
        check_python((3, 9))


def test_one_entry_of_a_lock_is_found() -> None:
    assert locked(LOCK, "uv") == "uv==0.9.1 \\\n    --hash=sha256:bb"
    assert locked(LOCK, "absent") == ""


def test_a_command_gives_what_it_prints() -> None:
    assert run(["sh", "-c", "echo out; echo err >&2"], 10) == "out\nerr\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [(["sh", "-c", "echo reason; exit 3"], "`sh -c .*` failed:\nreason"), (["/no/such"], "cannot run /no/such")],
)
def test_a_command_that_fails_is_an_error(argv: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(argv, 10)


def runs(pid: int) -> bool:
    """Whether a process is there, and has not ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(CommandError, match="took longer than 1 s"):
        run(["sh", "-c", f"sleep 60 & echo $! > '{tmp_path}/pid'; wait"], 1)
    assert time.monotonic() - begun < 20
    child = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while runs(child):
        assert time.monotonic() < until, "the child goes on"
        time.sleep(0.05)


def test_an_environment_is_made_once(root: Path, said: Callable[[], str]) -> None:
    make_environment(root)
    python = root / ".venv" / "bin" / "python"
    assert run([str(python), "-c", "import importlib.util as u; print(bool(u.find_spec('tinyapp')))"], 20) == "True\n"
    assert "installing the environment" in said()

    before = (python.parent / "pathproof").stat().st_mtime_ns
    make_environment(root)

    assert said() == ""
    assert (python.parent / "pathproof").stat().st_mtime_ns == before


def test_the_command_runs_from_anywhere_also_below_a_folder_with_a_space(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other" / "pipeline").mkdir(parents=True)
    (tmp_path / "other" / "pipeline" / "__init__.py").write_text("raise SystemExit('the pipeline of another project')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "other"))
    make_environment(root)
    command = root / ".venv" / "bin" / "pathproof"
    shown = subprocess.run([command, "query", "a b"], cwd="/", capture_output=True, text=True, check=True)
    assert shown.stdout == "['query', 'a b']\n"


def test_a_changed_lock_is_installed_into_the_same_environment(root: Path, said: Callable[[], str]) -> None:
    make_environment(root)
    said()
    (root / ".venv" / "kept").touch()
    lock = root / "requirements.lock"
    lock.write_text(lock.read_text() + "# changed\n")
    make_environment(root)
    assert "installing the environment" in said()
    assert (root / ".venv" / "kept").exists()


def test_a_broken_environment_is_made_again(root: Path) -> None:
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/no/such/python")
    (root / ".venv" / "leftover").touch()
    make_environment(root)
    assert not (root / ".venv" / "leftover").exists()
    assert (root / ".venv" / "bin" / "pathproof").exists()


def test_an_interrupted_installation_is_finished(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(bootstrap, "_install_project", interrupt)
        make_environment(root)
    make_environment(root)
    assert (root / ".venv" / "bin" / "pathproof").exists()


@pytest.mark.slow
def test_pip_does_it_when_uv_cannot(root: Path, programs: Fake, said: Callable[[], str]) -> None:
    programs("uv", "echo 'error: no index' >&2; exit 2")
    make_environment(root)
    assert "uv did not do it, trying pip: error: no index" in said()
    assert list(root.glob(".venv/lib/python3*/site-packages/tinyapp.py"))


def test_a_lock_that_cannot_be_installed_leaves_no_stamp(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_pip", lambda _: ["false"])
    (root / "requirements.lock").write_text(f"tinyapp @ {root.as_uri()}/absent-1.0-py3-none-any.whl --hash=sha256:00\n")
    with pytest.raises(CommandError, match="failed"):
        make_environment(root)
    assert not (root / ".venv" / bootstrap._STAMP).exists()


def test_uv_needs_no_ensurepip(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", None)  # type: ignore[attr-defined]
    make_environment(root)
    assert not (root / ".venv" / "bin" / "pip").exists()


def test_without_ensurepip_the_missing_package_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, programs: Fake
) -> None:
    programs("nothing", "")
    # As Debian ships Python without its package python3-venv.
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", lambda _: None)  # type: ignore[attr-defined]
    package = f"python3.{sys.version_info.minor}-venv"
    with pytest.raises(BootstrapError, match=rf"ensurepip is missing\); run `sudo apt-get install {package}`"):
        make_environment(root)


def test_root_installs_packages_after_fetching_the_lists(
    programs: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Callable[[], str]
) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)  # type: ignore[attr-defined]
    programs("env", 'shift; exec "$(dirname "$0")/$@"')
    programs("apt-get", f'echo "$*" >> "{tmp_path}/log"; [ "$2" = update ] || [ "$(wc -l < "{tmp_path}/log")" -gt 2 ]')
    bootstrap.install_packages(["one", "two"], "two things are missing")
    install = "--yes install --no-install-recommends one two"
    assert (tmp_path / "log").read_text().splitlines() == [install, "--yes update", install]
    assert said() == "two things are missing: installing one, two with apt-get\n"


@pytest.mark.parametrize("sudo", ["exit 1", None])
def test_without_rights_the_command_is_told(programs: Fake, monkeypatch: pytest.MonkeyPatch, sudo: str | None) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)  # type: ignore[attr-defined]
    programs("apt-get", "exit 0")
    if sudo:
        programs("sudo", sudo)
    with pytest.raises(BootstrapError, match=r"^it is missing; run `sudo apt-get install it`, then this again$"):
        bootstrap.install_packages(["it"], "it is missing")


def test_sudo_is_used_when_it_asks_nothing(programs: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)  # type: ignore[attr-defined]
    programs("apt-get", "exit 0")
    programs("sudo", f'echo "$*" >> "{tmp_path}/log"')
    programs("id", "id")
    programs("sudo", f'echo "$*" >> "{tmp_path}/log"; echo root')
    bootstrap.install_packages(["it"], "it is missing")
    assert "-n env DEBIAN_FRONTEND=noninteractive apt-get --yes install" in (tmp_path / "log").read_text()


def downloads(checkout: Path, answer: str) -> Path:
    """A stand-in for the environment's Python with Playwright: what `install` does is `answer`."""
    browser = checkout / "downloaded"
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f"#!/bin/sh\nPATH=/usr/bin:/bin\n"
        f'case "$2" in *executable_path*) echo "{browser}";;\n'
        f'playwright) echo "$3" >> "{checkout}/asked"; {answer};; esac\n'
    )
    python.chmod(0o755)
    return browser


def test_the_systems_chromium_is_taken(root: Path, programs: Fake, said: Callable[[], str]) -> None:
    programs("chromium", "echo Chromium 156")
    programs("fc-list", "echo Noto Sans CJK")
    assert bootstrap.find_chromium(root) == "chromium"
    assert said() == ""


def test_a_missing_font_is_only_a_hint(root: Path, programs: Fake, said: Callable[[], str]) -> None:
    programs("chromium", "echo Chromium 156")
    bootstrap.find_chromium(root)
    assert said().startswith("hint: no font for Chinese")


def test_a_stub_that_does_not_start_is_passed_over(root: Path, programs: Fake) -> None:
    programs("chromium-browser", "echo 'requires the chromium snap' >&2; exit 1")
    programs("google-chrome", "echo Google Chrome 156")
    assert bootstrap.find_chromium(root) == "google-chrome"


def test_what_playwright_has_downloaded_is_taken(root: Path, programs: Fake) -> None:
    browser = downloads(root, "exit 1")
    programs(f"../{browser.relative_to(root.parent)}", "echo Chromium 156")
    assert bootstrap.find_chromium(root) == str(browser)
    assert not (root / "asked").exists()


def test_playwright_is_asked_for_a_download(root: Path, programs: Fake, said: Callable[[], str]) -> None:
    browser = downloads(root, f"printf '#!/bin/sh\\necho 1\\n' > '{root}/downloaded'; chmod +x '{root}/downloaded'")
    assert bootstrap.find_chromium(root) == str(browser)
    assert (root / "asked").read_text() == "install\n"
    assert "asking Playwright to download one" in said()


def test_the_systems_package_comes_last(
    root: Path, programs: Fake, monkeypatch: pytest.MonkeyPatch, said: Callable[[], str]
) -> None:
    downloads(root, "echo 'no route to host'; exit 1")
    monkeypatch.setattr(
        bootstrap, "install_packages", lambda names, _: [programs(name, "echo Chromium 156") for name in names]
    )
    assert bootstrap.find_chromium(root) == "chromium"
    assert "no route to host" in said()


def test_no_chromium_at_all_is_told(root: Path, programs: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads(root, "exit 1")
    programs("chromium", "exit 1")
    monkeypatch.setattr(bootstrap, "install_packages", lambda *_: None)
    with pytest.raises(BootstrapError, match="no Chromium that starts"):
        bootstrap.find_chromium(root)


def test_a_failure_is_one_line_and_a_code(monkeypatch: pytest.MonkeyPatch, said: Callable[[], str]) -> None:
    def refuse(_: Path) -> None:
        raise BootstrapError("nothing works; buy another machine")

    monkeypatch.setattr(bootstrap, "make_environment", refuse)
    assert bootstrap.main() == 1
    assert said() == "error: nothing works; buy another machine\n"


def test_make_names_its_targets_and_refuses_a_missing_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # as from a shell, also when these tests are run by make
        monkeypatch.delenv(name, raising=False)

    shown = subprocess.run(["make", "help"], cwd=bootstrap.ROOT, capture_output=True, text=True, check=True).stdout

    assert [line.split()[1] for line in shown.splitlines()] == [
        "setup",
        "collect",
        "test",
        "audit",
        "fuzz",
        "full",
        "vllm",
        "clean",
    ]
    refused = subprocess.run(
        ["make", "setup", "PYTHON="], cwd=bootstrap.ROOT, capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert "error: no Python 3.11 or newer found" in refused.stderr
