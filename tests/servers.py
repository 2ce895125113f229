"""A scripted endpoint in a process of its own, where a model server is expected."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pipeline.config import ServerConfig
from pipeline.model_server import Program
from tests.endpoints import says

ROOT = Path(__file__).resolve().parents[1]


def scripted_command(server: ServerConfig, host: str, port: int) -> Program:
    """The scripted endpoint; the server's `model` is its script."""
    argv = [sys.executable, "-m", "pipeline.scripted_endpoint", "--script", server.model, "--port", str(port)]
    return Program(argv, {"PYTHONPATH": str(ROOT)})


def script_file(path: Path, name: str = "mine", reply: str | None = None, **more: Any) -> Path:
    """A script that serves one model, and always says the same, if anything."""
    replies = [] if reply is None else [says(reply, times=None).model_dump(exclude_defaults=True) | {"times": None}]
    path.write_text(json.dumps({"models": [{"id": name}], "replies": replies, **more}), encoding="utf-8")
    return path


def server_config(script: Path, **more: Any) -> ServerConfig:
    return ServerConfig.model_validate({"name": "mine", "model": str(script), "gpus": 0, "start_seconds": 60, **more})
