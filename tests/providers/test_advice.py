"""Session advice is plain data that survives a file."""

from __future__ import annotations

import json

import pytest

from paddable.errors import MisuseError
from paddable.providers.advice import known_advice, session_advice
from paddable.providers.session_advice import SessionAdvice


@pytest.mark.parametrize("name", known_advice())
def test_advice_survives_json(name: str) -> None:
    advice = known_advice()[name]
    assert advice.name == name
    assert SessionAdvice.from_json(json.loads(json.dumps(advice.to_json()))) == advice


def test_directml_restrictions() -> None:
    advice = session_advice("directml")
    assert advice.sequential
    assert advice.one_run_at_a_time
    assert not advice.memory_pattern
    assert advice.companions == ("CPUExecutionProvider",)


def test_an_unknown_provider_is_answered_with_the_known_ones() -> None:
    with pytest.raises(MisuseError, match="directml"):
        session_advice("dml")
