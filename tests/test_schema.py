"""Records and Arrow tables are each other's exact image, and the declared schema is the only one ever written."""

from __future__ import annotations

import io
import json
from datetime import UTC, timedelta, timezone
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, ValidationError
from pydantic.fields import FieldInfo

from pipeline.actions import Action, Model, Point, Scroll, Wait
from pipeline.records import Candidate, Frame, Prompt, RunRow, Step, Transition
from pipeline.schema import SCHEMA_VERSION, TABLES, VERSION_KEY, describe, of_table, schema_of, table_name, to_table
from pipeline.structs import Image
from tests.records import NOON, step

GOLDEN = Path(__file__).parent / "golden" / "schema.txt"
"""Made anew by: python -c "import pipeline.schema as s; print(s.describe(), end='')" > tests/golden/schema.txt"""

TEXTS = {"reply": "", "reason": ""}

_WHOLE = st.integers(min_value=-(2**63), max_value=2**63 - 1)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    bytes: st.binary(max_size=12),
    AwareDatetime: st.datetimes(timezones=st.just(UTC)),
}


def values(annotation: Any, limits: FieldInfo | None = None) -> st.SearchStrategy[Any]:
    """Any value a field of this type may hold."""
    arguments = get_args(annotation)
    if annotation is NoneType:
        return st.none()
    if annotation is int:
        return _bounded(limits)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin = get_origin(annotation)
    if origin is Annotated:
        return values(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values(member) for member in arguments])
    if origin is list:
        least = 1 if limits and any(hasattr(limit, "min_length") for limit in limits.metadata) else 0
        return st.lists(values(arguments[0]), min_size=least, max_size=3)
    return instances(annotation)


@cache
def instances(model: type[Model]) -> st.SearchStrategy[Any]:
    """Any instance of a record."""
    fields = {name: values(info.annotation, info) for name, info in model.model_fields.items()}
    return st.builds(model, **fields)


def _bounded(limits: FieldInfo | None) -> st.SearchStrategy[int]:
    found = {key: getattr(limit, key) for limit in (limits.metadata if limits else ()) for key in limit.__slots__}
    return _WHOLE if "ge" not in found else st.integers(found["ge"], found.get("lt", 2**31) - 1)


def through_parquet(table: pa.Table) -> pa.Table:
    """The table as a reader finds it after a writer."""
    file = io.BytesIO()
    pq.write_table(table, file)
    return pq.read_table(file)


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_reading_gives_back_what_was_written(name: str, data: st.DataObject) -> None:
    kind = TABLES[name]
    rows = data.draw(st.lists(instances(kind), max_size=3))

    table = through_parquet(to_table(kind, rows, "run"))

    assert of_table(kind, table) == rows
    assert table.schema.equals(schema_of(name))
    assert set(table.column("run_id").to_pylist()) <= {"run"}


@pytest.mark.parametrize("action", get_args(get_args(Action)[0]), ids=lambda kind: str(kind.__name__))
def test_every_action_comes_back_as_its_own_kind(action: type[Model]) -> None:
    point = {"x": 1, "y": 999}
    texts = {"content": "", "url": "/", "app": "Mail", "direction": "up"}
    fields = {"point": point, "start": point, "end": point, "keys": ["Control"], "index": 0, **texts}
    made = action.model_validate({name: fields[name] for name in action.model_fields if name != "type"})
    row = Candidate.model_validate({"attempt_id": "a", "step_index": 0, "candidate_index": 0, "action": made} | TEXTS)

    [back] = of_table(Candidate, to_table(Candidate, [row], "run"))

    assert type(back.action) is action
    assert back == row


def test_golden_file_shows_the_schema() -> None:
    assert describe() == GOLDEN.read_text(encoding="utf-8")


def test_tables_are_sorted_and_named_once() -> None:
    assert list(TABLES) == sorted(TABLES)
    assert [table_name(kind) for kind in TABLES.values()] == list(TABLES)


def test_model_that_is_no_row_has_no_table() -> None:
    with pytest.raises(TypeError, match="Image is not the row"):
        table_name(Image)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_starts_with_its_run_and_carries_the_schema_version(name: str) -> None:
    schema = schema_of(name)

    assert schema.names[0] == "run_id"
    assert schema.metadata[VERSION_KEY] == str(SCHEMA_VERSION).encode()


@pytest.mark.parametrize("name", TABLES)
def test_no_type_is_left_to_values(name: str) -> None:
    def leaves(kind: pa.DataType) -> list[pa.DataType]:
        inner = [kind.field(i).type for i in range(kind.num_fields)]
        return [leaf for one in inner for leaf in leaves(one)] if inner else [kind]

    assert not any(pa.types.is_null(leaf) for field in schema_of(name) for leaf in leaves(field.type))


def test_optional_columns_that_are_all_null_keep_their_types() -> None:
    empty = step(None)
    full = step(Scroll(point=Point(x=1, y=2), direction="up"))

    first, second = (through_parquet(to_table(Step, [row], "run")) for row in (empty, full))

    assert first.schema.equals(second.schema)
    both = pa.concat_tables([first, second]).column("action").to_pylist()
    assert both[0] is None
    assert (both[1]["type"], both[1]["point"], both[1]["direction"]) == ("Scroll", {"x": 1, "y": 2}, "up")


def test_pictures_are_declared_as_hugging_face_images() -> None:
    frame = Frame(sha256="0" * 64, image=Image(bytes=b"png"), width=1, height=1)

    schema = through_parquet(to_table(Frame, [frame], "run")).schema

    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    assert features == {"image": {"_type": "Image"}}
    # What its reader compares with, nullability included.
    image = pa.field("image", pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())]))
    assert schema.field("image").equals(image)


def test_times_of_another_zone_are_stored_in_utc() -> None:
    row = RunRow(started_at=NOON, config=[], commit=None, versions=[], prompt_sha256s=[])
    eastern = NOON.astimezone(timezone(timedelta(hours=8)))

    table = to_table(RunRow, [row.model_copy(update={"started_at": eastern})], "run")

    assert str(table.schema.field("started_at").type) == "timestamp[us, tz=UTC]"
    assert table.column("started_at").to_pylist() == [NOON]


def test_naive_times_never_become_rows() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        RunRow(started_at=NOON.replace(tzinfo=None), config=[], commit=None, versions=[], prompt_sha256s=[])


def test_half_of_a_surrogate_pair_becomes_a_replacement_character() -> None:
    rows = [Prompt(prompt_sha256="a", text="bad \ud83d end"), Prompt(prompt_sha256="b", text="你好 🙂")]

    texts = [row.text for row in of_table(Prompt, to_table(Prompt, rows, "run"))]

    assert texts == ["bad \N{REPLACEMENT CHARACTER} end", "你好 🙂"]


def test_number_that_does_not_fit_is_refused() -> None:
    row = Transition(
        app_id="a",
        round=2**63,
        from_signature="",
        to_signature="",
        action=Wait(),
        frame_before=None,
        frame_after=None,
        capability_id=None,
    )

    with pytest.raises((OverflowError, pa.ArrowInvalid)):
        to_table(Transition, [row], "run")
