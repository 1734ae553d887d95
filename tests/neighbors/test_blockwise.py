"""A user's metric of blocks: the same maps as one of pairs, and the recipe of docs/metrics.md against SciPy."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation
from sklearn.base import clone

from gramfold import ClassicalMDS, Isomap, LandmarkIsomap, LandmarkMDS, OrdinalMDS, blockwise
from gramfold.errors import InputError
from gramfold.neighbors.metrics import make_metric

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


@blockwise
def city(A, B, factor=1.0):
    """Sum of differences."""
    return factor * np.abs(A[:, None, :] - B).sum(axis=2)


def squares(A, B):
    return cdist(A, B, "sqeuclidean")


def rows(n=150, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def test_blocks_and_pairs_are_the_distances():
    X, Y = rows(40), rows(700, seed=1)
    metric = make_metric(city, {"factor": 2.0}, X)
    expected = 2 * cdist(X, Y, "cityblock")
    np.testing.assert_allclose(metric.block(X, Y), expected, rtol=1e-14)
    i, j = (part.ravel()[::11] for part in np.indices(expected.shape))
    shuffled = np.random.default_rng(0).permutation(len(i))
    found = metric.pairs(X, i[shuffled], Y, j[shuffled], 1)
    np.testing.assert_allclose(found, expected[i, j][shuffled], rtol=1e-14)


@pytest.mark.parametrize("method", [Isomap, ClassicalMDS, LandmarkMDS, LandmarkIsomap])
def test_maps_are_those_of_the_named_metric(method):
    X, new = rows(), rows(20, seed=2)
    options = {"landmarks": 40} if "Landmark" in method.__name__ else {}
    named, own = (method(metric=metric, **options).fit(X) for metric in ("cityblock", city))
    np.testing.assert_allclose(own.embedding_, named.embedding_, atol=1e-8)
    np.testing.assert_allclose(own.transform(new), named.transform(new), atol=1e-8)


def test_ordinal_mds_takes_blocks():
    X = rows(25)
    np.testing.assert_allclose(
        OrdinalMDS(metric=city).fit_transform(X), OrdinalMDS(metric="cityblock").fit_transform(X), atol=1e-8
    )


def test_threads_clones_and_pickles_change_nothing():
    X, new = rows(400), rows(20, seed=2)
    one, two = (Isomap(metric=city, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    for copy in (pickle.loads(pickle.dumps(one)), clone(one).fit(X)):
        assert copy.metric is city
        np.testing.assert_array_equal(copy.transform(new), one.transform(new))
    marked = blockwise(squares)  # whose name is still that of the function
    again = pickle.loads(pickle.dumps(Isomap(metric=marked).fit(X)))
    assert again.metric.function is squares
    assert np.isfinite(again.fit(X).embedding_).all()
    assert blockwise(city) is city
    assert repr(marked) == "blockwise(squares)"


def test_what_is_no_metric_is_told():
    X = rows(30)
    for function, sentence in (
        (lambda A, B: np.zeros(len(A)), "returned an array of shape (30,) for 30 and 30 rows"),
        (lambda A, B: cdist(A, B) - 1.0, "distances cannot be negative"),
        (lambda A, B: cdist(A, B) * np.nan, "is not defined for 900 of 900 pairs"),
    ):
        with pytest.raises(InputError, match=re.escape(sentence)):
            ClassicalMDS(metric=blockwise(function)).fit(X)


# --- the recipe for molecules


@pytest.fixture(scope="module")
def recipe():
    space = {"__name__": "__page__"}
    codes = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf8"), re.DOTALL | re.MULTILINE)
    for code in codes:
        if "def rmsd(A, B)" in code or "class ByInternalDistances" in code:
            exec(compile(code, PAGE.name, "exec"), space)
    return space


def frames_of(kind, n=14, atoms=9):
    rng = np.random.default_rng(0)
    shape = rng.normal(size=(atoms, 3))
    frames = shape + 0.3 * rng.normal(size=(n, atoms, 3))
    frames[n // 2 :] *= [1, 1, -1]  # mirror images
    frames[..., {"any": 3, "planar": 2, "line": 1}[kind] :] = 0.0
    turned = np.einsum("nax,nyx->nay", frames, Rotation.random(n, random_state=1).as_matrix())
    return 10.0 * (turned + rng.normal(size=(n, 1, 3)))


@pytest.mark.parametrize("kind", ["any", "planar", "line"])
def test_rmsd_is_that_of_the_best_rotation(recipe, kind):
    frames = frames_of(kind)
    n, atoms = frames.shape[:2]
    middle = frames - frames.mean(axis=1, keepdims=True)
    # scipy warns of lines, whose best rotation is not unique; its residual is
    expected = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            C = middle[i].T @ middle[j]
            values = np.linalg.svd(C, compute_uv=False)
            best = values[:2].sum() + np.sign(np.linalg.det(C)) * values[2]
            expected[i, j] = np.sqrt(max((np.sum(middle[[i, j]] ** 2) - 2 * best) / atoms, 0.0))
    found = recipe["rmsd"](frames.reshape(n, -1), frames.reshape(n, -1))
    np.testing.assert_allclose(found, expected, atol=3e-5)
    if kind == "any":
        for i, j in ((0, 1), (2, 10), (8, 9), (3, 3)):
            length = Rotation.align_vectors(middle[i], middle[j])[1] / np.sqrt(atoms)
            np.testing.assert_allclose(found[i, j], length, atol=1e-5)


def test_candidates_by_internal_distances_find_the_nearest(recipe):
    frames = recipe["frames"]
    search = recipe["ByInternalDistances"](n_neighbors=5).fit(frames)
    found = search.transform(frames).toarray()
    np.fill_diagonal(found, 0.0)  # a frame finds itself
    exact = np.sort(recipe["rmsd"](frames, frames), axis=1)[:, :6]
    np.testing.assert_allclose(np.sort(np.where(found > 0, found, np.inf), axis=1)[:, :5], exact[:, 1:], atol=1e-6)


@pytest.mark.parametrize("returned", ["words", 1j * np.ones((9, 9)), object()])
def test_what_is_no_array_of_numbers_is_refused(returned: object) -> None:
    with pytest.raises(InputError, match="no array of real numbers"):
        ClassicalMDS(metric=blockwise(lambda left, right: returned)).fit(np.random.default_rng(0).random((9, 2)))
