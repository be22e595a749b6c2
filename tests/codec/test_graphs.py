"""The exported graphs: one shape, no control flow, and the same answer as torch."""

from __future__ import annotations

from pathlib import Path

import codec_synthetic as synthetic
import numpy as np
import onnx
import onnxruntime as ort
import pytest
import torch

from paddable.bundle.state import STEP_METADATA_KEY, StepSpec
from paddable.families.qwen3_tts_codec.export import step_spec
from paddable.families.qwen3_tts_codec.model import Decoder

SHAPE_DEPENDENT = {"If", "Loop", "Scan", "NonZero", "Unique", "Shape", "Range", "ScatterND", "ScatterElements", "Pad"}


def open_session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", ["4", "12"])
def test_step_graph_has_one_shape(graphs: dict[str, Path], name: str) -> None:
    graph = onnx.shape_inference.infer_shapes(onnx.load(graphs[name])).graph
    values = [*graph.input, *graph.output, *graph.value_info]
    assert len(graph.value_info) > 100
    for value in values:
        dims = value.type.tensor_type.shape.dim
        assert all(dim.HasField("dim_value") and dim.dim_value > 0 for dim in dims), value.name
    assert not SHAPE_DEPENDENT & {node.op_type for node in graph.node}
    constants = {tensor.name for tensor in graph.initializer}
    slices = [node for node in graph.node if node.op_type == "Slice"]
    assert all(set(node.input[1:]) <= constants for node in slices)


def test_graphs_differ_in_the_chunk_alone(graphs: dict[str, Path]) -> None:
    operators = [[node.op_type for node in onnx.load(graphs[name]).graph.node] for name in ("4", "12")]
    assert operators[0] == operators[1]


@pytest.mark.parametrize("name", ["whole", "4"])
def test_transposed_convolutions_suit_directml(graphs: dict[str, Path], name: str) -> None:
    nodes = [node for node in onnx.load(graphs[name]).graph.node if node.op_type == "ConvTranspose"]
    assert nodes
    for node in nodes:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        assert not {"output_padding", "output_shape"} & attributes.keys()
        assert attributes.get("auto_pad", b"NOTSET") == b"NOTSET"


def test_reshapes_are_free_of_allowzero_with_minus_one(graphs: dict[str, Path]) -> None:
    graph = onnx.load(graphs["12"]).graph
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Reshape" and any(a.name == "allowzero" and a.i for a in node.attribute):
            assert -1 not in constants[node.input[1]]


def test_signature_follows_the_declared_states(graphs: dict[str, Path], tiny: Decoder) -> None:
    model = onnx.load(graphs["4"])
    spec = StepSpec.from_json({p.key: p.value for p in model.metadata_props}[STEP_METADATA_KEY])
    assert spec == step_spec(tiny, 4)
    assert [v.name for v in model.graph.input] == ["codes", "ilens", *(s.input_name for s in spec.states)]
    assert [v.name for v in model.graph.output] == ["wav", "wav_length", *(s.output_name for s in spec.states)]


@torch.no_grad()
@pytest.mark.parametrize("frames", [1, 2, 3, 30, 90])
def test_whole_graph_is_the_decoder_at_every_length(graphs: dict[str, Path], tiny: Decoder, frames: int) -> None:
    codes = synthetic.codes(synthetic.TINY, frames)
    (wav,) = open_session(graphs["whole"]).run(None, {"codes": codes})
    expected = tiny(torch.from_numpy(codes)).numpy()
    assert wav.shape == expected.shape
    assert np.abs(wav - expected).max() <= 1e-5 * np.abs(expected).max()


def test_whole_graph_is_strictly_causal_in_a_container(graphs: dict[str, Path]) -> None:
    """What `check` proves: frames from 20 on, in the same container, change nothing before."""
    session, codes = open_session(graphs["whole"]), synthetic.codes(synthetic.TINY, 50)
    (wav,) = session.run(None, {"codes": codes})
    other = codes.copy()
    other[:, 20:] = -1
    (changed,) = session.run(None, {"codes": other})
    np.testing.assert_array_equal(changed[:, : 20 * 24], wav[:, : 20 * 24])
    assert (changed[:, 20 * 24 :] != wav[:, 20 * 24 :]).any()


@pytest.mark.parametrize("valid", [0, 3])
def test_junk_codes_are_bit_equal(graphs: dict[str, Path], tiny: Decoder, valid: int) -> None:
    session, spec, rng = open_session(graphs["12"]), step_spec(tiny, 12), np.random.default_rng(0)
    feeds = {s.input_name: rng.standard_normal(s.shape).astype(s.dtype) for s in spec.states} | {
        "state_count": np.array([4]),
        "ilens": np.array([valid]),
    }
    results = []
    for junk in (0, -1, 63, 2**63 - 1, -(2**63)):
        codes = synthetic.codes(synthetic.TINY, 12)
        codes[:, valid:] = junk
        results.append(session.run(None, feeds | {"codes": codes}))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    if valid == 0:
        for spec_, value in zip(spec.states, results[0][2:], strict=True):
            np.testing.assert_array_equal(value, feeds[spec_.input_name])


def test_unused_cache_rows_are_masked_not_zero(graphs: dict[str, Path], tiny: Decoder) -> None:
    """A new stream's cache may hold anything finite: the count, and not the zeros, makes it empty."""
    session, spec = open_session(graphs["4"]), step_spec(tiny, 4)
    codes = synthetic.codes(synthetic.TINY, 4)
    feeds = {s.input_name: s.initial() for s in spec.states} | {"codes": codes, "ilens": np.array([4])}
    wav = session.run(["wav"], feeds)[0]
    full = {name: np.full_like(v, 1e4) for name, v in feeds.items() if name.endswith(("_key", "_value"))}
    assert len(full) == 4
    np.testing.assert_array_equal(session.run(["wav"], feeds | full)[0], wav)


def test_check_finds_no_leak_in_the_whole_graph(graphs: dict[str, Path]) -> None:
    """It is strictly causal: nothing valid reads what comes after it."""
    from paddable.api import check

    report = check(graphs["whole"], ["codes:1=F"])
    assert report.refusal is None
    assert [str(finding) for finding in report.findings] == []


@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("name", ["12", "whole"])
def test_directml_has_nothing_to_say(graphs: dict[str, Path], name: str, precision: str) -> None:
    from paddable.api.building import padded
    from paddable.api.opened import open_model
    from paddable.graph.io.read import read_model
    from paddable.precision import in_precision
    from paddable.providers.report import lint_for

    if name == "whole":
        model = padded(open_model(graphs["whole"], ["codes:1=F"]), {"F": 30}, "directml", precision=precision).model
    else:
        model = in_precision(read_model(graphs[name]), precision)
    assert [str(finding) for finding in lint_for(model, "directml").findings] == []


def test_norms_softmax_and_rotations_stay_exact_in_half(graphs: dict[str, Path]) -> None:
    from paddable.graph.io.read import read_model
    from paddable.precision import in_precision

    model = in_precision(read_model(graphs["12"]), "fp16")
    exact = {node.op_type for node in model.graph if str(node.outputs[0].dtype) == "FLOAT"}
    half = {node.op_type for node in model.graph if str(node.outputs[0].dtype) == "FLOAT16"}
    norms = {"LayerNormalization", "Softmax", "ReduceMean", "Sqrt", "Reciprocal"}
    assert norms <= exact and not norms & half
    assert {"Conv", "ConvTranspose", "MatMul"} <= half and not {"Conv", "ConvTranspose", "MatMul"} & exact
    rows = 5 + 12  # cache and chunk: the rotation tables, two of them, have a row for each
    tables = [
        v.const_value for v in model.graph.initializers.values() if tuple(v.const_value.shape.numpy()) == (rows, 8)
    ]
    assert len(tables) == 2 and {str(table.dtype) for table in tables} == {"FLOAT"}


def test_angles_and_rotations_of_a_container_stay_exact_in_half(graphs: dict[str, Path]) -> None:
    from paddable.api.building import padded
    from paddable.api.opened import open_model

    model = padded(open_model(graphs["whole"], ["codes:1=F"]), {"F": 30}, precision="fp16").model
    waves = [node for node in model.graph if node.op_type in ("Sin", "Cos")]
    angles = [node for node in waves if node.inputs[0].producer() is None]
    assert {node.op_type for node in angles} == {"Sin", "Cos"}
    assert {str(node.inputs[0].dtype) for node in angles} == {"FLOAT"}
    assert {str(node.outputs[0].dtype) for node in waves if node not in angles} == {"FLOAT16"}  # Snake
    rotated = _behind(angles, 4)
    assert len(rotated) == 2 * 2 and {str(value.dtype) for value in rotated} == {"FLOAT"}  # queries and keys, 2 layers


def _behind(angles: list, most: int) -> list:  # type: ignore[type-arg]
    """Sums of a product with the cosine and one with the sine."""
    reach = []
    for node in angles:
        found, edge = set(), {node}
        for _ in range(most):
            edge = {user for made in edge for value in made.outputs for user, _ in value.uses()}
            found |= edge
        reach.append(found)
    return [node.outputs[0] for node in set.intersection(*reach) if node.op_type == "Add"]
