"""A session gives each row the answer that it would get alone."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import paddable
from paddable.bundle import KEY, Bundle, Graph, Metadata, Symbol, new_directory, read_metadata, write_bundle
from paddable.errors import MisuseError, PaddableWarning, UnreadableError
from paddable.runtime import Session
from paddable.runtime.session.binding import Binding

from .conftest import build

Padded = Callable[..., Path]
GAIN = np.array([1], np.float32)


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def sums(x: np.ndarray) -> np.ndarray:
    return x[..., 0::2] + x[..., 1::2]


def test_one_row_shorter_than_the_container(padded_file: Padded) -> None:
    x = noise(1, 6)
    result = paddable.load(padded_file(16, 1)).run({"x": x, "gain": GAIN})
    assert list(result) == ["y", "y_length", "mean"]
    np.testing.assert_array_equal(result["y"], sums(x))
    assert result["y_length"].tolist() == [3]
    np.testing.assert_allclose(result["mean"], sums(x).mean(1), rtol=1e-6)


@pytest.mark.parametrize("batch", [None, 1, 2, 4])
def test_a_list_of_unequal_rows(padded_file: Padded, batch: int | None) -> None:
    rows = [noise(6), noise(16), noise(2)]
    result = paddable.load(padded_file(16, batch)).run({"x": rows, "gain": GAIN})
    for row, y, length, mean in zip(rows, result["y"], result["y_length"], result["mean"], strict=True):
        np.testing.assert_array_equal(y, sums(row))
        assert length == len(row) // 2
        np.testing.assert_allclose(mean, sums(row).mean(), rtol=1e-6)


@pytest.mark.parametrize("batch", [None, 1, 2, 4])
def test_an_array_with_lengths(padded_file: Padded, batch: int | None) -> None:
    x = noise(3, 12)
    result = paddable.load(padded_file(16, batch)).run({"x": x, "ilens": [6, 10, 4], "gain": GAIN})
    assert result["y"].shape == (3, 5)
    assert result["y_length"].tolist() == [3, 5, 2]
    for row, y, n in zip(x, result["y"], (6, 10, 4), strict=True):
        np.testing.assert_array_equal(y[: n // 2], sums(row[:n]))
        assert not y[n // 2 :].any()


def test_what_lies_past_a_rows_length_never_reaches_the_model(padded_file: Padded) -> None:
    session = paddable.load(padded_file(16, 1))
    x = noise(1, 12)
    clean = session.run({"x": x[:, :6], "gain": GAIN})
    x[:, 6:] = np.nan
    junk = session.run({"x": x, "ilens": 6, "gain": GAIN})
    for name, value in clean.items():
        np.testing.assert_array_equal(value, junk[name])


def fed(session: Session) -> np.ndarray:
    """The input buffer of the only container."""
    return session._open[0]._idle[0].inputs["x"]


def test_a_longer_call_leaves_its_samples_only_where_junk_was_judged(tmp_path: Path) -> None:
    model, long, short = build(16, 1), noise(1, 16), noise(1, 6)
    metadata = Metadata.loads(model.metadata_props[0].value, where="")
    for verified in ({}, {"J": {"rows": 9, "failing": 0}}):
        onnx.helper.set_model_props(model, {KEY: replace(metadata, verified=verified).dumps()})
        onnx.save(model, tmp_path / "model.onnx")
        session = paddable.load(tmp_path / "model.onnx", "cpu")
        first = session.run({"x": long, "gain": GAIN})
        kept = {name: value.copy() for name, value in first.items()}
        np.testing.assert_array_equal(session.run({"x": short, "gain": GAIN})["y"], sums(short))
        np.testing.assert_array_equal(fed(session)[:, :6], short)
        np.testing.assert_array_equal(fed(session)[:, 6:], long[:, 6:] if verified else 0)
        for name, value in kept.items():  # an answer is the caller's own
            np.testing.assert_array_equal(first[name], value)


def test_rows_that_fill_the_container_are_read_where_they_lie(
    padded_file: Padded, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    run = Binding.run
    monkeypatch.setattr(Binding, "run", lambda self, feeds: (given.append(feeds["x"]), run(self, feeds))[1])
    session, x = paddable.load(padded_file(16, 2)), noise(2, 16)
    first = session.run({"x": x, "gain": GAIN})
    assert given[-1] is x
    kept = {name: array.copy() for name, array in first.items()}
    np.testing.assert_array_equal(first["y"], sums(x))
    second = session.run({"x": 2 * x, "ilens": [16, 4], "gain": GAIN})
    assert given[-1] is not x  # a row ends before the container does
    np.testing.assert_array_equal(second["y"][1, :2], sums(2 * x[1, :4]))
    assert not second["y"][1, 2:].any()
    for name, array in first.items():
        np.testing.assert_array_equal(array, kept[name])


def test_rows_may_keep_their_batch_axis(padded_file: Padded) -> None:
    session = paddable.load(padded_file(16, 2))
    rows = [noise(1, 6), noise(1, 8)]
    result = session.run({"x": rows, "gain": GAIN})
    np.testing.assert_array_equal(result["y"][0], sums(rows[0][0]))
    with pytest.raises(MisuseError, match="row of shape"):
        session.run({"x": [noise(2, 6)], "gain": GAIN})


def test_a_length_of_zero(padded_file: Padded) -> None:
    result = paddable.load(padded_file(16, 1)).run({"x": noise(1, 6), "ilens": [0], "gain": GAIN})
    assert result["y"].shape == (1, 0)
    assert result["y_length"].tolist() == [0]
    assert result["mean"].tolist() == [0]


def test_a_symbolic_container_is_as_long_as_the_longest_row(padded_file: Padded) -> None:
    rows = [noise(6), noise(40)]
    result = paddable.load(padded_file(None, None)).run({"x": rows, "gain": GAIN})
    for row, y in zip(rows, result["y"], strict=True):
        np.testing.assert_array_equal(y, sums(row))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    sizes = (32, 8, 16)
    with new_directory(tmp_path / "out") as beside:
        for size in sizes:
            onnx.save(build(size, 1), beside / f"cpu-fp32-{size}.onnx")
        metadata = replace(read_metadata(beside / "cpu-fp32-8.onnx"), container={})
        graphs = tuple(Graph(f"cpu-fp32-{size}.onnx", {"T": size}) for size in sizes)
        write_bundle(Bundle(metadata, graphs), beside)
    return tmp_path / "out"


def opened(session: Session) -> list[int]:
    return sorted(session._containers[index].steps["T"] for index in session._open)


@pytest.mark.parametrize(("n", "container"), [(2, 8), (8, 8), (10, 16), (16, 16), (18, 32), (32, 32)])
def test_the_smallest_container_that_fits(bundle: Path, n: int, container: int) -> None:
    session = paddable.load(bundle)
    x = noise(1, n)
    np.testing.assert_array_equal(session.run({"x": x, "gain": GAIN})["y"], sums(x))
    assert opened(session) == sorted({8, container})  # the smallest is always opened: it knows the inputs


def test_too_long_for_every_container(bundle: Path) -> None:
    with pytest.raises(MisuseError) as error:
        paddable.load(bundle).run({"x": noise(1, 34), "gain": GAIN})
    told = str(error.value)
    assert "'x'" in told
    assert "34 steps" in told
    assert "32 steps" in told


def test_warm_up_opens_every_container_and_close_gives_them_back(bundle: Path) -> None:
    with paddable.load(bundle) as session:
        session.warm_up()
        assert opened(session) == [8, 16, 32]
    assert opened(session) == []


def test_threads_share_a_session(bundle: Path) -> None:
    session = paddable.load(bundle, threads=1)
    failures = []

    def work(seed: int) -> None:
        for n in range(2, 32, 2):
            x = np.random.default_rng(seed + n).standard_normal((1, n)).astype(np.float32)
            if not np.array_equal(session.run({"x": x, "gain": GAIN})["y"], sums(x)):
                failures.append((seed, n))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"x": noise(1, 6)}, "'gain'"),
        ({"gain": GAIN}, "'x'"),
        ({"x": noise(1, 6), "gain": GAIN, "audio": GAIN}, "'audio'"),
        ({"x": noise(6), "gain": GAIN}, "'x'"),
        ({"x": noise(0, 6), "gain": GAIN}, "rows"),
        ({"x": noise(1, 6), "ilens": [6, 6], "gain": GAIN}, "'ilens'"),
        ({"x": noise(1, 6), "ilens": [8], "gain": GAIN}, "'x'"),
        ({"x": noise(1, 6), "ilens": 6.5, "gain": GAIN}, "'ilens'"),
        ({"x": [[0.5] * 6, [0.5] * 8], "gain": GAIN}, "'x'"),
        ({"x": [], "gain": GAIN}, "input 'x' is an empty list; give one array a row"),
    ],
)
def test_wrong_inputs_are_named(padded_file: Padded, inputs: dict[str, object], told: str) -> None:
    with pytest.raises(MisuseError) as error:
        paddable.load(padded_file(16, 1)).run(inputs)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_bundle_for_another_target(bundle: Path) -> None:
    with pytest.raises(MisuseError, match="it was made for cpu"):
        paddable.load(bundle, target="directml")


def test_a_precision_that_is_not_there(bundle: Path) -> None:
    with pytest.raises(MisuseError, match="fp32"):
        paddable.load(bundle, precision="int8")


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_text("hello, this is no model")
    with pytest.raises(UnreadableError, match=r"a\.onnx"):
        paddable.load(tmp_path / "a.onnx")


def test_a_model_without_a_batch_axis(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 18]>
        double (float[8] x, int64[1] ilens) => (float[8] y, int64[1] y_length) {
            y = Add (x, x)
            y_length = Identity (ilens)
        }
    """)
    metadata = Metadata(
        symbols={"T": Symbol("x", 0)},
        container={"T": 8},
        inputs={"x": {0: "T"}},
        length_inputs={"ilens": "T"},
        lengths={"y": {0: "T"}},
    )
    onnx.helper.set_model_props(model, {"paddable": metadata.dumps()})
    onnx.save(model, tmp_path / "a.onnx")
    x = noise(5)
    result = paddable.load(tmp_path / "a.onnx").run({"x": x})
    np.testing.assert_array_equal(result["y"], x + x)
    assert result["y_length"].tolist() == [5]


def test_a_wrong_size_names_the_axis(padded_file: Padded) -> None:
    session = paddable.load(padded_file(16, 1))
    with pytest.raises(MisuseError, match=r"input 'gain': axis 0 is 2 long, the model wants 1; its shape is \(2,\)"):
        session.run({"x": noise(1, 6), "gain": np.ones(2, np.float32)})


def test_nan_in_an_answer_is_told_on_every_path(padded_file: Padded) -> None:
    x, infinite = np.ones((1, 4), np.float32), np.full(1, np.inf, np.float32)
    zeros = {"x": x * 0, "gain": infinite}  # 0 * inf
    with pytest.warns(PaddableWarning, match="answers NaN in y, mean, and gain that it was given holds infinity$"):
        paddable.load(padded_file(16, 1)).run(zeros)
    large = np.full((1, 4), 3e38, np.float32) * np.float32([1, 1, -1, -1])  # inf - inf
    zeros = {"x": large, "gain": np.ones(1, np.float32)}
    with pytest.warns(PaddableWarning, match="the model answers NaN in mean on CPUExecutionProvider$"):
        paddable.load(padded_file(16, 1)).run(zeros)
    elsewhere = paddable.load(padded_file(16, 1))
    elsewhere._session(0).providers = ["DmlExecutionProvider"]
    with pytest.warns(PaddableWarning, match="on DmlExecutionProvider; run it with provider='cpu'"):
        elsewhere.run({**zeros, "x": [large[0]]})


def test_nan_that_was_given_is_not_told(padded_file: Padded) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddable.load(padded_file(16, 1)).run({"x": np.full((1, 4), np.nan, "f4"), "gain": np.ones(1, "f4")})


def test_warming_up_tells_how_far_it_is(padded_file: Padded) -> None:
    told: list[tuple[str, int, int]] = []
    paddable.load(padded_file(16, 1)).warm_up(lambda *step: told.append(step))
    assert told == [("containers", 0, 1), ("containers", 1, 1)]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (1, "T=1 is too short: the nearest accepted length is 2"),
        (0, "T=0 is too short: the nearest accepted length is 2"),
        (7, "T=7 is off the step: the nearest accepted lengths are 6 and 8"),
        (13, "T=13 is too long: the nearest accepted length is 12"),
    ],
)
def test_a_single_row_that_is_not_accepted_raises(padded_file: Padded, steps: int, words: str) -> None:
    session = paddable.load(padded_file(16, 1, symbol=Symbol("x", 1, min=2, max=12, step=2)))
    with pytest.raises(MisuseError, match=f"^input 'x': {words}; "):
        session.run({"x": noise(1, steps), "gain": GAIN})


def test_rows_that_are_not_accepted_are_told_and_have_the_length_0(padded_file: Padded) -> None:
    session = paddable.load(padded_file(16, 1))
    rows = [noise(6), noise(7), noise(1)]
    with pytest.warns(PaddableWarning, match=r"rows 1, 2 have no answer, and the length 0: T=7 .* are 6 and 8$"):
        result = session.run({"x": rows, "gain": GAIN})
    np.testing.assert_array_equal(result["y"][0], sums(rows[0]))
    with pytest.raises(MisuseError, match="input 'x', row 1: T=7 is off the step"):
        session.run({"x": rows, "gain": GAIN}, strict=True)


def test_a_row_that_fills_the_batch_is_nothing_to_tell(padded_file: Padded) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = paddable.load(padded_file(16, 2)).run({"x": noise(2, 6), "ilens": [6, 0], "gain": GAIN}, strict=True)
    assert result["y_length"].tolist() == [3, 0]


@pytest.mark.parametrize("threads", [0, -1, "2", True, 1.5])
def test_a_number_of_threads_that_there_is_not(padded_file: Padded, threads: object) -> None:
    with pytest.raises(MisuseError, match="is no number of threads; give 1 or more"):
        paddable.load(padded_file(16, 1), threads=threads)  # type: ignore[arg-type]
