"""What an execution provider's error means, what usually causes it and what to do next.

One function, for ``paddable doctor --explain`` and for sessions that fail. Codes come as hex, as decimals with and
without a sign, by their names, in a sentence of the user's language, as bytes of an old code page that Python could not
decode, or not at all, where only the provider's source file is told.
"""

from __future__ import annotations

import re

from paddable.bundle.provider_errors.explanation import Explanation
from paddable.bundle.provider_errors.messages import OF_PROVIDERS, OF_THE_RUNTIME
from paddable.bundle.provider_errors.windows import (
    BY_CODE,
    BY_NAME,
    CODE_PAGES,
    DEVICE_CODES,
    FIRST_BYTES,
    PLACES,
    SENTENCES,
)

__all__ = ["explain"]


def explain(error: str | BaseException) -> list[Explanation]:
    """Everything that an error text says, the likeliest cause first; empty when nothing in it is known.

    Args:
        error: a code (``8007023E``, ``0x80070057``, ``-2147024809``, ``2147942487``), its name, any text around one, or
            the exception. Of a UnicodeDecodeError the undecoded bytes are read: PyTorch-DirectML reports localised
            messages that way. Bytes may also be written out in hex, or be surrogates, as in ``sys.argv``.
    """
    text = str(error)
    undecoded = [bytes.fromhex("".join(_PAIR.findall(listed))) for listed in _BYTES.findall(text)]
    if isinstance(error, UnicodeDecodeError):
        undecoded.append(error.object)
    if _ESCAPED.search(text):
        undecoded.append(_OTHER_SURROGATES.sub("", text).encode("utf-8", "surrogateescape"))
    text = " ".join([text, *map(_decoded, undecoded)])
    plain = text.casefold()
    said = [code for sentence, code in SENTENCES.items() if sentence.casefold() in plain]
    first = re.search(r"can't decode byte 0x(\w\w)\b", text) if not said else None
    said += FIRST_BYTES.get(first[1], ()) if first else ()
    codes = [*_codes(text), *said]
    places = _found(PLACES, text) if not set(codes) & set(DEVICE_CODES) else []
    told = [*places, *(BY_CODE[code] for code in codes), *_found(OF_PROVIDERS, text), *_found(OF_THE_RUNTIME, text)]
    return list(dict.fromkeys(told))


def _found(known: tuple[tuple[str, Explanation], ...], text: str) -> list[Explanation]:
    return [entry for pattern, entry in known if re.search(pattern, text)]


_PAIR = re.compile(r"(?:0x|\\x)?([0-9A-Fa-f]{2})")
_BYTES = re.compile(
    r"(?:(?:\b|0x|\\x)[0-9A-Fa-f]{2}(?![0-9A-Fa-f])[\s,;]*){4,}"
    r"|(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}){6,}(?![0-9A-Za-z])"
)
"""Bytes that somebody wrote out: ``b2 ce ca fd``, ``0xb2, 0xce``, ``\\xb2\\xce``, ``b2cecafdb4ed``."""
_ESCAPED = re.compile("[\udc80-\udcff]")
_OTHER_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def _codes(text: str) -> list[str]:
    numbers = [
        int(digits, 16) for digits in re.findall(r"(?<![0-9A-Fa-f])(?:0x)?([8C][0-9A-F]{7})(?![0-9A-F])", text, re.I)
    ]
    numbers += [int(digits) & 0xFFFFFFFF for digits in re.findall(r"(?:-|\b)\d{10}\b", text, re.ASCII)]
    codes = [f"{number:08X}" for number in numbers]
    codes += [
        BY_NAME[name] for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text.upper(), re.ASCII) if name in BY_NAME
    ]
    return [code for code in codes if code in BY_CODE]


def _decoded(raw: bytes) -> str:
    """The bytes as text in each code page; what a page does not know is left out."""
    return " ".join(raw.decode(page, "ignore") for page in CODE_PAGES)
