"""Every extra that an error names exists, and each holds at most one runtime."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from paddable.cli.failures import EXTRA_OF
from paddable.providers.advice import known_advice
from paddable.runtime.session.flavours import FLAVOURS


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_extras_are_those_of_the_design(project: dict[str, Any]) -> None:
    runtimes = {"cpu", "directml", "gpu", "openvino", "windowsml", "webgpu"}
    assert set(project["optional-dependencies"]) == runtimes | {"convert", "export", "audio", "demo", "hub", "dev"}


def test_every_extra_that_an_error_names_exists(project: dict[str, Any]) -> None:
    named = {*EXTRA_OF.values(), *FLAVOURS.values(), *(advice.extra for advice in known_advice().values())}
    assert named <= set(project["optional-dependencies"])


def test_no_extra_installs_two_runtimes(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]

    def packages(extra: str) -> set[str]:
        found = set()
        for requirement in extras[extra]:
            name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
            found |= set().union(*map(packages, inner.split(","))) if name == "paddable" else {name}
        return found

    for extra in extras:
        assert len(packages(extra) & FLAVOURS.keys()) <= 1, extra
    for extra in ("cpu", "directml", "gpu", "openvino", "windowsml", "webgpu"):
        assert len(packages(extra) & FLAVOURS.keys()) == 1, extra


def test_the_core_installs_no_runtime_and_no_framework(project: dict[str, Any]) -> None:
    assert {re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]} == {
        "numpy",
        "click",
        "rich",
    }
