"""What is told of a precision whose weights take hardly less room than in fp32, or no less than in fp16, and who reads
what stays."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir

from paddable.api.building import Padded
from paddable.api.measuring import Measured
from paddable.graph.constants import Constants, sized
from paddable.graph.io.write import INLINE_BELOW
from paddable.precision import PRECISIONS
from paddable.precision.codes import bits_of
from paddable.precision.half import weight_bytes
from paddable.precision.int8 import LEAST

__all__ = ["changes_nothing", "told_sizes"]

_HARDLY = 0.9
"""Share of the room in fp32 from which on a precision is told."""

_NAMED = 3
"""Operators that a line names."""


def told_sizes(graphs: Sequence[Padded], known: Mapping[str, Measured] | None = None) -> Iterator[str]:
    """A line for each precision that saves a tenth or less, or that is meant to be smaller than half and is not.

    Of its first graph, since all share their weights.

    Args:
        graphs: in the precisions that were asked for.
        known: by precision, what was found of native before: where fp16 is none of them, what it would keep in fp32.
    """
    for precision in dict.fromkeys(graph.metadata.precision for graph in graphs):
        graph = next(graph for graph in graphs if graph.metadata.precision == precision)
        if graph.model is graph.exact or not _is_worth_it(graph.exact):
            continue
        if changes_nothing(graph):
            yield f"{precision}: its weights are those in fp32, which a bundle stores once"
            continue
        before, after = _room(graph.exact), _room(graph.model)
        halved = math.inf if PRECISIONS[precision].ranges else _in_half(graph, graphs, known or {})
        if after < min(_HARDLY * before, halved):
            continue
        stays = _in_fp32(graph.model.graph).most_common(_NAMED)
        why = (
            ": " + ", ".join(f"{_told(size)} stay in fp32 for {kind}" for kind, size in stays)
            if stays
            else ", none of them in fp32"
        )
        beside = f"without it {_told(before)}" if after >= _HARDLY * before else f"in fp16 {_told(int(halved))}"
        yield f"{precision}: weights take {_told(after)}, and {beside}{why}"


def changes_nothing(graph: Padded) -> bool:
    """Whether a graph in another precision has the weights of the one in fp32, so that one data file is enough; and
    native in it those of native, which padding may have folded or laid out anew.

    Those that a model file holds itself do not count, such as a scale that became half.
    """
    known: dict[object, list[ir.TensorProtocol]] = {}
    for model in (graph.exact, graph.before):
        for kind, tensors in _alike(model, INLINE_BELOW).items() if model is not None else ():
            known.setdefault(kind, []).extend(tensors)
    named = [_alike(model, INLINE_BELOW) for model in (graph.model, graph.native) if model is not None]
    if any(one.keys() - known.keys() for one in named):
        return False  # without reading a number
    there = {kind: {_digest(tensor) for tensor in tensors} for kind, tensors in known.items()}
    return all(_digest(tensor) in there[kind] for one in named for kind, tensors in one.items() for tensor in tensors)


def _alike(model: ir.Model, least: int = 0, *, steps: bool = True) -> dict[object, list[ir.TensorProtocol]]:
    """The constants of so many bytes by type and shape; those of the container's steps, too, or weights alone."""
    found: dict[object, list[ir.TensorProtocol]] = {}
    for value in model.graph.initializers.values():
        if value.const_value is not None and value.const_value.nbytes >= least and (steps or not sized(value)):
            found.setdefault((value.const_value.dtype, str(value.const_value.shape)), []).append(value.const_value)
    return found


def _digest(tensor: ir.TensorProtocol) -> bytes:
    return hashlib.blake2b(tensor.tobytes()).digest()


def _is_worth_it(model: ir.Model) -> bool:
    """Whether it has a weight that a precision would change."""
    tensors = [value.const_value for value in model.graph.initializers.values()]
    return any(tensor is not None and len(tensor.shape) > 1 and tensor.size >= LEAST for tensor in tensors)


def _in_half(graph: Padded, graphs: Sequence[Padded], known: Mapping[str, Measured]) -> int:
    """What the weights take in fp16: of its graph, or by the same choice of what stays in fp32."""
    made = next((other for other in graphs if other.metadata.precision == "fp16"), None)
    if made is not None:
        return _room(made.model)
    measured = known.get(graph.metadata.precision)
    before, after, _ = weight_bytes(graph.exact, measured.beyond_half if measured is not None else {})
    return _room(graph.exact) - before + after


def _room(model: ir.Model) -> int:
    """Bytes of the weights; equal ones count once, as in a data file."""
    seen: dict[object, int] = {}
    for kind, tensors in _alike(model, steps=False).items():
        for tensor in tensors:
            seen[kind, _digest(tensor) if len(tensors) > 1 else b""] = tensor.nbytes
    return sum(seen.values())


def _in_fp32(graph: ir.Graph) -> Counter[str]:
    """By operator, the bytes of the weights worth a change that it reads in fp32."""
    constants, found = Constants(graph), Counter[str]()
    for value in graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and tensor.dtype == ir.DataType.FLOAT and tensor.size >= LEAST:
            scales = any(bits_of(node) for node, _ in value.uses())
            kinds = sorted({reader.op_type for reader, _ in constants.readers(value)})
            if kinds and not scales:
                found[" and ".join(kinds)] += tensor.nbytes
    return found


def _told(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"
