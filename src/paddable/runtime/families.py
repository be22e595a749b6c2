"""What ``bundle.json`` says about a family, turned into the pipeline that runs it.

``settings`` of the bundle, by key: ``ctc`` (a :class:`CtcLayout`), ``cif`` (a :class:`CifLayout`), ``punctuation`` (a
:class:`PunctuationLayout`), ``vad`` (``model_conf`` of FunASR's config.yaml) and ``context`` (frames of the past that a
posterior depends on).
``front_end``: ``kind``, ``in_graph`` and, for features in numpy, ``stack``, ``stride`` and ``cmvn`` (``shift`` and
``scale``); or, of any CTC model, ``input`` and ``axes`` (of a :class:`SoundInput`) and ``options`` of
``audio.front_ends``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np

from paddable.audio.cmvn import Cmvn
from paddable.audio.features import FrontEnd
from paddable.audio.front_ends import FRONT_ENDS
from paddable.audio.kaldi import SAMPLE_RATE
from paddable.bundle import Bundle
from paddable.bundle.conform import conforms, type_name
from paddable.errors import UnreadableError
from paddable.families.fsmn_vad.spec import VadOptions
from paddable.families.registry import FAMILIES
from paddable.lengths import parse
from paddable.runtime.session.session import Unjudged
from paddable.runtime.speech.cif_decoder import CifDecoder, CifLayout
from paddable.runtime.speech.ctc_decoder import CtcDecoder, CtcLayout
from paddable.runtime.speech.detection import Detector
from paddable.runtime.speech.heard import Decoder
from paddable.runtime.speech.pipelines import Recogniser
from paddable.runtime.speech.punctuation import PunctuationLayout, Punctuator, rows_of
from paddable.runtime.speech.sound_input import SoundInput
from paddable.runtime.speech.text import Vocabulary, read_pieces, read_vocabulary

__all__ = ["abilities_of", "detector_of", "punctuator_of", "recogniser_of", "sound_input", "sound_input_of"]

_Layout = TypeVar("_Layout")


def abilities_of(bundle: Bundle) -> list[str]:
    """What a bundle can do beside ``run``: methods of ``Model``, as the spec of its family says."""
    spec = FAMILIES.get(bundle.family or "")
    return [ability.name for ability in spec.abilities if ability.is_in(bundle)] if spec else []


def recogniser_of(bundle: Bundle, folder: Path, session: Unjudged) -> Recogniser:
    """The recogniser of a bundle.

    Raises:
        UnreadableError: its settings or labels are damaged.
        MissingExtraError: the labels need sentencepiece.
    """
    taken = sound_input_of(bundle)
    decoder = _decoder(bundle, read_vocabulary(folder / str(bundle.labels)))
    return Recogniser(session, decoder, taken, max_seconds=_longest_seconds(session, taken), rows=session.rows)


def _decoder(bundle: Bundle, vocabulary: Vocabulary) -> Decoder:
    if "cif" in bundle.settings:
        return CifDecoder(vocabulary, _read_settings(CifLayout, bundle.settings["cif"], "settings.cif"))
    layout = _read_settings(CtcLayout, bundle.settings["ctc"], "settings.ctc")
    if layout.frame is None:
        layout = replace(layout, frame=_frame_seconds(bundle, layout))
    return CtcDecoder(vocabulary, layout)


def _frame_seconds(bundle: Bundle, layout: CtcLayout) -> float:
    """Seconds from one row of logits to the next, by the length that the output has for that of the sound."""
    try:
        (name, symbol), *_ = bundle.metadata.symbols.items()
        length = parse(bundle.metadata.lengths[layout.output][layout.axes.index("T")])
        rate, period = symbol.rate or 0, length.period()
        first = max(int(rate), symbol.min)  # past the shortest clips, and before a table ends
        rows = length.evaluate({name: first + period}) - length.evaluate({name: first})
        return period / rows / rate
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise _damaged(f"the length of {layout.output} does not tell how long a frame is") from error


def detector_of(bundle: Bundle, session: Unjudged) -> Detector:
    """The voice activity detector of a bundle.

    Raises:
        UnreadableError: its settings are damaged.
    """
    front_end = _front_end_of(bundle.front_end)
    options = VadOptions.from_funasr(bundle.settings["vad"], where="bundle.json", path="settings.vad")
    context = bundle.settings.get("context")
    if type(context) is not int or context < 0:
        raise _damaged(f"settings.context is {context!r}, expected a number of frames")
    taken = SoundInput() if front_end is None else SoundInput.of_features(front_end)
    return Detector(session, options, front_end, _longest_seconds(session, taken), context)


def punctuator_of(bundle: Bundle, folder: Path, session: Unjudged) -> Punctuator:
    """What writes punctuation.

    Raises:
        UnreadableError: its settings or labels are damaged.
    """
    layout = _read_settings(PunctuationLayout, bundle.settings["punctuation"], "settings.punctuation")
    if not 0 <= layout.sentence_end < len(layout.marks):
        raise _damaged(f"settings.punctuation.sentence_end is {layout.sentence_end}, expected one of the marks")
    table = folder / str(bundle.labels)
    longest = next(iter(session.largest.values()), None)
    return Punctuator(session, rows_of(read_pieces(table), str(table)), layout, longest)


def _front_end_of(said: Mapping[str, Any] | None) -> FrontEnd | None:
    """Features in numpy, or None where the graph makes its own."""
    if said is None or said.get("in_graph"):
        return None
    try:
        cmvn = said["cmvn"] and Cmvn(*(np.array(said["cmvn"][part], np.float32) for part in ("shift", "scale")))
        return FrontEnd(int(said["stack"]), int(said["stride"]), cmvn)
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(f"front_end: {type(error).__name__} {error}") from error


def sound_input_of(bundle: Bundle) -> SoundInput:
    """How a graph takes sound, as its bundle says.

    Raises:
        UnreadableError: what the bundle says of it is damaged.
    """
    if bundle.front_end and "input" in bundle.front_end and not bundle.metadata.symbols:
        raise _damaged("front_end.input is no input whose length varies")
    fewest = next((symbol.min for symbol in bundle.metadata.symbols.values()), 0)
    return sound_input(bundle.front_end, bundle.sample_rate, fewest)


def sound_input(said: Mapping[str, Any] | None, rate: int | None, fewest: int = 0) -> SoundInput:
    """How a graph takes sound, as ``front_end`` of bundle.json says.

    Args:
        said: ``front_end``.
        rate: samples a second; 16,000 where it is not said.
        fewest: steps that the graph accepts.

    Raises:
        UnreadableError: what it says is damaged.
    """
    if said is None or "input" not in said:
        front_end = _front_end_of(said)
        return SoundInput() if front_end is None else SoundInput.of_features(front_end)
    kind, axes = FRONT_ENDS.get(said.get("kind", "")), said.get("axes")
    if kind is None or not isinstance(axes, str) or not set(axes) <= set("B1STC") or len(set(axes) & set("ST")) != 1:
        raise _damaged(f"front_end has the kind {said.get('kind')!r} and the axes {axes!r}")
    if not conforms(said["input"], str):
        raise _damaged("front_end.input is no input whose length varies")
    features = _read_settings(kind, said.get("options", {}), "front_end.options")
    return SoundInput(said["input"], axes, features, rate or SAMPLE_RATE, fewest)


def _longest_seconds(session: Unjudged, taken: SoundInput) -> float | None:
    """Seconds of sound that fit the largest container."""
    steps = next(iter(session.largest.values()), None)
    return None if steps is None else taken.features.most_samples(steps) / taken.rate


def _damaged(what: str) -> UnreadableError:
    return UnreadableError(what, where="bundle.json", fix="export the model again")


def _read_settings(layout: type[_Layout], said: Any, path: str) -> _Layout:
    """A record of what bundle.json says, each value of the type that the record declares."""
    hints = get_type_hints(layout)
    if not isinstance(said, Mapping):
        raise _damaged(f"{path} is {said!r}, expected a mapping")
    for key, value in said.items():
        if key not in hints:
            raise _damaged(f"{path} has the unknown key {key!r}, expected {', '.join(hints)}")
        if not conforms(value, hints[key]):
            raise _damaged(f"{path}.{key} is {value!r}, expected {type_name(hints[key])}")
    try:
        return layout(**said)
    except ValueError as error:
        raise _damaged(f"{path}: {error}") from error
