"""What fails around the operators: inference mode, autocast, loading, and the names of the device."""

from __future__ import annotations

import torch

from paddable.torch_backends.calls import Call
from paddable.torch_backends.faults import Fault

__all__ = ["FAULTS"]

_INFERENCE = (
    "linear",
    "conv1d",
    "conv2d",
    "convolution",
    "conv_transpose1d",
    "conv_transpose2d",
    "batch_norm",
    "scaled_dot_product_attention",
    "glu",
    "index",
    "reshape",
    "rnn_tanh",
    "rnn_relu",
)


def _remakes(call: Call) -> bool:
    """Of indexing only that by a bool mask fails, of reshape only the one that has to copy."""
    if call.name == "index":
        return any(index is not None and index.dtype is torch.bool for index in call["indices"])
    if call.name == "reshape":
        return not call["self"].is_contiguous()
    return True


FAULTS = (
    Fault(
        "inference-mode",
        "raises",
        _INFERENCE,
        "torch.inference_mode() fails at the first linear, convolution or attention",
        "use torch.no_grad()",
        _remakes,
        message="Cannot set version_counter for inference tensor",
        setting=lambda settings: settings.inference_mode,
        when="inside of torch.inference_mode()",
        hint=r"version_counter for inference tensor",
    ),
    Fault(
        "autocast",
        "raises",
        (),
        "torch.autocast is not there for this device",
        "convert the model with .half(); enabled=False is fine",
        message="Could not run 'aten::linear' with arguments from the 'AutocastPrivateUse1' backend.",
        exception=NotImplementedError,
        hint=r"AutocastPrivateUse1",
    ),
    Fault(
        "load",
        "raises",
        (),
        "torch.load cannot map to this device, nor read with weights_only what was saved from it",
        "save {name: value.cpu()}, load with map_location='cpu', then .to(device)",
        message="'>=' not supported between instances of 'torch.device' and 'int'",
        exception=TypeError,
        hint=r"'>=' not supported between instances of 'torch.device' and 'int'|Weights only load failed",
    ),
    Fault(
        "device-name",
        "raises",
        (),
        "'dml' and 'directml' name no device",
        "use torch_directml.device(), 'privateuseone' or 'privateuseone:0'",
        message="Expected one of cpu, cuda, .. device type at start of device string: dml",
        hint=r"at start of device string: (dml|directml)",
    ),
    Fault(
        "two-devices",
        "raises",
        (),
        "operands lie on the device and on the CPU, as everywhere in PyTorch",
        "move them to one device",
        message="Expected all tensors to be on the same device, but found at least two devices",
        hint=r"found at least two devices",
    ),
    Fault(
        "numpy",
        "raises",
        (),
        "a tensor of the device has no array, as everywhere in PyTorch",
        "call .cpu() first",
        message="can't convert privateuseone:0 device type tensor to numpy.",
        exception=TypeError,
        hint=r"device type tensor to numpy",
    ),
)
