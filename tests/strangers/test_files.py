"""The faults that published files showed (`shared/strangers/files.py`), each a graph of a few nodes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.shared

THROUGH = [
    "clip_inf", "scalar_input", "scatter_constant", "stft_onesided", "squeeze_ends_domain",
    "static_batch", "range_of_numel",
]  # fmt: skip
ADVISED = {
    "state_batch_advice": (2, "--batch x:0,h0:1"),
    "lens_advice": (2, "--length-input lens=T"),
    "if_on_scalar": (
        2,
        "a reflection of 64 needs more steps (node node_2, Pad); give",
    ),  # its container of 64 is too small
    "mask_true_is_padding": (1, "declare --mask-input m:1=~T"),
}


@pytest.fixture(scope="module")
def said(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """Exit code and first line of the answer, by case."""
    script = shared / "strangers" / "files.py"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path_factory.mktemp("files"))],
        check=True, capture_output=True, text=True, timeout=600, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert "TRACEBACK" not in done.stdout
    lines = re.findall(r"^(\w+) +rc=(-?\d+) \(wanted \d+\) (.*)$", done.stdout, re.MULTILINE)
    return {name: (int(code), text) for name, code, text in lines}


@pytest.mark.parametrize("name", THROUGH)
def test_it_goes_through(said: dict[str, tuple[int, str]], name: str) -> None:
    code, text = said[name]
    assert code == 0, text


def test_every_case_has_its_test(said: dict[str, tuple[int, str]]) -> None:
    assert set(said) == {*THROUGH, *ADVISED}


@pytest.mark.parametrize("name", ADVISED)
def test_its_message_has_the_right_declaration(said: dict[str, tuple[int, str]], name: str) -> None:
    code, text = said[name]
    assert code == ADVISED[name][0] and ADVISED[name][1] in text
