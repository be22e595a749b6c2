"""Families whose graphs take several rows: each row is answered as alone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest
import soundfile

import paddable
from paddable.bundle import KEY, Metadata, read_bundle
from paddable.errors import MisuseError
from paddable.families.registry import FAMILIES
from paddable.families.sense_voice.config import LANGUAGES, TEXT_NORMS
from paddable.runtime.session.rows import Pace

SOUND = (0.1 * np.random.default_rng(0).standard_normal(16_000)).astype(np.float32)
FEATURES = np.random.default_rng(1).standard_normal((16, 560)).astype(np.float32)


@pytest.fixture(scope="module")
def bundle(checkpoints: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged by nobody here: tests/ctc/test_rows.py asks for the gates."""
    folder = tmp_path_factory.mktemp("rows")
    checkpoint = checkpoints.sense_voice(folder / "checkpoint")
    asked = {"containers": ["1s"], "rows": 4, "verify": False, "front_end": "numpy"}
    return paddable.export("sense-voice", checkpoint, folder / "bundle", **asked)


@pytest.mark.parametrize("provider", ["cpu", "auto"])
def test_sense_voice_answers_rows_as_alone(bundle: Path, tmp_path: Path, provider: str) -> None:
    model = paddable.load(bundle, provider)
    sounds = [SOUND[:length] for length in (500, 15_999, 8_000, 16_000, 401)]
    rows = [FEATURES[:length] for length in (1, 16, 7, 9, 2)]
    languages = [np.array([LANGUAGES[name]]) for name in ("en", "zh", "auto", "ja", "ko")]
    textnorm = np.full(1, TEXT_NORMS["withitn"])
    alone = [
        model.run({"speech": row[None], "language": language, "textnorm": textnorm})["ctc_logits"][0]
        for row, language in zip(rows, languages, strict=True)
    ]
    files = [tmp_path / f"{number}.wav" for number in range(len(sounds))]
    for file, sound in zip(files, sounds, strict=True):
        soundfile.write(file, sound, 16_000, subtype="FLOAT")
    texts = [model.transcribe(file, language="en") for file in files]
    model._paces.found[0] = Pace(9.0, 0.1, 4.0)  # as if rows had been measured to be faster
    inputs = {"speech": rows, "language": languages, "textnorm": [textnorm] * len(sounds)}
    for one, row in zip(alone, model.run(inputs)["ctc_logits"], strict=True):
        assert row.shape == one.shape and np.abs(row - one).max() <= 1e-5 * np.abs(one).max()
    assert [result for _, result in model.transcribe_many(files, language="en")] == texts
    assert any(row.get("rows") == 4 and row["opened"] is not None for row in model.describe().containers)


def test_weights_are_shared_with_the_graph_of_one_row(bundle: Path) -> None:
    of_one, of_rows = (bundle / graph.file for graph in read_bundle(bundle).graphs)
    assert of_rows.stat().st_size < 1.1 * of_one.stat().st_size
    assert [file.name for file in bundle.glob("*.data")] == ["fp32.data"]


def test_a_precision_that_mixes_rows_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match=r"`rows=4` in int8-dynamic; .* mix them; leave it out"):
        paddable.export("sense-voice", tmp_path, tmp_path / "b", rows=4, precision="fp16,int8-dynamic")


def test_every_family_takes_rows_or_says_why_not() -> None:
    taking = {name for name, spec in FAMILIES.items() if not spec.one_row}
    assert taking == {"ctc", "sense-voice", "fun-asr-nano", "paraformer"}


def test_a_fixed_size_is_not_as_many_rows_by_chance() -> None:
    model = onnx.parser.parse_model("""<ir_version: 9, opset_import: ["" : 18]>
        g (float[B, T, 2] x, float[4, 2] table) => (float[B, T, 4] y) {
            turned = Transpose <perm = [1, 0]> (table)
            y = MatMul(x, turned)
        }""")
    made = paddable.convert(model, ["x:1=T"], containers=[6], batch_size=4, verify=False)
    assert isinstance(made, onnx.ModelProto)
    text = next(entry.value for entry in made.metadata_props if entry.key == KEY)
    batch = Metadata.loads(text, where="model").batch
    assert batch is not None and batch.inputs == {"x": 0}
