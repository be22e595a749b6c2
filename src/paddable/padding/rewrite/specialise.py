"""Makes a rewritten graph fully static: shape arithmetic becomes constants, and no dimension stays symbolic.

Numbers that the analysis knows are substituted; what remains of integer arithmetic on constants is evaluated. Large
float tables stay computed: folding their sines would move them an ulp away from the provider's, and cost megabytes a
file. So does a weight that is only laid out anew, such as a tied one, where somebody else reads it as it is: folded, it
would be stored twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.errors import RefusedError
from paddable.graph.constants import FOLDED, SIZED, sized
from paddable.graph.evaluate import evaluated
from paddable.graph.names import Names
from paddable.lengths import Length, constant
from paddable.padding.deduce.pointwise import POINTWISE
from paddable.padding.facts.axes import axis_size
from paddable.padding.facts.facts import Elements, Facts
from paddable.padding.facts.numbers import Face, Number, Product

__all__ = ["SpecialisePass"]

_LARGEST = 1 << 16
_SMALL = 1024
"""Numbers up to which a constant may be stored in a wider type than it was."""
_LAYOUTS = {"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
"""What gives the numbers of a weight in another layout."""

_EXACT = {name for name, row in POINTWISE.items() if row.exact} | {
    "Concat", "ConstantOfShape", "CumSum", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "NonZero",
    "OneHot", "Pad", "Range", "ReduceMax", "ReduceMin", "ReduceProd", "Reshape", "ScatterElements", "ScatterND",
    "Slice", "Split", "Squeeze", "Tile", "Transpose", "Trilu", "Unsqueeze",
}  # fmt: skip


class SpecialisePass(ir.passes.InPlacePass):
    """Folds a rewritten model for one container.

    Requires: constants are initialisers; facts of the original values.
    Ensures: every value that is read has a static shape; each Reshape has a constant target without 0 and -1.
    Modifies: nodes and initialisers of the main graph, and the recorded shapes.

    Args:
        facts: of the original values, by name.
        known: the container's value of a length.

    Raises:
        RefusedError: a dimension stays symbolic; names the node.
    """

    def __init__(self, facts: Mapping[str, Facts], known: Callable[[Length | Product], int | None]) -> None:
        super().__init__()
        self._facts, self._known = facts, known

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        self._prove_shapes(model.graph)
        folder = _Folder(model, self._facts, self._known)
        folder.run()
        common.RemoveUnusedNodesPass()(model)
        _settle_reshapes(model, folder)
        common.RemoveUnusedNodesPass()(model)
        infer_shapes(model)
        return ir.passes.PassResult(model, True)

    def _prove_shapes(self, graph: ir.Graph) -> None:
        """Give every original value its proven shape: onnx infers none behind ONNX Runtime's own operators."""
        for output in (output for node in graph for output in node.outputs):
            facts = self._facts.get(output.name or "")
            declared = output.is_graph_output() and output.shape is not None
            if facts is None or facts.relative is not None or declared:
                continue
            dims = [self._known(axis_size(axis)) for axis in facts.axes]
            if all(size is not None for size in dims):
                output.shape, output.dtype = ir.Shape(dims), facts.dtype


def infer_shapes(model: ir.Model) -> None:
    """Record every static shape; a dimension that stays symbolic is an error of the model or ours."""
    for node in model.graph:
        if node.op_type == "STFT" and "onesided" not in node.attributes:
            # onnx forgets the default where it is not written, and annotates twice the bins
            node.attributes["onesided"] = ir.AttrInt64("onesided", 1)
    common.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=True)(model)
    for node in model.graph:
        for output in node.outputs:
            read = output.uses() or output.is_graph_output()
            if read and (output.shape is None or not all(isinstance(d, int) for d in output.shape)):
                raise RefusedError(
                    f"the shape of {output.name} stays unknown ({output.shape}) in a fixed container",
                    where=f"node {node.name} ({node.op_type})",
                    why="an execution provider cannot fuse what has no fixed shape",
                )


class _Folder:
    def __init__(
        self, model: ir.Model, facts: Mapping[str, Facts], known: Callable[[Length | Product], int | None]
    ) -> None:
        self.model, self.graph, self.facts, self._known = model, model.graph, facts, known
        self.names = Names(model.graph)
        self._shared: dict[tuple[str, str, tuple[int, ...], bytes], ir.Value] = {}
        self._hangs = False

    def run(self) -> None:
        for node in list(self.graph):
            for output in node.outputs:
                if output.is_graph_output() or not output.uses():
                    continue
                self._hangs = False
                array = self._from_facts(output)
                if array is not None:
                    output.replace_all_uses_with(self.constant(array, SIZED if self._hangs else FOLDED))
            if any(output.uses() for output in node.outputs):
                self._evaluate(node)

    def known(self, length: Length | Product) -> int | None:
        """The container's value of a length; notes whether another container has another."""
        self._hangs |= not (isinstance(length, Length) and length.is_constant)
        return self._known(length)

    # -- what the analysis knows -------------------------------------------------------------------------------

    def _from_facts(self, output: ir.Value) -> np.ndarray | None:
        value = self.facts.get(output.name or "")
        if value is not None and any(axis_size(axis) == constant(0) for axis in value.axes):
            sizes = [self.known(axis_size(axis)) for axis in value.axes]  # onnxruntime takes an Expand to 0 for none
            return None if None in sizes else np.zeros([d or 0 for d in sizes], value.dtype.numpy())
        if value is None or value.content is None or value.content.face not in (Face.CONSTANT, Face.SIZE):
            return None
        if value.dtype not in (ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL):
            return None
        shape = [d for d in (self.known(axis_size(axis)) for axis in value.axes) if d is not None]
        if len(shape) < value.rank or int(np.prod(shape, dtype=np.int64)) > _LARGEST:
            return None
        dtype = value.dtype.numpy()
        if isinstance(value.content, Elements):
            numbers = [self._number(x) for x in value.content.array.flat]
            if any(n is None for n in numbers):
                return None
            return np.array(numbers, dtype=dtype).reshape(value.content.array.shape)
        base = self._number(value.content.base)
        # positions are left to the arithmetic that made them, which is evaluated
        return None if base is None or value.content.coefficients else np.full(shape, base, dtype)

    def _number(self, number: Number | None) -> int | None:
        return None if number is None or number.divisor != 1 else self.known(number.length)

    # -- what constants give -----------------------------------------------------------------------------------

    def _evaluate(self, node: ir.Node) -> None:
        if node.domain or node.op_type not in _EXACT or any(o.is_graph_output() for o in node.outputs):
            return
        arrays: list[np.ndarray | None] = []
        for value in node.inputs:
            if value is None:
                arrays.append(None)
                continue
            if value.const_value is None or value.const_value.size > _LARGEST:
                return
            arrays.append(value.const_value.numpy())
        if _would_double(node):
            return
        results = evaluated(node, arrays, self.graph.opset_imports)  # what the reference lacks stays as it is
        if results is None or any(array.size > _LARGEST for array in results):
            return
        if node.op_type == "Cast" and results[0].size >= _SMALL and _widens(arrays[0], results[0]):
            return  # a weight that is stored in half stays so
        stem = SIZED if any(sized(value) for value in node.inputs if value is not None) else FOLDED
        for output, array in zip(node.outputs, results, strict=True):
            if output.uses():
                output.replace_all_uses_with(self.constant(array, stem))

    def constant(self, array: np.ndarray, stem: str) -> ir.Value:
        """An initialiser, shared by content; its name says whether it may hang on the container (``sized``)."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        key = (stem, str(array.dtype), array.shape, array.tobytes())
        found = self._shared.get(key)
        if found is None:
            name = self.names.fresh(stem)
            tensor = ir.tensor(array, name=name)
            found = ir.Value(
                name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor
            )
            self._shared[key] = found
        if found.name not in self.graph.initializers:  # new, or dropped as unused in between
            self.graph.register_initializer(found)
        return found


def _would_double(node: ir.Node) -> bool:
    """Whether a node lays out a weight anew that somebody else goes on reading as it is, or laid out otherwise."""
    weight = node.inputs[0] if node.op_type in _LAYOUTS else None
    tensor = None if weight is None else weight.const_value
    if weight is None or tensor is None or tensor.size < _SMALL or not tensor.dtype.is_floating_point():
        return False
    others = {user for user, _ in weight.uses()} - {node}
    return weight.is_graph_output() or not all(_alike(node, other) for other in others)


def _alike(node: ir.Node, other: ir.Node) -> bool:
    """Whether both make the same of what they read, so that one constant is enough."""
    return (node.domain, node.op_type, list(node.inputs)) == (other.domain, other.op_type, list(other.inputs)) and {
        name: attribute.value for name, attribute in node.attributes.items()
    } == {name: attribute.value for name, attribute in other.attributes.items()}


def _widens(before: np.ndarray | None, after: np.ndarray) -> bool:
    return before is not None and before.dtype.kind == after.dtype.kind == "f" and after.itemsize > before.itemsize


def _settle_reshapes(model: ir.Model, folder: _Folder) -> None:
    """Targets of Reshape as explicit sizes: no -1, no 0, so that no provider has to infer them."""
    for node in model.graph:
        if node.op_type != "Reshape" or node.domain:
            continue
        (output,) = node.outputs
        if output.shape is None or not output.shape.is_static():
            continue
        dims = np.array(output.shape.numpy(), dtype=np.int64)
        target = node.inputs[1]
        assert target is not None
        node.replace_input_with(1, folder.constant(dims, SIZED if target.producer() or sized(target) else FOLDED))
        node.attributes.pop("allowzero", None)
