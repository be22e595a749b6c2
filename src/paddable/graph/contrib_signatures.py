"""Type constraints of ONNX Runtime's own operators that speech models and its optimiser write.

ONNX has no schema for them. Source: ``get_all_operator_schema()`` of onnxruntime 1.32. Each entry lists the constraint
of every input and of every output, in order.
"""

from __future__ import annotations

__all__ = ["CONTRIB_SIGNATURES"]

_Names = tuple[str, ...]


def _names(text: str) -> _Names:
    return tuple(text.split())


CONTRIB_SIGNATURES: dict[tuple[str, int], tuple[_Names, _Names]] = {
    ("Attention", 1): (_names("T T T M T T M"), _names("T T")),
    ("BiasAdd", 1): (_names("T T T"), _names("T")),
    ("BiasGelu", 1): (_names("T T"), _names("T")),
    ("BiasSoftmax", 1): (_names("T T"), _names("T")),
    ("BiasSplitGelu", 1): (_names("T T"), _names("T")),
    ("ComplexMul", 1): (_names("T T"), _names("T")),
    ("ConvTransposeWithDynamicPads", 1): (_names("T T tensor(int64) T"), _names("T")),
    ("DequantizeLinear", 1): (_names("T1 T2 T1"), _names("T2")),
    ("DynamicQuantizeLSTM", 1): (_names("T T2 T2 T T1 T T T T T2 T T2"), _names("T T T")),
    ("DynamicQuantizeMatMul", 1): (_names("T1 T2 T1 T2 T1"), _names("T1")),
    ("EmbedLayerNormalization", 1): (_names("T1 T1 T T T T T T1 T1"), _names("T T1 T")),
    ("FastGelu", 1): (_names("T T"), _names("T")),
    ("FusedConv", 1): (_names("T T T T"), _names("T")),
    ("FusedGemm", 1): (_names("T T T"), _names("T")),
    ("FusedMatMul", 1): (_names("T T"), _names("T")),
    ("FusedMatMulActivation", 1): (_names("T T"), _names("T")),
    ("GatedRelativePositionBias", 1): (_names("T T T T T T M"), _names("T")),
    ("GatherBlockQuantized", 1): (_names("T1 Tind T2 T1"), _names("T2")),
    ("Gelu", 1): (_names("T"), _names("T")),
    ("GroupNorm", 1): (_names("T M M"), _names("T")),
    ("GroupQueryAttention", 1): (
        _names("T T T T_CACHE T_CACHE M M T T tensor(int64) T T T_KV_SCALE T_KV_SCALE T T M"),
        _names("T T_CACHE T_CACHE T"),
    ),
    ("Inverse", 1): (_names("T"), _names("T")),
    ("Irfft", 1): (_names("T"), _names("T")),
    ("LayerNormalization", 1): (_names("T V V"), _names("V U U")),
    ("MatMulBnb4", 1): (_names("T1 T2 T1"), _names("T1")),
    ("MatMulFpQ4", 1): (_names("T1 T2 T3"), _names("T1")),
    ("MatMulIntegerToFloat", 1): (_names("T1 T2 T3 T3 T1 T2 T3"), _names("T3")),
    ("MatMulNBits", 1): (_names("T1 T2 T1 T3 T4 T1"), _names("T1")),
    ("MultiHeadAttention", 1): (_names("T T T T M T T T M M"), _names("T T T QK")),
    ("NhwcConv", 1): (_names("T T T"), _names("T")),
    ("NhwcFusedConv", 1): (_names("T T T T"), _names("T")),
    ("QAttention", 1): (_names("T1 T2 T3 T3 T3 T4 T1 T2 T3"), _names("T3 T3")),
    ("QGemm", 1): (_names("TA T TA TB T TB TC T TYZ"), _names("TY")),
    ("QLinearAdd", 1): (_names("T tensor(float) T T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearAveragePool", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearConcat", 1): (_names("TF T8 TV"), _names("T8")),
    ("QLinearConv", 1): (_names("T1 tensor(float) T1 T2 tensor(float) T2 tensor(float) T3 T4"), _names("T3")),
    ("QLinearGlobalAveragePool", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearLeakyRelu", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearMul", 1): (_names("T tensor(float) T T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearReduceMean", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearSigmoid", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QLinearSoftmax", 1): (_names("T tensor(float) T tensor(float) T"), _names("T")),
    ("QuantizeLinear", 1): (_names("T1 T1 T2"), _names("T2")),
    ("QuickGelu", 1): (_names("T"), _names("T")),
    ("RelativePositionBias", 1): (_names("T U U"), _names("T")),
    ("Rfft", 1): (_names("T"), _names("T")),
    ("RotaryEmbedding", 1): (_names("T M T T"), _names("T")),
    ("SimplifiedLayerNormalization", 1): (_names("T V"), _names("V U")),
    ("SkipLayerNormalization", 1): (_names("T T T T T"), _names("T U U T")),
    ("SkipSimplifiedLayerNormalization", 1): (_names("T T T T"), _names("T U U T")),
    ("SwiGLU", 1): (_names("T T"), _names("T")),
    ("TransposeMatMul", 1): (_names("T T"), _names("T")),
    ("Trilu", 1): (_names("T tensor(int64)"), _names("T")),
    ("UnfoldTensor", 1): (_names("T"), _names("T")),
}
