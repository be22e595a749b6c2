"""A repository of Hugging Face by its name: only what is needed, one commit, resumed, offline, and every refusal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paddable
from paddable.api.fetching import checkpoint_at
from paddable.bundle import read_bundle
from paddable.errors import MisuseError, PaddableError, UnreadableError
from paddable.families.registry import FAMILIES

from ..api import checkpoints
from ..ctc.ctc_models import recogniser, tokens
from .stand_in import COMMIT, REPOSITORY, Hub, serving

constants = pytest.importorskip("huggingface_hub.constants")
CTC = FAMILIES["ctc"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("published")
    recogniser(folder / "model.onnx")
    tokens(folder / "tokens.txt")
    needed = {path.name: path.read_bytes() for path in folder.iterdir()}
    return {**needed, "model.int8.onnx": b"other", "README.md": b"words", "test_wavs/0.wav": b"sound"}


@pytest.fixture
def hub(files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(dict(files)) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        template = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr("time.sleep", lambda seconds: None)  # the client waits before it tries again
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        yield hub


def test_only_what_the_family_needs_is_fetched_and_the_commit_is_kept(hub: Hub, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    made = paddable.export(
        "ctc", REPOSITORY, tmp_path / "bundle", sample_rate=16_000, containers=["1s"], verify=False,
        progress=lambda *words: told.append(words),
    )  # fmt: skip
    assert hub.fetched() == {"model.onnx", "tokens.txt"}
    assert read_bundle(made).source == {"hub": "huggingface", "repository": REPOSITORY, "revision": COMMIT}
    assert "download (MB)" in {stage for stage, *_ in told}
    before = len(hub.asked)
    again = checkpoint_at(REPOSITORY, CTC)
    assert again.path.name == COMMIT and not [path for _, path, _ in hub.asked[before:] if "model.onnx" in path]


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        (["onnx/model.onnx", "onnx/model_int8.onnx", "vocab.json"], {"onnx/model.onnx", "vocab.json"}),
        (["model.int8.onnx", "tokens.txt"], {"model.int8.onnx", "tokens.txt"}),  # nothing else is there
    ],
)
def test_another_precision_is_fetched_only_where_there_is_no_other(
    there: list[str], wanted: set[str], hub: Hub
) -> None:
    hub.files = {name: name.encode() for name in there}
    for offline in (False, True):
        found = checkpoint_at(REPOSITORY, CTC, offline=offline)
    assert hub.fetched() == wanted and all((found.path / name).is_file() for name in wanted)


def test_what_was_fetched_serves_offline(hub: Hub) -> None:
    with pytest.raises(UnreadableError, match="it was not fetched before, or not all of it; nobody is asked offline"):
        checkpoint_at(REPOSITORY, CTC, offline=True)
    assert not hub.asked
    first = checkpoint_at(REPOSITORY, CTC)
    before = len(hub.asked)
    assert checkpoint_at(REPOSITORY, CTC, offline=True) == first and len(hub.asked) == before


def test_a_download_that_was_cut_goes_on_where_it_stopped(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1 << 14)
    hub.files["model.onnx"] = whole = os.urandom(300_000)
    hub.cut["model.onnx"] = 100_000
    found = checkpoint_at(REPOSITORY, CTC)
    spans = [span for method, path, span in hub.asked if method == "GET" and path.endswith("model.onnx")]
    assert len(spans) == 2 and spans[1] is not None and int(spans[1].removeprefix("bytes=").partition("-")[0]) > 0
    assert (found.path / "model.onnx").read_bytes() == whole


@pytest.mark.parametrize("family", FAMILIES)
def test_a_checkpoint_of_every_family_comes_whole_and_nothing_else(family: str, hub: Hub, tmp_path: Path) -> None:
    folder = getattr(checkpoints, family.replace("-", "_"))(tmp_path / "published")
    whole = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    hub.files = {**whole, "README.md": b"words", "example/model.pt": b"other", "Qwen3-0.6B/model.safetensors": b"other"}
    found = checkpoint_at(REPOSITORY, FAMILIES[family])
    assert hub.fetched() == whole.keys() and FAMILIES[family].is_of(found.path)
    assert {name: (found.path / name).read_bytes() for name in whole} == whole


@pytest.mark.parametrize("revision", ["v1", COMMIT])
def test_a_tag_and_a_commit(hub: Hub, revision: str) -> None:
    found = checkpoint_at(REPOSITORY, CTC, revision=revision)
    assert found.source is not None and found.source["revision"] == COMMIT


@pytest.mark.parametrize(
    "address", [f"https://huggingface.co/{REPOSITORY}", f"https://huggingface.co/{REPOSITORY}/tree/v1"]
)
def test_the_address_of_its_page(hub: Hub, address: str) -> None:
    assert (checkpoint_at(address, CTC).source or {})["repository"] == REPOSITORY


REFUSALS: dict[str, tuple[str, dict[str, Any], tuple[int, str] | None, type[PaddableError], str]] = {
    "a name": ("someone/nothing", {}, None, MisuseError, "private; there is no folder or file someone/nothing here"),
    "a slip": ("models/X", {"offline": True}, None, UnreadableError, "there is no folder or file models/X here"),
    "a revision": (REPOSITORY, {"revision": "v9"}, None, MisuseError, "at v9 of Hugging Face: it has no such revision"),
    "gated": (REPOSITORY, {}, (403, "GatedRepo"), UnreadableError, "access to it is gated"),
    "broken": (REPOSITORY, {}, (500, ""), UnreadableError, "it cannot be fetched from http://127.0.0.1"),
    "another family": (REPOSITORY, {"family": "sense-voice"}, None, UnreadableError, "it holds no model.pt"),
    "a hub": (REPOSITORY, {"hub": "github"}, None, MisuseError, "`hub='github'` is no hub"),
    "a path": ("/absent", {"revision": "v1"}, None, MisuseError, "`revision='v1'` for a path"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line(name: str, hub: Hub) -> None:
    given, choices, hub.refused, kind, told = REFUSALS[name]
    with pytest.raises(kind) as error:
        checkpoint_at(given, FAMILIES[choices.pop("family", "ctc")], **choices)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_net_that_is_down_is_told(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(
        UnreadableError, match=r"cannot be fetched from http://127\.0\.0\.1:1; .*HF_ENDPOINT names a mirror"
    ):
        checkpoint_at(REPOSITORY, CTC)


def test_a_page_in_place_of_an_answer_is_told(hub: Hub) -> None:
    hub.refused = 200, ""
    with pytest.raises(UnreadableError, match=f"cannot be fetched from {hub.endpoint}"):
        checkpoint_at(REPOSITORY, CTC)


def test_the_extra_is_named_where_it_is_missing(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, name in (("huggingface_hub", "huggingface"), ("modelscope", "modelscope")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(PaddableError, match=rf'{package} is not installed; install Paddable with its extra "hub"'):
            checkpoint_at(REPOSITORY, CTC, hub=name)


def test_the_command_line_obeys_hf_endpoint(hub: Hub, tmp_path: Path) -> None:
    words = [
        "export",
        "ctc",
        REPOSITORY,
        "-o",
        str(tmp_path / "bundle"),
        "--sample-rate",
        "16000",
        "--containers",
        "1s",
    ]
    place = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "paddable", *words, "--no-verify", "--json"],
        capture_output=True, text=True, env={**os.environ, **place},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] and hub.fetched() == {"model.onnx", "tokens.txt"}
    assert done.stderr.splitlines().count("download (MB): fetch the checkpoint") == 1
