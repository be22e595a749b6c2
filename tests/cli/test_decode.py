"""What ``paddable decode`` asks of the library and prints. Real decoding is in tests/api/test_export_codec.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def decoder(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paddable.runtime.decoding", library)
    library.decode = library._recorder("decode")
    told = {"ok": True, "out": "out.wav", "first_seconds": 0.0123}
    report = {"out": "out.wav", "seconds": 2.0, "sample_rate": 24_000, "elapsed": 0.5, "first_seconds": 0.0123}
    library.answer = SimpleNamespace(**report, to_json=lambda: told)


def test_words_become_arguments(paddable: Any, library: Any) -> None:
    done = paddable("decode", "codes.npy", "-o", "out.wav", "--model", "codec", "--stream", "--chunk", "7", "--force")
    assert (done.code, done.out) == (
        0,
        "out.wav: 2.00 s at 24000 Hz, first sound after 12.3 ms, 0.50 s in all\n",
    )
    ((_, args, options),) = library.calls
    assert args == (Path("codec"), Path("codes.npy"), Path("out.wav"))
    assert options == {
        "stream": True,
        "chunk": 7,
        "provider": "auto",
        "device_id": 0,
        "allow_mixed": False,
        "allow_tf32": False,
        "channels_last": False,
        "target": None,
        "force": True,
    }


def test_json(paddable: Any) -> None:
    done = paddable("decode", "codes.npy", "-o", "out.wav", "--model", "codec", "--json")
    assert json.loads(done.out)["first_seconds"] == 0.0123


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["codes.npy", "--model", "codec"], "give -o FILE.wav"),
        (["codes.npy", "-o", "out.wav"], "Missing option '--model'"),
        (["codes.npy", "-o", "out.wav", "--model", "codec", "--chunk", "0"], "0 is not in the range x>=1"),
    ],
)
def test_misuse_is_one_line(paddable: Any, library: Any, words: list[str], message: str) -> None:
    done = paddable("decode", *words)
    assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1
    assert not library.calls
