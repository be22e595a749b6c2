"""Inputs and a CPU runner for the tests of fixes, as fixtures that give functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest

from paddable.linter.fixing import Runner

Array = npt.NDArray[Any]


def _feeds_for(proto: onnx.ModelProto, sizes: Sequence[int] = (3, 7), seed: int = 0) -> list[dict[str, Array]]:
    """One feed for each size of the symbolic dims; integers are small and non-negative, so that they can index."""
    random = np.random.default_rng(seed)
    inputs = [value for value in proto.graph.input if value.name not in {t.name for t in proto.graph.initializer}]
    return [{value.name: _draw(random, value, size) for value in inputs} for size in sizes]


def _draw(random: np.random.Generator, value: onnx.ValueInfoProto, size: int) -> Array:
    tensor = value.type.tensor_type
    shape = [d.dim_value if d.HasField("dim_value") else size for d in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def _run_on_cpu(model: ir.Model, feeds: Sequence[Mapping[str, Array]]) -> Sequence[Sequence[Array]]:
    """ONNX Runtime's CPU provider, optimiser off."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString(), options, ["CPUExecutionProvider"])
    return [session.run(None, dict(feed)) for feed in feeds]


@pytest.fixture(scope="session")
def feeds_for() -> Callable[..., list[dict[str, Array]]]:
    return _feeds_for


@pytest.fixture(scope="session")
def run_on_cpu() -> Runner:
    return _run_on_cpu


@pytest.fixture(scope="session")
def zoo() -> Path:
    """The folder that zoo.py of the shared folder exported into."""
    folder = Path(os.environ.get("PADDABLE_ZOO", "zoo"))
    if not folder.is_dir():
        pytest.skip("no zoo: export it with zoo.py and name its folder in PADDABLE_ZOO")
    return folder
