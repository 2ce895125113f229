"""`pathproof calibrate`, and what a run makes of the file."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pipeline.actions import Model
from pipeline.calibrating import tables_of
from pipeline.cli import app_for
from pipeline.clients import Clients
from pipeline.commands.shell import run
from pipeline.config import LlmConfig, RunConfig, parse_config
from pipeline.curve_picture import draw_curve
from pipeline.errors import ConfigError
from pipeline.judging import build_bench, calibration_of, judge_record
from pipeline.provenance import pass_row
from pipeline.records import Record
from tests.calibrations import MADE_AT, calibration, labelled, weighing
from tests.datasets import attempt, begin, judging, put, verdict
from tests.records import click, look, node, record, step, task
from tests.votes import program, vote
from verifiers.ballot import PROGRAM
from verifiers.calibrate import calibrate
from verifiers.calibration import CalibrationFile, load_calibration
from verifiers.labelled import LabelSet, Voter
from verifiers.metrics import Point

SCREEN, TELEMETRY = (Voter(name=name, kind="program", family=PROGRAM) for name in ("screen", "telemetry"))


def table(labels: LabelSet, path: Path) -> str:
    """The labels as a table."""
    signs = sorted({name for item in labels.items for name in item.signs})
    votes = [f"vote:{voter.name}:{voter.family}" for voter in labels.voters]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task_id", "item_id", "truth", "domain", *votes, *(f"sign:{name}" for name in signs)])
        for item in labels.items:
            said = [int(item.votes[voter.name]) for voter in labels.voters]
            shown = [item.signs[name] for name in signs]
            writer.writerow([item.task_id, item.item_id, int(item.truth), "Web", *said, *shown])
    return str(path)


def settings(
    file: CalibrationFile, tmp_path: Path, rule: str = "quorum", judges: str = "screen,telemetry"
) -> RunConfig:
    path = tmp_path / "calibration.json"
    path.write_text(file.model_dump_json(), encoding="utf-8")
    return parse_config(
        {"judges": judges.split(","), "panel": {"rule": rule, "calibration": str(path)}, "provider": "fake"}
    )


# --- the command -------------------------------------------------------------------------------------------------


def test_labels_become_tables_a_file_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = table(labelled({"a": 0.9, "b": 0.8}, signs=True), tmp_path / "labels.csv")
    out = tmp_path / "made" / "judges.json"

    code = run(app_for(), ["calibrate", "--labels", source, "--out", str(out)])

    printed = capsys.readouterr().out
    assert code == 0
    assert "labels.csv: 180 items of 60 tasks, 70 right; applies to Web" in printed
    for heading in ("rule: quorum", "2 judges, effective votes", "the weighted rule: right from", "risk and coverage"):
        assert heading in printed
    file = load_calibration(str(out))
    assert printed.splitlines()[-1] == f"calibration={out} id={file.calibration_id} picture={out.with_suffix('.svg')}"
    assert file.domains == ["Web"]
    assert file.telemetry is not None
    assert out.with_suffix(".svg").read_text(encoding="utf-8").startswith("<svg")


def test_only_the_judges_asked_for_are_measured(tmp_path: Path) -> None:
    source = table(labelled({"a": 0.9, "b": 0.8, "c": 0.7}), tmp_path / "labels.csv")
    out = tmp_path / "judges.json"

    run(app_for(), ["calibrate", "--labels", source, "--judges", "a, c", "--out", str(out)])

    assert [voter.name for voter in load_calibration(str(out)).judges] == ["a", "c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judges", "a,d"], "error: --judges: no votes of 'd'; judges: a, b"),
        (["--precision", "1.5"], "error: --precision: 1.5 does not lie between 0 and 1"),
        (["--out", "/proc/nowhere/judges.json"], "error: --out: '/proc/nowhere/judges.json' cannot be written"),
    ],
)
def test_wrong_arguments_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    source = table(labelled({"a": 0.9, "b": 0.8}), tmp_path / "labels.csv")

    code = run(app_for(), ["calibrate", "--labels", source, *arguments])

    assert code == 2
    assert capsys.readouterr().err.startswith(message)


def test_a_file_without_a_domain_says_that_nothing_can_cite_it() -> None:
    labels = labelled({"a": 0.9, "b": 0.8})
    file = calibrate(labels._replace(items=[item._replace(domain=None) for item in labels.items]), MADE_AT)

    titles = [title for title, _ in tables_of(file)]
    assert titles[0].endswith("no verdict can cite it")
    assert "too little is labelled of any domain for a verdict to cite" in titles


def test_steps_and_what_verdicts_cite_are_shown() -> None:
    file = calibrate(labelled({"a": 0.9, "b": 0.8}), MADE_AT, steps=labelled({"a": 0.7, "b": 0.7}, seed=4))

    tables = {title: table for title, table in tables_of(file)}

    assert any(title.startswith("180 steps of 60 tasks, ") for title in tables)
    targets = list(tables["what verdicts cite"].columns[0].cells)
    assert targets == ["trace"] * 3 + ["step"] * 2


def test_near_duplicates_are_pointed_out() -> None:
    labels = labelled({"a": 0.9})
    twice = [item._replace(votes={**item.votes, "copy": item.votes["a"]}) for item in labels.items]
    voters = [*labels.voters, labels.voters[0].model_copy(update={"name": "copy"})]

    titles = {
        title: given for title, given in tables_of(calibrate(labels._replace(items=twice, voters=voters), MADE_AT))
    }

    pairs = titles["2 judges, effective votes 1.00"]
    assert list(pairs.columns[-1].cells) == ["near-duplicates"]


def reviewed_run(folder: Path) -> str:
    """Thirty-six trajectories of six tasks: two judges voted, the telemetry judge abstained, a person graded each."""
    tasks = [task(f"Create the ticket “Lamp {number}”.") for number in range(6)]
    labels = labelled({"a": 0.9, "b": 0.8}, tasks=6, per_task=6)
    records: list[Record] = []
    rows: list[Model] = [judging(), judging("review", 15).model_copy(update={"kind": "review"})]
    for number, item in enumerate(labels.items):
        made = attempt(f"{number:024d}", task=tasks[number % 6], claim="success")
        own = {"pass_id": "pass-1", "attempt_id": made.attempt.attempt_id}
        votes = [vote("complete" if said else "fail", name) for name, said in item.votes.items()]
        rows += [one.model_copy(update=own) for one in [*votes, program(None, "telemetry")]]
        grade = "complete" if item.truth else "fail"
        rows.append(verdict(made.attempt.attempt_id, grade, pass_id="review", rule="human"))
        records.append(made)
    committer = begin(folder, tasks)
    put(committer, folder, records)
    committer.record(rows)
    committer.finish()
    return str(folder)


def test_a_reviewed_run_becomes_a_calibration_of_its_own_judges(tmp_path: Path) -> None:
    out = tmp_path / "judges.json"

    code = run(app_for(), ["calibrate", "--labels", reviewed_run(tmp_path / "run"), "--out", str(out)])

    assert code == 0
    file = load_calibration(str(out))
    assert file.measures([("a", "a"), ("b", "b"), ("telemetry", PROGRAM)])
    assert (file.domains, file.measured[0].figures.n) == (["Web"], 36)
    assert file.figures("quorum", "Web") is not None


# --- the picture -------------------------------------------------------------------------------------------------


def test_the_picture_is_well_formed_and_shows_both_lines() -> None:
    points = [
        Point(threshold=0.9, coverage=0.1, risk=0.0, recall=0.3, fpr=0.0),
        Point(threshold=0.1, coverage=1.0, risk=0.6, recall=1.0, fpr=1.0),
    ]

    root = ElementTree.fromstring(draw_curve(points, "rule <on> A & B"))

    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert [line.get("points") for line in lines] == ["94.0,380.0 400.0,176.0", "94.0,278.0 400.0,40.0"]
    assert "rule <on> A & B" in [element.text for element in root.iter()]


# --- what a run makes of it --------------------------------------------------------------------------------------

FORM = look(node("textbox", "Summary"), node("button", "Create"))
OF = record([FORM, FORM, FORM], [click(FORM, "Create"), step(None, status="failed")], termination="step_limit")


def test_a_pass_builds_its_telemetry_judge_from_the_file_and_cites_its_figures(tmp_path: Path) -> None:
    known = calibration([SCREEN, TELEMETRY], telemetry=weighing(sign__unfinished=-3.0))
    config = settings(known, tmp_path, rule="single")
    bench = build_bench(config, Clients(LlmConfig(), {}))

    found = asyncio.run(judge_record(task(), OF, bench, config.panel, "pass"))

    assert {vote.judge: vote.grade for vote in found.votes}["telemetry"] == "fail"
    verdict = found.verdicts[0]
    assert (verdict.grade, verdict.rule) == ("fail", "single")
    assert verdict.calibration is not None
    assert verdict.calibration.calibration_id == known.calibration_id


def test_a_file_of_other_judges_gives_no_weights_and_no_figures(tmp_path: Path) -> None:
    known = calibration([TELEMETRY], telemetry=weighing(sign__unfinished=-3.0))
    config = settings(known, tmp_path)
    bench = build_bench(config, Clients(LlmConfig(), {}))

    found = asyncio.run(judge_record(task(), OF, bench, config.panel, "pass"))

    assert [vote.status for vote in found.votes if vote.judge == "telemetry"] == ["abstain"]
    assert found.verdicts[0].calibration is None


def test_judges_of_steps_only_are_no_part_of_the_measured_set(tmp_path: Path) -> None:
    known = calibration([SCREEN])

    assert calibration_of(settings(known, tmp_path, judges="screen,effect")) == known


def test_a_model_is_known_by_its_name_and_family(tmp_path: Path) -> None:
    known = calibration([Voter(name="big-7b", kind="model", family="big")])
    config = settings(known, tmp_path).model_dump(mode="json")
    judge = {"name": "big-7b", "base_url": "http://127.0.0.1:9/v1"}

    assert calibration_of(parse_config({**config, "judges": [judge]})) == known
    assert calibration_of(parse_config({**config, "judges": [{**judge, "family": "other"}]})) is None


def test_a_rule_that_cannot_do_without_figures_does_not_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(app_for(), ["collect", "panel.rule=weighted", "--out", str(tmp_path / "run")])

    assert code == 2
    assert capsys.readouterr().err.startswith("error: panel.rule: 'weighted' needs panel.calibration=FILE")
    assert not (tmp_path / "run").exists()


def test_a_calibration_of_other_judges_is_announced_as_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = settings(calibration([TELEMETRY]), tmp_path).panel.calibration

    run(app_for(), ["judge", "/nowhere", "--config", "fake", f"panel.calibration={path}"])

    assert "note: panel.calibration was measured for other judges" in capsys.readouterr().err


def test_a_pass_is_told_apart_by_the_content_of_its_calibration(tmp_path: Path) -> None:
    one, other = calibration([SCREEN]), calibration([SCREEN], domains=["Mobile"])
    first = pass_row("run", "collect", settings(one, tmp_path, judges="screen"))
    second = pass_row("run", "collect", settings(other, tmp_path, judges="screen"))

    assert (first.calibration_id, second.calibration_id) == (one.calibration_id, other.calibration_id)
    assert first.pass_id != second.pass_id


def test_an_unreadable_calibration_is_named_before_anything_runs() -> None:
    config = parse_config({"panel": {"calibration": "/nowhere.json"}})

    with pytest.raises(ConfigError, match=r"^panel\.calibration: /nowhere\.json: cannot be read"):
        calibration_of(config)
