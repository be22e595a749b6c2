"""Strictly causal layers that run whole or chunk by chunk with the same weights and the same code."""

from paddable.models.streaming.attention import SlidingAttention, Window
from paddable.models.streaming.convolution import CausalConv, CausalUpsample
from paddable.models.streaming.memory import Memory, Slot, StepMemory, WholeMemory, declare_states
from paddable.models.streaming.step import StepForm

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
