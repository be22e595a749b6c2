"""CUDA, the provider for NVIDIA's GPUs: what is known of it."""

from __future__ import annotations

from paddable.linter.evidence import Fact, measured, reported
from paddable.linter.provider_facts import ProviderFacts
from paddable.providers.cuda.advice import ADVICE
from paddable.providers.cuda.placement import place
from paddable.providers.cuda.rules import RULES
from paddable.providers.provider import Provider

__all__ = ["PROVIDER"]

_CAPTURE = measured("onnxruntime-gpu 1.31.1 on one H200, a 70-block encoder in fp32: docs/targets/cuda.md")

FACTS = ProviderFacts(
    "cuda",
    "preferred",
    Fact(
        "every change of length plans all convolutions anew: a stream of 200 utterances takes 137 to 166 s "
        "with defaults, 15 to 17 s with HEURISTIC, 3.1 s in a captured container and 2.4 s in four of them",
        _CAPTURE,
    ),
    unsupported={
        op: Fact("control flow cannot be captured in a CUDA graph", reported("ONNX Runtime's CUDA documentation"))
        for op in ("If", "Loop", "Scan")
    },
    others=(
        Fact("TF32 is on by default: 4e-4 of scale against 1e-5, at two thirds of the time", _CAPTURE),
        Fact("a graph is captured when every node is on CUDA and no value is copied to the CPU", _CAPTURE),
        Fact("a captured graph belongs to the thread that captured it", _CAPTURE),
        Fact("a captured graph gains nothing from EXHAUSTIVE search, and a codec chunk lost half", _CAPTURE),
    ),
)

PROVIDER = Provider(
    FACTS,
    ADVICE,
    rules=RULES,
    forms=("attention", "relu-as-max", "residual-in-convolution", "skip-normalisation"),
    forms_in_fp32=("attention-in-place",),
    place=place,
)
