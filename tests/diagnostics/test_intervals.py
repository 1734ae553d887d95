"""95% intervals of sampled rows contain the value of all rows about as often as they say."""

import numpy as np
import pytest

from gramfold import diagnostics
from gramfold.diagnostics import Judged
from gramfold.diagnostics.intervals import mean_interval
from gramfold.diagnostics.pair_moments import PairMoments
from tests.diagnostics import plain
from tests.diagnostics.kinds import KINDS, kind

SAMPLED = (
    "trustworthiness",
    "continuity",
    "r_nx_area",
    "distance_correlation",
    "residual_variance",
    "stress",
    "triplet_accuracy",
    "silhouette",
)
EXACT = ("lcmc", "r_nx", "density_preservation", "neighborhood_purity")


def measured(name, judged, labels):
    extra = {"labels": labels} if name in {"silhouette", "neighborhood_purity"} else {}
    return getattr(diagnostics, name)(judged, **extra)


def exact_value(name, judged, labels):
    if name == "triplet_accuracy":  # drawn even of all rows
        everyone = np.arange(judged.n)
        return plain.triplets(judged.data.distances(everyone), judged.map.distances(everyone)).mean()
    found = measured(name, judged, labels)
    assert found.interval is None
    return found.value


def hits(names, table, n, size, seeds):
    """How often the interval of each measure contains the value of all rows."""
    rows, places, labels = kind(table, n)
    whole = Judged(rows, places, sample=n)
    true = {name: exact_value(name, whole, labels) for name in names}
    found = dict.fromkeys(names, 0)
    for seed in range(seeds):
        judged = Judged(rows, places, sample=size, random_state=seed)
        vars(judged).update(in_data=whole.in_data, on_map=whole.on_map)  # the same for all
        for name in names:
            low, high = measured(name, judged, labels).interval
            found[name] += low <= true[name] <= high
    return found


@pytest.mark.slow
@pytest.mark.parametrize("table", KINDS)
def test_intervals_contain_the_exact_value(table):
    assert min(hits(SAMPLED, table, 800, 150, 200).values()) >= 178  # 95% of 200 less four standard errors


@pytest.mark.parametrize("table", KINDS)
def test_intervals_contain_the_exact_value_of_few_rows(table):
    assert min(hits(SAMPLED, table, 300, 80, 25).values()) >= 19


@pytest.mark.slow
def test_intervals_are_no_wider_than_they_must_be():
    # the standard deviation over samples is a quarter of the width of an interval, about
    rows, places, labels = kind("digits", 800)
    whole = Judged(rows, places)
    for name in SAMPLED:
        values, widths = [], []
        for seed in range(100):
            judged = Judged(rows, places, sample=150, random_state=seed)
            vars(judged).update(in_data=whole.in_data, on_map=whole.on_map)
            found = measured(name, judged, labels)
            values.append(found.value)
            widths.append(found.interval[1] - found.interval[0])
        assert np.mean(widths) < 4 * 1.3 * np.std(values), name


@pytest.mark.parametrize("name", EXACT)
def test_what_needs_neighbours_alone_is_exact(name):
    rows, places, labels = kind("digits", 300)
    some, all_rows = (measured(name, Judged(rows, places, sample=size), labels) for size in (50, 300))
    assert some.interval is None
    assert some.value == all_rows.value


def test_curve_is_within_its_intervals():
    rows, places, _ = kind("digits", 400)
    exact = diagnostics.r_nx_curve(rows, places)
    inside = []
    for seed in range(10):
        some = diagnostics.r_nx_curve(rows, places, sample=100, random_state=seed)
        true = exact.r_nx[some.n_neighbors - 1]
        inside.append(np.mean((some.interval[:, 0] <= true) & (true <= some.interval[:, 1])))
        np.testing.assert_array_equal(some.n_neighbors[[0, -1]], [1, 398])
    assert np.mean(inside) > 0.8


def test_pair_moments_are_unbiased():
    rows, places, _ = kind("heavy tails", 60)
    exact = PairMoments.of(Judged(rows, places))
    unit = np.array([1, 0, 2, 0, 1]), np.array([0, 1, 0, 2, 1])

    def means(moments):  # in the units of the exact ones
        scale = [moments.units[side] / exact.units[side] for side in (0, 1)]
        return moments.means * scale[0] ** unit[0] * scale[1] ** unit[1]

    found = np.array([means(PairMoments.of(Judged(rows, places, sample=20, random_state=s))) for s in range(400)])
    error = found.std(axis=0) / np.sqrt(400)
    assert np.all(np.abs(found.mean(axis=0) - exact.means) < 4 * error)


def test_pair_moments_of_additive_pairs_have_no_error():
    # d_ij² = u_i + u_j for rows along axes of their own
    rng = np.random.default_rng(0)
    rows = np.diag(rng.standard_cauchy(200))  # with rows that are far from all others
    exact, some = (PairMoments.of(Judged(rows, rows[:, :2] + rng.random((200, 2)), sample=size)) for size in (200, 30))
    of_squares = some.means[2] * some.units[0] ** 2
    assert of_squares == pytest.approx(exact.means[2] * exact.units[0] ** 2, rel=1e-9)


@pytest.mark.parametrize("table", ["one far row", "three far rows", "far on the map"])
def test_few_rows_that_are_far_from_all_others(table):
    # they hold most of the sum of squares, and most samples miss them
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 6))
    if table == "one far row":
        rows[7] = 1e4
    elif table == "three far rows":
        rows[:3, 0], rows[:3, 5] = [300, 0, -200], [300, 500, 0]
    places = rows[:, :2].copy()
    if table == "far on the map":
        places[5] = 50
    whole, found = Judged(rows, places), []
    for seed in range(40):
        judged = Judged(rows, places, sample=80, random_state=seed)
        for measure in (diagnostics.stress, diagnostics.residual_variance):
            low, high = measure(judged).interval
            found.append(low <= measure(whole).value <= high)
    assert np.mean(found) > 0.85


def test_a_sample_without_fault_has_room_for_rows_that_were_missed():
    low, high = mean_interval(np.ones(100), 1_000, (0.0, 1.0))
    assert high == 1
    assert 0.96 < low < 0.98
    assert mean_interval(np.ones(10), 10, (0.0, 1.0)) is None
    rows = np.random.default_rng(0).standard_normal((400, 2))
    assert diagnostics.trustworthiness(rows, 2 * rows, sample=50).interval[0] < 1
