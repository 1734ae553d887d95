import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, lil_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.neighbors import kneighbors_graph

from gramfold import LLE, LTSA, ClassicalMDS, Isomap, KernelPCA, LaplacianEigenmaps, OrientedPCA, ProjectionPursuit
from gramfold.datasets import make_punctured_sphere, make_s_curve, make_swiss_roll, make_twin_peaks
from gramfold.embedding.degenerate import taken_axis, warn_of_degenerate_map
from gramfold.errors import DegenerateMapWarning
from gramfold.kernels.plain_map import all_distances, rows_by
from gramfold.neighbors.metrics import Metric

EUCLIDEAN = Metric("euclidean", "euclidean")
QUIET = pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")


def scaled(load):
    rows = load(return_X_y=True)[0]
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def sentence(places, data, **settings):
    """What is said of a map; empty where nothing is."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_degenerate_map(places, data, "this or that", **settings)
    assert all(one.category is DegenerateMapWarning for one in told)
    return "".join(str(one.message) for one in told)


# --- what is found, on maps made by hand


def square(n=500, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, 2))


def test_rows_that_take_an_axis_are_named():
    places = square()
    rows = places.copy()
    places[[40, 3, 17], 1] += 50
    told = sentence(places, rows_by(EUCLIDEAN, rows))
    assert told.startswith("coordinate 2 is dominated by 2 rows (")
    assert told.endswith(". Try this or that.")
    assert set(taken_axis(places[:, 1]).rows) < {3, 17, 40}
    assert taken_axis(places[:, 0]) is None


def test_rows_that_are_as_far_out_in_the_data_take_nothing():
    rows = square()
    rows[[40, 3, 17], 1] += 50
    assert taken_axis(rows[:, 1]).share < 0.03
    assert sentence(rows, rows_by(EUCLIDEAN, rows)) == ""
    assert sentence(rows, all_distances(cdist(rows, rows))) == ""
    assert "coordinate 2 is dominated" in sentence(rows, None)  # nobody knows, and so it is said
    noise = 0.1 * np.random.default_rng(1).standard_normal((500, 30))
    assert sentence(rows, rows_by(EUCLIDEAN, np.hstack([rows, noise]))) == ""


@pytest.mark.parametrize("n", [200, 5_000, 100_000])
def test_honest_tails_take_nothing(n):
    rng = np.random.default_rng(0)
    for places in (rng.standard_t(3, (n, 2)), np.exp(rng.standard_normal((n, 2))), rng.standard_normal((n, 2))):
        assert sentence(places, rows_by(EUCLIDEAN, places)) == ""


def test_a_group_of_a_fiftieth_is_no_outlier():
    rng = np.random.default_rng(0)
    small = np.arange(1000) < 30
    constant = np.column_stack([small + 1e-2 * rng.standard_normal(1000), rng.uniform(size=1000)])
    assert taken_axis(constant[:, 0]) is None


def test_few_places_are_counted():
    rows = square(700, seed=1)
    dots = np.round(4 * rows)  # 5 x 5 of them
    told = sentence(dots, rows_by(EUCLIDEAN, rows), keeps_neighbors=False)
    assert (
        "600 distinct rows of a sample have only 25 distinct positions (to within 0.05% of the size of the embedding)"
        in told
    )
    assert sentence(dots, rows_by(EUCLIDEAN, dots)) == "", "copies share a place"
    assert sentence(dots, rows_by(EUCLIDEAN, dots + 1e-9 * rows)) == "", "and rows that are nearly copies"
    assert "600 distinct rows" in sentence(dots, None)


@pytest.mark.parametrize("curve", [lambda t: t, np.cos, lambda t: np.column_stack([np.cos(t), np.sin(t)])])
def test_a_curve_has_places_enough(curve):
    places = curve(np.random.default_rng(0).uniform(0, np.pi, 3000)).reshape(3000, -1)
    assert sentence(places, rows_by(EUCLIDEAN, places)) == ""


def test_lost_neighbours_are_told():
    rng = np.random.default_rng(0)
    rows = np.hstack([square(), 0.05 * rng.standard_normal((500, 5))])
    mixed = rows[:, :2].copy()
    assert sentence(mixed, rows_by(EUCLIDEAN, rows)) == ""
    lost = rng.permutation(500)[:150]
    mixed[lost] = mixed[np.roll(lost, 1)]
    told = sentence(mixed, rows_by(EUCLIDEAN, rows))
    assert "are not even among the nearest third of all rows in the data (PCA: less than 1%)" in told
    assert sentence(mixed, rows_by(EUCLIDEAN, rows), keeps_neighbors=False) == ""
    assert "nearest third" in sentence(mixed, all_distances(cdist(rows, rows)))
    assert "nearest third" in sentence(mixed, rows_by(EUCLIDEAN, csr_array(rows)))


def test_any_size_is_told_alike():
    rows = square()
    places = rows.copy()
    places[[40, 3, 17], 1] += 50
    plain = sentence(places, rows_by(EUCLIDEAN, rows))
    assert sentence(1e200 * places, rows_by(EUCLIDEAN, rows)) == plain
    assert sentence(1e-200 * places, rows_by(EUCLIDEAN, rows)) == plain
    assert sentence(places.astype(np.float32), rows_by(EUCLIDEAN, rows.astype(np.float32))) == plain


def test_nothing_is_said_of_few_rows_or_none():
    places = square(49)
    places[0] = 1e9
    assert sentence(places, None) == ""
    assert sentence(np.zeros((100, 2)), None) == ""
    partly = np.vstack([square(100), np.full((200, 2), np.nan)])
    assert sentence(partly, rows_by(EUCLIDEAN, np.vstack([square(100), square(200, 1)]))) == ""


def test_the_plain_map_is_that_of_pca():
    rows = load_digits().data[:300]
    U, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    everybody = np.arange(300)
    truth = cdist(U[:, :2] * s[:2], U[:, :2] * s[:2])
    for data in (rows_by(EUCLIDEAN, rows), rows_by(EUCLIDEAN, csr_array(rows)), all_distances(cdist(rows, rows))):
        plain = data.plain_map(everybody, 2)
        np.testing.assert_allclose(cdist(plain, plain), truth, atol=0.05 * truth.max())
        np.testing.assert_allclose(data.squares(everybody[:9], everybody), cdist(rows[:9], rows) ** 2, atol=1e-8)


def test_of_other_metrics_nothing_is_compared():
    rows = square()
    assert rows_by(Metric("minkowski", "cityblock", p=1.0), rows) is None
    assert all_distances(csr_array(cdist(rows, rows))) is None
    assert all_distances(cdist(rows, rows[:9])) is None
    cosine = Metric("euclidean", "cosine")
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(
        rows_by(cosine, rows).squares(np.arange(9), np.arange(500)), cdist(unit[:9], unit) ** 2, atol=1e-12
    )


# --- what is said of real maps


def test_local_maps_of_tables_are_told():
    with pytest.warns(
        DegenerateMapWarning, match=r"coordinate 1 is dominated by row \d+: .*Try another n_neighbors \(now 8"
    ):
        LTSA(2, 8).fit(scaled(load_breast_cancer))
    with pytest.warns(DegenerateMapWarning, match=r"nearest third.*Try Isomap or ModifiedLLE, a larger reg"):
        LLE(2, 15).fit(scaled(load_wine))


@QUIET
def test_groups_on_dots_are_told():
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((5, 50))
    rows = centers[rng.integers(0, 5, 400)] + rng.standard_normal((400, 50))
    with pytest.warns(
        DegenerateMapWarning, match=r"have only \d+ distinct positions.*the embedding may separate groups"
    ):
        LaplacianEigenmaps().fit(rows)
    D = cdist(rows, rows)
    with pytest.warns(DegenerateMapWarning, match="distinct positions"):
        LaplacianEigenmaps(metric="precomputed").fit(D)


def test_a_graph_alone_is_told_by_its_coordinates():
    rows = np.random.default_rng(0).standard_normal((400, 5))
    graph = lil_array((404, 404))
    graph[:400, :400] = kneighbors_graph(rows, 40, mode="distance")
    for i in range(400, 404):  # a tail of four
        graph[i - 1, i] = 1.0
    with pytest.warns(
        DegenerateMapWarning, match=r"coordinate 1 is localised on 4 rows \(such as 400, 401, 402\), which 1 edge"
    ):
        LaplacianEigenmaps(metric="precomputed").fit(csr_array(graph))


@pytest.mark.parametrize("cls", [Isomap, LLE, LTSA, LaplacianEigenmaps], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("make", [make_s_curve, make_swiss_roll, make_twin_peaks, make_punctured_sphere])
@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_sheets_are_not_accused(cls, make):
    cls(2, 10).fit(make(800, random_state=0).points)  # warnings are errors


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_digits_and_rings_are_not_accused():
    rows = load_digits().data[:600]
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 500)
    ring = np.column_stack([np.cos(angles), np.sin(angles), 0.3 * np.sin(2 * angles)])
    for points in (rows, ring):
        for cls in (Isomap, LaplacianEigenmaps, KernelPCA, ClassicalMDS):
            cls(2).fit(points)


def test_a_true_outlier_stays_true_on_maps_of_distances():
    rows = np.hstack([square(), 0.01 * np.random.default_rng(1).standard_normal((500, 4))])
    rows[7] += 8
    assert taken_axis(Isomap().fit(rows).embedding_[:, 0]).rows[0] == 7
    ClassicalMDS().fit(rows)
    ClassicalMDS(metric="precomputed").fit(cdist(rows, rows))


def test_projections_show_rows_as_they_lie_unless_they_pursue_one():
    rows = load_digits().data[:375]
    OrientedPCA().fit(rows)
    with pytest.warns(DegenerateMapWarning, match="another index, or fewer columns"):
        ProjectionPursuit().fit(rows)


def test_supervised_maps_are_not_judged_by_neighbours():
    from gramfold import LPP

    rng = np.random.default_rng(0)
    rows = np.column_stack([10 * rng.standard_normal((400, 4)), rng.standard_normal(400)])
    classes = (rows[:, 4] > 0).astype(int)
    LPP(1, graph="classes").fit(rows, classes)  # along the least of the columns


def test_a_look_is_the_same_every_time():
    rows = scaled(load_breast_cancer)
    with pytest.warns(DegenerateMapWarning) as first:
        LTSA(2, 8).fit(rows)
    with pytest.warns(DegenerateMapWarning) as second:
        LTSA(2, 8).fit(rows.copy())
    assert str(first[0].message) == str(second[0].message)


def test_one_row_far_from_all_others_is_told_though_it_is_so_in_the_data():
    rows = np.random.default_rng(0).standard_normal((300, 5))
    rows[7] = 1000
    with pytest.warns(DegenerateMapWarning, match=r"coordinate 1 is dominated by row 7: .* less than 1% of its range"):
        Isomap().fit(rows)
