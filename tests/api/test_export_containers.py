"""Families in containers of the sizes that people deploy: padded equals native, whatever the padding holds."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import paddable as library
from paddable.api import convert, export
from paddable.errors import MisuseError

from ..families.full_size.padding_errors import CONTAINERS, RATE, SECONDS, padding_errors, prompts_of

BOXES = [f"{seconds}s" for seconds in CONTAINERS]


def agree(family: str, folder: Path, outputs: set[str]) -> None:
    rows = list(padding_errors(folder, prompts_of(family)))
    assert {row.output for row in rows} == outputs
    assert {row[:2] for row in rows} == {(s, c) for c in CONTAINERS for s in SECONDS if s <= c}
    assert max(row.error for row in rows) <= 1e-5, max(rows, key=lambda row: row.error)

    too_long = {"audio": np.zeros((1, 61 * RATE), np.float32), **prompts_of(family)}
    with pytest.raises(MisuseError, match=r"976000 steps \(61\.00 s\) do not fit .* 960000 steps \(60\.00 s\)"):
        library.load(folder, "cpu").run(too_long)


def test_sense_voice(sense_voice: tuple[Path, Path], tmp_path: Path) -> None:
    _, small = sense_voice
    out = tmp_path / "bundle"
    convert(small / "native.onnx", ["audio:1=S"], containers=BOXES, out=out, rate=RATE, verify=False)
    agree("sense-voice", out, {"enc_output", "ctc_logits"})


def test_fun_asr_nano(checkpoints: ModuleType, tmp_path: Path) -> None:
    checkpoint = checkpoints.fun_asr_nano(tmp_path / "checkpoint")
    folder = export("fun-asr-nano", checkpoint, tmp_path / "bundle", containers=BOXES, verify=False)
    agree("fun-asr-nano", folder, {"enc_output", "adaptor_output", "ctc_logits"})
