"""Installing an application: once, apart, whole, also after a crash and under a race."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import app_install
from pipeline.app_entry import AppEntry
from pipeline.app_install import Place, home, install, place_of, render
from pipeline.app_state import snapshot
from pipeline.errors import SetupError
from tests.tinyapp import make_entry


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("PATHPROOF_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def entry(tmp_path: Path) -> AppEntry:
    """A small application that can be installed without a network."""
    return make_entry(tmp_path)


def marks(place: Place) -> list[int]:
    return [made.with_name(f"{made.name}.done").stat().st_mtime_ns for made in (place.environment, place.template)]


def test_the_cache_folder_follows_the_variable(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home() == own_home
    monkeypatch.delenv("PATHPROOF_HOME")
    assert home() == Path.home() / ".cache" / "pathproof"


def test_an_application_gets_an_environment_and_a_template(entry: AppEntry, own_home: Path) -> None:
    folder = install(entry)
    place = place_of(entry)

    assert folder == place.folder and folder.parent == own_home / "apps"
    subprocess.run(
        [place.bin / "python", "-c", "import importlib.util as u; u.find_spec('tinyapp').origin"], check=True
    )
    assert (place.template / "notes.txt").read_text() == "a\nb\n"
    assert sorted(snapshot(entry.state, place.template)) == [
        "items/1",
        "items/2",
        "notes.txt|a",
        "notes.txt|b",
        "schema/items",
        "schema/log",
    ]


def test_the_environment_has_nothing_of_ours(entry: AppEntry) -> None:
    install(entry)
    python = place_of(entry).bin / "python"
    seen = subprocess.run([python, "-c", "import pydantic"], cwd="/", capture_output=True, check=False)
    assert b"ModuleNotFoundError" in seen.stderr


def test_the_second_time_nothing_is_done(entry: AppEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    install(entry)
    before = marks(place_of(entry))
    monkeypatch.setattr(app_install, "Scratch", None)
    install(entry)
    assert marks(place_of(entry)) == before


def test_what_a_crash_left_half_made_is_made_again(entry: AppEntry) -> None:
    place = place_of(entry)
    (place.environment / "bin").mkdir(parents=True)
    (place.environment / "bin" / "python").write_text("half")
    place.template.mkdir()
    (place.template / "leftover").write_text("half")

    install(entry)

    assert not (place.template / "leftover").exists()
    assert place.ready and (place.bin / "python").stat().st_size > 4


def test_a_new_seed_makes_a_new_template_in_the_same_environment(entry: AppEntry) -> None:
    install(entry)
    first = place_of(entry)
    (entry.folder / "seed.sql").write_text("CREATE TABLE items (id INTEGER PRIMARY KEY); INSERT INTO items VALUES (1);")
    second = place_of(entry)
    assert second.environment == first.environment and second.template != first.template and not second.ready
    install(entry)
    assert marks(first)[0] == marks(second)[0]


def test_another_lock_is_another_environment(entry: AppEntry) -> None:
    first = place_of(entry)
    entry.lock.write_text(entry.lock.read_text() + "# changed\n")
    assert place_of(entry).folder != first.folder


def test_two_processes_at_once_install_once(entry: AppEntry, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.tinyapp import make_entry; from pipeline.app_entry import"
        " AppEntry; from pipeline import app_install as a; real = a._make_environment;"
        " a._make_environment = lambda *args: (print('made'), real(*args));"
        " entry = AppEntry.model_validate_json(sys.argv[1]).model_copy(); a.install(entry)"
    )
    text = entry.model_dump_json()[:-1] + f',"folder":"{tmp_path}"}}'
    runs = [
        subprocess.Popen([sys.executable, "-c", program, text], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [run.communicate(timeout=60)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert "".join(said).count("made") == 1
    assert place_of(entry).ready


def test_pip_is_used_when_uv_cannot(entry: AppEntry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "uv"
    broken.write_text("#!/bin/sh\necho no network >&2\nexit 2\n")
    broken.chmod(0o755)
    real = app_install._installers(place_of(entry).environment, entry.lock)
    first, *rest = [[[part if "uv" not in Path(part).name else str(broken) for part in c] for c in cs] for cs in real]
    monkeypatch.setattr(app_install, "_installers", lambda *_: iter([first, *rest]))
    install(entry)
    assert (place_of(entry).bin / "pip").exists()


def test_a_wrong_hash_is_refused(entry: AppEntry, monkeypatch: pytest.MonkeyPatch) -> None:
    by_uv = next(app_install._installers(place_of(entry).environment, entry.lock))
    monkeypatch.setattr(app_install, "_installers", lambda *_: iter([by_uv]))
    entry.lock.write_text(entry.lock.read_text().partition("sha256:")[0] + f"sha256:{'0' * 64}\n")
    with pytest.raises(SetupError, match="tiny could not be installed") as caught:
        install(entry)
    assert caught.value.code == "app_not_installed"
    assert "hash" in caught.value.message.lower()
    assert not place_of(entry).ready


def test_a_missing_lock_is_a_setup_error(entry: AppEntry) -> None:
    entry.lock.unlink()
    with pytest.raises(SetupError, match=r"requirements\.lock") as caught:
        install(entry)
    assert caught.value.code == "app_not_installed"


def test_a_seed_program_beside_the_entry_is_part_of_what_the_template_is_made_from(tmp_path: Path) -> None:
    entry = make_entry(tmp_path, seed=[["{bin}/python", "{entry}/seed.py", "{data}"]])
    (entry.folder / "seed.py").write_text("print('one')")
    first = place_of(entry)
    (entry.folder / "seed.py").write_text("print('other')")

    assert place_of(entry).environment == first.environment
    assert place_of(entry).template != first.template


def test_a_seed_that_fails_says_so_with_the_end_of_its_output(tmp_path: Path) -> None:
    entry = make_entry(tmp_path, seed=[["{bin}/python", "-c", "print('half way'); raise SystemExit('no salt')"]])
    with pytest.raises(SetupError, match="failed with code 1: half way\nno salt"):
        install(entry)
    assert not place_of(entry).ready


def test_a_seed_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_install, "_SEED_SECONDS", 0.5)
    entry = make_entry(tmp_path, seed=[["{bin}/python", "-c", "import time; time.sleep(60)"]])
    with pytest.raises(SetupError, match="took longer than"):
        install(entry)


def test_a_seed_without_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="its seed made no state"):
        install(make_entry(tmp_path, seed=[]))


def test_seeds_run_in_the_same_surroundings_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "sqlite3.py").write_text("raise SystemExit('not this one')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ours"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    write = "import sqlite3, os, time; print(*time.tzname, os.environ['https_proxy'], file=open('notes.txt', 'w'))"
    entry = make_entry(tmp_path, seed=[["{bin}/python", "-c", write]])
    install(entry)
    assert (place_of(entry).template / "notes.txt").read_text() == "UTC UTC http://127.0.0.1:9\n"


def test_files_are_rendered_inside_the_data_folder_only(entry: AppEntry, tmp_path: Path) -> None:
    place = place_of(entry)
    values = render(entry, place, tmp_path, port=8123)
    assert (tmp_path / "greeting.txt").read_text() == f"Tiny app {{of}} the {tmp_path}"
    ours = {"python": sys.executable, "package": str(Path(__file__).resolve().parents[1])}
    own = {"bin": str(place.bin), "data": str(tmp_path), "entry": str(entry.folder), "port": "8123"}
    assert values == ours | own
    with pytest.raises(ValueError, match="leaves the data folder"):
        render(entry.model_copy(update={"files": {"../x": ""}}), place, tmp_path)
