"""CT-Transformer: a checkpoint folder to native ONNX and what its bundle says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from paddable.families.ct_punc.model import CtPunc
from paddable.families.ct_punc.spec import CT_PUNC
from paddable.families.ct_punc.weights import ct_punc_from_folder
from paddable.families.family import Described, Family, Loaded
from paddable.families.tracing.native import export_native

if TYPE_CHECKING:
    import onnx

__all__ = ["FAMILY", "export_ct_punc"]

_WORDS = 17
"""Of the example; any number above 1 would do."""


def export_ct_punc(model: CtPunc) -> onnx.ModelProto:
    """Input: ``text`` i64[1, N], rows of the token table. Output: ``scores`` f32[1, N, P].

    Raises:
        RefusedError: a length did not stay symbolic.
    """
    text = torch.zeros(1, _WORDS, dtype=torch.int64)
    return export_native(
        model, {"text": text}, ["scores"], ragged_inputs={"text": (1, "N")}, ragged_outputs={"scores": 1}
    )


def _load(folder: Path, choices: Mapping[str, Any]) -> Loaded:
    model = ct_punc_from_folder(folder)
    config = model.config
    about = {
        "units": {"N": "words and characters", "scores_length": "words and characters"},
        "settings": {"punctuation": {"marks": list(config.marks), "sentence_end": config.sentence_end}},
    }
    return Loaded(partial(export_ct_punc, model), None, about, classes=config.vocabulary)


def _describe(folder: Path) -> Described:
    return Described(asdict(ct_punc_from_folder(folder).config))


FAMILY = Family(CT_PUNC, _load, _describe)
