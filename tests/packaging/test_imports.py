"""An app ships the runtime alone, and `paddable --help` is instant: heavy packages stay out until they are needed."""

from __future__ import annotations

import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

import paddable as library
from paddable.cli.commands import COMMANDS
from paddable.cli.main import help_width, paddable

from ..ctc.ctc_models import recogniser, tokens

HEAVY = ("torch", "onnx", "onnx_ir", "onnxscript", "onnxruntime", "transformers")


def submodules(package: str) -> list[str]:
    module = import_module(package)
    return [package, *(found.name for found in pkgutil.walk_packages(module.__path__, f"{package}."))]


@pytest.mark.parametrize("package", ["paddable.lengths", "paddable.bundle", "paddable.runtime", "paddable.cli"])
def test_importing_every_submodule_brings_nothing_heavy_in(package: str) -> None:
    modules = submodules(package)
    assert len(modules) > 1
    code = f"""
import sys
from importlib import import_module
for name in {modules!r}:
    import_module(name)
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_the_command_line_and_load_work_where_the_heavy_packages_cannot_be_imported() -> None:
    code = f"""
import sys
sys.modules.update(dict.fromkeys({[name for name in HEAVY if name != "onnxruntime"]!r}))
from paddable.cli import main
assert main(["--help"]) == 0
assert main(["convert", "--help"]) == 0
import paddable
paddable.load
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_where_the_runtime_alone_is_installed_a_bundle_is_told_and_the_rest_names_its_extra(tmp_path: Path) -> None:
    recogniser(tmp_path / "model.onnx")
    tokens(tmp_path / "tokens.txt")
    bundle = library.export("ctc", tmp_path, tmp_path / "bundle", sample_rate=16_000, containers=["1s"], verify=False)
    code = f"""
import sys
sys.modules.update(dict.fromkeys({[name for name in HEAVY if name != "onnxruntime"]!r}))
from paddable.cli import main
import paddable
from paddable.errors import MissingExtraError
told = paddable.inspect({str(bundle)!r})
assert told.family == "ctc" and told.graphs[0]["container"] == {{"S": 16000}}, told
assert "onnx is not installed" in told.left_out and not told.inputs
for name in set(paddable.__all__) - {{"__version__", "load", "inspect"}}:
    try:
        getattr(paddable, name)
    except MissingExtraError as error:
        assert 'is not installed; install Paddable with its extra "convert"' in str(error)
    else:
        raise AssertionError(name)
try:
    paddable.inspect({str(tmp_path / "model.onnx")!r})
except MissingExtraError as error:
    print(error)
sys.exit(main(["inspect", {str(bundle)!r}]))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith('onnx is not installed; install Paddable with its extra "convert"')
    assert not library.inspect(bundle).left_out


def test_no_submodule_hides_a_function() -> None:
    assert not {found.name for found in pkgutil.iter_modules(library.__path__)} & set(library.__all__)


def test_help_waits_for_nothing() -> None:
    code = """
import sys
from paddable.cli import main
assert main(["--help"]) == 0
print([name for name in ("rich", "numpy", "onnx", "onnxruntime", "torch") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_help_imports_nothing_of_ours_but_the_list_of_commands() -> None:
    code = """
import sys
from paddable.cli import main
main(["--help"])
print(*sorted(name for name in sys.modules if name.startswith("paddable.") or name in ("shutil", "hashlib", "json")))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1].split() == [
        "paddable._version",
        *(f"paddable.cli{name}" for name in ("", ".commands", ".main", ".stopping", ".streams")),
        "paddable.errors",
    ]


@pytest.mark.parametrize(("columns", "width"), [("60", 58), ("100", 98), ("300", 118), ("20", 50), ("0", 80 - 2)])
def test_help_is_as_wide_as_click_would_make_it(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    click_chooses = max(min(shutil.get_terminal_size().columns, 120) - 2, 50)
    assert help_width() == click_chooses == width


def test_every_command_is_listed_with_a_line_and_is_there() -> None:
    context = click.Context(paddable)
    for name, line in COMMANDS.items():
        assert len(line) < 80
        command = paddable.get_command(context, name)
        assert command is not None and command.name == name
    assert paddable.get_command(context, "nothing") is None


RUNTIME = r"""
import json, sys
sys.modules.update(dict.fromkeys(["torch", "onnx", "onnx_ir", "onnxscript", "transformers"]))
from importlib import import_module
from pathlib import Path
import click
import numpy as np
import paddable
from paddable.cli import main
from paddable.runtime import Model, Session
reached = []
for name in ("transcribe", "decode", "bench", "doctor"):
    command = import_module(f"paddable.cli.{name}")
    words = {"transcribe": ["a.wav", "--model", "absent"], "bench": ["absent"], "doctor": []}.get(
        name, ["a.npy", "-o", "a.wav", "--model", "absent"]
    )
    reached.append(main([name, *words, "--json"]))
assert reached == [2, 2, 2, 0], reached
for call in (
    lambda: paddable.load("absent.onnx"),
    lambda: Model([], None).stream(),
    lambda: Model([], None).transcribe("a.wav"),
    lambda: Model([], None).encode(np.zeros(9)),
    lambda: Model([], None).speech_segments("a.wav"),
    lambda: import_module("paddable.runtime.decoding").decode("absent", "a.npy", "a.wav"),
):
    try:
        call()
    except paddable.errors.MissingExtraError as error:
        raise SystemExit(f"asks for {error}")
    except paddable.errors.PaddableError:
        continue
    raise SystemExit("no error")
"""


def test_no_runtime_command_or_call_needs_a_graph_library(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", RUNTIME], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "not installed" not in result.stdout + result.stderr
