"""What the inputs of a graph suggest: the shapes that exporters and published files have."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from paddable.padding.suggestion import Suggestion, suggest

FLOAT, INT64, BOOL = ir.DataType.FLOAT, ir.DataType.INT64, ir.DataType.BOOL
Input = tuple[str, ir.DataType, list[int | str | None]]


def value(name: str, dtype: ir.DataType, shape: list[int | str | None]) -> ir.Value:
    return ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))


def of(*inputs: Input, outputs: tuple[Input, ...] = ()) -> Suggestion:
    return suggest({entry[0]: value(*entry) for entry in inputs}, [value(*entry) for entry in outputs])


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        ([("x", FLOAT, [1, "T"])], "--length x:1=T"),
        ([("audio", FLOAT, [None, None])], "--length audio:1=T"),
        ([("mel", FLOAT, ["T", 80])], "--length mel:0=T"),
        ([("mel", FLOAT, ["frames", 1, 80])], "--length mel:0=T"),
        ([("x", FLOAT, ["s77", 80, "s53"])], "--length x:2=T"),
        ([("x", FLOAT, [1, "T"]), ("y", FLOAT, [1, "T"])], "--length x:1=T --length y:1=T"),
        ([("x", FLOAT, [1, "frames"]), ("y", FLOAT, [1, "tokens"])], "--length x:1=T --length y:1=U"),
        ([("x", FLOAT, [1, None]), ("y", FLOAT, [1, None])], "--length x:1=T --length y:1=T"),
        ([("x", FLOAT, [1, 3, None, None])], "--length x:2=T --length x:3=U"),
        ([("x", FLOAT, [1, "T"]), ("sr", INT64, [])], "--length x:1=T --set sr=16000"),
        ([("x", FLOAT, ["batch", "N"]), ("lens", INT64, ["batch"])], "--length x:1=T --length-input lens=T"),
        ([("x", FLOAT, ["B", "S"]), ("n", INT64, ["B"])], "--length x:1=T --length-input n=T"),
        (
            [("ids", INT64, ["batch", "seq"]), ("attention_mask", INT64, ["batch", "seq"])],
            "--length ids:1=T --mask-input attention_mask:1=T",
        ),
        (
            [
                ("speech", FLOAT, ["batch_size", "feats_length", 560]),
                ("speech_lengths", INT64, ["batch_size"]),
                ("language", INT64, ["batch_size"]),
            ],
            "--length speech:1=T --length-input speech_lengths=T",
        ),
    ],
)
def test_options(inputs: list[Input], options: str) -> None:
    assert of(*inputs).options == options


def test_the_rows_of_a_state_are_the_batch_and_no_length() -> None:
    found = of(
        ("x", FLOAT, ["batch", "time", 3]),
        ("h0", FLOAT, [1, "batch", 4]),
        outputs=(("hn", FLOAT, [1, "batch", 4]),),
    )
    assert found.options == "--length x:1=T --batch x:0,h0:1"
    assert found.states == ["h0"]


def test_only_rows_vary() -> None:
    found = of(("x", FLOAT, ["batch", 80, 800]))
    assert found.options == ""
    assert found.command("a b.onnx") == 'paddable convert "a b.onnx" -o fixed.onnx --batch-size 1'


def test_a_scalar_is_told() -> None:
    assert of(("x", FLOAT, [1, "T"]), ("sr", INT64, [])).scalars == ["sr"]


def test_nothing_varies() -> None:
    assert of(("x", FLOAT, [1, 80])).command("m.onnx") == "paddable lint m.onnx"
