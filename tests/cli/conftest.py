"""The command line against a library that records what it is asked."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from paddable.cli import main


class Library(ModuleType):
    """Stands in for ``paddable.api``: keeps each call, answers with what the test sets, or raises it."""

    def __init__(self) -> None:
        super().__init__("paddable.api")
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.answer: Any = None
        for name in ("check", "convert", "verify", "lint", "inspect", "demo"):
            setattr(self, name, self._recorder(name))

    def _recorder(self, name: str) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args, kwargs))
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer

        return called


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    stand_in = Library()
    monkeypatch.setitem(sys.modules, "paddable.api", stand_in)
    return stand_in


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def paddable(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command in this process."""
    monkeypatch.delenv("PADDABLE_DEBUG", raising=False)

    def run(*words: str) -> Outcome:
        code = main(words)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
