"""State is declared once, and whatever does not match the declaration is an error."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from paddable.bundle.state import StateSpec, StateTable, StepSpec
from paddable.errors import MisuseError, UnreadableError

KEY = StateSpec("key", (1, 2, 5, 4), "float32", "keys, newest last")
COUNT = StateSpec("count", (1,), "int64", "valid rows", low=0, high=5)
TABLE = StateTable((KEY, COUNT))
STEP = StepSpec(4, "codes", 1, "wav", 1, 1920, TABLE, low=0, high=2047, sample_rate=24000)


def test_one_declaration_gives_names_zeros_size_and_documentation() -> None:
    assert (KEY.input_name, KEY.output_name) == ("state_key", "next_state_key")
    initial = TABLE.initial()
    assert initial["key"].shape == KEY.shape and initial["key"].dtype == np.float32 and not initial["key"].any()
    assert TABLE.nbytes == 4 * 40 + 8 == sum(value.nbytes for value in initial.values())
    assert "| `key` | float32 [1, 2, 5, 4] | 160 | keys, newest last |" in TABLE.markdown()


def test_initial_value_need_not_be_zero() -> None:
    assert (StateSpec("floor", (2,), "float32", "lowest value", init=-1.5).initial() == -1.5).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": None}, "missing: count"),
        ({"old": np.zeros(1)}, "left over: old"),
        ({"key": np.zeros((1, 2, 4, 4), np.float32)}, r"state key: got float32\[1, 2, 4, 4\], expected"),
        ({"key": np.zeros((1, 2, 5, 4))}, "got float64"),
        ({"key": np.full((1, 2, 5, 4), np.inf, np.float32)}, "state key: not finite"),
        ({"key": np.zeros((1, 2, 5, 4), np.float32).tolist()}, r"state key: got list, expected float32\[1, 2, 5, 4\]"),
        ({"key": np.ma.zeros((1, 2, 5, 4), np.float32)}, "state key: got MaskedArray"),
        ({"count": np.array([-3])}, "state count: -3 is outside 0 .. 5"),
        ({"count": np.array([99])}, "state count: 99 is outside 0 .. 5"),
        ({7: np.zeros(1)}, "left over: 7"),
    ],
)
def test_a_state_that_does_not_match_is_named(change: dict[str, np.ndarray | None], message: str) -> None:
    TABLE.check(TABLE.initial())
    state = {name: value for name, value in (TABLE.initial() | change).items() if value is not None}
    with pytest.raises(MisuseError, match=message):
        TABLE.check(state)


@pytest.mark.parametrize("state", [None, [], 3, "state", list(TABLE.initial().values())])
def test_what_is_no_state_at_all_is_refused(state: object) -> None:
    with pytest.raises(MisuseError, match="expected a mapping of state names to arrays"):
        TABLE.check(state)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", [(1, 0, 4), (1, -1)])
def test_a_state_without_a_fixed_size_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(MisuseError, match="valid count"):
        StateSpec("cache", shape, "float32", "")


def test_names_are_plain_and_unique() -> None:
    with pytest.raises(MisuseError, match="bad state name"):
        StateSpec("layers.0", (1,), "float32", "")
    with pytest.raises(MisuseError, match="declared twice: key"):
        StateTable((KEY, KEY))


def test_step_description_survives_the_metadata() -> None:
    assert StepSpec.from_json(STEP.to_json()) == STEP


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", STEP.to_json().replace('"format":1', '"format":2'), STEP.to_json().replace("axis", "axes")]
)
def test_a_damaged_description_is_one_line(text: str) -> None:
    with pytest.raises(UnreadableError, match="paddable_step: bad description") as error:
        StepSpec.from_json(text)
    assert "\n" not in str(error.value)


def test_state_and_stream_need_no_framework() -> None:
    code = (
        "import sys, paddable.bundle.state, paddable.runtime.streaming.step_graph, paddable.runtime.streaming.stream; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'onnx', 'onnx_ir', 'onnxruntime')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
