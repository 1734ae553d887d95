"""The ways from a map back to rows, as an estimator offers them."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from gramfold import PCA, ClassicalMDS, Isomap, KernelPCA, MixturePPCA, ProbabilisticPCA
from gramfold.datasets import make_s_curve
from gramfold.errors import ExtrapolationWarning, InputError, NoPreimageError, PrecomputedInputError
from gramfold.extension.inverse import LocalInverse
from gramfold.extension.mixture_inverse import learned_mixture
from gramfold.extension.ridge_inverse import RidgeInverse
from tests.contract.checks import sheet


def test_each_way_is_the_piece_of_that_name():
    X = sheet(400)
    model = Isomap().fit(X)
    Y = model.embedding_
    new = model.transform(sheet(30, seed=3))
    expected = {
        "auto": LocalInverse(Y, X, 1)(new),
        "barycentric": LocalInverse(Y, X, 1)(new),
        "mixture": learned_mixture(Y, X)(new),
        "ridge": RidgeInverse(Y, X)(new),
    }
    errors = set()
    for way, rows in expected.items():
        fresh = Isomap(inverse=way).fit(X)
        np.testing.assert_allclose(fresh.inverse_transform(new), rows, atol=1e-10)
        model.inverse = way  # without a new fit
        np.testing.assert_allclose(model.inverse_transform(new), rows, atol=1e-10)
        assert model.inverse_error() == fresh.inverse_error()
        errors.add(model.inverse_error())
    assert len(errors) == 3


@pytest.mark.parametrize("way", ["mixture", "barycentric", "ridge"])
def test_the_error_is_that_of_new_rows(way):
    X = make_s_curve(1500, noise=0.05, random_state=0).points
    model = Isomap(landmarks=100, inverse=way).fit(X[:600])
    rebuilt = model.inverse_transform(model.transform(X[600:]))
    held_out = np.linalg.norm(rebuilt - X[600:]) / np.linalg.norm(X[600:] - X[:600].mean(axis=0))
    assert model.inverse_error() == pytest.approx(held_out, rel=0.4)  # transform adds its own error, most at the rim


def test_a_plane_comes_back_exactly():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6)) + 5
    for model in (PCA(2), ClassicalMDS(2, inverse="mixture"), ClassicalMDS(2, inverse="ridge")):
        model.fit(X)
        np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-6)
        assert model.inverse_error() < 1e-6


def test_nothing_is_made_before_it_is_asked_for(monkeypatch):
    made = []
    monkeypatch.setattr("gramfold.embedding.model.LocalInverse", lambda *given: made.append(1) or LocalInverse(*given))
    model = Isomap().fit(sheet(100))
    model.transform(sheet(100))
    assert not made
    _ = model.inverse_error()
    model.inverse_transform(model.embedding_)
    model.inverse_transform(model.embedding_)
    assert len(made) == 1


def test_a_new_fit_forgets_the_way_back():
    model = Isomap().fit(sheet(100))
    before = model.inverse_transform(model.embedding_[:3])
    model.fit(sheet(100) + 7)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_[:3]), before + 7, atol=1e-6)


def test_sparse_rows_come_back_sparse_or_not_at_all():
    counts = csr_array(np.random.default_rng(0).poisson(0.4, (80, 20)).astype(float))
    model = KernelPCA().fit(counts)
    assert issparse(model.inverse_transform(model.embedding_[:3]))
    for way in ("mixture", "ridge", "fixed-point"):
        model.inverse = way
        with pytest.raises(NoPreimageError, match=f"inverse='{way}' computes dense rows.*use 'barycentric'"):
            model.inverse_transform(model.embedding_[:3])


def test_gaps_are_filled_in_before_a_way_back_is_learned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 6)) + 0.01 * rng.standard_normal((200, 6))
    holed = X.copy()
    holed[rng.random(X.shape) < 0.05] = np.nan
    model = ProbabilisticPCA(2, inverse="mixture").fit(holed)
    assert np.abs(model.inverse_transform(model.embedding_) - X).max() < 0.2
    assert np.isfinite(model.extrapolation(holed)).all()


def test_planes_are_a_mixture_of_their_own():
    X = sheet(300)
    model = MixturePPCA(2, n_planes=3).fit(X)
    own = model.inverse_transform(model.embedding_)
    model.inverse = "mixture"
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), own)


def test_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="'inverse' parameter"):
        Isomap(inverse="backwards").fit(sheet(50))
    model = Isomap().fit(sheet(50))
    model.inverse = "backwards"
    with pytest.raises(InputError, match="is not valid: use one of auto, mixture"):
        model.inverse_transform(model.embedding_)


# --- how far outside


def test_rows_and_places_are_told_by_their_width():
    X = sheet(300)
    model = Isomap().fit(X)
    np.testing.assert_array_equal(model.extrapolation(X + 1), model.extrapolation(X + 1, of="rows"))
    np.testing.assert_array_equal(
        model.extrapolation(model.embedding_ + 1), model.extrapolation(model.embedding_ + 1, of="coordinates")
    )
    same = PCA(3).fit(X)
    with pytest.raises(InputError, match=r"both have 3 columns.*pass of='rows'"):
        same.extrapolation(X)
    assert (same.extrapolation(X + 9, of="rows") > 1).all()
    assert (same.extrapolation(X, of="rows") == 0).all()
    with pytest.raises(InputError, match=r"of='.*' is not valid"):
        same.extrapolation(X, of="columns")


@pytest.mark.parametrize("points", [sheet(50)[0], None, 1.0, [[1.0, 2.0], [3.0]], np.ones((2, 3, 4))])
def test_what_has_no_rows_and_columns_is_refused_as_by_transform(points):
    model = PCA().fit(sheet(50))
    with pytest.raises(InputError) as expected:
        model.transform(points)
    with pytest.raises(InputError) as found:
        model.extrapolation(points)
    assert str(found.value) == str(expected.value)


def test_a_graph_measures_by_its_own_reach():
    X = sheet(200)
    model = Isomap(n_neighbors=5).fit(X)
    new = X[:20] + 0.3
    away = np.linalg.norm(new[:, None] - X[None], axis=2)
    reach = np.sort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 5]
    np.testing.assert_allclose(model.extrapolation(new), away.min(axis=1) / reach[away.argmin(axis=1)], rtol=1e-9)


def test_precomputed_distances_tell_and_kernel_values_do_not():
    X = sheet(150)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    known, new = D[:100, :100], D[100:, :100]
    model = Isomap(metric="precomputed").fit(known)
    np.testing.assert_allclose(model.extrapolation(new), Isomap().fit(X[:100]).extrapolation(X[100:]), rtol=1e-9)
    kernel = KernelPCA(kernel="precomputed").fit(np.exp(-known))
    kernel.transform(1e-9 * new)  # and nothing is said of it
    with pytest.raises(PrecomputedInputError, match="extrapolation of rows needs the rows themselves"):
        kernel.extrapolation(new)


@pytest.mark.parametrize("model", [Isomap(), KernelPCA(), PCA(2)], ids=lambda model: type(model).__name__)
def test_warnings_point_at_the_caller(model):
    X = sheet(200)
    model.fit(X)
    for call, points in ((model.transform, X[:2] + 100), (model.inverse_transform, model.embedding_[:2] * 100)):
        with pytest.warns(ExtrapolationWarning) as told:
            call(points)
        assert [one.filename for one in told] == [__file__]
