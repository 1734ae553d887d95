"""More of the spectrum of every fitted kernel: eigenvalues, the negative part, shares."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from gramfold import (
    LLE,
    PCA,
    ClassicalMDS,
    FactorAnalysis,
    HeatKernel,
    Isomap,
    KernelIsomap,
    KernelPCA,
    LandmarkIsomap,
    LaplacianEigenmaps,
    NystromEmbedding,
    OrdinalMDS,
    SpectralClustering,
)
from gramfold.datasets import make_swiss_roll
from gramfold.embedding import more_spectrum
from gramfold.errors import DisconnectedGraphWarning, InputError
from gramfold.runtime.costs import Costs, EigenCosts
from gramfold.spectral.negative import negative_part
from tests.contract.discovery import by_name, exported

EVERY = [cls for cls in exported() if cls is not SpectralClustering]
TABLES = {"roll": make_swiss_roll(300, random_state=0).points, "digits": load_digits().data[:300]}
# penalties, whose pseudo-inverse or function is the kernel, and kernels that have the map's own directions only
NO_SHARES = {
    "CommuteTime": "sparse",
    "DiffusionMap": "sparse",
    "HeatKernel": "sparse",
    "HessianLLE": "sparse",
    "LLE": "sparse",
    "LTSA": "sparse",
    "LaplacianEigenmaps": "sparse",
    "ModifiedLLE": "sparse",
    "KernelEigenmaps": "no directions",
    "LPP": "no directions",
    "FactorAnalysis": "no directions",
    "ProbabilisticPCA": "no directions",
    "ProjectionPursuit": "no directions",
}


@cache
def fitted(cls: type, table: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls().fit(TABLES[table])


def all_eigenvalues(model) -> np.ndarray:
    """Of M^½ K M^½ over the vertices, written out, ascending."""
    kernel = model.kernel_
    first = np.unique(kernel.rows, return_index=True)[1]  # a row of each vertex
    root = np.sqrt(kernel.mass)
    return np.linalg.eigvalsh(kernel.dense()[np.ix_(first, first)] * np.outer(root, root))


each = pytest.mark.parametrize("cls", EVERY, ids=by_name)
on_each_table = pytest.mark.parametrize("table", TABLES)


@each
@on_each_table
def test_the_leading_eigenvalues_are_those_of_the_fit(cls, table):
    model = fitted(cls, table)
    spectrum = model.spectrum_
    found = model.leading_eigenvalues(len(spectrum))
    np.testing.assert_allclose(found, spectrum.eigenvalues, rtol=max(1e-6, 2 * float(spectrum.residuals.max())))
    assert model.leading_eigenvalues(np.int64(1)) == pytest.approx(found[:1], rel=1e-6)


@each
@on_each_table
def test_more_of_them_are_those_of_the_kernel_written_out(cls, table):
    model = fitted(cls, table)
    every = all_eigenvalues(model)[::-1]
    if cls is HeatKernel:
        every = every[1:]  # without the constant function, the null vector of the Laplacian: its heat stays
    found = model.leading_eigenvalues(6)
    assert len(found) <= 6
    np.testing.assert_allclose(found, every[: len(found)], rtol=1e-5, atol=1e-8 * every[0])
    if len(found) < 6:  # the kernel has no more
        assert (every[len(found) :] < 1e-7 * every[0]).all()
    assert (np.diff(found) <= 1e-9 * found[0]).all(), "descending"


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_rows_without_mass_have_no_eigenvalues():
    n, rng = 600, np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(n, 2)), 9.0 + 0.1 * rng.normal(size=(9, 2))])  # nine rows on one bridge
    model = LaplacianEigenmaps(loose_rows="trim").fit(rows)
    assert (model.kernel_.mass == 0).any()
    found = model.leading_eigenvalues(6)
    np.testing.assert_allclose(found, all_eigenvalues(model)[::-1][:6], rtol=1e-6)
    np.testing.assert_allclose(found[:2], model.spectrum_.eigenvalues, rtol=1e-6)
    with pytest.raises(InputError, match="eigenvalues beyond its known null space"):
        model.leading_eigenvalues(n)


@each
def test_a_count_that_is_none_is_refused_in_one_sentence(cls):
    model = fitted(cls, "roll")
    for count in (0, -1, 301, 2.0, "2", None, True, np.nan):
        with pytest.raises(InputError, match=rf"the kernel of {cls.__name__} has \d+ eigenvalues .* pass an integer"):
            model.leading_eigenvalues(count)


@each
@on_each_table
def test_shares_add_up_to_at_most_one_or_are_refused_by_name(cls, table):
    model = fitted(cls, table)
    reason = NO_SHARES.get(cls.__name__)
    if reason:
        with pytest.raises(InputError, match=rf"the kernel of {cls.__name__}\b.*{reason}|{reason}.*{cls.__name__}"):
            model.shares()
        return
    found, values = model.shares(), model.spectrum_.eigenvalues
    assert found.shape == values.shape
    assert (found >= 0).all()
    assert found.sum() <= 1 + 1e-12
    every = all_eigenvalues(model)
    np.testing.assert_allclose(found, values.clip(min=0) / every[every > 0].sum(), rtol=1e-6)


@each
@on_each_table
def test_the_negative_part_is_that_of_the_kernel_written_out(cls, table):
    model = fitted(cls, table)
    every = all_eigenvalues(model)
    found, size = model.negative_part(), np.abs(every).sum()
    assert found.exact
    assert found.mass == pytest.approx(np.abs(every[every < 0]).sum() / size, abs=1e-9)
    assert found.most_negative == pytest.approx(min(every[0], 0.0), abs=1e-9 * size)
    assert (found.mass > 1e-3) == (cls.__name__ in {"Isomap", "LandmarkIsomap", "OrdinalMDS"})


@each
def test_a_model_that_is_not_fitted_is_told_so(cls):
    for ask in (lambda m: m.leading_eigenvalues(2), lambda m: m.negative_part(), lambda m: m.shares()):
        with pytest.raises(NotFittedError):
            ask(cls())


# --- cases of their own


def test_independent_coordinates_are_among_the_leading_ones():
    strip = np.random.default_rng(0).random((600, 2)) * [6.0, 1.0]
    model = LaplacianEigenmaps(coordinates="independent").fit(strip)
    taken = model.spectrum_.taken
    assert taken.tolist() != [0, 1]
    found = model.leading_eigenvalues(int(taken[-1]) + 1)
    np.testing.assert_allclose(found[taken], model.spectrum_.eigenvalues, rtol=1e-6)


def test_copies_of_rows_count_as_rows():
    X = np.repeat(np.random.default_rng(0).standard_normal((120, 4)), [1, 2, 3] * 40, axis=0)
    for cls in (Isomap, ClassicalMDS, OrdinalMDS, KernelIsomap, PCA):
        model = cls().fit(X)
        every = all_eigenvalues(model)[::-1]
        np.testing.assert_allclose(model.leading_eigenvalues(4), every[:4], rtol=1e-8)
        assert model.negative_part().mass == pytest.approx(
            np.abs(every[every < 0]).sum() / np.abs(every).sum(), abs=1e-10
        )


def test_of_several_components_the_largest_answers():
    X = TABLES["roll"]
    apart = np.vstack([X, X[:60] + [0, 0, 1e4]])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(on_disconnected="separate").fit(apart)
    alone = Isomap().fit(X)
    np.testing.assert_allclose(model.leading_eigenvalues(3), alone.leading_eigenvalues(3), rtol=1e-9)
    assert model.negative_part().mass == pytest.approx(alone.negative_part().mass, rel=1e-9)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")  # as of the rows in their own unit
@pytest.mark.parametrize("cls", [Isomap, KernelPCA, PCA, LLE], ids=by_name)
def test_rows_in_another_unit(cls):
    X = TABLES["roll"]
    one, tiny = cls().fit(X), cls().fit(np.ldexp(X, -600))  # squares of these are no numbers
    found, other = one.leading_eigenvalues(3), tiny.leading_eigenvalues(3)
    np.testing.assert_allclose(other / other[0], found / found[0], rtol=1e-6)
    np.testing.assert_allclose(other[:2], tiny.spectrum_.eigenvalues, rtol=1e-6)


def test_before_the_repair_a_kernel_of_landmarks_is_the_landmarks():
    X = np.random.default_rng(0).standard_normal((300, 5))
    repaired, plain = KernelIsomap(landmarks=150).fit(X), LandmarkIsomap(landmarks=150).fit(X)
    before = repaired.negative_part(before_repair=True)
    assert before.mass == pytest.approx(plain.negative_part().mass, rel=1e-9)
    assert before.mass > 0.05
    assert repaired.negative_part().mass < 1e-9


@pytest.mark.parametrize("repair", ["constant", "shift", "clip"])
def test_the_part_before_a_repair_by_quadrature(repair, monkeypatch):
    X = load_digits().data[:500]
    repaired, truth = KernelIsomap(repair=repair).fit(X), Isomap().fit(X).negative_part()
    asked = []

    def quadrature(kernel, spectrum):
        asked.append((kernel, spectrum))
        return negative_part(kernel, spectrum, costs=Costs(eigen=EigenCosts(all_rows=0)))

    monkeypatch.setattr(more_spectrum, "negative_part", quadrature)
    found = repaired.negative_part(before_repair=True)
    assert not found.exact
    assert found.interval[0] < truth.mass < found.interval[1]
    ((kernel, spectrum),) = asked
    known = spectrum.eigenvectors  # which are taken out of the kernel: they must be its own
    np.testing.assert_allclose(
        kernel.product(known), known * spectrum.eigenvalues, atol=1e-9 * float(spectrum.eigenvalues[0])
    )
    assert repaired.negative_part().mass < 1e-6, "and nothing is left of it"


def test_landmarks_of_an_indefinite_kernel():
    model = NystromEmbedding(kernel="sigmoid", gamma=1e-3, landmarks=100).fit(TABLES["digits"])
    assert model.negative_part().mass == 0
    assert model.negative_part(before_repair=True).mass > 0


def test_more_eigenvalues_than_the_landmarks_have_are_zero_or_fewer():
    model = NystromEmbedding(kernel="linear", landmarks=50).fit(TABLES["roll"])
    found = model.leading_eigenvalues(6)
    np.testing.assert_allclose(found[:3], PCA(3).fit(TABLES["roll"]).leading_eigenvalues(3), rtol=1e-6)
    assert (found[3:] < 1e-9 * found[0]).all()


def test_the_words_on_shares_lead_to_an_answer():
    with pytest.raises(InputError, match=r"use PCA\(\).fit\(X\).shares\(\)"):
        FactorAnalysis().fit(TABLES["digits"]).shares()
    assert PCA().fit(TABLES["digits"]).shares().sum() == pytest.approx(0.317, abs=0.01)
