"""Every measured case that is not right: found beforehand, simulated as it was measured, right inside `fallback`."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from cases import NOT_CALLS, case_of, tensor
from paddable.torch_backends import fallback, simulated_backend
from paddable.torch_backends.directml import TORCH_DIRECTML
from paddable.torch_backends.directml.compile_table import compile_table, fault_of

pytestmark = pytest.mark.shared

FLOAT64_ONLY = {"full-of-floats", "float64-in-float32", "float64-sine"}


@pytest.fixture(scope="module")
def measured(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "reference" / "torch_directml.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def faulty(measured: dict[str, Any]) -> list[dict[str, Any]]:
    return [r for r in measured["records"] if r["outcome"] != "ok" and not NOT_CALLS.search(r["name"])]


def inputs(record: dict[str, Any]) -> list[torch.Tensor]:
    made = [tensor(text, seed) for seed, text in enumerate(record["args"])]
    return [value for value in made if value is not None]


def run(record: dict[str, Any], device: torch.device | str) -> torch.Tensor:
    case = case_of(record["name"])
    assert case is not None, record["name"]
    with torch.no_grad():
        return case(*[value.to(device) for value in copy.deepcopy(inputs(record))]).cpu()


def expected(record: dict[str, Any]) -> torch.Tensor | None:
    """The CPU's answer; None where it raises."""
    try:
        return run(record, "cpu")
    except (RuntimeError, IndexError, ZeroDivisionError):
        return None


def settings(record: dict[str, Any]) -> dict[str, bool]:
    code = fault_of(record["name"])
    return {"float64": code in FLOAT64_ONLY, "tiled_resources": code != "empty-slice"}


def test_the_table_that_ships_is_made_of_the_records(measured: dict[str, Any]) -> None:
    assert compile_table(measured) == TORCH_DIRECTML.measured
    assert set(TORCH_DIRECTML.measured["faults"]) == {fault.code for fault in TORCH_DIRECTML.faults}
    assert all(fault.way_round for fault in TORCH_DIRECTML.faults)


def test_every_faulty_record_is_written_as_a_case(faulty: list[dict[str, Any]]) -> None:
    assert len(faulty) > 180
    assert not [record["name"] for record in faulty if case_of(record["name"]) is None]


def test_the_fault_of_every_record_is_found(faulty: list[dict[str, Any]]) -> None:
    wrong = []
    for record in faulty:
        met: list[str] = []
        with simulated_backend(
            seen=lambda fault, call, met=met: met.append(fault.code if fault else "cpu"), **settings(record)
        ) as device:
            try:
                run(record, device)
            except (RuntimeError, IndexError, ZeroDivisionError) as error:
                met.append(f"{type(error).__name__}: {error}")
        code = fault_of(record["name"])
        if code not in met and not (code == "convolution-of-integers" and "number-times-bool" in met):
            wrong.append((record["name"], code, met))
    assert not wrong, "\n".join(map(str, wrong))


def test_the_simulation_fails_as_the_backend_did(faulty: list[dict[str, Any]]) -> None:
    wrong = []
    for record in faulty:
        want = expected(record)
        if record["outcome"] == "crash":
            continue
        with simulated_backend(**settings(record)) as device:
            try:
                got: Any = run(record, device)
            except (RuntimeError, NotImplementedError) as error:
                got = error
        if record["outcome"] == "error":
            fits = isinstance(got, Exception) and type(got).__name__ == record["exception"]
        else:
            fits = isinstance(got, torch.Tensor) and (want is None or not same(got, want))
        if not fits:
            wrong.append((record["name"], got, want))
    assert not wrong, "\n".join(map(str, wrong))


def test_every_record_is_right_inside_of_fallback(faulty: list[dict[str, Any]]) -> None:
    wrong = []
    for record in faulty:
        want = expected(record)
        with simulated_backend(**settings(record)) as device:
            try:
                with fallback(device, float64=settings(record)["float64"]) as report:
                    got: Any = run(record, device)
            except (RuntimeError, IndexError, ZeroDivisionError) as error:
                got = error
        right = isinstance(got, torch.Tensor) and same(got, want) if want is not None else isinstance(got, Exception)
        if not right or (want is not None and not report.replaced):
            wrong.append((record["name"], got, want))
    assert not wrong, "\n".join(map(str, wrong))


def same(got: torch.Tensor, want: torch.Tensor) -> bool:
    if got.dtype is not want.dtype or got.shape != want.shape:
        return False
    tolerance = 2e-3 if want.dtype is torch.float16 else 1e-5 if want.dtype is not torch.float64 else 1e-9
    return bool(torch.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True))
