"""The targets and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping

from paddable.errors import MisuseError
from paddable.lint.rule import measured, reported
from paddable.providers.table import Fact, Target

__all__ = ["TARGETS", "target"]

_CPU = measured("onnxruntime 1.32.0 on 2 vCPU AMD EPYC (Zen 5), a 70-block encoder")
_DIRECTML = measured("onnxruntime-directml 1.24.4")
_CAPTURE = measured("onnxruntime-gpu 1.31.1 on one H200, a 70-block encoder in fp32: docs/targets/cuda.md")
_OPENVINO = measured("onnxruntime-openvino 1.24.1 and openvino 2026.4.1 on the same CPU")
_WEBGPU = measured("onnxruntime-webgpu 1.27.0 and plugin onnxruntime-ep-webgpu 0.4.0 on Mesa's software Vulkan 25")
_OPENVINO_ZOO = measured("onnxruntime-openvino 1.24.1 on a CPU, docs/targets/openvino.md")
_WEBGPU_ZOO = measured(
    "onnxruntime-ep-webgpu 0.4.0 on onnxruntime 1.32.0 and Mesa's software Vulkan 25, docs/targets/webgpu.md"
)
_RTX = reported("the TensorRT RTX documentation of ONNX Runtime")
_QNN = reported("the QNN documentation of ONNX Runtime")
_QNN_240 = reported("the release notes of onnxruntime-qnn 2.4.0")
_COREML = reported("the CoreML documentation of ONNX Runtime")
_RYZEN = reported("AMD's Ryzen AI documentation 1.4")
_OPSET_UNKNOWN = Fact("the highest opset that loads")
_STATIC_ONLY = "every inner shape has to be fixed, not only the inputs"

TARGETS: Mapping[str, Target] = {
    table.name: table
    for table in (
        Target(
            "cpu",
            "free",
            Fact("a new length costs 0.2 to 0.9 ms; a container of 30 s costs 12 times a clip of 1.7 s", _CPU),
            highest_opset=27,
            facts=(
                Fact("a depthwise 1-D convolution is faster as 2-D: 3 to 5 % of the encoder in fp32", _CPU),
                Fact("SkipLayerNormalization is 11 to 16 % slower than Add and LayerNormalization", _CPU),
                Fact("an added bias is about 5 % cheaper than a select at 30 s", _CPU),
                Fact("signed int8 weights run twice as fast as unsigned ones", _CPU),
            ),
        ),
        Target(
            "directml",
            "preferred",
            Fact("with a free dim nothing is fused and every other length rebuilds its kernels", _DIRECTML),
            facts=(
                Fact("opset 17 to 21 have the most kernels; 17 when the graph scatters", _DIRECTML),
                Fact("speed on a real GPU"),
            ),
        ),
        Target(
            "cuda",
            "preferred",
            Fact(
                "every change of length plans all convolutions anew: a stream of 200 utterances takes 137 to 166 s "
                "with defaults, 15 to 17 s with HEURISTIC, 3.1 s in a captured container and 2.4 s in four of them",
                _CAPTURE,
            ),
            unsupported={
                op: Fact(
                    "control flow cannot be captured in a CUDA graph", reported("ONNX Runtime's CUDA documentation")
                )
                for op in ("If", "Loop", "Scan")
            },
            facts=(
                Fact("TF32 is on by default: 4e-4 of scale against 1e-5, at two thirds of the time", _CAPTURE),
                Fact("a graph is captured when every node is on CUDA and no value is copied to the CPU", _CAPTURE),
                Fact("a captured graph belongs to the thread that captured it", _CAPTURE),
                Fact("a captured graph gains nothing from EXHAUSTIVE search, and a codec chunk lost half", _CAPTURE),
            ),
        ),
        Target(
            "openvino",
            "preferred",
            Fact("a new length costs 11 to 22 ms, and about as much at each switch back; none when static", _OPENVINO),
            facts=(
                Fact("one static model for each container holds 1.9 GB each at 70 blocks", _OPENVINO),
                Fact("a graph of dynamic int8 runs 1.5 times slower than fp32; use bf16", _OPENVINO),
                Fact("twelve converted graphs run wholly there, 1.2e-6 of scale from the CPU", _OPENVINO_ZOO),
                Fact("the NPU refuses dynamic shapes", reported("openvinotoolkit/openvino.genai#895")),
            ),
        ),
        Target(
            "webgpu",
            "preferred",
            Fact(
                "about 2 s at the first length that is no multiple of 4, then 0.2 to 0.4 s; none static",
                _WEBGPU,
            ),
            unsupported={
                "DynamicQuantizeLinear": Fact("falls to the CPU", _WEBGPU),
                "DynamicQuantizeMatMul": Fact("falls to the CPU", _WEBGPU),
                "IsNaN": Fact("falls to the CPU", _WEBGPU_ZOO),
            },
            facts=(
                Fact("twelve converted graphs are 2.6e-6 of scale or less from the CPU", _WEBGPU_ZOO),
                Fact("64-bit integers fall to the CPU: the 13 to 23 nodes that make lengths and masks", _WEBGPU_ZOO),
                Fact("masks between many convolutions cost copies: 70 transposes on the CPU in HiFi-GAN", _WEBGPU_ZOO),
                Fact("MultiHeadAttention takes attention_bias and not key_padding_mask", _WEBGPU),
                Fact("MultiHeadAttention differs from the CPU by 2.1e-2, the plain graph by 3e-6", _WEBGPU),
            ),
        ),
        Target(
            "tensorrt-rtx",
            "preferred",
            Fact("engines take free shapes by default; ranges named in the options, or fixed shapes, are faster", _RTX),
            facts=(
                Fact("a range needs all three of nv_profile_min_shapes, _opt_shapes and _max_shapes", _RTX),
                Fact("enable_cuda_graph pays when shapes never change", _RTX),
                Fact("a compiled model above 2 GB needs embed mode 0", _RTX),
                _OPSET_UNKNOWN,
            ),
        ),
        Target(
            "qnn",
            "required",
            Fact(f"dynamic shapes are not supported; {_STATIC_ONLY} (microsoft/onnxruntime#22439)", _QNN),
            unsupported={op: Fact("not supported", _QNN) for op in ("If", "Loop")},
            facts=(
                Fact("the HTP backend (NPU) wants a quantised model; the GPU backend takes fp32 and fp16", _QNN),
                Fact("GRU is unrolled, with default activations and layout 0 only", _QNN_240),
                Fact("reads up to opset 26", _QNN_240),
            ),
        ),
        Target(
            "coreml",
            "required",
            Fact(_STATIC_ONLY, reported("microsoft/onnxruntime#26355: it fails in the run")),
            unsupported={
                op: Fact("is not in the provider's list of operators", _COREML)
                for op in ("LSTM", "GRU", "RNN", "DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear")
            },
            facts=(
                Fact("Conv and pooling run in one and two, respectively two dimensions; Pad is constant only", _COREML),
                Fact("bodies of If, Loop and Scan are taken only with the option EnableOnSubgraphs", _COREML),
                _OPSET_UNKNOWN,
            ),
        ),
        Target(
            "vitisai",
            "required",
            Fact(_STATIC_ONLY),
            facts=(
                Fact("opset 17 is recommended", _RYZEN),
                Fact("what the NPU does not take runs on the CPU; fp32 models are computed in bf16", _RYZEN),
            ),
        ),
    )
}


def target(name: str) -> Target:
    """The table of a target.

    Raises:
        MisuseError: no target has that name.
    """
    if name not in TARGETS:
        raise MisuseError(f"no target is called {name!r}", fix=f"choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
