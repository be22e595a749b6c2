"""What is told of a precision: of floats and of integers, limits that can be kept, and whether anything is gained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from paddable.api import convert, freezing, precisions
from paddable.api.judging import demand
from paddable.api.reporting import about_result
from paddable.errors import GateFailedError, MisuseError
from paddable.gates import GateReport
from paddable.gates.report import Row
from paddable.gates.verdict import class_axis, difference, measures, parse_accept, told_verdict
from paddable.graph.initialisers import add_initialiser
from paddable.graph.names import Names

from .networks import model

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape) / shape[0] ** 0.5


IDS = model(
    "a = MatMul(x, u) h = Relu(a) l = MatMul(h, v) ids = ArgMax<axis = -1, keepdims = 0>(l)",
    output="int64[1, T] ids",
    u=normal(8, 256), v=normal(256, 500),
)  # fmt: skip
PLAIN = model("a = MatMul(x, u) h = Relu(a) y = MatMul(h, v)", u=normal(8, 256), v=normal(256, 5))
LOUD = model("a = MatMul(x, u) h = Relu(a) y = MatMul(h, v)", u=1e6 * normal(8, 256), v=normal(256, 5))


def told_of(proto: onnx.ModelProto, precision: str, **given: Any) -> list[str]:
    told: list[str] = []
    convert(proto, ["x:1=T"], containers=[60], precision=precision, gate_lengths=2, on_message=told.append, **given)
    return told


@pytest.fixture(scope="module")
def told_in_half() -> list[str]:
    return told_of(PLAIN, "fp16")


def test_ids_are_classes_and_a_limit_of_agreement_holds_for_them(tmp_path: Path) -> None:
    (line,) = [line for line in told_of(IDS, "int4", out=tmp_path / "b") if "against fp32" in line]
    assert "best class the same in" in line and "warning" in line and "cosine" not in line
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    assert report["precision"]["int4"]["ids"].keys() == {"agreement"}
    assert all(0 < row["agreement"] < 1 for row in report["examples"]["int4"])
    with pytest.raises(GateFailedError, match=r"output ids in int4.*agreement is 0\.\d+, 0.999 is asked for"):
        told_of(IDS, "int4", accept=["agreement=0.999"])


def test_a_limit_of_what_no_output_has_is_refused() -> None:
    with pytest.raises(MisuseError, match=r"cosine is to be accepted, and no output has one.*of ids: agreement"):
        told_of(IDS, "int4", accept=["cosine=0.9"])
    with pytest.raises(MisuseError, match="nothing is judged"):
        told_of(PLAIN, "int4", accept=["cosine=0.9"], verify=False)
    assert told_of(PLAIN, "fp16", accept=["cosine=0.9", "agreement=0.5", "error=0.1"])


@pytest.mark.parametrize("text", ["cosine=1.5", "agreement=99", "agreement=-0.1", "error=-1", "cosine=-2"])
def test_a_limit_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(MisuseError, match=r"cannot be accepted; .*(between|negative)"):
        parse_accept([text])


def test_a_measure_that_is_given_twice_is_refused() -> None:
    with pytest.raises(MisuseError, match=r"cosine is given twice, last as 'cosine=0\.5'"):
        parse_accept(["cosine=0.99999", "error=1", "cosine=0.5"])


def test_what_can_be_measured() -> None:
    assert measures("i", None) == measures("b", None) == {"agreement"}
    assert measures("f", 2) == {"cosine", "error", "agreement"}
    assert measures("f", None) == {"cosine", "error"}


@pytest.mark.parametrize(
    ("sizes", "others", "axis"),
    [
        ([1, None, 5], {0, 1}, 2), ([1, 5, None], {0, 2}, 1), ([5, 1, 9], {2}, 0),
        ([1, None], {0, 1}, None), ([1, 9, 1], {0, 1}, None), ([1, 4, None, 8], {0, 2}, None),
    ],
)  # fmt: skip
def test_classes_are_the_one_axis_that_does_not_follow_the_length(
    sizes: list[int | None], others: set[int], axis: int | None
) -> None:
    assert class_axis(sizes, others) == axis


@pytest.mark.parametrize(("sizes", "others", "axis"), [([50, None], {1}, 0), ([None, 50], {0}, 1), ([None], {0}, None)])
def test_frames_without_rows_have_classes(sizes: list[int | None], others: set[int], axis: int | None) -> None:
    assert class_axis(sizes, others, frames=True) == axis


def test_an_answer_without_an_axis_of_rows_has_an_agreement(tmp_path: Path) -> None:
    apart = model(
        "h = MatMul(x, u) y = Transpose<perm = [1, 0]>(h)", "float[T, 8] x", "float[50, T] y", u=normal(8, 50)
    )
    told = []
    convert(apart, ["x:0=T"], containers=[60], precision="int4", batch="none", accept=["agreement=0.1"],
            gate_lengths=2, on_message=told.append)  # fmt: skip
    assert any("best class the same in" in line for line in told)


def test_classes_in_front_of_the_frames_agree_frame_by_frame(tmp_path: Path) -> None:
    channels = model(
        "a = MatMul(x, u) h = Relu(a) l = MatMul(h, v) y = Transpose<perm = [0, 2, 1]>(l)",
        output="float[1, 50, T] y", u=normal(8, 256), v=normal(256, 50),
    )  # fmt: skip
    told_of(channels, "int4", out=tmp_path / "b")
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    assert all(row["agreement"] * 60 == pytest.approx(round(row["agreement"] * 60), abs=1e-3)
               for row in report["examples"]["int4"])  # fmt: skip


def test_integers_are_told_by_agreement() -> None:
    seen = difference(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5]))
    assert seen.to_json() == {"finite": True, "agreement": 0.75} and seen.misses({"agreement": 0.9})


def test_each_precision_is_told_in_a_line(told_in_half: list[str]) -> None:
    (line,) = [line for line in told_in_half if "against fp32" in line]
    assert line.startswith("fp16: against fp32, the worst of 4 examples: cosine 1.0000") and "warning" not in line
    row = {"example": "a.npy", "output": "y", "error": 0.4, "cosine": 0.9999, "agreement": None}
    assert "warning: that is far from fp32 (output y, a.npy): judge it on inputs" in told_verdict("int4", [row])
    assert told_verdict("int4", [row], given=True).endswith("(output y, a.npy): take another precision")
    fixed: list[str] = []
    convert(PLAIN, [], bindings=["x:1=9"], precision="fp16", on_message=fixed.append)
    assert any("of scale from fp32 on" in line for line in fixed)


def test_half_that_gains_nothing_is_told(tmp_path: Path, told_in_half: list[str]) -> None:
    onnx.save(LOUD, tmp_path / "native.onnx")
    judged: list[GateReport] = []
    told: list[str] = []
    out = convert(
        tmp_path / "native.onnx", ["x:1=T"], containers=[60], out=tmp_path / "b", precision="fp16", gate_lengths=2,
        on_message=told.append, on_report=judged.append,
    )  # fmt: skip
    assert any("nothing is gained, take fp32; in fp32 stay MatMul" in line for line in told)
    assert (
        "nothing is gained"
        in about_result("convert", out, tmp_path / "native.onnx", judged[0])["facts"]["Weights in fp16"]
    )
    assert not any("nothing is gained" in line for line in told_in_half)


def test_levels_louder_than_those_that_stay_are_told(told_in_half: list[str]) -> None:
    assert not any("overflows" in line for line in told_in_half)  # it takes no power spectrum
    louder = model("a = MatMul(x, u) y = MatMul(a, v)", u=np.full((8, 64), 100.0), v=1e-2 * normal(64, 5))
    assert any(
        "an MFCC, -250 .. 50, overflows: MatMul MatMul_0 would reach" in line for line in told_of(louder, "fp16")
    )


def test_examples_that_come_near_the_end_of_half_are_told(tmp_path: Path) -> None:
    x = np.clip(RANDOM.standard_normal((1, 60, 8)), -2, 2).astype(np.float32)
    peak = float(np.abs(x @ PLAIN_U).max())
    np.save(tmp_path / "x.npy", x * np.float32(9000 / peak))
    told = told_of(PLAIN, "fp16", examples=tmp_path / "x.npy")
    assert any("MatMul_0 7.3 times louder than the examples do overflows" in line for line in told), told


PLAIN_U = numpy_helper.to_array(PLAIN.graph.initializer[0])


def test_an_output_that_is_a_constant_hinders_nothing() -> None:
    both = model(
        "a = MatMul(x, u) y = Relu(a) k = Identity(c)",
        output="float[1, T, 5] y, float[3] k",
        u=normal(8, 5),
        c=np.ones(3),
    )
    assert told_of(both, "fp16", accept=["cosine=0.99"])


def test_a_model_of_two_rows_has_a_verdict() -> None:
    rows = onnx.ModelProto()
    rows.CopyFrom(PLAIN)
    for value in (*rows.graph.input, *rows.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 2
    (line,) = [line for line in told_of(rows, "int8") if "against fp32" in line]
    assert "warning" not in line


def test_products_in_8_bits_of_a_model_that_is_stored_in_half_are_judged_as_they_run(tmp_path: Path) -> None:
    """Without the optimiser they would saturate on some processors."""
    told_of(in_half(), "int8-dynamic", out=tmp_path / "b")
    report = json.loads((tmp_path / "b" / "report.json").read_text())
    plain = json.loads(told_report(tmp_path / "c"))
    worst = [max(row["error"] for row in found["examples"]["int8-dynamic"]) for found in (report, plain)]
    assert worst[0] < 2 * worst[1]


def in_half() -> onnx.ModelProto:
    half = onnx.ModelProto()
    half.CopyFrom(PLAIN)
    for tensor in half.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for value in (*half.graph.input, *half.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    return half


def test_a_model_without_a_value_in_fp32_has_a_verdict(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", RANDOM.standard_normal((1, 60, 8)).astype(np.float16))
    told = told_of(in_half(), "fp16", examples=tmp_path / "x.npy")
    assert any("against fp32, the worst of 1 example" in line for line in told)
    with pytest.raises(GateFailedError, match=r"output y in fp16.* is asked for"):
        told_of(in_half(), "fp16", accept=["error=0", "cosine=1"])


def test_values_that_become_half_without_a_weight_are_told() -> None:
    lines = told_of(model("r = Relu(x) y = Sigmoid(r)", output="float[1, T, 8] y"), "fp16")
    assert "fp16: no weight gets smaller, since native has none in fp32; 2 nodes compute in half" in lines


def test_an_equal_answer_has_a_cosine_of_one_and_a_limit_is_told_as_it_was_given() -> None:
    for count in range(20):
        answer = np.random.default_rng(count).standard_normal(100 + count).astype(np.float32)
        assert not difference(answer, answer).misses({"cosine": 1.0, "error": 0.0})
    told = difference(answer * np.linspace(1, 1.002, answer.size, dtype=np.float32), answer)
    assert "0.9999999 is asked for" in told.misses({"cosine": 0.9999999})
    assert "is 0.999999" in told.misses({"cosine": 0.9999999})


def told_report(folder: Path) -> str:
    told_of(PLAIN, "int8-dynamic", out=folder)
    return (folder / "report.json").read_text()


@pytest.mark.parametrize("precision", ["fp16", "int8", "int4"])
def test_ids_of_a_model_without_lengths_may_fall_either_way_at_ties(precision: str) -> None:
    lines: list[str] = []
    convert(IDS, [], bindings=["x:1=9"], precision=precision, on_message=lines.append)
    told = [line for line in lines if "ArgMax" in line and "places, all ties" in line]
    assert len(told) == 1 or precision == "fp16"


def test_other_ids_of_a_model_without_lengths_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    made = freezing.frozen

    def spoiled(*given: Any, **options: Any) -> Any:
        padded = made(*given, **options)
        best = next(node for node in padded.model.graph if node.op_type == "ArgMax")
        worst = ir.node("ArgMin", best.inputs, best.attributes)
        worst.outputs[0].name = best.outputs[0].name
        ir.convenience.replace_nodes_and_values(padded.model.graph, best, [best], [worst], best.outputs, worst.outputs)
        return padded

    monkeypatch.setattr("paddable.api.converting.frozen", spoiled)
    with pytest.raises(GateFailedError, match=r"output ids: 9 of 9 numbers are others than native's"):
        convert(IDS, [], bindings=["x:1=9"], precision="fp16")


def test_what_is_not_finite_is_told_with_its_node_and_with_what_passes(tmp_path: Path) -> None:
    """At silence the difference is 5e-5, and 0 in half."""
    native = model(
        "a = MatMul(x, u) b = Abs(a) s = Sigmoid(b) m = Sub(s, k) q = Div(s, m) y = MatMul(q, v)",
        u=100 * normal(8, 2), k=np.full(2, 0.49995), v=normal(2, 5),
    )  # fmt: skip
    with pytest.raises(
        GateFailedError, match=r"not finite.*Div Div_4 is the first.*leave fp16 out, since int8 passes"
    ) as e:
        told_of(native, "fp16,int8", out=tmp_path / "b")
    assert "accept less" not in str(e.value)
    assert not (tmp_path / "b").exists()


def test_what_is_not_finite_in_a_container_alone_is_told_with_its_node_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A padded graph that scales by 60000 and back, in front of a product that somebody wrote at model.py:12."""
    native = onnx.ModelProto()
    native.CopyFrom(PLAIN)
    for node in native.graph.node:
        node.metadata_props.add(key="pkg.torch.onnx.stack_trace", value='File "model.py", line 12, in forward')
    made = precisions.precise

    def scaled(*given: Any, **more: Any) -> Any:
        padded = made(*given, **more)
        graph = padded.model.graph
        product = next(node for node in graph if node.op_type == "MatMul" and node.name == "MatMul_2")
        factor = add_initialiser(graph, Names(graph), "loud", np.float16(60000))
        loud = ir.node("Mul", [product.inputs[1], factor], name="louder")
        back = ir.node("Div", [product.outputs[0], factor], name="softer")
        loud.outputs[0].name, back.outputs[0].name = "louder", "softer"
        for value in (loud.outputs[0], back.outputs[0]):
            value.type = ir.TensorType(ir.DataType.FLOAT16)
        for use in list(product.outputs[0].uses()):
            if use.node is not back:
                use.node.replace_input_with(use.idx, back.outputs[0])
        product.replace_input_with(1, loud.outputs[0])
        graph.insert_before(product, loud)
        graph.insert_after(product, back)
        return padded

    monkeypatch.setattr(precisions, "precise", scaled)
    monkeypatch.setattr("paddable.api.judging_precision.judge_whole", lambda *given, **more: [])
    with pytest.raises(GateFailedError, match=r"not finite.*MatMul MatMul_2 \(model.py:12\) is the first node"):
        told_of(native, "fp16", out=tmp_path / "b")


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ("int4,int8", "in the other precisions neither; .*leave int4 out, since int8 passes"),
        ("int4", "take fp32, which"),
    ],
)
def test_a_precision_whose_padding_fails_is_told_with_those_that_pass(
    asked: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scales of int4 that are off in the container alone."""
    made = precisions.precise

    def off(*given: Any, **more: Any) -> Any:
        padded = made(*given, **more)
        for node in padded.model.graph:
            if node.op_type == "MatMulNBits" and node.name == "MatMul_0":
                scales = node.inputs[2]
                scales.const_value = ir.tensor(scales.const_value.numpy() * np.float32(1.01), name=scales.name)
        return padded

    monkeypatch.setattr(precisions, "precise", off)
    with pytest.raises(GateFailedError, match=r"\(int4 T=60\): gate C.*" + advice) as e:
        told_of(PLAIN, asked, out=tmp_path / "b")
    assert "accept" not in str(e.value)


@pytest.mark.parametrize("asked", ["fp16,int4", "int4"])
def test_what_stays_in_fp32_in_half_counts_where_half_is_compared_with(asked: str, tmp_path: Path) -> None:
    """A recurrence keeps its weights in both, and the product is smaller in 4 bits than in half."""
    native = model(
        """t = Transpose<perm = [1, 0, 2]>(x) h, last = GRU<hidden_size = 48>(t, w, r) s = Squeeze(h, one)
        b = Transpose<perm = [1, 0, 2]>(s) y = MatMul(b, c)""",
        output="float[1, T, 256] y",
        one=np.array([1]), w=normal(144, 8)[None] / 3, r=normal(144, 48)[None], c=normal(48, 256),
    )  # fmt: skip
    assert not [line for line in told_of(native, asked, out=tmp_path / "b") if "weights take" in line]


def test_the_page_has_the_verdict_and_a_report_of_an_earlier_run_goes(tmp_path: Path) -> None:
    native, out = tmp_path / "native.onnx", tmp_path / "b"
    onnx.save(PLAIN, native)
    judged: list[GateReport] = []
    with pytest.raises(GateFailedError):
        told_of(PLAIN, "int4", out=out, accept=["cosine=0.9999999"])
    assert (tmp_path / "b.report.json").exists()
    convert(native, ["x:1=T"], containers=[60], out=out, precision="int4", gate_lengths=2, on_report=judged.append)
    assert not (tmp_path / "b.report.json").exists()
    facts = about_result("convert", out, native, judged[0])["facts"]
    assert facts["Answers in int4"].startswith("against fp32, the worst of 4 examples: cosine 0.")


def test_what_is_in_half_already_counts_where_nothing_is_gained(tmp_path: Path) -> None:
    """A weight in half behind a Cast, and one in fp32 that stays since it overflows."""
    native = model("c = Cast<to = 1>(v) a = MatMul(x, u) h = Relu(a) y = MatMul(h, c)", u=1e6 * normal(8, 256))
    native.graph.initializer.append(numpy_helper.from_array(normal(256, 5).astype(np.float16), "v"))
    judged: list[GateReport] = []
    onnx.save(native, tmp_path / "native.onnx")
    told = told_of(native, "fp16", out=tmp_path / "b", on_report=judged.append)
    assert any(
        "no weight gets smaller, 2,560 bytes are in half already, and 8,192 bytes are in fp32; in" in t for t in told
    )
    facts = about_result("convert", tmp_path / "b", tmp_path / "native.onnx", judged[0])["facts"]
    assert facts["Weights in fp16"] == "10.8 kB, in fp32 10.8 kB, as native has them"


def test_the_steps_of_a_container_are_no_weights(tmp_path: Path) -> None:
    """16,000 of them take 128 kB, and the weights 12."""
    native = model("c = Conv(x, u) y = Relu(c)", "float[1, 2, T] x", "float[1, 96, T] y", u=normal(96, 2, 16))
    told: list[str] = []
    convert(native, ["x:2=T"], containers=[16_000], precision="fp16", gate_lengths=2, on_message=told.append)
    assert not any("weights take" in line for line in told)


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        (["fp16-fast T=9"], "leave fp16-fast out, since int8 passes; `precision='fp32,int8'` writes what is left"),
        (["int8 T=9"], "leave int8 out, since fp16-fast passes; `precision='fp32,fp16'` writes what is left"),
        (["fp16-fast T=9", "int8 T=9"], "`precision='fp32'` writes what is left"),
        (["T=9", "int8 T=9"], "report it with the model if you can"),
    ],
)
def test_the_precision_that_fails_is_named_with_what_writes_the_others(failing: list[str], said: str) -> None:
    names = ("T=9", "fp16-fast T=9", "int8 T=9")
    rows = [Row(name, "y", 7, 9, 0.2 if name in failing else 0.0, 0.0, 1e-5, 1.0) for name in names]
    look = "to see where the two part, write it unjudged, with `verify=False`, and probe that"
    with pytest.raises(GateFailedError) as error:
        demand(GateReport(rows=rows, precision={"fp16-fast": {}, "int8": {}}), None, ["fp32", "fp16-fast", "int8"])
    assert str(error.value).endswith(f"; {look}") and said in str(error.value)
    assert "nothing was written" in str(error.value)
