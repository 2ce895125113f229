"""A store that is not there or lets nobody in: every command says so in one line that names it and what to mend."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from botocore.stub import Stubber

from pipeline import s3_storage
from pipeline.cli import app_for
from pipeline.commands.shell import run
from pipeline.errors import RunError, SinkError
from pipeline.storage import disk_errors, storage_of, store_errors
from tests.datasets import attempt, collected, judging, verdict

READING = {
    "check": ["check", "{}"],
    "query": ["query", "{}", "SELECT 1"],
    "compact": ["compact", "{}"],
    "resume": ["resume", "{}"],
    "report": ["report", "{}"],
    "export": ["export", "{}", "--to", "sft", "--out", "{out}"],
    "redact": ["redact", "{}", "--out", "{out}"],
    "judge": ["judge", "{}"],
}


def said(capsys: pytest.CaptureFixture[str], arguments: list[str], address: str, tmp_path: Path) -> tuple[int, str]:
    """The exit code and the one line of a command about a dataset."""
    code = run(app_for(), [one.format(address, out=tmp_path / "out") for one in arguments])
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1, captured
    assert not (tmp_path / "out").exists()
    return code, captured.err


@pytest.mark.parametrize("command", READING)
def test_bucket_that_is_not_there(
    command: str, bucket: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, line = said(capsys, READING[command], f"{bucket}-gone/run", tmp_path)

    assert code == 2
    assert line.startswith(f"error: {bucket}-gone/run") and "create it, or mend the address" in line


@pytest.mark.parametrize("command", READING)
def test_server_that_does_not_answer(
    command: str,
    bucket: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    code, line = said(capsys, READING[command], f"{bucket}/run", tmp_path)

    assert code == 1
    assert f"{bucket}/run" in line and "http://127.0.0.1:1 does not answer" in line and "check AWS_ENDPOINT_URL" in line


@pytest.mark.parametrize(
    ("address", "code", "fix"),
    [
        ("{}-gone/run", 2, "create it, or mend the address"),
        ("s3://no_such name/run", 2, "Invalid bucket name"),
        ("{}", 1, "check AWS_ENDPOINT_URL"),
    ],
    ids=["bucket", "name", "server"],
)
@pytest.mark.parametrize("command", ["collect", "redact"])
def test_place_to_write_that_cannot_be_used(
    command: str,
    address: str,
    code: int,
    fix: str,
    bucket: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = collected(tmp_path / "run", [attempt("a")], [judging(), verdict("a-1")])
    if code == 1:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    beginning = ["collect", "--config", "fake"] if command == "collect" else ["redact", str(folder)]

    found, line = said(capsys, [*beginning, "--out", address.format(bucket)], "", tmp_path)

    assert found == code
    assert fix in line and "free space" not in line


def test_endpoint_that_is_no_address(
    bucket: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nowhere")

    code, line = said(capsys, ["check", "{}"], bucket, tmp_path)

    assert (code, line) == (2, "error: AWS_ENDPOINT_URL: Invalid endpoint: nowhere\n")


@pytest.mark.parametrize("code", ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"])
def test_keys_that_are_not_let_in(code: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test server lets every key in, so the answer is put in the client's mouth."""
    client = boto3.client("s3", endpoint_url="http://127.0.0.1:1")
    monkeypatch.setattr(s3_storage, "_boto", lambda _: client)
    with Stubber(client) as stub:
        stub.add_client_error("list_objects_v2", service_error_code=code, http_status_code=403)
        with pytest.raises(RunError, match=f"refuses access .{code}.: check AWS_ACCESS_KEY_ID"), store_errors():
            storage_of(bucket).has("manifest")


def test_missing_keys_are_named(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    client = boto3.session.Session().client("s3", endpoint_url="http://127.0.0.1:1")
    monkeypatch.setattr(s3_storage, "_boto", lambda _: client)

    with pytest.raises(RunError, match="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), store_errors():
        storage_of(bucket).has("manifest")


def test_writer_is_not_told_to_free_space(bucket: str) -> None:
    with pytest.raises(SinkError) as caught, disk_errors("writing a"):
        storage_of(f"{bucket}-gone").create("a", b"")

    assert caught.value.code == "no_store"


def test_file_that_may_not_be_read_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/private/run")

    monkeypatch.setattr("pipeline.local_storage.LocalStorage.has", refuse)

    assert said(capsys, ["check", str(tmp_path)], "", tmp_path) == (
        1,
        "error: [Errno 13] Permission denied: '/private/run'\n",
    )
