"""Text on a redirected stdout: whole, in UTF-8 or in the encoding that was asked for, or an error; never escapes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from paddable.cli import streams
from paddable.cli.main import main

CODE = """
from importlib import import_module
import click
entry = import_module("paddable.cli.main")
entry.paddable.get_command = lambda *_: click.Command("say", callback=lambda: print({text}))
raise SystemExit(entry.main(["say"]))
"""
TEXT = "字世界.wav"


def say(text: str, **environment: str) -> tuple[int, bytes, bytes]:
    """A command that prints ``text``, in a process whose stdout is a file."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    with TemporaryFile() as out, TemporaryFile() as err:
        script = CODE.format(text=ascii(text))
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=out, stderr=err, env={**outside, **environment}, check=False
        )
        out.seek(0)
        err.seek(0)
        return done.returncode, out.read().replace(b"\r\n", b"\n"), err.read()


def test_a_redirected_stdout_is_utf8() -> None:
    assert say(TEXT) == (0, f"{TEXT}\n".encode(), b"")


def test_the_locale_does_not_matter() -> None:
    settings = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}  # ASCII, as an old service has it
    assert say(TEXT, **settings) == (0, f"{TEXT}\n".encode(), b"")


def test_an_encoding_that_was_asked_for_is_kept() -> None:
    assert say(TEXT, PYTHONIOENCODING="cp936") == (0, f"{TEXT}\n".encode("cp936"), b"")


def test_a_text_that_does_not_fit_is_an_error_with_a_reason() -> None:
    code, out, err = say(TEXT, PYTHONIOENCODING="cp1252")
    assert code == 2 and out == b""
    assert err.startswith(rb"error: stdout cannot hold '\u5b57\u4e16\u754c' in the encoding cp1252")
    assert err.count(b"\n") == 1


def test_a_handler_that_was_asked_for_is_kept() -> None:
    assert say(TEXT, PYTHONIOENCODING="cp1252:replace") == (0, b"???.wav\n", b"")


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_comes_back_as_its_bytes() -> None:
    assert say(os.fsdecode(b"\xb2\xce.wav")) == (0, b"\xb2\xce.wav\n", b"")


@pytest.mark.parametrize("page", ["cp1252", "cp936"])
def test_streams_in_the_code_page_of_the_system(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=page, newline="\n"))
    streams.prepare_streams()
    print(TEXT, flush=True)
    assert raw.getvalue().decode("utf-8") == f"{TEXT}\n"


def test_a_terminal_keeps_its_encoding_and_shows_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Terminal(raw, encoding="cp1252", newline="\n"))
    streams.prepare_streams()
    print("é字", flush=True)
    assert raw.getvalue() == "é\\u5b57\n".encode("cp1252")


def test_json_keeps_the_text_in_every_code_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raw = io.BytesIO()
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", newline="\n"))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert main(["check", str(tmp_path / "没有.onnx"), "--length", "x:1=T", "--json"]) == 2
    sys.stdout.flush()
    told: dict[str, Any] = json.loads(raw.getvalue().decode("utf-8"))
    assert "没有.onnx" in told["error"]["where"]
