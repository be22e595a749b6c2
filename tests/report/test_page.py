"""The page: whole, self-contained, small, and with what it was given."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from paddable.divergence import Layer, ProbeReport
from paddable.findings import Finding
from paddable.gates import GateReport, Row, SiteResult
from paddable.report import embedded, page

VOID = {"meta", "link", "rect", "path", "circle", "br"}


class Reader(HTMLParser):
    """Checks that every element is closed where it was opened, and collects what the page says."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if "id" in found:
            self.ids.append(found["id"] or "")
        self.links += [found[name] or "" for name in ("href", "src") if name in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


def data(**parts: Any) -> dict[str, Any]:
    return {"title": "model.onnx", "command": "convert", "ok": True, "verdict": "It holds.", **parts}


def series(name: str, error: Any, fork: Any) -> dict[str, Any]:
    points = [[0, 0.0], [1000, error]]
    return {"name": name, "points": points, "fork": fork, "largest": error, "output": error, "where": "conv_3"}


FORK = {"node": "conv_3", "other": "n3", "op": "Conv", "module": "encoder.3", "source": "model.py:7", "inputs": 0.0}
CAUSE = {"kind": "padding", "code": "PAD102", "text": "it leaks", "fix": "mask it"}
REMEDY = {"code": "PAD102", "op": "Conv", "leak": "it reads", "remedy": "zero", "new": ["Where"]}
SYMBOL = {"symbol": "T", "input": "x, axis 1", "min": 1, "max": None, "step": 1, "containers": [40]}
HEAT = [{"label": "encoder.3", "errors": [0.0, 1e-3, "inf"], "reach": 0.5}]

EVERYTHING = data(
    facts={"Containers": "T = 40"},
    fork={**FORK, "error": "inf", "missing": ["up"], "cause": CAUSE},
    gates=[{"gate": "L", "judged": 3, "failing": 1, "figures": "bit-equal"}],
    failing=[{"gate": "L", "node": "conv_3", "length": "", "error": "", "why": "differs"}],
    depth={
        "nodes": 1001,
        "tolerance": 1e-4,
        "series": [series("plain zero padding", "inf", [1000, "inf"]), series("converted", 1e-7, None)],
    },
    heat={"maps": [{"name": "converted", "rows": HEAT}]},
    sweep=[{"name": "T=40", "points": [[1, 1e-7, 1e-5], [40, 2e-7, 1e-5]]}],
    domain=[{**SYMBOL, "limits": {"min": "a kernel"}}],
    remedies=[
        {
            **REMEDY,
            "before": ["Add", "Conv"],
            "after": ["Add", "Where", "Conv"],
            "places": [{"node": "conv_3", "module": "", "source": ""}],
        }
    ],
    islands={"target": "directml", "text": "2 nodes", "parts": [{"provider": "directml", "home": True, "nodes": 2}]},
    ranges=[{"value": "v", "largest": 7e4}],
    range_rows=[{"value": "v", "peak": 7e4}],
    times=[{"name": "native", "ms": 2.0, "plain": True}, {"name": "container", "ms": 1.0}],
    tables=[{"title": "Heard", "rows": [{"clip": "a.wav", "heard": "so my"}]}],
    versions={"paddable": "0"},
)


def test_every_section_is_there_and_reached() -> None:
    found = read(page(EVERYTHING))
    sections = ["fork", "tables", "gates", "depth", "heat", "sweep", "domain", "remedies", "islands", "ranges", "times"]
    assert [name for name in found.ids if name != "content"] == sections
    assert {f"#{name}" for name in sections} <= set(found.links)
    for words in ("PAD102", "encoder.3", "model.py:7", "mask it", "conv_3", "so my", "T = 40", "directml"):
        assert words in found.said


@pytest.mark.parametrize(
    "label",
    ["Error along the graph", "Error over lengths", "Accepted lengths", "Range along the graph", "Time of one run"],
)
def test_a_picture_keeps_its_letters_on_a_phone(label: str) -> None:
    """It scrolls, and does not shrink until they cannot be read."""
    assert f'aria-label="{label}"><div class="wide"><svg' in page(EVERYTHING)


def test_the_page_asks_for_nothing() -> None:
    text = page(EVERYTHING)
    assert all(link.startswith(("#", "data:")) for link in read(text).links)
    assert not re.search(r"https?:|<script|@import|url\(", text)


def test_a_part_that_is_missing_leaves_no_hole() -> None:
    found = read(page(data()))
    assert found.ids == ["content"]
    assert "It holds." in found.said and "Passed" in found.said


def test_markup_in_names_is_text() -> None:
    text = page({**EVERYTHING, "title": "<b>&model", "verdict": "</p><script>alert(1)</script>"})
    assert "<script" not in text and "<b>" not in text
    assert "<b>&model" in read(text).said


def test_a_failure_is_told_in_words() -> None:
    assert "Not passed" in read(page({**EVERYTHING, "ok": False})).said


@pytest.mark.parametrize("blocks", [70])
def test_a_page_of_many_blocks_stays_small(blocks: int) -> None:
    layers = [
        Layer(
            f"encoder/block.{k}/node.{i}",
            "MatMul",
            f"encoder.block.{k}",
            f"v{k}.{i}",
            1e-7,
            (1e-7,) * 160,
            0.7,
            (3.0, 3.0),
        )
        for k in range(blocks)
        for i in range(40)
    ]
    report = ProbeReport(
        "a", "b", {"T": 300}, ({"T": 500}, {"T": 300}), 1e-4, (), {"y": 1e-7}, (), layers,
        {"nodes": 2800, "paired": 2800, "compared values": 2800},
    )  # fmt: skip
    from paddable.divergence.shown import about_probe

    assert len(page(about_probe(report))) < 1_000_000


def test_a_notebook_shows_a_report() -> None:
    row = Row("T=40", "y", 7, 40, 0.5, 0.0, 1e-5, 0.9)
    shown = GateReport([row], [SiteResult("conv_3", "Conv", False, "y differs")])._repr_html_()
    assert shown.startswith("<iframe")
    assert "conv_3" in shown and "<script" not in shown
    assert "&lt;h1&gt;" in embedded(data())


def test_findings_show_themselves() -> None:
    from paddable.api.checking import CheckReport

    shown = CheckReport((Finding("PAD102", "conv_3", "Conv", "it reads the padding", "zero it"),))._repr_html_()
    assert "PAD102" in shown and "it reads the padding" in shown


def _probed(paths: list[str], largest: float = 3.0) -> ProbeReport:
    layers = [
        Layer(f"n{i}", "MatMul", path, f"v{i}", 1e-7, (1e-7,) * 20, 0.5, (largest + i, largest + i))
        for i, path in enumerate(paths)
    ]
    matched = {"nodes": len(paths), "paired": len(paths), "compared values": len(paths)}
    return ProbeReport("a", "b", {"T": 20}, ({"T": 40}, {"T": 20}), 1e-4, (), {"y": 2e-6}, (), layers, matched)


def test_the_axes_name_the_layers_and_the_nearest_are_listed() -> None:
    from paddable.divergence.shown import about_probe

    paths = [f"encoder.block_{k}.{part}" for k in range(6) for part in ("attention.query", "feed_forward")]
    shown = about_probe(_probed(paths, 65000.0))
    assert [label for _, label in shown["depth"]["ticks"]] == [f"encoder.block_{k}" for k in range(6)]
    found = read(page(shown)).said
    assert found.count("…block_0") + found.count("encoder.block_0") >= 2  # on both axes
    assert shown["range_rows"][0]["layer"] == "encoder.block_5.feed_forward"
    assert shown["range_rows"][0]["headroom"] == pytest.approx(65504 / 65011, abs=1e-2)
    assert "first node" not in found
    assert "valid part ends, T = 20" in found and ">40<" in page(shown)
    assert shown["depth"]["series"][0]["largest"] == 2e-6  # no less than at the output


def test_a_long_module_name_loses_whole_parts_in_front() -> None:
    names = {
        "model.encoder.layers.11.attention": "…lay….11.attention",
        "model.encoder.attention_layers.3": "…attention_laye….3",
        "model.encoder.attention.query": "…attention.query",
        "a_single_but_long_name": "a_single_but_long…",
    }
    for label, told in names.items():
        said = read(page(data(heat={"maps": [{"name": "m", "rows": [{**HEAT[0], "label": label}]}]}))).said
        assert told in said and len(told) <= 18


def test_filled_and_hollow_dots_are_told_apart_in_words() -> None:
    sweep = [{"name": f"T={size}", "points": [[1, 1e-7, 1e-5], [size, 2e-7, 1e-5]]} for size in (20, 40)]
    assert "Filled dots are T=40, hollow ones T=20." in read(page(data(sweep=sweep))).said


def test_what_two_precisions_are_allowed_are_two_level_lines() -> None:
    allowed = {"fp32": 1e-5, "fp16": 1e-2}
    sweep = [{"name": name, "points": [[n, 1e-7, most] for n in (1, 9, 20)]} for name, most in allowed.items()]
    rules = re.findall(r'class="rule" d="M([^"]*)"', page(data(sweep=sweep)))
    assert len(rules) == 2
    assert all(len({place.split()[1] for place in rule.split("L")}) == 1 for rule in rules)


def test_a_column_that_says_nothing_is_left_out() -> None:
    rows = [{"node": "a", "source": "", "peak": None}, {"node": "b", "source": "", "peak": 1.0}]
    shown = page(data(tables=[{"title": "T", "rows": rows}]))
    assert ">Peak</th>" in shown and "Source" not in shown


def test_the_verdict_allows_what_its_own_tables_show() -> None:
    from paddable.api.reporting import _Judged, _verdict

    told = _verdict(True, _Judged(2.9e-4, 4), "T from 1 on", None, _probed(["a"] * 3), "input")
    assert "at most 0.00029 of scale away at the 4 that were tried" in told
    worse = dataclasses.replace(_probed(["a"] * 3), outputs={"y": 4.9e-4})
    assert "at most 0.00049 of scale away" in _verdict(True, _Judged(2.9e-4, 4), "T from 1 on", None, worse, "input")
