"""Small recognisers of random weights, in the forms that strangers' files have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LABELS = ["<blk>", "|", "a", "b", "c", "d"]
CLASSES = len(LABELS)
STRIDE = 320

_ORDERS = {"BTV": [0, 2, 1], "BVT": None, "TBV": [2, 0, 1]}


def recogniser(
    path: Path,
    *,
    channels: int | None = None,
    input_axes: str = "",
    output_axes: str = "BTV",
    scores: str = "logits",
    lengths: str = "",
    mask: bool = False,
    twice: bool = False,
    sound: str = "audio",
    classes: int = CLASSES,
    edges: int = 0,
    kernel: int | None = None,
    stride: int | None = None,
    frozen: int = 0,
    kind: int = TensorProto.FLOAT,
    about: dict[str, str] | None = None,
    declared: dict[str, int | str] | None = None,
) -> Path:
    """One convolution over time: samples at a stride of 320, or features at a stride of 4.

    Args:
        path: where to write.
        channels: of a feature; None for samples.
        input_axes: BS, S, B1S; BTC, BCT, TC; time first TBC, TCB, SB.
        output_axes: BTV, BVT, TBV or TV.
        scores: logits, log-probabilities or probabilities.
        lengths: the name of an input for the length, which an output gives back divided.
        mask: whether there is an input ``attention_mask``, which nothing reads but an output.
        twice: whether a second output looks like the logits, too.
        sound: the name of the input.
        classes: of the logits.
        edges: steps of zeros at either end, without which a single step is too short.
        kernel: of the convolution, in steps.
        stride: of the convolution, in steps.
        frozen: steps that the graph reshapes to whatever it is given, as a traced export may.
        kind: of the input, such as ``TensorProto.INT16``.
        about: metadata of the file.
        declared: sizes of axes of the input that are declared otherwise.
    """
    axes = input_axes or ("BS" if channels is None else "BTC")
    random = np.random.default_rng(0)
    kernel = kernel or (400 if channels is None else 7)
    stride = stride or (STRIDE if channels is None else 4)
    weight = random.normal(0, 0.3 if channels is None else 0.05, (classes, channels or 1, kernel)).astype(np.float32)
    weights = [numpy_helper.from_array(weight, "w")]
    nodes = []

    def add(operator: str, inputs: list[str], **attributes: object) -> str:
        name = f"v{len(nodes)}"
        nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def at(*places: int) -> str:
        name = f"axes{len(weights)}"
        weights.append(numpy_helper.from_array(np.array(places, np.int64), name))
        return name

    x = add("Cast", [sound], to=TensorProto.FLOAT) if kind != TensorProto.FLOAT else sound
    x = add("Reshape", [x, at(1, frozen)]) if frozen else x
    if channels is None:
        x = {
            "BS": lambda: add("Unsqueeze", [x, at(1)]),
            "S": lambda: add("Unsqueeze", [x, at(0, 1)]),
            "SB": lambda: add("Unsqueeze", [add("Transpose", [x], perm=[1, 0]), at(1)]),
            "B1S": lambda: x,
        }[axes]()
    elif axes != "BCT":
        x = add("Unsqueeze", [x, at(0)]) if axes == "TC" else x
        x = add("Transpose", [x], perm=[axes.rjust(3, "B").index(axis) for axis in "BCT"])
    y = add("Conv", [x, "w"], strides=[stride], pads=[edges, edges])  # [B, V, T]
    if scores != "logits":
        y = add("LogSoftmax" if scores == "log" else "Softmax", [y], axis=1)
    if output_axes == "TV":
        y = add("Transpose", [add("Squeeze", [y, at(0)])], perm=[1, 0])
    elif _ORDERS[output_axes]:
        y = add("Transpose", [y], perm=_ORDERS[output_axes])
    nodes[-1].output[0] = "scores"
    batch = "B" if "B" in axes else 1
    sizes = {"B": batch, "S": "S", "T": "T", "C": channels, "1": 1, **(declared or {})}
    inputs = [helper.make_tensor_value_info(sound, kind, [sizes[axis] for axis in axes])]
    shape = {"B": batch, "T": "U", "V": classes}
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [shape[axis] for axis in output_axes])]
    if twice:
        nodes.append(helper.make_node("Mul", ["scores", "scores"], ["again"]))
        outputs.append(helper.make_tensor_value_info("again", TensorProto.FLOAT, [shape[axis] for axis in output_axes]))
    if lengths:
        inputs.append(helper.make_tensor_value_info(lengths, TensorProto.INT64, [batch]))
        weights.append(numpy_helper.from_array(np.array(stride, np.int64), "stride"))
        nodes.append(helper.make_node("Div", [lengths, "stride"], ["frames"]))
        outputs.append(helper.make_tensor_value_info("frames", TensorProto.INT64, [batch]))
    if mask:
        inputs.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, [batch, "S"]))
        nodes.append(helper.make_node("ReduceSum", ["attention_mask", at(1)], ["kept"], keepdims=0))
        outputs.append(helper.make_tensor_value_info("kept", TensorProto.INT64, [batch]))
    graph = helper.make_graph(nodes, "net", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    if about:
        helper.set_model_props(model, about)
    onnx.save(model, path)
    return path


def tokens(path: Path, labels: list[str] = LABELS) -> Path:
    """tokens.txt, a label and its class a line."""
    path.write_text("".join(f"{label} {place}\n" for place, label in enumerate(labels)), encoding="utf-8")
    return path
