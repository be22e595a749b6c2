"""``python -m tests.soundness --graphs 20000 --workers 2``: the long campaign, ``--only N`` for one graph, and
``--step NAME`` for graphs that all have one step."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import onnx

from .campaign import Summary, campaign, shrink
from .judge import judge
from .recipe import Recipe, build, random_recipe
from .steps import STEPS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soundness", description=__doc__)
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other graphs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", type=Path, help="write the counts here, as JSON")
    parser.add_argument("--only", type=int, help="judge one graph, shrink it and print it")
    parser.add_argument("--save", help="with --only: write the shrunk model here")
    parser.add_argument("--step", choices=sorted(STEPS), help="put this step in the middle of every graph; one worker")
    arguments = parser.parse_args()

    def recipe_of(number: int) -> Recipe:
        recipe = random_recipe(number, arguments.seed)
        if arguments.step is None:
            return recipe
        middle = len(recipe.steps) // 2
        added = (arguments.step, number)
        return replace(recipe, steps=(*recipe.steps[:middle], added, *recipe.steps[middle:]))

    if arguments.only is None:
        numbers = range(arguments.first, arguments.first + arguments.graphs)
        if arguments.step is None:
            summary = campaign(numbers, arguments.seed, arguments.workers)
        else:
            summary = Summary()
            for number in numbers:
                summary.add(number, judge(recipe_of(number)))
        print(summary.text())
        if arguments.report:
            arguments.report.write_text(json.dumps(summary.to_json(), indent=1))
        return 1 if summary.bad else 0
    recipe = shrink(recipe_of(arguments.only))
    case = build(recipe)
    print(recipe)
    print(case.lengths, case.length_inputs, case.mask_inputs, "rows", case.rows, "native rows", case.native_rows)
    print(onnx.printer.to_text(case.model))
    verdict = judge(recipe)
    print(verdict)
    if arguments.save:
        onnx.save(case.model, arguments.save)
    return verdict.outcome not in ("exact", "refused")


if __name__ == "__main__":
    sys.exit(main())
