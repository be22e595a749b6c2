"""What the documents tell a reader to type is what there is."""

from __future__ import annotations

import re
import shlex
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnx
import pytest

from paddable.cli.main import main, paddable


def shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def readme(repository: Path) -> str:
    return (repository / "README.md").read_text(encoding="utf-8")


def test_two_commands_do_all_the_setting_up(readme: str) -> None:
    setup = [line for line in shell_lines(readme) if "pip install" in line]
    assert len(setup) == 2
    assert setup[0].endswith("paddable demo")
    assert setup[1].endswith("pytest")


def test_ci_runs_the_test_command_of_the_readme(readme: str, repository: Path) -> None:
    script = (repository / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    ci = [shlex.split(line) for line in script if line.startswith(("pip ", "check "))]
    installed = [words[-1] for words in ci if words[:2] == ["pip", "install"]]
    command = next(line for line in shell_lines(readme) if line.endswith("pytest"))
    steps = [shlex.split(step) for step in command.split(" && ")]
    assert installed == [words[-1] for words in steps if words[1:2] == ["install"]]
    assert ["check", "pytest"] in ci


def test_what_the_readme_shows_of_use_does_what_it_says(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands one after the other, then its Python, on a model with the input that they name."""
    onnx.save(onnx.parser.parse_model(HEARS), tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    use = readme[readme.index("## Use") : readme.index("From a published checkpoint")]
    lines = [shlex.split(line) for line in shell_lines(use)]
    assert [words[1] for words in lines] == ["check", "convert", "convert", "verify", "probe"]
    for words in lines:
        fewer = ["--gate-lengths", "3"] if words[1] in ("convert", "verify") else []
        assert main([*words[1:], *fewer]) == 0, words
    session, test = re.findall(r"```python\n(.*?)```", use, re.DOTALL)
    found: dict[str, Any] = {}
    exec(session, found)
    assert np.ravel(found["outputs"]["steps_length"]).tolist() == [16_000 // 160, 41_234 // 160]
    exec(test, found)
    found["test_my_export_can_be_padded"]()


HEARS = """<ir_version: 9, opset_import: ["" : 17]>
hears (float[1, T] audio) => (float[1, 1, S] steps) <int64[1] one = {1}, int64[3] size = {1, 1, 160}> {
  channel = Unsqueeze (audio, one)
  w = ConstantOfShape <value = float[1] {0.5}> (size)
  steps = Conv <kernel_shape = [160], strides = [160]> (channel, w) }"""


def documented(repository: Path) -> list[tuple[str, bool, list[str]]]:
    """Every command that a page shows, with whether it is alone on a line; those with gaps to fill in aside."""
    found = []
    for page in [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^ *(paddable [^`\n]+)$|`(paddable [^`\n]+)`", text, re.MULTILINE)
        for alone, within in lines:
            line = re.sub(r"  +\(.*\)$", "", alone or within)
            if not re.search(r"\.\.\.|[\[|…]|\bNAME\b|^paddable -", line):
                found.append((f"{page.name}: {line}", bool(alone), shlex.split(line, comments=True)[1:]))
    return found


def test_commands_in_the_documents_parse(repository: Path) -> None:
    """One that is only spoken of need not be whole, as ``paddable convert --target cuda``."""
    shown = documented(repository)
    assert len(shown) > 80
    for line, alone, (name, *words) in shown:
        command = paddable.get_command(click.Context(paddable), name)
        assert command is not None, line
        with nullcontext() if alone else suppress(click.MissingParameter, click.BadOptionUsage):
            command.make_context(name, words)


def test_containers_in_seconds_have_a_rate_in_the_documents(repository: Path) -> None:
    """A family knows how many steps a second has; nothing says it of a graph."""
    shown = documented(repository)
    asked = [(line, words) for line, _, (name, *words) in shown if name in ("check", "convert", "probe")]
    seconds = [(line, words) for line, words in asked if re.search(r"--containers? [\d.]+s\b", line)]
    assert len(seconds) > 6
    assert [line for line, words in seconds if "--rate" not in words] == []


def test_links_lead_somewhere(repository: Path) -> None:
    for document in (*repository.glob("*.md"), *(repository / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_commands_of_known_ctc_models_parse(repository: Path) -> None:
    text = (repository / "docs/models/ctc.md").read_text(encoding="utf-8")
    shown = [shlex.split(line) for line in re.findall(r"`paddable ([^`]+)`", text)]
    assert len(shown) == 8
    for name, *words in shown:
        command = paddable.get_command(click.Context(paddable), name)
        assert command is not None
        command.make_context(name, words)
