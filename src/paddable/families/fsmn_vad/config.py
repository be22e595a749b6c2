"""Sizes of an FSMN voice activity detector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddable.errors import UnreadableError
from paddable.families.checkpoints.settings import MOST_LAYERS, Settings
from paddable.families.layers.sanm import stacking

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
    def from_funasr(cls, config: Mapping[str, Any], *, where: str = "config.yaml") -> FsmnVadConfig:
        """Reads FunASR's config.yaml.

        Args:
            config: the parsed file.
            where: the file.

        Raises:
            UnreadableError: a value that is not a size, another model, or a memory that looks ahead or skips steps (no
                published checkpoint does).
        """
        file = Settings(config, where)
        encoder = file.section("encoder_conf")
        file.one_of("encoder", "FSMN")
        features = stacking(file, stack=cls.stack, stride=cls.stride)
        file.section("frontend_conf").allow_only({"lfr_n": cls.stride})  # a posterior every 10 ms
        if encoder.size("input_dim") != features["input_size"]:
            raise encoder.wrong("input_dim", f"{features['input_size']}: 80 mels of frontend_conf.lfr_m frames")
        if encoder.get("rorder", 0) or encoder.get("lstride", 1) != 1:
            raise UnreadableError("rorder above 0 or lstride above 1 is not implemented", where=where)
        if encoder.get("input_affine_dim") != encoder.get("output_affine_dim"):
            raise UnreadableError("input_affine_dim and output_affine_dim differ; only equal ones occur", where=where)
        return cls(
            affine_size=encoder.size("input_affine_dim"),
            size=encoder.size("linear_dim"),
            memory_size=encoder.size("proj_dim"),
            blocks=encoder.size("fsmn_layers", most=MOST_LAYERS),
            order=encoder.size("lorder"),
            classes=encoder.size("output_dim"),
            **features,
        )
