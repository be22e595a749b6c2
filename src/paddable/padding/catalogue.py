"""The findings of the compiler, one entry a code: what it means, why it matters, an example, and the remedy.

The pages in ``docs/padding`` are made from this table and from the rules themselves (``document.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CODES", "Code"]


@dataclass(frozen=True)
class Code:
    """One code. ``name`` says the problem, so that "allow <name>" reads as what it allows."""

    name: str
    what: str
    why: str
    example: str
    remedy: str


CODES: dict[str, Code] = {
    "PAD101": Code(
        "statistics-over-padding",
        "A mean, a sum or a variance over time counts the padding.",
        "Every value that is normalised or pooled by it changes with the size of the container.",
        "`x.mean(dim=1)`, GroupNorm over a waveform, squeeze-and-excitation, statistics pooling.",
        "The padding is zeroed and the sum divided by the run-time length. Variances take two passes: the mean is "
        "subtracted "
        "before squaring, and the padding is selected away again in between. Half-precision sums are taken in float.",
    ),
    "PAD102": Code(
        "window-over-the-end",
        "A convolution, pool, resampling or pad at the valid end reads the padding where native reads zeros, a "
        "mirror image "
        "or nothing.",
        "The last outputs are wrong by up to the receptive field, and the next window carries the error inwards.",
        "`Conv1d(kernel_size=3, padding=1)`, a transposed convolution, `F.pad(x, (0, r), mode='reflect')`.",
        "The padding is zeroed right before the window (a bias upstream refills it); mirrored and repeated tails "
        "are gathered "
        "by run-time index. Nothing is inserted where no valid output reads past the end: causal convolutions, crops.",
    ),
    "PAD103": Code(
        "attention-to-padding",
        "A softmax over time gives weight to the padding.",
        "Every query loses attention to steps that do not exist.",
        "`softmax(q @ k.T)` in a container larger than the utterance.",
        "One boolean key mask for the whole stack selects -inf. Adding -1e4 is not enough: "
        "softmax([-3e4, 0 - 1e4]) = [0, 1]. Nor is the lowest finite number, beside a row that native masks to it.",
    ),
    "PAD104": Code(
        "recurrence-from-the-end",
        "The reverse direction of a recurrent layer starts in the padding, or its final state has read it.",
        "All outputs of the reverse direction change, and so does everything made from the last state.",
        "`nn.LSTM(bidirectional=True)`, `h_n` as an utterance embedding.",
        "The operator gets its `sequence_lens` input. Forward outputs need nothing.",
    ),
    "PAD105": Code(
        "order-from-the-end",
        "A slice, flip, index or concatenation counts from the end of the container.",
        "The last frame of the container is not the last frame of the utterance.",
        "`x[:, -1]`, `x.flip(1)`, `x[:, -5:]`, `torch.cat([x, tail], 1)`.",
        "A gather on run-time indices, clamped to the container.",
    ),
    "PAD106": Code(
        "size-as-length",
        "A number computed from the shape is used as data.",
        "In the container it is the container's size, and native's is the utterance's length.",
        "`x.sum(1) / x.shape[1]`, `torch.arange(T) / T`, the n - 1 of an unbiased deviation.",
        "The number is emitted again from the run-time length, per row of the batch. Shapes keep the container's size.",
    ),
    "PAD107": Code(
        "extremum-over-padding",
        "A maximum, minimum, arg-max or top-k over time may lie in the padding.",
        "The result is a step that does not exist.",
        "`x.max(1)`, a max-pool at the valid end, `topk` over frames.",
        "The padding is filled with the identity of the extremum (-inf, or the lowest integer).",
    ),
    "PAD108": Code(
        "product-over-padding",
        "A matrix product sums over time.",
        "Each padding step adds its product to the result; a zero on one side is no help beside a NaN on the other.",
        "attention's probabilities times values, `x.transpose(1, 2) @ x`, `einsum('btd,bte->bde', x, y)`.",
        "One side is zeroed, and the other too unless it is proven finite.",
    ),
    "PAD109": Code(
        "range-over-padding",
        "A dynamic quantisation takes its range over the padding.",
        "Silence at -23 or a mask's -1e4 stretches the range, and valid values lose their digits.",
        "`DynamicQuantizeLinear` after a log-mel front end.",
        "The padding is zeroed first: zero is inside every quantisation range.",
    ),
    "PAD190": Code(
        "no-proof",
        "No proof was found at a node, so the model is refused.",
        "A wrong answer is worse than none. There is no third outcome.",
        "`NonZero`, `Unique`, a loop over time, a size computed from data, a constant frozen by tracing.",
        "The finding says why and, where one is known, the rewrite that helps.",
    ),
}
