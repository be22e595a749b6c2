"""Random time-axis graphs: every one is exact or refused, and few are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from .campaign import REQUIRED
from .judge import judge
from .recipe import Recipe, build, random_recipe, recipes

GRAPHS = int(os.environ.get("PADDABLE_SOUNDNESS_GRAPHS", "300"))


@pytest.fixture(scope="module")
def report(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The campaign in processes of its own, because a kernel that crashes takes its process along."""
    place = tmp_path_factory.mktemp("soundness") / "report.json"
    command = [sys.executable, "-m", "tests.soundness", "--graphs", str(GRAPHS), "--report", str(place)]
    path = os.pathsep.join([str(repository / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, cwd=repository, env={**os.environ, "PYTHONPATH": path}, check=False)
    result: dict[str, object] = json.loads(place.read_text())
    assert result["graphs"] == GRAPHS
    return result


def test_no_graph_is_silently_wrong(report: dict[str, object]) -> None:
    assert report["bad"] == []


def test_few_graphs_are_refused(report: dict[str, object]) -> None:
    assert report["refused"] + report["tight"] <= 0.02, report["reasons"]  # type: ignore[operator]


def test_few_graphs_are_too_ill_conditioned_to_judge(report: dict[str, object]) -> None:
    assert report["ill-conditioned"] <= 0.01  # type: ignore[operator]


def test_most_graphs_leak_under_plain_zero_padding(report: dict[str, object]) -> None:
    assert report["leaking"] >= 0.5  # type: ignore[operator]


@pytest.mark.skipif(GRAPHS < 1000, reason="shares of operators are counted over a thousand graphs or more")
def test_every_operator_is_met_on_a_ragged_axis(report: dict[str, object]) -> None:
    assert len(REQUIRED) > 120
    assert report["rare"] == {}


@given(recipes())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_recipes_that_hypothesis_shrinks(recipe: Recipe) -> None:
    verdict = judge(recipe)
    assert verdict.outcome in ("exact", "refused", "ill-conditioned"), verdict.reason


def test_a_recipe_gives_the_same_graph_again() -> None:
    recipe = random_recipe(3)
    assert build(recipe).model.SerializeToString() == build(recipe).model.SerializeToString()
