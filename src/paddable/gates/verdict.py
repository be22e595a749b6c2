"""What a precision does to the answers: finite or not, error, cosine, and whether the best class stays the same.

Integers and flags are classes already, such as the ids of an ArgMax: of them, agreement alone is told.

A user may say what they have to reach: ``cosine=0.9999`` and ``agreement=0.99`` at least, ``error=0.01`` at most.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddable.bundle import Metadata
from paddable.errors import MisuseError
from paddable.gates.engine import Array
from paddable.gates.oracle import scale

__all__ = [
    "Difference",
    "class_axis",
    "difference",
    "differences",
    "measures",
    "parse_accept",
    "refuse_immeasurable",
    "told_verdict",
    "without_classes",
]

_MEASURES = {"cosine": (-1.0, 1.0), "error": (0.0, math.inf), "agreement": (0.0, 1.0)}
"""What they may be."""

_BAD = {"cosine": 0.99, "error": 0.1, "agreement": 0.95}
"""From where on an answer is called far from fp32's: a transcript has other words in it then."""


def parse_accept(texts: Sequence[str]) -> dict[str, float]:
    """What answers have to reach, from texts such as ``cosine=0.9999``.

    Raises:
        MisuseError: another measure, or no number that it can have.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name in found:
            raise MisuseError(f"{name} is given twice, last as {text!r}", fix="give each measure once")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = math.nan
        if name not in _MEASURES or not math.isfinite(found[name]):
            raise MisuseError(
                f"{text!r} cannot be accepted",
                why=f"it takes {', '.join(_MEASURES)}, and a number",
                fix="write it like cosine=0.9999",
            )
        low, high = _MEASURES[name]
        if not low <= found[name] <= high:
            raise MisuseError(
                f"{text!r} cannot be accepted",
                why=f"{name} lies between {low:g} and {high:g}" if high < math.inf else f"{name} is not negative",
                fix="write it like cosine=0.9999",
            )
    return found


@dataclass(frozen=True)
class Difference:
    """One output against fp32.

    Attributes:
        finite: every number that is finite in fp32 is finite.
        error: largest difference, of scale; None for integers and flags.
        cosine: in float64, over all finite numbers; None for integers and flags.
        agreement: share of frames whose best class is that of fp32, of integers the share that is equal; None where no
            axis, or more than one, may hold classes.
    """

    finite: bool
    error: float | None
    cosine: float | None
    agreement: float | None

    def misses(self, accept: Mapping[str, float]) -> str:
        """Why it is not accepted; nothing where it is."""
        if not self.finite:
            return "it is not finite, and in fp32 it is"
        for name, least in accept.items():
            seen = getattr(self, name)
            if seen is not None and (seen > least if name == "error" else seen < least):
                return f"{name} is {_told_apart(seen, least)}, {least!r} is asked for"
        return ""

    def to_json(self) -> dict[str, Any]:
        """As plain data: errors to three digits, cosines to seven; an infinite error is written as text."""
        told: dict[str, Any] = {"finite": self.finite}
        if self.error is not None:
            told["error"] = float(f"{self.error:.3g}") if np.isfinite(self.error) else "inf"
        if self.cosine is not None:
            told["cosine"] = round(self.cosine, 7)
        return told if self.agreement is None else {**told, "agreement": round(self.agreement, 5)}


def _told_apart(seen: float, least: float) -> str:
    """A number with as many digits as tell it from a limit."""
    for digits in (6, 9, 12):
        told = float(f"{seen:.{digits}g}")
        if (told < least, told > least) == (seen < least, seen > least):
            return f"{told:.{digits}g}"
    return repr(seen)


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """From the distance of the two directions: 1 where they are the same, however a product is rounded."""
    lengths = [np.linalg.norm(one) for one in (a, b)]
    if not all(lengths):
        return float(np.array_equal(a, b))
    apart = a / lengths[0] - b / lengths[1]
    return float(1 - apart @ apart / 2)


def class_axis(sizes: Sequence[object], others: Collection[int], *, frames: bool = False) -> int | None:
    """The axis of an output that holds classes: of frames, the only one that neither follows a length nor counts rows.

    Args:
        sizes: its shape; what is not an integer varies.
        others: axes that follow a length or count rows.
        frames: whether one of them follows a length. Two axes without are rows of something, such as embeddings.
    """
    found = [axis for axis, size in enumerate(sizes) if axis not in others and size != 1]
    return found[0] if len(found) == 1 and (frames or len(sizes) > 2) else None


def measures(kind: str, classes: int | None) -> set[str]:
    """What can be told of an output.

    Args:
        kind: of its numpy type.
        classes: its ``class_axis``.
    """
    if kind in "biu":
        return {"agreement"}
    if kind != "f":
        return set()
    return {"cosine", "error"} | ({"agreement"} if classes is not None else set())


def refuse_immeasurable(accept: Mapping[str, float], outputs: Mapping[str, set[str]]) -> None:
    """Raise ``MisuseError`` for a limit of what no output has: it would pass on nothing.

    Args:
        accept: the limits.
        outputs: by name, its ``measures``.
    """
    for name in accept:
        if not any(name in found for found in outputs.values()):
            told = "; ".join(
                f"of {output}: {', '.join(sorted(found)) or 'nothing'}" for output, found in outputs.items()
            )
            raise MisuseError(
                f"{name} is to be accepted, and no output has one",
                why=f"the limit would pass on nothing; there is {told}",
                fix="limit what there is, or leave it out",
            )


def differences(
    got: Mapping[str, Array],
    want: Mapping[str, Array],
    others: Mapping[str, Collection[int]],
    frames: Container[str] = (),
) -> dict[str, Difference]:
    """By output that has anything; where ``got`` has more rows or steps, those of ``want`` are compared.

    Args:
        got: answers in the precision.
        want: in fp32.
        others: by output, the axes that follow a length or count rows; see ``class_axis``.
        frames: outputs of which an axis follows a length.
    """
    found = {}
    for name, array in want.items():
        if array.dtype.kind in "fbiu" and array.size and name in got:
            valid = got[name][tuple(slice(size) for size in array.shape)]
            found[name] = difference(valid, array, class_axis(array.shape, others.get(name, ()), frames=name in frames))
    return found


def difference(got: Array, want: Array, classes: int | None = None) -> Difference:
    """One output against fp32, of the same shape, with classes along an axis or without."""
    if want.dtype.kind != "f":
        return Difference(True, None, None, float((got == want).mean()))
    a, b = got.astype(np.float64), want.astype(np.float64)
    known = np.isfinite(b)
    both = known & np.isfinite(a)
    finite = bool(both.sum() == known.sum())
    error = float(np.abs(a[both] - b[both]).max(initial=0.0)) / scale(want) if finite else float("inf")
    cosine = _cosine(a[both], b[both])
    agreement = None if classes is None else float((a.argmax(classes) == b.argmax(classes)).mean())
    return Difference(finite, error, cosine, agreement)


def without_classes(metadata: Metadata) -> dict[str, set[int]]:
    """By output, the axes that follow a length or count rows."""
    rows = metadata.batch.outputs if metadata.batch else {}
    names = metadata.lengths.keys() | rows.keys()
    return {name: {*metadata.lengths.get(name, {}), *([rows[name]] if name in rows else [])} for name in names}


def told_verdict(precision: str, rows: Sequence[Mapping[str, Any]], *, given: bool = False) -> str:
    """What a precision does to the answers in a line: the worst of all examples and outputs, and whether that is far.

    Args:
        precision: its name.
        rows: of the report: ``example``, ``output``, and what ``Difference.to_json`` tells.
        given: whether the examples are the user's: then there are no others to judge it on.
    """
    worst: dict[str, Mapping[str, Any]] = {}
    for name in _MEASURES:
        found = [row for row in rows if row.get(name) is not None]
        if found:
            worst[name] = (max if name == "error" else min)(found, key=lambda row: float(row[name]))
    if not worst:
        return f"{precision}: nothing of the answers can be compared"
    words = {"cosine": "cosine {:.6f}", "error": "error {:.2g} of scale", "agreement": "best class the same in {:.1%}"}
    told = ", ".join(words[name].format(float(row[name])) for name, row in worst.items())
    examples = len({row["example"] for row in rows})
    bad = [
        name
        for name, row in worst.items()
        if (float(row[name]) > _BAD[name] if name == "error" else float(row[name]) < _BAD[name])
    ]
    line = f"{precision}: against fp32, the worst of {examples} example{'s'[: examples != 1]}: {told}"
    if bad:
        row = worst[bad[0]]
        line += f"; warning: that is far from fp32 (output {row['output']}, {row['example']}): "
        line += "" if given else "judge it on inputs that it will meet, with `examples` and `accept`, or "
        line += "take another precision"
    return line
