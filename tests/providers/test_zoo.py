"""Native exports of a dozen architectures: predictions against what the real provider did with them.

Recorded on onnxruntime-directml 1.24.4. The zoo is exported by ``zoo.py`` of the shared folder, for instance into
``PADDABLE_ZOO``; random weights.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir
import pytest

from paddable.graph.io.read import read_model
from paddable.graph.prepare.normalise import normalise
from paddable.lengths import symbol
from paddable.lengths.declare import LengthDeclaration
from paddable.linter.fixing import Runner
from paddable.linter.view.folding import view_model
from paddable.padding.analysis import analyse
from paddable.padding.declaration import resolve
from paddable.padding.rewrite.rewrite import rewrite
from paddable.providers.directml.placement import Placement, place
from paddable.providers.report import TargetReport, fix_for, lint_for

FAILING_RESHAPE = {
    "wav2vec2_group": "node_Reshape_302",
    "hubert": "node_Reshape_302",
    "unispeech_sat": "node_Reshape_302",
    "wav2vec2_layer_stable": "node_Reshape_275",
    "data2vec": "node_Reshape_274",
    "speech2text": "node_Reshape_123",
    "fun_asr_nano": "node_Reshape_348",
}
# The runtime's transpose optimiser adds one Gather behind a Shape in each of the conformer's two layers, after the
# point that the placement looks at: 53 = 51 + 2.
CPU_NODES = {
    "wav2vec2_group_ts": 12,
    "speech2text_ts": 22,
    "wav2vec2_conformer_ts": 53 - 2,
    "encodec_decoder_ts": 279,
}
STEPS = {"speech2text": 200, "speech2text_ts": 200, "fun_asr_nano": 100, "hifigan": 50, "encodec_decoder_ts": 50}
RECURRENT = {"encodec_decoder_ts": 2}
ALL = sorted([*FAILING_RESHAPE, "hifigan", *CPU_NODES])


def lint(path: Path) -> TargetReport:
    return lint_for(onnx.load(path, load_external_data=False), "directml")


def static(path: Path, steps: int) -> onnx.ModelProto:
    """The export with its one free dim fixed, and no shape recorded that was true of another length."""
    model = onnx.load(path)
    for dim in model.graph.input[0].type.tensor_type.shape.dim:
        if dim.HasField("dim_param"):
            dim.dim_value = steps
    del model.graph.value_info[:]
    for output in model.graph.output:
        for dim in output.type.tensor_type.shape.dim:
            dim.Clear()
    return model


def on_directml(model: onnx.ModelProto) -> Placement:
    return place(view_model(model))


@pytest.mark.parametrize("name", FAILING_RESHAPE)
def test_recorded_reshape_is_among_the_errors(zoo: Path, name: str) -> None:
    report = lint(zoo / f"{name}.onnx")
    errors = {finding.node: finding for finding in report.findings if finding.severity == "error"}
    assert errors[FAILING_RESHAPE[name]].code == "DML101"
    assert errors[FAILING_RESHAPE[name]].source is not None


def test_hifigan_fails_in_its_transposed_convolutions(zoo: Path) -> None:
    """Recorded: node_ConvTranspose_5. The number is the exporter's count and moves by one with its version."""
    errors = [f for f in lint(zoo / "hifigan.onnx").findings if f.severity == "error"]
    assert [f.code for f in errors] == ["DML104"] * 4
    assert all(f.op == "ConvTranspose" for f in errors)


@pytest.mark.parametrize("name", CPU_NODES)
def test_torchscript_graphs_run_in_pieces(zoo: Path, name: str) -> None:
    report = lint(zoo / f"{name}.onnx")
    assert report.ok and report.placement is not None
    assert not report.placement.islands
    assert len(report.placement.cpu_nodes) == CPU_NODES[name]
    assert {placed.reason for placed in report.placement.cpu_nodes} == {"shape chain"}


@pytest.mark.parametrize("name", ALL)
def test_static_and_fixed_is_one_island(
    zoo: Path, name: str, run_on_cpu: Runner, feeds_for: Callable[..., Any]
) -> None:
    proto = static(zoo / f"{name}.onnx", STEPS.get(name, 16000))
    fixed, report = fix_for(ir.from_proto(proto), "directml", run_on_cpu, feeds_for(proto, sizes=(1,)))
    assert not report.refused
    assert all(change is not None and change <= 1e-6 for change in report.applied.values())
    after = lint_for(fixed, "directml")
    assert after.ok and after.placement is not None
    assert not after.placement.cpu_nodes and not after.placement.copies
    pieces = len(after.placement.islands) + len(after.placement.kernels)
    assert pieces == 1 + 2 * RECURRENT.get(name, 0)


@pytest.mark.parametrize("name", ALL)
def test_converted_and_fixed_is_one_island(
    zoo: Path, name: str, run_on_cpu: Runner, feeds_for: Callable[..., Any]
) -> None:
    axis = 2 if name == "encodec_decoder_ts" else 1
    native = normalise(read_model(zoo / f"{name}.onnx"))
    declared = resolve(native, [LengthDeclaration("x", axis, symbol("T"))])
    padded = rewrite(analyse(native, declared), {"T": STEPS.get(name, 16000)})
    fixed, report = fix_for(padded, "directml", run_on_cpu, feeds_for(ir.to_proto(padded), sizes=(1,)))
    assert not report.refused
    after = lint_for(fixed, "directml")
    assert after.ok and after.placement is not None
    assert not after.placement.cpu_nodes and not after.placement.copies
    pieces = len(after.placement.islands) + len(after.placement.kernels)
    assert pieces == 1 + 2 * RECURRENT.get(name, 0)
