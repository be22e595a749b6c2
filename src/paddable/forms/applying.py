"""Apply the forms that are wanted to a graph: all are compared at once, and one by one where that does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx_ir as ir

from paddable.errors import MisuseError, RefusedError
from paddable.forms.attention_in_place import AttentionInPlace
from paddable.forms.attention_with_lengths import AttentionWithLengths
from paddable.forms.form import Form, Known
from paddable.forms.relu_as_max import ReluAsMax
from paddable.forms.residual_in_convolution import ResidualInConvolution
from paddable.forms.skip_normalisation import SkipNormalisation
from paddable.linter.fixing import Judge, Runner
from paddable.several import several

__all__ = ["FORMS", "FormReport", "apply_forms", "chosen_forms"]

FORMS: Mapping[str, type[Form]] = {
    form.name: form
    for form in (AttentionInPlace, AttentionWithLengths, ReluAsMax, ResidualInConvolution, SkipNormalisation)
}
"""By name, in the order in which they are applied: a norm takes sums along as the forms before it have left them."""


@dataclass
class FormReport:
    """What happened.

    Attributes:
        applied: places that each form rewrote.
        left: by form, places that look like its pattern and were left, by reason.
        change: largest relative change of an output; None where nothing was rewritten.
    """

    applied: dict[str, int] = field(default_factory=dict)
    left: dict[str, dict[str, int]] = field(default_factory=dict)
    change: float | None = None

    def to_json(self) -> dict[str, Any]:
        """By form, how many ``places`` it took and, if any, why others were ``left``."""
        return {
            name: {"places": self.applied.get(name, 0), **({"left": left} if (left := self.left.get(name)) else {})}
            for name in dict.fromkeys([*self.applied, *self.left])
        }

    def lines(self) -> Iterator[str]:
        """What was done, and why the rest was not, one line a form."""
        for name in dict.fromkeys([*self.applied, *self.left]):
            count = self.applied.get(name, 0)
            told = f"form {name}: {count} {'place' if count == 1 else 'places'}"
            left = [f"{count} left: {why}" for why, count in self.left.get(name, {}).items()]
            yield "; ".join([told, *left])


def chosen_forms(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """The forms that a ``forms`` argument asks for; None for those of the provider.

    Args:
        given: names, in a list or with commas, ``none``, or None.

    Raises:
        MisuseError: no form has that name.
    """
    if given is None:
        return None
    text = ",".join(several("forms", given))
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in FORMS:
            raise MisuseError(f"no form is called {name!r}", fix=f"choose none, or of {', '.join(FORMS)}")
    return tuple(name for name in FORMS if name in names)


def apply_forms(
    model: ir.Model, names: Sequence[str], known: Known, runner: Runner | None = None
) -> tuple[ir.Model, FormReport]:
    """Apply forms, in the order of ``FORMS``.

    Args:
        model: a static graph in fp32; it is not changed, its tensors are shared with the result.
        names: of the forms.
        known: of the graph.
        runner: loads and runs a model on the CPU; without it nothing is applied.

    Returns:
        The model in its forms, and what was done.
    """
    report = FormReport()
    if runner is None:
        return model, report
    wanted = [form for name, form in FORMS.items() if name in names]
    formed, passes = _run(model, wanted, known)
    for form in passes:
        if form.taken.left:
            report.left[form.name] = dict(form.taken.left)
    if not any(form.taken.places for form in passes):
        return model, report
    judge = Judge(model, runner, ())
    try:
        report.change = judge.change(model, formed, passes[0])
        report.applied = {form.name: form.taken.places for form in passes if form.taken.places}
        return formed, report
    except RefusedError:
        pass
    for kind in wanted:  # one of them moves the numbers: each by itself, on what the ones before it gave
        after, (form,) = _run(model, [kind], known)
        if not form.taken.places:
            continue
        try:
            report.change = judge.change(model, after, form)
        except RefusedError as error:
            report.left[form.name] = dict(Counter(form.taken.left) + Counter({error.what: form.taken.places}))
        else:
            report.applied[form.name], model = form.taken.places, after
    return model, report


def _run(model: ir.Model, kinds: Sequence[type[Form]], known: Known) -> tuple[ir.Model, list[Form]]:
    model = model.clone()
    passes = [kind(known) for kind in kinds]
    for form in passes:
        form(model)
    return model, passes
