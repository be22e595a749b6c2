"""One padded graph for a container: rewritten, fixed for its target, in its precision. Each is built once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from paddable.api.certificate import certificate
from paddable.api.opened import Opened
from paddable.api.room import demand_room
from paddable.api.running import Lend, Sampled
from paddable.bundle import Metadata
from paddable.errors import RefusedError
from paddable.forms.applying import apply_forms
from paddable.forms.form import Known
from paddable.padding.rewrite.rewrite import rewrite
from paddable.precision import PRECISIONS, in_precision, session_config
from paddable.precision.decided import Decided
from paddable.providers.registry import provider as provider_named
from paddable.providers.report import TargetReport, fix_for, lint_for

__all__ = ["Padded", "demand_target", "fitted", "forms_of", "in_its_session", "padded", "precise", "told"]


@dataclass(frozen=True)
class Padded:
    """A padded graph.

    Attributes:
        model: the graph, in its precision.
        metadata: what it says of itself.
        exact: the same in fp32, as the gates judge it first; ``model`` itself where that is its precision.
        native: native in its precision, where that was changed before it was padded.
        before: native before that.
    """

    model: ir.Model
    metadata: Metadata
    exact: ir.Model
    native: ir.Model | None = None
    before: ir.Model | None = None

    @property
    def name(self) -> str:
        """In reports and messages."""
        return told(self.metadata.container, self.rows) or "symbolic"

    @property
    def rows(self) -> int:
        """Rows that a run takes; 1 where there is no batch, or one of any size."""
        return self.metadata.rows or 1


def padded(
    opened: Opened,
    container: Mapping[str, int],
    target: str = "cpu",
    *,
    precision: str = "fp32",
    forms: Sequence[str] | None = None,
    kept: Collection[str] = (),
    coarse: bool = False,
    on_message: Callable[[str], None] | None = None,
    lend: Lend | None = None,
) -> Padded:
    """Build one padded graph.

    Args:
        opened: the native model.
        container: steps of each symbol; empty keeps the container symbolic.
        target: the provider whose fixes a static graph gets.
        precision: of a static graph; a symbolic one stays in fp32.
        forms: names of the forms that a static graph gets; None for those that the target's record names.
        kept: values that some precision keeps in fp32 or in a fixed range: no form does away with them.
        coarse: whether some precision stores matrices in 8 bits or fewer.
        on_message: called with a line for each fix that was left out, each form, and where the nodes run.
        lend: writes a model to a file for as long as a fix is compared on it.

    Raises:
        MisuseError: the container is too large.
        RefusedError: the target cannot run the graph whatever is done to it; the findings say what stands in the way.
    """
    analysis = opened.analyse()
    demand_room(analysis, [container], run=False)
    metadata = certificate(analysis, opened.rates, container, target, opened.bindings, opened.native_opset)
    model = rewrite(analysis, container or None)
    if not container:
        return Padded(model, metadata, model)
    metadata = replace(metadata, precision=precision)
    finite = {name for name, facts in analysis.values.items() if facts.finite_padding}
    known = Known(finite, coarse, kept)
    name = told(container, metadata.rows or 1)
    return fitted(model, metadata, target, Sampled(container, lend), name, forms, known, on_message)


def fitted(
    model: ir.Model,
    metadata: Metadata,
    target: str,
    runner: Sampled,
    name: str,
    forms: Sequence[str] | None = None,
    known: Known | None = None,
    on_message: Callable[[str], None] | None = None,
    decided: Decided | None = None,
) -> Padded:
    """A static graph with the fixes and forms of its target, in its precision, and the advice for its session.

    Args:
        model: the graph, every size known.
        metadata: what is known of it so far, and the precision it is to have.
        target: the provider.
        runner: compares it before and after a fix.
        name: of the graph, in messages.
        forms: names of the forms that it gets; None for those that the target's record names.
        known: of the graph, for its forms.
        on_message: called with a line for each fix that was left out, each form, and where the nodes run.
        decided: what stays in fp32 in native.

    Raises:
        RefusedError: the target cannot run it whatever is done to it.
    """
    exact, fixes = fix_for(model, target, runner)
    if on_message is not None:
        for fix, why in fixes.refused.items():
            on_message(f"{name}: fix not applied: {fix}: {why}")
    wanted = forms_of(target, metadata.precision) if forms is None else forms
    exact, formed = apply_forms(exact, wanted, known or Known(), runner)
    metadata = replace(metadata, forms=formed.to_json())
    if on_message is not None:
        for line in formed.lines():
            on_message(f"{name}: {line}")
    return precise(exact, metadata, target, name, on_message, decided)


def forms_of(target: str, precision: str) -> tuple[str, ...]:
    """Names of the forms that a provider's record names for a precision."""
    return provider_named(target).forms_for(half=PRECISIONS[precision].ranges)


def precise(
    exact: ir.Model,
    metadata: Metadata,
    target: str,
    name: str,
    on_message: Callable[[str], None] | None = None,
    decided: Decided | None = None,
) -> Padded:
    """A fixed graph in its precision, and the advice for its session. Arguments and errors as of ``fitted``."""
    made = in_precision(exact, metadata.precision, metadata.kept, metadata.fixed, decided)
    report = demand_target(made, target, name, on_message)
    advised = report.advice
    options = dict(advised.options)
    if PRECISIONS[metadata.precision].fast or _suits_two_dimensions(made):
        options |= advised.conv1d_options
    advice = {target: replace(advised, options=options).to_json()}
    return Padded(made, in_its_session(replace(metadata, advice=advice), made), exact)


def in_its_session(metadata: Metadata, model: ir.Model) -> Metadata:
    """The metadata of a graph with what its precision asks of a session, on every provider that it was made for."""
    asked = session_config(metadata.precision, model)
    advice = {name: {**said, "config": {**said["config"], **asked}} for name, said in metadata.advice.items()}
    return replace(metadata, advice=advice)


def _suits_two_dimensions(model: ir.Model) -> bool:
    """Whether 1-D convolutions had better run as 2-D ones where a quick start counts.

    In fp32 these are faster. In half they take 0.16 s each to plan, but a dilated one may have no plan otherwise (cuDNN
    9.19: HEURISTIC_QUERY_FAILED at the first run).
    """
    found = [node for node in model.graph.all_nodes() if node.op_type == "Conv" and _dilations(node)]
    halves = [node for node in found if node.inputs[1] is not None and node.inputs[1].dtype == ir.DataType.FLOAT16]
    return bool(found) and (not halves or any(_dilations(node)[0] > 1 for node in halves))


def _dilations(node: ir.Node) -> Sequence[int]:
    """Of a 1-D convolution; nothing for another."""
    kernel = node.inputs[1].shape if len(node.inputs) > 1 and node.inputs[1] is not None else None
    if kernel is None or len(kernel) != 3:
        return ()
    return node.attributes["dilations"].as_ints() if "dilations" in node.attributes else (1,)


def told(container: Mapping[str, int], rows: int = 1) -> str:
    """A container as messages name it: ``T=24000,U=512``, ``T=24000 of 8 rows``."""
    size = ",".join(f"{symbol}={steps}" for symbol, steps in container.items())
    return f"{size} of {rows} rows" if size and rows > 1 else size


def demand_target(
    model: ir.Model, target: str, name: str, on_message: Callable[[str], None] | None = None
) -> TargetReport:
    """What the target makes of a graph as it is to be written.

    Args:
        model: the graph, after the target's fixes.
        target: the provider.
        name: of the graph, in messages: its container or its file.
        on_message: called with a line that says where the nodes run.

    Raises:
        RefusedError: the target cannot run it.
    """
    report = lint_for(model, target)
    if on_message is not None and report.placement is not None:
        on_message(f"{name}: on {target}: {report.placement}")
    stopped = [finding for finding in report.findings if finding.severity == "error"]
    if stopped:
        raise RefusedError(
            f"{target} cannot run it: {stopped[0]}",
            where=name,
            why=f"{len(stopped)} findings are left after the fixes",
            fix=f"see paddable lint --target {target}",
            findings=stopped,
        )
    return report
