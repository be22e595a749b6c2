"""Ranges: what half cannot hold on examples stays in fp32, with its reason, and what is left is told."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from paddable.api import convert, verify
from paddable.errors import GateFailedError, MisuseError, UnreadableError
from paddable.gates.examples import is_waveform
from paddable.gates.observe import Observer, watched
from paddable.graph.io.read import read_model
from paddable.graph.io.write import write_model
from paddable.precision.ranges import Range, beyond_half, merged

from .networks import model

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape) / np.prod(shape[:-1]) ** 0.5


LOUD = {
    "feed forward": model(
        "a = MatMul(x, u) h = Relu(a) y = MatMul(h, v)", u=3e4 * normal(8, 64), v=1e-4 * normal(64, 5)
    ),
    "glu": model(
        """a = MatMul(x, u) b, c = Split<axis = 2, num_outputs = 2>(a) d = MatMul(x, w) g = Sigmoid(d)
        s = Mul(b, g) t = Mul(c, g) k = Add(s, t) y = MatMul(k, v)""",
        u=1e4 * normal(8, 64), w=normal(8, 32), v=1e-3 * normal(32, 5),
    ),
    "convolution": model(
        """t = Transpose<perm = [0, 2, 1]>(x) a = Conv<pads = [1, 1]>(t, u) h = Relu(a) c = Conv(h, v)
        y = Transpose<perm = [0, 2, 1]>(c)""",
        u=2e4 * RANDOM.standard_normal((16, 8, 3)), v=1e-4 * RANDOM.standard_normal((5, 16, 1)),
    ),
    "residual": model(
        "a = MatMul(x, u) r = Add(a, k) b = MatMul(x, u) s = Add(r, b) n = LayerNormalization(s, g) y = MatMul(n, v)",
        u=normal(8, 16), k=np.full(16, 1.4e5), g=np.ones(16), v=normal(16, 5),
    ),
}  # fmt: skip


def half(proto: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    """The answer where every half value is rounded."""
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(proto).run(None, {"x": x, "ilens": np.array([x.shape[1]])})[0]


@pytest.mark.parametrize("kind", LOUD)
def test_what_overflows_on_features_stays_and_is_told(kind: str) -> None:
    told: list[str] = []
    made = convert(LOUD[kind], ["x:1=T"], containers=[60], precision="fp16", gate_lengths=4, on_message=told.append)
    x = (RANDOM.standard_normal((1, 60, 8)) * 3 + 12).astype(np.float32)
    want = ReferenceEvaluator(LOUD[kind]).run(None, {"x": x})[0]
    got = half(made, x)
    assert np.isfinite(got).all() and np.abs(got - want).max() < 1e-2 * np.abs(want).max()
    assert any("overflows" in line and "half ends at 65504" in line for line in told)
    kept = json.loads(next(p.value for p in made.metadata_props if p.key == "paddable"))["kept"]
    assert all(why.startswith("overflows") for why in kept.values())


SOUND = model(
    "t = Unsqueeze(x, one) a = Conv<pads = [1, 1]>(t, u) h = Relu(a) c = Conv(h, v) y = Transpose<perm = [0, 2, 1]>(c)",
    inputs="float[1, T] x", one=np.array([1]), u=10 * RANDOM.standard_normal((16, 1, 3)), v=normal(5, 16, 1),
)  # fmt: skip


def test_sound_scaled_to_16_bits_is_told_and_as_an_example_it_is_right(tmp_path) -> None:
    told: list[str] = []
    convert(SOUND, ["x:1=T"], containers=[800], precision="fp16", gate_lengths=4, on_message=told.append)
    (line,) = [line for line in told if "overflows" in line]
    assert "scaled to 16 bits" in line and "Conv_1" in line

    x = (3e4 * np.sin(np.arange(700) / 9))[None].astype(np.float32)
    np.savez(tmp_path / "loud.npz", x=x)
    made = convert(SOUND, ["x:1=T"], containers=[700], precision="fp16", gate_lengths=4, examples=tmp_path / "loud.npz")
    want = ReferenceEvaluator(SOUND).run(None, {"x": x})[0]
    got = half(made, x)
    assert np.isfinite(got).all() and np.abs(got - want).max() < 1e-2 * np.abs(want).max()


def test_a_report_has_examples_reasons_and_headroom(tmp_path) -> None:
    out = convert(
        LOUD["feed forward"], ["x:1=T"], containers=[20, 40], out=tmp_path / "b", precision="fp16", gate_lengths=4
    )
    told = json.loads((out / "report.json").read_text())
    ranges = told["ranges"]["fp16"]
    assert len(ranges["examples"]) == 4
    assert {"MatMul", "Relu"} == {node["op"] for node in ranges["stays"] if node["why"].startswith("overflows")}
    assert any(node["why"].startswith("reads what overflows") for node in ranges["stays"])
    assert all(layer["headroom"] >= 4 for layer in ranges["layers"])
    seen = told["examples"]["fp16"]
    assert {row["model"] for row in seen} == {"native", "fp16 T=20", "fp16 T=40"}
    assert all(row["finite"] and row["cosine"] > 0.999 for row in seen)
    assert verify(out).ok  # the twin that it is judged by keeps the same values


def test_a_gate_that_is_infinite_in_half_fails(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("paddable.api.measuring.beyond_half", lambda ranges: {})
    with pytest.raises(GateFailedError, match=r"log-mel.*not finite"):
        convert(LOUD["feed forward"], ["x:1=T"], containers=[20], out=tmp_path / "one.onnx", precision="fp16")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Range(-1e5, 10.0, 1e5, False), "overflows"),
        (Range(0.0, 3e4, 1.0, False), "overflows"),  # another input may be four times as loud
        (Range(0.0, 3000.0, 3000.0, True), "loses integers"),
        (Range(0.0, 1.0, 1e-6, False), "underflows"),
        (Range(0.0, 1000.0, 1.0, True), ""),
        (Range(0.0, 0.0, 0.0, True), ""),
    ],
)
def test_what_half_cannot_hold(found: Range, why: str) -> None:
    assert found.why_beyond_half().startswith(why) and bool(found.why_beyond_half()) == bool(why)


def test_ranges_of_examples_are_merged() -> None:
    still = Range(0.0, 0.0, 0.0, True)
    one, two = {"a": Range(-1.0, 0.5, 1.0, True)}, {"a": Range(0.0, 1e-6, 1e-6, False), "b": still}
    assert merged([one, two]) == {"a": Range(-1.0, 0.5, 1e-6, False), "b": still}
    assert beyond_half(merged([one, two])).keys() == {"a"}


def test_every_value_is_watched_without_being_changed(tmp_path) -> None:
    proto = model("a = Mul(x, k) b = Log(a) c = Relu(a) y = Add(b, c)", output="float[1, T, 8] y", k=np.float32(4))
    made, names = watched(read_model(proto))
    x = np.full((1, 3, 8), -2, np.float32)
    x[0, 0] = 0.25, 0, 1, 2, 3, 4, 5, 100
    ranges = Observer(write_model(made, tmp_path / "w.onnx"), names, 1).ranges({"x": x})
    assert ranges["x"] == Range(-2.0, 100.0, 100.0, False) and ranges["a"] == Range(-8.0, 400.0, 400.0, True)
    assert ranges["b"].peak == pytest.approx(np.log(400.0))  # -inf and NaN aside
    assert ranges.keys() == {"x", "a", "b", "c", "y"}


def test_what_takes_a_waveform() -> None:
    assert is_waveform([1, "S"], {1: "S"}, 0) and is_waveform([1, 1, "S"], {2: "S"}, 0)
    assert is_waveform(["B", "S"], {1: "S"}, 0) and is_waveform([1, 16000], {}, None)
    assert not is_waveform([1, "T", 80], {1: "T"}, 0) and not is_waveform([1, 80], {}, None)


BAD = {
    "nan": (np.full((1, 9, 8), np.nan, np.float32), UnreadableError, r"bad\.npy: it is NaN or infinite at \[0, 0, 0\]"),
    "shape": (np.zeros((1, 9, 7), np.float32), MisuseError, r"bad\.npy: .*\[1, 9, 7\], expected \[1, T, 8\]"),
    "rank": (np.zeros((9,), np.float32), MisuseError, r"bad\.npy: .*shape \[9\]"),
    "type": (np.zeros((1, 9, 8), np.int16), MisuseError, r"bad\.npy: .*int16, expected float32.*32768"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_example_is_refused_by_its_name(kind: str, tmp_path) -> None:
    array, error, words = BAD[kind]
    np.save(tmp_path / "bad.npy", array)
    np.save(tmp_path / "abc.npy", np.zeros((9, 8), np.float32))  # the batch may be left out
    with pytest.raises(error, match=words):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], precision="fp16", examples=tmp_path)


def test_examples_that_cannot_be(tmp_path) -> None:
    with pytest.raises(MisuseError, match="there is no example in it"):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], precision="fp16", examples=tmp_path)
    with pytest.raises(UnreadableError, match="no such file"):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], precision="fp16", examples=tmp_path / "none.npz")
    np.savez(tmp_path / "named.npz", z=np.zeros((1, 9, 8), np.float32), x=np.zeros((1, 9, 8), np.float32))
    with pytest.raises(MisuseError, match=r"named\.npz: it holds 'z', 'x', and the graph wants 'x'"):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], precision="fp16", examples=tmp_path)
    with pytest.raises(MisuseError, match="fp32 needs none"):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], examples=tmp_path)


def test_recordings(tmp_path) -> None:
    soundfile = pytest.importorskip("soundfile")
    sound = 0.3 * np.sin(np.arange(1600) / 9)
    soundfile.write(tmp_path / "ok.wav", sound, 16_000)
    made = convert(
        SOUND, ["x:1=T"], containers=[800], rate=16_000, precision="fp16", gate_lengths=4, examples=tmp_path / "ok.wav"
    )
    assert isinstance(made, onnx.ModelProto)
    with pytest.raises(MisuseError, match=r"ok\.wav: .*say it with `rate`"):
        convert(SOUND, ["x:1=T"], containers=[800], precision="fp16", examples=tmp_path)
    with pytest.raises(MisuseError, match=r"ok\.wav: a recording, and no input takes a waveform"):
        convert(LOUD["glu"], ["x:1=T"], containers=[20], precision="fp16", examples=tmp_path)
    soundfile.write(tmp_path / "other.wav", sound, 8_000)
    with pytest.raises(MisuseError, match=r"other\.wav: it has 8000 samples a second, the model takes 16000"):
        convert(SOUND, ["x:1=T"], containers=[800], rate=16_000, precision="fp16", examples=tmp_path)
