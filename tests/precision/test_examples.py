"""What examples stand for: every row and step of them counts, silence does not, and a file says what of it is lost."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from paddable.api import convert
from paddable.bundle import Batch, Metadata
from paddable.errors import MisuseError, RefusedError, UnreadableError
from paddable.gates.examples import Example, Inputs, power_inputs, sound_inputs
from paddable.graph.io.read import read_model
from paddable.graph.types import know_types
from paddable.precision import PRECISIONS, Precision
from paddable.precision.half import reasons

from .networks import model

RANDOM = np.random.default_rng(0)
OPEN = {"containers": [60], "precision": "fp16", "gate_lengths": 2}


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape) / np.prod(shape[:-1]) ** 0.5


FEATURES = model(
    "a = MatMul(x, u) h = Relu(a) y = MatMul(h, v)", "float[B, T, 8] x", "float[B, T, 5] y",
    u=normal(8, 64), v=normal(64, 5),
)  # fmt: skip
SUM = model(
    "a = MatMul(x, u) h = Relu(a) zero = Constant<value_int = 1>() s = CumSum(h, zero) y = MatMul(s, v)",
    "float[1, T, 8] x", "float[1, T, 5] y", u=normal(8, 16), v=normal(16, 5),
)  # fmt: skip
WAVE = model(
    "c = Unsqueeze(x, one) a = Conv(c, u) h = Relu(a) b = Conv(h, v) y = Transpose<perm = [0, 2, 1]>(b)",
    "float[1, T] x", "float[1, F, 5] y", one=np.array([1]), u=normal(16, 1, 3), v=normal(5, 16, 1),
)  # fmt: skip
SAMPLES = model(
    """f = Cast<to = 1>(x) c = Unsqueeze(f, one) a = Conv<strides = [4]>(c, u) h = Sigmoid(a) b = Conv(h, v)
    y = Transpose<perm = [0, 2, 1]>(b)""",
    "int16[1, T] x", "float[1, F, 5] y", one=np.array([1]), u=1e-3 * normal(64, 1, 8), v=normal(5, 64, 1),
)  # fmt: skip


def told_of(proto: onnx.ModelProto, **given: Any) -> list[str]:
    told: list[str] = []
    convert(proto, ["x:1=T"], on_message=told.append, **{**OPEN, **given})
    return told


def test_each_row_of_an_example_counts(tmp_path: Path) -> None:
    x = RANDOM.standard_normal((1, 60, 8)).astype(np.float32)
    np.save(tmp_path / "two.npy", np.concatenate([x, 1e6 * x]))
    out = tmp_path / "b"
    told = told_of(FEATURES, out=out, batch_size=2, examples=tmp_path / "two.npy")
    assert any("overflows" in line and "half ends" in line for line in told)
    seen = json.loads((out / "report.json").read_text())["examples"]["fp16"]
    assert {row["example"] for row in seen} == {"two.npy, row 1", "two.npy, row 2"}


def test_rows_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    two = model(
        "a = MatMul(x, u) y = Add(a, z)", "float[B, T, 8] x, float[B, T, 5] z", "float[B, T, 5] y", u=normal(8, 5)
    )
    np.savez(tmp_path / "e.npz", x=np.ones((3, 9, 8), np.float32), z=np.ones((2, 9, 5), np.float32))
    with pytest.raises(MisuseError, match=r"e\.npz: it has rows: 3 of x, 2 of z"):
        convert(two, ["x:1=T", "z:1=T"], **OPEN, examples=tmp_path / "e.npz")


def test_what_grows_with_the_length_is_measured_at_the_length_of_the_container(tmp_path: Path) -> None:
    np.save(tmp_path / "short.npy", (12 + 3 * RANDOM.standard_normal((1, 50, 8))).astype(np.float32))
    given = {"examples": tmp_path / "short.npy", "out": tmp_path / "b"}
    told = told_of(SUM, containers=[20_000], **given)
    assert any("MatMul_4 overflows" in line for line in told)
    seen = json.loads((tmp_path / "b" / "report.json").read_text())["examples"]["fp16"]
    assert "short.npy repeated to 20,000 steps of T" in {row["example"] for row in seen}


def test_an_example_is_repeated_from_its_beginning() -> None:
    metadata = Metadata(symbols={}, inputs={"x": {1: "T"}}, batch=Batch(1, {"x": 0}, {}))
    inputs = Inputs(metadata, {"x": [1, "T"]}, {"x": np.dtype("f4")}, {})
    example = inputs.default({"T": 3})[0]
    longer = inputs.repeated(example, {"T": 8}).arrays["x"][0]
    assert longer.tolist() == np.resize(example.arrays["x"], 8).tolist()


@pytest.mark.filterwarnings("error")
def test_a_sound_that_is_nearly_none_comes_to_full_scale_all_the_same() -> None:
    """Its gain is no number of the sound's type; features beside it end where their type does."""
    metadata = Metadata(symbols={}, inputs={"x": {1: "T"}, "f": {1: "T"}})
    kinds = {"x": np.dtype("f4"), "f": np.dtype("f4")}
    inputs = Inputs(metadata, {"x": [1, "T"], "f": [1, "T", 2]}, kinds, {"x": 1.0})
    arrays = {"x": np.float32([[1e-41, -5e-42]]), "f": np.ones((1, 2, 2), np.float32)}
    (loud,) = inputs.at_full_scale([Example("faint", {"T": 2}, arrays)])
    assert np.allclose(loud.arrays["x"], [[1, -0.5]], rtol=1e-3) and loud.arrays["x"].dtype == np.float32
    assert np.isfinite(loud.arrays["f"]).all()


def test_integer_samples_are_sound_and_the_model_behind_them_is_half(tmp_path: Path) -> None:
    out = tmp_path / "b"
    told_of(SAMPLES, containers=[4000], out=out)
    report = json.loads((out / "report.json").read_text())
    ranges = report["ranges"]["fp16"]
    assert [one["name"] for one in ranges["examples"]] == ["sound at 1", "sound at 0.01", "sound at 0.0001"]
    assert {layer["node"] for layer in ranges["layers"]} == {"Conv_2", "Conv_4"}
    assert {node["op"] for node in ranges["stays"]} == {"Cast", "Unsqueeze"}
    assert {node["why"] for node in ranges["stays"]} == {"made of integers of an input"}
    assert ranges["weights"]["fp16"] * 2 == ranges["weights"]["fp32"]


def known(body: str, inputs: str, **weights: Any) -> dict[str, float]:
    native = read_model(model(body, inputs, "float[1, T, 5] y", **weights))
    know_types(native)
    (value,) = native.graph.inputs
    dtype, shape = np.dtype(value.dtype.numpy()), [1, "T"]
    return sound_inputs(native.graph, Metadata(symbols={}, inputs={"x": {1: "T"}}), {"x": shape}, {"x": dtype})


PRODUCT = "r = Reshape(g, s) y = MatMul(r, u)"


@pytest.mark.parametrize(
    ("body", "kind", "scale"),
    [
        (f"g = Cast<to = 1>(x) {PRODUCT}", "int16", 32768),
        (f"f = Cast<to = 1>(x) g = Div(f, k) {PRODUCT}", "int32", 32768),
        (f"g = Div(x, k) {PRODUCT}", "float", 32768),
        (f"g = Mul(x, k) {PRODUCT}", "float", 1),
        ("e = Gather(u, x) y = Identity(e)", "int64", None),
        ("f = Cast<to = 1>(x) a = Unsqueeze(f, two) y = Sin(a)", "int64", None),
    ],
)
def test_which_inputs_are_sound(body: str, kind: str, scale: float | None) -> None:
    found = known(
        body, f"{kind}[1, T] x", s=np.array([1, -1, 4]), u=normal(4, 5), k=np.array(32768.0), two=np.array([2])
    )
    assert found == ({} if scale is None else {"x": scale})


def test_a_position_ends_at_a_product_and_an_angle_does_not() -> None:
    weights = {"u": normal(4, 5), "f": normal(1, 5), "s": np.array([1, -1, 4]), "two": np.array([2])}
    heard = model(f"g = Cast<to = 1>(x) {PRODUCT}", "int32[1, T] x", "float[1, F, 5] y", **weights)
    assert "y" not in reasons(read_model(heard), {})
    turned = model(
        "a = Cast<to = 1>(x) b = Unsqueeze(a, two) c = MatMul(b, f) y = Cos(c)",
        "int64[1, T] x", "float[1, T, 5] y", **weights,
    )  # fmt: skip
    assert reasons(read_model(turned), {}).keys() >= {"a", "c", "y"}


def test_silence_is_refused_alone_and_told_beside_others(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((1, 60, 8), np.float32))
    with pytest.raises(MisuseError, match=r"a\.npy: it holds nothing but zeros"):
        told_of(FEATURES, examples=tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.ones((1, 60, 8), np.float32))
    assert "a.npy holds nothing but zeros" in told_of(FEATURES, examples=tmp_path)


def test_what_a_recording_loses_is_told(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    sound = 0.5 * np.sin(np.arange(4000) / 9)
    soundfile.write(tmp_path / "stereo.wav", np.stack([sound, -0.999 * sound], 1), 16_000)
    told = told_of(WAVE, containers=[1000], rate=16_000, examples=tmp_path / "stereo.wav")
    assert any("its 2 channels are mixed to one: they cancel, 0.5 apart" in line for line in told)
    assert "stereo.wav: 1,000 of its 4,000 steps of T count, the rest is cut" in told
    soundfile.write(tmp_path / "mono.wav", sound[:900], 16_000)
    assert not any(
        "mono.wav" in line for line in told_of(WAVE, containers=[900], rate=16_000, examples=tmp_path / "mono.wav")
    )


def test_a_recording_for_integer_samples_has_their_scale(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    soundfile.write(tmp_path / "a.wav", 0.5 * np.sin(np.arange(4000) / 9), 16_000)
    out = tmp_path / "b"
    told_of(SAMPLES, containers=[4000], rate=16_000, examples=tmp_path / "a.wav", out=out)
    ranges = json.loads((out / "report.json").read_text())["ranges"]["fp16"]
    peak = next(node["peak"] for node in ranges["stays"] if node["op"] == "Cast")
    assert peak == pytest.approx(16384, rel=1e-2)


def test_numbers_beyond_the_type_are_refused_as_that(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.full((1, 60, 8), 1e300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnreadableError, match=r"it is 1e\+300 at \[0, 0, 0\], which float32 cannot hold"):
            told_of(FEATURES, examples=tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.full((1, 60), 40_000))
    with pytest.raises(UnreadableError, match=r"4e\+04 at \[0, 0\], which int16 cannot hold"):
        told_of(SAMPLES, examples=tmp_path / "x.npy")


def test_what_is_no_array_is_told_without_advice_on_pickle(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_text("hi")
    with pytest.raises(UnreadableError, match="it is text") as error:
        told_of(FEATURES, examples=tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", x=np.array([None, 1], object))
    with pytest.raises(UnreadableError, match="Python objects") as other:
        told_of(FEATURES, examples=tmp_path / "x.npz")
    assert "pickle" not in f"{error.value}{other.value}"


def test_an_array_of_another_name_is_told_for_a_single_input_and_refused_by_name_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", feats=np.ones((1, 60, 8), np.float32))
    assert "x.npz: its only array 'feats' is taken for x, the only input" in told_of(
        FEATURES, examples=tmp_path / "x.npz", verify=False
    )
    np.savez(tmp_path / "x.npz", a=np.ones((1, 60, 8), np.float32), b=np.ones((1, 60, 8), np.float32))
    with pytest.raises(MisuseError, match=r"x\.npz: it holds 'a', 'b', and the graph wants 'x'"):
        told_of(FEATURES, examples=tmp_path / "x.npz")
    held = model("f = Cast<to = 1>(n) m = Mul(x, f) y = MatMul(m, u)", "float[1, T, 8] x, int64[1] n", u=normal(8, 5))
    np.savez(tmp_path / "x.npz", n=np.array([60]))
    with pytest.raises(MisuseError, match=r"it holds 'n', and the graph wants 'x' \(n is made of the lengths\)"):
        told_of(held, length_inputs=["n=T"], examples=tmp_path / "x.npz")


def test_zeros_are_told_of_a_file_that_holds_nothing_else(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    late = np.concatenate([np.zeros(1000), np.full(500, 0.5)])
    for sound, words in (
        (late, "up to the end of the largest container"),
        (np.stack([late, -late], 1), "once its channels are mixed: they cancel"),
        (0 * late, "nothing but zeros; no range"),
    ):
        soundfile.write(tmp_path / "a.wav", sound, 16_000)
        with pytest.raises(MisuseError, match=f"nothing but zeros.*{words}|{words}"):
            told_of(WAVE, containers=[900], rate=16_000, examples=tmp_path / "a.wav")


HALF_KINDS = {"float16[1, T, 8] x": 4, "float16[1, T] x": 3}


@pytest.mark.parametrize("taken", HALF_KINDS)
def test_inputs_in_half_get_the_levels_of_what_they_take(taken: str) -> None:
    name, dtype = "x", np.dtype(np.float16)
    native = read_model(model("y = Identity(x)", taken, taken.replace(" x", " y")))
    shape = [1, "T"] + [8] * taken.count("8")
    metadata = Metadata(symbols={}, inputs={name: {1: "T"}})
    inputs = Inputs(
        metadata, {name: shape}, {name: dtype}, sound_inputs(native.graph, metadata, {name: shape}, {name: dtype})
    )
    examples = [*inputs.default({"T": 500}), *(example for example, _ in inputs.louder({"T": 500}))]
    assert len(inputs.default({"T": 500})) == HALF_KINDS[taken]
    assert all(e.arrays[name].dtype == dtype and np.isfinite(e.arrays[name]).all() for e in examples)


@pytest.mark.parametrize(("taken", "shape"), [("float[1, T] x", [1, "T"]), ("float[1, 8, T] x", [1, 8, "T"])])
def test_each_level_has_a_stretch_of_silence(taken: str, shape: list[int | str]) -> None:
    native = read_model(model("y = Identity(x)", taken, taken.replace(" x", " y")))
    metadata = Metadata(symbols={}, inputs={"x": {len(shape) - 1: "T"}})
    kinds = {"x": np.dtype(np.float32)}
    sounds = sound_inputs(native.graph, metadata, {"x": shape}, kinds)
    for example in Inputs(metadata, {"x": shape}, kinds, sounds).default({"T": 800}):
        x = example.arrays["x"].reshape(-1, 800)
        same = (x == x[:, 400:401]).all(0)
        assert same[400:500].all() and not same[:400].any(), example.name


def test_a_power_spectrum_is_tried_where_the_model_takes_its_logarithm() -> None:
    body = "{} h = MatMul(l, u) y = Relu(h)"
    tried = [
        power_inputs(read_model(model(body.format(first), u=normal(8, 5))).graph)
        for first in ("l = Log(x)", "l = Relu(x)", "r = Sigmoid(x) l = Log(r)")
    ]
    assert tried == [{"x"}, set(), set()]


def test_an_input_that_no_file_gives_is_told(tmp_path: Path) -> None:
    native = model("a = MatMul(x, u) h = Add(a, k) y = Relu(h)", "float[1, T, 8] x, float[1, 1, 5] k", u=normal(8, 5))
    for name in ("a", "b"):
        np.savez(tmp_path / f"{name}.npz", x=normal(1, 60, 8).astype(np.float32))
    assert "a.npz and 1 more file give no k: random numbers are in its place" in told_of(native, examples=tmp_path)


def test_the_one_precision_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    wide = model("a = MatMul(x, u) y = Relu(a)", "float[B, T, 8] x", "float[B, T, 256] y", u=normal(8, 256))
    with pytest.raises(RefusedError, match=r"in int8-dynamic: one quantisation range.*or leave int8-dynamic out"):
        told_of(wide, precision="fp32,int8-dynamic", batch_size=2, out=tmp_path / "b", verify=False)
    assert not list(tmp_path.iterdir())


def test_the_one_precision_that_takes_no_such_container_is_named(tmp_path: Path, monkeypatch) -> None:
    """Native changed before it is padded may have limits of its own."""

    class ShorterTablePass(ir.passes.InPlacePass):
        def __init__(self, kept: object) -> None: ...

        def call(self, model: ir.Model) -> ir.passes.PassResult:
            table = model.graph.initializers["table"]
            table.const_value = ir.tensor(table.const_value.numpy()[:5])
            table.shape = ir.Shape([5, 8])
            return ir.passes.PassResult(model, True)

    monkeypatch.setitem(PRECISIONS, "short", Precision("short", ShorterTablePass, first=True))
    tabled = model("s = Shape<start = 1, end = 2>(x) t = Slice(table, zero, s, zero) y = Add(x, t)",
                   output="float[1, T, 8] y", table=normal(30, 8), zero=np.array([0]))  # fmt: skip
    found = "^in short: a container of 20 steps is longer than the model allows, 5;(.|\\s)*leave short out"
    with pytest.raises(MisuseError, match=found):
        told_of(tabled, precision="fp32,short", containers=[20], out=tmp_path / "b", verify=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "full"), [("int16", 32768), ("float", 1)])
def test_what_overflows_once_sound_is_at_full_scale_stays(kind: str, full: int, tmp_path: Path) -> None:
    """A recording from afar: at a tenth of full scale the gain reaches a tenth of what it may reach."""
    cast = "c = Cast<to = 1>(x)" if kind == "int16" else "c = Identity(x)"
    body = f"{cast} g = Mul(c, k) "
    body += "t = Unsqueeze(g, one) h = Conv<kernel_shape = [1]>(t, u) y = Transpose<perm = [0, 2, 1]>(h)"
    native = model(body, f"{kind}[1, S] x", "float[1, S, 64] y",
                   k=np.float32(1e5 / full), one=np.array([1]), u=1e-3 * np.ones((64, 1, 1)))  # fmt: skip
    sound = full * np.sin(np.arange(700) / 9)[None]
    for loudness in (0.1, 0.05):
        np.save(tmp_path / "x.npy", (loudness * sound).astype("int16" if kind == "int16" else np.float32))
        told: list[str] = []
        convert(native, ["x:1=S"], containers=[700], precision="fp16", examples=tmp_path / "x.npy",
                       gate_lengths=2, on_message=told.append)  # fmt: skip
        assert any("Mul Mul_1 overflows at full scale: it reaches 1e+05 there" in line for line in told)


def test_a_value_that_no_layer_makes_is_told_where_it_comes_near_the_end_of_half(tmp_path: Path) -> None:
    body = "g = Mul(x, k) r = Relu(g) h = MatMul(r, u) m = Where(c, h, low) y = Softmax<axis = 2>(m)"
    native = model(body, k=np.float32(9000), u=1e-4 * np.ones((8, 5)), c=np.array(1), low=np.float32(-1e4))
    native.graph.initializer[2].CopyFrom(onnx.numpy_helper.from_array(np.array(True), "c"))
    x = np.clip(np.random.default_rng(0).standard_normal((1, 60, 8)), -1, 1).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    told: list[str] = []
    out = tmp_path / "b"
    convert(native, ["x:1=T"], containers=[60], precision="fp16", examples=tmp_path / "x.npy", gate_lengths=2,
            on_message=told.append, out=out)  # fmt: skip
    assert json.loads((out / "report.json").read_text())["ranges"]["fp16"]["headroom"] == pytest.approx(7.3, abs=0.1)
    assert any("an input that makes Mul Mul_0 7.3 times louder than the examples do overflows" in line for line in told)


def test_no_answer_of_a_node_that_stays_is_told_to_be_near_the_end(tmp_path: Path) -> None:
    """Whichever of its answers is the loud one."""
    body = "g = Mul(x, k) a, b = Split<axis = 2, num_outputs = 2>(g) s = Add(a, b) y = MatMul(s, u)"
    native = model(body, k=np.r_[np.ones(4), np.full(4, 1e5)], u=1e-6 * np.ones((4, 5)))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((1, 60, 8)).astype(np.float32))
    told: list[str] = []
    convert(native, ["x:1=T"], containers=[60], precision="fp16", examples=tmp_path / "x.npy", gate_lengths=2,
            on_message=told.append)  # fmt: skip
    assert any("overflows: it reaches" in line for line in told)
    assert not any("Split Split_1" in line and "an input that makes" in line for line in told)


MASKED = model(
    """r = Unsqueeze(m, last) f = Cast<to = 1>(r) a = MatMul(x, u) h = Mul(a, f) c = Cast<to = 1>(n)
    d = Unsqueeze(c, ends) e = Div(h, d) y = Relu(e)""",
    "float[1, T, 8] x, int64[1] n, bool[1, T] m", "float[1, T, 5] y",
    u=normal(8, 5), last=np.array([2]), ends=np.array([1, 2]),
)  # fmt: skip


def test_lengths_and_masks_that_say_what_the_arrays_are_long_are_taken(tmp_path: Path) -> None:
    asked = {"length_inputs": ["n=T"], "mask_inputs": ["m:1=T"], "examples": tmp_path / "x.npz"}
    x = RANDOM.standard_normal((1, 50, 8)).astype(np.float32)
    whole = np.ones((1, 50), bool)
    np.savez(tmp_path / "x.npz", x=x, n=np.array([50]), m=whole)
    assert told_of(MASKED, **asked)
    for n, mask, words in ((40, whole, "n is 40, and it has 50 steps of T"), (50, ~whole, "m masks steps, and it has")):
        np.savez(tmp_path / "x.npz", x=x, n=np.array([n]), m=mask)
        with pytest.raises(MisuseError, match=words):
            told_of(MASKED, **asked)
    np.savez(tmp_path / "x.npz", x=x, foo=x)
    with pytest.raises(MisuseError, match=r"holds 'x', 'foo'.*; leave foo out"):
        told_of(MASKED, **asked)


def test_two_channels_are_taken_where_the_model_takes_two(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    native = model("a = Conv(x, u) y = Relu(a)", "float[1, 2, T] x", "float[1, 5, T] y", u=normal(5, 2, 1))
    time = np.arange(1000) / 16_000
    sound = np.stack([0.3 * np.sin(2000 * time), -0.3 * np.sin(2000 * time)], 1)
    given: dict[str, Any] = {"containers": [900], "rate": 16_000, "precision": "fp16", "gate_lengths": 2}
    told: list[str] = []
    soundfile.write(tmp_path / "a.wav", sound, 16_000)
    convert(native, ["x:2=T"], examples=tmp_path / "a.wav", on_message=told.append, **given)
    assert not any("mixed" in line for line in told)
    soundfile.write(tmp_path / "a.wav", sound[:, 0], 16_000)
    with pytest.raises(MisuseError, match="it has 1 channel, and x takes 2"):
        convert(native, ["x:2=T"], examples=tmp_path / "a.wav", **given)


@pytest.mark.parametrize(("body", "alike"), [("y = Relu(a)", True), ("y = LayerNormalization(a, g)", False)])
def test_fast_half_that_is_no_other_than_exact_is_told(body: str, alike: bool) -> None:
    plain = model(f"a = MatMul(x, u) {body}", u=normal(8, 5), g=np.ones(5))
    made = {}
    for half in ("exact", "fast"):
        told: list[str] = []
        made[half] = convert(
            plain, ["x:1=T"], containers=[30], precision="fp16", half=half, gate_lengths=2, on_message=told.append
        )
        lines = [line for line in told if "`half='fast'` changes nothing" in line]
        assert len(lines) == (alike and half == "fast")
    assert (made["exact"].graph == made["fast"].graph) == alike


def test_a_wider_float_and_a_missing_axis_of_one_row_are_taken_as_the_input_is(tmp_path: Path) -> None:
    x = RANDOM.standard_normal((1, 60, 8)).astype(np.float32)
    told = []
    for name, array in (("same", x), ("wider", x.astype(np.float64)), ("flat", x[0])):
        np.save(tmp_path / "e.npy", array)
        out = tmp_path / name
        told_of(FEATURES, out=out, examples=tmp_path / "e.npy")
        told.append(json.loads((out / "report.json").read_text())["examples"])
    assert told[0] == told[1] == told[2]
    for wrong, said in ((x[0, 0], r"has shape \[8\], expected \[B, T, 8\]"), (x.astype(int), "is int64, expected flo")):
        np.save(tmp_path / "e.npy", wrong)
        with pytest.raises(MisuseError, match=said):
            told_of(FEATURES, examples=tmp_path / "e.npy")
