"""What the gates leave undone because it would tell nothing, and that what would tell is done."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from paddable.api.certificate import certificate
from paddable.api.opened import Opened, open_model
from paddable.gates import Candidate, alone, judge
from paddable.gates.alone import judge_alone
from paddable.gates.engine import Engine
from paddable.gates.junk import FILLINGS
from paddable.gates.lengths import choose
from paddable.gates.oracle import Oracle
from paddable.gates.signals import Numbers, Signals
from paddable.gates.whole import COMPARED, _fillings
from paddable.graph.io.write import to_proto
from paddable.lengths import Span, parse
from paddable.padding.rewrite.rewrite import rewrite

from .mutation import remedies_of


@pytest.fixture(scope="module")
def opened(encoder: onnx.ModelProto) -> Opened:
    return open_model(encoder, ["x:1=T"])


def test_native_answers_once_at_each_length_for_all_containers(
    opened: Opened, encoder: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[int] = Counter()
    run = Engine.run

    def counting(self: Engine, feeds: Mapping[str, np.ndarray]) -> Any:
        if self._where == "native":
            asked[feeds["x"].shape[1]] += 1
        return run(self, feeds)

    monkeypatch.setattr(Engine, "run", counting)
    candidates = []
    for size in (8, 12, 16):
        metadata = certificate(opened.analyse(), {}, {"T": size}, "cpu")
        padded = to_proto(rewrite(opened.analyse(), {"T": size})).SerializeToString()
        candidates.append(Candidate(str(size), padded, metadata, {"T": size}))
    report = judge(opened.analyse(), encoder.SerializeToString(), candidates)
    assert report.ok, report.to_json()
    assert {(row.model, row.length) for row in report.rows} == {
        (str(size), n) for size in (8, 12, 16) for n in range(1, size + 1)
    }
    whole = {1, 16, 8 // 2 + 1, 12 // 2 + 1, 16 // 2 + 1, 8, 12}  # where noise is measured, with the optimiser off
    assert all(count == 1 + (length in whole) for length, count in asked.items()), asked


@pytest.mark.parametrize("small", [True, False])
def test_memory_is_kept_between_runs_where_values_are_small(
    opened: Opened, encoder: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    if not small:
        monkeypatch.setattr(sys.modules[judge.__module__], "_SMALL", 0)
    kept: dict[str, set[bool]] = defaultdict(set)
    init = Engine.__init__

    def noting(self: Engine, model: Any, *, where: str = "", arena: bool = False, **options: Any) -> None:
        kept[where].add(arena)
        init(self, model, where=where, arena=arena, **options)

    monkeypatch.setattr(Engine, "__init__", noting)
    metadata = certificate(opened.analyse(), {}, {"T": 12}, "cpu")
    padded = to_proto(rewrite(opened.analyse(), {"T": 12})).SerializeToString()
    candidate = Candidate("static", padded, metadata, {"T": 12})
    assert judge(opened.analyse(), encoder.SerializeToString(), [candidate], limit=3).ok
    assert kept["native"] == kept["static"] == {small}


def test_each_filling_stands_in_the_padding_and_all_of_them_at_the_ends() -> None:
    cases = [{"T": n} for n in range(10, 74)]
    found = _fillings(cases, cases[-1])
    assert found[0] == found[-2] == list(range(FILLINGS)), "the shortest, and the longest that leaves padding"
    compared = [(first, more) for first, *more in found if more]
    assert len(compared) == COMPARED and all(first == 0 for first, _ in compared)
    assert {filling for _, more in compared[1:-1] for filling in more} == {1, 2, 3, 4}
    turned = Counter(first for first, *more in found if not more)
    assert set(turned) == set(range(FILLINGS)) and min(turned.values()) >= 8
    assert all(len(fillings) > 1 for fillings in _fillings(cases[: COMPARED - 1], cases[-1]))


def test_noise_is_measured_as_far_as_an_error_needs_it(
    opened: Opened, encoder: onnx.ModelProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    init = Engine.__init__

    def noting(self: Engine, model: Any, *, optimise: bool = True, **options: Any) -> None:
        made.append(optimise)
        init(self, model, optimise=optimise, **options)

    monkeypatch.setattr(Engine, "__init__", noting)
    metadata = certificate(opened.analyse(), {}, {}, "cpu")
    oracle = Oracle(encoder.SerializeToString(), metadata)
    engine = oracle.engine
    signals = Signals(metadata, engine.dtypes, engine.shapes, {"T": 12}, Numbers({}), 1, 0)
    assert oracle.noise(signals, 0, {"T": 9}, {"y": 0.0, "pooled": 0.0}) == {"y": 0.0, "pooled": 0.0}
    assert made == [True]
    noise = oracle.noise(signals, 0, {"T": 9}, {"y": np.inf, "pooled": np.inf})
    assert made == [True, False] and 0 <= noise["y"] < 1e-5
    assert oracle.noise(signals, 0, {"T": 9}, {"y": 1.0}) is noise, "there is no more to measure"


def test_equal_layers_are_judged_alone_once_and_a_missing_remedy_is_found_in_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 9, opset_import: ["" : 17]> g (float[1, 4, T] x) => (float[1, 4, T] y) {
           a = Conv <pads = [1, 1]> (x, w) b = Conv <pads = [1, 1]> (a, v) c = Conv <pads = [1, 1]> (b, w)
           y = Conv <pads = [1, 1]> (c, v) }"""
    )
    rng = np.random.default_rng(0)
    for name in "wv":
        model.graph.initializer.append(numpy_helper.from_array(rng.normal(size=(4, 4, 3)).astype(np.float32), name))
    for number, node in enumerate(model.graph.node):
        node.name = f"conv_{number}"
    judged = []
    really = alone._judge

    def counting(analysis: Any, unit: Any, *rest: Any) -> Any:
        judged.append(unit[0].node.name)
        return really(analysis, unit, *rest)

    monkeypatch.setattr(alone, "_judge", counting)
    analysis = open_model(model, ["x:2=T"]).analyse()
    cases = [{"T": 5}, {"T": 9}]
    results = judge_alone(analysis, {"T": 12}, cases)
    assert [site.node for site in results] == ["conv_0", "conv_1", "conv_2", "conv_3"]
    assert all(site.ok for site in results) and len(judged) < 4
    for _, node, _, remedies in remedies_of(analysis):
        results = judge_alone(analysis, {"T": 12}, cases, leave_out=frozenset(id(remedy) for remedy in remedies))
        assert [site.node for site in results if site.ok is False] == [node]


def test_a_smaller_container_takes_the_lengths_that_are_answered_first() -> None:
    expression, spans = parse("(S-400)//160+1"), {"S": Span(400, None)}
    wide = choose(spans, {"S": 80_000}, [expression])
    small = [steps["S"] for steps in choose(spans, {"S": 40_000}, [expression], known=wide)]
    assert len(small) == len(wide) and small[0] == 400 and small[-1] == 40_000
    assert {steps["S"] for steps in wide if steps["S"] <= 40_000} < set(small)


def test_a_symbolic_form_leaves_containers_to_the_static_one_beside_it(opened: Opened) -> None:
    metadata = certificate(opened.analyse(), {}, {}, "cpu")
    single, beside = (Candidate("symbolic", b"", metadata, {"T": 40}, beside) for beside in (False, True))
    for compared in (False, True):
        assert [size["T"] for size in single.containers({"T": 9}, compared=compared)] == [9, 10, 18, 40]
    assert [size["T"] for size in beside.containers({"T": 9}, compared=True)] == [9, 10, 18, 40]
    assert [size["T"] for size in beside.containers({"T": 9}, compared=False)] == [10, 18]
    assert [size["T"] for size in beside.containers({"T": 30}, compared=False)] == [31]
    assert [size["T"] for size in beside.containers({"T": 40}, compared=False)] == [40]
