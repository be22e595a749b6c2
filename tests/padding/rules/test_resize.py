"""Resize along time: what reads past the valid end, and what the scale may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import paddable

from ..example import Example


def scaled(scale: float, attributes: str, **expected: str) -> Example:
    """Running sums, ``scale`` times as long."""
    constants = f"float[3] s = {{1, 1, {scale}}}, int64 time = {{2}}"
    return Example(f"c = CumSum (x, time) y = Resize <{attributes}> (c, , s)", constants=constants, **expected)


def to_size(attributes: str, batch: str = "1", **expected: Any) -> Example:
    """Running sums, five steps longer."""
    return Example(
        f"c = CumSum (x, time) b = Shape <end = 2> (x) t = Shape <start = 2> (x) u = Add (t, five) "
        f"s = Concat <axis = 0> (b, u) y = Resize <{attributes}> (c, , , s)",
        f"float[{batch}, 2, U] y",
        f"float[{batch}, 2, T] x",
        "int64 time = {2}, int64[1] five = {5}",
        **expected,
    )


EXAMPLES = {
    "a table of positions to the length of every row": Example(
        'n = Shape <start = 2> (x) s = Concat <axis = 0> (one, four, n) r = Resize <mode = "linear"> (p, , , s) '
        "y = Add (x, r)",
        "float[batch, 4, T] y",
        "float[batch, 4, T] x",
        "float[1, 4, 6] p, int64[1] one = {1}, int64[1] four = {4}",
        finds="PAD102 Resize",
        claims="T finite; finite",
        guards="Resize",
        rows=0,
    ),
    "time behind an axis of constant size that is resized too": Example(
        'y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> '
        "(x, , scales)",
        "float[1, 2, U, V] y",
        "float[1, 2, 3, T] x",
        "float[4] scales = {1, 1, 2, 2}",
        claims="2*T finite; finite",
    ),
    "two lengths": Example(
        'b = CumSum (x, two) c = CumSum (b, three) y = Resize <mode = "linear"> (c, , scales)',
        "float[1, 1, U, V] y",
        "float[1, 1, T, S] x",
        "float[4] scales = {1, 1, 2, 3}, int64 two = {2}, int64 three = {3}",
        finds="PAD102 Resize",
        claims="2*T finite; 3*S finite; finite",
    ),
    "features, where the padding is infinite": Example(
        'p = Softmax <axis = 2> (x) n = Log (p) r = Resize <mode = "linear"> (n, , scales) y = ReduceMax (r, time)',
        "float[1, 4, 1] y",
        constants="float[3] scales = {1, 2, 1}, int64[1] time = {2}",
        finds="PAD103 Softmax, PAD102 Resize, PAD107 ReduceMax",
        claims="-inf..0; any",
    ),
    "to one step, beside another length": Example(
        "p = Pad (x, pads) s = Shape <start = 3> (x) z = Concat <axis = 0> (o, s) "
        'y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> '
        "(p, , , z)",
        "float[1, 1, 1, U] y",
        "float[1, 1, T, U] x",
        "int64[8] pads = {0, 0, 0, 0, 0, 0, 2, 0}, int64[3] o = {1, 1, 1}",
        finds="PAD102 Pad, PAD102 Resize",
        claims="U finite; finite",
        harmless="PAD102",
    ),
    "twice the nearest": scaled(
        2,
        'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"',
        claims="2*T finite; finite",
    ),
    "twice the nearest at half pixels": scaled(2, 'mode = "nearest"', claims="2*T finite; finite"),
    "three times the nearest at half pixels": scaled(3, 'mode = "nearest"', claims="3*T finite; finite"),
    "three times the nearest at half pixels, rounded down": scaled(
        3,
        'mode = "nearest", nearest_mode = "floor"',
        finds="PAD102 Resize",
        claims="3*T finite; finite",
        harmless="PAD102",
    ),
    "four times the nearest at half pixels, rounded down": scaled(
        4, 'mode = "nearest", nearest_mode = "floor"', claims="4*T finite; finite"
    ),
    "twice the nearest, rounded up": scaled(
        2,
        'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "ceil"',
        finds="PAD102 Resize",
        claims="2*T finite; finite",
    ),
    "twice the nearest at half pixels, rounded up": scaled(
        2, 'mode = "nearest", nearest_mode = "ceil"', finds="PAD102 Resize", claims="2*T finite; finite"
    ),
    "twice the nearest at half pixels, halves up": scaled(
        2, 'mode = "nearest", nearest_mode = "round_prefer_ceil"', claims="2*T finite; finite"
    ),
    "half the nearest": scaled(
        0.5,
        'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"',
        finds="PAD102 Resize",
        claims="T//2 finite; finite",
        first="T=2",
        harmless="PAD102",
    ),
    "half as much again": scaled(
        1.5,
        'mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"',
        finds="PAD102 Resize",
        claims="T+T//2 finite; finite",
        harmless="PAD102",
    ),
    "twice, linear": scaled(2, 'mode = "linear"', finds="PAD102 Resize", claims="2*T finite; finite"),
    "three times, linear": scaled(
        3,
        'mode = "linear", coordinate_transformation_mode = "asymmetric"',
        finds="PAD102 Resize",
        claims="3*T finite; finite",
    ),
    "half, linear": scaled(
        0.5, 'mode = "linear"', finds="PAD102 Resize", claims="T//2 finite; finite", first="T=2", harmless="PAD102"
    ),
    "twice, linear, of PyTorch": scaled(
        2,
        'mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"',
        finds="PAD102 Resize",
        claims="2*T finite; finite",
    ),
    "a third, linear, of PyTorch": scaled(
        0.25,
        'mode = "linear", coordinate_transformation_mode = "pytorch_half_pixel"',
        finds="PAD102 Resize",
        claims="T//4 finite; finite",
        first="T=4",
    ),
    "corners aligned": scaled(
        2,
        'mode = "linear", coordinate_transformation_mode = "align_corners"',
        finds="PAD102 Resize",
        claims="2*T finite; finite",
    ),
    "corners aligned, half as long again": scaled(
        1.5,
        'mode = "linear", coordinate_transformation_mode = "align_corners"',
        finds="PAD102 Resize",
        claims="T+T//2 finite; finite",
    ),
    "corners aligned, to the nearest step": scaled(
        3,
        'mode = "nearest", coordinate_transformation_mode = "align_corners", nearest_mode = "floor"',
        finds="PAD102 Resize",
        claims="3*T finite; finite",
    ),
    "corners aligned, to half": scaled(
        0.5,
        'mode = "linear", coordinate_transformation_mode = "align_corners"',
        finds="PAD102 Resize",
        claims="T//2 finite; finite",
        first="T=2",
    ),
    "corners aligned, of rows": Example(
        'c = CumSum (x, time) y = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (c, , s)',
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "float[3] s = {1, 1, 2}, int64 time = {2}",
        rows=0,
        finds="PAD102 Resize",
        claims="2*T finite; finite",
    ),
    "corners aligned, beside features that are resized too": Example(
        'y = Resize <mode = "linear", coordinate_transformation_mode = "align_corners"> (x, , s)',
        "float[1, 1, U, 6] y",
        "float[1, 1, T, 3] x",
        "float[4] s = {1, 1, 2, 2}",
        refused="Resize of several axes to sizes of their own",
    ),
    "a transform of its own": scaled(
        2,
        'mode = "linear", coordinate_transformation_mode = "half_pixel_symmetric"',
        refused="Resize with half_pixel_symmetric over time",
    ),
    "as it is": scaled(1, 'mode = "nearest"', claims="T finite; finite"),
    "of what may be infinite": Example(
        'e = Exp (x) y = Resize <mode = "linear"> (e, , s)',
        constants="float[3] s = {1, 1, 2}",
        finds="PAD102 Resize",
        claims="2*T any; 0..inf; any",
        harmless="PAD102",
    ),
    "features": Example(
        'y = Resize <mode = "nearest"> (x, , s)',
        "float[1, 4, T] y",
        constants="float[3] s = {1, 2, 1}",
        claims="T finite; finite; image",
    ),
    "features of zeros": Example(
        'p = Pad (x, pads) y = Resize <mode = "nearest"> (p, , s)',
        "float[1, 4, U] y",
        constants="float[3] s = {1, 2, 1}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 0; finite",
    ),
    "features to a size": Example(
        'z = Shape <start = 2> (x) q = Concat <axis = 0> (one, six, z) y = Resize <mode = "nearest"> (x, , , q)',
        "float[1, 6, T] y",
        constants="int64[1] one = {1}, int64[1] six = {6}",
        claims="T finite; finite; image",
    ),
    "to twice the size": Example(
        "z = Shape <start = 2> (x) d = Mul (z, two) q = Concat <axis = 0> (one, two, d) y = Resize <mode = "
        '"nearest"> (x, , , q)',
        constants="int64[1] one = {1}, int64[1] two = {2}",
        claims="2*T finite; finite",
    ),
    "to one more": Example(
        "z = Shape <start = 2> (x) d = Add (z, two) q = Concat <axis = 0> (one, two, d) y = Resize <mode = "
        '"nearest"> (x, , , q)',
        constants="int64[1] one = {1}, int64[1] two = {2}",
        finds="PAD102 Resize",
        claims="T+2 finite; finite",
    ),
    "to a constant size": Example(
        'y = Resize <mode = "nearest"> (x, , , q)',
        "float[1, 2, 9] y",
        constants="int64[3] q = {1, 2, 9}",
        finds="PAD102 Resize",
        claims="finite",
    ),
    "an empty list of scales": Example(
        "z = Shape <start = 2> (x) d = Mul (z, two) q = Concat <axis = 0> (one, two, d) y = Resize <mode = "
        '"nearest"> (x, , none, q)',
        constants="int64[1] one = {1}, int64[1] two = {2}, float[0] none = {}",
        claims="2*T finite; finite",
    ),
    "listed axes": Example(
        'y = Resize <mode = "nearest", axes = [2]> (x, , s)', constants="float[1] s = {2}", claims="2*T finite; finite"
    ),
    "Upsample": Example(
        'y = Upsample <mode = "nearest"> (x, s)',
        "float[1, 2, U] y",
        constants="float[3] s = {1, 1, 2}",
        opset=11,
        refused="node 'y' (Upsample) is not an operator of ONNX opset 11",
    ),
    "rows": Example(
        'y = Resize <mode = "linear"> (x, , s)',
        "float[batch, 2, U] y",
        "float[batch, 2, T] x",
        "float[3] s = {1, 1, 2}",
        rows=0,
        finds="PAD102 Resize",
        claims="2*T finite; finite",
        harmless="PAD102",
    ),
    "an image": Example(
        'y = Resize <mode = "linear"> (x, , s)',
        "float[1, 2, U, V] y",
        "float[1, 2, T, 4] x",
        "float[4] s = {1, 1, 2, 2}",
        finds="PAD102 Resize",
        claims="2*T finite; finite",
        harmless="PAD102",
    ),
    **{
        f"to a size of its own, {transform}, {name}": to_size(
            f'coordinate_transformation_mode = "{transform}", {kind}',
            finds="PAD102 Resize",
            claims="T+5 finite; finite",
        )
        for transform in ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")
        for name, kind in {
            "linear": 'mode = "linear"',
            "nearest below": 'mode = "nearest", nearest_mode = "floor"',
            "nearest above": 'mode = "nearest", nearest_mode = "ceil"',
            "nearest": 'mode = "nearest", nearest_mode = "round_prefer_floor"',
            "nearest, halves up": 'mode = "nearest", nearest_mode = "round_prefer_ceil"',
        }.items()
    },
    "to a size of its own, of rows": to_size(
        'mode = "linear"', rows=0, finds="PAD102 Resize", claims="T+5 finite; finite", batch="batch"
    ),
    "to a size of its own, nearest, of rows": to_size(
        'mode = "nearest", nearest_mode = "floor"',
        rows=0,
        finds="PAD102 Resize",
        claims="T+5 finite; finite",
        batch="batch",
    ),
    "to a number of steps": Example(
        'c = CumSum (x, time) y = Resize <mode = "linear"> (c, , , s)',
        "float[1, 2, 7] y",
        constants="int64[3] s = {1, 2, 7}, int64 time = {2}",
        finds="PAD102 Resize",
        claims="finite",
    ),
    **{
        f"to half a size, {transform}": Example(
            "c = CumSum (x, time) z = Shape <start = 2> (x) m = Add (z, one) h = Div (m, two) "
            "q = Concat <axis = 0> (one, two, h) "
            f'y = Resize <mode = "linear", coordinate_transformation_mode = "{transform}"> (c, , , q)',
            constants="int64[1] one = {1}, int64[1] two = {2}, int64 time = {2}",
            finds="PAD102 Resize",
            claims="(T+1)//2 finite; finite",
        )
        for transform in ("pytorch_half_pixel", "align_corners")
    },
    **{
        f"to a size of its own, {rounding}, of rows": to_size(
            f'mode = "nearest", nearest_mode = "{rounding}"',
            rows=0,
            finds="PAD102 Resize",
            claims="T+5 finite; finite",
            batch="batch",
        )
        for rounding in ("round_prefer_floor", "round_prefer_ceil")
    },
    "to a size of its own, cubic": to_size('mode = "cubic"', refused="the scale depends on the length"),
    "to the size of another input": Example(
        "b = Shape <end = 2> (x) v = Shape <start = 2> (z) s = Concat <axis = 0> (b, v) "
        'r = Resize <mode = "linear"> (x, , , s) y = Add (r, z)',
        "float[1, 2, V] y",
        "float[1, 2, T] x, float[1, 2, V] z",
        finds="PAD102 Resize",
        claims="V finite; finite",
    ),
    **{
        f"to one step, {transform}": Example(
            f'c = CumSum (x, time) y = Resize <mode = "linear", coordinate_transformation_mode = "{transform}"> '
            "(c, , , s)",
            "float[1, 2, 1] y",
            constants="int64[3] s = {1, 2, 1}, int64 time = {2}",
            finds="PAD102 Resize",
            claims="finite",
            harmless="PAD102" if transform in ("asymmetric", "pytorch_half_pixel", "align_corners") else "",
        )
        for transform in ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners")
    },
    "an image of two lengths, its first to a size of its own": Example(
        "p = Pad (x, pads) b = Shape <end = 2> (p) t = Shape <start = 2, end = 3> (p) v = Shape <start = 3> (p) "
        "u = Add (t, five) s = Concat <axis = 0> (b, u, v) "
        'y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> '
        "(p, , , s)",
        "float[1, 2, M, N] y",
        "float[1, 2, T, V] x",
        "int64[8] pads = {0, 0, 0, 0, 0, 0, 0, 2}, int64[1] five = {5}",
        finds="PAD102 Pad, PAD102 Resize",
        claims="T+5 finite; V+2 0; finite",
    ),
    "an image of two lengths, its second to a size of its own": Example(
        "p = Pad (x, pads) b = Shape <end = 3> (p) t = Shape <start = 3> (p) "
        "u = Add (t, five) s = Concat <axis = 0> (b, u) "
        'y = Resize <mode = "nearest", nearest_mode = "floor", coordinate_transformation_mode = "asymmetric"> '
        "(p, , , s)",
        "float[1, 2, M, N] y",
        "float[1, 2, T, V] x",
        "int64[8] pads = {0, 0, 0, 0, 0, 0, 2, 0}, int64[1] five = {5}",
        finds="PAD102 Pad, PAD102 Resize",
        claims="T+2 0; V+5 finite; finite",
    ),
}


@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil"])
@pytest.mark.parametrize("transform", ["asymmetric", "half_pixel"])
def test_beside_the_middle_it_rounds_as_the_runtime_does(rounding: str, transform: str, tmp_path: Path) -> None:
    """Of 7 steps to 38 the middle is missed by one digit and counts, of 33 to 78 by more and does not."""
    native, padded = tmp_path / "native.onnx", tmp_path / "padded.onnx"
    text = f"""<ir_version: 9, opset_import: ["" : 18]> g (float[1, 1, T] x, float[1, 1, V] z) => (float[1, 1, V] y) {{
      s = Shape (z) y = Resize <mode = "nearest", nearest_mode = "{rounding}",
      coordinate_transformation_mode = "{transform}"> (x, , , s) }}"""
    onnx.save(onnx.parser.parse_model(text), native)
    paddable.convert(native, ["x:2=T", "z:2=V"], containers=["T=40,V=80"], out=padded, gate_lengths=1)
    before, after = ort.InferenceSession(native), ort.InferenceSession(padded)
    for steps, wanted in [(7, 2), (7, 38), (33, 78), (26, 28), (14, 19), (14, 39), (28, 62), (30, 9), (36, 21)]:
        x, z = np.arange(steps, dtype="f4"), np.zeros(wanted, "f4")
        (expected,) = before.run(["y"], {"x": x[None, None], "z": z[None, None]})
        box = {"x": np.pad(x, (0, 40 - steps))[None, None], "z": np.zeros((1, 1, 80), "f4")}
        (found,) = after.run(["y"], {**box, "ilens_T": np.array([steps]), "ilens_V": np.array([wanted])})
        assert found[0, 0, :wanted].tolist() == expected[0, 0].tolist()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()
