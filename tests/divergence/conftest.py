"""The 20-block encoder, native and padded, and a probe that analyses native once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.api.opened import open_model
from paddable.api.probe_given import signature
from paddable.bundle import KEY, Metadata
from paddable.divergence import Known, ProbeReport, Side, find
from paddable.divergence.pieces import on_provider
from paddable.divergence.plain import Plain
from paddable.gates.engine import Array, Engine
from paddable.gates.lift import lift
from paddable.graph.prepare.normalise import normalise
from paddable.padding.analysis import Analysis

from . import planted

Find = Callable[..., ProbeReport]


@pytest.fixture(scope="session")
def native() -> onnx.ModelProto:
    return planted.native()


@pytest.fixture(scope="session")
def padded(native: onnx.ModelProto) -> onnx.ModelProto:
    import paddable

    # A target without fixes: whether one of the CPU's is exact, and so made, depends on the processor.
    made = paddable.convert(native, ["x:1=T"], containers=[planted.CONTAINER], target="coreml", verify=False)
    assert isinstance(made, onnx.ModelProto)
    return made


@pytest.fixture(scope="session")
def analysis(native: onnx.ModelProto) -> Analysis:
    return open_model(native, ["x:1=T"]).analyse()


@pytest.fixture(scope="session")
def probed(native: onnx.ModelProto, analysis: Analysis) -> Find:
    """Probes a model against native, or against another that has native's values."""
    x = np.random.default_rng(0).standard_normal((1, planted.LENGTH, planted.WIDTH)).astype(np.float32)
    native_side = _side("native", native, Plain(analysis.model), x, planted.LENGTH, None, "fp32")

    def probe(model: onnx.ModelProto, against: onnx.ModelProto | None = None, **options: Any) -> ProbeReport:
        text = next((entry.value for entry in model.metadata_props if entry.key == KEY), None)
        metadata = Metadata.loads(text, where="model") if text else None
        plain = Plain(normalise(ir.from_proto(model)))
        size = planted.CONTAINER if metadata is not None else planted.LENGTH
        half = signature(plain.model).dtypes["x"] == np.float16
        one = _side("model", model, plain, x, size, metadata, "fp16" if half else "fp32")
        other = native_side
        if against is not None:
            other = _side("against", against, Plain(normalise(ir.from_proto(against))), x, planted.LENGTH, None, "fp32")
        known = Known(analysis.values, lambda a, b: b.name, analysis.scope.single_row)
        return find(one, other, known, findings=analysis.findings, **options)

    return probe


def _side(
    title: str, model: onnx.ModelProto, plain: Plain, x: Array, size: int, metadata: Metadata | None, precision: str
) -> Side:
    container = np.zeros((1, size, planted.WIDTH), np.float32)
    container[:, : planted.LENGTH] = x
    feeds = {"x": container.astype(signature(plain.model).dtypes["x"])}
    if metadata is not None:
        feeds["ilens"] = np.array([planted.LENGTH], np.int64)
    return Side(
        title,
        plain,
        feeds,
        on_provider("cpu"),
        cache(lambda: Engine(model.SerializeToString()).run(feeds)),
        {"T": planted.LENGTH},
        {"T": size},
        metadata,
        precision,
    )


@pytest.fixture(scope="session")
def in_half() -> Callable[[onnx.ModelProto], onnx.ModelProto]:
    """A model with every float in half, as a converter that measures nothing makes it."""

    def convert(model: onnx.ModelProto) -> onnx.ModelProto:
        held = ir.from_proto(model)
        lift(held, (ir.DataType.FLOAT,), ir.DataType.FLOAT16)
        return ir.to_proto(held)

    return convert


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, native: onnx.ModelProto, padded: onnx.ModelProto) -> Path:
    """``native.onnx`` and ``padded.onnx``."""
    place = tmp_path_factory.mktemp("probe")
    onnx.save(native, place / "native.onnx")
    onnx.save(padded, place / "padded.onnx")
    return place
