"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice(
    "webgpu",
    "WebGpuExecutionProvider",
    extra="webgpu",
    source="measured, onnxruntime-ep-webgpu 0.4.0 on a software Vulkan: shaders are compiled for each class of "
    "length (2 s for the first one that is not a multiple of 4)",
)
