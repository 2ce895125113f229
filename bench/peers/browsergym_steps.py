"""Times BrowserGym's own steps on MiniWoB++ pages; run by the Python of BrowserGym's environment, not by ours.

    python browsergym_steps.py '{"url": ..., "chromium": ..., "pages": [...], "points": [[x, y]], "options": {...}}'

`options` go to `BrowserEnv`; an empty one is BrowserGym as shipped. With a viewport among them the pages are shown and
pictured at that size without the zoom that the MiniWoB++ tasks ask for. Points are places of the page. The last line
is a JSON list: the seconds of every step, page by page. Knows nothing of our own environment.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from typing import Any

from browsergym.core.action.highlevel import HighLevelActionSet  # type: ignore[import-not-found]
from browsergym.core.env import BrowserEnv  # type: ignore[import-not-found]
from browsergym.miniwob import ALL_MINIWOB_TASKS  # type: ignore[import-not-found]
from playwright.sync_api import BrowserType


def times_of(plan: dict[str, Any]) -> list[float]:
    """Seconds of every step of the plan."""
    # BrowserGym starts a second browser, for its chat, and lets nobody say which.
    BrowserType.launch = functools.partialmethod(BrowserType.launch, executable_path=plan["chromium"])  # type: ignore[method-assign,assignment]
    tasks = {task.subdomain: task for task in ALL_MINIWOB_TASKS}
    return [seconds for name in plan["pages"] for seconds in _page(tasks[name], plan)]


def _page(task: Any, plan: dict[str, Any]) -> list[float]:
    options = plan["options"]
    # Clicks at places are in none of the sets of actions that are on by default.
    actions = HighLevelActionSet(subsets=["coord"]).to_python_code
    environment = BrowserEnv(task, {"base_url": f"{plan['url']}/miniwob/"}, action_mapping=actions, **options)
    try:
        environment.reset(seed=0)
        if "viewport" in options:
            environment.page._bgym_scale_factor = 1.0
        return [_step(environment, x, y) for x, y in plan["points"]]
    finally:
        environment.close()


def _step(environment: Any, x: int, y: int) -> float:
    # Actions are in pixels of the picture.
    zoom = environment.page._bgym_scale_factor
    action = f"mouse_click({x * zoom}, {y * zoom})"
    began = time.perf_counter()
    environment.step(action)
    took = time.perf_counter() - began
    if environment.last_action_error:
        raise RuntimeError(f"{action}: {environment.last_action_error}")
    return took


if __name__ == "__main__":
    print(json.dumps(times_of(json.loads(sys.argv[1]))))
