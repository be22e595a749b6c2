"""Judges many random graphs and sums up: refusals by reason, shares of operators, share that leaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from .judge import Verdict, judge
from .recipe import Recipe, build, random_recipe
from .runs import Session

__all__ = ["Summary", "campaign", "shrink"]


REQUIRED = [
    "Abs", "Acos", "Acosh", "Add", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh", "AveragePool",
    "BatchNormalization", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "Celu",
    "Clip", "Concat", "ConstantOfShape", "Conv", "ConvTranspose", "Cos", "Cosh", "CumSum", "DequantizeLinear",
    "Div", "DynamicQuantizeLinear", "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "Flatten", "Floor", "GRU",
    "Gather", "GatherElements", "GatherND", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater",
    "GreaterOrEqual", "GroupNormalization", "HardSigmoid", "HardSwish", "InstanceNormalization", "IsInf", "IsNaN",
    "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax", "LpNormalization",
    "LpPool", "MatMul", "MatMulInteger", "Max", "MaxPool", "Mean", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or",
    "PRelu", "Pad", "Pow", "QuantizeLinear", "RMSNormalization", "RNN", "Range", "Reciprocal", "ReduceL1",
    "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare", "Relu", "Reshape", "Resize", "Round", "STFT", "Selu", "Shape", "Shrink",
    "ScatterND", "Sigmoid", "Sign", "Sin", "Sinh", "Slice",
    "Softmax", "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub",
    "Sum", "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where", "Xor",
]  # fmt: skip
"""Operators of the rules' table and of the models that it was written for."""


@dataclass
class Summary:
    """Counts over a campaign."""

    total: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    leaks: int = 0
    tight: Counter[str] = field(default_factory=Counter)
    worst: float = 0.0
    bad: list[tuple[int, Verdict]] = field(default_factory=list)
    examples: dict[str, int] = field(default_factory=dict)

    def add(self, number: int, verdict: Verdict) -> None:
        self.total += 1
        self.outcomes[verdict.outcome] += 1
        self.leaks += verdict.leaks
        self.operators.update(verdict.operators)
        self.worst = max(self.worst, verdict.worst)
        if verdict.tight:
            self.tight[_plain(verdict.tight)] += 1
            self.examples.setdefault(_plain(verdict.tight), number)
        if verdict.outcome == "refused":
            self.reasons[_plain(verdict.reason)] += 1
            self.examples.setdefault(_plain(verdict.reason), number)
        elif verdict.outcome not in ("exact", "ill-conditioned"):
            self.bad.append((number, verdict))

    @property
    def refused(self) -> float:
        return self.outcomes["refused"] / max(1, self.total)

    @property
    def too_narrow(self) -> float:
        """Graphs whose domain `convert` would find narrower than native's, and refuse at the gates."""
        return sum(self.tight.values()) / max(1, self.total)

    @property
    def leaking(self) -> float:
        return self.leaks / max(1, self.outcomes["exact"])

    def share(self, operator: str) -> float:
        return self.operators[operator] / max(1, self.outcomes["exact"])

    def rare(self, share: float = 0.01) -> dict[str, float]:
        """Operators that must be met on a ragged axis, and are met in fewer graphs than ``share``."""
        return {name: self.share(name) for name in REQUIRED if self.share(name) < share}

    def to_json(self) -> dict[str, Any]:
        """The counts that tests and reports read; shares are of one, not of a hundred."""
        return {
            "graphs": self.total,
            "outcomes": dict(self.outcomes),
            "refused": self.refused,
            "tight": self.too_narrow,
            "ill-conditioned": self.outcomes["ill-conditioned"] / max(1, self.total),
            "leaking": self.leaking,
            "worst": self.worst,
            "reasons": dict(self.reasons.most_common()),
            "rare": self.rare(),
            "shares": {name: self.share(name) for name, _ in self.operators.most_common()},
            "bad": [[number, verdict.outcome, verdict.reason] for number, verdict in self.bad],
        }

    def text(self) -> str:
        lines = [f"graphs {self.total}: " + ", ".join(f"{k} {v}" for k, v in self.outcomes.most_common())]
        lines.append(
            f"refused {self.refused:.2%}, domain too narrow {self.too_narrow:.2%}, "
            f"leak under zero padding {self.leaking:.1%}, worst error {self.worst:.2g}"
        )
        lines += [
            f"  refused {count:4d}  {reason}   (e.g. {self.examples[reason]})"
            for reason, count in self.reasons.most_common()
        ]
        lines += [
            f"  tight   {count:4d}  {reason}   (e.g. {self.examples[reason]})"
            for reason, count in self.tight.most_common()
        ]
        lines.append(f"rarer than 1 %: {self.rare() or 'none'}")
        lines.append("operators on a ragged axis, % of graphs:")
        shares = [f"{name} {self.share(name):.1%}" for name, _ in self.operators.most_common()]
        lines += ["  " + ", ".join(shares[i : i + 8]) for i in range(0, len(shares), 8)]
        lines += [f"  {verdict.outcome.upper()} {number}: {verdict.reason}" for number, verdict in self.bad]
        return "\n".join(lines)


def _plain(reason: str) -> str:
    """A reason without its numbers and expressions, to count by kind."""
    reason = re.sub(r"\[[^\]]*\]", "[..]", reason)
    reason = re.sub(r"[\w()+*/\-.,\s]*\b[TU]\b[\w()+*/\-.,]*", " N ", reason)
    return re.sub(r"\b\d+\b", "k", reason)


def campaign(numbers: Iterable[int], seed: int = 0, workers: int = 1) -> Summary:
    """Judge the recipes of the given numbers, each worker in a process of its own."""
    summary = Summary()
    waiting = iter(numbers)
    busy = {}
    for _ in range(workers):
        _give(_Worker(seed), waiting, busy)
    while busy:
        for connection in wait(list(busy)):
            worker = busy.pop(connection)
            number = worker.number
            try:
                verdict = worker.connection.recv()
            except EOFError:
                verdict, worker = _died(number, seed), _Worker(seed)
            summary.add(number, verdict)
            _give(worker, waiting, busy)
    return summary


def _died(number: int, seed: int) -> Verdict:
    """Of a recipe that took its process along: where opening native does, `convert` refuses it."""
    process = get_context("spawn").Process(target=_open, args=(number, seed), daemon=True)
    process.start()
    process.join()
    if process.exitcode:
        return Verdict("refused", "the runtime ends the process when it opens native")
    return Verdict("crash", "the process died in a kernel of the runtime")


def _open(number: int, seed: int) -> None:
    Session(build(random_recipe(number, seed)).model)


class _Worker:
    """A process that judges one recipe after the other; a kernel that crashes takes only this process along."""

    def __init__(self, seed: int) -> None:
        self.number = -1
        self.connection, other = Pipe()
        self.process = get_context("spawn").Process(target=_serve, args=(other, seed), daemon=True)
        self.process.start()
        other.close()


def _give(worker: _Worker, waiting: Iterator[int], busy: dict[Any, _Worker]) -> None:
    number = next(waiting, None)
    if number is None:
        worker.connection.close()
        return
    worker.number = number
    worker.connection.send(number)
    busy[worker.connection] = worker


def _serve(connection: Connection, seed: int) -> None:
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        connection.send(judge(random_recipe(number, seed)))


def shrink(recipe: Recipe) -> Recipe:
    """The fewest steps that still give the recipe's outcome for the same kind of reason."""

    def kind(candidate: Recipe) -> tuple[str, str]:
        verdict = judge(candidate)
        return verdict.outcome, _plain(verdict.reason) if verdict.outcome != "wrong" else ""

    wanted = kind(recipe)
    for index in reversed(range(len(recipe.steps))):
        shorter = recipe.without(index)
        if kind(shorter) == wanted:
            recipe = shorter
    return recipe
