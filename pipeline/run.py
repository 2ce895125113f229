"""The composition root of a run: what is missing, who does it, what is written down, when it ends.

`collect` begins a run in a new folder, `resume` finishes one, `rejudge` verifies what is stored again. Each first
computes, read-only, what is missing, and starts nothing when nothing is.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import pyarrow.fs as pafs

from pipeline import manifest
from pipeline.apps import install_for
from pipeline.cluster import connected, inside_job, joins_cluster
from pipeline.config import GENERATE, JUDGING_PARTS, PolicyConfig, RunConfig, StepJudgeConfig, parse_config
from pipeline.dataset import Dataset
from pipeline.doctor import chromium
from pipeline.drive import Drive, Outcome
from pipeline.errors import ConfigError, EpisodeError, RunError, SetupError
from pipeline.exposure import refuse
from pipeline.file_names import RUN_FILE
from pipeline.local_storage import LocalStorage
from pipeline.progress import Board
from pipeline.records import digest
from pipeline.resampling import resampled
from pipeline.selection import select_apps, select_tasks
from pipeline.serving import servers_of
from pipeline.standing import Run, order_of, rounds_of, survey_of, unexpired, unmade
from pipeline.storage import LOCK_NAMES, Address, Storage, driver_lock, storage_of, store_errors
from pipeline.supervision import stop_for
from pipeline.tasks import TaskSpec
from pipeline.vault import load_vault


def collect(config: RunConfig, name: str, out: Address | None, board: Board) -> Outcome:
    """Begin a run in a new folder and bring it to its end; raises ConfigError or RunError."""
    selected = [] if config.tasks.set == GENERATE else select_tasks(config)
    config, tasks = resampled(config, selected)
    if len(tasks) < len(selected):
        board.say(f"{len(selected) - len(tasks)} of {len(selected)} tasks cannot begin there and are left out")
    apps = sorted({app for task in tasks for app in task.app_ids}) or select_apps(config)
    config = config.model_copy(update={"apps": apps, "workers": useful_workers(config)})
    servers_of(config)  # what is wrong with its models or secrets is said before there is a folder
    load_vault(config.secrets)
    run_id = digest("run", uuid4().hex)
    folder = new_folder(out or config.out, name, run_id)
    try:
        with _held(folder):
            _prepare(config, board)
            return _start(Run(folder, run_id, config, board), tasks)
    finally:
        _withdraw(folder)


def resume(address: Address, board: Board) -> Outcome:
    """Finish a run with its stored configuration; raises ConfigError, for a copy of a run too, or RunError."""
    folder = storage_of(address)
    stored = manifest.read_run(folder)
    if stored.copied_at is not None:
        raise ConfigError(
            f"{folder.address} is a redacted copy, and what is collected is not redacted: resume the run itself"
        )
    config = parse_config(stored.config)
    run = Run(folder, stored.run_id, config, board)
    tasks = Dataset(folder).rows(TaskSpec)
    if not tasks and config.tasks.set != GENERATE:
        tasks = select_tasks(config)
    rounds = rounds_of(config, tasks)
    valid = unexpired(folder, rounds)
    survey = survey_of(run, valid)
    left = order_of(run, valid).total - len(survey.final) or unmade(run, rounds)
    if not left and not survey.lost and not survey.unjudged:
        return Outcome(folder.address, None, started=False)
    load_vault(config.secrets)
    with _held(folder):
        if left:
            _prepare(config, board)
        return _start(run, tasks)


def rejudge(address: Address, wanted: RunConfig, board: Board) -> Outcome:
    """Judge every stored trajectory in a new pass, with the judges and the panel of `wanted`."""
    folder = storage_of(address)
    stored = manifest.read_run(folder)
    own = parse_config(stored.config)
    # Nobody acts in this pass, so that no acting model has to be there.
    idle = {"policy": PolicyConfig(name="noop"), "step_judge": StepJudgeConfig()}
    taken = {part: getattr(wanted, part) for part in JUDGING_PARTS}
    config = own.model_copy(update={**taken, **idle})
    run = Run(folder, stored.run_id, own.model_copy(update={"budget": wanted.budget}), board)
    with _held(folder), connected(own.workers, own.platform) as cluster:
        return asyncio.run(Drive(run, cluster).rejudge(config))


def useful_workers(config: RunConfig) -> int:
    """How many workers have something to work on: each holds one device, and more of them would only wait."""
    named = len(config.devices) if config.provider == "adb" else 0
    return min(config.workers, named or config.workers)


def _start(run: Run, tasks: Sequence[TaskSpec]) -> Outcome:
    with connected(run.config.workers, run.config.platform) as cluster:
        if cluster.local:
            refuse()
        return asyncio.run(Drive(run, cluster).collect(tasks))


def _prepare(config: RunConfig, board: Board) -> None:
    """Prove there is a browser if one is needed and install the applications, where the work happens on this machine.

    An application that cannot be installed is left to become a fault of its tasks. In a cluster the workers see to it.
    """
    if config.provider == "fake" or joins_cluster():
        return
    if config.platform != "desktop":
        chromium()
    for app_id in config.apps:
        try:
            install_for(app_id, config.provider)
        except SetupError as error:
            board.say(f"warning: {app_id}: {error.message.splitlines()[0]}")


def new_folder(out: Address | None, name: str, run_id: str) -> Storage:
    """Where a new run goes; raises ConfigError when something is there already."""
    home = Path.home() / "pathproof" / "runs" if inside_job() else Path("runs")
    day = datetime.now().astimezone().strftime("%Y%m%d")
    folder = storage_of(out or home / f"{day}-{Path(name).stem}-{run_id[:8]}")
    address = folder.address
    try:
        with store_errors():
            occupied, holds_run = folder.occupied(LOCK_NAMES), folder.size(RUN_FILE) is not None
    except OSError as error:
        raise ConfigError(f"out: {address} cannot be used ({error})") from error
    if holds_run:
        raise ConfigError(f"out: {address} holds a run; use `pathproof resume {address}`, or another folder")
    if occupied:
        raise ConfigError(f"out: {address} is not an empty folder")
    return folder


def _withdraw(folder: Storage) -> None:
    """Leave no folder of a run that never began: with nothing but its lock in it, it would be taken for a dataset."""
    with contextlib.suppress(OSError):
        found = {entry.base_name for entry in folder.files.get_file_info(pafs.FileSelector("", allow_not_found=True))}
        if not found - LOCK_NAMES:
            for name in found:
                folder.delete(name)
            if isinstance(folder, LocalStorage):
                folder.root.rmdir()


@contextlib.contextmanager
def _held(folder: Storage) -> Iterator[None]:
    """The folder is ours; what goes wrong in the block becomes one line for the user."""
    try:
        with driver_lock(folder):
            yield
    except EpisodeError as error:
        raise stop_for(error) from error
    except (KeyboardInterrupt, asyncio.CancelledError):  # by somebody who would not wait for it to end in order
        if folder.size(RUN_FILE) is None:
            raise RunError("interrupted before anything was written; begin again with the same command") from None
        raise RunError(f"interrupted at once; continue with: pathproof resume {folder.address}") from None
