"""Changes the compiler one place at a time and asks its own tests whether they notice.

``python -m tests.padding.mutants RECORD`` draws mutants of cosmic-ray's operators evenly over the four rooms of
``padding/``: the rules, the facts, the deduction, and what rewrites a graph. In each room a *place* (an operator, a
number, a condition, a decorator) is drawn first and then one change of it, so that a comparison with six replacements
counts no more than a number with two. The seed is the commit, unless ``--seed`` names another.

Each mutant meets the test file of its own name first (``rules/softmax.py``: ``tests/padding/rules/test_softmax.py``),
then the rest of ``tests/padding``. Random graphs (``tests/soundness``) are not asked. What came of a mutant is a line
of JSON in RECORD, and a run that was stopped goes on from there. A mutant that changes nothing counts as a survivor.

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
    def own(self) -> list[Path]:
        """The test file of the module's name."""
        inside = Path(self.module).relative_to(COMPILER)
        file = REPOSITORY / TESTS / inside.parent / f"test_{inside.name}"
        return [file.relative_to(REPOSITORY)] if file.exists() else []

    @property
    def rest(self) -> list[Path]:
        """The other tests of the compiler, its own folder's first."""
        folder = TESTS / Path(self.module).relative_to(COMPILER).parent
        files = [file.relative_to(REPOSITORY) for file in sorted((REPOSITORY / TESTS).rglob("test_*.py"))]
        files = [file for file in files if file not in self.own]
        return sorted(files, key=lambda file: file.parent != folder)


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


def judge(copy: Path, mutant: Mutant, timeout: int) -> Outcome:
    """Put the mutant into a copy of the source and run the tests until one fails."""
    path, original = copy / mutant.module, REPOSITORY / "src" / mutant.module
    code, start = original.read_text(encoding="utf-8"), time.monotonic()
    changed = mutated(REPOSITORY / "src", mutant)
    path.write_text(changed, encoding="utf-8")
    try:
        by = _first_failure(copy, mutant.own, timeout) or _first_failure(copy, mutant.rest, timeout)
    finally:
        shutil.copy2(original, path)  # with its time, so that its bytecode is valid again
    diff = difflib.unified_diff(code.splitlines(), changed.splitlines(), lineterm="", n=1)
    return Outcome(mutant, by, round(time.monotonic() - start, 1), "\n".join(list(diff)[2:]))


def _first_failure(copy: Path, files: list[Path], timeout: int) -> str:
    if not files:
        return ""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-n0", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [*command, *map(str, files)],
            cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=timeout, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{timeout} seconds in {files[0]} ..."
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit {done.returncode} in {files[0]} ..."


def record_of(path: Path) -> list[Outcome]:
    """The outcomes that a file holds."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Outcome(**{**found, "mutant": Mutant(**found["mutant"])}) for found in map(json.loads, lines)]


def run(mutants: list[Mutant], record: Path, workers: int, timeout: int) -> None:
    """Judge the mutants that the record does not hold yet."""
    known = {outcome.mutant for outcome in record_of(record)}
    lock, copies = threading.Lock(), SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        for k in range(workers):
            copies.put(shutil.copytree(REPOSITORY / "src", Path(folder) / str(k)))
        every = [file.relative_to(REPOSITORY) for file in sorted((REPOSITORY / TESTS).rglob("test_*.py"))]
        failed = _first_failure(REPOSITORY / "src", every, 10 * timeout)
        if failed:  # it would be told to have killed every mutant
            sys.exit(f"{failed} fails without a change")

        def one(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                outcome = judge(copy, mutant, timeout)
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
            by_name = sum(o.by.partition("::")[0] in map(str, o.mutant.own) for o in killed)
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
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--timeout", type=int, default=300, help="seconds of a run of tests; past it a mutant is killed"
    )
    arguments = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    seed = arguments.seed or commit.stdout.strip()
    mutants = draw(REPOSITORY / "src", arguments.count, seed)
    print(f"{len(mutants)} mutants of {seed}", flush=True)
    run(mutants, arguments.record, arguments.workers, arguments.timeout)
    chosen = set(mutants)
    share = report([outcome for outcome in record_of(arguments.record) if outcome.mutant in chosen])
    sys.exit(share < NEEDED)


if __name__ == "__main__":
    main()
