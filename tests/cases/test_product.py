"""Reported faults that drive the product as a user types it: each case holds its own oracle."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.shared

CASES = [
    "case_31_tail_repeated_by_expand",
    "case_33_zero_filled_last_chunk_of_a_speaker_model",
    "case_34_segment_pooling_with_ceil_mode",
    "case_37_windows_frozen_at_export",
    "case_41_messages_that_doctor_does_not_know",
    "case_45_pad_mask_from_the_models_own_lengths",
]


@pytest.mark.parametrize("name", CASES)
def test_the_case_passes(shared: Path, name: str) -> None:
    script = shared / "cases" / f"{name}.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
