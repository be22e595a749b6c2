"""Greedy CTC against a loop that follows the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paddable.runtime.speech.ctc import greedy, log_softmax, top_k


def logits_for(path: list[int], classes: int = 4) -> np.ndarray:
    return np.eye(classes, dtype=np.float32)[path].reshape(-1, classes) * 5


@pytest.mark.parametrize("blank", [0, 3])
def test_every_path_of_four_frames(blank: int) -> None:
    for path in itertools.product(range(4), repeat=4):
        wanted = [label for label, _ in itertools.groupby(path) if label != blank]
        tokens = greedy(logits_for(list(path)), blank)
        assert [token.id for token in tokens] == wanted
        for token in tokens:
            assert set(path[token.start : token.end]) == {token.id}
            assert token.start == 0 or path[token.start - 1] != token.id
            assert token.end == 4 or path[token.end] != token.id


def test_no_frames() -> None:
    assert greedy(np.zeros((0, 5), np.float32), 0) == []


def test_probability_is_the_best_of_the_frames() -> None:
    logits = np.log(np.array([[0.2, 0.8], [0.1, 0.9], [0.6, 0.4]], np.float32))
    (token,) = greedy(logits, 0)
    assert token.probability == pytest.approx(0.9) and (token.start, token.end) == (0, 2)


def test_top_k_is_sorted_and_the_first_column_is_the_argmax() -> None:
    logits = np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
    values, classes = top_k(logits, 7)
    order = np.argsort(-logits, axis=1)[:, :7]
    assert np.array_equal(classes, order)
    assert np.allclose(values, np.take_along_axis(log_softmax(logits), order, 1))
    assert top_k(logits, 30)[1].shape == (20, 30)


def test_log_softmax_of_large_values() -> None:
    values = log_softmax(np.array([[1e4, 0.0], [-1e4, -1e4]], np.float32))
    assert values[0].tolist() == [0.0, -1e4] and np.allclose(values[1], np.log(0.5))


@pytest.mark.original
def test_frames_are_those_of_funasrs_forced_alignment() -> None:
    """FunASR aligns the greedy text once more to find its times; the best path needs no second search."""
    pytest.importorskip("funasr")
    import torch
    from funasr.models.sense_voice.utils.ctc_alignment import ctc_forced_align

    for seed in range(20):
        random = np.random.default_rng(seed)
        path = random.choice(6, 40, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
        logits = (np.eye(6)[path] * 3 + random.standard_normal((40, 6))).astype(np.float32)
        tokens = greedy(logits, blank=0)
        scores, text = torch.from_numpy(log_softmax(logits))[None], torch.tensor([[token.id for token in tokens]])
        aligned = ctc_forced_align(scores, text, torch.tensor([40]), torch.tensor([len(tokens)]))[0].tolist()
        runs, frame = [], 0
        for label, group in itertools.groupby(aligned):
            length = len(list(group))
            if label != 0:
                runs.append((label, frame, frame + length))
            frame += length
        assert [tuple(token[:3]) for token in tokens] == runs
