"""How to open a session there. Standard library alone."""

from paddable.providers.session_advice import SessionAdvice

__all__ = ["ADVICE"]

ADVICE = SessionAdvice(
    "cuda",
    "CUDAExecutionProvider",
    extra="gpu",
    # TF32 is on by default and costs 5e-4 of scale between padded and native; off, they agree to 1e-6.
    options={"use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC"},
    # A captured graph is replayed at the addresses that it was captured with, so buffers have to stay.
    static_options={"enable_cuda_graph": "1"},
    # MatMul and Add become a Gemm whose bias is broadcast by a kernel of its own: 4 to 6 us a product.
    config={"optimization.disable_specified_optimizers": "MatMulAddFusion"},
    # As [N, C, 1, T] in place of [N, C, T, 1] they take half the time, but cuDNN's plan of one in half takes 0.16 s.
    conv1d_options={"cudnn_conv1d_pad_to_nc1d": "1"},
    tf32_options={"use_tf32": "1"},
    # Depthwise convolutions lose the transposes around them, and take 0.16 s each to plan.
    channels_last_options={"prefer_nhwc": "1"},
    device="cuda",
    bind=True,
    source="measured, onnxruntime-gpu 1.31.1 on an H200: EXHAUSTIVE plans every convolution anew at each "
    "change of length and gains nothing in a captured graph; see docs/targets/cuda.md",
)
