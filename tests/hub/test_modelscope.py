"""A repository of ModelScope by its name."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module

import pytest

from paddable.api.fetching import checkpoint_at
from paddable.errors import MisuseError, UnreadableError
from paddable.families.registry import FAMILIES

from .stand_in import REPOSITORY, Hub, serving

pytest.importorskip("modelscope")

FILES = {"model.pt": b"weights", "config.yaml": b"model: SenseVoiceSmall", "am.mvn": b"x", "tokens.json": b"[]"}
SENSE_VOICE = FAMILIES["sense-voice"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """One for all tests: the client reads its settings once."""
    content = {**FILES, "README.md": b"words", "example/zh.mp3": b"sound"}
    with serving(content) as hub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELSCOPE_ENDPOINT", hub.endpoint)
        patch.setenv("MODELSCOPE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield hub


def test_only_what_the_family_needs_is_fetched_and_it_serves_offline(hub: Hub) -> None:
    found = checkpoint_at(REPOSITORY, SENSE_VOICE, hub="modelscope")
    assert hub.fetched() == set(FILES)
    assert {path.name for path in found.path.iterdir() if path.is_file() and path.name[0] != "."} == set(FILES)
    assert found.source == {
        "hub": "modelscope", "repository": REPOSITORY, "revision": "master",
        "files": {name: sha256(data).hexdigest() for name, data in FILES.items()},
    }  # fmt: skip
    before = len(hub.asked)
    assert checkpoint_at(REPOSITORY, SENSE_VOICE, hub="modelscope", offline=True) == found and len(hub.asked) == before


def test_refusals_are_one_line(hub: Hub) -> None:
    with pytest.raises(UnreadableError, match="it was not fetched before"):
        checkpoint_at("someone/else", SENSE_VOICE, hub="modelscope", offline=True)
    with pytest.raises(MisuseError, match="there is no such repository or revision"):
        checkpoint_at("someone/nothing", SENSE_VOICE, hub="modelscope")
    hub.refused = (403, "")
    with pytest.raises(UnreadableError, match="access to it is gated"):
        checkpoint_at(REPOSITORY, SENSE_VOICE, hub="modelscope")


def test_without_a_connection_it_is_told_at_once_in_one_line(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def nobody(*words: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    def client(*words: object, **options: object) -> None:
        logging.getLogger("modelscope_hub.legacy_api").warning("retry in 1s (1/4)")
        raise ConnectionError("the line is cut")

    monkeypatch.setattr(import_module("modelscope.hub.snapshot_download"), "snapshot_download", client)
    with pytest.raises(UnreadableError, match=r"it cannot be fetched.*the line is cut"):
        checkpoint_at("someone/else", SENSE_VOICE, hub="modelscope")
    monkeypatch.setattr("socket.getaddrinfo", nobody)
    with pytest.raises(UnreadableError, match=r"no address is found for 127\.0\.0\.1; is there a connection\?"):
        checkpoint_at("someone/else", SENSE_VOICE, hub="modelscope")
    assert capfd.readouterr() == ("", "")
