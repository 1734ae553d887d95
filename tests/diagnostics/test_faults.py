"""The four faults of a map, against plain loops, and on maps whose fault is known."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

from gramfold import PCA, Isomap
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import Judged, faults, lcmc, procrustes
from gramfold.diagnostics.four_faults import _cut, faults_of
from gramfold.diagnostics.plain_places import plain_places
from gramfold.diagnostics.strangers import Counts, Near, Places, all_rows
from gramfold.errors import InputError

K = 10


def sheet(n=500, seed=0):
    return np.random.default_rng(seed).random((n, 2)) * [2.0, 1.5]


def folded(Y):
    return np.column_stack([np.abs(Y[:, 0] - Y[:, 0].mean()), Y[:, 1]])


def by_loops(X, Y, k):
    """Shares of strangers and lost neighbours, and squared strain, of each row."""
    n, far = len(X), len(X) // 3
    in_data, on_map = cdist(X, X), cdist(Y, Y)
    glued, torn, changes = np.zeros(n), np.zeros(n), []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        near_in_data = sorted(others, key=lambda j: (in_data[i, j], j))
        near_on_map = sorted(others, key=lambda j: (on_map[i, j], j))
        third_in_data, third_on_map = in_data[i, near_in_data[far - 1]], on_map[i, near_on_map[far - 1]]
        glued[i] = np.mean([in_data[i, j] > third_in_data for j in near_on_map[:k]])
        lost = [on_map[i, j] > third_on_map for j in near_in_data[:k]]
        torn[i] = np.mean(lost)
        changes.append(
            [on_map[i, j] / in_data[i, j] for j, gone in zip(near_in_data[:k], lost, strict=True) if not gone]
        )
    middle = np.median(np.concatenate(changes))
    strain = [np.mean(np.minimum(np.abs(np.array(one) / middle - 1), 1) ** 2) if one else np.nan for one in changes]
    return glued, torn, np.array(strain)


@pytest.mark.parametrize("make", [folded, lambda Y: Y * [3, 1], lambda Y: np.random.default_rng(1).permutation(Y)])
def test_counts_are_those_of_loops(make):
    X = np.column_stack([sheet(300), 0.1 * np.random.default_rng(2).standard_normal((300, 3))])
    found = faults(X, make(X[:, :2]))
    glued, torn, strain = by_loops(X, make(X[:, :2]), K)
    np.testing.assert_allclose(found.glued.per_point, glued, atol=1e-12)
    np.testing.assert_allclose(found.torn.per_point, torn, atol=1e-12)
    np.testing.assert_allclose(found.strained.per_point, np.sqrt(strain), atol=1e-12)
    assert found.glued.total == pytest.approx(glued.mean())
    assert found.strained.total == pytest.approx(np.sqrt(np.nanmean(strain)))


def test_the_plain_map_is_that_of_pca():
    X = load_iris().data
    found, true = (cdist(Y, Y) for Y in (plain_places(Judged(X, X[:, :2]), 2), PCA(2).fit_transform(X)))
    np.testing.assert_allclose(found / found.max(), true / true.max(), atol=1e-7)


def test_a_cut_parts_as_many_edges_as_the_formula_says():
    for p, n in ((1, 2000), (2, 3000), (3, 3000)):
        Y = np.random.default_rng(p).random((n, p))
        judged = Judged(Y, Y, n_neighbors=K)
        crossed = (Y[:, 0] < 0.5) != (Y[judged.in_data.indices.reshape(n, K), 0] < 0.5).T
        assert crossed.mean() == pytest.approx(4 * _cut(judged, p), rel=0.25)


# --- maps whose fault is known


@pytest.mark.parametrize(
    ("fault", "make"),
    [
        ("glued", folded),
        ("torn", lambda Y: Y + [5.0, 0.0] * (Y[:, :1] > Y[:, 0].mean())),
        ("strained", lambda Y: np.exp(2 * Y)),
        ("strained", lambda Y: Y * [6.0, 1.0]),
        ("collapsed", lambda Y: Y * [1.0, 1e-6]),
        ("collapsed", lambda Y: np.vstack([Y[:-1], [[1e4, 1e4]]])),
        ("collapsed", np.round),
    ],
)
def test_a_planted_fault_is_named(fault, make):
    X = sheet()
    assert faults(X, make(X)).named == [fault]


def test_a_map_of_noise_has_strangers():
    X = np.random.default_rng(0).standard_normal((400, 60))
    assert "glued" in faults(X, PCA(2).fit_transform(X)).named


@pytest.mark.parametrize("move", [lambda Y: Y, lambda Y: 1e-9 * Y + 5, lambda Y: Y @ [[0.6, 0.8], [-0.8, 0.6]]])
def test_good_maps_have_none(move):
    roll = make_swiss_roll(800, random_state=0)
    assert faults(roll.points, move(roll.truth)).named == []
    assert faults(roll.points, move(Isomap().fit_transform(roll.points))).named == []


def test_the_fault_is_where_it_was_put():
    X = sheet(600)
    moved = X.copy()
    corner = np.flatnonzero((X < 0.5).all(axis=1))
    moved[corner] += [1.2, 0.8]  # onto rows at the other end
    found = faults(X, moved)
    assert found.glued.named
    others = np.setdiff1d(np.arange(600), corner)
    assert found.glued.per_point[corner].mean() > 5 * found.glued.per_point[others].mean()


def test_trustworthiness_of_a_collapsed_map_deceives_nobody():
    X = load_digits().data
    Y = PCA(2).fit_transform(X)
    Y[5] = [1e5, -1e5]
    found = faults(X, Y)
    assert found.collapsed.named
    assert "dominated by row 5" in found.collapsed.words


def test_rows_that_cannot_be_told_apart_are_judged_by_nothing_else():
    X = sheet()
    found = faults(X, np.round(X))
    assert np.isnan(found.glued.total)
    assert not found.glued.named
    assert found.glued.words.startswith("not judged")


def test_data_with_an_outlier_may_have_a_map_with_one():
    X = np.vstack([sheet(300), [[500.0, 500.0]]])
    assert faults(X, X).named == []


# --- inputs


def test_copies_have_one_place():
    X = np.repeat(sheet(150), 3, axis=0)
    found = faults(X, X)
    assert found.named == []
    assert found.collapsed.total < 0.05


def test_rows_without_a_place_are_left_out():
    X = sheet(300)
    Y = folded(X)
    Y[[3, 40]] = np.nan
    found = faults(X, Y)
    assert np.isnan(found.glued.per_point[[3, 40]]).all()
    kept = np.delete(np.arange(300), [3, 40])
    np.testing.assert_array_equal(found.glued.per_point[kept], faults(X[kept], Y[kept]).glued.per_point)


def test_sparse_rows_distances_and_models_are_judged_alike():
    X, Y = sheet(200), folded(sheet(200))
    totals = [fault.total for fault in faults(X, Y)]
    for given, how in ((csr_array(X), {}), (cdist(X, X), {"metric": "precomputed"}), (Judged(X, Y), {})):
        found = faults(given, None if isinstance(given, Judged) else Y, **how)
        np.testing.assert_allclose([fault.total for fault in found], totals, atol=1e-9)
    model = Isomap().fit(X)
    assert [one.total for one in faults(model)] == [one.total for one in faults(X, model.embedding_)]


def test_other_metrics_are_compared_with_classical_scaling():
    X = np.abs(np.random.default_rng(0).standard_normal((300, 5)))
    found = faults(X, PCA(2).fit_transform(X), metric="cityblock")
    assert 0 < found.glued.plain < found.glued.chance


# --- samples


@pytest.mark.parametrize("name", ["glued", "torn", "strained"])
def test_the_interval_of_a_sample_holds_the_total(name):
    X = np.column_stack([sheet(1200), 0.3 * np.random.default_rng(3).standard_normal((1200, 2))])
    Y = folded(X[:, :2])
    Y[:200] += [0.0, 4.0]
    true = getattr(faults(X, Y), name).total
    held = 0
    for seed in range(10):
        low, high = getattr(faults(X, Y, sample=200, random_state=seed), name).interval
        held += low <= true <= high
    assert held >= 8


def test_beyond_a_sample_every_row_has_its_values():
    X = sheet(1200)
    Y = folded(X)
    exact, sampled = faults(X, Y), faults(X, Y, sample=100)
    assert not np.isnan(sampled.glued.per_point).any()
    assert np.abs(sampled.glued.per_point - exact.glued.per_point).mean() < 0.05


def test_all_rows_are_as_a_sample_of_all():
    X = sheet(250)
    judged = Judged(X, folded(X))
    places = Places.of(judged.map)
    rows = np.arange(250)
    exact = [Near.exactly(table, rows, K, None) for table in (judged.data, judged.map)]
    by_few = all_rows(judged)
    for one, other in zip(exact, by_few, strict=True):
        np.testing.assert_array_equal(one.indices, other.indices)
        np.testing.assert_allclose(one.distances, other.distances, atol=1e-12)
    near = [Counts.of(rows, *sides, judged.data, places, groups=None, flat=False).glued for sides in (exact, by_few)]
    assert np.abs(near[0] - near[1]).mean() < 0.02


def test_groups_on_one_another_are_strangers_however_near():
    """Of eight groups the two nearest: each is among the nearest third of the other's rows."""
    rng = np.random.default_rng(0)
    centers = np.vstack([[0.0, 0, 0], [100.0, 0, 0], *([1000 * np.cos(a), 1000 * np.sin(a), 0] for a in range(6))])
    group = np.repeat(np.arange(8), 60)
    within = rng.standard_normal((480, 3))
    spots = 100 * np.column_stack([np.cos(np.arange(8)), np.sin(np.arange(8))])
    good = spots[group] + within[:, :2]
    merged = np.where((group == 1)[:, None], spots[0] + within[:, :2], good)
    X = centers[group] + within
    assert faults(X, good).named == []
    found = faults(X, merged)
    assert found.named == ["glued"]
    assert found.glued.per_point[group < 2].mean() == pytest.approx(0.5, abs=0.05)
    assert not found.glued.per_point[group >= 2].any()
    assert "or in another group" in found.glued.words


def test_groups_of_a_large_table_are_found_in_a_sample():
    rng = np.random.default_rng(1)
    group = np.arange(4000) % 8
    X = 40.0 * np.eye(8)[group] + rng.standard_normal((4000, 8))
    spots = 50 * np.column_stack([np.cos(np.arange(8)), np.sin(np.arange(8))])
    merged = spots[np.where(group == 1, 0, group)] + X[:, :2] - 40.0 * np.eye(8)[group][:, :2]
    for every_row in (True, False):
        assert "glued" in faults_of(Judged(X, merged, sample=300), every_row=every_row).named


@pytest.mark.parametrize("n", [20, 30, 45])
def test_few_rows_with_a_little_noise_have_no_fault(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        X = rng.random((n, 2))
        assert faults(X, X + 0.02 * rng.standard_normal((n, 2)), n_neighbors=min(K, n // 3)).named == []
        assert {"glued", "torn"} <= set(faults(X, rng.random((n, 2)), n_neighbors=min(K, n // 3)).named)


def test_a_third_coordinate_of_zeros_changes_nothing():
    X = sheet()
    for Y in (X, folded(X)):
        flat, deep = faults(X, Y), faults(X, np.column_stack([Y, np.zeros(len(Y))]))
        assert deep.named == flat.named
        assert deep.torn.total == flat.torn.total


def test_neighbors_that_are_kept_are_those_of_the_measures():
    """Of many copies the lower numbers are the neighbours, here as there."""
    X = np.repeat(sheet(40), 12, axis=0)
    assert faults(X, X[:, ::-1]).kept.value == pytest.approx(lcmc(X, X[:, ::-1]).value + K / (len(X) - 1))


# --- words and errors


def test_words_say_what_was_found_and_what_is_usual():
    found = faults(sheet(), folded(sheet()))
    assert found.glued.words == (
        "32% of the 10 nearest rows on the map are strangers, beyond the nearest third of all rows in the data (PCA: "
        "0%, chance: 67%)"
    )
    assert repr(found) == "Faults(glued)"
    assert repr(found.glued).startswith("Fault(glued: 0.319")
    assert [fault.name for fault in found] == ["glued", "torn", "strained", "collapsed"]


def test_a_judged_has_its_own_neighbors():
    with pytest.raises(InputError, match="n_neighbors=5 was given with a Judged"):
        faults(Judged(sheet(), sheet()), n_neighbors=5)


def test_neighbors_kept_are_those_in_both_lists():
    X = sheet(200)
    Y = folded(X)
    judged = Judged(X, Y)
    lists = zip(judged.in_data.indices.reshape(-1, K), judged.on_map.indices.reshape(-1, K), strict=True)
    np.testing.assert_allclose(
        faults(judged).kept.per_point, [len(set(first) & set(second)) / K for first, second in lists]
    )
    assert faults(X, X).kept.value == 1.0


# --- what users found


@pytest.mark.parametrize("aspect", [1, 5, 10])
def test_a_cut_through_a_long_sheet_is_a_tear(aspect):
    X = np.random.default_rng(0).random((1000, 2)) * [aspect, 1.0]
    assert "torn" in faults(X, X + np.where(X[:, :1] > aspect / 2, [3.0 * aspect, 0.0], 0.0)).named


def test_a_wide_gap_hides_no_tear():
    X = sheet(1000)
    found = faults(X, X + np.where(X[:, :1] > 1.0, [200.0, 0.0], 0.0))
    assert found.named == ["torn", "collapsed"]
    assert "nearer than 0.0005 of the width of the map" in found.collapsed.words


def test_neighbors_are_a_third_at_most():
    X = sheet(30)
    with pytest.raises(InputError, match="use n_neighbors <= 10"):
        faults(X, X, n_neighbors=11)


def test_rows_whose_neighbors_are_all_copies():
    X = np.repeat(sheet(3), 20, axis=0)
    found = faults(X, X)
    assert found.named == []
    assert np.isnan(found.strained.total)


@pytest.mark.parametrize("unit", [1e-310, 1e305])
def test_the_unit_of_distances_does_not_matter(unit):
    X = sheet(60)
    D = cdist(X, X)
    found, same = faults(D * unit, folded(X), metric="precomputed"), faults(D, folded(X), metric="precomputed")
    assert found.named == same.named
    assert found.strained.total == pytest.approx(same.strained.total, rel=1e-3)


@pytest.mark.parametrize("n", [1200, 2000])
def test_thresholds_do_not_follow_the_seed(n):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 2)) * 2, rng.normal(size=(n, 8))])
    Y = X[:, 2:4]
    found = [[fault.threshold for fault in faults(X, Y, random_state=seed)] for seed in range(3)]
    np.testing.assert_allclose(found, np.tile(found[0], (3, 1)), rtol=2e-3)  # chance on the map is drawn


def test_the_plain_map_of_many_rows_is_that_of_pca():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * [5, 4, 3, 2, 1, 1]
    judged = Judged(X, X[:, :2])
    assert procrustes(plain_places(judged, 2), PCA(2).fit_transform(X)).value < 1e-12
    distances = Judged(cdist(X[:400], X[:400]), X[:400, :2], metric="precomputed")
    assert procrustes(plain_places(distances, 2), PCA(2).fit_transform(X[:400])).value < 1e-12
    line = np.column_stack([X[:, 0], 2 * X[:, 0]])
    assert plain_places(Judged(line, X[:, :2]), 2).shape == (1500, 1)
