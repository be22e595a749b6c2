"""What a file is that was taken for a model, a recording or a list of labels."""

from __future__ import annotations

import pytest

from paddable.bundle.foreign import HEAD, POINTER, foreign


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"<blk> 0\n|\t1\r\na 2\n", "text"),
        (("\ufeff" + "▁你 1\n" * 40).encode(), "text"),
        (b"<!DOCTYPE html>\n<html>", "a web page"),
        (b"<HTML>", "a web page"),
        (b"<?xml version='1.0'?>", "XML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", POINTER),
        (b'{"a": 0}', "JSON"),
        (b"PK\x03\x04\x14", "a zip archive (a PyTorch checkpoint?)"),
        (b"", ""),
        (b"\x08\x09\x12\x07pytorch", ""),
        (b"RIFF\x00\x01", ""),
        ("你 1\n".encode("gbk"), ""),
    ],
)
def test_a_file_is_called_what_it_is(head: bytes, kind: str) -> None:
    assert foreign(head[:HEAD]) == kind
