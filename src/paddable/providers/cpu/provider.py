"""The CPU provider of ONNX Runtime: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, measured
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.cpu.advice import ADVICE
from paddable.providers.fixes.widen_depthwise_conv import WidenDepthwiseConv
from paddable.providers.provider import Provider

__all__ = ["PROVIDER"]

_CPU = measured("onnxruntime 1.32.0 on 2 vCPU AMD EPYC (Zen 5), a 70-block encoder")

FACTS = ProviderFacts(
    "cpu",
    "free",
    Fact("a new length costs 0.2 to 0.9 ms; a container of 30 s costs 12 times a clip of 1.7 s", _CPU),
    highest_opset=27,
    faster_depthwise_2d=Fact("a depthwise 1-D convolution is faster as 2-D: 3 to 5 % of the encoder in fp32", _CPU),
    slower_skip_layer_normalization=Fact(
        "SkipLayerNormalization is 11 to 16 % slower than Add and LayerNormalization", _CPU
    ),
    others=(
        Fact("an added bias is about 5 % cheaper than a select at 30 s", _CPU),
        Fact("signed int8 weights run twice as fast as unsigned ones", _CPU),
    ),
)

PROVIDER = Provider(FACTS, ADVICE, fixes=(WidenDepthwiseConv,))
