"""What a diagnosis is made of: a code that never changes its meaning, a place, and what to do.

Codes: PAD1xx padding invariance, SHP1xx shape chains, SIG1xx signature, DTY1xx types, DML1xx DirectML, TGT1xx the
tables of all targets. Never reused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Finding", "Severity", "Source", "portable_paths"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Source:
    """The user's own source line that made a node (innermost frame outside the framework)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Finding:
    """One diagnosis.

    Attributes:
        code: stable code, such as ``PAD102``.
        node: name of the node, or of the input or output concerned.
        op: operator type, empty for graph-level findings.
        leak: what leaks into what, or what is wrong.
        remedy: the remedy taken, or what to do.
        axis: the axis concerned, if one is.
        module: dotted module path recorded by the exporter, if any.
        source: the user's source line, if recorded.
        severity: ``error`` changes the answer or stops the model, ``warning`` may, ``note`` does not.
    """

    code: str
    node: str
    op: str
    leak: str
    remedy: str = ""
    axis: int | None = None
    module: str | None = None
    source: Source | None = None
    severity: Severity = "error"

    def to_json(self) -> dict[str, Any]:
        """The finding as the ``--json`` output prints it."""
        return {
            "code": self.code,
            "node": self.node,
            "op": self.op,
            "module": self.module,
            "source": {"file": self.source.file, "line": self.source.line} if self.source else None,
            "axis": self.axis,
            "leak": self.leak,
            "remedy": self.remedy,
            "severity": self.severity,
        }

    def __str__(self) -> str:
        place = f"{self.node} ({self.source})" if self.source else self.node
        text = f"{self.code} {place}: {self.leak}"
        return f"{text} -> {self.remedy}" if self.remedy else text


_ABSOLUTE = re.compile(r"(?<![\w.\\/-])(?:[A-Za-z]:)?[\\/][^\"\n<>|:*?]*?(?=\.pyi?\b)")


def portable_paths(text: str) -> str:
    """The text with absolute source paths made relative: what follows ``site-packages``, else the bare file name.

    A published file should not tell the folders of the machine that exported it, nor differ between two machines.
    """

    def relative(match: re.Match[str]) -> str:
        parts = re.split(r"[\\/]", match.group())
        packages = [at for at, part in enumerate(parts) if part in ("site-packages", "dist-packages")]
        return "/".join(parts[packages[-1] + 1 :]) if packages else parts[-1]

    return _ABSOLUTE.sub(relative, text)
