"""How many tasks each template gives."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from taskspecs.allotment import Cell, allot

CELLS = [Cell(f"t{number}", language) for number in range(4) for language in ("en", "zh")]


def test_equal_weights_give_equal_numbers() -> None:
    given_ = allot([(cell, 1.0) for cell in CELLS], 24, 24, 0)

    assert given_ == Counter(dict.fromkeys(CELLS, 3))


def test_numbers_follow_the_weights() -> None:
    heavy, light = CELLS[0], CELLS[2]

    given_ = allot([(heavy, 3.0), (light, 1.0)], 40, 40, 0)

    assert given_ == Counter({heavy: 30, light: 10})


def test_a_template_gives_no_more_than_its_share_over_all_languages() -> None:
    given_ = allot([(cell, 1.0 if cell.template_id == "t0" else 0.1) for cell in CELLS], 20, 6, 0)

    assert given_[CELLS[0]] + given_[CELLS[1]] == 6
    assert given_.total() == 20


def test_there_are_fewer_when_every_template_has_given_its_share() -> None:
    assert allot([(cell, 1.0) for cell in CELLS], 100, 3, 0).total() == 12


def test_without_weight_there_is_nothing() -> None:
    assert allot([(cell, 0.0) for cell in CELLS], 10, 10, 0).total() == 0


def test_another_seed_gives_the_odd_ones_to_others() -> None:
    odd = {tuple(sorted(allot([(cell, 1.0) for cell in CELLS], 3, 3, seed))) for seed in range(8)}

    assert len(odd) > 1


@given(order=st.permutations(list(enumerate(CELLS))), count=st.integers(0, 30), seed=st.integers(0, 3))
def test_the_order_of_the_cells_is_of_no_account(order: list[tuple[int, Cell]], count: int, seed: int) -> None:
    weights = [(cell, 1.0 + number / 3) for number, cell in enumerate(CELLS)]
    shuffled = [(cell, 1.0 + number / 3) for number, cell in order]

    assert allot(shuffled, count, 7, seed) == allot(weights, count, 7, seed)
