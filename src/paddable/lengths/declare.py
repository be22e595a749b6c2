"""What a user declares: which axes are ragged, which inputs hold lengths or masks, how large a container is.

The forms of the command line and of the Python functions are the same text:

    x:1=T                       axis 1 of x is T steps long; axes may be negative
    mask:1=(T-80)//320+1        a length may be an expression in the symbols
    mask:1=T, pad:1=~T          the input mask is true at the T steps that are valid, pad behind them
    ilens=T                     the input ilens holds T
    24000, 30s, T=24000,U=512   a container, in steps, seconds, or per symbol
    T=8                         no length of T below 8 is accepted
    x:0, a:0,b:1, none          the axes that count the rows of a batch, or that no axis does
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

from paddable.errors import MisuseError, arguments
from paddable.lengths import Length, parse
from paddable.several import several

__all__ = [
    "BatchAxis",
    "Container",
    "LengthDeclaration",
    "LengthInput",
    "MaskInput",
    "given_containers",
    "parse_batches",
    "parse_container",
    "parse_length",
    "parse_length_input",
    "parse_mask_input",
    "parse_shortest",
    "split_containers",
]

LARGEST = 2**31 - 1
"""Kernels index an axis with int32."""


@dataclass(frozen=True)
class LengthDeclaration:
    """Axis ``axis`` of ``input`` is ``length`` steps long."""

    input: str
    axis: int
    length: Length


@dataclass(frozen=True)
class LengthInput:
    """The input ``name`` holds ``length``, one number per row."""

    name: str
    length: Length


@dataclass(frozen=True)
class MaskInput:
    """The input ``name`` is true (or 1) along ``axis`` for the first ``length`` steps and false after.

    Attributes:
        padding: it is the other way round: true at padding, as PyTorch's ``key_padding_mask``.
    """

    name: str
    axis: int
    length: Length
    padding: bool = False


@dataclass(frozen=True)
class BatchAxis:
    """Axis ``axis`` of ``input`` counts the rows."""

    input: str
    axis: int


@dataclass(frozen=True)
class Container:
    """The fixed size of each symbol's axis, in steps."""

    steps: Mapping[str, int]

    def __str__(self) -> str:
        return ",".join(f"{symbol}={steps}" for symbol, steps in self.steps.items())


def parse_length(text: str) -> LengthDeclaration:
    """Read ``x:1=T``.

    Raises:
        MisuseError: the text has another form; the message suggests the right one.
    """
    left, length = _sides(text, option="lengths", form="INPUT:AXIS=LENGTH", example="x:1=T")
    return LengthDeclaration(*_axis(left, text, option="lengths", length=str(length)), length)


def parse_mask_input(text: str) -> MaskInput:
    """Read ``mask:1=T``, or ``mask:1=~T`` of a mask that is true at padding.

    Raises:
        MisuseError: the text has another form; the message suggests the right one.
    """
    name, equals, right = text.rpartition("=")
    padding = right.strip().startswith("~")
    plain = name + equals + right.strip().removeprefix("~")
    left, length = _sides(plain, option="mask_inputs", form="NAME:AXIS=LENGTH", example="mask:1=T")
    return MaskInput(*_axis(left, plain, option="mask_inputs", length=str(length)), length, padding)


def parse_length_input(text: str) -> LengthInput:
    """Read ``ilens=T``.

    Raises:
        MisuseError: the text has another form; the message suggests the right one.
    """
    return LengthInput(*_sides(text, option="length_inputs", form="NAME=LENGTH", example="ilens=T"))


def parse_batches(text: str | None) -> tuple[BatchAxis, ...] | None:
    """Read ``x:0``, ``a:0,b:1`` or ``none``.

    Returns:
        The axis of each input that is named, none when nothing is given; None where no axis counts rows.

    Raises:
        MisuseError: the text has another form.
    """
    if text is not None and text.strip().lower() == "none":
        return None
    found = []
    for part in text.split(",") if text else ():
        name, colon, axis = part.rpartition(":")
        if not colon or not name or not _is_integer(axis):
            raise MisuseError(
                f"{arguments(batch=part)} is not INPUT:AXIS",
                fix=f"write {arguments(batch=(name or part) + ':0')}, or `batch='none'` where no axis counts rows",
            )
        found.append(BatchAxis(name, int(axis)))
    return tuple(found)


def parse_shortest(text: str) -> tuple[str, int]:
    """Read ``T=8``: a symbol and its shortest accepted length, in steps.

    Raises:
        MisuseError: the text has another form, or the length is not positive.
    """
    symbol, equals, steps = (side.strip() for side in text.partition("="))
    if not equals or not symbol.isidentifier() or not _is_integer(steps) or not 1 <= int(steps) <= LARGEST:
        why = f"STEPS is a number from 1 to {LARGEST}"
        raise MisuseError(
            f"{arguments(shortest=[text])} is not SYMBOL=STEPS", why=why, fix="write it like `shortest=['T=8']`"
        )
    return symbol, int(steps)


def parse_container(text: str | int, symbols: Sequence[str], *, rates: Mapping[str, float] | None = None) -> Container:
    """Read ``24000``, ``30s`` or ``T=24000,U=512``.

    Seconds become the smallest number of steps that holds them.

    Args:
        text: the container.
        symbols: the declared symbols, in order of declaration.
        rates: steps a second of each symbol whose rate is known.

    Raises:
        MisuseError: another form, a symbol that is missing or unknown, seconds of a symbol without a rate, or a size
            that is not positive or does not fit into int32.
    """
    parts = [part.strip() for part in str(text).split(",")]
    if "=" not in str(text):
        if len(symbols) != 1 or len(parts) != 1:
            example = ",".join(f"{symbol}=24000" for symbol in symbols)
            raise MisuseError(
                f"container {text!r} does not say which symbol it is for",
                why=f"the declared symbols are {', '.join(symbols)}",
                fix=f"write {arguments(containers=[example])}",
            )
        parts = [f"{symbols[0]}={parts[0]}"]
    sizes: dict[str, int] = {}
    for part in parts:
        symbol, _, size = (side.strip() for side in part.partition("="))
        if symbol not in symbols or symbol in sizes:
            problem = "twice" if symbol in sizes else "which `lengths` does not declare"
            raise MisuseError(
                f"container {text!r} gives {symbol!r}, {problem}", why=f"the declared symbols are {', '.join(symbols)}"
            )
        sizes[symbol] = _steps(size, symbol, str(text), (rates or {}).get(symbol))
    if absent := [symbol for symbol in symbols if symbol not in sizes]:
        raise MisuseError(f"container {text!r} gives no size for {', '.join(absent)}")
    return Container({symbol: sizes[symbol] for symbol in symbols})


def given_containers(given: Any) -> tuple[str | int, ...]:
    """The containers of an argument: several, one, or a text with commas as ``split_containers`` takes it.

    Raises:
        MisuseError: something else, or something else among them.
    """
    return split_containers(given) if isinstance(given, str) else several("containers", given, (str, Integral))


def split_containers(text: str) -> tuple[str, ...]:
    """The containers of one ``--containers A,B,C``. A symbol that comes again begins the next: ``T=8,U=4,T=16,U=4``.

    ``2s..30s/8`` is eight containers from 2 to 30 s, each longer than the one before by the same factor: whatever the
    length, the same share of a container is padding at most.
    """
    groups: list[list[str]] = []
    for part in (part for item in text.split(",") if item.strip() for part in _geometric(item.strip())):
        symbol = part.partition("=")[0].strip() if "=" in part else None
        seen = {item.partition("=")[0].strip() for item in groups[-1]} if groups else set()
        if symbol is None or not groups or symbol in seen or "=" not in groups[-1][0]:
            groups.append([part])
        else:
            groups[-1].append(part)
    return tuple(",".join(group) for group in groups)


_SPAN = re.compile(r"([\d.]+)(s?)\.\.([\d.]+)(s?)/(\d+)")


def _geometric(part: str) -> list[str]:
    if (found := _SPAN.fullmatch(part)) is None:
        return [part]
    first, unit, last, other, count = found.groups()
    low, high, many = float(first), float(last), int(count)
    if unit != other or not 0 < low < high or many < 2:
        raise MisuseError(
            f"{part!r} is not a row of containers",
            why="it goes from a shorter one to a longer one, in one unit, in two or more",
            fix="write it like 2s..30s/8",
        )
    sizes = [low * (high / low) ** (place / (many - 1)) for place in range(many)]
    return [f"{size:.3f}s" if unit else str(round(size)) for size in sizes]


def _sides(text: str, *, option: str, form: str, example: str) -> tuple[str, Length]:
    left, equals, right = text.rpartition("=")
    if not equals or not left.strip() or not right.strip():
        raise MisuseError(
            f"{arguments(**{option: [text]})} is not {form}", fix=f"write it like {arguments(**{option: [example]})}"
        )
    try:
        length = parse(right)
    except MisuseError as error:
        raise MisuseError(error.what, where=arguments(**{option: [text]}), why=error.why, fix=error.fix) from error
    if not length.symbols:
        raise MisuseError(
            f"{right.strip()} is a number, not a length",
            where=arguments(**{option: [text]}),
            why="a ragged axis needs a symbol; its size is given by `containers`",
            fix=f"write {arguments(**{option: [f'{left}=T']})}",
        )
    return left.strip(), length


def _axis(left: str, text: str, *, option: str, length: str) -> tuple[str, int]:
    name, colon, axis = left.rpartition(":")
    if not colon or not name or not _is_integer(axis):
        raise MisuseError(
            f"{arguments(**{option: [text]})} does not say which axis",
            why="an axis is a number, 0 the first and -1 the last",
            fix=f"write {arguments(**{option: [f'{name or left}:1={length}']})} for axis 1",
        )
    return name.strip(), int(axis)


def _steps(size: str, symbol: str, text: str, rate: float | None) -> int:
    seconds = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*s", size)
    if seconds and not rate:
        raise MisuseError(
            f"container {text!r} is in seconds, but the rate of {symbol} is not known",
            fix="add `rate=STEPS_A_SECOND`, such as `rate=16000`, or give the size in steps",
        )
    if not seconds and not _is_integer(size):
        raise MisuseError(
            f"container {text!r}: {size!r} is not a size", fix="give steps, such as 24000, or seconds, such as 30s"
        )
    steps = math.ceil(Fraction(seconds[1]) * Fraction(str(rate))) if seconds else int(size)
    if not 1 <= steps <= LARGEST:
        raise MisuseError(f"container {text!r}: {symbol} would be {steps} steps", why=f"1 to {LARGEST} are possible")
    return steps


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?\d+\s*", text, re.ASCII) is not None
