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
