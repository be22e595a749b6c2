"""The converted encoder against the original, in its containers, and in other precisions on speech."""

from __future__ import annotations

import converted_encoder as encoder
import numpy as np
import onnx
import pytest
import qwen3_synthetic as synthetic

from paddable.api.building import padded
from paddable.audio import whisper
from paddable.audio.read import read_audio
from paddable.families.qwen3_asr.config import token_count
from paddable.graph.io.write import to_proto
from paddable.precision import in_precision
from paddable.providers.report import lint_for


@pytest.fixture(scope="module")
def native(exported):
    return encoder.open_native(exported("windowed", "own"))


@pytest.mark.parametrize("container", encoder.CONTAINERS)
def test_equals_the_original_in_every_container(native, golden, container):
    runner = encoder.converted(native, container)
    for frames in (frames for frames in synthetic.JUDGED if frames <= container):
        outputs = encoder.run_padded(runner, synthetic.mel(frames), container, np.nan)
        assert encoder.error_against(golden, "windowed", frames, outputs) < 1e-5


def test_windows_of_padding_alone_are_zero(native):
    """100 frames in a minute: seven windows and a half hold no token."""
    outputs = encoder.run_padded(encoder.converted(native, 6000), synthetic.mel(100), 6000, np.nan)
    for array in outputs:
        assert np.isfinite(array).all() and array[:13].any() and not array[13:].any()


@pytest.fixture(scope="module")
def speech(shared):
    """Log-mel features [1, 128, T] of an English clip, cut to 7.8 s, and of a Chinese one of 4.3 s."""
    clips = [shared / "audio/en/jfk.wav", sorted((shared / "audio/zh").glob("*.*"))[0]]
    return [whisper.log_mel(read_audio(clip).samples)[None][:, :, :780] for clip in clips]


@pytest.mark.shared
@pytest.mark.parametrize(("precision", "cosine", "padding"), [("fp16", 0.99999, 5e-3), ("int8", 0.998, 1e-5)])
def test_another_precision_on_speech(native, speech, precision, cosine, padding):
    exact, plain = encoder.session(native.model), encoder.session(native.model, precision)
    runner = encoder.converted(native, 800, precision)
    for mel in speech:
        rows = token_count(mel.shape[2])
        for got, unpadded, want in zip(
            encoder.run_padded(runner, mel, 800, np.nan),
            plain.run(None, {"mel": mel}),
            exact.run(None, {"mel": mel}),
            strict=True,
        ):
            assert np.abs(got[:rows] - unpadded[0]).max() <= padding * np.abs(unpadded).max()
            assert not got[rows:].any()
            for found in (got[:rows], unpadded[0]):
                length = np.linalg.norm(found) * np.linalg.norm(want)
                assert cosine < float((found * want[0]).sum() / length) < 1


@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_precisions_pass_strict_inference_and_directml_s_rules(native, precision):
    model = padded(native, {"T": 800}, "directml", precision=precision).model
    proto = to_proto(model)
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, strict_mode=True, check_type=True)
    assert [str(f) for f in lint_for(proto, "directml").findings if f.severity != "note"] == []


@pytest.mark.parametrize("container", [800, 3000])
def test_directml_has_no_finding(native, container):
    model = padded(native, {"T": container}, "directml").model
    assert [str(finding) for finding in lint_for(model, "directml").findings] == []


def test_norms_softmax_and_positions_stay_exact_in_half(native):
    model = in_precision(padded(native, {"T": 800}).model, "fp16")
    kept = {node.op_type for node in model.graph if any(str(v.dtype) == "FLOAT" for v in node.outputs)}
    half = {node.op_type for node in model.graph if any(str(v.dtype) == "FLOAT16" for v in node.outputs)}
    assert {"LayerNormalization", "Softmax"} <= kept and not {"LayerNormalization", "Softmax"} & half
    assert {"MatMul", "Conv"} <= half
    assert not {"MatMul", "Conv"} & kept
