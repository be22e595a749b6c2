"""How many lengths a gate tries, and which."""

from __future__ import annotations

import pytest

from paddable.gates.lengths import LIMIT, choose
from paddable.lengths import Span, parse


@pytest.mark.parametrize("limit", [6, 16, LIMIT])
def test_few_lengths_are_the_ends_and_an_edge(limit: int) -> None:
    expression = parse("(S-400)//160+1")
    chosen = [row["S"] for row in choose({"S": Span(400, None)}, {"S": 80_000}, [expression], limit=limit)]
    assert len(chosen) == limit and chosen[0] == 400 and chosen[-1] == 80_000
    assert any(n % 160 == 80 and n - 1 in chosen for n in chosen)  # 560, 720, ...: where a frame begins to fit


def test_edges_are_of_every_order_of_magnitude() -> None:
    """A length costs as much as it is long, and what stands near its ends matters most where it is short."""
    expression = parse("(S-400)//160+1")
    chosen = [row["S"] for row in choose({"S": Span(400, None)}, {"S": 480_000}, [expression])]
    assert len(chosen) == LIMIT
    assert sum(length < 48_000 for length in chosen) >= LIMIT // 3
    assert sum(length > 160_000 for length in chosen) >= LIMIT // 4
