"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from paddable.providers.advice import known_advice

__all__ = [
    "ProviderName",
    "as_json",
    "batch_size",
    "bundle",
    "declarations",
    "force",
    "gate_lengths",
    "lengths",
    "model",
    "out",
    "report",
    "result",
    "session",
    "target",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

model: Decorator = click.argument("model", type=click.Path(path_type=Path), metavar="MODEL.onnx")

out: Decorator = click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where to write: FILE.onnx or DIRECTORY/.",
)

as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")


class ProviderName(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click only
    """The name of an execution provider; help and errors list those there are.

    Args:
        others: words that are allowed beside, such as ``auto``.
    """

    name = "NAME"

    def __init__(self, *others: str) -> None:
        self._others = others

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """``cpu|cuda|directml|...``"""
        return "|".join((*self._others, *known_advice()))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name as it was given."""
        if value not in (allowed := (*self._others, *known_advice())):
            self.fail(f"{value!r} is not one of {', '.join(allowed)}", param, ctx)
        return value


def target(help: str) -> Decorator:
    """``--target NAME``; what it does is the command's to say."""
    return click.option("--target", type=ProviderName(), help=help)


def _together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which the help has them."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


report: Decorator = click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Write a page about it: one file that opens in any browser, offline.",
)

force: Decorator = click.option("--force", is_flag=True, help="Replace what is already there.")

batch_size: Decorator = click.option(
    "--batch-size", type=click.IntRange(min=1), metavar="B", help="Size of a symbolic batch axis. Default: 1."
)


def _joined(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    """Several as one with commas: the last alone would replace the others without a word."""
    return ",".join(given) if given else None


def _once(context: click.Context, parameter: click.Parameter, given: tuple[Path, ...]) -> Path | None:
    if len(given) > 1:
        raise click.UsageError(
            f"{parameter.opts[0]} is given {len(given)} times, last as {given[-1]}: put them into one directory"
        )
    return given[0] if given else None


precision: Decorator = click.option(
    "--precision",
    multiple=True,
    callback=_joined,
    metavar="fp32|fp16|int8|int8-dynamic|int8-static|int4",
    help="Precision of the result, several with commas: int8 and int4 store weights, int8-dynamic computes in 8 bits, "
    "int8-static too and fixes its ranges from examples. Default: fp32. Repeatable.",
)

half: Decorator = click.option(
    "--half",
    type=click.Choice(["exact", "fast"]),
    help="With --precision fp16: keep norms and the residual in fp32 (exact, the default: a quarter of the error), or "
    "not (fast: 11 % less time).",
)

forms: Decorator = click.option(
    "--forms",
    metavar="none|NAME,...",
    help="Operators to write containers in, of docs/forms.md. Default: those that the target runs fastest.",
)

examples: Decorator = click.option(
    "--examples",
    multiple=True,
    callback=_once,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE.npz|CLIP.wav",
    help="Inputs that the model will meet, which a precision is chosen and judged by. Default: random ones at the "
    "levels of sound, log-mels and embeddings.",
)

accept: Decorator = click.option(
    "--accept",
    multiple=True,
    metavar="cosine=0.9999",
    help="What the answers on examples have to reach against fp32, or nothing is written: cosine and agreement (of the "
    "best class) at least, error (of scale) at most. Repeatable.",
)

result: Decorator = _together(
    target("Convert for this execution provider: apply its fixes, and refuse what it cannot run."),
    precision, half, forms, examples, accept,
)  # fmt: skip
"""What is made: for whom, in which precision and forms, judged by what."""

gate_lengths: Decorator = click.option(
    "--gate-lengths",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    metavar="N",
    help="Lengths tried in each container, edges first. Fewer prove less of a model that is slow to run.",
)

bundle: Decorator = click.option(
    "--model",
    "bundle",
    required=True,
    type=click.Path(path_type=Path),
    metavar="BUNDLE",
    help="The directory that paddable export wrote.",
)

provider: Decorator = click.option(
    "--provider",
    default="auto",
    show_default=True,
    type=ProviderName("auto"),
    help="The execution provider to run on. auto takes the fastest that the bundle was made for and that works here.",
)

device: Decorator = click.option(
    "--device",
    "device_id",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Which of several devices; paddable doctor lists those of DirectML.",
)

allow_mixed: Decorator = click.option(
    "--allow-mixed-onnxruntime",
    "allow_mixed",
    is_flag=True,
    help="Run although several flavours of onnxruntime are installed.",
)

allow_tf32: Decorator = click.option(
    "--allow-tf32", is_flag=True, help="Faster products of 10 bits (cuda). Not for a graph that holds its front end."
)

channels_last: Decorator = click.option(
    "--channels-last",
    is_flag=True,
    help="Faster depthwise convolutions in fp32, ready after ten times as long (cuda).",
)

session: Decorator = _together(
    provider, device, allow_mixed, allow_tf32, channels_last,
    target("Take the graphs of the bundle that were made for this execution provider."),
)  # fmt: skip
"""On what a bundle runs."""

lengths: Decorator = click.option(
    "--length",
    "lengths",
    multiple=True,
    metavar="INPUT:AXIS=T",
    help="A ragged axis and its length: a symbol or an expression such as (T-80)//320+1. Repeatable.",
)


declarations: Decorator = _together(
    lengths,
    click.option(
        "--length-input",
        "length_inputs",
        multiple=True,
        metavar="NAME=T",
        help="An input that already holds the length. Repeatable.",
    ),
    click.option(
        "--mask-input",
        "mask_inputs",
        multiple=True,
        metavar="NAME:AXIS=T",
        help="An input that is 1 at valid steps (=~T: at padding); it is made from the length. Repeatable.",
    ),
    click.option(
        "--shortest",
        multiple=True,
        metavar="T=STEPS",
        help="Accept no shorter length, even where native does: it gives zeros and length 0. Repeatable.",
    ),
    click.option(
        "--batch",
        metavar="INPUT:AXIS|none",
        help="The batch axis, a:0,b:1 for several inputs, none where no axis counts rows. "
        "Default: axis 0 of the first --length.",
    ),
    click.option(
        "--set",
        "bindings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Fix an input (sr=16000), or the size of an axis (x:1=512) or a dimension (batch=1). Repeatable.",
    ),
    click.option("--rate", type=float, metavar="N", help="Steps a second, so that containers may be seconds."),
)
"""Everything that says which axes are ragged, and how: lengths, length inputs, masks, shortest, batch and rate."""
