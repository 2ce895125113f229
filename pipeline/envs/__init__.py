"""Environments: what policies act on, and the one place that builds them from a configuration."""

from __future__ import annotations

from pipeline.config import RunConfig
from pipeline.envs.fake import FakeEnvironment
from pipeline.errors import ConfigError
from pipeline.protocols import Environment
from pipeline.reaper import Scratch


def build(config: RunConfig, scratch: Scratch) -> Environment:
    """The environment of one worker; what it starts lives in the worker's scratch folder."""
    del scratch
    if config.provider == "fake":
        return FakeEnvironment()
    raise ConfigError(f"provider: '{config.provider}' has no driver yet")
