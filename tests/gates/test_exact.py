"""What native's kernels round where a remedy writes them otherwise is native's noise, and hides no fault."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import numpy_helper

import paddable
from paddable.errors import PaddableError
from paddable.gates.exact import exact_where_replaced
from paddable.padding.remedies.forms import MaskedNormalisation


def _model(body: str) -> onnx.ModelProto:
    """Channels around 30, a normalisation over time whose scale is no power of two, and what reads it."""
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]> g (float[1, 8, T] x) => (float[1, 8, T] y) <float far = {{30}}> '
        f"{{ m = Add (x, far) {body} }}"
    )
    random = np.random.default_rng(1)
    for name in ("s", "b"):
        model.graph.initializer.append(numpy_helper.from_array(random.normal(size=8).astype(np.float32), name))
    return model


INSTANCE = "n = InstanceNormalization (m, s, b) y = Tanh (n)"


def test_a_normalisation_of_one_step_is_as_near_as_native_rounds(tmp_path: Path) -> None:
    native, padded = tmp_path / "native.onnx", tmp_path / "padded.onnx"
    onnx.save(_model(INSTANCE), native)
    paddable.convert(native, ["x:2=T"], containers=["8"], gate_lengths=4, out=padded)
    rows = paddable.verify(padded, native=native).rows
    assert all(row.tolerance > 1e-5 for row in rows if row.length == 1)
    assert max(row.error for row in rows if row.length == 1) > 1e-5
    assert all(row.error < 1e-5 for row in rows if row.length > 4)


def test_a_fault_in_its_remedy_is_found_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    emit = MaskedNormalisation.emit

    def wrong(self: MaskedNormalisation, *given: object) -> ir.Value:
        object.__setattr__(self, "epsilon", self.epsilon * 100)
        return emit(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(MaskedNormalisation, "emit", wrong)
    with pytest.raises(PaddableError, match="gate"):
        paddable.convert(_model("y = InstanceNormalization (m, s, b)"), ["x:2=T"], containers=["8"], out=tmp_path / "p")


@pytest.mark.parametrize(("padded", "stem"), [("y = Relu (m)", "double_statistics"), (INSTANCE, None)])
def test_written_only_where_the_padded_graph_has_other_kernels(padded: str, stem: str | None, tmp_path: Path) -> None:
    native, other = _model(INSTANCE), _model(padded)
    found = exact_where_replaced(
        ir.from_proto(native), native.SerializeToString(), other.SerializeToString(), tmp_path / "double.onnx"
    )
    assert (found.stem if found else None) == stem
