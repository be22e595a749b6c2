"""A user's mistake is one line and an exit code, never a traceback."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import onnx
import pytest

from paddable.cli.progress import showing
from paddable.errors import GateFailedError, MissingExtraError, MisuseError, RefusedError, UnreadableError

from .conftest import Library


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (MisuseError("no input 'a'", fix="the dynamic axes are x:1; write --length x:1=T"), 2, "write --length x:1=T"),
        (UnreadableError("truncated", where="m.onnx"), 2, "error: m.onnx: truncated"),
        (MissingExtraError("onnx is not installed"), 2, "error: onnx is not installed"),
        (RefusedError("Loop over time", where="node 'a'"), 1, "refused: node 'a': Loop over time"),
        (GateFailedError("C: 0.2 of scale", where="output 'y'"), 1, "error: output 'y': C: 0.2 of scale"),
        (
            OSError(errno.ENOSPC, "No space left on device", "out.onnx"),
            2,
            "out.onnx: No space left on device; free some",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 2, "error: /x: Permission denied"),
        (ModuleNotFoundError("No module named 'onnx_ir'", name="onnx_ir"), 2, 'pip install ".[convert]"'),
        (ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"), 2, 'pip install ".[export]"'),
        (
            ModuleNotFoundError("No module named 'typing_extensions'", name="typing_extensions"),
            2,
            "pip install typing_",
        ),
        (MemoryError(), 2, "out of memory"),
        (ZeroDivisionError("division by zero"), 2, "internal error: ZeroDivisionError: division by zero"),
        (RecursionError("maximum recursion depth exceeded"), 2, "error: the model nests too deeply"),
        (
            onnx.checker.ValidationError("No Op registered for Foo"),
            2,
            "error: onnx: No Op registered for Foo; it stopped",
        ),
        (
            type("Fail", (RuntimeError,), {"__module__": "onnxruntime.capi"})(
                "CUDA failure 2: out of memory\n at x.cc"
            ),
            2,
            "error: onnxruntime: CUDA failure 2: out of memory; usual cause: an arena",
        ),
        (MisuseError("a name with\na line break"), 2, "error: a name with a line break"),
    ],
)
def test_one_line_and_an_exit_code(paddable: Any, library: Library, error: Exception, code: int, line: str) -> None:
    library.answer = error
    result = paddable("check", "m.onnx", "--length", "x:1=T")
    assert result.code == code
    assert line in result.err
    assert result.err.count("\n") == 1
    assert result.out == ""


@pytest.mark.parametrize(
    "words",
    [
        ["chek", "m.onnx"],
        ["check"],
        ["check", "m.onnx", "--colour"],
        ["check", "m.onnx", "--rate", "fast"],
        ["verify", "out", "--at", "-1"],
        ["convert", "m.onnx", "-o", "x", "--batch-size", "0"],
    ],
)
def test_misuse_of_the_command_line_itself(paddable: Any, library: Library, words: list[str]) -> None:
    result = paddable(*words)
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert "--help" in result.err
    assert result.err.count("\n") == 1
    assert library.calls == []
    assert json.loads(paddable(*words, "--json").out)["ok"] is False


def test_debug_shows_the_traceback(paddable: Any, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.answer = MisuseError("x")
    monkeypatch.setenv("PADDABLE_DEBUG", "1")
    with pytest.raises(MisuseError):
        paddable("check", "m.onnx")


def run_with_library(body: str, *words: str, **kwargs: Any) -> subprocess.Popen[str]:
    """A process that runs a command against a library whose ``check`` is ``body``."""
    code = f"""
import sys, time, types
library = types.ModuleType("paddable.api")
def check(*args, progress=None, **kwargs):
{textwrap.indent(textwrap.dedent(body), "    ")}
library.check = check
sys.modules["paddable.api"] = library
from paddable.cli import main
sys.exit(main())
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code, *words], **{**pipes, **kwargs})


@pytest.mark.skipif(os.name == "nt", reason="sends signals")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_ends_with_one_line_and_leaves_nothing(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    process = run_with_library(
        f"""
        import signal
        from paddable.bundle import new_directory
        # a shell's background jobs ignore SIGINT, and their children inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with new_directory({str(tmp_path / "out")!r}) as folder:
            (folder / "half").touch()
            print("working", flush=True)
            time.sleep(60)
        """,
        "check",
        "m.onnx",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err.strip() == "interrupted: nothing was written"
    assert not list(tmp_path.iterdir())


def test_a_command_leaves_the_handler_of_its_caller(paddable: Any, library: Library) -> None:
    library.answer = MisuseError("x")
    before = signal.getsignal(signal.SIGTERM)
    paddable("check", "m.onnx")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.skipif(os.name == "nt", reason="closes a POSIX pipe")
def test_a_reader_that_has_had_enough() -> None:
    body = "return types.SimpleNamespace(ok=True, to_json=lambda: {'x': 'y' * 10**6})"
    process = run_with_library(body, "check", "m.onnx", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == 1


def test_a_name_that_the_console_cannot_print() -> None:
    body = "return types.SimpleNamespace(ok=True, findings=[], refusal=None, domain={}, notes=('größe',))"
    process = run_with_library(
        body, "check", "m.onnx", env={**os.environ, "PYTHONIOENCODING": "ascii:backslashreplace"}
    )
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert out.startswith("gr\\xf6\\xdfe\n")


def test_progress_is_silent_when_nobody_watches() -> None:
    body = (
        "assert progress is None; return types.SimpleNamespace(ok=True, findings=[], refusal=None, domain={}, notes=())"
    )
    process = run_with_library(body, "check", "m.onnx")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "no leak found\n", "")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with showing() as progress:
        assert progress is not None
        progress("verify", 1, 3)
        progress("verify", 3, 3)
    captured = capsys.readouterr()
    assert "verify" in captured.err
    assert "3/3" in captured.err
    assert captured.out == ""
