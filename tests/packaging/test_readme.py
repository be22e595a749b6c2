"""What the documents tell a reader to type is what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from paddable.cli.main import paddable


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


def test_commands_in_the_readme_parse(readme: str) -> None:
    shown = [shlex.split(line) for line in shell_lines(readme) if line.startswith("paddable ")]
    assert shown
    for _, name, *words in shown:
        command = paddable.get_command(click.Context(paddable), name)
        assert command is not None, name
        command.make_context(name, words)


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
