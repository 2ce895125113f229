"""Patterns that are tried only where they can begin find what the plain ones find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskspecs import dates, gate_text
from taskspecs.alternatives import by_first_sign

LETTERS = "aAiİısſK-买."
"""Letters of which some are one letter in another case, though they are not ASCII."""


@given(st.lists(st.text(LETTERS, min_size=1, max_size=3), min_size=2, max_size=8), st.text(LETTERS, max_size=3))
def test_the_first_alternative_of_the_list_is_the_one_that_is_found(phrases: list[str], rest: str) -> None:
    text = rest.join([*phrases, "".join(phrases)])
    patterns = [re.escape(phrase.lower()) for phrase in phrases]
    grouped, plain = (re.finditer(one, text, re.IGNORECASE) for one in (by_first_sign(patterns), "|".join(patterns)))

    assert [found.span() for found in grouped] == [found.span() for found in plain]


@pytest.mark.parametrize("form", dates._FORMS, ids=lambda form: f"{form.meaning.__name__}-{form.sign}")
@settings(max_examples=30)
@given(st.data())
def test_no_date_is_without_the_sign_of_its_form(form: dates._Form, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(form.pattern))

    assert any(spelled in text for spelled in dates._SIGNS[form.sign])


@pytest.mark.parametrize("name", ["_ADDRESS", "_SITE", "_HAN_SITE", "_RELATIVE", "_MACHINE"])
@settings(max_examples=30)
@given(st.data())
def test_no_address_is_overlooked_because_nothing_in_its_text_may_lead_anywhere(name: str, data: st.DataObject) -> None:
    pattern = getattr(gate_text, name)
    dot = data.draw(st.sampled_from([".", "。", "[.]", "(.)"]))
    text = data.draw(st.from_regex(pattern)).replace(".", dot)

    assert gate_text._MAY_LEAD.search(text) or not pattern.search(gate_text._OTHER_DOT.sub(".", text))
