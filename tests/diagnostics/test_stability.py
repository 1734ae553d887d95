"""Stability: against a plain loop, against theory, and on rows that are not smooth."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramfold import PCA, ClassicalMDS, Isomap, KernelPCA, LaplacianEigenmaps, OrdinalMDS, SpectralClustering
from gramfold.datasets import make_s_curve
from gramfold.diagnostics import Stability, stability
from gramfold.diagnostics.refits import Table
from gramfold.errors import InputError, RefitWarning

CURVE = make_s_curve(250, random_state=0).points
DIGITS = load_digits().data[:300]


def plain_stability(model, X, refits, share, seed, transform=True):
    """Squared displacements (refits, n) relative to the map's size, NaN where a row had no place; and the vectors."""
    reference = model.fit(X).embedding_
    size = np.sqrt(((reference - reference.mean(axis=0)) ** 2).sum(axis=1).mean())
    rng, moved = np.random.RandomState(seed), np.full((refits, *reference.shape), np.nan)
    for b in range(refits):
        rows = np.sort(rng.choice(len(X), round(share * len(X)), replace=False))
        others = np.setdiff1d(np.arange(len(X)), rows)
        fitted = type(model)(**model.get_params()).fit(X[rows])
        inner, target = fitted.embedding_, reference[rows]
        a, c = inner - inner.mean(axis=0), target - target.mean(axis=0)
        R, total = orthogonal_procrustes(a, c)
        s = total / (a**2).sum()
        moved[b, rows] = s * a @ R + target.mean(axis=0) - target
        if transform:
            places = fitted.transform(X[others])
            moved[b, others] = s * (places - inner.mean(axis=0)) @ R + target.mean(axis=0) - reference[others]
    return moved / size


@pytest.mark.parametrize("model", [PCA(2), Isomap(n_neighbors=8)], ids=lambda model: type(model).__name__)
def test_it_is_what_a_plain_loop_finds(model):
    moved = plain_stability(model, CURVE, 6, 0.7, 3)
    found = stability(model, CURVE, refits=6, share=0.7, random_state=3)
    squares = (moved**2).sum(axis=2)
    assert found.value == pytest.approx(np.sqrt(squares.mean()), rel=1e-9)
    np.testing.assert_allclose(found.per_point, np.sqrt(squares.mean(axis=0)), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.drift, np.linalg.norm(moved.mean(axis=0), axis=1), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found.scatter**2, moved.var(axis=0).sum(axis=1), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.per_refit, np.sqrt(squares.mean(axis=1)), rtol=1e-9)
    low, high = found.interval
    assert low < found.value < high
    assert found.placed.tolist() == [6] * 250


def test_a_fitted_model_brings_its_own_rows():
    model = PCA(2).fit(CURVE)
    own, given = stability(model, refits=4), stability(PCA(2), CURVE, refits=4)
    np.testing.assert_array_equal(own.per_point, given.per_point)
    assert own.eigengap == pytest.approx(1 - np.divide(*np.linalg.svd(CURVE - CURVE.mean(axis=0))[1][[2, 1]]) ** 2)


def test_rows_left_out_are_absent_where_there_is_no_transform():
    found = stability(OrdinalMDS(random_state=0), CURVE[:40], refits=3, share=0.5)
    assert 0 < found.placed.sum() == 3 * 20
    assert (np.isnan(found.per_point) == (found.placed == 0)).all()
    assert np.isnan(found.new)
    assert found.eigengap is None


def test_maps_that_only_turn_are_stable():
    """Equal eigenvalues: the axes of each refit are others, the plane is not."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 2000)
    disc = np.column_stack([np.cos(angle), np.sin(angle), 0.01 * rng.normal(size=2000)])
    model = PCA(2).fit(disc)
    found = stability(model, refits=10, share=0.5)
    refits = [PCA(2).fit(disc[rng.choice(2000, 1000, replace=False)]).transform(disc) for _ in range(10)]
    as_fitted = [np.sqrt(((Y - model.embedding_) ** 2).sum(axis=1).mean()) for Y in refits]
    assert max(as_fitted) > 0.3  # not aligned, some are turned far
    assert found.value < 0.04


def test_an_eigenvector_that_gives_way_is_counted_unless_more_are_fitted():
    """The second and third direction are of one length: which of them is on the plane is left to the sample."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 4))
    cloud = np.linalg.qr(noise - noise.mean(axis=0))[0] * [3.0, 1.02, 1.0, 0.1]
    plane, space = stability(PCA(2).fit(cloud)), stability(PCA(3).fit(cloud), n_shown=2)
    assert plane.eigengap < 0.1
    assert "change places" in plane.sentence
    assert space.shown == 2
    assert space.eigengap == pytest.approx(plane.eigengap)
    assert plane.value > 3 * space.value
    whole = stability(PCA(3).fit(cloud))
    assert whole.eigengap > 0.9
    assert "change places" not in whole.sentence


def test_drift_and_scatter_make_up_what_moves():
    found = stability(Isomap(n_neighbors=6), CURVE, refits=12)
    np.testing.assert_allclose(found.per_point**2, found.drift**2 + found.scatter**2, rtol=1e-9)
    assert found.value == pytest.approx(np.sqrt(np.mean(found.per_point**2)))
    assert min(found.fitted, found.new) <= found.value <= max(found.fitted, found.new)


def test_warnings_are_counted_and_not_given():
    rows = np.vstack([CURVE[:60], CURVE[:60] + 50.0])
    with pytest.warns(match="connected components") as given:
        model = Isomap().fit(rows)
    assert len(given) == 1
    found = stability(model, refits=5)  # warnings are errors here
    assert found.warned == {"DisconnectedGraphWarning": 5}
    assert "connected components" in found.examples["DisconnectedGraphWarning"]
    assert "DisconnectedGraphWarning in 5 refits" in str(found)


def test_failed_refits_are_told():
    class Moody(PCA):
        def fit_transform(self, X, y=None, **more):
            if 100.0 not in X[:, 0]:
                raise InputError("not today.")
            return super().fit_transform(X, y, **more)

    rows = np.random.default_rng(0).normal(size=(120, 3))
    rows[7, 0] = 100.0
    with pytest.warns(RefitWarning, match=r"refits? of 12 failed .* InputError: not today\."):
        found = stability(Moody(2), rows, refits=12, share=0.5)
    assert 0 < len(found.failures) < 12
    assert len(found.per_refit) == 12 - len(found.failures)
    assert "failed, the first with: InputError: not today." in found.sentence


def test_nothing_is_returned_where_all_refits_fail():
    rows = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(InputError, match=r"3 refits of 3 failed.*n_neighbors=8, but there are only 6 distinct rows"):
        stability(Isomap(n_neighbors=8), rows, refits=3, share=0.5)


def test_other_errors_are_not_swallowed():
    class Broken(PCA):
        def transform(self, X):
            raise TypeError("a fault of the program")

    with pytest.raises(TypeError, match="a fault of the program"):
        stability(Broken(2), CURVE, refits=2)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_rows_without_a_place_have_no_number():
    rows = np.vstack([CURVE[:120], CURVE[:10] + 50.0])
    model = Isomap(on_disconnected="largest", n_neighbors=5).fit(rows)
    found = stability(model, refits=4)
    assert np.isnan(found.per_point[120:]).all()
    assert np.isfinite(found.per_point[:120]).all()
    assert "10 rows had no place" in found.sentence


def test_distances_and_tables_of_any_kind():
    truth = stability(PCA(2), CURVE, refits=3)
    frame = pd.DataFrame(CURVE, columns=list("abc"))
    np.testing.assert_allclose(stability(PCA(2), frame, refits=3).per_point, truth.per_point, rtol=1e-9)
    np.testing.assert_allclose(stability(PCA(2), csr_array(CURVE), refits=3).per_point, truth.per_point, rtol=1e-6)
    np.testing.assert_allclose(stability(PCA(2), CURVE.tolist(), refits=3).per_point, truth.per_point, rtol=1e-9)
    distances = cdist(CURVE, CURVE)
    scaled = stability(ClassicalMDS(2, metric="precomputed"), distances, refits=3)
    np.testing.assert_allclose(scaled.per_point, truth.per_point, rtol=1e-6)
    with_output = stability(PCA(2).set_output(transform="pandas"), frame, refits=3)
    np.testing.assert_allclose(with_output.per_point, truth.per_point, rtol=1e-9)


def test_pipelines_and_guests():
    piped = stability(make_pipeline(StandardScaler(), PCA(2)), CURVE, refits=3)
    assert 0 < piped.value < 0.2
    assert piped.eigengap is None
    guest = stability(TSNE(perplexity=5, init="pca", random_state=0, max_iter=250), CURVE[:60], refits=2)
    assert np.isnan(guest.new)
    assert guest.value > 0


def test_copies_move_together():
    rows = np.vstack([CURVE[:100], CURVE[:100]])
    found = stability(Isomap(), rows, refits=6)
    np.testing.assert_allclose(found.per_point[:100], found.per_point[100:], rtol=1e-6)


def test_copies_are_left_out_together():
    model, rows = Isomap(n_neighbors=8), CURVE[:150]
    expected = stability(model, rows, refits=4)
    again = np.repeat(np.arange(150), 3)
    tables = {
        "array": rows[again],
        "frame": pd.DataFrame(rows[again], columns=list("xyz")),
        "sparse": csr_array(rows[again]),
        "shuffled": rows[again[::-1]],
    }
    for name, X in tables.items():
        found = stability(model, X, refits=4)
        assert found.value == pytest.approx(expected.value, rel=1e-6 if name != "shuffled" else 0.3), name
        assert len(np.unique(found.placed)) == 1, name
    np.testing.assert_allclose(stability(model, rows[again], refits=4).per_point, expected.per_point[again], rtol=1e-6)
    given = Isomap(n_neighbors=8, metric="precomputed")
    assert stability(given, cdist(rows[again], rows[again]), refits=4).value == pytest.approx(expected.value, rel=1e-6)


def test_copies_of_directions_categories_and_kernels():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) + 2.0
    longer = np.vstack([rows, 2.0 * rows])
    assert len(Table.of(None, longer).copies(Isomap(metric="cosine"))) == 60
    assert len(Table.of(None, longer).copies(Isomap())) == 120
    mixed = pd.DataFrame({"a": rows[:, 0], "b": pd.Series(["x", None, "z"] * 20), "c": [1.0, np.nan] * 30})
    assert len(Table.of(None, pd.concat([mixed, mixed])).copies(Isomap(metric="gower"))) == 60
    assert len(Table.of(None, mixed.iloc[:, 1:]).copies(Isomap(metric="gower"))) == 6
    model = KernelPCA(kernel="precomputed")
    assert len(Table.of(model, np.tile(rows @ rows.T, (2, 2))).copies(model)) == 60
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1.0  # four vertices with the same neighbour are no copies
    model = LaplacianEigenmaps(weights="precomputed")
    assert len(Table.of(model, star).copies(model)) == 5


def test_labels_and_weights_go_along():
    seen = []

    class Counting(PCA):
        def fit(self, X, y=None, sample_weight=None):
            seen.append((len(X), None if y is None else y.tolist(), sample_weight))
            return super().fit(X, y, sample_weight)

    rows = np.random.default_rng(0).normal(size=(40, 3))
    stability(Counting(2), rows, y=np.arange(40), sample_weight=1.0 + np.arange(40), refits=2, share=0.5)
    assert [n for n, _, _ in seen] == [40, 20, 20]
    for _, y, weights in seen[1:]:
        np.testing.assert_array_equal(weights, 1.0 + np.array(y))


def test_a_tiny_table():
    found = stability(PCA(2), CURVE[:20], refits=5)
    assert np.isfinite(found.per_point).all()
    with pytest.raises(InputError, match="a refit needs more than"):
        stability(PCA(2), CURVE[:4], refits=3)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_the_same_seed_gives_the_same_numbers_and_the_model_is_not_changed():
    model = LaplacianEigenmaps(n_neighbors=10).fit(DIGITS)
    before = model.embedding_.copy()
    first, second, other = (stability(model, refits=3, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.per_point, second.per_point)
    assert first.value != other.value
    np.testing.assert_array_equal(model.embedding_, before)
    assert isinstance(first, Stability)
    assert float(first) == first.value
    assert repr(first).startswith("Stability(")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"refits": 1}, "refits=1"),
        ({"share": 1.0}, "share=1.0"),
        ({"share": 0.999}, "fewer than all"),
        ({"n_shown": 3}, "n_shown=3, but the map has 2"),
        ({"y": [1, 2]}, "y 2 entries"),
    ],
)
def test_what_is_asked_wrongly_is_told(more, words):
    with pytest.raises(InputError, match=words):
        stability(PCA(2), CURVE, **more)


def test_models_that_cannot_be_refitted_are_told():
    with pytest.raises(InputError, match="SpectralClustering, which is no map"):
        stability(SpectralClustering(2), CURVE)
    with pytest.raises(InputError, match="PCA, which is a class"):
        stability(PCA, CURVE)
    with pytest.raises(InputError, match="pass X"):
        stability(ClassicalMDS(metric="precomputed").fit(cdist(CURVE, CURVE)))
    with pytest.raises(InputError, match="row numbers"):
        stability(Isomap(landmarks=[1, 5, 9, 20]), CURVE)


@pytest.mark.slow
def test_the_interval_holds_what_many_refits_find():
    """At least 178 of 200 seeds, of a nominal 190."""
    rows = np.random.default_rng(0).normal(size=(60, 5)) * [3, 2, 1.5, 1, 1]
    truth = stability(PCA(2), rows, refits=3000, random_state=12345).value
    inside = 0
    for seed in range(200):
        low, high = stability(PCA(2), rows, refits=20, random_state=seed).interval
        inside += low <= truth <= high
    assert inside >= 178


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_another_component_that_is_the_largest_is_told():
    """Two groups of one size: which of them is on the map is left to the sample."""
    rows = np.vstack([CURVE[:60], CURVE[:60] + 50.0])
    model = Isomap(on_disconnected="largest").fit(rows)
    with pytest.warns(RefitWarning, match="another connected component may be the largest"):
        found = stability(model, refits=12)
    assert 0 < len(found.failures) < 12
    assert np.isfinite(found.per_point[:60]).all()


def test_edges_of_the_whole_table_are_other_edges_in_a_refit():
    X = make_s_curve(200, random_state=0).points
    with pytest.raises(InputError, match="have other numbers among fewer rows"):
        stability(Isomap(drop_edges=[[0, 1]]), X)


def test_large_values_move_as_much():
    X = make_s_curve(100, random_state=0).points
    found, same = (stability(PCA(1), unit * X, refits=3) for unit in (1e160, 1.0))
    assert found.value == pytest.approx(same.value, rel=1e-6)
    np.testing.assert_allclose(same.embedding, PCA(1).fit_transform(X), rtol=1e-12)
