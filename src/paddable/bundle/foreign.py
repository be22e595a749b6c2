"""What a file is that is not what it was given as, by how it begins."""

from __future__ import annotations

from codecs import getincrementaldecoder

__all__ = ["HEAD", "POINTER", "foreign"]

HEAD = 200
"""Bytes that tell it."""

POINTER = "a Git LFS pointer, not the file itself"

_BEGINNINGS = {
    b"version https://git-lfs": POINTER,
    b"PK\x03\x04": "a zip archive (a PyTorch checkpoint?)",
    b"\x80\x02": "a Python pickle",
    b"\x89HDF": "an HDF5 file",
    b"GGUF": "a GGUF file",
    b"{": "JSON",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "XML",
}


def foreign(head: bytes) -> str:
    """What a file is that begins so, such as ``JSON``; empty for what is none of these."""
    known = next((name for magic, name in _BEGINNINGS.items() if head.lower().startswith(magic.lower())), "")
    return known or ("text" if head and _is_text(head) else "")


def _is_text(head: bytes) -> bool:
    try:
        text = getincrementaldecoder("utf-8")().decode(head)  # the last letter may be cut
    except UnicodeDecodeError:
        return False
    return "".join(text.removeprefix("\ufeff").split()).isprintable()
