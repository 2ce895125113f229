"""What is secret in a dataset, as its copy shows it: what is masked, and what keeps its marks."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from pipeline.actions import Type
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.dataset import Dataset
from pipeline.masking import MASK
from pipeline.query import query
from pipeline.records import Candidate, ObservationRow, Record
from pipeline.redact import redact
from pipeline.sinks import Committer
from pipeline.structs import Box, Sensitive
from tests.datasets import put
from tests.records import node
from tests.signedin import SECRET, TASK, colours, made_of, shown, signed_in


def looks_of(folder: Path) -> list[list[str]]:
    return [list(look.flags) for look in Dataset(folder).rows(ObservationRow)]


def test_what_is_proved_to_be_masked_loses_its_marks(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in(flags=("contains_secret",)))
    assert redact(source, tmp_path / "out").marked == 0
    after = Dataset(tmp_path / "out")
    assert looks_of(tmp_path / "out") == [[], [], [], []]
    assert not after.record("a-1").trajectory.contains_secret
    for table in ("frames", "trees"):
        assert query(f"SELECT * FROM {table} WHERE len(sensitive) > 0", [tmp_path / "out"]).num_rows == 0


def test_a_flagged_look_that_does_not_say_where_is_masked_whole_and_stays_marked(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in(where="nowhere", flags=("contains_pii",)))
    assert redact(source, tmp_path / "out").marked == 1
    after = Dataset(tmp_path / "out").record("a-1")
    assert colours(after, 1, Box(left=0, top=0, right=320, bottom=200)) == 1
    assert [(look.title, look.location, list(look.flags)) for look in after.observations[1:2]] == [
        (MASK, MASK, ["contains_pii"])
    ]
    assert {node.name for node in after.trees[after.observations[1].tree_sha256 or ""].nodes} == {MASK, "Password"}


def test_a_flagged_look_that_does_not_say_where_makes_no_label_of_the_run_secret(tmp_path: Path) -> None:
    source = made_of(tmp_path / "run", signed_in(where="nowhere", flags=("contains_pii",)))
    redact(source, tmp_path / "out")
    after = Dataset(tmp_path / "out").record("a-1")
    names = [[node.name for node in after.trees[look.tree_sha256 or ""].nodes] for look in after.observations]
    assert names == [["Sign in", "Password"], [MASK, "Password"], ["Sign in", MASK], ["Sign in"]]
    assert SECRET not in str(after.steps)


def blinded(made: Record, *indexes: int) -> Record:
    """The record without the trees of these looks."""
    looks = [
        look.model_copy(update={"tree_sha256": None, "tree_error": "timeout"})
        if look.observation_index in indexes
        else look
        for look in made.observations
    ]
    kept = {look.tree_sha256 for look in looks}
    return made.model_copy(
        update={"observations": looks, "trees": {name: tree for name, tree in made.trees.items() if name in kept}}
    )


@pytest.mark.parametrize("where", ["frame", "nowhere"])
def test_what_was_typed_beside_a_flagged_look_without_a_tree_is_masked_in_every_spelling(
    where: str, tmp_path: Path
) -> None:
    secret = 'pä"ss w/rd'
    made = blinded(signed_in(where=where, flags=("contains_secret",)), 0, 1)
    steps = [made.steps[0].model_copy(update={"action": Type(content=f"{secret}\n"), "thought": "", "reply": "?"})]
    spelled = [json.dumps(json.dumps(secret)), f"/?next={quote_plus(secret)}&a=1", f"<p>{escape(secret)}</p>", secret]
    reads = [made.probe_reads[0].model_copy(update={"probe": "page", "value": [spelled]})]
    looks = [look.model_copy(update={"location": spelled[1]}) for look in made.observations]
    made = made.model_copy(update={"steps": [*steps, *made.steps[1:]], "probe_reads": reads, "observations": looks})
    counts = redact(made_of(tmp_path / "run", made), tmp_path / "out")
    after = Dataset(tmp_path / "out").record("a-1")
    assert after.steps[0].action == Type(content=f"{MASK}\n")
    assert after.probe_reads[0].value == [[json.dumps(json.dumps(MASK)), f"/?next={MASK}&a=1", f"<p>{MASK}</p>", MASK]]
    assert after.observations[3].location == f"/?next={MASK}&a=1"
    assert counts.marked == 1 and after.observations[1].flags == ["contains_secret"]
    assert after.trajectory.contains_secret


def test_a_picture_after_a_secret_was_typed_is_masked_whole_when_no_tree_says_where(tmp_path: Path) -> None:
    made = signed_in(flags=("contains_secret",))
    typed = made.model_copy(
        update={
            "steps": [made.steps[0], made.steps[1].model_copy(update={"action": Type(content="again")}), made.steps[2]]
        }
    )
    source = made_of(tmp_path / "run", blinded(typed, 2))
    assert redact(source, tmp_path / "out").marked == 1
    after = Dataset(tmp_path / "out").record("a-1")
    assert colours(after, 2, Box(left=0, top=0, right=320, bottom=200)) == 1
    assert shown(after, 2).sensitive and after.steps[1].action == Type(content=MASK)


def test_what_is_typed_outside_every_region_is_no_secret(tmp_path: Path) -> None:
    made = signed_in(flags=("contains_secret",))
    notes = node("textbox", "Notes", box=(10, 120, 210, 140), states=("focused",))
    trees = {
        name: tree.model_copy(update={"nodes": [*(one.model_copy(update={"states": []}) for one in tree.nodes), notes]})
        for name, tree in made.trees.items()
    }
    steps = [made.steps[0].model_copy(update={"action": Type(content="a note")}), *made.steps[1:]]
    source = made_of(tmp_path / "run", made.model_copy(update={"trees": trees, "steps": steps}))
    redact(source, tmp_path / "out")
    assert Dataset(tmp_path / "out").record("a-1").steps[0].action == Type(content="a note")


def test_what_a_flagged_step_typed_is_secret_whatever_its_looks_say(tmp_path: Path) -> None:
    made = signed_in(where="nowhere")
    first, second, third = made.steps
    steps = [first.model_copy(update={"flags": ["contains_secret", "x"]}), second, third]
    source = made_of(tmp_path / "run", made.model_copy(update={"steps": steps}))
    assert redact(source, tmp_path / "out").marked == 0
    after = Dataset(tmp_path / "out").record("a-1")
    assert after.steps[0].action == Type(content=MASK) and after.steps[0].flags == ["x"]
    assert colours(after, 2, Box(left=10, top=80, right=310, bottom=100)) == 1


def test_a_flagged_step_that_typed_nothing_stays_marked(tmp_path: Path) -> None:
    made = signed_in(where="nowhere")
    steps = [made.steps[0], made.steps[1].model_copy(update={"flags": ["contains_pii"]}), made.steps[2]]
    source = made_of(tmp_path / "run", made.model_copy(update={"steps": steps}))
    assert redact(source, tmp_path / "out").marked == 1
    assert Dataset(tmp_path / "out").record("a-1").steps[1].flags == ["contains_pii"]


def test_short_secrets_are_masked_as_whole_words_and_single_characters_only_where_they_were_typed(
    tmp_path: Path,
) -> None:
    made = signed_in(where="nowhere")
    typed = [Type(content="7"), Type(content="42")]
    steps = [
        step.model_copy(update={"action": action, "flags": ["contains_secret"], "thought": "7 or 42, not 142"})
        for step, action in zip(made.steps, typed, strict=False)
    ]
    steps.append(made.steps[2].model_copy(update={"thought": "7 or 42, not 142"}))
    source = made_of(tmp_path / "run", made.model_copy(update={"steps": steps}))
    redact(source, tmp_path / "out")
    after = Dataset(tmp_path / "out").record("a-1").steps
    assert [step.action for step in after[:2]] == [Type(content=MASK)] * 2
    assert [step.thought for step in after] == [f"{MASK} or {MASK}, not 142", *[f"7 or {MASK}, not 142"] * 2]


def test_what_was_proposed_to_be_typed_is_as_secret(tmp_path: Path) -> None:
    made = signed_in(flags=("contains_secret",))
    proposed = Candidate(
        attempt_id="a-1",
        step_index=0,
        candidate_index=0,
        action=Type(content="wrong one"),
        reply="?",
        reason="rejected",
    )
    source = made_of(tmp_path / "run", made.model_copy(update={"candidates": [proposed]}))
    redact(source, tmp_path / "out")
    assert Dataset(tmp_path / "out").record("a-1").candidates[0].action == Type(content=MASK)


def test_a_region_that_holds_nothing_in_words_stays_marked(tmp_path: Path) -> None:
    made = signed_in(where="frame", flags=("contains_pii",))
    name = made.observations[1].frame_sha256 or ""
    card = [Sensitive(class_="card", box=Box(left=200, top=100, right=300, bottom=180))]
    frames = made.frames | {name: made.frames[name].model_copy(update={"sensitive": card})}
    source = made_of(tmp_path / "run", made.model_copy(update={"frames": frames}))
    assert redact(source, tmp_path / "out").marked == 1
    after = Dataset(tmp_path / "out").record("a-1")
    assert after.observations[1].flags == ["contains_pii"] and shown(after, 1).sensitive == card


def test_a_secret_trajectory_of_which_only_something_else_is_flagged_is_masked_whole(tmp_path: Path) -> None:
    made = signed_in(where="nowhere", flags=("contains_pii",))
    secret = made.trajectory.model_copy(update={"contains_secret": True})
    source = made_of(tmp_path / "run", made.model_copy(update={"trajectory": secret}))
    assert redact(source, tmp_path / "out").marked == 4
    after = Dataset(tmp_path / "out").record("a-1")
    assert {colours(after, index, Box(left=0, top=0, right=320, bottom=200)) for index in range(4)} == {1}
    assert after.trajectory.contains_secret


def test_the_configuration_in_the_copy_holds_no_secret(tmp_path: Path) -> None:
    committer = Committer.claim(tmp_path / "run", "run-a", {"seed": 0, "apps": [{"login": SECRET}]})
    committer.record([TASK])
    put(committer, tmp_path / "run", [signed_in()])
    committer.finish()
    redact(tmp_path / "run", tmp_path / "out")
    assert Dataset(tmp_path / "out").run.config == {"seed": 0, "apps": [{"login": MASK}]}


def test_what_stays_marked_is_told_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = made_of(tmp_path / "run", signed_in(where="nowhere", flags=("contains_pii",)))
    out = tmp_path / "out"
    assert run(app_for(), ["redact", str(source), "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith(f" marked=1 out={out}\n")
    assert captured.err.startswith("note: marks kept on looks and steps: 1; ") and captured.err.count("\n") == 1
