"""The judge: ``Qwen3TTSTokenizerV2Decoder`` of qwen-tts 0.1.1, without the rest of that package.

Needs its own environment (``pip install torch==2.13.0 transformers==4.57.6 safetensors; pip install --no-deps
qwen-tts==0.1.1``): the package's ``__init__`` would import audio libraries, so its two files are loaded by path.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

PACKAGE = "qwen_tts.core.tokenizer_12hz"


def available() -> bool:
    """Whether qwen-tts and its transformers are installed here."""
    if importlib.util.find_spec("qwen_tts") is None or importlib.util.find_spec("transformers") is None:
        return False
    import transformers

    return transformers.__version__.startswith("4.57.")


def load(config: dict[str, object], arrays: Mapping[str, np.ndarray], attention: str = "sdpa") -> torch.nn.Module:
    """The original decoder with the given checkpoint tensors, fp32, eval; maps codes [B, Q, F] to [B, 1, samples]."""
    modeling = _modules()
    settings = modeling.Qwen3TTSTokenizerV2DecoderConfig(**config)
    decoder = modeling.Qwen3TTSTokenizerV2Decoder._from_config(settings, attn_implementation=attention)
    decoder.pre_transformer.config._attn_implementation = attention
    for layer in decoder.pre_transformer.layers:
        layer.self_attn.config._attn_implementation = attention
    decoder.load_state_dict({name.removeprefix("decoder."): torch.from_numpy(a) for name, a in arrays.items()})
    return decoder.eval().requires_grad_(False)  # type: ignore[no-any-return]


def _modules() -> Any:
    if f"{PACKAGE}.modeling_qwen3_tts_tokenizer_v2" in sys.modules:
        return sys.modules[f"{PACKAGE}.modeling_qwen3_tts_tokenizer_v2"]
    spec = importlib.util.find_spec("qwen_tts")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "core" / "tokenizer_12hz"
    for name in ("qwen_tts", "qwen_tts.core", PACKAGE):
        package = ModuleType(name)
        package.__path__ = []
        sys.modules[name] = package
    for file in ("configuration_qwen3_tts_tokenizer_v2", "modeling_qwen3_tts_tokenizer_v2"):
        name = f"{PACKAGE}.{file}"
        found = importlib.util.spec_from_file_location(name, folder / f"{file}.py")
        assert found is not None and found.loader is not None
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        found.loader.exec_module(module)
    return module
