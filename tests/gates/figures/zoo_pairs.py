"""CPU time of ``convert`` with all gates on the graphs of the zoo: two versions, in turn, each in fresh processes.

python -m tests.gates.figures.zoo_pairs FOLDER BEFORE AFTER    BEFORE, AFTER: `src` folders of two checkouts

The least of two runs of each version counts; a version's own child processes count with it, imports do not.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.gates.figures.zoo import declaration, graphs, printed


def once(source: str, path: str, size: str, declared: str) -> None:
    """Print the CPU seconds of one conversion; in a process of its own, since it imports the version of `source`."""
    sys.path.insert(0, source)
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401

    try:
        from paddable.api import convert
    except ImportError:  # as the package was laid out once
        from paddable.build.converting import convert

    start = spent()
    with tempfile.TemporaryDirectory() as place:
        convert(Path(path), [declared], containers=[int(size)], out=Path(place) / Path(path).name)
    print(spent() - start)


def spent() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(folder: str, before: str, after: str) -> int:
    worst = 0.0
    print("| graph | before | after | ratio |\n|---|---|---|---|", flush=True)
    for path in graphs(Path(folder), []):
        given = [str(path), str(2 * printed(path.stem)), declaration(path.stem)]
        seconds = []
        for source in (before, after) * 2:
            call = [sys.executable, "-m", "tests.gates.figures.zoo_pairs", "once", source, *given]
            seconds.append(float(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()[-1]))
        old, new = min(seconds[::2]), min(seconds[1::2])
        worst = max(worst, new / old)
        print(f"| {path.stem} | {old:.1f} s | {new:.1f} s | {new / old:.2f} |", flush=True)
    return 1 if worst > 0.6 else 0


if __name__ == "__main__":
    if sys.argv[1] == "once":
        once(*sys.argv[2:])
    else:
        sys.exit(main(*sys.argv[1:]))
