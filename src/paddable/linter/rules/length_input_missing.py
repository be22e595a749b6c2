"""SIG101."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["LengthInputMissing"]


class LengthInputMissing(Rule[Any]):
    """## What it does
    Finds a graph with a free time axis and no input that could tell how much of it is valid: no integer vector, no
    boolean mask, nothing called a length or a mask.

    ## Why is this bad
    Whoever pads the input gets an answer about the padding too. Often the module does take lengths and the export lost
    them: the TorchScript exporter drops an argument that the traced code never reads, or turns into a number
    (``int(ilens[0])``). A model that is meant to see valid steps only is right as it is: hence a note.

    ## Example
    ``torch.onnx.export(Wrapper(model), (x, ilens), ...)`` where the wrapped layer calls its parameter ``wav_lens`` and
    the wrapper passes lengths only to one called ``lengths``: the graph's only input is ``x``.

    ## Use instead
    Export the module with its lengths used as tensors, or keep it native and let ``paddable convert`` add ``ilens``.

    ## Fix safety
    No fix: only the module knows.
    """

    code = "SIG101"
    name = "length-input-missing"
    severity = "note"
    evidence = (
        reported("https://github.com/NVIDIA-NeMo/Speech/issues/2317"),
        reported("https://github.com/speechbrain/speechbrain/issues/2986"),
    )
    VALID = (
        "m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y) { z = Cast<to = 1>(ilens) y = Mul(x, z) }",
        "m (float[1,T,8] x, bool[1,T] mask) => (float[1,T,8] y, bool[1,T] kept) { y = Neg(x) kept = Not(mask) }",
        "m (float[B,80,8] x) => (float[B,80,8] y) { y = Neg(x) }",
    )
    INVALID = (
        "m (float[1,T,8] x) => (float[1,T,8] y) { y = Softmax<axis = 1>(x) }",
        "m (float[N] wave) => (float[N] y) { y = Neg(wave) }",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each ragged axis, when no input can be its length."""
        if site.subject.length_inputs or not site.is_main:
            return
        for ragged in site.subject.ragged:
            yield Match(
                f"{ragged} is free, and no input tells how much of it is valid",
                "if the module takes lengths (ilens) or a mask, the export lost them: use them as tensors, not as "
                "Python numbers, and export again; if it is native, `paddable convert` adds them",
                value=ragged.name,
                axis=ragged.axis,
            )
