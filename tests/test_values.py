"""Typed values: enough of them, in both languages, days counted from a stated one."""

from __future__ import annotations

from datetime import date

import pytest

from pipeline.errors import ConfigError
from taskspecs.generate import LANGUAGES
from taskspecs.values import in_language, load_values
from tests.templates import TODAY

LEAST = 30


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pool_has_enough_different_values_in_every_language(language: str) -> None:
    values = load_values()

    few = {name for name in values.names if len(set(values.pool(name, language, TODAY))) < LEAST}

    assert few == set()


def test_addresses_lie_where_nobody_lives() -> None:
    addresses = load_values().pool("mail_address", "en", TODAY)

    assert {address.rpartition("@")[2] for address in addresses} == {"example.com", "example.net", "example.org"}


def test_days_are_counted_from_the_stated_one() -> None:
    coming = load_values().pool("coming_day", "zh", date(2027, 1, 31))

    assert coming[:2] == ["2027-02-01", "2027-02-02"]


def test_past_days_are_past() -> None:
    assert max(load_values().pool("past_day", "en", TODAY)) < TODAY.isoformat()


def test_a_pool_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="'nonsense'; known: amount, city"):
        load_values().pool("nonsense", "en", TODAY)


def test_a_language_without_values_is_named() -> None:
    with pytest.raises(ConfigError, match="'note' has none in 'fr'"):
        load_values().pool("note", "fr", TODAY)


def test_values_for_any_language_serve_where_there_are_no_others() -> None:
    assert in_language({"any": ["a"], "zh": ["b"]}, "zh") == ["b"]
    assert in_language({"any": ["a"], "zh": ["b"]}, "en") == ["a"]
    assert in_language({"zh": ["b"]}, "en") == []
