"""Protobuf's wire format, as far as reading and writing large models without copying their weights needs it.

The format: https://protobuf.dev/programming-guides/encoding/. A message is a sequence of (key, payload); the key holds
the field number and one of four wire types. Everything of interest here (messages, bytes) is LEN: a varint length, then
bytes.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Buffer", "Field", "Malformed", "encode_len", "encode_varint", "fields", "varint"]

Buffer = bytes | mmap.mmap

VARINT, FIXED64, LEN, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are not a protobuf message; ``truncated`` when they end before a field does."""

    def __init__(self, message: str, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.truncated = truncated


class Field(NamedTuple):
    """One field: its bytes are ``data[key_at:end]``, its payload ``data[start:end]``."""

    number: int
    wire_type: int
    key_at: int
    start: int
    end: int


def varint(data: Buffer, at: int, stop: int) -> tuple[int, int]:
    """The number that begins at a place, and where it ends."""
    value = shift = 0
    while at < stop:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise Malformed("a number of more than 64 bits")
    raise Malformed(f"it ends at byte {stop}, inside a number", truncated=True)


def fields(data: Buffer, start: int, stop: int) -> Iterator[Field]:
    """Yields the fields of the message ``data[start:stop]``.

    Raises:
        Malformed: when the bytes are not a message, or when a field reaches past ``stop``.
    """
    at = start
    while at < stop:
        key_at = at
        key, at = varint(data, at, stop)
        number, wire_type = key >> 3, key & 7
        if number == 0:
            raise Malformed(f"field number 0 at byte {key_at}")
        if wire_type == LEN:
            length, at = varint(data, at, stop)
            end = at + length
        elif wire_type == VARINT:
            _, end = varint(data, at, stop)
        elif wire_type == FIXED32:
            end = at + 4
        elif wire_type == FIXED64:
            end = at + 8
        else:
            raise Malformed(f"wire type {wire_type} at byte {key_at}")
        if end > stop:
            raise Malformed(f"a part of it should end at byte {end}, but it ends at byte {stop}", truncated=True)
        yield Field(number, wire_type, key_at, at, end)
        at = end


def encode_varint(value: int) -> bytes:
    """Encodes a non-negative integer."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_len(number: int, length: int) -> bytes:
    """Encodes the head of a LEN field, which ``length`` bytes of payload must follow."""
    return encode_varint(number << 3 | LEN) + encode_varint(length)
