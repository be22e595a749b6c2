"""Normalisation: framewise forms, and statistics over time of channels, groups and rows."""

from __future__ import annotations

import pytest

from ..example import Example
from ..given import answer_to, table
from ..native import assert_exact

X = "float[1, T, 4] x"
Y = "float[1, T, 4] y"
OVER = "float[1, 4, T] x"
OUT = "float[1, 4, T] y"
PADDED = "p = Pad (x, pads)"

EXAMPLES = {
    "layers": Example("y = LayerNormalization (x, w, b)", Y, X, "float[4] w, float[4] b", claims="T finite; finite"),
    "layers, their mean unread": Example(
        "y, m = LayerNormalization (x, w, b)", Y, X, "float[4] w, float[4] b", claims="T finite; finite"
    ),
    "layers and their mean": Example(
        "y, m = LayerNormalization (x, w, b)",
        f"{Y}, float[1, T, 1] m",
        X,
        "float[4] w, float[4] b",
        refused="LayerNormalization with used statistics outputs",
    ),
    "layers over two axes": Example(
        "y = LayerNormalization <axis = 2> (x, w)",
        "float[1, T, 2, 3] y",
        "float[1, T, 2, 3] x",
        "float[2, 3] w",
        claims="T finite; finite",
    ),
    "layers over time": Example(
        "y = LayerNormalization <axis = 1> (x, w)",
        Y,
        X,
        "float[9, 4] w",
        refused="LayerNormalization over time needs weights of the length",
    ),
    "layers of what may be infinite": Example(
        "e = Exp (x) y = LayerNormalization (e, w)", Y, X, "float[4] w", claims="T any; any"
    ),
    "layers of rows": Example(
        "y = LayerNormalization (x, w)",
        "float[batch, T, 4] y",
        "float[batch, T, 4] x",
        "float[4] w",
        rows=0,
        claims="T finite; finite",
    ),
    "root mean squares": Example(
        "y = RMSNormalization (x, w)", Y, X, "float[4] w", opset=23, claims="T finite; finite"
    ),
    "root mean squares of the runtime": Example(
        "y = SimplifiedLayerNormalization (x, w)", Y, X, "float[4] w", claims="T finite; finite"
    ),
    "root mean squares of the runtime's own domain": Example(
        "y = com.microsoft.SimplifiedLayerNormalization (x, w)",
        Y,
        X,
        "float[4] w",
        claims="T finite; finite",
        native=False,
    ),
    "root mean squares of the runtime over time": Example(
        "y = SimplifiedLayerNormalization <axis = 1> (x, w)",
        Y,
        X,
        "float[9, 4] w",
        refused="LayerNormalization over time needs weights of the length",
    ),
    "a sum and its layers": Example(
        "y, , , s = com.microsoft.SkipLayerNormalization (x, x, w, b)",
        f"{Y}, float[1, T, 4] s",
        X,
        "float[4] w, float[4] b",
        claims="T finite; finite",
    ),
    "a sum and its root mean squares": Example(
        "y = com.microsoft.SkipSimplifiedLayerNormalization (x, x, w)", Y, X, "float[4] w", claims="T finite; finite"
    ),
    "a sum and its layers over time": Example(
        "t = Transpose <perm = [0, 2, 1]> (x) y = com.microsoft.SkipLayerNormalization (t, t, w)",
        "float[1, 4, T] y",
        X,
        "float[9] w",
        refused="SkipLayerNormalization over time",
    ),
    "a sum with its mean": Example(
        "y, m = com.microsoft.SkipLayerNormalization (x, x, w)",
        f"{Y}, float[1, T, 1] m",
        X,
        "float[4] w",
        refused="SkipLayerNormalization with used statistics outputs",
    ),
    "a sum of what may be infinite": Example(
        "e = Exp (x) y = com.microsoft.SkipLayerNormalization (x, e, w)", Y, X, "float[4] w", claims="T any; any"
    ),
    "batches": Example(
        "y = BatchNormalization (x, w, b, m, v)",
        OUT,
        OVER,
        "float[4] w, float[4] b, float[4] m, float[4] v = {1, 2, 0.5, 3}",
        claims="T finite; finite",
    ),
    "batches of zeros": Example(
        f"{PADDED} y = BatchNormalization (p, w, b, m, v)",
        "float[1, 4, U] y",
        OVER,
        "float[4] w, float[4] b, float[4] m, float[4] v = {1, 2, 0.5, 3}, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 finite; finite",
    ),
    "batches over time": Example(
        "y = BatchNormalization (x, w, b, m, v)",
        Y,
        X,
        "float[9] w, float[9] b, float[9] m, float[9] v",
        refused="BatchNormalization over time as channels",
    ),
    "batches in training": Example(
        "y, n, u = BatchNormalization <training_mode = 1> (x, w, b, m, v)",
        OUT,
        OVER,
        "float[4] w, float[4] b, float[4] m, float[4] v",
        refused="BatchNormalization in training mode",
    ),
    "instances": Example(
        "y = InstanceNormalization <epsilon = 0.1> (x, w, b)",
        OUT,
        OVER,
        "float[4] w, float[4] b",
        finds="PAD101 InstanceNormalization",
        claims="T finite; finite",
    ),
    "instances behind a convolution": Example(
        "c = Conv <pads = [1, 1]> (x, k) n = InstanceNormalization <epsilon = 0.3> (c, w, b) "
        "y = Conv <pads = [1, 1]> (n, k)",
        OUT,
        OVER,
        "float[4, 4, 3] k, float[4] w, float[4] b",
        finds="PAD102 Conv, PAD101 InstanceNormalization, PAD102 Conv",
        claims="T finite; finite",
    ),
    "instances of an image": Example(
        "y = InstanceNormalization (x, w, b)",
        "float[1, 2, T, 3] y",
        "float[1, 2, T, 3] x",
        "float[2] w, float[2] b",
        finds="PAD101 InstanceNormalization",
        claims="T finite; finite",
    ),
    "instances of an image of two lengths": Example(
        "y = InstanceNormalization (x, w, b)",
        "float[1, 2, T, V] y",
        "float[1, 2, T, V] x",
        "float[2] w, float[2] b",
        finds="PAD101 InstanceNormalization",
        claims="T finite; V finite; finite",
    ),
    "instances of features": Example(
        "t = Transpose <perm = [1, 0, 2]> (x) n = InstanceNormalization (t, w, b) y = Transpose <perm = [1, 0, 2]> (n)",
        "float[1, 4, T] y",
        OVER,
        "float[1] w, float[1] b",
        finds="PAD101 InstanceNormalization",
        claims="T finite; finite",
    ),
    "instances of what may be infinite": Example(
        "e = Exp (x) y = InstanceNormalization <epsilon = 0.1> (e, w, b)",
        OUT,
        OVER,
        "float[4] w, float[4] b",
        finds="PAD101 InstanceNormalization",
        claims="T any; any",
    ),
    "instances of rows": Example(
        "y = InstanceNormalization <epsilon = 0.1> (x, w, b)",
        "float[batch, 4, T] y",
        "float[batch, 4, T] x",
        "float[4] w, float[4] b",
        rows=0,
        finds="PAD101 InstanceNormalization",
        claims="T finite; finite",
    ),
    "channels that vary": Example(
        "y = InstanceNormalization (x, w, b)",
        Y,
        X,
        "float[9] w, float[9] b",
        refused="the channels vary with the length",
    ),
    "groups": Example(
        "y = GroupNormalization <num_groups = 2, epsilon = 0.2> (x, w, b)",
        OUT,
        OVER,
        "float[2] w, float[2] b",
        refused="node 'y' (GroupNormalization) is not an operator of ONNX opset 1",
    ),
    "groups with a scale for each channel": Example(
        "y = GroupNormalization <num_groups = 2> (x, w, b)",
        OUT,
        OVER,
        "float[4] w, float[4] b",
        opset=21,
        finds="PAD101 GroupNormalization",
        claims="T finite; finite",
    ),
    "one group": Example(
        "y = GroupNormalization <num_groups = 1> (x, w, b)",
        OUT,
        OVER,
        "float[4] w, float[4] b",
        opset=21,
        finds="PAD101 GroupNormalization",
        claims="T finite; finite",
    ),
    "groups of an image": Example(
        "y = GroupNormalization <num_groups = 2> (x, w, b)",
        "float[1, 4, T, 3] y",
        "float[1, 4, T, 3] x",
        "float[4] w, float[4] b",
        opset=21,
        finds="PAD101 GroupNormalization",
        claims="T finite; finite",
    ),
    "a norm of one": Example("y = LpNormalization <axis = 1> (x)", OUT, OVER, claims="T any; any"),
    "a norm of one over time": Example(
        "y = LpNormalization <p = 1> (x)", OUT, OVER, finds="PAD101 LpNormalization", claims="T any; any"
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


@pytest.mark.parametrize("p", [1, 2])
def test_a_channel_divided_by_its_norm(p: int) -> None:
    assert_exact(
        f"g (float[1, 3, T] x) => (float[1, 3, T] y) {{ y = LpNormalization <axis = 2, p = {p}> (x) }}",
        "x:2=T",
        needs=["PAD101"],
    )


@pytest.mark.parametrize("opset", [13, 17, 18])
@pytest.mark.parametrize("axes", ["axes = [2]", "axes = [0, 1, 2]"])
def test_mean_and_variance_over_time(axes: str, opset: int) -> None:
    assert_exact(
        f"""g (float[1, 3, T] x) => (float[1, 3, T] y) <float far = {{5.0}}> {{
           b = Add (x, far) y = MeanVarianceNormalization <{axes}> (b) }}""",
        "x:2=T",
        opset=opset,
        needs=["PAD101"],
    )  # fmt: skip


def test_mean_and_variance_of_an_image() -> None:
    assert_exact(
        "g (float[1, 2, 3, T] x) => (float[1, 2, 3, T] y) { y = MeanVarianceNormalization (x) }",
        "x:3=T",
        needs=["PAD101"],
    )


ANSWERS = table("""
LayerNormalization(T, 3 | 3 | 3) => T, 3; finite; finite
LayerNormalization(T, 3 | 3) => T, 3; finite; finite
LayerNormalization(T, 3; any | 3) => T, 3; any; finite
LayerNormalization(T, 3; 0..1 masked | 3) => T, 3; finite; finite
LayerNormalization(T, 3 | 3; infinite any) => T, 3; any
LayerNormalization(T, 3 | 3 | 3; infinite) => T, 3; any
LayerNormalization(T, 3; infinite any | 3) => T, 3; any
LayerNormalization(3, T | 3) axis=0 => refused: LayerNormalization over time needs weights of the length
LayerNormalization(3, T | 3) => refused: LayerNormalization over time needs weights of the length
LayerNormalization(T, 3, 4 | 3) axis=1 => T, 3, 4; finite; finite
LayerNormalization(T, 3, 4 | 3) axis=-2 => T, 3, 4; finite; finite
LayerNormalization(3, T, 4 | 3) axis=-2 => refused: LayerNormalization over time needs weights of the length
LayerNormalization(T, 3, 4 | 3) axis=-3 => refused: LayerNormalization over time needs weights of the length
LayerNormalization(batch, 3 | 3) axis=0 => refused: a normalisation over the batch mixes rows of different lengths
LayerNormalization(batch, 3 | 3) axis=1 => batch, 3; finite
LayerNormalization(T, 3 | 3) outputs=3 => T, 3; finite; finite & none & none
LayerNormalization(T, 3; infinite | 3) => T, 3; finite
RMSNormalization(T, 3 | 3) => T, 3; finite; finite
BatchNormalization(1, 3, T | 3 | 3 | 3 | 3) => 1, 3, T; finite; finite
BatchNormalization(1, 3, T; any | 3 | 3 | 3 | 3) => 1, 3, T; any; finite
BatchNormalization(1, 3, T; masked 0 | 3 | 3 | 3 | 3) => 1, 3, T; finite; finite
BatchNormalization(1, 3, T | 3; infinite | 3 | 3 | 3) => 1, 3, T; any
BatchNormalization(1, 3, T | 3 | 3 | 3 | 3; infinite) => 1, 3, T; any
BatchNormalization(1, T, 3 | 3 | 3 | 3 | 3) => refused: BatchNormalization over time as channels
BatchNormalization(T | 3 | 3 | 3 | 3) => T; finite; finite
BatchNormalization(T, 3 | 3 | 3 | 3 | 3) => T, 3; finite; finite
BatchNormalization(1, 3, T | 3 | 3 | 3 | 3) training_mode=1 => refused: BatchNormalization in training mode
BatchNormalization(1, 3, T | 3 | 3 | 3 | 3) outputs=2 => refused: BatchNormalization in training mode
BatchNormalization(1, 3, T; infinite | 3 | 3 | 3 | 3) => 1, 3, T; finite
InstanceNormalization(1, 3, T | 3 | 3)
    => 1, 3, T; finite; finite | MaskedNormalisation(PAD101; 1; T; 3; 0; 1e-05; False)
InstanceNormalization(1, 3, T; any | 3 | 3)
    => 1, 3, T; finite; finite | MaskedNormalisation(PAD101; 1; T; 3; 0; 1e-05; False)
InstanceNormalization(1, 3, T; any | 3; infinite | 3)
    => 1, 3, T; any | MaskedNormalisation(PAD101; 1; T; 3; 0; 1e-05; False)
InstanceNormalization(1, 3, T; infinite any | 3 | 3)
    => 1, 3, T; any | MaskedNormalisation(PAD101; 1; T; 3; 0; 1e-05; False)
InstanceNormalization(1, 3, T, U | 3 | 3) epsilon=0.5
    => 1, 3, T, U; finite finite; finite | MaskedNormalisation(PAD101; 1 2; T U; 3; 0; 0.5; False)
InstanceNormalization(1, 3, T x 4 | 3 | 3)
    => 1, 3, T x 4; finite; finite | MaskedNormalisation(PAD101; 1; T 4; 3; 0; 1e-05; False)
InstanceNormalization(T, 3, 4; any | 3 | 3) => T, 3, 4; any; finite
InstanceNormalization(T, 3, 4 | 3 | 3) => T, 3, 4; finite; finite
InstanceNormalization(T, 3, U; any | 3 | 3)
    => T, 3, U; any finite; finite | MaskedNormalisation(PAD101; 2; U; 3; 0; 1e-05; False)
InstanceNormalization(1, T, 4 | 3 | 3) => refused: the channels vary with the length
InstanceNormalization(batch, 3, T | 3 | 3)
    => batch, 3, T; finite; finite | MaskedNormalisation(PAD101; 2; T; 3; 0; 1e-05; False)
InstanceNormalization(1, 3, batch | 3 | 3) => refused: a normalisation over the batch mixes rows of different lengths
InstanceNormalization(1, 1, T | 3 | 3)
    => 1, 1, T; finite; finite | MaskedNormalisation(PAD101; 0; T; 1; 0; 1e-05; False)
InstanceNormalization(1, 3, T; infinite | 3 | 3)
    => 1, 3, T; any | MaskedNormalisation(PAD101; 1; T; 3; 0; 1e-05; False)
InstanceNormalization(U, 3, T; any | 3 | 3)
    => U, 3, T; any finite; finite | MaskedNormalisation(PAD101; 2; T; 3; 0; 1e-05; False)
GroupNormalization(1, 4, T | 2 | 2) num_groups=2
    => 1, 4, T; finite; finite | MaskedNormalisation(PAD101; 1; T; 4; 2; 1e-05; True)
GroupNormalization(1, 4, T; any masked | 2 | 2) num_groups=2 epsilon=0.25
    => 1, 4, T; finite; finite | MaskedNormalisation(PAD101; 1; T; 4; 2; 0.25; True)
GroupNormalization(1, T, 4 | 2 | 2) num_groups=2 => refused: the channels vary with the length
GroupNormalization(1, batch, 4 | 2 | 2) num_groups=2
    => refused: a normalisation over the batch mixes rows of different lengths
GroupNormalization(T, 4, 3; any | 2 | 2) num_groups=2 => T, 4, 3; any; finite
GroupNormalization(1, 4, T | 4 | 4) num_groups=2 opset=21
    => 1, 4, T; finite; finite | MaskedNormalisation(PAD101; 1; T; 4; 2; 1e-05; False)
GroupNormalization(1, 4, T | 4; infinite | 4) num_groups=2 opset=21
    => 1, 4, T; any | MaskedNormalisation(PAD101; 1; T; 4; 2; 1e-05; False)
LpNormalization(3, T) => 3, T; any | Fill(PAD101; 0; 1; 0.0)
LpNormalization(T, 3) => T, 3; any
LpNormalization(T, 3) axis=0 => T, 3; any | Fill(PAD101; 0; 0; 0.0)
LpNormalization(3, T; 0) => 3, T; any
LpNormalization(3, T; masked 0..1) axis=-2 => 3, T; any
LpNormalization(3, T, 4) axis=1 => 3, T, 4; any | Fill(PAD101; 0; 1; 0.0)
LpNormalization(3, T, 4) axis=-2 => 3, T, 4; any | Fill(PAD101; 0; 1; 0.0)
LpNormalization(3, batch) => refused: a normalisation over the batch mixes rows of different lengths
LpNormalization(batch, 3) => batch, 3
SkipLayerNormalization(T, 3 | T, 3 | 3) => T, 3; finite; finite
SkipLayerNormalization(T, 3 | T, 3 | 3) outputs=4 => T, 3; finite; finite & none & none & T, 3; finite; finite
SkipLayerNormalization(T, 3 | T, 3; masked | 3) outputs=4
    => T, 3; finite; finite & none & none & T, 3; finite; finite masked
SkipLayerNormalization(T, 3; masked | T, 3 | 3) outputs=4
    => T, 3; finite; finite & none & none & T, 3; finite; finite masked
SkipLayerNormalization(T, 3; any | T, 3 | 3) outputs=2 => T, 3; any; finite & none
SkipLayerNormalization(T, 3 | T, 3; any | 3) => T, 3; any; finite
SkipLayerNormalization(T, 3 | T, 3 | 3; infinite | 3) => T, 3; any
SkipLayerNormalization(T, 3 | T, 3; infinite | 3 | 3) => T, 3; finite
SkipLayerNormalization(T, 3 | T, 3 | 3 | 3; infinite) => T, 3; any
SkipLayerNormalization(3, T | 3, T | 3) => refused: SkipLayerNormalization over time
SkipLayerNormalization(3, batch | 3, batch | 3) => refused: SkipLayerNormalization over time
SkipLayerNormalization(T, 3; infinite | T, 3 | 3) => T, 3; finite
SkipLayerNormalization(T, 3 | 1, 3 | 3) => T, 3; finite; finite
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """Each step by itself, or over the valid steps."""
    assert answer_to(question) == expected
