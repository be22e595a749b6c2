"""Where a node comes from: the user's source line and the module path, as exporters record them.

The dynamo exporter writes both into the node's metadata. The TorchScript exporter writes the module path into the
node's name, and the source line into its doc string when asked to (``verbose=True``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from paddable.findings import Source

__all__ = ["NAME_SCOPES", "STACK_TRACE", "Traced", "module_path", "source"]

STACK_TRACE = "pkg.torch.onnx.stack_trace"
NAME_SCOPES = "pkg.torch.onnx.name_scopes"

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
"""A frame of a Python trace, outermost first."""
_SCRIPT_FRAME = re.compile(r"^(\S[^\n]*\.py)\((\d+)\):", re.MULTILINE)
"""A frame in a TorchScript doc string, innermost first."""
_FRAMEWORK = re.compile(r"(^|[\\/](site|dist)-packages[\\/])torch[\\/]")
_QUOTED_OTHERWISE = re.compile(r'["\\]')


class Traced(Protocol):
    """What a node carries of its origin: an IR node, or a view of one."""

    @property
    def name(self) -> str | None:
        """The node's name."""

    @property
    def doc_string(self) -> str | None:
        """Its doc string."""

    @property
    def metadata_props(self) -> Mapping[str, str]:
        """Its metadata."""


def source(node: Traced) -> Source | None:
    """The innermost recorded frame outside torch: the line that the user can read and change."""
    return _innermost(node.metadata_props.get(STACK_TRACE, ""), node.doc_string or "")


@lru_cache(maxsize=256)  # the nodes of a stack of equal layers come from the same lines
def _innermost(stack_trace: str, doc_string: str) -> Source | None:
    frames = [Source(file, int(line)) for file, line in _FRAME.findall(stack_trace)]
    if not frames and doc_string:
        frames = [Source(file, int(line)) for file, line in _SCRIPT_FRAME.findall(doc_string)][::-1]
    # A file called <...> is code that torch generated while it traced.
    outside = [frame for frame in frames if not frame.file.startswith("<") and not _FRAMEWORK.search(frame.file)]
    return (outside or frames)[-1] if frames else None


def module_path(node: Traced) -> str | None:
    """Dotted path of the module whose forward made the node, such as ``encoder.layers.0.self_attn``."""
    recorded = node.metadata_props.get(NAME_SCOPES)
    if recorded:
        scopes = _names(recorded)
        # The last scope is the operator itself, the first the root module, whose path is empty.
        return next((scope for scope in reversed(scopes[:-1]) if scope), None)
    if node.name and node.name.startswith("/"):
        scopes = node.name.strip("/").split("/")[:-1]
        # TorchScript names the parts of a Sequential with its own name in front: /front/front.0/Conv is front.0.
        parts = [part.removeprefix(f"{before}.") for before, part in pairwise(["", *scopes])]
        return ".".join(parts) or None
    return None


def _names(recorded: str) -> list[str]:
    """The strings of a list as Python prints it; empty for anything else."""
    if recorded.startswith("['") and recorded.endswith("']") and not _QUOTED_OTHERWISE.search(recorded):
        return recorded[2:-2].split("', '")  # what torch writes; a hundred times for a stack of layers
    try:
        return list(map(str, ast.literal_eval(recorded)))
    except (SyntaxError, ValueError, TypeError):
        return []
