"""Strictly causal layers that run whole or chunk by chunk with the same weights and the same code."""

from paddable.streaming.attention import SlidingAttention, Window
from paddable.streaming.convolution import CausalConv, CausalUpsample
from paddable.streaming.memory import Memory, Slot, StepMemory, WholeMemory, declare_states
from paddable.streaming.step import StepForm

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
