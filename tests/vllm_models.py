"""Where a Python with vLLM is, and servers of models made on the spot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from pipeline.app_install import home
from pipeline.config import ServerConfig
from pipeline.model_server import Program, vllm_command

ROOT = Path(__file__).resolve().parents[1]
CONTEXT = 8192
_MAKE_SECONDS = 300
# Without the second a model that was never trained fills its answers with spaces, which JSON allows.
_ARGUMENTS = [
    "--kv-cache-memory-bytes",
    str(256 * 1024 * 1024),
    "--structured-outputs-config",
    '{"backend": "xgrammar", "disable_any_whitespace": true}',
]


def vllm_python() -> Path:
    """The interpreter `$VLLM_PYTHON`, else that of the cached environment."""
    return Path(os.environ.get("VLLM_PYTHON") or home() / "vllm" / "bin" / "python")


def make_model(kind: str, folder: Path) -> Path:
    """A model with random weights, `text` or `vision`."""
    command = [str(vllm_python()), "-m", "tests.tiny_models", kind, str(folder)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_MAKE_SECONDS)
    assert made.returncode == 0, made.stderr[-3000:]
    return folder


def on_cpu(name: str, model: Path, **more: Any) -> ServerConfig:
    """A small server on the CPU."""
    settings = {"gpus": 0, "context": CONTEXT, "python": str(vllm_python()), "arguments": _ARGUMENTS}
    return ServerConfig.model_validate({"name": name, "model": str(model), "start_seconds": 400, **settings, **more})


def offline_vllm(server: ServerConfig, host: str, port: int) -> Program:
    """vLLM as always, told that there is no model hub to ask."""
    argv, variables = vllm_command(server, host, port)
    return Program(argv, {**variables, "HF_HUB_OFFLINE": "1"})
