"""The accepted lengths are told to a person, each limit with its reason and node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

import paddable as library
from paddable.lengths.accepted import told_domain

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
STEP = """g (float[1, T, 4] x) => (float[1, N, 8] y) <int64[3] s = {1, -1, 8}> { y = Reshape(x, s) }"""
LONGEST = """g (float[1, T, 4] x) => (float[1, T, 4] y) <float[6, 4] t = {%s}, int64[1] z = {0}, int64[1] one = {1}>
{ s = Shape(x) n = Gather(s, one) p = Slice(t, z, n, z) y = Add(x, p) }"""
SHORTEST = """g (float[1, 1, T] x) => (float[1, 1, N] y) <float[1, 1, 5] w = {1, 2, 3, 4, 5}> { y = Conv(x, w) }"""


def check(text: str, axis: int) -> list[str]:
    report = library.check(onnx.parser.parse_model(HEAD + text), [f"x:{axis}=T"])
    assert report.refusal is None
    return told_domain(report.domain)


def test_a_step() -> None:
    (line,) = [line for line in check(STEP, 1) if "every" in line]
    assert line.startswith("T: of the lengths only every 2nd is accepted (2, 4, 6, ...): ")
    assert ", Reshape)" in line and "frozen at export" in line


def test_a_longest() -> None:
    text = LONGEST.replace("%s", ",".join(["0.5"] * 24))
    lines = check(text, 1)
    assert any("the longest accepted length is 6: " in line and "(node " in line for line in lines)


def test_a_shortest() -> None:
    (line,) = check(SHORTEST, 2)
    assert line.startswith("T: the shortest accepted length is 5: ") and ", Conv)" in line


def test_nothing_is_said_of_a_model_that_takes_everything() -> None:
    assert check("g (float[1, T, 4] x) => (float[1, T, 4] y) { y = Relu(x) }", 1) == []


@pytest.mark.parametrize("command", ["check", "convert", "verify"])
def test_the_command_line_tells_it(paddable: Any, tmp_path: Path, command: str) -> None:
    native, padded = tmp_path / "n.onnx", tmp_path / "p.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + SHORTEST), native)
    words = ("--length", "x:2=T", "--container", "9", "--gate-lengths", "2")
    done = paddable("convert", native, "-o", padded, *words)
    if command == "check":
        done = paddable("check", native, "--length", "x:2=T")
    elif command == "verify":
        done = paddable("verify", padded, "--against", native, "--gate-lengths", "2")
    assert "T: the shortest accepted length is 5" in done.out + done.err
