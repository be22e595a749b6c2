"""What a form is: an onnx_ir pass that writes a pattern of nodes as the operator that a provider runs fastest."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
from onnx_ir.passes import common

from paddable.linter.new_parts import Parts

__all__ = ["CONTRIB", "Form", "Known", "Unfit", "array_of", "made_by", "only_reader", "register_domain", "scalar_of"]

CONTRIB = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""


class Unfit(Exception):
    """A place that looks like the pattern, and why the form does not fit it; the place stays as it is."""


@dataclass(frozen=True)
class Known:
    """What is known of a graph besides the graph itself.

    Attributes:
        finite: names of values whose padding is proven finite.
        coarse: whether matrices will be stored in 8 bits or fewer, so that what is summed with them now would not fit.
        kept: names of values that measurement keeps in fp32, or rounds to a fixed range: nodes around them stay.
    """

    finite: Container[str] = frozenset()
    coarse: bool = False
    kept: Container[str] = frozenset()


@dataclass
class Taken:
    """What a form did: places that it rewrote, and by reason those that it left."""

    places: int = 0
    left: Counter[str] = field(default_factory=Counter)


class Form(ir.passes.InPlacePass):
    """Base of forms.

    Requires: a graph whose every shape is static and recorded, constants as initialisers.
    Ensures: valid steps have the same answer up to the rounding of re-ordered sums; padding may hold other numbers,
    finite where they were; outputs keep their names.
    Modifies: nodes and initialisers of the main graph.

    Args:
        known: of this graph.

    Attributes:
        name: as ``--forms`` takes it.
        anchor: the operator at which the pattern is looked for.
        exact: a form is never kept without a comparison.
        tolerance: half of what the gates allow: sums in another order, through a whole stack of layers.
    """

    name: ClassVar[str]
    anchor: ClassVar[str]
    exact: ClassVar[bool] = False
    tolerance: ClassVar[float] = 5e-6

    def __init__(self, known: Known) -> None:
        super().__init__()
        self.known, self.taken = known, Taken()

    @abstractmethod
    def write(self, node: ir.Node, parts: Parts) -> bool:
        """Rewrite the pattern around an anchor; False, and nothing is changed, where there is none.

        Raises:
            Unfit: there is one, and the form does not fit it.
        """

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        parts = Parts(model)
        for node in list(model.graph):
            if node.op_type != self.anchor or node.domain or node.graph is not model.graph:
                continue
            try:
                self.taken.places += self.write(node, parts)
            except Unfit as why:
                self.taken.left[str(why)] += 1
        if self.taken.places:
            common.RemoveUnusedNodesPass()(model)
        return ir.passes.PassResult(model, bool(self.taken.places))

    def demand_free(self, values: Iterable[ir.Value | None]) -> None:
        """Raise ``Unfit`` if measurement names one of the values, which the form would do away with."""
        if any(value is not None and value.name in self.known.kept for value in values):
            raise Unfit("a value inside it is kept in fp32, or has a fixed range")

    def reference(self, model: ir.Model) -> ir.Model:
        """What the result is compared with."""
        return model


def register_domain(model: ir.Model) -> None:
    """Let the model use ONNX Runtime's own operators."""
    model.graph.opset_imports.setdefault(CONTRIB, 1)


def made_by(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    """The node that makes a value, if it is one of these operators of ONNX."""
    node = None if value is None else value.producer()
    return node if node is not None and not node.domain and node.op_type in op_types else None


def only_reader(value: ir.Value) -> ir.Node | None:
    """The one node that reads a value, if nobody else does and no output shows it."""
    uses = list(value.uses())
    return uses[0].node if len(uses) == 1 and not value.is_graph_output() else None


def array_of(value: ir.Value | None) -> npt.NDArray[np.generic] | None:
    """The contents of a constant."""
    if value is None or value.const_value is None or value.is_graph_input():
        return None
    return np.asarray(value.const_value.numpy())


def scalar_of(value: ir.Value | None) -> float | None:
    """The number that a constant of one element holds."""
    array = None if value is None or value.const_value is None or value.const_value.size != 1 else array_of(value)
    return None if array is None or array.dtype.kind not in "fiu" else float(array.reshape(()).astype(np.float64))


def sizes(value: ir.Value | None) -> tuple[int, ...]:
    """The static shape of a value; empty where it is not known."""
    shape = None if value is None else value.shape
    return tuple(int(size) for size in shape.numpy()) if shape is not None and shape.is_static() else ()


def typed(value: ir.Value, like: ir.Value, shape: Iterable[int] | None = None) -> ir.Value:
    """Record the type of one value for another: ONNX infers none for operators that are not its own."""
    value.type = None if like.dtype is None else ir.TensorType(like.dtype)
    value.shape = like.shape if shape is None else ir.Shape(tuple(shape))
    return value


def constants_of(node: ir.Node) -> Iterator[tuple[int, ir.Value]]:
    """Position and value of each input that is a constant."""
    for position, value in enumerate(node.inputs):
        if array_of(value) is not None and value is not None:
            yield position, value
