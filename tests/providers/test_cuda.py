"""What the CUDA provider did with graphs, as predicted: recorded with onnxruntime-gpu 1.31.1 on an H200."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import paddable
from paddable.bundle import read_bundle, read_metadata
from paddable.linter.view.folding import view_model
from paddable.providers.cuda.placement import CudaPlacement, place
from paddable.providers.report import lint_for

# Nodes on the CPU in the provider's own profile of the zoo's native graphs. The runtime's transpose optimiser adds a
# Gather behind each Shape that it moves a Transpose across, after the point that the placement looks at.
CPU_NODES = {
    "data2vec": 21 - 2,
    "encodec_decoder_ts": 279,
    "fun_asr_nano": 22 - 3,
    "hifigan": 0,
    "hubert": 21 - 2,
    "speech2text": 7,
    "speech2text_ts": 22,
    "unispeech_sat": 21 - 2,
    "wav2vec2_conformer_ts": 53 - 2,
    "wav2vec2_group": 21 - 2,
    "wav2vec2_group_ts": 12,
    "wav2vec2_layer_stable": 21 - 2,
}

CONVOLUTION = """<ir_version: 9, opset_import: ["" : 18]> native (float[1, 2, T] x) => (float[1, 2, U] y)
    <float[2, 2, 3] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2}> {
        y = Conv <pads: ints = [1, 1]> (x, w) }"""
RECURRENT = """<ir_version: 9, opset_import: ["" : 18]> native (float[T, 1, 2] x) => (float[T, 2, 1, 1] y)
    <float[2, 4, 2] w = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8},
     float[2, 4, 1] r = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}> {
        y = LSTM <hidden_size = 1, direction = "bidirectional"> (x, w, r) }"""


def placed(graph: onnx.ModelProto) -> CudaPlacement:
    return place(view_model(graph))


@pytest.mark.shared
@pytest.mark.parametrize("name", CPU_NODES)
def test_native_graphs_leave_the_recorded_nodes_to_the_cpu(zoo: Path, name: str) -> None:
    placement = placed(onnx.load(zoo / f"{name}.onnx", load_external_data=False))
    assert len(placement.on_cpu) == CPU_NODES[name]
    assert not placement.lacking
    assert not placement.capturable


def test_a_graph_made_for_cuda_can_be_captured_and_says_so(tmp_path: Path) -> None:
    native = onnx.parser.parse_model(CONVOLUTION)
    made = paddable.convert(native, ["x:2=T"], containers=[12], target="cuda", verify=False, out=tmp_path / "made.onnx")
    assert isinstance(made, Path)
    placement = placed(onnx.load(made))
    assert placement.capturable, str(placement)
    assert str(placement).endswith("0 on the CPU; can be captured")
    assert read_metadata(made).advice["cuda"]["static_options"] == {"enable_cuda_graph": "1"}
    assert not placed(native).capturable  # its size is free


@pytest.mark.parametrize(
    ("dilation", "options", "asked"),
    [
        (1, {"precision": "fp16"}, False),
        (3, {"precision": "fp16"}, True),
        (1, {}, True),
        (1, {"precision": "fp16", "half": "fast"}, True),
    ],
)
def test_cudnn_gets_another_layout_where_that_is_faster_or_needed(
    dilation: int, options: dict[str, str], asked: bool, tmp_path: Path
) -> None:
    text = CONVOLUTION.replace("pads: ints = [1, 1]", f"pads = [3, 3], dilations = [{dilation}]")
    out = tmp_path / "made"
    paddable.convert(
        onnx.parser.parse_model(text), ["x:2=T"], containers=[12], target="cuda", verify=False, out=out, **options
    )
    advice = read_bundle(out).metadata.advice["cuda"]
    assert advice["options"].get("cudnn_conv1d_pad_to_nc1d") == ("1" if asked else None)
    assert advice["static_options"] == {"enable_cuda_graph": "1"}  # empty would say that it cannot be captured


def test_lengths_of_a_recurrent_layer_are_read_on_the_host_so_nothing_is_captured(tmp_path: Path) -> None:
    made = paddable.convert(
        onnx.parser.parse_model(RECURRENT),
        ["x:0=T"],
        containers=[12],
        batch="x:1",
        target="cuda",
        verify=False,
        out=tmp_path / "made.onnx",
    )
    assert isinstance(made, Path)
    report = lint_for(onnx.load(made), "cuda")
    assert [finding.code for finding in report.findings] == ["CUDA102"]
    assert report.advice.static_options == {}
    assert read_metadata(made).advice["cuda"]["static_options"] == {}
    told = json.loads(json.dumps(report.to_json()))["placement"]
    assert told["capturable"] is False
    assert [read["op"] for read in told["host_reads"]] == ["LSTM"]
