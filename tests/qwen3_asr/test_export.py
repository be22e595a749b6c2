"""The exported graphs against the model, and converted graphs against the exported ones."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import qwen3_synthetic as synthetic

from paddable.families.qwen3_asr.export import export_qwen3_asr_parts
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model
from paddable.lengths.declare import parse_length
from paddable.padding.analysis import analyse
from paddable.padding.declaration import resolve
from paddable.padding.rewrite.rewrite import rewrite

LENGTHS = (1, 50, 99, 100, 101, 799, 800, 801, 1500, 3000)
CONTAINERS = (800, 3000)


@pytest.mark.parametrize("form", [("windowed", "own"), ("windowed", "padded"), ("global", "own")])
def test_graph_equals_model(exported, make_encoder, run_model, error, form):
    session = open_session(exported(*form))
    for frames in LENGTHS:
        mel = synthetic.mel(frames)
        for got, want in zip(session.run(None, {"mel": mel}), run_model(make_encoder(*form), mel), strict=True):
            assert error(got[0], want) < 1e-5


def test_graph_from_a_waveform_equals_model(exported, make_encoder, run_model, error):
    session = open_session(exported("windowed", "own", True))
    for samples in (1, 3_000, 8_000, 8_001, 16_000, 128_159, 128_160):
        audio = waveform(samples)
        want = run_model(make_encoder(waveform=True), audio)
        for got, expected in zip(session.run(None, {"audio": audio}), want, strict=True):
            assert error(got[0], expected) < 1e-5


def test_parts_equal_the_whole(exported, make_encoder, tmp_path, error):
    files = tmp_path / "first.onnx", tmp_path / "second.onnx"
    for model, file in zip(export_qwen3_asr_parts(make_encoder()), files, strict=True):
        onnx.save(model, file)
    whole, first, second = (open_session(file) for file in (exported("windowed", "own"), *files))
    for frames in LENGTHS:
        mel = synthetic.mel(frames)
        (tokens,) = first.run(None, {"mel": mel})
        results = zip(second.run(None, {"tokens": tokens}), whole.run(None, {"mel": mel}), strict=True)
        for got, want in results:
            assert error(got, want) < 1e-6


def test_lengths_are_symbolic_and_the_file_passes_strict_inference(exported):
    model = onnx.load(exported("windowed", "own"))
    onnx.shape_inference.infer_shapes(model, strict_mode=True, check_type=True)
    assert model.opset_import[0].version == 18
    assert model.graph.input[0].type.tensor_type.shape.dim[2].dim_param == "T"
    assert not any(a.name == "allowzero" for node in model.graph.node for a in node.attribute)


@pytest.mark.parametrize("container", [None, *CONTAINERS])
@pytest.mark.parametrize("form", [("windowed", "own"), ("windowed", "padded"), ("global", "own")])
def test_padded_equals_native(exported, error, tmp_path, form, container):
    assert_padded_equals_native(exported(*form), LENGTHS, container, error, tmp_path)


def test_padded_equals_native_from_a_waveform(exported, error, tmp_path):
    native = exported("windowed", "own", True)
    padded = open_session(convert(native, "audio:1=S", 160_000, tmp_path))
    for samples in (8_000, 15_999, 16_000, 16_001, 128_159, 128_160, 160_000):
        audio = waveform(samples)
        want = open_session(native).run(None, {"audio": audio})
        compare(padded, "audio", pad(audio, 1, 160_000, np.nan), samples, want, error)


def assert_padded_equals_native(file, lengths, container, error, folder):
    native = open_session(file)
    padded = open_session(convert(file, "mel:2=T", container, folder))
    room = container or 3_100
    for frames in (n for n in lengths if n <= room):
        mel = synthetic.mel(frames)
        want = native.run(None, {"mel": mel})
        first = compare(padded, "mel", pad(mel, 2, room, 0.0), frames, want, error)
        for junk in (3.7, np.nan):
            outputs = compare(padded, "mel", pad(mel, 2, room, junk), frames, want, error)
            assert all(np.array_equal(a, b) for a, b in zip(first, outputs, strict=True))


def convert(file, length, container, folder):
    model = read_model(file)
    found = analyse(model, resolve(model, [parse_length(length)]))
    padded = rewrite(found, None if container is None else {length[-1]: container})
    write_model(padded, folder / "padded.onnx")
    return folder / "padded.onnx"


def compare(session, name, sound, steps, want, error):
    outputs = session.run(None, {name: sound, "ilens": np.array([steps], np.int64)})
    for got, length, expected in zip(outputs[:2], outputs[2:], want, strict=True):
        assert length.tolist() == [expected.shape[1]]
        assert error(got[:, : expected.shape[1]], expected) < 1e-5
        assert not got[:, expected.shape[1] :].any()
    return outputs


def pad(sound, axis, room, junk):
    widths = [(0, room - size if i == axis else 0) for i, size in enumerate(sound.shape)]
    return np.pad(sound, widths, constant_values=junk)


def waveform(samples):
    return (0.1 * np.random.default_rng(2).standard_normal((1, samples))).astype(np.float32)


def open_session(file):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(file, options)
