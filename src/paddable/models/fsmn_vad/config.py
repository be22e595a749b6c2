"""Sizes of an FSMN voice activity detector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import Unreadable

__all__ = ["FsmnVadConfig"]


@dataclass(frozen=True)
class FsmnVadConfig:
    """Sizes; the defaults are those of FunASR's fsmn-vad.

    Attributes:
        input_size: channels of a feature (80 mels, 5 frames).
        affine_size: channels of the first and the last hidden layer.
        size: channels between the memory blocks.
        memory_size: channels inside a memory block.
        blocks: memory blocks.
        order: taps of a memory block, the current step included; all of them look back.
        classes: output classes; class 0 is silence.
        stack: log-mel frames in one feature.
        stride: log-mel frames between two features.
    """

    input_size: int = 400
    affine_size: int = 140
    size: int = 250
    memory_size: int = 128
    blocks: int = 4
    order: int = 20
    classes: int = 248
    stack: int = 5
    stride: int = 1

    @classmethod
    def from_funasr(cls, config: Mapping[str, Any]) -> FsmnVadConfig:
        """Reads FunASR's config.yaml.

        Raises:
            Unreadable: another model, or a memory that looks ahead or skips steps (no published checkpoint does).
        """
        encoder, front_end = config.get("encoder_conf") or {}, config.get("frontend_conf") or {}
        if config.get("encoder") != "FSMN":
            raise Unreadable(f"encoder is {config.get('encoder')!r}, not FSMN", where="config.yaml")
        if encoder.get("rorder", 0) or encoder.get("lstride", 1) != 1:
            raise Unreadable("rorder above 0 or lstride above 1 is not implemented", where="config.yaml")
        if encoder.get("input_affine_dim") != encoder.get("output_affine_dim"):
            raise Unreadable(
                "input_affine_dim and output_affine_dim differ; only equal ones occur", where="config.yaml"
            )
        return cls(
            input_size=int(encoder["input_dim"]),
            affine_size=int(encoder["input_affine_dim"]),
            size=int(encoder["linear_dim"]),
            memory_size=int(encoder["proj_dim"]),
            blocks=int(encoder["fsmn_layers"]),
            order=int(encoder["lorder"]),
            classes=int(encoder["output_dim"]),
            stack=int(front_end.get("lfr_m", 5)),
            stride=int(front_end.get("lfr_n", 1)),
        )
