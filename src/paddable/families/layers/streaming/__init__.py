"""Strictly causal layers that run whole or chunk by chunk with the same weights and the same code."""

from paddable.families.layers.streaming.attention import SlidingAttention, Window
from paddable.families.layers.streaming.convolution import CausalConv, CausalUpsample
from paddable.families.layers.streaming.memory import Memory, Slot, StepMemory, WholeMemory, declare_states
from paddable.families.layers.streaming.step import StepForm

__all__ = [
    "CausalConv",
    "CausalUpsample",
    "Memory",
    "SlidingAttention",
    "Slot",
    "StepForm",
    "StepMemory",
    "WholeMemory",
    "Window",
    "declare_states",
]
