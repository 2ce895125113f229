"""The configuration tree: keys, short forms, overrides, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config import JudgeConfig, RunConfig, config_names, load_config, parse_config
from pipeline.errors import ConfigError


def test_shipped_configurations_load() -> None:
    assert {"fake", "quickstart"} <= set(config_names())
    assert config_names() == sorted(config_names())
    for name in config_names():
        assert isinstance(load_config(name, []), RunConfig)


def test_the_default_needs_no_browser_for_the_fake_and_errs_on_purpose() -> None:
    config = load_config("fake", [])
    assert (config.provider, config.tasks.set, config.policy.name) == ("fake", "fake", "planner")
    assert config.policy.mistakes > 0


def test_short_forms_stand_for_the_main_field() -> None:
    config = parse_config({"policy": "noop", "tasks": "mine"})
    assert (config.policy.name, config.tasks.set) == ("noop", "mine")


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("seed=11", 11),
        ("max_steps=null", None),
        ("max_seconds=2.5", 2.5),
        ("out=runs/a b", "runs/a b"),
    ],
)
def test_an_override_replaces_a_key(override: str, value: object) -> None:
    config = load_config("fake", [override])
    assert getattr(config, override.partition("=")[0]) == value


def test_dotted_keys_reach_into_parts_and_keep_the_rest() -> None:
    config = load_config("fake", ["policy.mistakes=0.5", "tasks.limit=3", "budget.usd=1"])
    assert (config.policy.name, config.policy.mistakes) == ("planner", 0.5)
    assert (config.tasks.set, config.tasks.limit) == ("fake", 3)
    assert (config.budget.usd, config.budget.calls) == (1.0, None)


def test_a_short_form_as_override_keeps_the_parts_other_fields() -> None:
    config = load_config("fake", ["policy=scripted"])
    assert (config.policy.name, config.policy.mistakes) == ("scripted", 0.2)


def test_later_overrides_win() -> None:
    assert load_config("fake", ["seed=1", "seed=2"]).seed == 2


@pytest.mark.parametrize("text", ["apps=fava,trac", "apps=[fava, trac]", "apps=fava, trac"])
def test_lists_by_commas_or_brackets(text: str) -> None:
    assert load_config("fake", [text]).apps == ["fava", "trac"]


def test_a_single_address_is_a_list_of_one() -> None:
    assert load_config("fake", ["allow=localhost:8000"]).allow == ["localhost:8000"]


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("provider: fake\ntasks: fake\npolicy: {name: noop}\n", encoding="utf-8")
    assert load_config(str(file), ["seed=3"]).policy.name == "noop"


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("colour=red", "colour: unknown key; known keys: .*seed"),
        ("policy.skill=9", r"policy\.skill: unknown key"),
        ("budget.usd.cents=9", "budget"),
        ("seed=many", "seed: .*'many'"),
        ("workers=0", "workers: .*greater than or equal to 1"),
        ("policy=wizard", r"policy\.name: .*'wizard'"),
        ("policy.mistakes=2", r"policy\.mistakes"),
        ("faults.stop_rate=0", r"faults\.stop_rate"),
        ("seed", "write it as key=value"),
        ("=3", "write it as key=value"),
        ("apps=[", "not a readable value"),
        ("seed=2026-13-45", "not a readable value"),
    ],
)
def test_a_bad_argument_is_one_line_naming_the_key(override: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        load_config("fake", [override])
    assert "\n" not in str(caught.value)


def test_an_unknown_configuration_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"--config: .*'nowhere'.*quickstart"):
        load_config("nowhere", [])


@pytest.mark.parametrize("text", ["seed: [", "- 1\n- 2\n", "just words"])
def test_a_malformed_file_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="--config") as caught:
        load_config(str(file), [])
    assert "\n" not in str(caught.value)


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        RunConfig().seed = 2  # type: ignore[misc]


# --- models the run serves itself ------------------------------------------------------------------------------------


def test_a_server_takes_the_gpus_it_spreads_over_unless_told_otherwise() -> None:
    config = load_config("fake", ["serving=[{name: a, model: m, tensor_parallel: 4}, {name: b, model: m, gpus: 0.5}]"])
    on_cpu = load_config("fake", ["serving=[{name: a, model: m, tensor_parallel: 2, gpus: 0}]"])

    assert [server.gpu_share for server in (*config.serving, *on_cpu.serving)] == [4.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ("[{name: a, model: m}, {name: a, model: n}]", "serving: .*two servers have the same name"),
        ("[{name: a, model: m, gpus: 1.5}]", r"serving\.0\.gpus: .*whole number"),
        ("[{name: a, model: m, tensor_parallel: 4, gpus: 2}]", r"serving\.0\.gpus: .*at least tensor_parallel"),
        ("[{name: a/b, model: m}]", r"serving\.0\.name: "),
        ("[{name: a}]", r"serving\.0\.model: "),
        ("[{name: a, model: m, port: 8000}]", r"serving\.0\.port: unknown key; known keys: arguments, context, "),
    ],
)
def test_a_server_that_cannot_be_is_refused(servers: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config("fake", [f"serving={servers}"])


# --- judges that are models -------------------------------------------------------------------------------------------


def test_a_judge_is_a_name_or_a_model() -> None:
    found = load_config("fake", ["judges=[effect, {base_url: http://x/v1, name: m}]", "panel.escalate.name=big"])

    assert found.judges == ["effect", JudgeConfig(base_url="http://x/v1", name="m")]
    assert found.panel.escalate == JudgeConfig(name="big")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("judges=[{nme: x}]", r"^judges\.0\.nme: unknown key; known keys: .*base_url.*grades"),
        ("judges=[screen, {name: m, images: 1}]", r"^judges\.1\.images: "),
        ("panel.escalate.nme=x", r"^panel\.escalate\.nme: unknown key; known keys: .*base_url"),
    ],
)
def test_a_wrong_setting_of_a_judge_names_its_key(override: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_config("fake", [override])


def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError, match=r"^model\.api_key_env: the name of an environment variable") as found:
        load_config("fake", ["model.api_key_env=sk-very-secret"])

    assert "secret" not in str(found.value)
