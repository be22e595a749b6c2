"""What ONNX Runtime and its providers say in words, without a code: a pattern each, the most specific first.

Plain data; ``explain`` finds it in a text. Each entry says who met it.
"""

from __future__ import annotations

from paddable.bundle.provider_errors.explanation import Explanation

__all__ = ["OF_PROVIDERS", "OF_THE_RUNTIME"]

OF_PROVIDERS: tuple[tuple[str, Explanation], ...] = (
    (
        r"has a dynamic shape.{0,60}zero elements|zero elements.{0,60}CoreML",
        Explanation(
            "coreml-empty",
            "CoreML EP FAIL",
            "CoreML was given a tensor with zero elements",
            "an empty cache or state (size 0 at the first step), or an utterance too short for one frame",
            "give the state a fixed size with a valid count instead of an empty tensor, and fixed containers: "
            "`paddable convert`",
            "reported: microsoft/onnxruntime#14212, pagarcia/sam2-onnx-cpp#3",
        ),
    ),
    (
        r"Unable to get shape for output|RegisterModelInputOutput",
        Explanation(
            "coreml-no-shape",
            "CoreML EP FAIL",
            "CoreML needs the rank and shape of every value it hands over, and one has no recorded shape",
            "a Squeeze or Reshape whose shape ONNX's inference could not tell",
            "convert it to a fixed container, where every shape is known: `paddable convert --target coreml`",
            "reported: k2-fsa/sherpa-onnx#1240",
        ),
    ),
    (
        r"Unable to compute the prediction|Error in declaring network|Error in building plan|E5RT",
        Explanation(
            "coreml-plan",
            "CoreML FAIL",
            "CoreML could not plan or run the part of the graph that it was given",
            "a dynamic shape, a rank above 5, or an operator form that the neural engine does not take",
            "convert it to a fixed container; MLComputeUnits=CPUAndGPU shows whether the neural engine is at fault",
            "reported: microsoft/onnxruntime#21227, #14212",
        ),
    ),
    (
        r"Cannot get length of dynamic dimension|to_shape was called on a dynamic shape|get_shape was called on a "
        r"descriptor::Tensor with dynamic shape|Upper bounds (?:are|were) not specified",
        Explanation(
            "openvino-dynamic",
            "OpenVINO exception",
            "OpenVINO, or its NPU plugin, needs a static shape and met a dynamic one",
            "the NPU plugin takes no symbolic dimension, and other devices fail in single operators",
            "convert it to fixed containers: `paddable convert --target openvino`",
            "reported: openvinotoolkit/openvino#11213, #26357, #24619, #32466 (SenseVoice)",
        ),
    ),
    (
        r"ZE_RESULT_ERROR_\w+|\[NPU_VCL\]",
        Explanation(
            "openvino-npu",
            "Level Zero error",
            "the NPU's compiler or driver refused the graph",
            "a dynamic shape, an operator form that the compiler does not know, or a driver older than the runtime",
            "convert it to a fixed container; update the NPU driver; try device_type=GPU to see whether the NPU "
            "alone is at fault",
            "reported: openvinotoolkit/openvino#32466",
        ),
    ),
    (
        r"OrtValue shape verification failed|shape && tensor\.Shape\(\) == \*shape was false",
        Explanation(
            "output-buffer",
            "ORT FAIL",
            "an output was bound to a buffer of another shape than the run gives",
            "a reused or bound output, or a dimension that a device-memory option set to 1",
            "let the session allocate outputs, or give the graph fixed shapes: `paddable convert`",
            "reported: microsoft/onnxruntime#26217",
        ),
    ),
    (
        r"no optimization profile has been defined|associated (?:shape )?profiles?|optimization profile is "
        r"missing|[Dd]ynamic input shapes not provided",
        Explanation(
            "tensorrt-profile",
            "TensorRT FAIL",
            "TensorRT needs the smallest, usual and largest shape of every dynamic input",
            "a symbolic dimension at the input, or at the edge of a part that TensorRT was given",
            "convert it to fixed containers, which need no profile: `paddable convert --target tensorrt`",
            "reported: microsoft/onnxruntime#4505, #16600, #26258, onnx/onnx-tensorrt#638",
        ),
    ),
    (
        r"cannot be reshaped to the requested shape|Cannot split (?:axis|using values)|requested shape:\{",
        Explanation(
            "frozen-size",
            "ORT INVALID_ARGUMENT",
            "a Reshape has a size in it that belongs to another length or batch",
            "a number that was frozen at export (int(x.shape[1]), a chunk count, a batch), or a length that is "
            "not the multiple that the model wants",
            "run `paddable lint` on the model, which names the frozen number, and export it again with the size "
            "kept symbolic; else pad to the multiple",
            "reported: k2-fsa/icefall#1108",
        ),
    ),
    (
        r"UNSUPPORTED_NODE_DYNAMIC|Cannot infer squeeze dimensions",
        Explanation(
            "tensorrt-squeeze",
            "TensorRT UNSUPPORTED_NODE_DYNAMIC",
            "TensorRT cannot tell which axes a Squeeze removes, since the shape is dynamic",
            "a Squeeze without axes, or shape arithmetic on a symbolic dimension",
            "convert it to a fixed container, where the axes are known; or export Squeeze with its axes",
            "reported: modelscope/modelscope#1577, NVIDIA/TensorRT#3420",
        ),
    ),
    (
        r"IShuffleLayer|IElementWiseLayer.{0,40}dimensions|Engine (?:creation|set up) failed|failed to create "
        r"engine|Myelin",
        Explanation(
            "tensorrt-engine",
            "TensorRT engine failure",
            "TensorRT could not build an engine from the part that it was given",
            "a dynamic shape, int64 weights beyond int32, or an operator form that this version does not take",
            "convert it to a fixed container and let CUDA take what is left: providers TensorRT, CUDA, CPU in "
            "this order",
            "reported: NVIDIA/TensorRT#1478, #1581",
        ),
    ),
    (
        r"Failed to finalize QNN graph|QnnGraph_finalize|graph prepare failed|could not create op",
        Explanation(
            "qnn-finalize",
            "QNN FinalizeGraphs",
            "the HTP compiler refused an operator of the graph",
            "an operator form without an HTP implementation, often LayerNorm, Pad or attention in floats where "
            "quantised values are wanted",
            "look in the log for the node in front of this line; quantise it (QDQ), or leave it to the CPU",
            "reported: microsoft/onnxruntime#22369, #21221",
        ),
    ),
    (
        r"Dynamic tensor is not supported|QNN.{0,60}dynamic shape|dynamic shape.{0,60}QNN",
        Explanation(
            "qnn-dynamic",
            "QNN 7005",
            "QNN takes fixed shapes only",
            "a symbolic dimension",
            "convert it to fixed containers: `paddable convert --target qnn`",
            "reported: microsoft/onnxruntime#22439, pytorch/executorch#8640",
        ),
    ),
    (
        r"QNN graph execute error|QnnContext_create|context binary|Error code: (?:5005|1002|6001|6031)",
        Explanation(
            "qnn-run",
            "QNN execute or context error",
            "QNN accepted the graph and could not run it, or could not read the compiled context",
            "an operator that is not translated (DynamicQuantizeLinear), or a context of another SDK or chip",
            "quantise statically instead of dynamically; build the context again on this device",
            "reported: microsoft/onnxruntime#25334, #25335",
        ),
    ),
    (
        r"max(?:imum)? (?:buffer size limit|binding size)|exceeds the max buffer size|maxStorageBufferBindingSize|"
        r"WebGPU device error\(2\)",
        Explanation(
            "webgpu-buffer",
            "WebGPU out of memory",
            "one buffer is larger than the adapter allows (128 MB to 1 GB)",
            "scores or an unfolded convolution at a long container",
            "use a smaller container or half precision; raise maxStorageBufferBindingSize where the adapter allows it",
            "reported: microsoft/onnxruntime#25195",
        ),
    ),
    (
        r"have not been partitioned to the WebGpu|cannot use the graph capture feature",
        Explanation(
            "capture-partition",
            "ORT capture refused",
            "graph capture wants every node on the provider, and some run on the CPU",
            "integer arithmetic (int64 lengths, masks) that the provider leaves to the CPU",
            "convert it to a fixed container with `paddable convert --target`, which folds that arithmetic, or "
            "switch the capture off",
            "reported: microsoft/onnxruntime#29273",
        ),
    ),
    (
        r"WebGPU device (?:lost|error)|device lost",
        Explanation(
            "webgpu-lost",
            "WebGPU device lost",
            "the adapter was reset or removed",
            "a dispatch that took too long, exhausted memory, or a page in the background",
            "create the session again; use a smaller container",
            "reported: microsoft/onnxruntime#25195",
        ),
    ),
    (
        r"CUDA failure 2\b|CUDA out of memory|cudaErrorMemoryAllocation|Failed to allocate memory for requested buffer",
        Explanation(
            "memory",
            "out of memory",
            "the allocation did not fit into the device's memory",
            "an arena that grew with each new length, or scores of a long recording",
            "use captured containers (one size each, planned once), a smaller container, or half precision",
            "reported: ONNX Runtime's and CUDA's status texts",
        ),
    ),
    (
        r"operation not permitted when stream is capturing|CUDA failure 900|CUDA graph.{0,40}(?:control flow|captur)",
        Explanation(
            "cuda-capture",
            "CUDA capture failed",
            "an operation that CUDA cannot record ran while the graph was captured",
            "a node on the CPU, a copy to the host, or control flow",
            "run `paddable lint --target cuda`, which names the node that stops the capture",
            "reported: ONNX Runtime's and CUDA's status texts",
        ),
    ),
    (
        r"axis == 1 \|\| axis == largest was false|Attempting to broadcast an axis by a dimension other than 1|"
        r"Non concat axis dimensions must match",
        Explanation(
            "sizes-disagree",
            "ORT RUNTIME_EXCEPTION",
            "two values that meet have different sizes",
            "a number that was frozen at export, or a length that is one more or less than the model's strides allow",
            "run `paddable lint` and `paddable check` on the model: they name a frozen length and tell the "
            "lengths that it accepts",
            "reported: microsoft/onnxruntime#4641, #1811, #7888",
        ),
    ),
    (
        r"indices element out of data bounds|idx=-?\d+ must be within the inclusive range",
        Explanation(
            "index-out-of-table",
            "ORT INVALID_ARGUMENT",
            "an index lies outside the table that it reads",
            "a recording longer than the model's position table, or a token beyond the vocabulary",
            "run `paddable check`, which tells the longest length; cut the recording",
            "measured: onnxruntime 1.32 CPU",
        ),
    ),
)

OF_THE_RUNTIME: tuple[tuple[str, Explanation], ...] = (
    (
        r"narrowing_error",
        Explanation(
            "narrowing",
            "gsl::narrowing_error",
            "a number does not fit into the type that the provider keeps it in",
            "not determined; met when a session was created for AffineGrid of 3-D, expanded into plain operators",
            "run `paddable lint --target directml`; set ep.dml.disable_graph_fusion=1 to find the node",
            "measured: onnxruntime-directml 1.24.4: ONNX node test affine_grid_3d_expanded",
        ),
    ),
    (
        r"Attempt to replace the existing tensor",
        Explanation(
            "optimised-model",
            "ORT FAIL",
            "an initializer exists twice after fusion",
            "a model that ONNX Runtime's optimiser had saved before",
            "give DirectML the model as exported or converted, not an optimised copy",
            "measured: onnxruntime-directml 1.24.4: five graphs",
        ),
    ),
    (
        r"not in available provider names|Failed to (?:create|load).{0,40}ExecutionProvider|onnxruntime_providers_\w+",
        Explanation(
            "provider-missing",
            "ORT warning",
            "the provider asked for is not there, and the session runs on the CPU instead",
            "the installed onnxruntime is another flavour, or a library it needs is missing",
            "install exactly one runtime extra, and compare session.get_providers() with what was asked for",
            "measured: onnxruntime 1.32 CPU; reported: microsoft/onnxruntime#23372",
        ),
    ),
    (
        r"Could not find an implementation for|NOT_IMPLEMENTED",
        Explanation(
            "no-kernel",
            "ORT NOT_IMPLEMENTED",
            "no provider of the session has a kernel for a node in its opset and types",
            "an operator newer than the runtime, or half precision on the CPU",
            "run `paddable lint` with the target's name; convert the opset, or cast",
            "reported: ONNX Runtime's status texts",
        ),
    ),
    (
        r"under development|Unsupported model IR version|Opset \d+ is",
        Explanation(
            "model-too-new",
            "ORT FAIL",
            "the model is newer than the runtime",
            "an exporter ahead of the installed onnxruntime",
            "update the runtime, or convert the model to opset 18",
            "reported: snakers4/silero-vad#355",
        ),
    ),
    (
        r"Got invalid dimensions for input",
        Explanation(
            "wrong-shape",
            "ORT INVALID_ARGUMENT",
            "an input's size is not the one the graph has",
            "a container graph that was fed without padding, or a length in another unit",
            "use paddable.load(...).run(...), which pads and cuts",
            "measured: onnxruntime 1.32 CPU",
        ),
    ),
    (
        r"Unexpected input data type",
        Explanation(
            "wrong-type",
            "ORT INVALID_ARGUMENT",
            "an input has another element type than the graph wants",
            "int32 against int64 lengths, or float64 audio",
            "cast the input named; paddable.load(...).run(...) casts where nothing is lost",
            "reported: pengzhendong/streaming-sensevoice#10",
        ),
    ),
    (
        r"Invalid (?:Feed )?Input Name|Required inputs .* are missing",
        Explanation(
            "wrong-input",
            "ORT INVALID_ARGUMENT",
            "an input is missing or has another name",
            "an exporter dropped or renamed it (an unread length input vanishes)",
            "list the inputs with `paddable inspect`",
            "measured: torch 2.13 exports",
        ),
    ),
)
