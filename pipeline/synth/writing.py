"""Screens that a model writes from a scenario, each tried in the sandbox before it is kept; and the file of them.

What is kept has passed the same reading and hit tests as drawn screens; what is not is kept too, with the reason. Of a
written page only what the document proves is believed: never its own notes on what icons are for.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping, MutableSequence, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from pipeline.actions import Model
from pipeline.ahead import ahead
from pipeline.errors import CaptureError, ConfigError, EnvError
from pipeline.frames import frame_of
from pipeline.llm import Client, Message, Picture, picture_of
from pipeline.records import ModelCall, digest
from pipeline.synth.drawing import Screen
from pipeline.synth.looks import Look
from pipeline.synth.recording import Recorder, Sighting, fingerprint, painted
from pipeline.synth.scenarios import Plan, Scenario, plan_of

LEAST_PLACES = 12
"""Controls and texts that one must be able to point at."""
_LEAST_CONTROLS = 5
_AT_ONCE = 4
_PAGE = re.compile(r"<!doctype html.*</html\s*>", re.IGNORECASE | re.DOTALL)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_SPOKEN: Mapping[str, tuple[float, float]] = {"en": (0.0, 0.05), "zh": (0.5, 1.0)}
"""Between which parts of a screen's texts hold Chinese letters, by its language."""


class Written(Model):
    """A screen that a model wrote; `reason` says why it is not used, and is null for one that is."""

    number: int
    scenario: str
    language: str
    look: Look
    model: str
    html: str
    reason: str | None
    likeness: str = ""
    """What its picture looks like: no two that are kept have the same."""

    @property
    def screen(self) -> Screen:
        """The screen as labelled places are made of it."""
        return Screen(
            digest("written", self.html, self.look.model_dump_json()),
            self.number,
            f"written-{self.scenario}",
            self.language,
            self.look,
            self.html,
            told=False,
        )


class Wish(NamedTuple):
    """How many screens are to be written, about what, and with which settings of the model."""

    screens: int
    seed: int
    scenarios: Sequence[Scenario]
    max_tokens: int
    temperature: float | None


async def write_screens(
    path: Path,
    wish: Wish,
    client: Client,
    recorder: Recorder,
    ledger: MutableSequence[ModelCall],
    heard: Callable[[Written], None],
) -> Sequence[Written]:
    """Have the screens written that the file does not hold yet, and add each to it; all of them.

    Raises ModelError when the model cannot be asked, ConfigError for a file or a reference that cannot be read.
    """
    found = _opened(path)
    known = {one.number for one in found}
    plans = [plan_of(wish.scenarios, wish.seed, number) for number in range(wish.screens) if number not in known]
    async with aclosing(_each(plans, wish, client, recorder, ledger)) as made:
        async for one in made:
            kept = _unlike(one, found)
            found.append(kept)
            _add(path, kept)
            heard(kept)
    return found


def written_in(path: Path) -> Sequence[Written]:
    """The screens of a file; a line that was cut off by a sudden end is as good as not written. Raises ConfigError."""
    try:
        *lines, _ = path.read_text(encoding="utf-8").split("\n")
        return [Written.model_validate_json(line) for line in lines]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise ConfigError(f"screens: {path} holds no written screens") from error


def _opened(path: Path) -> list[Written]:
    """What a file holds, which then ends with a whole line; nothing if it is not there yet."""
    found = list(written_in(path)) if path.exists() else []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"out: {path} cannot be written ({error.strerror}): give a file that can") from error
    for one in found:
        _add(path, one)
    return found


def _add(path: Path, one: Written) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{one.model_dump_json()}\n")


async def _each(
    plans: Sequence[Plan], wish: Wish, client: Client, recorder: Recorder, ledger: MutableSequence[ModelCall]
) -> AsyncGenerator[Written, None]:
    work = (_written(plan, wish, client, recorder, ledger) for plan in plans)
    async with aclosing(ahead(work, _AT_ONCE)) as results:
        async for result in results:
            yield result


async def _written(
    plan: Plan, wish: Wish, client: Client, recorder: Recorder, ledger: MutableSequence[ModelCall]
) -> Written:
    prompt = [Message("user", (plan.prompt, *_reference(plan.scenario)))]
    reply = await client.ask(
        prompt,
        stage="synth",
        ledger=ledger,
        max_tokens=wish.max_tokens,
        temperature=wish.temperature,
        seed=wish.seed + plan.number,
    )
    page = _PAGE.search(reply.text)
    one = Written(
        number=plan.number,
        scenario=plan.scenario.name,
        language=plan.language,
        look=plan.look,
        model=client.endpoint.model,
        html=page.group() if page else "",
        reason=None,
    )
    if reply.outcome != "answered":
        return one.model_copy(update={"reason": f"the model's reply was {reply.outcome}"})
    if page is None:
        return one.model_copy(update={"reason": "there is no whole page in the reply"})
    return await tried(one, recorder)


def _reference(scenario: Scenario) -> Sequence[Picture]:
    """The picture that a scenario names; raises ConfigError when it cannot be read."""
    if scenario.reference is None:
        return ()
    try:
        return (picture_of(frame_of(Path(scenario.reference).read_bytes())),)
    except (OSError, CaptureError) as error:
        raise ConfigError(f"scenarios: {scenario.name}: {scenario.reference} is no picture: {error}") from error


async def tried(one: Written, recorder: Recorder) -> Written:
    """The screen with the reason against it, if there is one: shown twice, read, and looked at like any other."""
    try:
        first, second = await recorder.see(one.screen), await recorder.see(one.screen)
    except EnvError:
        return one.model_copy(update={"reason": "it could not be shown, or not in time"})
    reason = next(iter(first.complaints), None) or _against(one.language, first, second)
    return one.model_copy(update={"reason": reason, "likeness": fingerprint(first, None)})


def _against(language: str, first: Sighting, second: Sighting) -> str | None:
    if first.frame.sha256 != second.frame.sha256 or first.shown != second.shown:
        return "it does not look the same twice"
    usable = [element for element in first.shown.elements if element.whole and painted(first, element.box)]
    controls = sum(element.kind == "control" for element in usable)
    if len(usable) < LEAST_PLACES or controls < _LEAST_CONTROLS:
        return f"only {len(usable)} places can be pointed at, {controls} of them controls"
    least, most = _SPOKEN[language]
    spoken = sum(bool(_HAN.search(element.name)) for element in usable if _lettered(element.name))
    share = spoken / max(1, sum(_lettered(element.name) for element in usable))
    return None if least <= share <= most else f"its language is another: {share:.0%} of its texts are Chinese"


def _lettered(text: str) -> bool:
    """Whether a text is in any language: figures and signs are in none."""
    return any(letter.isalpha() for letter in text)


def _unlike(one: Written, found: Sequence[Written]) -> Written:
    """The screen as it is, unless one that is kept looks the same."""
    twin = next((other for other in found if other.reason is None and other.likeness == one.likeness), None)
    if one.reason is not None or twin is None:
        return one
    return one.model_copy(update={"reason": f"it looks like screen {twin.number}"})
