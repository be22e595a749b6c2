"""What the page of a conversion claims: no more than was tried, and no more than the containers hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from paddable.cli import main

MODEL = """
<ir_version: 9, opset_import: ["" : 18]>
g (float[1, 1, T] x) => (float[1, 1, T] y) <float[1, 1, 3] w = {0.5, 1.0, 0.25}> {
    c = Conv <kernel_shape = [3], pads = [1, 1]> (x, w)
    d = Relu (c)
    y = Conv <kernel_shape = [3], pads = [1, 1]> (d, w)
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``in.onnx``, which accepts any length."""
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "in.onnx")
    return tmp_path


def _convert(folder: Path, *words: str) -> int:
    return main(["convert", str(folder / "in.onnx"), "--length", "x:2=T", "--gate-lengths", "4", *words])


def _verdict(page: Path) -> str:
    found = re.search('<p class="verdict[^>]*>(.*?)</p>', page.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def test_a_bundle_without_an_upper_bound_holds_what_its_containers_hold(folder: Path) -> None:
    page = folder / "page.html"
    assert _convert(folder, "-o", f"{folder}/out/", "--containers", "20,40", "--report", str(page)) == 0
    told = _verdict(page)
    assert "Passed" in told and "at every length (T from 1 to 40)" in told
    assert main(["verify", f"{folder}/out", "--gate-lengths", "4", "--report", str(page)]) == 0
    assert "(T from 1 to 40)" in _verdict(page)


def test_a_symbolic_container_has_no_end(folder: Path) -> None:
    page = folder / "page.html"
    assert _convert(folder, "-o", f"{folder}/out.onnx", "--keep-dynamic", "--report", str(page)) == 0
    assert "(T from 1 on)" in _verdict(page)


def test_what_no_gate_judged_is_not_passed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    words = ["-o", f"{folder}/out.onnx", "--container", "40", "--no-verify", "--report", str(page), "--json"]
    assert _convert(folder, *words) == 0
    told = _verdict(page)
    assert "Not judged" in told and "no other length was tried" in told
    assert "Passed" not in told and "every length" not in told
    report = json.loads(capsys.readouterr().out)["report"]
    assert report["ok"] and report["outcome"] == "Not judged"


def test_a_model_in_half_is_timed_as_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = MODEL.replace("float[1", "float16[1")
    onnx.save(onnx.parser.parse_model(text.replace("<float16[1, 1, 3] w = {0.5, 1.0, 0.25}>", "")), folder / "in.onnx")
    model = onnx.load(folder / "in.onnx")
    weight = np.array([[[0.5, 1.0, 0.25]]], np.float16)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(model, folder / "in.onnx")
    words = ["-o", f"{folder}/out.onnx", "--container", "40", "--report", str(folder / "page.html"), "--json"]
    assert _convert(folder, *words) == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert [row["name"] for row in report["times"]] == ["native at T=40", "fp16 container T=40"]


def test_the_verdict_tells_what_each_precision_moves(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    text = MODEL.replace("float[1, 1, T]", "float[1, 64, T]").replace("<float[1, 1, 3] w = {0.5, 1.0, 0.25}>", "")
    model = onnx.parser.parse_model(text)
    weight = rng.standard_normal((64, 64, 3)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(model, folder / "in.onnx")
    page = folder / "page.html"
    words = ["-o", f"{folder}/out/", "--container", "40", "--report", str(page), "--json"]
    assert _convert(folder, *words, "--precision", "fp32,fp16,int8") == 0
    gates = json.loads(capsys.readouterr().out)["report"]["gates"]
    figures = {row["gate"]: float(row["figures"].split()[1].rstrip(",")) for row in gates if row["judged"] is None}
    assert figures["int8, y"] > 10 * figures["fp16, y"] > 0
    told = f"up to {figures['fp16, y']:.2g} in fp16, {figures['int8, y']:.2g} in int8 of scale from native in fp32"
    assert told in _verdict(page)
