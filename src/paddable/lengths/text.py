"""Lengths as text, both ways: ``parse(str(length)) == length``.

    sum     = product { ("+" | "-") product }
    product = unary { ("*" | "//" | "%") unary }          * by an integer, // and % by a nonzero integer
    unary   = { "-" | "+" } item
    item    = integer | name | "(" sum ")" | ("min" | "max") "(" sum { "," sum } ")"
            | ("ceil" | "floor") "(" product "/" unary ")"
    name    = [A-Za-z_] \\w*                               min, max, ceil, floor are names when no "(" follows

Precedence is Python's: ``-T//6`` is floor(-T/6), so ``-(-T//6)`` is ceil(T/6).
"""

from __future__ import annotations

import re
from typing import NoReturn

from paddable.errors import MisuseError
from paddable.lengths.expression import (
    Atom,
    FloorDiv,
    Length,
    Max,
    Min,
    NotALength,
    Symbol,
    constant,
    maximum,
    minimum,
    symbol,
)

__all__ = ["parse", "render"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_TOKEN = re.compile(r"\s*(?:(?P<integer>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>//|[-+*%/(),]))")


def parse(text: str) -> Length:
    """Reads a length such as ``"(T-80)//320+1"``.

    Raises:
        MisuseError: with the place, if the text is not a length.
    """
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, int]] = []
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if not found:
                self.fail(place + len(text[place:]) - len(text[place:].lstrip()))
            self.tokens.append((found[found.lastgroup or 0], found.start(found.lastgroup or 0)))
            place = found.end()
        self.tokens.append(("", len(text)))
        self.at = 0

    def fail(self, place: int, what: str = "") -> NoReturn:
        rest = self.text[place:]
        raise MisuseError(
            what or (f"cannot read {rest!r}" if rest else "the expression ends too early"),
            where=f"length {self.text!r}, column {place + 1}",
            fix="write sums, integer multiples, // and % by an integer, min, max or ceil(T/6), such as (T-80)//320+1",
        )

    def next_is(self, *tokens: str) -> bool:
        return self.tokens[self.at][0] in tokens

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][0]

    def expect(self, token: str) -> None:
        if not self.next_is(token):
            self.fail(self.tokens[self.at][1])
        self.at += 1

    def whole(self) -> Length:
        try:
            length = self.sum()
        except RecursionError:
            self.fail(0, "the expression is nested too deeply")
        if not self.next_is(""):
            self.fail(self.tokens[self.at][1])
        return length

    def sum(self) -> Length:
        length = self.product()
        while self.next_is("+", "-"):
            length = length + self.product() if self.take() == "+" else length - self.product()
        return length

    def product(self) -> Length:
        length = self.unary()
        while self.next_is("*", "//", "%"):
            place = self.tokens[self.at][1]
            operator, right = self.take(), self.unary()
            try:
                length = length * right if operator == "*" else length // right if operator == "//" else length % right
            except (NotALength, ZeroDivisionError) as error:
                self.fail(place, error.what if isinstance(error, NotALength) else "division by zero")
        return length

    def unary(self) -> Length:
        negative = False
        while self.next_is("-", "+"):
            negative ^= self.take() == "-"
        return -self.item() if negative else self.item()

    def item(self) -> Length:
        place = self.tokens[self.at][1]
        token = self.take()
        if token.isdecimal():
            return constant(int(token))
        if token in ("min", "max") and self.next_is("("):
            self.expect("(")
            args = [self.sum()]
            while self.next_is(","):
                self.expect(",")
                args.append(self.sum())
            self.expect(")")
            return minimum(*args) if token == "min" else maximum(*args)
        if token in ("ceil", "floor") and self.next_is("("):
            self.expect("(")
            numerator = self.product()
            self.expect("/")
            divisor = self.unary()
            self.expect(")")
            if not divisor.is_constant or divisor.constant == 0:
                self.fail(place, "ceil and floor divide by a nonzero integer")
            return numerator.ceildiv(divisor) if token == "ceil" else numerator // divisor
        if token == "(":
            length = self.sum()
            self.expect(")")
            return length
        if _NAME.fullmatch(token):
            return symbol(token)
        self.fail(place)


def render(length: Length) -> str:
    """The text of a length; positive terms come first.

    A numerator's offset is stored in ``0 .. k-1``. Beyond a half it prints as the negative number that a convolution's
    formula has, (T-80)//320+1 for (T+240)//320, save k-1, which everybody reads as a ceiling.
    """
    offset = length.offset
    positive: list[str] = []
    negative: list[str] = []
    for coefficient, atom in length.terms:
        text, carry = _atom(atom)
        offset += coefficient * carry
        product = isinstance(atom, FloorDiv)
        if abs(coefficient) != 1:
            text = f"{abs(coefficient)}*({text})" if product else f"{abs(coefficient)}*{text}"
        elif coefficient < 0 and product:
            text = f"({text})"
        (positive if coefficient > 0 else negative).append(text)
    if offset > 0 and not positive:
        return "-".join([str(offset), *negative])
    text = "+".join(positive) + "".join(f"-{item}" for item in negative)
    return f"{text}{offset:+d}" if offset and text else text or str(offset)


def _atom(atom: Atom) -> tuple[str, int]:
    """Text of an atom, and what to add to it."""
    match atom:
        case Symbol(name):
            return name, 0
        case FloorDiv(numerator, divisor):
            rest = numerator.offset
            carry = int(2 * rest > divisor and rest != divisor - 1)
            text = render(numerator - carry * divisor)
            return (text if _NAME.fullmatch(text) else f"({text})") + f"//{divisor}", carry
        case Min(args):
            return f"min({', '.join(map(str, args))})", 0
        case Max(args):
            return f"max({', '.join(map(str, args))})", 0
