"""Assertions for the test suite of a project that exports or ships padded models.

Both run the gates of ``paddable verify`` and fail with the outputs and lengths that do not hold.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeAlias

from paddable import api
from paddable.graph.io.scratch import as_file, scratch_folder
from paddable.lengths.declare import given_containers
from paddable.outcome import failures

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["assert_convertible", "assert_padding_invariant"]

Model: TypeAlias = "str | os.PathLike[str] | ModelProto"

_DECLARED = ("length_inputs", "mask_inputs", "shortest", "batch", "batch_size", "bindings")
"""What of the declarations says something of the graph."""

SHOWN = 10
"""Failures in the message of an assertion."""


def assert_padding_invariant(
    padded: Model,
    native: Model | None = None,
    *,
    lengths: int | Sequence[int] = (),
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
    with ExitStack() as stack:
        padded_path = stack.enter_context(as_file(padded, "padded.onnx"))
        native_path = None if native is None else stack.enter_context(as_file(native, "native.onnx"))
        gates = api.verify(padded_path, native_path, lengths=lengths, exhaustive=exhaustive, seed=seed)
        if not gates.ok:
            raise AssertionError(_told(gates.to_json(), api.diagnose(padded_path, native_path, gates, report)))


def assert_convertible(
    native: Model,
    lengths: str | Sequence[str],
    *,
    containers: str | int | Sequence[str | int] = (),
    exhaustive: bool = False,
    seed: int = 0,
    **declarations: Any,
) -> None:
    """Assert that a native model can be converted, and that the result is padding invariant.

    Args:
        native: a file, or a model in memory.
        lengths: the ragged axes, such as ``["x:1=T"]``.
        containers: the containers to judge; by default one in which every ragged axis has some dozens of steps.
        exhaustive: try every length.
        seed: of the random inputs and lengths.
        **declarations: what ``paddable.convert`` takes besides, such as ``length_inputs``.

    Raises:
        AssertionError: a gate failed; the message lists output, length and error.
        RefusedError: no proof was found; its findings name the node and the reason.
    """
    containers = given_containers(containers)
    with scratch_folder() as folder, as_file(native, "native.onnx") as native_path:
        if lengths and not containers and not declarations.get("keep_dynamic"):
            known = {name: value for name, value in declarations.items() if name in _DECLARED}
            containers = (api.default_container(native_path, lengths, **known),)
        out = folder / ("padded.onnx" if len(containers) <= 1 else "padded")
        # The verification below tells which output and length fails; the one inside convert would only refuse.
        padded = api.convert(native_path, lengths, containers=containers, out=out, verify=False, **declarations)
        assert_padding_invariant(padded, native_path, exhaustive=exhaustive, seed=seed)


def _told(report: Mapping[str, Any], diagnosis: Sequence[str]) -> str:
    failing = list(failures(report))
    more = [f"and {len(failing) - SHOWN} more"] if len(failing) > SHOWN else []
    return "\n  ".join(["the padded model differs from native", *failing[:SHOWN], *more, *diagnosis])
