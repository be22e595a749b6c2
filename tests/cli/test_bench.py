"""``paddable bench`` measures containers beside native, in tables, as JSON and as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from paddable.api import convert

TEXT = """
<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 4, T] x, int64[1] voice) => (float[1, 4, U] y) {
  told = Gather (table, voice)
  heard = Conv <kernel_shape = [3], pads = [1, 1]> (x, w)
  y = Mul (heard, told)
}
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = onnx.parser.parse_model(TEXT)
    for name, shape in (("w", (4, 4, 3)), ("table", (2, 4, 1))):
        weights = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, name))
    folder = tmp_path_factory.mktemp("bench") / "net"
    convert(model, ["x:2=T"], containers=[20, 80], rate=10, out=folder, verify=False, batch="none")
    return folder


def test_every_container_is_measured_beside_native(paddable: Any, bundle: Path) -> None:
    done = paddable("bench", str(bundle), "--runs", "5", "--threads", "1", "--json")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert (told["summary"]["provider"], told["summary"]["form"]) == ("cpu", "native")
    assert told["summary"]["mixed"] > 0
    assert told["summary"]["cold_start"] > max(row["first"] for row in told["first"]) / 1000
    assert [(row["form"], row["steps"]["T"], row["seconds"]) for row in told["steady"]] == [
        ("container", 20, 2),
        ("native", 20, 2),
        ("container", 80, 8),
        ("native", 80, 8),
    ]
    for row in told["steady"]:
        assert row["p50"] <= row["p90"] <= row["p99"]
        assert row["speed"] == pytest.approx(row["seconds"] * 1000 / row["p50"])
        assert row["runs"] == 5
    for padded, native in zip(told["steady"][::2], told["steady"][1::2], strict=True):
        assert padded["ratio"] == pytest.approx(padded["p50"] / native["p50"])
    assert [(row["form"], row["container"]) for row in told["first"]] == [
        ("container", {"T": 20}),
        ("container", {"T": 80}),
        ("native", {}),
    ]


def test_tables_and_a_page(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    page = tmp_path / "bench.html"
    done = paddable("bench", str(bundle), "--runs", "3", "--report", str(page))
    assert done.code == 0
    first, second, *_ = done.out.splitlines()
    assert first == "on: cpu; auto takes native"
    assert second.startswith("containers over native, lengths mixed: ")
    assert done.out.splitlines()[-1] == f"the page is {page}"
    html = page.read_text(encoding="utf-8")
    assert "<h1>net</h1>" in html and "<h3>steady state; ratio" in html
    assert max(map(len, done.out.splitlines()[3:-1])) <= 80 and done.out.count("p99 ms") == 1  # the table is whole
    assert list(tmp_path.iterdir()) == [page]


def test_what_auto_takes_is_told_where_it_was_asked(paddable: Any, bundle: Path) -> None:
    done = paddable("bench", str(bundle), "--runs", "3", "--provider", "cpu")
    assert done.out.splitlines()[0] == "on: cpu; container"


def test_what_cannot_be_measured_is_told(paddable: Any, bundle: Path, tmp_path: Path) -> None:
    done = paddable("bench", str(bundle), "--runs", "3", "--report", str(tmp_path / "absent" / "a.html"))
    assert done.code == 2 and "absent: no such folder" in done.err
    done = paddable("bench", str(bundle / "native.onnx"))
    assert done.code == 2 and "its lengths are not known; Paddable did not make it" in done.err
