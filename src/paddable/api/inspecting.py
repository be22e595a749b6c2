"""``inspect``: what is in a file or a folder. A bundle is told where the runtime alone is installed, too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paddable.api.inspecting_folder import FolderReport, inspect_folder
from paddable.errors import MisuseError
from paddable.extras import bring
from paddable.several import several

if TYPE_CHECKING:
    from paddable.api.inspecting_file import InspectReport
    from paddable.api.opened import Model

__all__ = ["inspect"]


def inspect(model: Model, lengths: str | Sequence[str] = ()) -> InspectReport | FolderReport:
    """Describe a model; with declared lengths also the length of every value. A folder: a checkpoint or a bundle.

    Raises:
        UnreadableError: not a model, a checkpoint of a known family or a bundle.
        MisuseError: a declaration that does not fit it.
        MissingExtraError: a file needs onnx and onnx_ir, a checkpoint of most families torch.
    """
    lengths = several("lengths", lengths)
    if not isinstance(model, str | os.PathLike) or not Path(model).is_dir():
        report: InspectReport = bring("paddable.api.inspecting_file", "inspect_file")(model, lengths)
        return report
    if lengths:
        raise MisuseError("`lengths` declares an axis of one graph", where=str(model), fix="give the graph's file")
    return inspect_folder(Path(model))
