"""Session advice: what each execution provider wants from the session that runs a converted graph.

Plain data, read by the targets (which write it into the file) and by the runtime (which applies it). A setting stands
here for a reason; ``source`` says who found it. ``measured``: by us, on the version named. ``reported``: by others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from paddable.errors import MisuseError

__all__ = ["PROVIDERS", "SessionAdvice", "provider"]


@dataclass(frozen=True)
class SessionAdvice:
    """How to open a session on one provider.

    Attributes:
        name: our name for it, as in ``load(..., provider="directml")``.
        execution_provider: ONNX Runtime's name for it.
        extra: the extra of Paddable that installs it; empty when no wheel carries it.
        options: provider options.
        static_options: more of them for a graph that was made for this provider with every shape fixed.
        tf32_options: more of them where products may be rounded to TF32; empty where there is no such choice.
        config: session configuration entries.
        memory_pattern: whether the session may plan its memory once for all runs.
        sequential: whether nodes have to run one after the other.
        one_run_at_a_time: whether two threads must not run the same session.
        static: whether it needs, or is much slower without, static shapes.
        device: where its tensors live, as ONNX Runtime names it.
        bind: whether a graph with fixed shapes reads and writes buffers that stay on the device, at fixed addresses.
        companions: providers that may stand behind it in the same session.
        source: where the facts come from.
    """

    name: str
    execution_provider: str
    extra: str
    options: Mapping[str, str] = field(default_factory=dict)
    static_options: Mapping[str, str] = field(default_factory=dict)
    tf32_options: Mapping[str, str] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    memory_pattern: bool = True
    sequential: bool = True
    one_run_at_a_time: bool = False
    static: bool = True
    device: str = "cpu"
    bind: bool = False
    companions: tuple[str, ...] = ("CPUExecutionProvider",)
    source: str = "not measured"

    def to_json(self) -> dict[str, Any]:
        """The advice as it is written into a file's metadata."""
        return {**asdict(self), "companions": list(self.companions)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SessionAdvice:
        """Read what ``to_json`` gave; unknown keys are left for newer readers."""
        known = {name: value for name, value in data.items() if name in cls.__dataclass_fields__}
        return cls(**{**known, "companions": tuple(known.get("companions", ()))})


PROVIDERS: Mapping[str, SessionAdvice] = {
    advice.name: advice
    for advice in (
        SessionAdvice(
            "cpu",
            "CPUExecutionProvider",
            extra="cpu",
            static=False,
            companions=(),
            source="measured, onnxruntime 1.32: a longer container costs what it holds, nothing is re-planned",
        ),
        SessionAdvice(
            "directml",
            "DmlExecutionProvider",
            extra="directml",
            device="dml",
            memory_pattern=False,
            one_run_at_a_time=True,
            source="measured, onnxruntime-directml 1.24.4: two threads in one session end the process; "
            "reported by the provider's documentation: no memory pattern, no parallel execution, CPU behind it only",
        ),
        SessionAdvice(
            "cuda",
            "CUDAExecutionProvider",
            extra="gpu",
            # TF32 is on by default and costs 5e-4 of scale between padded and native; off, they agree to 1e-6.
            options={"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"},
            # A captured graph is replayed at the addresses that it was captured with, so buffers have to stay.
            static_options={"enable_cuda_graph": "1"},
            tf32_options={"use_tf32": "1"},
            device="cuda",
            bind=True,
            source="measured, onnxruntime-gpu 1.31.1 on an H200: EXHAUSTIVE plans every convolution anew at each "
            "change of length and gains nothing in a captured graph; see docs/targets/cuda.md",
        ),
        SessionAdvice(
            "openvino",
            "OpenVINOExecutionProvider",
            extra="openvino",
            source="measured, onnxruntime-openvino 1.24.1: a new length costs 11 to 22 ms at 70 blocks, nothing when "
            "static; disable_dynamic_shapes changes nothing",
        ),
        SessionAdvice(
            "webgpu",
            "WebGpuExecutionProvider",
            extra="webgpu",
            source="measured, onnxruntime-ep-webgpu 0.4.0 on a software Vulkan: shaders are compiled for each class of "
            "length (2 s for the first one that is no multiple of 4)",
        ),
        SessionAdvice("tensorrt-rtx", "NvTensorRTRTXExecutionProvider", extra="windowsml"),
        SessionAdvice("qnn", "QNNExecutionProvider", extra="windowsml"),
        SessionAdvice("vitisai", "VitisAIExecutionProvider", extra="windowsml"),
        SessionAdvice("coreml", "CoreMLExecutionProvider", extra="cpu"),
    )
}


def provider(name: str) -> SessionAdvice:
    """The advice for a provider, by our name.

    Raises:
        MisuseError: no provider has that name.
    """
    if name not in PROVIDERS:
        raise MisuseError(f"no provider is called {name!r}", fix=f"choose one of {', '.join(PROVIDERS)}")
    return PROVIDERS[name]
