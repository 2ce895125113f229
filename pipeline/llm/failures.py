"""What a failed request means: try again, give up the call, stop the run, or a filter's answer.

Messages name the endpoint's address and the key's environment variable, never the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import openai

from pipeline.llm.endpoint import Endpoint
from pipeline.retry import asked_wait, is_transient

_MOST_CHARACTERS = 500
_NO_QUOTA = "insufficient_quota"
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "data_inspection_failed", "responsibleaipolicyviolation"}
)
_TOO_LONG = re.compile(
    r"context.?(length|window)|max(imum)?.{0,20}(context|model.?len|length)|too (long|many tokens)|prompt.{0,30}longer",
    re.IGNORECASE,
)
_PICTURES = re.compile(r"image|multi-?modal|vision|picture", re.IGNORECASE)
_TOO_MANY = re.compile(r"at most|too many|limit|maximum|exceed|more than", re.IGNORECASE)


class Failure(NamedTuple):
    """A failed request. `wait_seconds` is what the endpoint asked for; `paused` when that concerns everybody."""

    kind: Literal["passing", "call", "run", "filtered"]
    code: str
    message: str
    wait_seconds: float | None = None
    paused: bool = False


def failure_of(error: Exception, endpoint: Endpoint, key: str) -> Failure:
    """What an error of the client means."""
    match error:
        case openai.APITimeoutError() if _connecting(error):
            return _failure(
                "passing", "connection_failed", f"no connection in {endpoint.connect_seconds:g} s", endpoint
            )
        case TimeoutError() | openai.APITimeoutError():
            return _failure("call", "timeout", f"no answer in {endpoint.read_seconds:g} s", endpoint)
        case openai.APIStatusError():
            return _status_failure(error, endpoint, key)
        case openai.APIConnectionError():
            cause = f"{type(error.__cause__).__name__}: {error.__cause__}" if error.__cause__ else str(error)
            return _failure("passing", "connection_failed", _safe(cause, key), endpoint)
    return unreadable(str(error), endpoint, key)


def unreadable(detail: str, endpoint: Endpoint, key: str) -> Failure:
    """An answer with a good status that is no answer."""
    return _failure("call", "bad_answer", f"cannot be read: {_safe(detail, key)}", endpoint)


def error_in(body: object, endpoint: Endpoint, key: str) -> Failure | None:
    """The failure that some gateways report in the body of an answer with status 200; null if there is none."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 400
    return _by_status(_Problem(status, _code(error), _safe(_message(error), key), {}), endpoint)


class _Problem(NamedTuple):
    status: int
    code: str
    text: str
    headers: Mapping[str, str]


def _status_failure(error: openai.APIStatusError, endpoint: Endpoint, key: str) -> Failure:
    body = error.body.get("error", error.body) if isinstance(error.body, Mapping) else error.body
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    return _by_status(_Problem(error.status_code, _code(body), _safe(_message(body), key), headers), endpoint)


def _by_status(problem: _Problem, endpoint: Endpoint) -> Failure:
    stop = _stop_of(problem, endpoint)
    if stop is not None:
        return stop
    said = f"status {problem.status}: {problem.text}"
    if problem.code.lower() in _FILTER_CODES:
        return _failure("filtered", "filtered", said, endpoint)
    if is_transient(problem.status):
        wait = asked_wait(problem.headers, datetime.now(UTC))
        limited = problem.status == 429
        code = "rate_limited" if limited else "server_error"
        return _failure("passing", code, said, endpoint)._replace(wait_seconds=wait, paused=limited or wait is not None)
    return _failure("call", _request_code(problem), said, endpoint)


def _stop_of(problem: _Problem, endpoint: Endpoint) -> Failure | None:
    """What no other call of this run could do better: a wrong key, no money, an unknown model."""
    if problem.status in (401, 403):
        # What the server says is left out: some repeat the key.
        message = (
            f"the endpoint {endpoint.base_url} refuses the key (status {problem.status}):"
            f" put a valid one in the environment variable {endpoint.api_key_env}"
        )
        return Failure("run", "unauthorised", message)
    if problem.status == 402 or problem.code == _NO_QUOTA:
        message = f"the account of {endpoint.api_key_env} has no quota left at {endpoint.base_url}: {problem.text}"
        return Failure("run", "no_quota", message)
    if problem.status == 404:
        message = (
            f"model '{endpoint.model}' is not found at {endpoint.base_url} with the key in {endpoint.api_key_env}"
            f" ({problem.text}): check the name, and that the address ends as the server wants it, mostly in /v1"
        )
        return Failure("run", "not_found", message)
    return None


def _request_code(problem: _Problem) -> str:
    """Which part of a refused request was too much."""
    # Length first: a prompt may be too long because of its pictures, and says so.
    if problem.code == "context_length_exceeded" or _TOO_LONG.search(problem.text):
        return "context_too_long"
    if _PICTURES.search(problem.text):
        return "too_many_images" if _TOO_MANY.search(problem.text) else "images_unsupported"
    return "request_too_large" if problem.status == 413 else "bad_request"


def _failure(
    kind: Literal["passing", "call", "run", "filtered"], code: str, detail: str, endpoint: Endpoint
) -> Failure:
    return Failure(kind, code, f"{endpoint.base_url}, model {endpoint.model}: {detail}")


def _connecting(error: Exception) -> bool:
    return type(error.__cause__).__name__ in ("ConnectTimeout", "PoolTimeout")


def _code(body: object) -> str:
    if not isinstance(body, Mapping):
        return ""
    return next((str(body[name]) for name in ("code", "type") if isinstance(body.get(name), str)), "")


def _message(body: object) -> str:
    text = body.get("message") if isinstance(body, Mapping) else body
    return " ".join(str(text or "no explanation").split())


def _safe(text: str, key: str) -> str:
    return text.replace(key, "[key]")[:_MOST_CHARACTERS]
