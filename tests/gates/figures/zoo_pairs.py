"""CPU time of ``convert`` with all gates, on the graphs of the zoo or on one file: two versions, in turn, each in
fresh processes.

python -m tests.gates.figures.zoo_pairs FOLDER BEFORE AFTER    BEFORE, AFTER: `src` folders of two checkouts
python -m tests.gates.figures.zoo_pairs FILE.onnx BEFORE AFTER INPUT:AXIS=SYMBOL CONTAINER[,CONTAINER] [INPUT=SYMBOL]

The least of two runs of each version counts; a version's own child processes count with it, imports do not.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def once(source: str, path: str, declared: str, sizes: str, *length_inputs: str) -> None:
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
        containers = [int(size) for size in sizes.split(",")]
        out = Path(place) / (Path(path).name if len(containers) == 1 else "bundle")
        convert(Path(path), [declared], length_inputs=length_inputs, containers=containers, out=out)
    print(spent() - start)


def spent() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(place: str, before: str, after: str, *declared: str) -> int:
    from tests.gates.figures.zoo import declaration, graphs, printed  # which import the version that is installed

    worst = 0.0
    print("| graph | before | after | ratio |\n|---|---|---|---|", flush=True)
    for path in [Path(place)] if declared else graphs(Path(place), []):
        given = declared or (declaration(path.stem), str(2 * printed(path.stem)))
        seconds = []
        for source in (before, after) * 2:
            call = [sys.executable, "-m", "tests.gates.figures.zoo_pairs", "once", source, str(path), *given]
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
