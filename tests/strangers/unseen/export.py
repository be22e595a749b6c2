"""Exports an unseen architecture with its rows and its time dynamic, or with as many rows as are asked for."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from torch import Tensor, nn

__all__ = ["NotExported", "exported", "session"]

DYNAMO, SCRIPT = "dynamo", "TorchScript"


class NotExported(Exception):
    """No exporter gives a graph that runs at another length than the example's: nothing to ask of Paddable."""


def exported(module: nn.Module, x: Tensor, axis: int, rows: int, path: Path, first: str) -> str:
    """Write a graph from ``x`` to ``y`` and say how it was made.

    Args:
        module: a function of one tensor.
        x: an example of two rows.
        axis: its time axis.
        rows: of the graph, where no exporter keeps them dynamic.
        path: the file.
        first: the exporter that is tried first.
    """
    said = []
    exporters = (first, SCRIPT if first == DYNAMO else DYNAMO)
    for free in (True, False):
        for exporter in exporters:
            example = x if free else x[:rows]
            try:
                with (
                    warnings.catch_warnings(),
                    contextlib.redirect_stdout(io.StringIO()),
                    contextlib.redirect_stderr(io.StringIO()),
                ):
                    warnings.simplefilter("ignore")
                    _export(module, example, axis, path, exporter, free)
                _demand_other_lengths(path, x.numpy(), axis, (1, 2) if free else (rows,))
            except Exception as error:  # whatever an exporter may raise
                said.append(f"{exporter}: {type(error).__name__}: {str(error).strip().splitlines()[0][:120]}")
                continue
            return exporter if free else f"{exporter}, {rows} rows"
    raise NotExported("; ".join(said))


def _export(module: nn.Module, x: Tensor, axis: int, path: Path, exporter: str, free: bool) -> None:
    names = {"input_names": ["x"], "output_names": ["y"]}
    if exporter == DYNAMO:
        dynamic = {axis: torch.export.Dim.DYNAMIC, **({0: torch.export.Dim.DYNAMIC} if free else {})}
        torch.onnx.export(
            module, (x,), path, dynamo=True, dynamic_shapes=(dynamic,), opset_version=18, external_data=False,
            verbose=False, **names,
        )  # fmt: skip
    else:
        for part in module.modules():
            if hasattr(getattr(part, "config", None), "_attn_implementation"):
                part.config._attn_implementation = "eager"
        axes = {axis: "T", **({0: "B"} if free else {})}
        torch.onnx.export(module, (x,), path, dynamo=False, dynamic_axes={"x": axes}, opset_version=17, **names)


def _demand_other_lengths(path: Path, x: np.ndarray, axis: int, rows: tuple[int, ...]) -> None:
    native, steps = session(path), x.shape[axis]
    for count in rows:
        native.run(None, {"x": np.ascontiguousarray(x[:count].take(range(steps * 3 // 4), axis))})


def session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
