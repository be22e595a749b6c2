"""The errors a user can meet. Each says what happened, where, why it matters and what to do about it.

The class decides the exit code of the command line (design: 1 understood and refused, 2 misuse or unreadable input).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddable.findings import Finding

__all__ = [
    "EXTRAS",
    "GateFailedError",
    "MissingExtraError",
    "MisuseError",
    "PaddableError",
    "PaddableWarning",
    "RefusedError",
    "UnreadableError",
    "arguments",
    "exists_already",
    "with_extra",
]


def arguments(**values: object) -> str:
    """Arguments as messages name them: in backquotes, as Python writes them; the command line shows its flags."""
    return f"`{', '.join(f'{name}={value!r}' for name, value in values.items())}`"


class PaddableWarning(UserWarning):
    """Something that a reader should know though the answer stands; the command line shows it as one line."""


class PaddableError(Exception):
    """Base of every error that Paddable raises on purpose.

    Args:
        what: what happened, one sentence without a full stop.
        where: the input, node, tensor or file concerned.
        why: why it matters.
        fix: what the reader can do.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", why: str = "", fix: str = "") -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(str(self))

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return "; ".join(part for part in (head, self.why, self.fix) if part).replace("?; ", "? ")


class MisuseError(PaddableError, ValueError):
    """The request itself is wrong: an unknown input, a bad declaration, an impossible container."""

    exit_code = 2


def exists_already(place: object) -> MisuseError:
    """The error for a place that holds something which nobody said to replace."""
    fix = f"choose another name, or replace it with {arguments(force=True)}"
    return MisuseError("it exists already", where=str(place), fix=fix)


class UnreadableError(PaddableError, ValueError):
    """The input file cannot be read as what it should be."""

    exit_code = 2


EXTRAS: Mapping[str, tuple[str, ...]] = {
    "convert": ("onnx", "onnx_ir"),
    "export": ("torch", "onnxscript", "safetensors", "yaml"),
    "audio": ("soundfile", "soxr", "sentencepiece", "tiktoken"),
    "demo": ("hama",),
    "hub": ("huggingface_hub", "modelscope"),
}
"""The modules that each extra brings, beside the flavours of ONNX Runtime."""


def with_extra(extra: str) -> str:
    """How an extra is installed, in words that hold for a clone as for a wheel: Paddable is on no index."""
    return f'install Paddable with its extra "{extra}" (in a clone of it: pip install ".[{extra}]")'


class MissingExtraError(PaddableError, ImportError):
    """An optional dependency is absent; the message names the extra that installs it."""

    exit_code = 2


class RefusedError(PaddableError):
    """The model was understood, and no proof was found; ``findings`` name the node, the source line and the reason."""

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        why: str = "",
        fix: str = "",
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(what, where=where, why=why, fix=fix)
        self.findings = tuple(findings)


class GateFailedError(PaddableError):
    """A result exists but does not pass its own verification, so it was not written; ``shown`` has what a page shows of
    the figures."""

    def __init__(
        self, what: str, *, where: str = "", why: str = "", fix: str = "", shown: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(what, where=where, why=why, fix=fix)
        self.shown = dict(shown or {})
