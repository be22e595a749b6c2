"""Recurrent operators whose sequence lengths come from a shape."""

from __future__ import annotations

import pytest

from .native import assert_exact, verdict_of

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
