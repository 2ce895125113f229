"""What placeholders stand for, and secrets in every spelling that a program may give them."""

from __future__ import annotations

import base64
import html
import io
import json
import pickle
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.config import SecretConfig, load_config, parse_config
from pipeline.errors import ActionError, ConfigError
from pipeline.progress import Board
from pipeline.run import collect, resume
from pipeline.sinks import Committer
from pipeline.spelling import base64_of
from pipeline.vault import HushedStream, Secret, Vault, hushed, load_vault

VALUE = 'Kestrel-7f3a+91/b&"x y'
VAULT = Vault([Secret(name="SHOP", value=VALUE, apps=["shop"]), Secret(name="ANY", value="tulip%2030!")])

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": str.upper,
    "json": json.dumps,
    "markup": html.escape,
    "address": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "address in an address": lambda text: quote(quote(text, safe=""), safe=""),
    "every byte escaped": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, one before": lambda text: base64.b64encode(b"u" + text.encode() + b":p").decode(),
    "base64, two before": lambda text: base64.b64encode(b"u:" + text.encode() + b"?").decode(),
    "base64 for addresses": lambda text: base64.urlsafe_b64encode(b"{" + text.encode() + b"}").decode(),
    "numbers": lambda text: "".join(f"&#{ord(one)};" for one in text),
    "hexadecimal numbers": lambda text: "".join(f"&#x{ord(one):x};" for one in text),
    "units": lambda text: re.sub("....", r"\\u\g<0>", text.encode("utf-16-be").hex()),
    "lines": lambda text: "\n".join(text[start : start + 5] for start in range(0, len(text), 5)),
    "lines in json": lambda text: json.dumps("\r\n".join(text[start : start + 3] for start in range(0, len(text), 3))),
    "lines of hexadecimal": lambda text: text.encode().hex("\n", 4),
    "base64 in an address": lambda text: quote(base64.b64encode(text.encode()).decode(), safe=""),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "value"), [("SHOP", VALUE), ("ANY", "tulip%2030!")])
def test_a_secret_is_hidden_in_every_spelling(spelling: str, name: str, value: str) -> None:
    shown = VAULT.hide(f"before {SPELLINGS[spelling](value)} after")

    assert f"<secret:{name}>" in shown
    assert shown.startswith("before ") and shown.endswith(" after")
    assert len(shown) <= len(f"before <secret:{name}> after") + 6


@pytest.mark.parametrize("before", range(0, 80, 3))
@pytest.mark.parametrize("between", ["\n", "\r\n", " ", "\\n"])
def test_base64_in_lines_is_hidden_wherever_they_break(before: int, between: str) -> None:
    lines = base64.encodebytes(b"x" * before + VALUE.encode() + b"y" * 20).decode().splitlines()

    shown = VAULT.hide(between.join(lines))

    assert "<secret:SHOP>" in shown
    assert not any(piece in shown.replace(between, "") for piece in base64_of(VALUE))


@pytest.mark.parametrize("place", range(1, len(VALUE)))
def test_a_secret_is_hidden_wherever_its_line_breaks(place: int) -> None:
    assert VAULT.hide(f"$ {VALUE[:place]}\n{VALUE[place:]} $") == "$ <secret:SHOP> $"


@pytest.mark.parametrize("cut", range(1, 11))
def test_a_secret_cut_at_either_end_is_hidden(cut: int) -> None:
    assert VAULT.hide(f"shown: …{VALUE[cut:]}") == "shown: …<secret:SHOP>"
    assert VAULT.hide(f"shown: {VALUE[:-cut]}…") == "shown: <secret:SHOP>…"


@pytest.mark.parametrize(
    "shown", ["correcthorsebatterystapl", "correcthorsebat", "orrecthorsebatterystaple", "batterystaple"]
)
def test_a_passphrase_of_letters_cut_at_either_end_is_hidden(shown: str) -> None:
    vault = Vault([Secret(name="P", value="correcthorsebatterystaple")])

    assert vault.hide(f"({shown}…)") == "(<secret:P>…)"
    assert vault.hide("correct horse, battery and staple") == "correct horse, battery and staple"


def test_an_ending_that_ends_another_word_is_no_secret() -> None:
    vault = Vault([Secret(name="S", value="password-2024")])

    assert vault.hide("Discard-2024") == "Discard-2024"


def test_a_secret_cut_short_is_hidden_as_far_as_it_goes() -> None:
    assert VAULT.hide("typed: Kestrel-7f3a+") == "typed: <secret:SHOP>"
    assert VAULT.hide("Kestrel-7f3a+9…") == "<secret:SHOP>…"


@pytest.mark.parametrize("text", ["", "nothing here", "a kestrel, hovering", "<secret:SHOP>", "tulip", "tulip 20"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert VAULT.hide(text) is text


@pytest.mark.parametrize("piece", ["\\", "\\\\u", "&amp;", "%25", "Kestrel-7f3a+9", "! ", "4b", "S2Vz"])
def test_long_texts_are_searched_in_no_time(piece: str) -> None:
    vault = Vault([Secret(name="A", value="!Kestrel-7f3a+9 x y"), Secret(name="B", value=VALUE)])
    vault.hide("compiled")
    began = time.perf_counter()

    vault.hide((piece * 40_000)[:40_000])

    assert time.perf_counter() - began < 2


def test_a_beginning_that_is_a_word_is_no_secret() -> None:
    assert Vault([Secret(name="S", value="password-9")]).hide("Password: password") == "Password: password"


def test_a_secret_that_holds_another_is_hidden_as_itself() -> None:
    vault = Vault([Secret(name="short", value="abcdef"), Secret(name="long", value="abcdef123456")])

    assert vault.hide("abcdef123456 abcdef") == "<secret:long> <secret:short>"


def test_placeholders_are_revealed_where_they_may_be() -> None:
    assert VAULT.reveal("ann\t<secret:SHOP>\n<secret:ANY>", ["shop"]) == f"ann\t{VALUE}\ntulip%2030!"
    assert VAULT.reveal("plain", [None]) == "plain"


@pytest.mark.parametrize(
    ("text", "app_ids", "words"),
    [
        ("<secret:NONE>", ["shop"], "no secret 'NONE'; secrets that can be typed: ANY, SHOP"),
        ("<secret:SHOP>", ["blog"], "'SHOP' may not be typed into blog"),
        ("<secret:SHOP>", ["shop", "blog"], "'SHOP' may not be typed into blog"),
        ("<secret:ANY>", [None], "'ANY' may not be typed into what is no application"),
    ],
)
def test_elsewhere_they_are_refused(text: str, app_ids: list[str | None], words: str) -> None:
    with pytest.raises(ActionError, match=words) as caught:
        VAULT.reveal(text, app_ids)
    assert caught.value.code == "bad_arguments"


@pytest.mark.parametrize(
    "line", [VALUE, "Kestre1-7f3a", "password: kestrel - 7F3A+9l", quote(VALUE), VALUE.encode().hex(), "7f3a+91/b&"]
)
def test_a_line_of_a_picture_shows_a_secret_also_misread(line: str) -> None:
    assert VAULT.shown_in(line)


@pytest.mark.parametrize("line", ["", "A list of orders", "Sign in to your account", "Password", "Total 30.00"])
def test_other_lines_show_none(line: str) -> None:
    assert not VAULT.shown_in(line)


def test_values_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", f"{VALUE}\n")

    vault = load_vault([SecretConfig(name="SHOP", env="SHOP_PASSWORD")])

    assert vault.reveal("<secret:SHOP>", ["any"]) == VALUE


@pytest.mark.parametrize(("value", "words"), [("", "is not set"), ("12345", "holds fewer than 6 characters")])
def test_a_variable_that_holds_none_is_named(monkeypatch: pytest.MonkeyPatch, value: str, words: str) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", value)

    with pytest.raises(ConfigError, match=f"secrets.0.env: .*SHOP_PASSWORD {words}") as caught:
        load_vault([SecretConfig(name="SHOP", env="SHOP_PASSWORD")])
    assert "12345" not in str(caught.value)


def test_a_run_names_it_before_there_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    config = load_config("fake", ["secrets=[{name: SHOP, env: SHOP_PASSWORD}]"])

    with pytest.raises(ConfigError, match="SHOP_PASSWORD is not set"):
        collect(config, "fake", tmp_path / "run", Board())
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_resumed_needs_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    config = load_config("fake", ["secrets=[{name: SHOP, env: SHOP_PASSWORD}]"])
    Committer.claim(tmp_path / "run", "run", config.model_dump(mode="json"))

    with pytest.raises(ConfigError, match="SHOP_PASSWORD is not set"):
        resume(tmp_path / "run", Board())


def test_no_text_form_tells_a_value() -> None:
    said = f"{VAULT!r} {VAULT} {Secret(name='S', value=VALUE)!r} {Secret(name='S', value=VALUE)}"

    assert VALUE not in said and "Vault(SHOP, ANY)" in said


def test_a_vault_reaches_another_process() -> None:
    VAULT.hide(VALUE)

    assert pickle.loads(pickle.dumps(VAULT)).hide(VALUE) == "<secret:SHOP>"  # as Ray passes it on


def test_a_hushed_stream_lets_no_secret_pass() -> None:
    behind = io.StringIO()
    stream = HushedStream(behind, VAULT)

    print(f"failed: {VALUE}", file=stream, flush=True)

    assert behind.getvalue() == "failed: <secret:SHOP>\n"
    assert stream.writable()


def test_a_hushed_process_says_nothing_of_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    with hushed(VAULT):
        sys.stdout.write(VALUE)
        sys.stderr.write(VALUE)

    assert capsys.readouterr() == ("<secret:SHOP>", "<secret:SHOP>")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"name": "A", "env": VALUE}], r"secrets\.0\.env: the name of an environment variable"),
        ([{"name": VALUE, "env": "A"}], r"secrets\.0\.name: "),
        ([VALUE], r"secrets\.0: "),
        ([{"name": "A", "env": "A"}, {"name": "A", "env": "B"}], "secrets: two secrets have the same name"),
    ],
)
def test_what_is_wrong_with_the_key_is_said_without_its_value(given: list[object], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        parse_config({"secrets": given})
    assert VALUE not in str(caught.value)


def test_the_key_takes_a_list_on_the_command_line() -> None:
    config = load_config("fake", ["secrets=[{name: SHOP, env: SHOP_PASSWORD, apps: [fake-todo]}]"])

    assert config.secrets == [SecretConfig(name="SHOP", env="SHOP_PASSWORD", apps=["fake-todo"])]


SIGNS = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"], include_characters=" ")


@settings(deadline=None)
@given(
    value=st.text(SIGNS, min_size=6, max_size=24).filter(lambda text: len(text.strip()) >= 6),
    before=st.text(max_size=8),
    spelling=st.sampled_from(sorted(SPELLINGS.keys() - {"upper case"})),  # of which scripts have their own ideas
)
def test_whatever_the_secret_is_it_is_hidden(value: str, before: str, spelling: str) -> None:
    value = value.strip()
    vault = Vault([Secret(name="S", value=value)])

    hidden = vault.hide(f"{before.encode('utf-8', 'replace').decode()} {SPELLINGS[spelling](value)} ")

    assert "<secret:S>" in hidden
    assert value not in hidden.replace("<secret:S>", "")
