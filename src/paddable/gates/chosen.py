"""Choices among scores, such as the ids of an ArgMax: two right graphs choose otherwise where the scores are a tie.

Scores are known to a tolerance, as any float answer is. Where two of them are nearer to each other than that, either
may be the best, and an id has no error that a tolerance could allow. So both graphs are asked for the scores, and for
what they choose. Where the scores agree, and another choice is a tie, the padded graph takes native's in its place and
computes on: all that is made of the choice has to agree then, a Cast, a comparison of ids, a row of an embedding. A
choice between scores that are clearly apart stays a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from paddable.gates.engine import Array, Engine, Source
from paddable.gates.lift import read_source
from paddable.graph.io.write import to_proto
from paddable.graph.names import Names
from paddable.graph.types import know_types

__all__ = [
    "CHOICE",
    "SCORE",
    "Taking",
    "answer_of",
    "apart",
    "called",
    "choices",
    "chooses",
    "downstream",
    "scored",
    "scores_of",
    "shared",
    "told_ties",
    "torn",
    "with_choices",
    "with_scores",
]

SCORE, CHOICE = "paddable/score", "paddable/choice"
"""In front of the name of a choice: the answers that hold its scores, and what it is."""

_TAKEN, _WHERE = "paddable/taken", "paddable/where"
"""Likewise, the inputs of a graph that takes choices: what is taken, and in which places."""

_INNER = ("padded", "native")
"""How a value is called whose name an output took; see ``padding.rewrite``."""

_BEST, _COMPARED, _ROUNDED = (
    {"ArgMax", "ArgMin", "TopK"},
    {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"},
    {"Cast": np.trunc, "Ceil": np.ceil, "Floor": np.floor, "Round": np.rint, "Sign": np.sign},
)
_FLOATS = {ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE}
_MOST = 2_000_000_000
"""Bytes of a graph: protobuf ends at 2 GB."""


def choices(native: Source) -> dict[str, ir.Node]:
    """The nodes of a graph that choose by the numbers of floats, by the name of what they answer, in order."""
    model = read_source(native)
    know_types(model)
    found = {}
    for node in model.graph:
        source, answer = node.inputs[0] if node.inputs else None, answer_of(node)
        whole = node.op_type != "Cast" or (answer.dtype is not None and not answer.dtype.is_floating_point())
        if (
            chooses(node)
            and whole
            and answer.name
            and source is not None
            and _is_made(source)
            and source.dtype in _FLOATS
        ):
            found[str(answer.name)] = node
    return found


def chooses(node: ir.Node) -> bool:
    """Whether a node may choose by the numbers of what it reads; by whole numbers, or to floats, it does not."""
    return node.domain in ("", "ai.onnx") and node.op_type in _BEST | _COMPARED | _ROUNDED.keys()


def shared(source: Source, chosen: Mapping[str, ir.Node]) -> dict[str, ir.Node]:
    """Those of the choices that another graph makes too."""
    held = _same(read_source(source).graph, chosen)
    return {name: node for name, node in chosen.items() if name in held}


def _is_made(value: ir.Value) -> bool:
    """Whether a number is computed from inputs of the graph, and no constant."""
    return value.producer() is not None or value.is_graph_input()


def with_scores(source: Source, chosen: Mapping[str, ir.Node]) -> bytes:
    """A graph, serialised, that answers with its scores and choices too.

    Raises:
        ValueError: it is too large for one message.
    """
    return _serialised(_told(read_source(source), chosen))


def with_choices(source: Source, chosen: Mapping[str, ir.Node]) -> bytes:
    """A graph, serialised, that answers with its scores and choices, and goes on with others where it is given some.

    Raises:
        ValueError: as of ``with_scores``.
    """
    model = read_source(source)
    know_types(model)
    graph, names = model.graph, Names(model.graph)
    _told(model, chosen)
    for name, node in _same(graph, chosen).items():
        own = answer_of(node)
        assert own.dtype is not None
        wide = ir.DataType.DOUBLE if own.dtype.is_floating_point() else ir.DataType.INT64
        given, where = (ir.Value(name=f"{prefix}/{name}", type=ir.TensorType(kind))
                        for prefix, kind in ((_TAKEN, wide), (_WHERE, ir.DataType.BOOL)))  # fmt: skip
        graph.inputs.extend([given, where])
        cast = ir.node("Cast", [own], attributes={"to": int(wide)})
        taken = ir.node("Where", [where, given, cast.outputs[0]])
        back = ir.node("Cast", taken.outputs, attributes={"to": int(own.dtype)})
        for made in (cast, taken, back):
            made.outputs[0].name = names.fresh("paddable/chosen")
        for use in list(own.uses()):
            if use.node is not cast and not str(use.node.outputs[0].name).startswith(CHOICE):
                use.node.replace_input_with(use.idx, back.outputs[0])
        graph.insert_after(node, [cast, taken, back])
        for position, output in enumerate(graph.outputs):
            if output is own:
                result = back.outputs[0]
                result.type, result.shape, result.name, own.name = own.type, own.shape, own.name, result.name
                graph.outputs[position] = result
    return _serialised(model)


def _told(model: ir.Model, chosen: Mapping[str, ir.Node]) -> ir.Model:
    for name, node in _same(model.graph, chosen).items():
        told = [(CHOICE, answer_of(node)), *((f"{SCORE}/{k}", v) for k, v in enumerate(node.inputs[: scored(node)]))]
        for prefix, value in told:
            assert value is not None
            copy = ir.node("Identity", [value])
            copy.outputs[0].name = f"{prefix}/{name}"
            copy.outputs[0].type = value.type
            model.graph.insert_after(node, copy)
            model.graph.outputs.append(copy.outputs[0])
    return model


def _same(graph: ir.Graph, chosen: Mapping[str, ir.Node]) -> dict[str, ir.Node]:
    """The nodes of another graph that make these choices, as far as it has them.

    Padding and precisions leave nodes and values their names, but for outputs, whose names belong to what is cut.
    """
    named = {(node.op_type, str(node.name)): node for node in graph if node.name}
    answers = {str(value.name): node for node in graph for value in node.outputs}
    found: dict[str, ir.Node] = {}
    for name, node in chosen.items():
        same = named.get((node.op_type, node.name or ""))
        for title in (name, *(f"{name}_{end}" for end in _INNER)):
            held = answers.get(title)
            while held is not None and held.op_type == "Identity" and held.inputs[0] is not None:
                held = held.inputs[0].producer()
            if same is None and held is not None and held.op_type == node.op_type:
                same = held
        if same is not None:
            found[name] = same
    return found


def called(node: ir.Node) -> str:
    """A node that chooses, as messages name it."""
    return f"{node.op_type} {node.name or node.outputs[0].name}"


def told_ties(name: str, count: int, total: int) -> str:
    """A line on a choice that falls the other way in some places."""
    return f"{name} chooses otherwise in {count:,} of {total:,} places, all ties of its scores"


def answer_of(node: ir.Node) -> ir.Value:
    """What a node chooses."""
    return node.outputs[1] if node.op_type == "TopK" else node.outputs[0]


def _axis(node: ir.Node) -> int:
    return node.attributes.get_int("axis", -1 if node.op_type == "TopK" else 0)


def scored(node: ir.Node) -> int:
    """How many of its inputs are scores."""
    return 2 if node.op_type in _COMPARED else 1


def _serialised(model: ir.Model) -> bytes:
    held = [value.const_value for value in model.graph.initializers.values()]
    if sum(tensor.nbytes for tensor in held if tensor is not None) > _MOST:
        raise ValueError("it is too large for one message")
    return bytes(to_proto(model).SerializeToString())


def scores_of(answers: Iterable[str], name: str) -> list[str]:
    """Which of a graph's answers are the scores of a choice."""
    return [title for title in answers if title.startswith(SCORE) and title.split("/", 3)[3] == name]


def apart(node: ir.Node, scores: Sequence[Array], near: Sequence[float], own: Array, other: Array) -> Array:
    """Where another choice is no tie: bool, of the shape of the choices.

    Args:
        node: that chooses.
        scores: native's.
        near: how far each of them may be from what it is.
        own: what native chooses.
        other: what else is chosen.
    """
    first, margin, second = _margins(scores, near)
    if node.op_type in _BEST:
        axis = _axis(node)
        inside = (other >= 0) & (other < first.shape[axis])
        flat = node.op_type != "TopK" and not node.attributes.get_int("keepdims", 1)
        mine, theirs = (
            np.take_along_axis(first, np.expand_dims(index, axis) if flat else index, axis)
            for index in (own, np.where(inside, other, 0))
        )
        gap = np.abs(mine - theirs).reshape(own.shape)
        return np.asarray((own != other) & ~((gap <= margin) & inside & (margin > 0)))
    if node.op_type in _COMPARED:
        gap = np.abs(first - scores[1].astype(np.float64))
        return np.asarray((own != other) & ~((gap <= margin + second) & (margin + second > 0)))
    if own.dtype == bool:
        return np.asarray((own != other) & ~(np.abs(first) <= margin))
    low, high = (_ROUNDED[node.op_type](first + side * margin) for side in (-1, 1))
    return np.asarray((own != other) & ~((other >= low) & (other <= high)))


def _margins(scores: Sequence[Array], near: Sequence[float]) -> tuple[NDArray[np.float64], float, float]:
    """The first scores, and how far two right forms may be apart in each: not at all in whole numbers, which count."""
    exact = [array.astype(np.float64) for array in scores]
    margins = [
        0.0 if np.array_equal(array, np.rint(array)) else 2 * most for array, most in zip(exact, near, strict=True)
    ]
    return exact[0], margins[0], margins[-1] if len(margins) > 1 else 0.0


def torn(node: ir.Node, scores: Sequence[Array], near: Sequence[float], own: Array) -> bool:
    """Whether any choice between native's scores is a tie; arguments as of ``apart``."""
    first, margin, second = _margins(scores, near)
    if not margin + second:
        return False
    if node.op_type in _BEST:
        axis = _axis(node)
        gaps = np.diff(np.sort(first, axis), axis=axis)
        count = min(gaps.shape[axis], own.shape[axis] if node.op_type == "TopK" else 1)
        least = node.op_type == "ArgMin" or not node.attributes.get_int("largest", 1)
        return bool((gaps.take(range(count) if least else range(-count, 0), axis) <= margin).any())
    if node.op_type in _COMPARED:
        return bool((np.abs(first - scores[1].astype(np.float64)) <= margin + second).any())
    low, high = (_ROUNDED[node.op_type](first + side * margin) for side in (-1, 1))
    return bool((low != high).any() or (np.abs(first) <= margin).any())


def downstream(chosen: Mapping[str, ir.Node]) -> set[str]:
    """Names of the outputs that are made of choices."""
    seen: set[ir.Value] = set()
    waiting = [answer_of(node) for node in chosen.values()]
    while waiting:
        value = waiting.pop()
        if value not in seen:
            seen.add(value)
            waiting += [output for user, _ in value.uses() for output in user.outputs]
    return {str(value.name) for value in seen if value.is_graph_output()}


class Taking:
    """A session of a graph that takes choices; without any it computes as it is.

    Attributes:
        shapes, dtypes: of its inputs but the choices.
        taken: by name of a choice, what is taken and where: full arrays.
    """

    def __init__(self, engine: Engine, taken: Callable[[], Mapping[str, tuple[Array, Array]]]) -> None:
        self._engine, self._taken = engine, taken
        self._choices = [name.removeprefix(f"{_TAKEN}/") for name in engine.dtypes if name.startswith(_TAKEN)]
        own = [name for name in engine.dtypes if not name.startswith((_TAKEN, _WHERE))]
        self.shapes = {name: engine.shapes[name] for name in own}
        self.dtypes = {name: engine.dtypes[name] for name in own}
        self.outputs = engine.outputs

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """All outputs by name, with what is taken now."""
        taken, given = self._taken(), dict(feeds)
        for name in self._choices:
            value, where = taken.get(name, (np.array(0), np.array(False)))
            given[f"{_TAKEN}/{name}"] = value.astype(self._engine.dtypes[f"{_TAKEN}/{name}"])
            given[f"{_WHERE}/{name}"] = where
        return self._engine.run(given)
