"""What everybody has to know of a family, in a record of the standard library alone.

``families/<name>/spec.py`` fills one in. The command line takes its options from it, the runtime takes from it what a
loaded bundle can do, and neither imports torch for that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from paddable.errors import MisuseError
from paddable.several import several

__all__ = ["HUBS", "Ability", "BundleFields", "FamilySpec", "Mark", "Option"]

HUBS: Mapping[str, str] = {"huggingface": "Hugging Face", "modelscope": "ModelScope"}
"""Where checkpoints are published; ``api.fetching_<hub>`` fetches from it."""


class BundleFields(Protocol):
    """The part of a bundle that abilities depend on."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the pipeline has to know."""
        ...

    @property
    def labels(self) -> str | None:
        """The file of the labels."""
        ...

    @property
    def step_graphs(self) -> tuple[str, ...]:
        """The files of the step graphs."""
        ...


@dataclass(frozen=True)
class Ability:
    """Something that a loaded bundle can do beside ``run``.

    Attributes:
        name: the method of ``Model``, such as ``transcribe``.
        settings: keys that ``settings`` of bundle.json must hold. A checkpoint that lacks a part of the model gives a
            bundle without the key, and so without the ability.
        labels: whether it needs the token table.
        step_graphs: whether it needs step graphs.
    """

    name: str
    settings: tuple[str, ...] = ()
    labels: bool = False
    step_graphs: bool = False

    def is_in(self, bundle: BundleFields) -> bool:
        """Whether a bundle holds all that the ability needs."""
        return (
            all(key in bundle.settings for key in self.settings)
            and (bundle.labels is not None or not self.labels)
            and (bool(bundle.step_graphs) or not self.step_graphs)
        )


@dataclass(frozen=True)
class Option:
    """A choice that ``export`` offers for a family.

    Attributes:
        name: the keyword of ``paddable.export``; the command line writes it with hyphens.
        help: what it decides, for the help of the command line.
        words: what may be chosen, the default first; empty for anything else.
        numbers: the default of a list of whole numbers.
        text: what a free text stands for, such as ``FILE``; its default is None.
    """

    name: str
    help: str
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    text: str = ""

    @property
    def flag(self) -> str:
        """The option as the command line spells it."""
        return "--" + self.name.replace("_", "-")

    def read(self, value: object | None, family: str) -> Any:
        """The value to export with: a word, a text, or numbers in increasing order; the default for None.

        Raises:
            MisuseError: a value that the family does not offer.
        """
        if self.text:
            return None if value is None else str(value)
        if self.words:
            if value not in (None, *self.words):
                raise MisuseError(f"{family} has no {self.flag} {value}", fix=f"choose {', '.join(self.words)}")
            return self.words[0] if value is None else value
        numbers = self.numbers if value is None else several(self.name, value, object)
        if not numbers or any(type(n) is not int or n < 1 for n in numbers):
            raise MisuseError(
                f"{self.flag} {numbers!r}",
                why="it takes whole numbers of at least 1",
                fix=f"write it like {self.flag} {','.join(map(str, self.numbers))}",
            )
        return tuple(sorted(set(numbers)))


@dataclass(frozen=True)
class Mark:
    """What tells a checkpoint folder from those of other families, and from any other folder.

    Attributes:
        file: a text file, as a path inside the folder.
        pattern: a regular expression that a line of it matches.
    """

    file: str
    pattern: str

    def is_in(self, folder: Path) -> bool:
        """Whether the folder holds the file with such a line."""
        try:
            text = (folder / self.file).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return False
        return re.search(self.pattern, text, re.MULTILINE) is not None


@dataclass(frozen=True)
class FamilySpec:
    """A family of checkpoints.

    Attributes:
        name: as ``paddable export`` and bundle.json call it. Its package is ``families.<name with underscores>``.
        summary: what it is, in a few words.
        files: what lies in a checkpoint folder, for the documentation.
        marks: what its folders are known by, any of them.
        length: the ragged axis of the native graph, as ``convert`` takes it; by the value of ``front_end``, or under
            the empty string where the family has no such option. Empty where only the graph tells.
        abilities: what its bundles can do beside ``run``.
        labels: patterns of token tables in the checkpoint folder, best first.
        options: what ``export`` can be asked for.
        containers: the sizes that ``export`` makes where it is asked for none.
        downloads: of a repository, patterns of the files that ``export`` needs beside the labels: the first of them has
            to be there, and a ``!`` in front leaves files out. One tuple for each layout, the likeliest first.
        one_row: why no graph of the family takes several rows; empty where one can.
    """

    name: str
    summary: str
    files: str
    marks: tuple[Mark, ...]
    length: Mapping[str, str]
    abilities: tuple[Ability, ...]
    labels: tuple[str, ...] = ()
    options: tuple[Option, ...] = field(default=())
    containers: tuple[str, ...] = ("5s", "30s")
    downloads: tuple[tuple[str, ...], ...] = (("model.pt", "config.yaml", "configuration.json", "am.mvn"),)
    one_row: str = ""

    @property
    def package(self) -> str:
        """The folder of the family, as Python imports it."""
        return f"paddable.families.{self.name.replace('-', '_')}"

    def is_of(self, folder: Path) -> bool:
        """Whether a folder looks like a checkpoint of the family; ``export`` looks closer."""
        return any(mark.is_in(folder) for mark in self.marks)

    def chosen(self, given: Mapping[str, object | None]) -> dict[str, Any]:
        """Every option of the family with the value to export with.

        Args:
            given: values by option name; None for the default.

        Raises:
            MisuseError: an option that the family does not have, or a value that it does not offer.
        """
        offered = {option.name for option in self.options}
        for name, value in given.items():
            if value is not None and name not in offered:
                flag = Option(name, "").flag
                raise MisuseError(f"{self.name} has no choice of {flag}", fix=f"leave {flag} out")
        return {option.name: option.read(given.get(option.name), self.name) for option in self.options}

    def length_of(self, choices: Mapping[str, Any]) -> str:
        """The ragged axis of the graph that is exported with these choices; empty where only the graph tells."""
        return self.length[choices.get("front_end", "")] if self.length else ""
