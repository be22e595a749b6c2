"""Recurrent layers: what passes, what needs the lengths of the rows, and what is refused."""

from __future__ import annotations

import pytest

from paddable.padding.rewrite.rewrite import rewrite

from ..example import Example
from ..given import answer_to, table
from ..native import assert_exact, verdict_of


def layer(kind: str, gates: int, *, directions: int = 1) -> str:
    """Constants of a layer with 2 features and 3 hidden."""
    rows = f"{directions}, {3 * gates}"
    return f"float[{rows}, 2] w, float[{rows}, 3] r, float[{directions}, {6 * gates}] b"


SEQUENCE = "float[1, T, 3] y"
STATE = "float[1, 1, 3] y"
IN = "t = Transpose <perm = [2, 0, 1]> (x)"
OUT = "s = Squeeze (a, one) y = Transpose <perm = [1, 0, 2]> (s)"
BACK = "y = Transpose <perm = [1, 0, 2]> (h)"
ONE = "int64[1] one = {1}"

EXAMPLES = {
    "LSTM forward": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a = LSTM <hidden_size = 3> (t, w, r, b) s = Squeeze (a, one) y = "
        "Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 12, 2] w, float[1, 12, 3] r, float[1, 24] b, int64[1] one = {1}",
        claims="T finite; -1..1; finite",
    ),
    "GRU forward": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a = GRU <hidden_size = 3> (t, w, r, b) s = Squeeze (a, one) y = "
        "Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 9, 2] w, float[1, 9, 3] r, float[1, 18] b, int64[1] one = {1}",
        claims="T finite; -1..1; finite",
    ),
    "RNN forward": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a = RNN <hidden_size = 3> (t, w, r, b) s = Squeeze (a, one) y = "
        "Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 3, 2] w, float[1, 3, 3] r, float[1, 6] b, int64[1] one = {1}",
        claims="T finite; -1..1; finite",
    ),
    "LSTM and its state": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a, h = LSTM <hidden_size = 3> (t, w, r, b) y = Transpose <perm = "
        "[1, 0, 2]> (h)",
        outputs="float[1, 1, 3] y",
        constants="float[1, 12, 2] w, float[1, 12, 3] r, float[1, 24] b",
        finds="PAD104 LSTM",
        claims="finite",
    ),
    "GRU and its state": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a, h = GRU <hidden_size = 3> (t, w, r, b) y = Transpose <perm = "
        "[1, 0, 2]> (h)",
        outputs="float[1, 1, 3] y",
        constants="float[1, 9, 2] w, float[1, 9, 3] r, float[1, 18] b",
        finds="PAD104 GRU",
        claims="finite",
    ),
    "RNN and its state": Example(
        "t = Transpose <perm = [2, 0, 1]> (x) a, h = RNN <hidden_size = 3> (t, w, r, b) y = Transpose <perm = "
        "[1, 0, 2]> (h)",
        outputs="float[1, 1, 3] y",
        constants="float[1, 3, 2] w, float[1, 3, 3] r, float[1, 6] b",
        finds="PAD104 RNN",
        claims="finite",
    ),
    "LSTM backward": Example(
        't = Transpose <perm = [2, 0, 1]> (x) a = LSTM <hidden_size = 3, direction = "reverse"> (t, w, r, b) s = '
        "Squeeze (a, one) y = Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 12, 2] w, float[1, 12, 3] r, float[1, 24] b, int64[1] one = {1}",
        finds="PAD104 LSTM",
        claims="T finite; -1..1; finite",
    ),
    "GRU backward": Example(
        't = Transpose <perm = [2, 0, 1]> (x) a = GRU <hidden_size = 3, direction = "reverse"> (t, w, r, b) s = '
        "Squeeze (a, one) y = Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 9, 2] w, float[1, 9, 3] r, float[1, 18] b, int64[1] one = {1}",
        finds="PAD104 GRU",
        claims="T finite; -1..1; finite",
    ),
    "RNN backward": Example(
        't = Transpose <perm = [2, 0, 1]> (x) a = RNN <hidden_size = 3, direction = "reverse"> (t, w, r, b) s = '
        "Squeeze (a, one) y = Transpose <perm = [1, 0, 2]> (s)",
        outputs="float[1, T, 3] y",
        constants="float[1, 3, 2] w, float[1, 3, 3] r, float[1, 6] b, int64[1] one = {1}",
        finds="PAD104 RNN",
        claims="T finite; -1..1; finite",
    ),
    "an LSTM and its cell": Example(
        f"{IN} a, s, h = LSTM <hidden_size = 3> (t, w, r, b) {BACK}",
        STATE,
        constants=layer("LSTM", 4),
        finds="PAD104 LSTM",
        claims="finite",
    ),
    "an LSTM in both directions": Example(
        f'{IN} a = LSTM <hidden_size = 3, direction = "bidirectional"> (t, w, r, b) y = Transpose <perm = [2, 0, '
        f"1, 3]> (a)",
        "float[1, T, 2, 3] y",
        constants=layer("LSTM", 4, directions=2),
        finds="PAD104 LSTM",
        claims="T finite; -1..1; finite",
    ),
    "an LSTM from a given state": Example(
        f"{IN} z = GlobalAveragePool (x) k = Squeeze (z, two) j = MatMul (k, m) i = Unsqueeze (j, zero) "
        f"a = LSTM <hidden_size = 3> (t, w, r, b, , i, i) {OUT}",
        SEQUENCE,
        constants=f"{layer('LSTM', 4)}, {ONE}, int64[1] two = {{2}}, int64[1] zero = {{0}}, float[2, 3] m",
        finds="PAD101 GlobalAveragePool",
        claims="T finite; -1..1; finite",
    ),
    "an RNN without bounds": Example(
        f'{IN} a = RNN <hidden_size = 3, activations = ["Relu"]> (t, w, r, b) {OUT}',
        SEQUENCE,
        constants=f"{layer('RNN', 1)}, {ONE}",
        claims="T finite; finite",
    ),
    "an RNN of what may be infinite": Example(
        f"e = Exp (x) t = Transpose <perm = [2, 0, 1]> (e) a = RNN <hidden_size = 3> (t, w, r, b) {OUT}",
        SEQUENCE,
        constants=f"{layer('RNN', 1)}, {ONE}",
        claims="T any; -1..1; any",
    ),
    "an LSTM of what was cut off": Example(
        f"p = Pad (x, pads) t = Transpose <perm = [2, 0, 1]> (p) a = LSTM <hidden_size = 3> (t, w, r, b) {OUT}",
        "float[1, U, 3] y",
        constants=f"{layer('LSTM', 4)}, {ONE}, int64[6] pads = {{0, 0, 0, 0, 0, 2}}",
        finds="PAD102 Pad",
        claims="T+2 finite; -1..1; finite",
    ),
    "of features that vary": Example(
        "t = Transpose <perm = [1, 0, 2]> (x) a = RNN <hidden_size = 3> (t, w, r) y = Squeeze (a, one)",
        "float[2, 1, 3] y",
        constants=f"float[1, 3, 9] w, float[1, 3, 3] r, {ONE}",
        refused="the features vary with the length",
    ),
    "of rows": Example(
        f'{IN} a = GRU <hidden_size = 3, direction = "reverse"> (t, w, r, b) {OUT}',
        "float[batch, T, 3] y",
        "float[batch, 2, T] x",
        f"{layer('GRU', 3)}, {ONE}",
        rows=0,
        finds="PAD104 GRU",
        claims="T finite; -1..1; finite",
    ),
    "of rows, forward": Example(
        f"{IN} a, h = GRU <hidden_size = 3> (t, w, r, b) {BACK}",
        "float[batch, 1, 3] y",
        "float[batch, 2, T] x",
        layer("GRU", 3),
        rows=0,
        finds="PAD104 GRU",
        claims="finite",
    ),
    "of steps in pairs, backward": Example(
        "a = Transpose <perm = [0, 2, 1]> (x) t = Reshape (a, single) "
        'b = GRU <hidden_size = 3, direction = "reverse"> (t, w, r) s = Squeeze (b, one) '
        "y = Transpose <perm = [1, 0, 2]> (s)",
        "float[1, U, 3] y",
        constants=f"float[1, 9, 1] w, float[1, 9, 3] r, {ONE}, int64[3] single = {{-1, 1, 1}}",
        finds="PAD104 GRU",
        claims="2*T finite; -1..1; finite",
    ),
    "of features as rows, backward": Example(
        't = Transpose <perm = [2, 1, 0]> (x) b = GRU <hidden_size = 3, direction = "reverse"> (t, w, r) '
        "s = Squeeze (b, one) u = Transpose <perm = [1, 0, 2]> (s) y = Unsqueeze (u, zero)",
        "float[1, 2, T, 3] y",
        constants=f"float[1, 9, 1] w, float[1, 9, 3] r, {ONE}, int64[1] zero = {{0}}",
        finds="PAD104 GRU",
        claims="T finite; -1..1; finite",
    ),
    "of rows and their features as rows, backward": Example(
        "a = Transpose <perm = [2, 0, 1]> (x) t = Reshape (a, merged) "
        'b = GRU <hidden_size = 3, direction = "reverse"> (t, w, r) s = Squeeze (b, one) '
        "m = Reshape (s, split) y = Transpose <perm = [1, 2, 0, 3]> (m)",
        "float[batch, 2, T, 3] y",
        "float[batch, 2, T] x",
        f"float[1, 9, 1] w, float[1, 9, 3] r, {ONE}, int64[3] merged = {{0, -1, 1}}, int64[4] split = {{0, -1, 2, 3}}",
        rows=0,
        finds="PAD104 GRU",
        claims="T finite; -1..1; finite",
    ),
    "over features, of steps as rows": Example(
        "t = Transpose <perm = [1, 2, 0]> (x) b = GRU <hidden_size = 3> (t, w, r) s = Squeeze (b, one) "
        "u = Transpose <perm = [1, 0, 2]> (s) y = Unsqueeze (u, zero)",
        "float[1, T, 2, 3] y",
        constants=f"float[1, 9, 1] w, float[1, 9, 3] r, {ONE}, int64[1] zero = {{0}}",
        claims="T finite; -1..1; finite",
    ),
    "the state over features, of steps as rows that may be infinite": Example(
        "p = Pad (x, pads) e = Log (p) t = Transpose <perm = [1, 2, 0]> (e) b, y = GRU <hidden_size = 3> (t, w, r)",
        "float[1, U, 3] y",
        constants="float[1, 9, 1] w, float[1, 9, 3] r, int64[6] pads = {0, 0, 0, 0, 0, 2}",
        finds="PAD102 Pad",
        claims="T+2 any; any",
        harmless="PAD102",
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    EXAMPLES[name].check()


WEIGHTS = {"GRU": 3, "LSTM": 4, "RNN": 1}


@pytest.mark.parametrize("op_type", WEIGHTS)
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_sequence_lengths_from_the_shape(op_type: str, direction: str) -> None:
    """In the container they were the container's size, and the final state came from its end."""
    gates, directions = WEIGHTS[op_type], 1 + (direction == "bidirectional")

    def weights(width: int) -> str:
        count = directions * gates * 3 * width
        return f"{{{', '.join(str(round(0.37 * ((7 * i) % 11 - 5), 2)) for i in range(count))}}}"

    assert_exact(
        f"""g (float[1, 4, T] x) => (float[1, T, {directions}, 3] y, float[1, {directions}, 3] yh)
           <float[{directions}, {3 * gates}, 4] w = {weights(4)}, float[{directions}, {3 * gates}, 3] r = {weights(3)},
            float[{directions}, {6 * gates}] b = {weights(2)}> {{
           t = Transpose <perm = [2, 0, 1]> (x) s = Shape <start = 2> (x) lens = Cast <to = 6> (s)
           all, last = {op_type} <hidden_size = 3, direction = "{direction}"> (t, w, r, b, lens)
           y = Transpose <perm = [2, 0, 1, 3]> (all) yh = Transpose <perm = [1, 0, 2]> (last) }}""",
        "x:2=T",
        opset=18,
    )  # fmt: skip


def test_the_lengths_of_one_row_are_one_number() -> None:
    """They are a vector of one element as they are: nothing spreads them over the rows."""
    example = Example(f"{IN} a, h = LSTM <hidden_size = 3> (t, w, r, b) {BACK}", STATE, constants=layer("LSTM", 4))
    assert "Expand" not in {node.op_type for node in rewrite(example.compiled().analysis).graph}


def test_a_product_of_lengths_as_a_number() -> None:
    assert_exact(
        """g (float[1, 4, T] x) => (float[1, 4, T] y, int64[1] n) {
           y = Relu (x) s = Shape <start = 2> (x) n = Mul (s, s) }""",
        "x:2=T",
        opset=18,
    )  # fmt: skip


def test_other_sequence_lengths_are_refused() -> None:
    verdict = verdict_of(
        """g (float[1, 4, T] x) => (float[T, 1, 1, 1] y)
           <float[1, 1, 4] w = {1, 1, 1, 1}, float[1, 1, 1] r = {1}, int32[1] lens = {3}> {
           t = Transpose <perm = [2, 0, 1]> (x) y = RNN <hidden_size = 1> (t, w, r, , lens) }""",
        "x:2=T",
    )  # fmt: skip
    assert verdict.outcome == "refused" and "not the valid length" in verdict.reason


@pytest.mark.parametrize("op_type", WEIGHTS)
def test_equal_nodes_of_which_other_outputs_are_read(op_type: str) -> None:
    """The sequence of one and the state of the other: ONNX Runtime merges them, and mixed up the outputs they lack."""
    gates = WEIGHTS[op_type]

    def weights(name: str, width: int) -> str:
        values = ", ".join(str(round(0.37 * ((7 * i) % 11 - 5), 2)) for i in range(6 * gates * width))
        return f"float[2, {3 * gates}, {width}] {name} = {{{values}}}"

    layer = f'{op_type} <hidden_size = 3, direction = "bidirectional"> (t, w, r)'
    assert_exact(
        f"""g (float[1, 4, T] x) => (float[1, T, 2, 3] y, float[1, 2, 3] yh) <{weights("w", 4)}, {weights("r", 3)}> {{
           t = Transpose <perm = [2, 0, 1]> (x) all, h0 = {layer} s0, last = {layer}
           y = Transpose <perm = [2, 0, 1, 3]> (all) yh = Transpose <perm = [1, 0, 2]> (last) }}""",
        "x:2=T",
        needs=["PAD104"],
    )  # fmt: skip


ANSWERS = table("""
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 outputs=1
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, 1, 4; masked 0 | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, 1, 4; any | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, 1, 3; any; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, 1, 4; infinite any | 1, 9, 4 | 1, 9, 3) hidden_size=3 => T, 1, 1, 3; any; -1..1 & 1, 1, 3 & 1, 1, 3
GRU(T, 1, 4 | 1, 9, 4; infinite | 1, 9, 3) hidden_size=3 => T, 1, 1, 3; any; -1..1 & 1, 1, 3 & 1, 1, 3
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | 1, 18; infinite) hidden_size=3 => T, 1, 1, 3; any; -1..1 & 1, 1, 3 & 1, 1, 3
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | - | 1, 1, 3; infinite) hidden_size=3
    => T, 1, 1, 3; any; -1..1 & 1, 1, 3 & 1, 1, 3
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite | SequenceLengths(PAD104; 4; T; none)
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="bidirectional"
    => T, 2, 1, 3; finite; -1..1; finite & 2, 1, 3; finite & 2, 1, 3; finite | SequenceLengths(PAD104; 4; T; none)
GRU(T, 5, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="bidirectional"
    => T, 2, 5, 3; finite; -1..1; finite & 2, 5, 3; finite & 2, 5, 3; finite | SequenceLengths(PAD104; 4; T; 5)
GRU(T, U, 4; any | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, U, 3; any any; -1..1; finite & 1, U, 3; any; finite & 1, U, 3; any; finite
GRU(T, U, 4; any | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => T, 1, U, 3; any any; -1..1; finite & 1, U, 3; any; finite & 1, U, 3; any; finite |
    SequenceLengths(PAD104; 4; T; U)
GRU(7, U, 4; any | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => 7, 1, U, 3; any; -1..1; finite & 1, U, 3; any; finite & 1, U, 3; any; finite
GRU(T x 2, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => 2*T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T x T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 => refused: padding is interleaved with valid steps on this axis
GRU(T, batch, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => T, 1, batch, 3; finite; -1..1; finite & 1, batch, 3; finite & 1, batch, 3; finite |
    SequenceLengths(PAD104; 4; T; batch)
GRU(T, 1, T | 1, 9, 4 | 1, 9, 3) hidden_size=3 => refused: the features vary with the length
GRU(T, 1, batch | 1, 9, 4 | 1, 9, 3) hidden_size=3 => refused: the features vary with the length
GRU(7, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => 7, 1, 1, 3; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 layout=1 => refused: GRU with layout 1
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3 activations=["Relu"]
    => T, 1, 1, 3; finite; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | = T) hidden_size=3
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite | UseLength(PAD106; 4; T; 1)
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | = T) hidden_size=3 direction="reverse"
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite | UseLength(PAD106; 4; T; 1)
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | = T-1) hidden_size=3
    => refused: GRU with sequence lengths that are not the valid length
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | = 3) hidden_size=3
    => refused: GRU with sequence lengths that are not the valid length
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | 1; int32) hidden_size=3
    => refused: GRU with sequence lengths that are not the valid length
GRU(7, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | 1; int32) hidden_size=3
    => 7, 1, 1, 3; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite
GRU(T, U, 4; any finite | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, U, 3; any finite; -1..1; finite & 1, U, 3; finite; finite & 1, U, 3; finite; finite
GRU(T, U, 4; finite any | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, U, 3; finite any; -1..1; finite & 1, U, 3; any; finite & 1, U, 3; any; finite
GRU(T, U, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, U, 3; finite finite; -1..1; finite & 1, U, 3; finite; finite & 1, U, 3; finite; finite
GRU(T, U, 4 | 1, 9, 4 | 1, 9, 3; infinite) hidden_size=3 => T, 1, U, 3; any any; -1..1 & 1, U, 3; any & 1, U, 3; any
GRU(T, 1, 4; infinite | 1, 9, 4 | 1, 9, 3) hidden_size=3 => T, 1, 1, 3; any; -1..1 & 1, 1, 3 & 1, 1, 3
GRU(T, 1, 4 | 1, 9, 4 | 1, 9, 3 | - | - | ~ 1, 1, 3; T 0) hidden_size=3
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite | UseLength(PAD106; 5; T)
GRU(T, 2, 4 | 1, 9, 4 | 1, 9, 3 | - | = T T) hidden_size=3
    => refused: GRU with sequence lengths that are not the valid length
GRU(T, 2, 4 | 1, 9, 4 | 1, 9, 3 | - | = T T-1) hidden_size=3
    => refused: GRU with sequence lengths that are not the valid length
GRU(T, U, 1; any | 2, 9, 4 | 2, 9, 3) hidden_size=1 direction="bidirectional"
    => T, 2, U, 1; any any; -1..1; finite & 2, U, 1; any; finite & 2, U, 1; any; finite |
    SequenceLengths(PAD104; 4; T; U)
GRU(T, batch x 2, 4; any | 1, 9, 4 | 1, 9, 3) hidden_size=3 direction="reverse"
    => T, 1, batch x 2, 3; any; -1..1; finite & 1, batch x 2, 3; finite & 1, batch x 2, 3; finite |
    SequenceLengths(PAD104; 4; T; batch 2)
LSTM(T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=1
    => T, 1, 1, 1; finite; -1..1; finite & 1, 1, 1; finite & 1, 1, 1; finite
RNN(T from T, 1, 4 | 1, 9, 4 | 1, 9, 3) hidden_size=3
    => T, 1, 1, 3; finite; -1..1; finite & 1, 1, 3; finite & 1, 1, 3; finite | Take(PAD105; 0; 0; T; T;
    from 0: -T + T + 1k)
""")


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answer(question: str, expected: str) -> None:
    """The past alone is read, or sequence lengths are asked for."""
    assert answer_to(question) == expected
