"""SIG102."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddable.linter.evidence import reported
from paddable.linter.rule import Match, Rule
from paddable.linter.site import Site

__all__ = ["LengthInputUnused"]


class LengthInputUnused(Rule[Any]):
    """## What it does
    Finds an input that looks like a length or a mask, and on which no output depends.

    ## Why is this bad
    The caller gives lengths, and the model ignores them: every padded row is answered as if its padding were speech.
    No runtime complains.

    ## Example
    ``(x, ilens) => y`` in which nothing reads ``ilens``.

    ## Use instead
    Pass the lengths down to the layer that needs them, and export again. When the model is meant to be native,
    remove the argument: ``paddable convert`` adds lengths that work.

    ## Fix safety
    No fix: dropping the input would hide the fault.
    """

    code = "SIG102"
    name = "length-input-unused"
    severity = "error"
    evidence = (
        reported("https://github.com/NVIDIA-NeMo/Speech/issues/2317"),
        reported("https://github.com/speechbrain/speechbrain/issues/2986"),
    )
    VALID = (
        "m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y) { z = Cast<to = 1>(ilens) y = Mul(x, z) }",
        "m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y, int64[1] olens) { y = Neg(x) olens = Neg(ilens) }",
        """m (float[1,T] x, int64[1] ilens, bool c) => (float[1,T] y) {
            z = Cast<to = 1>(ilens)
            y = If (c) <
                then_branch = t () => (float[1,T] a) { a = Mul(x, z) },
                else_branch = e () => (float[1,T] b) { b = Neg(x) }
            >
        }""",
    )
    INVALID = (
        "m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y) { y = Neg(x) }",
        "m (float[1,T,8] x, int64[1] ilens) => (float[1,T,8] y) { dead = Neg(ilens) y = Neg(x) }",
        "m (float[1,T,8] x, float[1,T] attention_mask) => (float[1,T,8] y) { y = Neg(x) }",
    )

    def check(self, site: Site[Any]) -> Iterator[Match]:
        """Yields each length input that reaches no output."""
        for name in site.subject.length_inputs if site.is_main else ():
            if site.subject.reaches(name).isdisjoint(site.view.outputs):
                yield Match(
                    f"input {name!r} looks like lengths or a mask, and no output depends on it",
                    "pass it down to the layer that masks and export again, or export the native model without it",
                    value=name,
                )
