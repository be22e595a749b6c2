"""Random codecs, small enough for CI, and their graphs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # the recording script uses the same synthetic checkpoints

import codec_graphs
import codec_synthetic as synthetic

from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.model import Decoder
from paddable.families.qwen3_tts_codec.weights import decoder_from_arrays


@pytest.fixture(scope="session", autouse=True)
def one_thread_no_grad() -> Iterator[None]:
    """Small tensors: threads cost more than they give."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def make_decoder() -> Callable[..., Decoder]:
    """``make_decoder(config, snake=0.3)``: a decoder with random weights, fp32."""

    def make(config: dict[str, object], **options: float) -> Decoder:
        arrays = synthetic.checkpoint(config, **options)  # type: ignore[arg-type]
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return decoder_from_arrays(CodecConfig.from_dict(config | {"sample_rate": 24000}), tensors)

    return make


@pytest.fixture(scope="session")
def small(make_decoder: Callable[..., Decoder]) -> Decoder:
    """Every rate, kernel, window and layer as released, narrow; fp64."""
    return make_decoder(synthetic.SMALL).double()


@pytest.fixture(scope="session")
def tiny() -> Decoder:
    """Two layers, a window of 6 and 24 samples a frame; fp32."""
    return codec_graphs.decoder()


@pytest.fixture(scope="session")
def golden() -> Callable[[str], dict[str, np.ndarray]]:
    """What ``record_golden.py`` recorded from the original."""
    return lambda name: dict(np.load(Path(__file__).parent / "golden" / f"{name}.npz"))


@pytest.fixture(scope="session")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """ONNX of the tiny codec: ``whole``, and step graphs of ``4`` and ``12`` frames."""
    folder = tmp_path_factory.mktemp("codec")
    programs = {"whole": codec_graphs.whole(), "4": codec_graphs.step(4), "12": codec_graphs.step(12)}
    for name, program in programs.items():
        program.save(folder / f"{name}.onnx")
    return {name: folder / f"{name}.onnx" for name in programs}
