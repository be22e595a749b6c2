"""Session advice is plain data that survives a file."""

from __future__ import annotations

import json

import pytest

from paddable.bundle.providers import PROVIDERS, SessionAdvice, provider
from paddable.errors import MisuseError


@pytest.mark.parametrize("name", PROVIDERS)
def test_advice_survives_json(name: str) -> None:
    advice = PROVIDERS[name]
    assert advice.name == name
    assert SessionAdvice.from_json(json.loads(json.dumps(advice.to_json()))) == advice


def test_directml_restrictions() -> None:
    advice = provider("directml")
    assert advice.sequential
    assert advice.one_run_at_a_time
    assert not advice.memory_pattern
    assert advice.companions == ("CPUExecutionProvider",)


def test_an_unknown_provider_is_answered_with_the_known_ones() -> None:
    with pytest.raises(MisuseError, match="directml"):
        provider("dml")
