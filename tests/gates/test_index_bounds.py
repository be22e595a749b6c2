"""Gate L draws an index of unknown bounds from its table: native reads from either end of the axis, and not beyond."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx_ir as ir

from paddable.gates.alone import _valid_data


def test_an_index_of_unknown_bounds_stays_in_its_table() -> None:
    table: Any = SimpleNamespace(axes=((SimpleNamespace(size=7),),), rank=1)
    gather: Any = SimpleNamespace(node=SimpleNamespace(op_type="Gather", attributes={}), operands=[table])
    index: Any = SimpleNamespace(constant=None, low=-np.inf, high=np.inf, dtype=ir.DataType.INT64, own_row=None)
    frame: Any = SimpleNamespace(
        contents=lambda _: None, shape=lambda _: (500,), lengths=[{"T": 5}], valid_size=lambda size, _: size
    )
    drawn = _valid_data(index, gather, 1, frame, np.random.default_rng(0))
    assert drawn.min() >= -7 and drawn.max() <= 6
    assert drawn.min() < 0 < drawn.max()
