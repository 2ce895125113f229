"""A run on a cluster of three raylets, one of which is killed in the middle: `python -m tests.three_raylets FOLDER`.

A program of its own, because a process can hold one Ray only, and because Ray looks for RAY_AUTH_MODE when it is
imported. Prints, as JSON, how the run ended.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from pipeline import supervision
from pipeline.progress import Board
from pipeline.run import collect
from pipeline.tasks import identified
from tests.episodes import fake_task, with_faults
from tests.runs import fake_config, progress_of, soon, tasks_file

TASKS = 12


def main(folder: Path) -> None:
    """Start three raylets, run, kill the third once it has work."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "resources": {"browser": 1}})
    _, third = (cluster.add_node(num_cpus=1, resources={"browser": 1}) for _ in range(2))
    cluster.wait_for_nodes()
    os.environ["RAY_ADDRESS"] = cluster.address
    supervision.BEAT_SECONDS = 1.0
    slow = with_faults(fake_task(), "act_seconds: 0.5")
    tasks = [identified(slow.model_copy(update={"max_seconds": 60.0 + number})) for number in range(TASKS)]
    path = tasks_file(folder / "tasks.jsonl", tasks)
    striker = threading.Thread(target=_strike, args=(cluster, third, folder / "run"))
    striker.start()
    outcome = collect(fake_config(f"tasks={path}", "policy.mistakes=0", "workers=3"), "fake", folder / "run", Board())
    striker.join()
    cluster.shutdown()  # type: ignore[no-untyped-call]
    sys.stdout.write(json.dumps({"reason": outcome.reason}) + "\n")


def _strike(cluster: Cluster, node: Any, folder: Path) -> None:
    """Kill a raylet, by its pid and not gently, once three workers have been given attempts."""
    soon(lambda: len(progress_of(folder).workers) == 3 or None)
    cluster.remove_node(node, allow_graceful=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
