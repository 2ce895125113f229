"""Every model that a run will call, whoever asks it. Knows nothing of where they are served."""

from __future__ import annotations

from pipeline import judging
from pipeline.clients import Need, Place, endpoint_of, place_of
from pipeline.config import GENERATE, RunConfig
from pipeline.errors import ConfigError
from pipeline.policies import models


def needs(config: RunConfig) -> list[Need]:
    """Every endpoint the run will call; raises ConfigError naming the key."""
    writing = [Need(endpoint_of("model", config.model), 0)] if writes_tasks(config) else []
    found = [*models.needs(config), *judging.needs(config), *writing]
    families: dict[Place, str] = {}
    for need in found:
        place = place_of(need.endpoint)
        if families.setdefault(place, need.endpoint.family) != need.endpoint.family:
            raise ConfigError(
                f"family: '{need.endpoint.model}' at {need.endpoint.base_url} cannot be of two families,"
                f" '{families[place]}' and '{need.endpoint.family}': one model has one"
            )
        if config.budget.usd is not None and need.endpoint.usd_per_million_prompt is None:
            raise ConfigError(
                f"budget.usd: the price of '{need.endpoint.model}' is not known; set its usd_per_million_prompt and"
                " usd_per_million_completion, or limit budget.calls"
            )
    return found


def writes_tasks(config: RunConfig) -> bool:
    """Whether the acting model also writes the tasks of each round."""
    return config.tasks.set == GENERATE and config.model.name is not None
