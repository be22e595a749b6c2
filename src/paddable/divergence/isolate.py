"""The first node that differs, cut out with its real inputs: what one attaches to a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paddable.bundle import new_directory
from paddable.divergence.causes import Cause
from paddable.divergence.fork import Fork
from paddable.divergence.known import valid_blocks
from paddable.divergence.measure import measure
from paddable.divergence.parting import Parting
from paddable.divergence.pieces import Run
from paddable.divergence.regions import Block
from paddable.errors import PaddableError
from paddable.gates.engine import Array
from paddable.graph.io.write import CannotWrite
from paddable.providers.advice import session_advice

__all__ = ["CASE", "write_case"]

CASE = "case.json"
"""What tells a folder of a case from others."""

_RUN = '''\
"""{about}"""
from pathlib import Path
import numpy as np
import onnxruntime as ort
inputs, expected = (np.load(Path(__file__).with_name(name)) for name in ("inputs.npz", "expected.npy"))
session = ort.InferenceSession(str(Path(__file__).with_name("case.onnx")), providers=[{provider!r}])
got, expected = session.run(None, dict(inputs))[0].astype(np.float64), expected.astype(np.float64)
same = (got == expected) | np.isnan(got) & np.isnan(expected)
gap = np.nan_to_num(np.abs(np.subtract(got, expected, where=~same, out=np.zeros_like(got))), nan=np.inf, posinf=np.inf)
error = gap.max() / max(1e-6, np.abs(expected[np.isfinite(expected)]).max(initial=0))
print("onnxruntime", ort.__version__, session.get_providers(), "error relative to scale:", error)
raise SystemExit(not error <= {tolerance})
'''


def write_case(folder: Path, parting: Parting, fork: Fork, cause: Cause, *, force: bool = False) -> Path | None:
    """Write ``case.onnx``, ``inputs.npz``, ``expected.npy``, ``README.md`` and ``run.py``.

    The case computes the fork's value from the inputs that the first run had. ``expected.npy`` is that value with its
    valid part from the second run; in the padding, where nothing is expected, it is what the first run gives.

    Args:
        folder: to write; it must not hold anything yet.
        parting: both runs.
        fork: where they part.
        cause: why.
        force: replace what the folder holds.

    Returns:
        ``folder``; None where nothing was written, since the nodes alone show no more than the tolerance.

    Raises:
        MisuseError: the folder holds something already.
        CannotWrite: the system refuses it.
    """
    one, other = parting.one, parting.other
    partner = parting.matching.values().get(fork.value) or parting.ends.get(fork.value)
    computed = [value for value in fork.inputs if value.producer() is not None]
    mine, theirs = parting.ran
    held = mine.again([*computed, fork.value])
    feeds: dict[str, Array] = {str(value.name): held[value] for value in computed}
    for value in fork.inputs:
        if value.producer() is None and value.name in one.feeds:
            feeds[str(value.name)] = one.feeds[str(value.name)]
    expected = made = np.array(held[fork.value], order="C")
    if partner is not None:
        right = theirs.again([partner])[partner]
        expected = made.astype(np.result_type(made, right))  # the second may reach what the first cannot hold
        left_block, right_block = valid_blocks(one, other, fork.value, partner, expected, right, parting.known)
        if left_block is not None and right_block is not None:
            target = left_block.array
            target[...] = right_block.array.reshape(target.shape)
    case = mine.cut(fork.nodes, feeds, [fork.value])
    if not _shows(one.run, case, feeds, expected, parting.tolerance):
        return None
    place = " ".join((fork.nodes[-1].op_type, fork.nodes[-1].name or "")).strip()
    about = f"{place}: {cause.text}".replace('"""', "'''").replace("\\", "/")
    run = _RUN.format(
        about=about,
        provider=session_advice(one.provider).execution_provider,
        tolerance=parting.tolerance,
    )
    facts = {"cause": vars(cause), "first": one.title, "second": other.title, "node": place}
    try:
        with new_directory(folder, force=force, mark=CASE) as new:
            (new / "case.onnx").write_bytes(case)
            np.savez(new / "inputs.npz", **feeds)  # type: ignore[arg-type]  # names of a graph are not its keywords
            np.save(new / "expected.npy", expected)
            (new / "run.py").write_text(run, encoding="utf-8")
            (new / CASE).write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:  # it names a temporary folder, and the user another
        raise CannotWrite.because(error, folder) from None
    return folder


def _shows(run: Run, case: bytes, feeds: Mapping[str, Array], expected: Array, tolerance: float) -> bool:
    """Whether a case gives other numbers than are expected of it: where a node is missing behind it, it is right."""
    try:
        (got,) = run(case, feeds).values()
    except PaddableError:  # it does not run alone
        return False
    found = measure(Block(got, None, 1), Block(expected, None, 1))
    return found is not None and not found.error <= tolerance
