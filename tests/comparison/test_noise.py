"""The error of a margin: against loops over pairs, and against many maps that differ by noise alone."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from gramfold.comparison.judging import PURPOSES, judge_map
from gramfold.diagnostics import Judged, measures
from gramfold.diagnostics.intervals import half_width
from tests.comparison import plain

DIGITS, KINDS = load_digits(return_X_y=True)


@pytest.mark.parametrize("purpose", ["local", "clusters"])
def test_noise_is_that_of_pairs_that_share_a_row(purpose):
    rng = np.random.default_rng(0)
    rows, labels, k = rng.random((24, 3)), rng.integers(3, size=24), 4
    maps = [rows[:, :2], rows[:, 1:] + 0.3 * rng.random((24, 2))]
    judged = Judged(rows, maps[0], n_neighbors=k)
    found = [judge_map(judged.with_map(places), labels) for places in maps]
    slow = [plain.pair_values(purpose, rows, places, k, labels) for places in maps]
    measure, _ = PURPOSES[purpose]
    for one, pairs in zip(found, slow, strict=True):
        assert one.measures[measure].value == pytest.approx(np.mean(list(pairs.values())), abs=1e-12)
    expected = half_width(plain.margin_variance(*slow), 23)
    assert found[0].added[measure].noise(found[1].added[measure]) == pytest.approx(expected, rel=1e-9)
    assert found[0].added[measure].noise(found[0].added[measure]) == pytest.approx(0.0, abs=1e-9)


def test_what_a_row_adds_is_what_is_lost_without_it():
    measure = "distance_correlation"
    rows, places = DIGITS[:150], PCA(2).fit_transform(DIGITS[:150])
    judged = Judged(rows, places)
    added = judge_map(judged, None).added[measure].by_row
    whole = measures(judged)[measure].value
    without = [measures(np.delete(rows, i, 0), np.delete(places, i, 0))[measure].value for i in range(20)]
    lost = whole - np.array(without)  # the jackknife: to first order what the row adds
    assert np.corrcoef(lost, added[:20])[0, 1] > 0.99
    assert np.polyfit(added[:20], lost, 1)[0] == pytest.approx(1.0, abs=0.1)


def test_a_row_adds_to_the_strain_twice_what_is_lost_without_its_own_edges():
    found = judge_map(Judged(DIGITS[:150], PCA(2).fit_transform(DIGITS[:150])), None)
    squares = found.measures["strain"].per_point ** 2
    without = [np.sqrt(np.mean(np.delete(squares, i))) for i in range(150)]
    lost = found.measures["strain"].value - np.array(without)
    assert found.added["strain"].by_row == pytest.approx(2 * lost, abs=1e-4)
    assert np.abs(lost).max() > 1e-3


def ties(rows, places, labels, noise, repeats, sample=None):
    """Share of pairs of maps that differ by noise alone whose margin is within the noise, for each purpose."""
    rng, judged = np.random.default_rng(0), Judged(rows, places, sample=sample)
    level = dict.fromkeys(PURPOSES, 0)
    for _ in range(repeats):
        first, second = (
            judge_map(judged.with_map(places + noise * places.std() * rng.standard_normal(places.shape)), labels)
            for _ in range(2)
        )
        for purpose, (measure, _) in PURPOSES.items():
            margin = abs(first.measures[measure].value - second.measures[measure].value)
            level[purpose] += margin <= first.added[measure].noise(second.added[measure])
    return {purpose: count / repeats for purpose, count in level.items()}


def test_maps_that_differ_by_noise_are_level_95_times_of_100():
    sheet = np.random.default_rng(1).random((120, 2)) * [2, 1]
    rows = np.column_stack([sheet, 0.3 * np.sin(4 * sheet[:, 0])])
    for purpose, share in ties(rows, sheet, (2 * sheet[:, 0]).astype(int), 0.1, 150).items():
        assert share >= 0.90, purpose  # two standard errors of 150 repeats below 0.95, and a little


@pytest.mark.slow
@pytest.mark.parametrize("sample", [None, 150])
@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_also_on_digits_and_on_rows_drawn(noise, sample):
    found = ties(DIGITS[:400], PCA(2).fit_transform(DIGITS[:400]), KINDS[:400], noise, 150, sample)
    for purpose, share in found.items():
        assert share >= 0.90, purpose


def test_a_small_but_true_difference_is_seen():
    rng = np.random.default_rng(0)
    sheet = rng.random((400, 2)) * [2, 1]
    judged = Judged(sheet, sheet)
    better, worse = (
        judge_map(judged.with_map(sheet + noise * rng.standard_normal(sheet.shape)), (3 * sheet[:, 0]).astype(int))
        for noise in (0.03, 0.05)
    )
    for purpose, (measure, higher) in PURPOSES.items():
        margin = (better.measures[measure].value - worse.measures[measure].value) * (1 if higher else -1)
        if purpose != "clusters":
            assert margin > better.added[measure].noise(worse.added[measure]), purpose
