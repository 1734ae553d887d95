"""Every measure against its formula over whole matrices, scikit-learn and ZADU, on tables of five kinds."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness as by_scikit_learn
from sklearn.metrics import silhouette_samples

from gramfold import diagnostics
from gramfold.diagnostics import Judged, Measure
from tests.diagnostics import plain
from tests.diagnostics.kinds import KINDS, kind

N, K = 300, 12


@pytest.fixture(scope="module", params=KINDS)
def table(request):
    rows, places, labels = kind(request.param, N)
    # on a map of its own a copy is at distance 0 to the bit
    return rows, places.round(6), labels, Judged(rows, places.round(6), n_neighbors=K)


def close(measure, values):
    assert measure.interval is None
    np.testing.assert_allclose(measure.value, np.mean(values), rtol=0, atol=1e-10)
    np.testing.assert_allclose(measure.per_point, values, rtol=0, atol=1e-10)


def test_trustworthiness_and_continuity(table):
    *_, judged = table
    D, E = judged.data.distances(np.arange(N)), judged.map.distances(np.arange(N))
    close(diagnostics.trustworthiness(judged), plain.trustworthiness(D, E, K))
    close(diagnostics.continuity(judged), plain.trustworthiness(E, D, K))


@pytest.mark.parametrize("name", ["roll", "outliers", "heavy tails"])  # without ties
def test_trustworthiness_is_that_of_scikit_learn(name):
    rows, places, _ = kind(name, N)
    found = diagnostics.trustworthiness(rows, places, n_neighbors=K)
    assert found.value == pytest.approx(by_scikit_learn(rows, places, n_neighbors=K), abs=1e-12)


def test_lcmc_and_r_nx(table):
    *_, judged = table
    q = plain.q_nx(judged.data.distances(np.arange(N)), judged.map.distances(np.arange(N)), K)
    close(diagnostics.lcmc(judged), q - K / (N - 1))
    close(diagnostics.r_nx(judged), ((N - 1) * q - K) / (N - 1 - K))


def test_curve_and_area(table):
    *_, judged = table
    scales, q, r = plain.r_nx_curve(judged.data.distances(np.arange(N)), judged.map.distances(np.arange(N)))
    curve = diagnostics.r_nx_curve(judged)
    np.testing.assert_array_equal(curve.n_neighbors, scales)
    np.testing.assert_allclose(curve.q_nx, q, atol=1e-10)
    np.testing.assert_allclose(curve.r_nx, r, atol=1e-10)
    assert curve.interval is None
    assert curve.r_nx[K - 1] == pytest.approx(diagnostics.r_nx(judged).value, abs=1e-12)
    area = diagnostics.r_nx_area(judged)
    assert area.value == pytest.approx(np.sum(r / scales) / np.sum(1 / scales), abs=1e-10)
    assert area.value == pytest.approx(np.mean(area.per_point), abs=1e-12)


def test_of_all_distances(table):
    rows, places, _, judged = table
    upper = np.triu_indices(N, 1)
    d, y = cdist(rows, rows)[upper], cdist(places, places)[upper]
    scale = d @ y / (y @ y)
    assert diagnostics.distance_correlation(judged).value == pytest.approx(spearmanr(d, y).statistic, abs=1e-10)
    unexplained = 1 - np.corrcoef(d, y)[0, 1] ** 2
    assert diagnostics.residual_variance(judged).value == pytest.approx(unexplained, abs=1e-10)
    stress = np.sqrt(np.sum((d - scale * y) ** 2) / (d @ d))
    assert diagnostics.stress(judged).value == pytest.approx(stress, abs=1e-10)
    as_it_is = np.sqrt(np.sum((d - y) ** 2) / (d @ d))
    assert diagnostics.stress(judged, scale=False).value == pytest.approx(as_it_is, abs=1e-10)


def test_stress_of_each_row(table):
    rows, places, _, judged = table
    D, E = plain.distances(rows, places)
    scale = (D * E).sum() / (E * E).sum()
    of_rows = np.sqrt(((D - scale * E) ** 2).sum(axis=1) / (D**2).sum(axis=1))
    np.testing.assert_allclose(diagnostics.stress(judged).per_point, of_rows, atol=1e-7)


def test_stress_is_the_same_by_either_distance():
    rows, places, _ = kind("digits", 100)
    there, back = diagnostics.stress(rows, places).value, diagnostics.stress(places, rows).value
    assert there == pytest.approx(back, abs=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_triplets(name):
    rows, places, _ = kind(name, 60)
    judged = Judged(rows, places.round(6))
    everyone = np.arange(60)
    D, E = judged.data.distances(everyone), judged.map.distances(everyone)
    close(diagnostics.triplet_accuracy(judged), plain.triplets(D, E))


def test_density(table):
    *_, judged = table
    D, E = judged.data.distances(np.arange(N)), judged.map.distances(np.arange(N))
    with np.errstate(divide="ignore"):
        first, second = plain.log_radii(D, K), plain.log_radii(E, K)
    known = np.isfinite(first) & np.isfinite(second)
    found = diagnostics.density_preservation(judged)
    assert found.value == pytest.approx(np.corrcoef(first[known], second[known])[0, 1], abs=1e-10)
    assert np.nanmean(found.per_point) == pytest.approx(found.value, abs=1e-12)
    np.testing.assert_array_equal(np.isnan(found.per_point), ~known)


def test_labels(table):
    *_, labels, judged = table
    D, E = judged.data.distances(np.arange(N)), judged.map.distances(np.arange(N))
    close(diagnostics.neighborhood_purity(judged, labels=labels), plain.purity(E, labels, K))
    close(diagnostics.neighborhood_purity(judged, labels=labels, on="data"), plain.purity(D, labels, K))
    close(diagnostics.silhouette(judged, labels=labels), silhouette_samples(E, labels, metric="precomputed"))


def test_a_row_alone_in_its_group_has_no_silhouette():
    rows, places, _ = kind("digits", 30)
    labels = ["a"] * 14 + ["b"] * 15 + ["alone"]
    close(diagnostics.silhouette(rows, places, labels), silhouette_samples(places, labels))


def test_all_measures_are_those_of_zadu():
    pytest.importorskip("zadu")
    from zadu.measures import (
        local_continuity_meta_criteria,
        neighborhood_hit,
        pearson_r,
        scale_normalized_stress,
        spearman_rho,
        stress,
        trustworthiness_continuity,
    )

    for name in ("roll", "outliers", "heavy tails"):  # at ties ZADU has an order of its own
        rows, places, labels = kind(name, N)
        found = diagnostics.measures(rows, places, labels, n_neighbors=K)
        ranked = trustworthiness_continuity.measure(rows, places, k=K)
        theirs = {
            **ranked,
            "lcmc": local_continuity_meta_criteria.measure(rows, places, k=K)["lcmc"],
            "neighborhood_purity": neighborhood_hit.measure(places, labels, k=K)["neighborhood_hit"],
            "residual_variance": 1 - pearson_r.measure(rows, places)["pearson_r"] ** 2,
            "stress": scale_normalized_stress.measure(rows, places)["scale_normalized_stress"],
            "distance_correlation": spearman_rho.measure(rows, places)["spearman_rho"],
        }
        for measure, value in theirs.items():
            assert found[measure].value == pytest.approx(value, abs=1e-10), (name, measure)
        unscaled = diagnostics.stress(rows, places, scale=False).value
        assert unscaled == pytest.approx(stress.measure(rows, places)["stress"], abs=1e-10)


def test_measures_are_each_of_them():
    rows, places, labels = kind("digits", 200)
    found = diagnostics.measures(rows, places, labels, n_neighbors=7)
    judged = Judged(rows, places, n_neighbors=7)
    assert "silhouette" not in diagnostics.measures(judged)
    for name, measure in found.items():
        if name == "neighborhood_purity_in_data":
            again = diagnostics.neighborhood_purity(judged, labels=labels, on="data")
        elif name in {"neighborhood_purity", "silhouette"}:
            again = getattr(diagnostics, name)(judged, labels=labels)
        else:
            again = getattr(diagnostics, name)(judged)
        assert again.value == measure.value, name


# --- theory


def test_a_map_without_fault():
    rows = kind("roll", 150)[0]
    turned = 3.0 * rows @ np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0] + 5.0
    found = diagnostics.measures(rows, turned)
    for name in ("stress", "residual_variance"):
        assert found.pop(name).value == pytest.approx(0, abs=1e-6)
    assert found.pop("lcmc").value == pytest.approx(1 - 10 / 149)
    for name, measure in found.items():
        assert measure.value == pytest.approx(1, abs=1e-12), name


def test_a_random_map_is_chance():
    rng = np.random.default_rng(0)
    found = diagnostics.measures(rng.standard_normal((1_500, 5)), rng.standard_normal((1_500, 2)))
    for name in ("trustworthiness", "continuity", "triplet_accuracy"):
        assert found[name].value == pytest.approx(0.5, abs=0.01), name
    for name in ("lcmc", "r_nx", "r_nx_area", "distance_correlation", "density_preservation"):
        assert found[name].value == pytest.approx(0, abs=0.06), name
    assert found["residual_variance"].value == pytest.approx(1, abs=0.01)


def test_a_torn_map_and_a_glued_one():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    torn = diagnostics.measures(ring, angle[:, None])
    assert torn["trustworthiness"].value == pytest.approx(1, abs=1e-3)
    assert torn["continuity"].value < 0.999
    glued = diagnostics.measures(ring, ring[:, :1])  # both halves of the ring lie on each other
    assert glued["trustworthiness"].value < 0.8 < glued["continuity"].value
    worst = np.argsort(diagnostics.continuity(ring, angle[:, None]).per_point)[:5]
    assert np.all(np.minimum(angle[worst], 2 * np.pi - angle[worst]) < 0.3)  # at the tear


def test_order_of_rows_does_not_matter():
    rows, places, labels = kind("digits", 200)
    order = np.random.default_rng(3).permutation(200)
    first = diagnostics.measures(rows, places, labels)
    second = diagnostics.measures(rows[order], places[order], labels[order])
    for name in ("trustworthiness", "stress", "silhouette", "triplet_accuracy"):
        assert second[name].value == pytest.approx(first[name].value, abs=1e-3), name  # digits have ties
        np.testing.assert_allclose(np.mean(second[name].per_point), np.mean(first[name].per_point), atol=1e-3)


# --- kinds of input


def test_sparse_rows_are_those_rows():
    rows, places, labels = kind("digits", 200)
    dense, sparse = diagnostics.measures(rows, places, labels), diagnostics.measures(csr_array(rows), places, labels)
    for name, measure in dense.items():
        assert sparse[name].value == pytest.approx(measure.value, abs=1e-9), name


@pytest.mark.parametrize("metric", ["cosine", "cityblock", "canberra", "correlation"])
def test_metrics_are_their_distances(metric):
    rows, places, labels = kind("outliers", 150)
    given = diagnostics.measures(rows, places, labels, metric=metric)
    by_distances = diagnostics.measures(cdist(rows, rows, metric), places, labels, metric="precomputed")
    for name, measure in given.items():
        assert by_distances[name].value == pytest.approx(measure.value, abs=1e-9), name


def test_sampled_rows_have_the_values_of_all():
    rows, places, _labels = kind("digits", 400)
    for name in ("trustworthiness", "continuity", "r_nx_area", "stress"):
        every = getattr(diagnostics, name)(rows, places)
        some = getattr(diagnostics, name)(rows, places, sample=100, random_state=1)
        drawn = ~np.isnan(some.per_point)
        assert drawn.sum() == 100
        assert some.interval is not None
        atol = 1e-2 if name == "stress" else 1e-12  # its scale is estimated
        np.testing.assert_allclose(some.per_point[drawn], every.per_point[drawn], atol=atol)


def test_threads_do_not_change_a_number():
    rows, places, _ = kind("outliers", 2_500)
    found = diagnostics.measures(Judged(rows, places, sample=900, n_jobs=1))
    for n_jobs in (2, 3):
        more = Judged(rows, places, sample=900, n_jobs=n_jobs)
        for name, measure in found.items():
            again = getattr(diagnostics, name)(more)
            assert (again.value, again.interval) == (measure.value, measure.interval), name


def test_repr_is_short():
    assert repr(Measure(0.98217)) == "Measure(0.9822)"
    rows, places, _ = kind("digits", 100)
    assert repr(diagnostics.r_nx_curve(rows, places)).startswith("CorankingCurve(98 scales, area 0.")
