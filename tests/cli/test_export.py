"""What ``paddable export`` asks of the library. Real exports are in tests/api/test_export.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddable.errors import GateFailedError


@pytest.fixture(autouse=True)
def exporter(library: Any) -> None:
    library.export = library._recorder("export")


def test_words_become_arguments(paddable: Any, library: Any) -> None:
    library.answer = GateFailedError("stop here")  # what follows would read the bundle
    words = [
        "--containers",
        "5s,30s",
        "--front-end",
        "numpy",
        "--target",
        "directml",
        "--chunks",
        "4,25",
        "--precision",
        "int8",
    ]
    done = paddable("export", "sense-voice", "weights", "-o", "out", *words, "--no-verify", "--force")
    assert done.code == 1 and done.err == "error: stop here\n"
    ((name, args, options),) = library.calls
    assert callable(options.pop("progress")) and callable(options.pop("on_message"))
    assert (name, args) == ("export", ("sense-voice", "weights", Path("out")))
    assert {name: value for name, value in options.items() if value is not None} == {
        "containers": ("5s", "30s"),
        "front_end": "numpy",
        "chunks": [4, 25],
        "target": "directml",
        "precision": "int8",
        "rows": 1,
        "accept": (),
        "verify": False,
        "offline": False,
        "gate_lengths": 64,
        "force": True,
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sense-voice", "weights"], "give -o DIRECTORY/"),
        (["sense-voice"], "Missing argument 'CHECKPOINT'"),
        (["codec", "weights", "-o", "out", "--chunks", "4,many"], "not a list of whole numbers such as 4,12"),
    ],
)
def test_misuse_is_one_line(paddable: Any, library: Any, words: list[str], message: str) -> None:
    done = paddable("export", *words)
    assert done.code == 2 and message in done.err and len(done.err.splitlines()) == 1
    assert not library.calls


@pytest.mark.parametrize(("more", "judge"), [((), True), (("--json",), True), (("--no-verify",), False)])
def test_a_log_gets_a_line_a_stage(paddable: Any, library: Any, more: tuple[str, ...], judge: bool) -> None:
    def exporting(*args: Any, progress: Any, **options: Any) -> None:
        for done in range(4):
            progress("export", done, 5)
            progress("export", done, 5)
            progress("C and J of padded", done, 64)
        raise GateFailedError("stop here")

    library.export = exporting
    done = paddable("export", "sense-voice", "weights", "-o", "out", *more)
    stages = ["load the checkpoint and export it", "convert", *["judge"] * judge, "write"]
    told = [f"export {at}/{len(stages)}: {stage}" for at, stage in enumerate(stages[:-1], 1)]
    assert done.err.splitlines() == [*told, "error: stop here"]
    assert "export 1/" not in done.out
