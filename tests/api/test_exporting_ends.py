"""An output that stops growing inside its container is told."""

from __future__ import annotations

import pytest

from paddable.api.exporting_ends import told_ends
from paddable.bundle import Metadata


@pytest.mark.parametrize(("steps", "told"), [(480_000, 0), (720_000, 1)])
def test_only_a_container_that_goes_on_behind_the_end(steps: int, told: int) -> None:
    lengths = {"log_probs": {1: "min(S//320, 1499)+1"}, "other": {1: "S//320"}, "two": {2: "min(S, 7)"}}
    lines = told_ends(Metadata(symbols={}, container={"S": steps}, lengths=lengths))
    assert len(lines) == told
    assert not told or lines[0].startswith("S=720000: output 'log_probs' ends after 1500 rows (min(S//320, 1499)+1)")
