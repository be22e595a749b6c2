"""The library names arguments, the command line flags: no message says `--flag` to a caller from Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from onnx import parser, save

import paddable
from paddable.cli.commands import COMMANDS
from paddable.cli.flags import FLAGS, in_flags
from paddable.cli.main import main
from paddable.cli.main import paddable as group
from paddable.errors import MisuseError, arguments

SOURCE = Path(paddable.__file__).parent
ABOUT_THE_COMMAND_LINE = {
    "divergence/causes.py",  # what `paddable probe` advises next
    "padding/suggestion.py",  # the line to run next
    "providers/document.py",  # writes a page of the docs
}


def messages() -> Iterator[tuple[str, int, str]]:
    """File, line and text of every string of the library that is no docstring."""
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        if name.startswith("cli/") or name in ABOUT_THE_COMMAND_LINE:
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield name, node.lineno, node.value


def test_no_message_of_the_library_names_a_flag() -> None:
    whole_commands = re.compile(r"(paddable|pip) [a-z]+( -[^`;,]*)?")
    found = [
        (name, line, text)
        for name, line, text in messages()
        if re.search(r"(?<![\w-])--[a-z]", whole_commands.sub("", text))
    ]
    assert found == []


def test_every_flag_is_one_of_the_command_line() -> None:
    with click.Context(group) as context:
        commands = [group.get_command(context, name) for name in COMMANDS]
    known = {flag for command in commands if command for option in command.params for flag in option.opts}
    assert set(FLAGS.values()) <= known


def test_every_argument_that_a_message_names_has_a_flag() -> None:
    named = {name for _, _, text in messages() for name in re.findall(r"`([a-z_]+)(?:=[^`]*)?`", text)}
    assert {"lengths", "verify"} <= named & FLAGS.keys()
    builders = "\n".join(file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py"))
    given = set(re.findall(r"\barguments\(([a-z_]+)=", builders))
    assert given and given <= FLAGS.keys()


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (arguments(lengths=["x:1=T", "y:1=U"], batch="x:0"), "--length x:1=T --length y:1=U --batch x:0"),
        ("`verify=False`, or `force=True`", "--no-verify, or --force"),
        ("add `containers=[STEPS]`; no `lengths` are declared", "add --container STEPS; no --length are declared"),
        ("it's `rate=16000`, see `paddable doctor`", "it's --rate 16000, see `paddable doctor`"),
        ("`nn.LSTM(bidirectional=True)` and `h_n`", "`nn.LSTM(bidirectional=True)` and `h_n`"),
        ({"what": ["`run=True` does it"], "count": 3}, {"what": ["--run does it"], "count": 3}),
    ],
)
def test_arguments_become_flags(told: object, shown: object) -> None:
    assert in_flags(told) == shown


def test_one_mistake_reads_in_the_words_of_who_made_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> m (float[1,T] x) => (float[1,T] y) { y = Abs(x) }'
    )
    save(model, tmp_path / "m.onnx")
    with pytest.raises(MisuseError, match=r"no input 'z'.*declare `lengths=\['x:1=T'\]`"):
        paddable.check(tmp_path / "m.onnx", ["z:1=T"])
    for extra in ([], ["--json"]):
        assert main(["check", str(tmp_path / "m.onnx"), "--length", "z:1=T", *extra]) == 2
        said = capsys.readouterr()
        assert "declare --length x:1=T" in (said.out if extra else said.err) and "`" not in said.out + said.err


def test_no_precision_and_no_examples_replace_others_in_silence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> m (float[1,T] x) => (float[1,T] y) { y = Abs(x) }'
    )
    save(model, tmp_path / "m.onnx")
    asked = ["convert", str(tmp_path / "m.onnx"), "--length", "x:1=T", "--container", "9", "-o", str(tmp_path / "b")]
    for extra, words in (
        (["--precision", ""], "'' names no precision"),
        (["--precision", "fp16,"], "'fp16,' names no precision"),
        (["--precision", "fp16", "--examples", "a.npz", "--examples", "b.npz"], "--examples is given 2 times, last as"),
    ):
        assert main([*asked, *extra]) == 2
        assert words in capsys.readouterr().err
    assert main([*asked, "--precision", "fp32", "--precision", "fp16"]) == 0
    assert {file.name for file in (tmp_path / "b").glob("cpu-*")} == {"cpu-fp32-9.onnx", "cpu-fp16-9.onnx"}
