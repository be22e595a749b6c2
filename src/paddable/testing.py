"""Assertions for the test suite of a project that exports or ships padded models.

Both run the gates of ``paddable verify`` and fail with the outputs and lengths that do not hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from paddable import api
from paddable.graph.io.scratch import scratch_folder

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["assert_convertible", "assert_padding_invariant"]

Model: TypeAlias = "str | os.PathLike[str] | ModelProto"

SHOWN = 10
"""Failing rows in the message of an assertion."""


def assert_padding_invariant(
    padded: Model,
    native: Model | None = None,
    *,
    lengths: Sequence[int] = (),
    exhaustive: bool = False,
    seed: int = 0,
    report: str | os.PathLike[str] | None = None,
) -> None:
    """Assert that a padded model gives the native model's answer at every length, whatever the padding holds.

    Args:
        padded: a converted file, a bundle, or a model in memory.
        native: the model it was made from; None takes the one in the bundle.
        lengths: lengths to try beside the edges of each ragged dimension.
        exhaustive: try every length.
        seed: of the random inputs and lengths.
        report: the page to write when it fails; a new file in the temporary folder by default.

    Raises:
        AssertionError: a gate failed; the message lists output, length and error, the first node at which the two
            part, and the page that shows it.
        PaddableError: the models could not be judged.
    """
    with _as_file(padded, "padded.onnx") as padded_path, _as_file(native, "native.onnx") as native_path:
        assert padded_path is not None
        gates = api.verify(padded_path, native_path, lengths=lengths, exhaustive=exhaustive, seed=seed)
        if not gates.ok:
            raise AssertionError(_told(gates.to_json(), api.diagnose(padded_path, native_path, gates, report)))


def assert_convertible(
    native: Model,
    lengths: Sequence[str],
    *,
    containers: Sequence[str] = (),
    exhaustive: bool = False,
    seed: int = 0,
    **declarations: Any,
) -> None:
    """Assert that a native model can be converted, and that the result is padding invariant.

    Args:
        native: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``.
        containers: the containers to judge.
        exhaustive: try every length.
        seed: of the random inputs and lengths.
        **declarations: what ``paddable.convert`` takes besides, such as ``length_inputs``.

    Raises:
        AssertionError: a gate failed; the message lists output, length and error.
        RefusedError: no proof was found; its findings name the node and the reason.
    """
    with scratch_folder() as folder, _as_file(native, "native.onnx") as native_path:
        out = folder / ("padded.onnx" if len(containers) <= 1 else "padded")
        # The verification below tells which output and length fails; the one inside convert would only refuse.
        assert native_path is not None
        padded = api.convert(native_path, lengths, containers=containers, out=out, verify=False, **declarations)
        assert_padding_invariant(padded, native_path, exhaustive=exhaustive, seed=seed)


@contextmanager
def _as_file(model: Model | None, name: str) -> Iterator[Path | None]:
    if model is None or isinstance(model, (str, os.PathLike)):
        yield None if model is None else Path(model)
        return
    import onnx

    with scratch_folder() as folder:
        path = folder / name
        onnx.save(model, path)
        yield path


def _told(report: Mapping[str, Any], diagnosis: Sequence[str]) -> str:
    failing = [row for row in report.get("rows", ()) if not row.get("ok", True)]
    lines = [_row(row) for row in failing[:SHOWN]]
    if len(failing) > SHOWN:
        lines.append(f"and {len(failing) - SHOWN} more")
    return "\n  ".join(["the padded model differs from native", *lines, *diagnosis])


_FAULTS = {
    "length_right": "its length output is wrong",
    "zero_behind": "it is not 0 past its length",
    "junk": "it depends on what the padding holds",
}
"""What is told of a row where this is false."""


def _row(row: Mapping[str, Any]) -> str:
    """A failing row in words; what is as it should be is left out."""
    told = [f"{name} {row[name]}" for name in ("output", "length", "container", "error") if name in row]
    if "tolerance" in row:
        told.append(f"{row['tolerance']} is allowed")
    told += [fault for name, fault in _FAULTS.items() if row.get(name) is False]
    return ", ".join([*told, *filter(None, [row.get("note")])])
