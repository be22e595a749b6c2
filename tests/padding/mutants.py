"""Changes the compiler one place at a time and asks its own tests whether they notice.

``python -m tests.padding.mutants RECORD`` draws mutants of cosmic-ray's operators evenly over the four rooms of
``padding/``: the rules, the facts, the deduction, and what rewrites a graph. In each room a *place* (an operator, a
number, a condition, a decorator) is drawn first and then one change of it, so that a comparison with six replacements
counts no more than a number with two. The seed is the commit, unless ``--seed`` names another.

The tests run once without a change, under coverage, which tells the tests that pass through each line. A mutant meets
those of its line: first the test file of its own name (``rules/softmax.py``:
``tests/padding/rules/test_softmax.py``), then the rest of ``tests/padding``. Random graphs (``tests/soundness``) are
not asked. What came of a mutant is a line of JSON in RECORD, and a run that was stopped goes on from there. A mutant
that changes nothing counts as a survivor.

Two kinds of change are not drawn, because nothing could notice: annotations, which Python does not evaluate here, and
``is`` in place of ``==``, which are the same for small integers.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import itertools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData

REPOSITORY = Path(__file__).resolve().parents[2]
COMPILER = Path("paddable/padding")
TESTS = Path("tests/padding")
ROOMS = {
    "rules": ("rules/*.py",),
    "facts": ("facts/*.py",),
    "deduction": ("deduce/*.py", "analysis.py"),
    "rewriting": ("rewrite/*.py", "remedies/*.py"),
}
NEEDED = 0.9
MEMORY = 12 << 30


@dataclass(frozen=True)
class Mutant:
    """One change of one place: the ``occurrence``-th place of an operator of cosmic-ray in a module."""

    room: str
    module: str
    line: int
    column: int
    operator: str
    occurrence: int

    @property
    def own(self) -> str:
        """The test file of the module's name."""
        inside = Path(self.module).relative_to(COMPILER)
        return str(TESTS / inside.parent / f"test_{inside.name}")


@dataclass(frozen=True)
class Outcome:
    """What came of a mutant; ``by`` is the first test that failed, empty for a survivor."""

    mutant: Mutant
    by: str
    seconds: float
    diff: str

    @property
    def survived(self) -> bool:
        return not self.by


# -- drawing -----------------------------------------------------------------------------------------------------------


def draw(source: Path, count: int, seed: str) -> list[Mutant]:
    """``count`` mutants, as many of each room, at places of their own."""
    drawn: dict[str, list[Mutant]] = {}
    for room, patterns in ROOMS.items():
        chance = random.Random(f"{seed} {room}")
        places = defaultdict(list)
        for pattern in patterns:
            for path in sorted((source / COMPILER).glob(pattern)):
                for mutant in _mutants(room, path, source):
                    places[mutant.module, mutant.line, mutant.column].append(mutant)
        found = [chance.choice(places[place]) for place in chance.sample(sorted(places), len(places))]
        whole = (mutant for mutant in found if _compiles(mutated(source, mutant)))
        drawn[room] = list(itertools.islice(whole, count // len(ROOMS)))
    # room by room in turn, so that a run that was stopped is even too
    return [mutant for turn in zip(*drawn.values(), strict=True) for mutant in turn]


def _mutants(room: str, path: Path, source: Path) -> Iterator[Mutant]:
    code = path.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(code)))
    silent = _annotations(code)
    for name in operator_names():
        operator = get_operator(name)
        if operator.arguments() or re.search(r"_(Eq|NotEq|Lt|LtE|Gt|GtE)_(Is|IsNot)$", name):
            continue
        positions = (start for node in nodes for start, _ in operator().mutation_positions(node))
        for occurrence, (line, column) in enumerate(positions):
            if not any(start <= (line, column) < end for start, end in silent):
                yield Mutant(room, str(path.relative_to(source)), line, column, name, occurrence)


def _annotations(code: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    found = []
    for node in ast.walk(ast.parse(code)):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr):
                found.append(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)))
    return found


def mutated(source: Path, mutant: Mutant) -> str:
    """The mutant's module."""
    code = (source / mutant.module).read_text(encoding="utf-8")
    changed = mutate_code(code, get_operator(mutant.operator)(), mutant.occurrence)
    assert changed is not None and changed != code, mutant
    return changed


def _compiles(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


# -- judging -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coverage:
    """The tests that pass through each line of each module; "" among them is what Python runs on import.

    ``every`` has those that pass through no line of the compiler too: they look at how its classes are made.
    """

    tests: dict[str, dict[int, list[str]]]
    every: frozenset[str]

    @classmethod
    def of(cls, source: Path, workers: int) -> Coverage:
        """Run the tests without a change.

        Raises:
            SystemExit: one fails, and would be told to have killed every mutant.
        """
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "coverage"
            options = [
                f"--cov={source / COMPILER}",
                f"--cov={REPOSITORY / TESTS}",
                "--cov-context=test",
                "--cov-report=",
                f"-n{workers}",
                "--dist=load",
            ]
            failed = _first_failure(source, [*options, str(TESTS)], None, COVERAGE_FILE=str(data))
            if failed:
                sys.exit(f"{failed} fails without a change")
            found = CoverageData(str(data))
            found.read()
            files = [Path(f) for f in found.measured_files()]
            tests = {str(f.relative_to(source)): found.contexts_by_lineno(str(f)) for f in files if source in f.parents}
            return cls(tests, frozenset(map(_test, found.measured_contexts())))

    def through(self, mutant: Mutant, source: Path) -> list[str]:
        """The tests that can notice a mutant, those of its own file first, then those of its own folder."""
        lines = self.tests.get(mutant.module, {})
        statement = _statement((source / mutant.module).read_text(encoding="utf-8"), mutant.line)
        found = frozenset(_test(name) for line in statement for name in lines.get(line, []))
        if not statement or "" in found:  # a definition: every test may rest on it
            found = self.every
        folder = str(Path(mutant.own).parent)
        return sorted(
            found - {""}, key=lambda name: (not name.startswith(mutant.own), not name.startswith(folder), name)
        )


def _test(context: str) -> str:
    """Coverage calls it by its id and its phase; the id of a test over texts may hold the mark between them."""
    return context.rpartition("|")[0]


def _statement(code: str, line: int) -> list[int]:
    """The lines of the smallest statement around a line, without those of the statements inside it."""
    around = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.stmt) and n.lineno <= line <= _end(n)]
    if not around:
        return []
    smallest = min(around, key=lambda n: _end(n) - n.lineno)
    inside = [n for n in ast.walk(smallest) if isinstance(n, ast.stmt) and n is not smallest]
    return [
        k for k in range(smallest.lineno, _end(smallest) + 1) if not any(n.lineno <= k <= _end(n) for n in inside)
    ] or [smallest.lineno]


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def judge(copy: Path, mutant: Mutant, tests: list[str], timeout: int) -> Outcome:
    """Put the mutant into a copy of the source and run the tests until one fails."""
    path, original = copy / mutant.module, REPOSITORY / "src" / mutant.module
    code, start = original.read_text(encoding="utf-8"), time.monotonic()
    changed = mutated(REPOSITORY / "src", mutant)
    path.write_text(changed, encoding="utf-8")
    try:
        by = _first_failure(copy, ["-n0", *tests], timeout) if tests else ""
    finally:
        shutil.copy2(original, path)  # with its time, so that its bytecode is valid again
    diff = difflib.unified_diff(code.splitlines(), changed.splitlines(), lineterm="", n=1)
    return Outcome(mutant, by, round(time.monotonic() - start, 1), "\n".join(list(diff)[2:]))


def _first_failure(source: Path, arguments: list[str], timeout: int | None, **variables: str) -> str:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write("\n".join(arguments))  # too many for a command line
        file.flush()
        try:
            done = subprocess.run(
                [*command, f"@{file.name}"],
                cwd=REPOSITORY, env={**environment, **variables}, capture_output=True, text=True, timeout=timeout,
                check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{timeout} seconds"
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit {done.returncode}: {(done.stdout + done.stderr)[-300:]}"


def record_of(path: Path) -> list[Outcome]:
    """The outcomes that a file holds."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Outcome(**{**found, "mutant": Mutant(**found["mutant"])}) for found in map(json.loads, lines)]


def run(mutants: list[Mutant], record: Path, workers: int, timeout: int) -> None:
    """Judge the mutants that the record does not hold yet."""
    known = {outcome.mutant for outcome in record_of(record)}
    source, lock, copies = REPOSITORY / "src", threading.Lock(), SimpleQueue()
    coverage = Coverage.of(source, workers)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        for k in range(workers):
            copies.put(shutil.copytree(source, Path(folder) / str(k)))

        def one(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                outcome = judge(copy, mutant, coverage.through(mutant, source), timeout)
            finally:
                copies.put(copy)
            with lock, record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
                where = f"{mutant.module}:{mutant.line} {mutant.operator.partition('/')[2]}"
                print(f"{outcome.seconds:6.1f} s  {where}: {outcome.by or 'SURVIVED'}", flush=True)

        list(pool.map(one, [mutant for mutant in mutants if mutant not in known]))


def report(outcomes: list[Outcome]) -> float:
    """Print the survivors and the share of killed mutants by room; returns the share of all."""
    survivors = sorted((o for o in outcomes if o.survived), key=lambda o: (o.mutant.module, o.mutant.line))
    for found in survivors:
        print(f"\n{found.mutant.module}:{found.mutant.line} {found.mutant.operator}\n{found.diff}")
    print()
    for room in [*ROOMS, None]:
        own = [o for o in outcomes if room in (None, o.mutant.room)]
        if own:
            killed = [o for o in own if not o.survived]
            by_name = sum(o.by.partition("::")[0] == o.mutant.own for o in killed)
            share = len(killed) / len(own)
            print(
                f"{room or 'all':10} {len(killed):4} of {len(own):4} killed ({share:.1%}), "
                f"{by_name} by the test file of the module's name"
            )
    return share if outcomes else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.padding.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, help="a file of JSON lines; what it holds is not run again")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", help="default: the commit")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--timeout", type=int, default=300, help="seconds of a run of tests; past it a mutant is killed"
    )
    arguments = parser.parse_args()
    seed = arguments.seed or _commit()
    mutants = draw(REPOSITORY / "src", arguments.count, seed)
    print(f"{len(mutants)} mutants of {seed}", flush=True)
    run(mutants, arguments.record, arguments.workers, arguments.timeout)
    chosen = set(mutants)
    share = report([outcome for outcome in record_of(arguments.record) if outcome.mutant in chosen])
    sys.exit(share < NEEDED)


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
