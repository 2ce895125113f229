"""The scripted endpoint, asked with a bare HTTP client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.errors import ConfigError, SetupError
from pipeline.scripted_endpoint import Script, ScriptedEndpoint, load_script, main
from tests.endpoints import says, serving


def ask(server: ScriptedEndpoint, text: str = "hi", **more: Any) -> httpx.Response:
    body = {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}
    return httpx.post(
        f"{server.base_url}/chat/completions", json=body, headers={"Authorization": "Bearer k"}, timeout=5
    )


def said(answer: httpx.Response) -> str:
    return str(answer.raise_for_status().json()["choices"][0]["message"]["content"])


def test_replies_come_in_order_and_then_none_is_left() -> None:
    with serving(says("one"), says("two", times=2)) as server:
        texts = [said(ask(server)) for _ in range(3)]
        after = ask(server)

    assert texts == ["one", "two", "two"]
    assert (after.status_code, after.json()["error"]["code"]) == (400, "script_ended")


def test_a_rule_answers_what_it_is_about_and_no_more() -> None:
    with serving(says("login", when="password", times=None), says("other", times=None)) as server:
        texts = [said(ask(server, text)) for text in ("hello", "the password?", "bye", "password")]

    assert texts == ["other", "login", "other", "login"]


def test_an_answer_is_a_whole_chat_completion() -> None:
    reply = says("text", reasoning="why", refusal="no", finish="length", prompt_tokens=3, completion_tokens=4)
    with serving(reply) as server:
        answer = ask(server).json()

    (choice,) = answer["choices"]
    assert answer["object"] == "chat.completion"
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert (choice["finish_reason"], choice["message"]["reasoning_content"]) == ("length", "why")
    assert choice["message"]["refusal"] == "no"


def test_models_are_listed_with_their_context() -> None:
    with serving(models=[{"id": "a", "max_model_len": 99}, {"id": "b"}]) as server:
        listed = httpx.get(f"{server.base_url}/models").json()["data"]

    assert listed == [{"object": "model", "id": "a", "max_model_len": 99}, {"object": "model", "id": "b"}]


@pytest.mark.parametrize(("key", "status"), [("k", 200), ("other", 401), (None, 200)])
def test_only_the_right_key_opens(key: str | None, status: int) -> None:
    with serving(says(), key=key) as server:
        assert ask(server).status_code == status


def test_an_unknown_model_is_not_found() -> None:
    with serving(says()) as server:
        assert ask(server, model="x").status_code == 404


def test_too_many_pictures_are_refused() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    with serving(says("seen"), images=1) as server:
        two = ask(server, messages=[{"role": "user", "content": [part, part]}])
        one = ask(server, messages=[{"role": "user", "content": [part]}])

    assert (two.status_code, one.status_code) == (400, 200)


@pytest.mark.parametrize("form", ["seconds", "date", "milliseconds"])
def test_a_wait_is_asked_for_in_each_form(form: str) -> None:
    with serving(says("slow", status=429, retry_after_seconds=2, retry_after_form=form)) as server:
        headers = ask(server).headers

    match form:
        case "seconds":
            assert headers["retry-after"] == "2"
        case "milliseconds":
            assert headers["retry-after-ms"] == "2000"
        case _:
            wait = parsedate_to_datetime(headers["retry-after"]) - parsedate_to_datetime(headers["date"])
            assert 2 <= wait.total_seconds() <= 4


def test_a_drop_cuts_the_body() -> None:
    with serving(says("x" * 1000, fault="drop")) as server, pytest.raises(httpx.RemoteProtocolError):
        ask(server)


def test_silence_lasts_until_the_client_or_the_server_ends() -> None:
    with serving(says(fault="silence")) as server, pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.base_url}/chat/completions",
            json={"model": "scripted", "messages": []},
            timeout=httpx.Timeout(5, read=0.2),
        )


def test_requests_are_kept_without_keys_and_pictures(tmp_path: Path) -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    log = tmp_path / "requests.jsonl"
    with ScriptedEndpoint(Script(replies=[says()]), log=log) as server:
        ask(server, messages=[{"role": "user", "content": [part]}])

    (line,) = log.read_text().splitlines()
    (request,) = server.requests
    assert json.loads(line)["body"] == request.body
    assert request.body["messages"][0]["content"][0]["image_url"]["url"].startswith("sha256:")
    assert (request.path, request.status, request.in_flight) == ("/v1/chat/completions", 200, 1)
    assert "Bearer" not in line
    assert "AAAA" not in line


def test_it_listens_on_loopback_and_on_a_taken_port_not_at_all() -> None:
    with serving() as server:
        port = int(server.base_url.split(":")[2].split("/")[0])
        with pytest.raises(SetupError, match=f"cannot listen on port {port}"), ScriptedEndpoint(Script(), port=port):
            pass

    assert server.base_url == f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("text", ["replies: [{texts: a}]", "replies: [", "[]", ""])
def test_a_script_that_is_wrong_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(text)

    with pytest.raises(ConfigError, match="--script") as caught:
        load_script(script)

    assert "\n" not in str(caught.value)


def test_the_command_refuses_a_missing_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--script", str(tmp_path / "none.yaml")])

    assert caught.value.code == 2
    assert "none.yaml: cannot be read" in capsys.readouterr().err


def test_the_command_says_its_address_and_serves(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("replies:\n  - text: from a file\n    times: null\n")
    command = [sys.executable, "-m", "pipeline.scripted_endpoint", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            body = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
            answer = httpx.post(f"{address}/chat/completions", json=body, timeout=5)
        finally:
            process.terminate()

    assert said(answer) == "from a file"
