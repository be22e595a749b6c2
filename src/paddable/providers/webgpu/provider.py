"""WebGPU, the provider for browsers and any GPU: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, measured
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.provider import Provider
from paddable.providers.webgpu.advice import ADVICE

__all__ = ["PROVIDER"]

_WEBGPU = measured("onnxruntime-webgpu 1.27.0 and plugin onnxruntime-ep-webgpu 0.4.0 on Mesa's software Vulkan 25")
_WEBGPU_ZOO = measured(
    "onnxruntime-ep-webgpu 0.4.0 on onnxruntime 1.32.0 and Mesa's software Vulkan 25, docs/targets/webgpu.md"
)

FACTS = ProviderFacts(
    "webgpu",
    "preferred",
    Fact(
        "about 2 s at the first length that is not a multiple of 4, then 0.2 to 0.4 s; none static",
        _WEBGPU,
    ),
    unsupported={
        "DynamicQuantizeLinear": Fact("falls to the CPU", _WEBGPU),
        "DynamicQuantizeMatMul": Fact("falls to the CPU", _WEBGPU),
        "IsNaN": Fact("falls to the CPU", _WEBGPU_ZOO),
    },
    others=(
        Fact("twelve converted graphs are 2.6e-6 of scale or less from the CPU", _WEBGPU_ZOO),
        Fact("64-bit integers fall to the CPU: the 13 to 23 nodes that make lengths and masks", _WEBGPU_ZOO),
        Fact("masks between many convolutions cost copies: 70 transposes on the CPU in HiFi-GAN", _WEBGPU_ZOO),
        Fact("MultiHeadAttention takes attention_bias and not key_padding_mask", _WEBGPU),
        Fact("MultiHeadAttention differs from the CPU by 2.1e-2, the plain graph by 3e-6", _WEBGPU),
    ),
)

PROVIDER = Provider(FACTS, ADVICE)
