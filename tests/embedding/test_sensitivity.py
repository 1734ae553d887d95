"""The derivative of every map: against central differences of `transform`, and against theory."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import gramfold
from gramfold.datasets import make_swiss_roll
from gramfold.embedding import Embedding
from gramfold.errors import InputError, MemoryForecastError, PrecomputedInputError
from tests.contract.discovery import exported, worked_example

ACCURATE = 1e-4  # of the largest derivative of a row
STEP = 1e-6


def table(n=300, seed=0):
    """A roll with noise columns."""
    rng = np.random.default_rng(seed)
    X = np.hstack([make_swiss_roll(n_samples=n, random_state=seed).points, rng.normal(size=(n, 3))])
    return X / X.std(axis=0)


TRAIN, NEW = np.split(table(), [270])


def differences(model, X, step=STEP):
    """Central differences of `transform`, the plain way."""
    found = np.empty((len(X), model.embedding_.shape[1], X.shape[1]))
    for column in range(X.shape[1]):
        moved = np.zeros(X.shape[1])
        moved[column] = step
        found[:, :, column] = (model.transform(X + moved) - model.transform(X - moved)) / (2 * step)
    return found


def fitted(model, X=TRAIN, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of maps that need not be good ones here
        return model.fit(X, **how)


def misfit(model, X):
    """Largest error of each row, relative to its largest derivative."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        truth, found = differences(model, X), model.sensitivity(X)
    return np.abs(found - truth).max(axis=(1, 2)) / np.abs(truth).max(axis=(1, 2))


CLASSES = [cls for cls in exported() if issubclass(cls, Embedding)]
OTHERS = [
    gramfold.KernelPCA(kernel="linear"),
    gramfold.KernelPCA(kernel="poly", coef0=0.5),
    gramfold.KernelPCA(kernel="sigmoid", gamma=0.05),
    gramfold.KernelPCA(kernel="cosine"),
    gramfold.KernelPCA(landmarks=40),
    gramfold.NystromEmbedding(landmarks=40, eigenvectors="approximate"),
    gramfold.ClassicalMDS(metric="cityblock"),
    gramfold.ClassicalMDS(metric="cosine"),
    gramfold.ClassicalMDS(metric="correlation"),
    gramfold.ClassicalMDS(metric="minkowski", metric_params={"p": 3}),
    gramfold.ClassicalMDS(metric="cityblock", repair="constant"),
    gramfold.ClassicalMDS(metric="cityblock", repair="shift"),
    gramfold.ClassicalMDS(metric="cityblock", repair="clip"),
    gramfold.LandmarkMDS(landmarks=30, metric="cityblock"),
    gramfold.Isomap(conformal=True),
    gramfold.Isomap(landmarks=30, metric="cosine"),
    gramfold.Isomap(radius=1.5, on_disconnected="bridge"),
    gramfold.KernelIsomap(landmarks=30),
    gramfold.LLE(n_neighbors=12, metric="cosine"),
    gramfold.LaplacianEigenmaps(weights="gaussian"),
    gramfold.LaplacianEigenmaps(weights="gaussian", width="self-tuning"),
    gramfold.LaplacianEigenmaps(weights="gaussian", laplacian="symmetric"),
    gramfold.LaplacianEigenmaps(weights="gaussian", laplacian="symmetric", loose_rows="regularize"),
    gramfold.LaplacianEigenmaps(weights="gaussian", laplacian="unnormalized", width="self-tuning"),
    gramfold.LaplacianEigenmaps(weights="gaussian", loose_rows="trim", metric="cosine"),
    gramfold.CommuteTime(weights="gaussian"),
    gramfold.HeatKernel(weights="gaussian"),
    gramfold.DiffusionMap(landmarks=150, alpha=0.5),
    gramfold.KernelEigenmaps(approximation="affine"),
    gramfold.KernelEigenmaps(approximation="stochastic", local_dim=2),
    gramfold.LPP(approximation="affine"),
    gramfold.LPP(approximation="raw"),
    gramfold.MixturePPCA(n_planes=3),
    gramfold.MixturePPCA(6, n_planes=2),  # planes that fill the space
    gramfold.Isomap(graph="mutual+mst"),
    gramfold.Isomap(search="approximate"),
    gramfold.Isomap(metric="minkowski", metric_params={"p": 1.5}),
    gramfold.LTSA(radius=3.2),
    gramfold.LLE(n_neighbors=12, reg=0.0),
    gramfold.LaplacianEigenmaps(weights="gaussian", graph="mutual+mst", width=0.7),
    gramfold.DiffusionMap(self_loops=False, t=3, width="self-tuning", metric="cityblock"),
    gramfold.HeatKernel(weights="gaussian", width="self-tuning", radius=1.5),
    gramfold.KernelEigenmaps(weights="binary", metric="cityblock", equal_degrees=True),
    gramfold.ProbabilisticPCA(3),
]


@pytest.mark.parametrize("cls", [gramfold.Isomap, gramfold.DiffusionMap, gramfold.KernelPCA, gramfold.LLE])
def test_weights_of_rows(cls):
    weights = np.random.default_rng(0).integers(1, 4, len(TRAIN)).astype(float)
    model = fitted(cls(**({"n_neighbors": 12} if cls is gramfold.LLE else {})), sample_weight=weights)
    assert misfit(model, NEW).max() < ACCURATE


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_says_how_and_is_right(cls):
    rows = TRAIN[:120] if cls is gramfold.SDE else TRAIN  # which takes longer
    model = fitted(cls(**({"n_neighbors": 12} if "LLE" in cls.__name__ else {})), rows)
    found = model.sensitivity(NEW)
    assert found.shape == (len(NEW), 2, NEW.shape[1])
    assert np.isfinite(found).all()
    if model.sensitivity_kind == "exact":
        assert misfit(model, NEW).max() < ACCURATE
    else:
        assert model.weights == "binary"  # the only defaults without a formula


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: repr(model)[:60])
def test_other_settings_are_exact_too(model):
    assert model.sensitivity_kind == "exact"
    assert misfit(fitted(model), NEW).max() < ACCURATE


@pytest.mark.parametrize("weights", ["gaussian"])
@pytest.mark.parametrize("width", ["auto", "self-tuning"])
def test_a_row_that_passes_over_into_a_training_row(weights, width):
    """Within a quarter of the shortest edge the map of a Laplacian leads to the coordinates of the training row."""
    model = fitted(gramfold.LaplacianEigenmaps(weights=weights, width=width))
    shortest = np.array([row.data.min() for row in (model.graph_.lengths[[i]] for i in range(20))])
    toward = np.random.default_rng(1).normal(size=(20, TRAIN.shape[1]))
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    assert misfit(model, TRAIN[:20] + 0.1 * shortest[:, None] * toward).max() < ACCURATE


def test_rows_far_outside_are_exact_at_the_bounds():
    """Beyond the bounds of its kernels the map is clipped, and so is its derivative."""
    model = fitted(gramfold.KernelEigenmaps(n_kernels=20, width=1.0))
    far = NEW + 2 * np.sign(NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        truth, found = differences(model, far), model.sensitivity(far)
        free = model.model_.parts[0].placement.map.unbounded(far)
        clipped = ~np.isclose(free, model.transform(far)).all(axis=1)
    assert clipped.sum() >= 3
    assert np.abs(found - truth).max() < ACCURATE * np.abs(truth).max()


@pytest.mark.parametrize("cls", [gramfold.Isomap, gramfold.LLE, gramfold.LTSA, gramfold.DiffusionMap])
def test_a_training_row_has_the_derivative_of_the_rows_around_it(cls):
    """Mean of central differences over a step that leaves the look-up: rows on a plane, where the map is linear."""
    rng = np.random.default_rng(0)
    sheet = rng.random((600, 2)) * (2, 1)
    X = np.hstack([sheet, np.zeros((600, 1))])
    model = fitted(cls(n_neighbors=12), X)
    inside = np.flatnonzero((np.abs(sheet - (1, 0.5)) < (0.5, 0.25)).all(axis=1))[:40]
    found = model.sensitivity(X[inside])[:, 0, :2]
    steps = 0.1 * np.eye(3)[:2]
    wide = np.stack(
        [(model.transform(X[inside] + s)[:, 0] - model.transform(X[inside] - s)[:, 0]) / 0.2 for s in steps], axis=1
    )
    cosine = (found * wide).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wide, axis=1)
    assert np.median(cosine) > 0.9


def test_the_derivative_of_pca_is_its_components():
    model = fitted(gramfold.PCA(3))
    assert np.allclose(model.sensitivity(NEW), model.components_[None])


def test_local_regression_is_that_of_a_linear_map():
    """Coordinates that are linear in the columns have these slopes, along the directions in which rows differ."""
    from gramfold.extension.extrapolation import EUCLIDEAN
    from gramfold.extension.local_slopes import local_slopes

    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 3))
    matrix = rng.normal(size=(3, 2))
    found = local_slopes(points[:10], points, points @ matrix, EUCLIDEAN, None)
    assert np.allclose(found, matrix.T, atol=0.02)
    flat = np.hstack([points, np.zeros((400, 2))])
    assert not local_slopes(flat[:10], flat, points @ matrix, EUCLIDEAN, None)[:, :, 3:].any()


def test_binary_weights_find_the_directions_of_the_sheet():
    sheet = np.random.default_rng(0).random((800, 2)) * (3, 1)
    model = fitted(gramfold.LaplacianEigenmaps(n_neighbors=10), np.hstack([sheet, np.zeros((800, 1))]))
    assert model.sensitivity_kind == "local regression"
    slopes = np.abs(model.sensitivity(np.hstack([sheet, np.zeros((800, 1))]))[:, 0])
    assert np.median(slopes[:, 0]) > 3 * np.median(slopes[:, 1])
    assert not slopes[:, 2].any()


SPARSE = [
    gramfold.PCA(),
    gramfold.KernelPCA(),
    gramfold.KernelPCA(kernel="cosine"),
    gramfold.KernelPCA(kernel="poly", landmarks=30),
    gramfold.ClassicalMDS(),
    gramfold.LandmarkMDS(landmarks=30, metric="cosine"),
    gramfold.Isomap(),
    gramfold.Isomap(metric="cosine"),
    gramfold.LLE(),
    gramfold.LaplacianEigenmaps(),
    gramfold.DiffusionMap(metric="cosine"),
    gramfold.LPP(),
]


@pytest.mark.parametrize("model", SPARSE, ids=lambda model: repr(model)[:60])
def test_sparse_rows_have_the_derivatives_of_dense_ones(model):
    X = np.abs(np.where(table(150) > -0.5, table(150), 0.0))
    dense, sparse = fitted(clone(model), X[:120]), fitted(clone(model), csr_array(X[:120]))
    a, b = dense.sensitivity(X[120:]), sparse.sensitivity(csr_array(X[120:]))
    signs = np.sign((dense.embedding_ * sparse.embedding_).sum(axis=0))
    assert np.allclose(a, signs[:, None] * b, rtol=1e-5, atol=1e-6 * np.abs(a).max())


@pytest.mark.parametrize("cls", [gramfold.PCA, gramfold.Isomap, gramfold.LTSA, gramfold.KernelPCA])
def test_an_aligned_map(cls):
    old = fitted(cls(**({"n_neighbors": 12} if cls is gramfold.LTSA else {})))
    turned = old.embedding_ @ np.array([[0.6, 0.8], [0.8, -0.6]]) * 3 + 1
    model = gramfold.align(old, turned)
    assert misfit(model, NEW).max() < ACCURATE


@pytest.mark.parametrize("cls", [gramfold.PCA, gramfold.Isomap, gramfold.KernelPCA, gramfold.LLE, gramfold.LPP])
def test_the_unit_of_the_rows(cls):
    """Derivatives are coordinates over columns, in the units that the user sees."""
    scale = 2.0**300
    plain, large = fitted(cls()), fitted(cls(), scale * TRAIN)
    assert large.unit_ != 1
    degree = large.model_.degree
    assert np.allclose(large.sensitivity(scale * NEW), scale ** (degree - 1) * plain.sensitivity(NEW), rtol=1e-6)


def test_float32_in_and_out():
    for cls in (gramfold.PCA, gramfold.KernelPCA, gramfold.Isomap, gramfold.LTSA, gramfold.LaplacianEigenmaps):
        how = {"n_neighbors": 12} if cls is gramfold.LTSA else {}
        single, double = fitted(cls(**how), TRAIN.astype(np.float32)), fitted(cls(**how))
        found, truth = single.sensitivity(NEW.astype(np.float32)), double.sensitivity(NEW)
        signs = np.sign((single.embedding_ * double.embedding_).sum(axis=0))
        assert found.dtype == np.float32
        assert np.median(np.abs(signs[:, None] * found - truth)) < 1e-3 * np.abs(truth).max()


@pytest.mark.parametrize("laplacian", ["unnormalized", "random-walk", "symmetric"])
@pytest.mark.parametrize("width", ["auto", "self-tuning"])
def test_rows_far_from_all_data_have_finite_derivatives(laplacian, width):
    model = fitted(gramfold.LaplacianEigenmaps(weights="gaussian", laplacian=laplacian, width=width))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that they are far
        assert np.isfinite(model.sensitivity(NEW + 1e5)).all()


def test_copies_change_nothing():
    for cls in (gramfold.Isomap, gramfold.LLE, gramfold.DiffusionMap):
        model = fitted(cls(n_neighbors=12), np.vstack([TRAIN, TRAIN[:50]]))
        assert misfit(model, NEW).max() < ACCURATE
        assert np.isfinite(model.sensitivity(TRAIN)).all()


def test_components_apart():
    X = np.vstack([TRAIN, TRAIN[:100] + 50])
    for cls in (gramfold.Isomap, gramfold.LPP, gramfold.LaplacianEigenmaps):
        model = fitted(cls(on_disconnected="separate"), X)
        found = model.sensitivity(np.vstack([NEW, NEW + 50]))
        assert np.isfinite(found).all()
        if model.sensitivity_kind == "exact":
            assert misfit(model, np.vstack([NEW, NEW + 50])).max() < ACCURATE


def test_a_row_without_a_place_has_no_derivative():
    X = np.vstack([TRAIN, TRAIN[:20] + 50])
    model = fitted(gramfold.Isomap(on_disconnected="largest"), X)
    found = model.sensitivity(X)
    assert np.isnan(found[-20:]).all()
    assert np.isfinite(found[:-20]).all()


def test_blocks_equal_rows_one_by_one(monkeypatch):
    for cls in (gramfold.KernelEigenmaps, gramfold.Isomap, gramfold.MixturePPCA, gramfold.LaplacianEigenmaps):
        model = fitted(cls())
        one_by_one = np.concatenate([model.sensitivity(NEW[[i]]) for i in range(5)])
        assert np.allclose(model.sensitivity(NEW)[:5], one_by_one, rtol=1e-9, atol=1e-12)


def test_the_worked_example_falls_back_to_regression():
    model = fitted(worked_example()())
    assert model.sensitivity_kind == "local regression"
    assert np.isfinite(model.sensitivity(NEW)).all()


def one_minus(a, b):
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize(
    "model",
    [gramfold.Isomap(metric="canberra"), gramfold.ClassicalMDS(metric=one_minus), gramfold.Isomap(metric="chebyshev")],
)
def test_metrics_whose_derivative_is_not_known(model):
    assert model.sensitivity_kind == "local regression"
    fitted(model, TRAIN[:80])
    assert np.isfinite(model.sensitivity(NEW[:5])).all()
    assert not model.model_.source.slopes(NEW[:5], model.model_.parts, None).exact


def test_what_has_no_columns_is_refused():
    distances = np.abs(TRAIN[:50, None] - TRAIN[None, :50]).sum(axis=2)
    for model in (gramfold.Isomap(metric="precomputed"), gramfold.ClassicalMDS(metric="precomputed")):
        assert model.sensitivity_kind == "none"
        with pytest.raises(PrecomputedInputError, match="no columns to differentiate by"):
            fitted(model, distances).sensitivity(distances)
    gower = gramfold.ClassicalMDS(metric="gower")
    assert gower.sensitivity_kind == "none"
    with pytest.raises(InputError, match="gower"):
        fitted(gower, TRAIN[:50]).sensitivity(TRAIN[:5])


def test_gaps_are_refused():
    model = fitted(gramfold.ProbabilisticPCA())
    holed = NEW.copy()
    holed[3, 1] = np.nan
    with pytest.raises(InputError, match="1 of 30 rows have missing values"):
        model.sensitivity(holed)


def test_more_than_memory_holds_is_refused(monkeypatch):
    import gramfold.embedding.sensitivity as module

    model = fitted(gramfold.PCA())
    monkeypatch.setattr(module, "available_memory", lambda: 3e8)
    many = np.broadcast_to(NEW[:1], (10_000_000, NEW.shape[1]))
    with pytest.raises(MemoryForecastError, match=r"pass at most [\d,]+ rows at a time"):
        module.sensitivity_of(model.model_, many, None)


def test_the_page_says_it_of_every_class():
    page = (Path(__file__).parents[2] / "docs" / "axes.md").read_text("utf8")
    (table,) = re.findall(r"\| class \| `sensitivity_kind` \|\n(.*?)\n\n", page, re.DOTALL)
    for cls in CLASSES:
        (row,) = [line for line in table.splitlines() if f"`{cls.__name__}`" in line]
        assert (": local regression with" in row.replace("| ", ": ")) == (cls().sensitivity_kind == "local regression")
