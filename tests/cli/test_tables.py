"""Reports at 80 columns: no line is longer, and no word is broken."""

from __future__ import annotations

import pytest

from paddable.cli.render import show_sections

GATES = [
    {
        "model": model,
        "output": output,
        "length": length,
        "container": 480_000,
        "error": 1.25e-7 * length,
        "noise": 2.5e-7,
        "tolerance": 1e-5,
        "cosine": 1.0,
        "length_right": True,
        "zero_behind": True,
        "junk": None if length == 999 else True,
        "note": "",
        "ok": True,
    }
    for model in ("directml-fp16-480000.onnx", "directml-fp16-80000.onnx")
    for output in ("last_hidden", "embeddings")
    for length in (1, 400, 998, 999)
]
STATES = [
    {
        "name": f"pre_transformer_layers_{layer}_self_attn_{part}",
        "type": "float32",
        "shape": [1, 16, 71, 64],
        "bytes": 290_816,
        "meaning": "keys before rotation, newest last, 16 heads of 64",
    }
    for layer in range(3)
    for part in ("key", "value")
] + [{"name": "count", "type": "int64", "shape": [1], "bytes": 8, "meaning": "valid rows at the end of every cache"}]
DOMAIN = [
    {
        "symbol": "F",
        "at": at,
        "why": f"cpu-fp32-{size}.onnx: a refused length gives zeros",
        "outcome": "zeros",
        "ok": True,
    }
    for at in (-2147483648, 0)
    for size in (12, 25)
]


def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, **sections: object) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    show_sections(sections)
    out = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width
    return out


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("records", [GATES, STATES, DOMAIN], ids=["gates", "states", "domain"])
def test_every_word_is_whole_and_every_line_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, records: list[dict[str, object]]
) -> None:
    words = shown(capsys, monkeypatch, width, title=records).split()
    for record in records:
        told = [word for value in record.values() if isinstance(value, str) for word in value.split()]
        assert not [word for word in told if not any(word in shown for shown in words)]


def test_gates_are_a_line_a_length(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(capsys, monkeypatch, 80, rows=GATES).splitlines()
    rows = [["directml-fp16-480000.onnx", "last_hidden", "400", "5e-05", "yes"]]
    assert [line.split() for line in lines if " 400 " in line][:1] == rows
    assert sum(" 400 " in line for line in lines) == 4
    told = " ".join(" ".join(lines).split())
    assert "all: container 480000; noise 2.5e-07; tolerance 1e-05; cosine 1; length_right yes" in told


def test_a_failing_row_keeps_its_column(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row | {"ok": row["length"] != 400, "note": "NaN" if row["length"] == 400 else ""} for row in GATES]
    lines = shown(capsys, monkeypatch, 80, rows=rows).splitlines()
    assert [line.split()[-4:] for line in lines if " 400 " in line] == [["5e-05", "yes", "NaN", "no"]] * 4


def test_states_are_a_paragraph_each(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(shown(capsys, monkeypatch, 80, state=STATES).split())
    key = "pre_transformer_layers_1_self_attn_key: type float32; shape 1, 16, 71, 64; bytes 290816; meaning keys before"
    assert key in text


def test_a_wide_terminal_has_the_whole_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(capsys, monkeypatch, 200, rows=GATES).splitlines()
    assert sum("directml-fp16-480000.onnx" in line for line in lines) == 8 and not any("all:" in line for line in lines)
