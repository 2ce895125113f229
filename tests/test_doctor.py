"""What the doctor finds on this machine, and what it says when something is missing or exposed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pipeline import doctor
from pipeline.commands.machine import doctor as show_doctor
from pipeline.config import RunConfig, override_config
from pipeline.doctor import Finding, examine
from pipeline.envs.handset import HandsetProcess
from pipeline.errors import RunError
from pipeline.reaper import Scratch
from tests.endpoints import serving


def found(what: str, *settings: str) -> Finding:
    return next(finding for finding in examine(override_config({}, list(settings))) if finding.what == what)


def test_this_machine_can_run_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(finding.good for finding in examine(RunConfig()) if finding.needed)


def test_a_missing_browser_comes_with_its_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    finding = found("chromium")

    assert (finding.good, finding.needed) == (False, True)
    assert "apt-get install chromium" in finding.detail
    with pytest.raises(RunError):
        doctor.chromium()


def test_names_and_what_is_said_of_them_stand_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = [Finding("desktop-calc-zh", True, False, "7.4.7 installed"), Finding("room", True, True, "enough")]
    monkeypatch.setattr("pipeline.commands.machine.examine", lambda _: findings)

    assert show_doctor() == 0

    assert capsys.readouterr().out.splitlines() == [
        "ok      desktop-calc-zh  7.4.7 installed",
        "ok      room             enough",
    ]


def phones(*settings: str) -> list[Finding]:
    config = override_config({}, ["platform=mobile", "provider=adb", *settings])
    return [finding for finding in examine(config) if finding.what == "phone"]


def test_a_phone_is_named_with_what_it_is() -> None:
    with Scratch("doctor-test") as scratch:
        handset = HandsetProcess(scratch)
        asyncio.run(handset.start())
        serial = handset.serial
        found_here = phones(f"devices={serial}")
        asyncio.run(handset.close())

    assert (
        Finding("phone", True, False, f"{serial}: handset: emulated, not Android, Android 14 (level 34)") in found_here
    )
    assert not any(finding.needed for finding in found_here)


def test_a_phone_that_does_not_answer_is_named_and_there_is_advice() -> None:
    unreachable, advice = phones("devices=127.0.0.1:1")[-2:]

    assert unreachable.detail.startswith("127.0.0.1:1: ") and not unreachable.good
    assert advice.needed and not advice.good and "provider=handset" in advice.detail


def test_an_address_is_looked_at_whatever_else_the_configuration_is_about() -> None:
    looked_at = [finding.detail for finding in examine(override_config({}, ["devices=127.0.0.1:1"]))]

    assert any(detail.startswith("127.0.0.1:1: ") for detail in looked_at)


def test_a_model_that_answers_is_told_with_what_it_can_do() -> None:
    with serving(models=[{"id": "m", "max_model_len": 8192}], schemas=False) as server:
        told = found("endpoint", "policy=chat", f"model.base_url={server.base_url}", "model.name=m")

    assert told.good
    assert told.detail == f"m at {server.base_url}: 3 pictures, no JSON schemas, context of 8192 tokens"


def test_a_model_that_cannot_be_used_says_why() -> None:
    with serving(images=1) as server:
        told = found("endpoint", "policy=chat", f"model.base_url={server.base_url}", "model.name=scripted")

    assert (told.good, told.needed) == (False, True)
    assert told.detail.startswith("model.images: ")
