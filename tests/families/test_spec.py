"""One place says what a family is: the command line, the runtime, the documentation and `export` follow it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from paddable.api import inspect
from paddable.api.exporting_families import family_of
from paddable.bundle import Bundle, Metadata
from paddable.cli.export import export
from paddable.errors import MisuseError, UnreadableError
from paddable.families.registry import FAMILIES, spec_of
from paddable.families.spec import Ability, FamilySpec, Mark, Option
from paddable.runtime import Model
from paddable.runtime.families import abilities_of

from ..api import checkpoints

SPEC = FamilySpec(
    name="a-family",
    summary="for these tests",
    files="",
    marks=(Mark("a.json", "^{"),),
    length={"": "x:1=T"},
    abilities=(),
    options=(Option("style", "how", ("plain", "fancy")), Option("sizes", "how many", numbers=(4, 12))),
)


def bundle(family: str | None, **about: Any) -> Bundle:
    metadata = Metadata(symbols={})
    return Bundle(metadata, (), family=family, **about)


def test_every_folder_with_a_spec_is_registered() -> None:
    root = Path(import_module("paddable.families").__path__[0])
    folders = {path.parent.name for path in root.glob("*/spec.py")}
    assert folders == {spec.package.rpartition(".")[2] for spec in FAMILIES.values()}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_whole(name: str, repository: Path) -> None:
    spec = FAMILIES[name]
    assert family_of(name).spec is spec and spec.name == name
    fronts = next((option.words for option in spec.options if option.name == "front_end"), ("",))
    assert not spec.length or set(spec.length) == set(fronts)  # every choice of front end has its axis
    assert spec.length_of(spec.chosen({})) == spec.length.get(fronts[0], "")
    assert all(callable(getattr(Model, ability.name, None)) for ability in spec.abilities)
    assert f"`{name}`" in (repository / "docs/export.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_checkpoint_is_recognised_and_described(name: str, tmp_path: Path) -> None:
    folder = getattr(checkpoints, name.replace("-", "_"))(tmp_path / "checkpoint")
    first, *others = (spec.name for spec in FAMILIES.values() if spec.is_of(folder))
    assert first == name and set(others) <= {"ctc"}  # which takes any graph with labels
    assert [*FAMILIES][-1] == "ctc"
    told = json.loads(json.dumps(inspect(folder).to_json()))
    assert (told["kind"], told["family"]) == ("checkpoint", name) and told["dimensions"]


def test_a_whole_qwen3_tts_model_and_the_port_of_fun_asr_nano_are_recognised(tmp_path: Path) -> None:
    checkpoints.qwen3_tts_codec(tmp_path / "tts" / "speech_tokenizer")
    (tmp_path / "tts" / "config.json").write_text('{"model_type": "qwen3_tts"}')
    assert inspect(tmp_path / "tts").family == "qwen3-tts-codec"
    (tmp_path / "config.json").write_text('{"audio_config": {}, "model_type": "fun_asr_nano"}')
    assert next(spec.name for spec in FAMILIES.values() if spec.is_of(tmp_path)) == "fun-asr-nano"


@pytest.mark.parametrize("text", [b"", b"model: Conformer\n", b"# model: Paraformer\n", b"\xff\xfe"])
def test_another_folder_is_of_no_family(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(text)
    with pytest.raises(UnreadableError, match="neither a bundle nor a checkpoint"):
        inspect(tmp_path)


def test_the_command_line_offers_what_the_specs_offer() -> None:
    told = CliRunner().invoke(export, ["--help"]).output
    for spec in FAMILIES.values():
        assert spec.name in told
        assert all(option.flag in told for option in spec.options)


def test_registry_and_specs_bring_no_package_in() -> None:
    code = """
import sys
before = set(sys.modules)
import paddable.families.registry
outside = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names - {"paddable"}
sys.exit(" ".join(sorted(outside)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_defaults_and_choices() -> None:
    assert SPEC.chosen({}) == {"style": "plain", "sizes": (4, 12)}
    assert SPEC.chosen({"style": "fancy", "sizes": [7, 3, 7]}) == {"style": "fancy", "sizes": (3, 7)}
    assert SPEC.chosen({"sizes": 7}) == {"style": "plain", "sizes": (7,)}
    assert SPEC.chosen({"other": None, "style": None}) == {"style": "plain", "sizes": (4, 12)}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"style": "odd"}, "a-family has no --style odd; choose plain, fancy"),
        ({"front_end": "numpy"}, "a-family has no choice of --front-end; leave --front-end out"),
        ({"sizes": []}, "whole numbers of at least 1"),
        ({"sizes": [0]}, "whole numbers of at least 1"),
        ({"sizes": [1.5]}, "whole numbers of at least 1"),
        ({"sizes": 0}, "whole numbers of at least 1"),
        ({"sizes": "4"}, "whole numbers of at least 1"),
    ],
)
def test_another_choice_is_one_line(given: dict[str, Any], told: str) -> None:
    with pytest.raises(MisuseError) as caught:
        SPEC.chosen(given)
    assert told in str(caught.value)


def test_a_family_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(MisuseError, match="no family is called 'whisper'; choose sense-voice"):
        spec_of("whisper")


@pytest.mark.parametrize(
    ("ability", "about", "can"),
    [
        (Ability("run"), {}, True),
        (Ability("x", settings=("a", "b")), {"settings": {"a": 1, "b": 2}}, True),
        (Ability("x", settings=("a", "b")), {"settings": {"a": 1}}, False),
        (Ability("x", labels=True), {"labels": "tokens.json"}, True),
        (Ability("x", labels=True), {}, False),
        (Ability("x", step_graphs=True), {"step_graphs": ("step.onnx",)}, True),
        (Ability("x", step_graphs=True), {}, False),
    ],
)
def test_a_bundle_can_what_it_holds_the_parts_of(ability: Ability, about: dict[str, Any], can: bool) -> None:
    assert ability.is_in(bundle(None, **about)) is can


def test_a_bundle_of_no_known_family_runs_and_does_nothing_else() -> None:
    settings = {"ctc": {}, "vad": {}, "context": 0}
    everything = {"settings": settings, "labels": "t", "step_graphs": ("s",)}
    assert abilities_of(bundle("fun-asr-nano", **everything)) == ["transcribe"]
    assert abilities_of(bundle("fun-asr-nano", settings={})) == []
    assert abilities_of(bundle(None, **everything)) == abilities_of(bundle("of-tomorrow", **everything)) == []
