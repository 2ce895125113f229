"""Answers of a fixed form: the schema that is sent, and the tolerant reader of what comes back.

The order of a schema's fields is kept, so that reasons can stand before the verdict they lead to. A reply is read the
same way whether the server was held to the schema or only asked.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import first_problem
from pipeline.jsontext import json_values

Answer = TypeVar("Answer", bound=BaseModel)


class Unreadable(NamedTuple):
    """Why a reply holds no answer of the form asked for."""

    reason: str


def read_structured(text: str, schema: type[Answer]) -> Answer | Unreadable:
    """The one answer in a reply, outside its reasoning; objects that contradict each other are none."""
    objects = [found.value for found in json_values(text) if isinstance(found.value, dict)]
    if not objects:
        return Unreadable("no JSON object in the reply")
    if any(other != objects[0] for other in objects):
        return Unreadable("objects that differ in the reply")
    try:
        return schema.model_validate_json(json.dumps(objects[0], allow_nan=False), strict=True)
    except ValidationError as error:
        return Unreadable(f"the answer does not fit the form asked for: {first_problem(error)}")
    except ValueError as error:
        return Unreadable(str(error))


def response_format(schema: type[BaseModel]) -> dict[str, object]:
    """The request parameter that holds a server to the schema."""
    form = {"name": schema.__name__, "strict": True, "schema": closed(schema.model_json_schema())}
    return {"type": "json_schema", "json_schema": form}


def request_in_words(schema: type[BaseModel]) -> str:
    """The same request as text, for servers that know no schemas."""
    words = (resources.files("pipeline.llm") / "answer_as_json.md").read_text(encoding="utf-8")
    return words.replace("{schema}", json.dumps(closed(schema.model_json_schema()), ensure_ascii=False))


def closed(schema: Any) -> Any:
    """A JSON schema in the strict form: every field required, no others, no default values."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {name: closed(value) for name, value in schema.items() if name not in ("default", "properties")}
    fields = schema.get("properties")
    if fields is not None:
        out["properties"] = {name: closed(value) for name, value in fields.items()}
        out["required"] = list(fields)
        out["additionalProperties"] = False
    return out
