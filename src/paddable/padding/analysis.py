"""The interpreter: walks a graph once per domain, asks the rule of each node, and collects what leaks and what mends
it.

``check`` prints the result, ``convert`` applies it: there is one matcher, so they cannot disagree. The walk repeats
while rules narrow the domain (a kernel needs its length, a table ends), which settles after two or three rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NoReturn

import numpy as np
import onnx_ir as ir

from paddable.errors import RefusedError
from paddable.findings import Finding
from paddable.graph import trace
from paddable.graph.prepare.expand import ExpandPass
from paddable.graph.prepare.fold import FoldPass
from paddable.graph.prepare.idioms import IdiomsPass
from paddable.graph.prepare.masked_assign import MaskedAssignPass
from paddable.graph.prepare.normalise import bodies, captured, normalise
from paddable.lengths import Length, Span, symbol
from paddable.padding.declaration import Declarations
from paddable.padding.deduce.branches import in_branch, inline, selects
from paddable.padding.deduce.conditional import need_equal_shapes, need_total, refuse_narrowing
from paddable.padding.deduce.contents import keep_contents
from paddable.padding.deduce.context import NoProof, RuleContext
from paddable.padding.deduce.empty import need_steps, takes_empty
from paddable.padding.deduce.own_rows import MAY_READ
from paddable.padding.deduce.pointwise import POINTWISE
from paddable.padding.deduce.reached import reached_by
from paddable.padding.deduce.registry import find_rule, known_operators
from paddable.padding.deduce.scope import BATCH, Scope
from paddable.padding.facts.axes import Axes, Axis, fixed, flatten
from paddable.padding.facts.facts import CONTENT_LIMIT, MASK_FILL, Affine, Elements, Facts, PaddingFact
from paddable.padding.facts.kinds import ANY, FINITE, TRUE, ZERO
from paddable.padding.facts.numbers import Face, number
from paddable.padding.remedies import Remedy, Take
from paddable.padding.rules.elementwise import elementwise
from paddable.padding.rules.refused import ADVICE, advice_for

__all__ = ["Analysis", "OutputSite", "Site", "analyse"]

_ROUNDS = 8
_BOUNDS_LIMIT = 1 << 16
_THROUGH_RELATIVE = {"Pad", "Concat", "Gather", "Flatten", "Reshape", "Slice", "Shape", "Identity"}


_BEHIND_ROWS = {"Expand", "Gather", "GatherND", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
_ONE_ROW = "export with batch 1, or compute it per row"


@dataclass(frozen=True, eq=False)
class Site:
    """A node that touches padding: its operands' facts, the remedies it needs, its outputs' facts."""

    node: ir.Node
    operands: tuple[Facts | None, ...]
    remedies: list[Remedy]
    outputs: tuple[Facts | None, ...]


@dataclass(frozen=True, eq=False)
class OutputSite:
    """A graph output: what has to be mended before it is cut to its length."""

    name: str
    value: Facts
    remedies: list[Remedy]


@dataclass
class Analysis:
    """Everything that was found out about a model.

    Attributes:
        model: the normalised model that the facts are about; ``rewrite`` changes it.
        declarations: what was declared.
        scope: the domain; ``scope.spans`` has the accepted lengths of each symbol.
        values: facts by value name.
        sites: nodes that touch padding, in graph order.
        outputs: the graph outputs, in order.
        branches: what became of each If that was inlined, by its name, in order: the branch, or nothing for both.
    """

    model: ir.Model
    declarations: Declarations
    scope: Scope
    values: dict[str, Facts] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    outputs: list[OutputSite] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)

    @property
    def findings(self) -> list[Finding]:
        """One finding per node and code, in graph order."""
        result = []
        for site in self.sites:
            seen: dict[str, list[Remedy]] = {}
            for remedy in site.remedies:
                if remedy.code:
                    seen.setdefault(remedy.code, []).append(remedy)
            for code, remedies in seen.items():
                result.append(_finding(site.node, code, remedies))
        for output in self.outputs:
            for remedy in output.remedies:
                if remedy.code:
                    result.append(Finding(remedy.code, output.name, "", remedy.leak, remedy.text))
        return result

    def lengths(self) -> dict[str, dict[int, Length]]:
        """Per ragged output and axis its length."""
        result: dict[str, dict[int, Length]] = {}
        for output in self.outputs:
            for axis, atoms in enumerate(output.value.axes):
                if any(a.ragged for a in atoms):
                    size = output.value.size(axis)
                    assert isinstance(size, Length)
                    result.setdefault(output.name, {})[axis] = size
        return result


def _finding(node: ir.Node, code: str, remedies: Sequence[Remedy]) -> Finding:
    axis = next((getattr(r, "axis", None) for r in remedies if getattr(r, "axis", None) is not None), None)
    if axis is None:
        for remedy in remedies:
            atoms = getattr(remedy, "atoms", None)
            axes = getattr(remedy, "axes", None)
            if atoms is not None and isinstance(axes, tuple):
                axis = _axis_of(axes, atoms[0])
                break
    return _told(node, code, remedies[0].leak, "; ".join(dict.fromkeys(r.text for r in remedies)), axis)


def _told(node: ir.Node, code: str, leak: str, remedy: str, axis: int | None = None) -> Finding:
    name = node.name or node.op_type
    return Finding(code, name, node.op_type, leak, remedy, axis, trace.module_path(node), trace.source(node))


def _axis_of(axes: Axes, atom: int) -> int | None:
    count = 0
    for axis, atoms in enumerate(axes):
        count += len(atoms)
        if atom < count:
            return axis
    return None


def analyse(model: ir.Model, declarations: Declarations) -> Analysis:
    """Find every leak of a model and the remedy for it.

    Args:
        model: brought to plain form in place; branches whose condition is decided are inlined.
        declarations: from :func:`resolve`.

    Raises:
        RefusedError: no proof was found at some node; ``findings`` has the node, the source line and the reason.
    """
    normalise(model)
    for idiom in (MaskedAssignPass(), IdiomsPass(declarations.axes, POINTWISE)):
        if idiom(model).modified:
            normalise(model)
    expand = ExpandPass(name for domain, name in known_operators() if not domain)
    while expand(model).modified:
        normalise(model)
    if FoldPass(name for domain, name in known_operators() if not domain and name not in ADVICE)(model).modified:
        normalise(model)
    asked = declarations.shortest
    spans = {name: Span(asked.get(name, 1), None) for name in declarations.symbols}
    constants, branches = _Constants(), dict[str, str]()
    reasons = {name: f"a shortest {name} of {steps} was asked for" for name, steps in asked.items() if steps > 1}
    limits, turns = {name: {"min": reason} for name, reason in reasons.items()}, dict[str, tuple[int, str]]()
    for _ in range(_ROUNDS):
        scope = Scope(spans, rows=declarations.rows)
        scope.reasons, scope.limits, scope.turns = reasons, limits, turns
        walk = _Walk(model, declarations, scope, constants, branches)
        try:
            walk.run()
        except _Again:
            spans = dict(scope.spans)
            continue
        if not scope.narrowed:
            return walk.analysis
        spans = dict(scope.spans)
    raise RefusedError("the accepted lengths do not settle", why=f"after {_ROUNDS} rounds they still shrink: {spans}")


class _Again(Exception):
    """The domain narrowed or the graph changed in a way that makes a new round worthwhile."""


class _Constants:
    """Facts of initialisers, made once per array and not once per round."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[ir.TensorProtocol, Facts]] = {}

    def value(self, tensor: ir.TensorProtocol) -> Facts:
        found = self._values.get(id(tensor))
        if found is None:
            found = tensor, _constant_value(tensor)
            self._values[id(tensor)] = found
        return found[1]


def _constant_value(tensor: ir.TensorProtocol) -> Facts:
    shape = tuple(int(d) for d in tensor.shape.numpy())
    axes = tuple(fixed(d) for d in shape)
    size = int(np.prod(shape, dtype=np.int64)) if shape else 1
    if tensor.dtype == ir.DataType.STRING or size == 0 or size > _BOUNDS_LIMIT:
        if size == 0:
            return Facts.known(tensor.dtype, axes, Elements(np.empty(shape, dtype=object)))
        return _table(tensor, axes)
    array = tensor.numpy()
    try:
        wide = array.astype(np.float64)
    except (TypeError, ValueError):
        return Facts(tensor.dtype, axes)
    finite = bool(np.isfinite(wide).all())
    low, high = (float(wide.min()), float(wide.max())) if not np.isnan(wide).any() else (-np.inf, np.inf)
    content = None
    integral = not np.issubdtype(array.dtype, np.floating) and array.dtype.kind != "V"
    if finite and ((integral and size <= CONTENT_LIMIT) or size <= 16):
        elements = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            item = array[index]
            elements[index] = number(int(item) if integral else Fraction(float(item)))
        content = Elements(elements)
    masked = not integral and low <= MASK_FILL
    return Facts(tensor.dtype, axes, content=content, low=low, high=high, finite=finite, masked=masked)


def _table(tensor: ir.TensorProtocol, axes: Axes) -> Facts:
    """Facts of a large constant: whether it is finite, and its bounds then."""
    if tensor.dtype == ir.DataType.STRING:
        return Facts(tensor.dtype, axes)
    array = tensor.numpy()
    low, high = float(array.min()), float(array.max())  # NaN if there is one
    if not np.isfinite([low, high]).all():
        return Facts(tensor.dtype, axes)
    return Facts(tensor.dtype, axes, low=low, high=high, finite=True, masked=low <= MASK_FILL)


class _Walk:
    def __init__(
        self,
        model: ir.Model,
        declarations: Declarations,
        scope: Scope,
        constants: _Constants,
        branches: dict[str, str],  # of all rounds
    ) -> None:
        self.model, self.declarations, self.scope, self.constants = model, declarations, scope, constants
        self.analysis = Analysis(model, declarations, scope, branches=branches)
        self.values = self.analysis.values

    def run(self) -> None:
        for value in self.model.graph.inputs:
            self.values[value.name or ""] = self._input(value)
        seen: set[ir.Node] = set()
        while not self._sweep(seen):
            pass
        for output in self.model.graph.outputs:
            self._output(output)

    def _sweep(self, seen: set[ir.Node]) -> bool:
        """Visit the nodes not yet seen, in order. False after a branch was inlined: the order is another one then."""
        for node in list(self.model.graph):
            if node in seen:
                continue
            if node.op_type == "If":
                self._branch(node)
                return False
            self._visit(node)
            seen.add(node)
        return True

    # -- inputs and outputs ------------------------------------------------------------------------------------

    def _input(self, value: ir.Value) -> Facts:
        name = value.name or ""
        dtype = value.dtype or ir.DataType.FLOAT
        declared = self.declarations
        if dtype == ir.DataType.STRING:
            raise RefusedError(
                "it holds strings",
                where=f"input {name}",
                why="no provider with fixed shapes takes them",
                fix="look the strings up outside the model, and let it take their numbers",
            )
        if name in declared.masks:
            axis, length = declared.masks[name]
            axes = self._input_axes(value, {axis: length})
            valid, behind = (ZERO, TRUE) if name in declared.padding_masks else (TRUE, ZERO)
            pads = tuple(PaddingFact.of(behind) if atom.ragged else PaddingFact.of(ANY) for atom in flatten(axes))
            return Facts(dtype, axes, pads, None, 0.0, 1.0, finite=True, masked=False, constant=valid.value)
        axes = self._input_axes(value, declared.axes.get(name, {}))
        flat = flatten(axes)
        if not self.scope.single_row and any(a.ragged for a in flat) and not any(a.batch for a in flat):
            raise RefusedError(
                "an axis varies with the length, and there is no batch axis: each row has a length of its own",
                where=f"input {name}",
                fix="export with batch 1, or give the input a batch axis",
            )
        if name in declared.length_inputs:
            held = number(declared.length_inputs[name], Face.LENGTH)
            content: Affine | Elements = Affine(held)
            low, high = self.scope.domain.bounds(declared.length_inputs[name])
            return Facts.known(dtype, axes, content, float(low or 0), float(high or np.inf))
        pads = tuple(PaddingFact.of(FINITE) if atom.ragged else PaddingFact.of(ANY) for atom in flatten(axes))
        return Facts(dtype, axes, pads, finite=True, masked=False, image=True)

    def _input_axes(self, value: ir.Value, ragged: Mapping[int, Length]) -> Axes:
        axes: list[Axis] = []
        for axis, size in enumerate(value.shape or ()):
            if axis in ragged:
                axes.append(self.scope.axis(ragged[axis]))
            elif self._is_batch(value, axis, size):
                axes.append(() if self.scope.single_row else self.scope.axis(self._rows()))
            elif isinstance(size, int):
                axes.append(self.scope.axis(size))
            else:
                raise RefusedError(f"axis {axis} of input {value.name} varies and is not declared")
        return tuple(axes)

    def _is_batch(self, value: ir.Value, axis: int, size: object) -> bool:
        declared, name = self.declarations, value.name or ""
        if declared.batch is None or axis != declared.batch_axes.get(name, 0):
            return False
        if name in declared.batch_axes or name == declared.batch.input:
            return True
        return not isinstance(size, int) or (size == self.declarations.rows and size != 1)

    def _rows(self) -> Length:
        return symbol(BATCH)

    def _output(self, output: ir.Value) -> None:
        name = output.name or ""
        value = self._value(output)
        if value is None:
            raise RefusedError(f"output {name} is not computed")
        if output.is_graph_input():
            raise RefusedError(
                f"output {name} is the input of that name",
                why="its padding would have to be 0, and an input has no second name to be cut under",
                fix="drop the output, or return a copy of it under a name of its own",
            )
        node = output.producer()
        anchor = node if node is not None else ir.node("Identity", [output], name=name)
        context = RuleContext(anchor, 0, [value], self.scope, {})
        try:
            if value.relative is not None:
                context.refuse("an output is inside a relative shift")
            if value.bounded is not None:
                raise _unfit(self.scope, value.bounded.count)
            plain = value.rows_in_front or not any(atom.batch for atom in value.atoms)
            if not self.scope.single_row and plain:
                context.refuse("an output has no batch axis, and each row has a length of its own")
            need_steps(context, f"output {name}")
            value = context.data(0, row_axis=value.rank or None)
            for axis, atoms in enumerate(value.axes):
                if any(a.ragged for a in atoms):
                    value = context.prefix_axis(0, axis)
                    context.replace(0, value)
        except NoProof as proof:
            self._refuse(anchor, proof)
        remedies = [replace(r, operand=0) if isinstance(r, Take) else r for r in context.remedies]
        self.analysis.outputs.append(OutputSite(name, value, remedies))

    # -- nodes -------------------------------------------------------------------------------------------------

    def _value(self, value: ir.Value | None) -> Facts | None:
        if value is None or (not value.name and value.producer() is None):
            return None
        found = self.values.get(value.name or "")
        if found is None and value.const_value is not None:
            return self.constants.value(value.const_value)
        return found

    def _visit(self, node: ir.Node) -> None:
        self.scope.at = f"node {node.name}, {node.op_type}"
        operands = [self._value(i) for i in node.inputs]
        outer = [self._value(v) for v in captured(node)]
        version = self.model.graph.opset_imports.get(node.domain, 1)
        constants = {
            i: v.const_value.numpy()
            for i, v in enumerate(node.inputs)
            if v is not None
            and v.const_value is not None
            and v.name not in self.values
            and v.const_value.size <= 1 << 16
        }
        context = RuleContext(node, version, operands, self.scope, constants)
        before, spans, settled = tuple(operands), dict(self.scope.spans), not self.scope.narrowed
        rule = find_rule(node.domain, node.op_type)
        varying = [v for v in (*operands, *outer) if v is not None and (v.ragged or _varies(v))]
        try:
            if any(v is not None and v.relative is not None for v in operands) and (
                node.op_type not in _THROUGH_RELATIVE
            ):
                context.refuse("a relative shift is read before it ends")
            if any(v is not None and v.rows_in_front for v in operands) and (
                rule is not elementwise and node.op_type not in _BEHIND_ROWS
            ):
                context.refuse("a vector made of each row's own length is used other than elementwise", _ONE_ROW)
            if any(v is not None and v.own_row is not None for v in operands) and node.op_type not in MAY_READ:
                context.refuse("a row's place in the batch is used as data, and native has one row", _ONE_ROW)
            bounded = next((v.bounded for v in operands if v is not None and v.bounded is not None), None)
            if bounded is not None and node.op_type not in ("Concat", "Pad", "Slice"):
                raise _unfit(self.scope, bounded.count)
            if rule is None or (node.op_type in ADVICE and not varying and not node.op_type.startswith("Random")):
                outputs: Sequence[Facts | None] = self._default(context, varying)
            else:
                if not takes_empty(node.domain, node.op_type):
                    need_steps(context, node.op_type)
                if selects(node):
                    need_equal_shapes(context)
                if in_branch(node):
                    need_total(context)
                outputs = keep_contents(context, rule, in_front=node.op_type in _BEHIND_ROWS)
            if in_branch(node) and self.scope.spans != spans:
                self.scope.restore(spans)
                refuse_narrowing(context)
            self._fits(node, outputs)
        except NoProof as proof:
            if self.scope.narrowed and not (settled and in_branch(node)):
                raise _Again from None
            self._refuse(node, proof)
        results = list(outputs)
        for remedy in context.remedies:
            if isinstance(remedy, Take) and remedy.on_output:
                results[remedy.output] = _taken(results[remedy.output])
        from_sizes = node.op_type in ("Shape", "Size") or self._from_sizes(node, context)
        for output, value in zip(node.outputs, results, strict=False):
            if output.name and value is not None:
                appended = value.appended if node.op_type in ("Flatten", "Pad", "Reshape") else None
                reached = reached_by(context, before, value)
                value = replace(
                    value, from_sizes=from_sizes and value.pending is None, appended=appended, reached=reached
                )
                self.values[output.name] = value
                if output.dtype is None:  # remedies are made in the type of what they mend
                    output.dtype = value.dtype
        if varying or context.remedies:
            self.analysis.sites.append(Site(node, before, context.remedies, tuple(results)))

    def _from_sizes(self, node: ir.Node, context: RuleContext) -> bool:
        """Whether a node reads nothing but constants and what is made of sizes, and is left as it is."""
        if context.remedies or bodies(node):
            return False
        return all(
            facts is None or facts.from_sizes or (value is not None and value.name not in self.values)
            for value, facts in zip(node.inputs, context.operands, strict=False)
        )

    def _fits(self, node: ir.Node, values: Sequence[Facts | None]) -> None:
        """A container holds the valid part only if its size grows with the length; T % 3 does not."""
        for output, value in zip(node.outputs, values, strict=False):
            for atom in value.atoms if output.name and value is not None else ():
                if atom.ragged and not self.scope.grows(atom.size):
                    raise _unfit(self.scope, atom.size)

    def _default(self, context: RuleContext, varying: Sequence[Facts]) -> list[Facts | None]:
        """An operator without a rule, away from ragged axes: its outputs are what ONNX's inference recorded."""
        name = context.type if not context.node.domain else f"{context.node.domain}.{context.type}"
        if varying:
            context.refuse(
                f"no rule says what padding does to {name}",
                advice_for(context.node.domain, context.type),
            )
        outputs: list[Facts | None] = []
        for output in context.node.outputs:
            shape = output.shape
            if shape is None or not shape.is_static():
                context.refuse(f"no rule for {name}, and the file does not record its output's shape")
            axes = tuple(self.scope.axis(d) for d in shape.numpy())
            outputs.append(Facts(output.dtype or ir.DataType.FLOAT, axes))
        return outputs

    def _branch(self, node: ir.Node) -> None:
        condition = self._value(node.inputs[0])
        known = condition.scalar if condition is not None else None
        if known is not None and known.is_constant:
            taken = "then_branch" if known.fraction else "else_branch"
        elif self.scope.narrowed:  # a shorter domain may decide it
            raise _Again
        else:
            taken = ""
        self.analysis.branches[node.name or ""] = taken
        inline(self.model, node, taken)
        normalise(self.model)

    def _refuse(self, node: ir.Node, proof: NoProof) -> NoReturn:
        finding = _told(node, "PAD190", proof.reason, proof.fix)
        place = f"node {finding.node} ({finding.op})"
        if finding.source is not None:
            place += f" at {finding.source}"
        raise RefusedError(proof.reason, where=place, fix=proof.fix, findings=[finding]) from None


def _unfit(scope: Scope, size: Length) -> NoProof:
    falls = scope.domain.bounds(size)[1] is None  # without end, though not with every step
    grows = "grows with the length, but not at every step" if falls else "does not grow with the length"
    return NoProof(
        f"the size {size} {grows}, so no container holds every shorter one",
        "make the size a constant, or let it grow with the input",
    )


def _varies(value: Facts) -> bool:
    return value.content is not None and value.content.face is not Face.CONSTANT


def _taken(value: Facts | None) -> Facts | None:
    """Facts after a gather of the output: the padding repeats some element."""
    if value is None:
        return None
    finite = value.everywhere.finite
    pads = tuple(PaddingFact.of(FINITE if finite else ANY) for _ in value.atoms)
    return replace(value, pads=pads, content=None, pending=None, image=False)
