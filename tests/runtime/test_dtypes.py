"""The dtype contract: without loss, or an error that names the input."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import pytest

import paddable
from paddable.errors import MisuseError
from paddable.runtime.session.dtypes import as_declared


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        (np.array([60], np.int32), "int64"),
        (60, "int64"),
        (np.array([60], np.uint8), "int64"),
        (np.array([60.0]), "int64"),
        ([60, 61], "int32"),
        (np.array([0.5]), "float32"),
        (np.array([0.5], np.float16), "float32"),
        (np.array([np.inf, np.nan, -np.inf]), "float32"),
        (np.array([np.inf, 0.5], np.float32), "float16"),
        (np.array([True]), "bool"),
        (np.array([1.5], np.float32), "float32"),
    ],
)
def test_without_loss(value: Any, declared: str) -> None:
    array = as_declared("x", value, np.dtype(declared))
    assert array.dtype == declared
    np.testing.assert_array_equal(array, np.asarray(value))


def test_float64_sound_is_rounded_to_float32() -> None:
    sound = np.random.default_rng(0).standard_normal(100)
    np.testing.assert_array_equal(as_declared("x", sound, np.dtype("float32")), sound.astype(np.float32))


@pytest.mark.parametrize(
    ("value", "declared", "told"),
    [
        (np.array([60.5]), "int64", "60.5"),
        (np.array([np.nan]), "int64", "nan"),
        (np.array([np.inf]), "int64", "inf"),
        (np.array([1e300]), "int64", "int64"),
        (np.array([2**40]), "int32", "int32"),
        (np.array([-1]), "uint8", "uint8"),
        (np.array([2**63], np.uint64), "int64", "int64"),
        (np.array([1], np.int16), "float32", "32768"),
        (np.ones((1, 128, 60), np.int16), "float32", "convert them first: astype(float32)"),
        (np.ones(60, np.int64), "float32", "convert them first: astype(float32)"),
        (np.ma.masked_array(np.ones(2, np.float32), [0, 1]), "float32", "a masked array"),
        (np.array([1e39]), "float32", "too large"),
        (np.array([7e4], np.float32), "float16", "too large"),
        (np.array([1]), "bool", "bool"),
        (np.array([True]), "float32", "bool"),
        (np.array([1j]), "float32", "complex"),
        (np.array(["a"]), "float32", "<U1"),
        (None, "float32", "object"),
        ([[1.0], [1.0, 2.0]], "float32", "list of arrays"),
    ],
)
def test_with_loss(value: Any, declared: str, told: str) -> None:
    with pytest.raises(MisuseError) as error:
        as_declared("audio", value, np.dtype(declared))
    assert "'audio'" in str(error.value)
    assert told in str(error.value)


def load_case(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.shared
def test_case_21(shared: Path, tmp_path: Path) -> None:
    case = load_case(shared / "cases" / "case_21_input_dtype_contract.py")

    def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> Any:
        for axes in model.graph.initializer:  # the case writes Python ints: int32 in NumPy 1 on Windows, and no axes
            if axes.data_type == onnx.TensorProto.INT32:
                axes.CopyFrom(
                    onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(axes).astype(np.int64), axes.name)
                )
        onnx.save(model, tmp_path / "case.onnx")
        return paddable.load(tmp_path / "case.onnx").run(feeds)["y"]

    ok, detail = case.check(run)
    assert ok, detail
    assert detail["int16 pcm"] == "named error"
