"""Where a node comes from: the user's source line and the module path, as exporters record them.

The dynamo exporter writes both into the node's metadata. The TorchScript exporter writes the module path into the
node's name, and the source line into its doc string when asked to (``verbose=True``).
"""

from __future__ import annotations

import ast
import re

import onnx_ir as ir

from paddable.findings import Source

__all__ = ["STACK_TRACE", "module_path", "portable_paths", "source"]

STACK_TRACE = "pkg.torch.onnx.stack_trace"
_NAME_SCOPES = "pkg.torch.onnx.name_scopes"

_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
"""A frame of a Python trace, outermost first."""
_SCRIPT_FRAME = re.compile(r"^(\S[^\n]*\.py)\((\d+)\):", re.MULTILINE)
"""A frame in a TorchScript doc string, innermost first."""
_FRAMEWORK = re.compile(r"(^|[\\/](site|dist)-packages[\\/])torch[\\/]")
_ABSOLUTE = re.compile(r"(?<![\w.\\/-])(?:[A-Za-z]:)?[\\/][^\"\n<>|:*?]*?(?=\.pyi?\b)")


def source(node: ir.Node) -> Source | None:
    """The innermost recorded frame outside torch: the line that the user can read and change."""
    frames = [Source(file, int(line)) for file, line in _FRAME.findall(node.metadata_props.get(STACK_TRACE, ""))]
    if not frames and node.doc_string:
        frames = [Source(file, int(line)) for file, line in _SCRIPT_FRAME.findall(node.doc_string)][::-1]
    # A file called <...> is code that torch generated while it traced.
    outside = [frame for frame in frames if not frame.file.startswith("<") and not _FRAMEWORK.search(frame.file)]
    return (outside or frames)[-1] if frames else None


def module_path(node: ir.Node) -> str | None:
    """Dotted path of the module whose forward made the node, such as ``encoder.layers.0.self_attn``."""
    recorded = node.metadata_props.get(_NAME_SCOPES)
    if recorded:
        try:
            scopes = ast.literal_eval(recorded)
        except (SyntaxError, ValueError):
            scopes = []
        # The last scope is the operator itself, the first the root module, whose path is empty.
        return next((str(scope) for scope in reversed(scopes[:-1]) if scope), None)
    if node.name and node.name.startswith("/"):
        return ".".join(node.name.strip("/").split("/")[:-1]) or None
    return None


def portable_paths(text: str) -> str:
    """The text with absolute source paths made relative: what follows ``site-packages``, else the bare file name.

    A published file should not tell the folders of the machine that exported it, nor differ between two machines.
    """

    def relative(match: re.Match[str]) -> str:
        parts = re.split(r"[\\/]", match.group())
        packages = [at for at, part in enumerate(parts) if part in ("site-packages", "dist-packages")]
        return "/".join(parts[packages[-1] + 1 :]) if packages else parts[-1]

    return _ABSOLUTE.sub(relative, text)
