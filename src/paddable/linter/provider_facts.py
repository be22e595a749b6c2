"""What is known of an execution provider: the facts that rules test, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from paddable.linter.evidence import Fact

__all__ = ["ProviderFacts"]


@dataclass(frozen=True)
class ProviderFacts:
    """The facts of one provider. A rule tests these, never the name; what is not stated is not known.

    Attributes:
        name: our name of the provider, for messages.
        shapes: ``required`` when a free dim stops the graph, ``preferred`` when it costs time, else ``free``.
        shapes_fact: why.
        highest_opset: the highest opset known to load; None where nobody measured it.
        unsupported: operators known not to run there, and what happens to them.
        faster_depthwise_2d: a depthwise convolution in one dimension is faster when written in two.
        slower_skip_layer_normalization: SkipLayerNormalization is slower than Add and LayerNormalization.
        is_nan_cuts_graph: IsNaN runs on the CPU and cuts the graph.
        minus_one_is_a_size: with ``allowzero=1`` a Reshape takes a -1 in its target for a size.
        others: what no rule of any provider tests.
    """

    name: str
    shapes: Literal["required", "preferred", "free"]
    shapes_fact: Fact
    highest_opset: int | None = None
    unsupported: Mapping[str, Fact] = field(default_factory=dict)
    faster_depthwise_2d: Fact | None = None
    slower_skip_layer_normalization: Fact | None = None
    is_nan_cuts_graph: Fact | None = None
    minus_one_is_a_size: Fact | None = None
    others: tuple[Fact, ...] = ()

    def listed(self) -> list[str]:
        """Every fact but those about single operators, as text."""
        named = (
            self.faster_depthwise_2d,
            self.slower_skip_layer_normalization,
            self.is_nan_cuts_graph,
            self.minus_one_is_a_size,
        )
        return [str(fact) for fact in (self.shapes_fact, *named, *self.others) if fact is not None]
