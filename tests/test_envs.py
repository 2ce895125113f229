"""Which environment a configuration builds."""

from collections.abc import Iterator

import pytest

from pipeline import envs
from pipeline.config import parse_config
from pipeline.envs.android import AndroidEnvironment
from pipeline.envs.fake import FakeEnvironment
from pipeline.envs.web import WebEnvironment
from pipeline.errors import ConfigError
from pipeline.reaper import Scratch
from tests.episodes import behind, fake_task


@pytest.fixture
def scratch() -> Iterator[Scratch]:
    with Scratch("envs") as made:
        yield made


@pytest.mark.parametrize(("provider", "kind"), [("fake", FakeEnvironment), ("chromium", WebEnvironment)])
async def test_the_provider_decides(scratch: Scratch, provider: str, kind: type) -> None:
    environment = envs.build(parse_config({"provider": provider}), scratch)
    assert isinstance(behind(environment), kind)
    await environment.close()


def test_a_platform_the_provider_does_not_run_is_an_error_of_the_configuration(scratch: Scratch) -> None:
    with pytest.raises(ConfigError, match=r"provider: 'chromium' .* 'mobile'"):
        envs.build(parse_config({"platform": "mobile"}), scratch)


@pytest.mark.parametrize(
    "chosen", [["adb"], ["adb", "a:1", "b:2"], ["avd", "Pixel"], ["avd", "Pixel@clean"], ["handset"]]
)
async def test_phones_come_from_three_places(scratch: Scratch, chosen: list[str]) -> None:
    provider, *devices = chosen
    config = parse_config({"platform": "mobile", "provider": provider, "devices": devices})

    environment = envs.build(config, scratch)

    assert isinstance(behind(environment), AndroidEnvironment)
    await environment.close()


@pytest.mark.parametrize("devices", [[], ["one", "two"]])
def test_an_emulator_is_of_one_virtual_device(scratch: Scratch, devices: list[str]) -> None:
    with pytest.raises(ConfigError, match="devices: provider 'avd' needs one virtual device"):
        envs.build(parse_config({"platform": "mobile", "provider": "avd", "devices": devices}), scratch)


def test_an_allow_list_that_cannot_be_read_is_one_too(scratch: Scratch) -> None:
    with pytest.raises(ConfigError, match="allow"):
        envs.build(parse_config({"allow": ["http://x/"]}), scratch)


async def test_with_probes_withheld_nothing_is_read(scratch: Scratch) -> None:
    environment = envs.build(parse_config({"provider": "fake", "probes": "withhold"}), scratch)
    task = fake_task()

    await environment.start(task)

    assert await environment.probe(task.checks, 0) == []
    assert (await environment.observe()).tree is not None
    await environment.finish()
    await environment.close()
