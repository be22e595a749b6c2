"""What the documents tell a reader to type is what there is."""

from __future__ import annotations

import re
import shlex
from contextlib import nullcontext, suppress
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
