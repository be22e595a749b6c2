"""A torch module to native ONNX, and the proof that its length stayed symbolic.

Stages
1. trace: ``torch.onnx.export(dynamo=True)`` at opset 18, the declared axes dynamic, batch 1 unless rows are asked for;
2. check: every declared axis, input and output, is symbolic in the result. The exporter freezes a length without a
   word when the module turns a shape into a tensor;
3. fix: ``allowzero`` is dropped from Reshapes whose constant target has no 0 (same meaning; DirectML refuses the
   attribute), and weights get back the parameter names that constant folding took.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor, nn

from paddable.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import onnx

__all__ = ["OPSET", "export_native", "quiet"]

OPSET = 18


def export_native(
    module: nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    *,
    ragged_inputs: Mapping[str, tuple[int, str | torch.export.Dim]],
    ragged_outputs: Mapping[str, int],
    rows: Collection[str] = (),
) -> onnx.ModelProto:
    """Exports a module.

    Args:
        module: in eval mode; called with the inputs in order.
        inputs: graph names and example tensors, batch 1.
        outputs: graph names of the outputs, in order.
        ragged_inputs: for each input of free length: its axis and the symbol for it, or a ``Dim`` that has limits.
        ragged_outputs: for each output of free length: its axis.
        rows: inputs and outputs whose axis 0 counts rows, of any number; none for a graph of one row.

    Returns:
        The model, weights inside, at opset 18. Initialisers are named after their parameters; a matrix that the
        exporter stores transposed is called ``<parameter>.T``.

    Raises:
        RefusedError: an axis that should be free came out fixed.
    """
    # ── Stage 1: trace
    free: dict[str, dict[int, torch.export.Dim]] = {name: {} for name in inputs}
    for name, (axis, size) in ragged_inputs.items():
        free[name][axis] = torch.export.Dim(size) if isinstance(size, str) else size
    if rows:
        several = torch.export.Dim("B")
        for name in free.keys() & set(rows):
            free[name][0] = several
        # two alike: the exporter takes 1 for a size that never changes
        inputs = {name: torch.cat([x, x]) if name in rows else x for name, x in inputs.items()}
    shapes = tuple(free[name] or None for name in inputs)
    with torch.no_grad(), quiet():
        program = torch.onnx.export(
            module,
            tuple(inputs.values()),
            dynamo=True,
            opset_version=OPSET,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes=shapes,
            verbose=False,
        )
    assert program is not None  # None only where torch writes the file itself
    model = program.model_proto

    # ── Stage 2: check
    ragged = {name: axis for name, (axis, _) in ragged_inputs.items()} | dict(ragged_outputs)
    for value in (*model.graph.input, *model.graph.output):
        for axes in (ragged, dict.fromkeys(rows, 0)):
            if value.name in axes:
                _assert_symbolic(value, axes[value.name])

    # ── Stage 3: fix
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Reshape" and node.input[1] in constants:
            _drop_allowzero(node, constants[node.input[1]])
    _restore_names(model.graph, module)
    return model


def _assert_symbolic(value: onnx.ValueInfoProto, axis: int) -> None:
    dim = value.type.tensor_type.shape.dim[axis]
    if not dim.dim_param:
        raise RefusedError(
            f"axis {axis} of {value.name} came out as {dim.dim_value}",
            where="export",
            why="the graph would be right at the length of the example only",
            fix="look for a shape that is turned into a tensor or compared in Python",
        )


def _drop_allowzero(reshape: onnx.NodeProto, target: onnx.TensorProto) -> None:
    if (numpy_helper.to_array(target) != 0).all():
        kept = [attribute for attribute in reshape.attribute if attribute.name != "allowzero"]
        del reshape.attribute[:]
        reshape.attribute.extend(kept)


def _restore_names(graph: onnx.GraphProto, module: nn.Module) -> None:
    """Names weights by content: the exporter keeps most names and loses those of matrices that it transposed."""
    transposed: dict[bytes, str] = {}
    for name, parameter in module.named_parameters():
        if parameter.ndim == 2:
            transposed.setdefault(_digest(parameter.detach().numpy().T), f"{name}.T")
    parameters = dict(module.named_parameters())
    renamed: dict[str, str] = {}
    for tensor in graph.initializer:
        if len(tensor.dims) == 2 and tensor.name not in parameters:
            new_name = transposed.pop(_digest(numpy_helper.to_array(tensor)), None)
            if new_name:
                renamed[tensor.name] = new_name
                tensor.name = new_name
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
    for value in graph.value_info:
        value.name = renamed.get(value.name, value.name)


def _digest(array: NDArray[np.float32]) -> bytes:
    return sha256(np.ascontiguousarray(array).data).digest() + str(array.shape).encode()


@contextmanager
def quiet() -> Iterator[None]:
    """The exporter warns about torchvision and about its own internals; neither is news to the reader."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
