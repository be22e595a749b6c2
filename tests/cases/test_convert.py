"""Published faults of padding, rebuilt: each native model is converted, and the case's own oracle judges the result."""

from __future__ import annotations

import importlib.util
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from paddable.api import check, convert

pytestmark = pytest.mark.shared

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


@pytest.fixture
def case(shared: Path) -> Iterator[Callable[[str], ModuleType]]:
    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, shared / "cases" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    with warnings.catch_warnings():
        yield load
    logging.disable(logging.NOTSET)
    for name in [name for name in sys.modules if name.startswith("case_")]:
        del sys.modules[name]


class Native(torch.nn.Module):
    """The module at its own length: ``ilens`` is how much there is. What the compiler starts from has no such input."""

    def __init__(self, module: torch.nn.Module, axis: int) -> None:
        super().__init__()
        self.module, self.axis = module, axis

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x, torch.ones_like(x.transpose(0, self.axis)[:, :1, :1], dtype=torch.long).sum().reshape(1))


def converted(module: torch.nn.Module, example: torch.Tensor, axis: int, folder: Path) -> tuple[Function, Path]:
    """The padded model as the case calls it: any box, the valid steps in ``ilens``."""
    path = folder / "native.onnx"
    program = torch.onnx.export(
        Native(module.eval(), axis),
        (example,),
        dynamo=True,
        dynamic_shapes=({axis: torch.export.Dim.DYNAMIC},),
        input_names=["x"],
        output_names=["y"],
        opset_version=18,
        verbose=False,
    )
    assert program is not None
    program.save(path)
    padded: Any = convert(path, [f"x:{axis}=T"], keep_dynamic=True)
    session = onnxruntime.InferenceSession(padded.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda x, ilens: session.run(["y"], {"x": x, "ilens": ilens})[0], path


def codes(path: Path, axis: int) -> set[str]:
    return {finding.code for finding in check(path, [f"x:{axis}=T"]).findings}


def test_statistics_over_time(case: Callable[[str], ModuleType], tmp_path: Path) -> None:
    module = case("case_01_groupnorm_over_time")
    run, path = converted(module.Frontend(), torch.randn(1, 1, 3200), 2, tmp_path)
    ok, detail = module.check(run)
    assert ok, detail
    assert "PAD101" in codes(path, 2)


def test_mean_and_variance_of_an_utterance(case: Callable[[str], ModuleType], tmp_path: Path) -> None:
    module = case("case_03_mvn_minus_mean_padding")
    run, path = converted(module.MVN(False), torch.randn(1, 20, module.D), 1, tmp_path)
    ok, detail = module.check(run)
    assert ok, detail
    assert {"PAD101", "PAD102"} & codes(path, 1)


def test_a_backward_lstm(case: Callable[[str], ModuleType], tmp_path: Path) -> None:
    module = case("case_06_bilstm_backward_reads_padding")
    run, path = converted(module.Bi(), torch.randn(1, 20, module.D), 1, tmp_path)
    ok, detail = module.check(run)
    assert ok, detail
    assert codes(path, 1) == {"PAD104"}


@pytest.mark.parametrize("half", ["exact", "fast"])
def test_a_mask_of_the_lowest_float_in_half(case: Callable[[str], ModuleType], half: str) -> None:
    module = case("case_15_fp16_mask_constant_becomes_inf")
    assert module.demo()["fault"]
    right, told = module.check(lambda native: convert(native, [], precision="fp16", half=half))
    assert right, told
