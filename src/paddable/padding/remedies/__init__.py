"""Remedies: what a rule asks for by name, as plain data. The emitters beside this file turn them into nodes."""

from paddable.padding.remedies.remedy import (
    Fill,
    FromEnd,
    GiveRows,
    PadAll,
    PadByOne,
    Remedy,
    Replace,
    Segment,
    SequenceLengths,
    Spread,
    Take,
    UseLength,
    UseSize,
)

__all__ = [
    "Fill",
    "FromEnd",
    "GiveRows",
    "PadAll",
    "PadByOne",
    "Remedy",
    "Replace",
    "Segment",
    "SequenceLengths",
    "Spread",
    "Take",
    "UseLength",
    "UseSize",
]
