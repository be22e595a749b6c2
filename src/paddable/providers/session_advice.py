"""Session advice: what an execution provider wants from the session that runs a converted graph.

Plain data that ``convert`` writes into the file and the runtime applies. The advice for each provider is in its folder,
``providers/<name>/advice.py``. A setting stands there for a reason; ``source`` says who found it. ``measured``: by us,
on the version named. ``reported``: by others. Standard library alone: an app ships it with the runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["SessionAdvice"]


@dataclass(frozen=True)
class SessionAdvice:
    """How to open a session on one provider.

    Attributes:
        name: our name for it, as in ``load(..., provider="directml")``.
        execution_provider: ONNX Runtime's name for it.
        extra: the extra of Paddable that installs it; empty when no wheel carries it.
        options: provider options.
        static_options: more of them for a graph that was made for this provider with every shape fixed.
        conv1d_options: more of them for a graph whose 1-D convolutions are to run as 2-D ones.
        tf32_options: more of them where products may be rounded to TF32; empty where there is no such choice.
        channels_last_options: more of them where convolutions may be planned with channels last.
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
    conv1d_options: Mapping[str, str] = field(default_factory=dict)
    tf32_options: Mapping[str, str] = field(default_factory=dict)
    channels_last_options: Mapping[str, str] = field(default_factory=dict)
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
