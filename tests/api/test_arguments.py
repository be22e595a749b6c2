"""What a Python caller may give: one in place of several, a model in memory in place of a file, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import paddable
from paddable.errors import MisuseError
from paddable.families.spec import Option
from paddable.forms.applying import chosen_forms
from paddable.testing import assert_convertible, assert_padding_invariant

from .conftest import network


def sizes(bundle: Any) -> set[str]:
    return {path.stem for path in Path(bundle).glob("cpu-*.onnx")}


@pytest.mark.parametrize(
    ("containers", "wanted"),
    [
        ("12", {"cpu-fp32-12"}),
        (12, {"cpu-fp32-12"}),
        (np.int64(12), {"cpu-fp32-12"}),
        ("T=12", {"cpu-fp32-12"}),
        ("8,12", {"cpu-fp32-8", "cpu-fp32-12"}),
        (iter([8, "12"]), {"cpu-fp32-8", "cpu-fp32-12"}),
    ],
)
def test_one_container_is_one(native: Path, tmp_path: Path, containers: Any, wanted: set[str]) -> None:
    made = paddable.convert(native, "x:2=T", containers=containers, out=tmp_path / "b", verify=False)
    assert sizes(made) == wanted


@pytest.mark.parametrize("precision", ["fp32,fp16", ["fp32", "fp16"], ("fp32", "fp16")])
def test_precisions_are_a_text_or_a_list(native: Path, tmp_path: Path, precision: Any) -> None:
    made = paddable.convert(native, "x:2=T", containers=8, precision=precision, out=tmp_path / "b", verify=False)
    assert sizes(made) == {"cpu-fp32-8", "cpu-fp16-8"}


def test_forms_and_options_are_a_text_or_a_list() -> None:
    assert chosen_forms(["relu-as-max"]) == chosen_forms("relu-as-max") == ("relu-as-max",)
    chunks = Option("chunks", "", numbers=(4, 12))
    assert chunks.read(4, "f") == chunks.read([4], "f") == (4,)
    with pytest.raises(MisuseError):
        chunks.read("12", "f")


LENGTHS = """<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 4, T] x, int64[1] n) => (float[1, 4, T] y, int64[1] m) { y = Abs (x) m = Identity (n) }"""


def test_one_declaration_is_one(native: Path) -> None:
    model = onnx.parser.parse_model(LENGTHS)
    one = paddable.check(model, "x:2=T", length_inputs="n=T", shortest="T=3")
    assert one.to_json() == paddable.check(model, ["x:2=T"], length_inputs=["n=T"], shortest=["T=3"]).to_json()
    assert paddable.inspect(native, "x:2=T").to_json() == paddable.inspect(native, ["x:2=T"]).to_json()
    assert paddable.lint(native, lengths="x:2=T").to_json() == paddable.lint(native, lengths=["x:2=T"]).to_json()
    assert paddable.probe(native, native, "x:2=T", container=9).ok


def test_an_input_that_looks_like_lengths_is_told_where_it_is_not_declared() -> None:
    model = onnx.parser.parse_model(LENGTHS.replace("int64[1] n)", "int64[1] lens)").replace("(n)", "(lens)"))
    (note,) = paddable.check(model, "x:2=U").notes
    assert note.startswith("lens is taken for data; if it holds lengths, declare it with `length_inputs=['lens=U']`")
    told: list[str] = []
    paddable.convert(model, "x:2=U", containers=8, on_message=told.append, verify=False)
    assert note in told
    assert not paddable.check(model, "x:2=U", length_inputs="lens=U").notes
    model.graph.node[0].op_type = "NonZero"
    found = paddable.check(model, "x:2=U")
    assert found.refusal and found.notes == (note,)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: paddable.check(m, 5), r"`lengths=5` holds a int; give texts"),
        (lambda m: paddable.check(m, [("x", 2)]), r"`lengths=.*` holds a tuple; give texts"),
        (lambda m: paddable.check(m, ["x:2=T"], shortest=3), r"`shortest=3` holds a int"),
        (lambda m: paddable.convert(m, ["x:2=T"], containers=[1.5]), "holds a float; give texts or whole numbers"),
        (lambda m: paddable.convert(m, ["x:2=T"], containers=True), "holds a bool"),
        (lambda m: paddable.convert(m, ["x:2=T"], containers=8, precision=16), "`precision=16` holds a int"),
    ],
)
def test_what_is_no_text_is_refused_by_its_name(call: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(MisuseError, match=said):
        call(network())


def test_a_model_in_memory_is_judged_and_probed(native: Path) -> None:
    made = paddable.convert(network(), ["x:2=T"], containers=[16], verify=False)
    rows = paddable.verify(made, network(), lengths=7, limit=3).rows
    assert 7 in {row.length for row in rows} and all(row.ok for row in rows)
    assert paddable.probe(made, network()).ok and paddable.probe(made, native).ok
    assert_padding_invariant(made, network(), lengths=5)


@pytest.mark.parametrize("model", [None, 3, b"", ["native.onnx"]])
def test_what_is_no_model_is_refused_as_that(model: Any, native: Path) -> None:
    for call in (
        lambda: paddable.check(model, ["x:2=T"]),
        lambda: paddable.convert(model, ["x:2=T"], containers=[8]),
        lambda: paddable.convert(model, []),
        lambda: paddable.inspect(model),
        lambda: paddable.lint(model),
        lambda: paddable.verify(model),
        lambda: paddable.probe(model),
        lambda: paddable.load(model),
    ):
        with pytest.raises(MisuseError, match=r"it is (nothing|a int|a bytes|a list), and takes (a|the) path"):
            call()


def test_what_is_no_place_is_refused_as_that(native: Path, tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="`out`: it is a int, and takes a path"):
        paddable.convert(native, "x:2=T", containers=8, out=7)  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="`checkpoint`: it is nothing, and takes a path, or the name of a"):
        paddable.export("ctc", None, tmp_path / "b")  # type: ignore[arg-type]


def test_a_model_in_memory_is_not_loaded() -> None:
    with pytest.raises(MisuseError, match=r"it is a ModelProto, and takes .*; give `convert` a place with `out`"):
        paddable.load(network())  # type: ignore[arg-type]


def test_whether_a_model_can_be_padded_takes_no_container(native: Path) -> None:
    assert_convertible(str(native), ["x:2=T"])
    assert_convertible(network(), "x:2=T", containers="12")
    assert_convertible(onnx.parser.parse_model(LENGTHS), "x:2=T", length_inputs="n=T", rate=100)
