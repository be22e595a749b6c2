"""The families, by the name that ``paddable export`` and bundle.json know them by. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping

from paddable.errors import MisuseError
from paddable.families.ct_punc.spec import CT_PUNC
from paddable.families.ctc.spec import CTC
from paddable.families.fsmn_vad.spec import FSMN_VAD
from paddable.families.fun_asr_nano.spec import FUN_ASR_NANO
from paddable.families.paraformer.spec import PARAFORMER
from paddable.families.qwen3_asr.spec import QWEN3_ASR
from paddable.families.qwen3_tts_codec.spec import QWEN3_TTS_CODEC
from paddable.families.sense_voice.spec import SENSE_VOICE
from paddable.families.spec import FamilySpec

__all__ = ["FAMILIES", "spec_of"]

FAMILIES: Mapping[str, FamilySpec] = {
    spec.name: spec
    for spec in (SENSE_VOICE, FUN_ASR_NANO, PARAFORMER, FSMN_VAD, CT_PUNC, QWEN3_ASR, QWEN3_TTS_CODEC, CTC)
}
"""A folder is of the first family that knows it, so ``CTC`` is last: any ``tokens.txt`` with a blank marks it."""


def spec_of(name: str) -> FamilySpec:
    """The family of a name.

    Raises:
        MisuseError: there is none; the error lists those there are.
    """
    if name not in FAMILIES:
        raise MisuseError(f"no family is called {name!r}", fix=f"choose {', '.join(FAMILIES)}")
    return FAMILIES[name]
