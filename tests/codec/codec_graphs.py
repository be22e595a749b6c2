"""The tiny codec's graphs. The exporter takes seconds a graph: a process makes each once, for all folders of tests."""

from __future__ import annotations

from functools import cache

import codec_synthetic as synthetic
import torch
from torch.onnx import ONNXProgram

from paddable.families.qwen3_tts_codec.config import CodecConfig
from paddable.families.qwen3_tts_codec.export import export_step, export_whole
from paddable.families.qwen3_tts_codec.model import Decoder
from paddable.families.qwen3_tts_codec.weights import decoder_from_arrays


@cache
def decoder() -> Decoder:
    """Two layers, a window of 6 and 24 samples a frame; fp32, random weights."""
    tensors = {name: torch.from_numpy(array) for name, array in synthetic.checkpoint(synthetic.TINY).items()}
    return decoder_from_arrays(CodecConfig.from_dict(synthetic.TINY | {"sample_rate": 24000}), tensors)


@cache
def whole() -> ONNXProgram:
    """The whole-utterance graph."""
    return export_whole(decoder())


@cache
def step(frames: int) -> ONNXProgram:
    """The step graph of ``frames`` frames."""
    return export_step(decoder(), frames)
