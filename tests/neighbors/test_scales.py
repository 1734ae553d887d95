"""Columns that are nearly all that distances see: which are named, and which have one unit."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold.datasets import make_swiss_roll
from gramfold.errors import DisconnectedGraphWarning, GramfoldWarning, ScaleWarning
from gramfold.neighbors.scales import LoudColumns, counts

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(300, 8))


def scaled(column, factor, rows=NORMAL):
    changed = rows.copy()
    changed[:, column] *= factor
    return changed


@pytest.mark.parametrize("column", [0, 3, 7])
@pytest.mark.parametrize("factor", [30, 1e3, 1e9])
def test_one_column_in_another_unit(column, factor):
    found = LoudColumns.of(scaled(column, factor))
    assert found.columns == (column,)
    variances = scaled(column, factor).var(axis=0)
    assert found.share == pytest.approx(variances[column] / variances.sum())


def test_one_of_two_columns():
    found = LoudColumns.of(scaled(0, 1000, NORMAL[:, :2]))
    assert found.columns == (0,)
    apart = np.vstack([NORMAL[:, :2], NORMAL[:, :2] + [1e4, 0]])
    assert LoudColumns.of(apart) is None


def test_two_columns_of_thirty():
    rows = RNG.normal(size=(400, 30))
    rows[:, [3, 17]] *= 60
    found = LoudColumns.of(rows)
    assert found.columns == (3, 17)
    assert found.words([f"c{j}" for j in range(30)]).startswith("columns 'c3' and 'c17' have 99.")
    assert LoudColumns.of(rows[:, 1:20]) is None  # of 19 columns two are no few


def test_tables_of_scikit_learn():
    assert LoudColumns.of(load_wine().data).words(load_wine().feature_names).startswith("column 'proline' has 99.8%")
    assert LoudColumns.of(load_breast_cancer().data).columns == (3, 23)  # areas, of 30
    for load in (load_iris, load_digits):
        assert LoudColumns.of(load().data) is None


def one_unit():
    yield "normal", NORMAL
    yield "longer than wide", scaled(0, 5, NORMAL[:, :3])
    yield "two columns, a long strip", scaled(0, 30, NORMAL[:, :2])
    yield (
        "constant columns beside two",
        np.column_stack([NORMAL[:, 0], 30 * NORMAL[:, 1], np.ones(300), np.zeros(300)]),
    )
    yield "an outlier", np.where(np.arange(2400).reshape(300, 8) == 7, 1e6, NORMAL)
    yield "standardised", StandardScaler().fit_transform(load_wine().data)
    for name, load in (("wine", load_wine), ("cancer", load_breast_cancer), ("iris", load_iris)):
        scores = PCA().fit_transform(load().data)
        yield f"all scores of {name}", scores
        yield f"three scores of {name}", scores[:, :3]
    yield "some rows of scores", PCA().fit_transform(load_breast_cancer().data)[::2]
    yield "bits", (RNG.random((300, 20)) < np.r_[0.5, np.full(19, 0.001)]).astype(float)
    many = RNG.poisson(0.3, size=(300, 40)).astype(float)
    many[:, 0] = RNG.poisson(3000, 300)
    yield "counts", many
    yield "groups far apart", np.vstack([NORMAL, NORMAL + np.r_[1e4, np.zeros(7)]])
    yield "a roll among columns of noise", make_swiss_roll(300, extra_dimensions=20, random_state=0).points
    yield "nothing varies", np.ones((50, 5))
    yield "infinite", np.where(NORMAL > 3, np.inf, NORMAL)
    yield "gaps alone", np.full((50, 4), np.nan)


@pytest.mark.parametrize("rows", [pytest.param(rows, id=name) for name, rows in one_unit()])
def test_columns_of_one_unit_are_not_named(rows):
    assert LoudColumns.of(rows) is None


def test_categories_in_columns_of_their_own_are_no_counts():
    rows = (RNG.random((300, 20)) < 0.05).astype(float)
    rows[:, 4] = RNG.normal(50_000, 9_000, 300)
    assert not counts(rows)
    assert LoudColumns.of(rows).columns == (4,)


def test_gaps_are_left_out_of_variances():
    rows = scaled(2, 1e4)
    rows[RNG.random(rows.shape) < 0.1] = np.nan
    found = LoudColumns.of(rows)
    assert found.columns == (2,)
    variances = np.nanvar(rows, axis=0)
    assert found.share == pytest.approx(variances[2] / variances.sum())


@pytest.mark.parametrize("size", [1e-300, 1e-20, 1e300])
def test_the_size_of_all_columns_does_not_matter(size):
    found, expected = LoudColumns.of(scaled(2, 100) * size), LoudColumns.of(scaled(2, 100))
    assert found.columns == expected.columns
    assert found.share == pytest.approx(expected.share)


def test_few_of_many_rows_are_looked_at():
    rows = np.tile(scaled(5, 1000), (40, 1))
    assert LoudColumns.of(rows).columns == (5,)


# --- in a fit


LOUD = scaled(2, 1000)


@pytest.mark.parametrize(
    "model",
    [
        gramfold.PCA(),
        gramfold.Isomap(),
        gramfold.Isomap(metric="cityblock"),
        gramfold.LaplacianEigenmaps(),
        gramfold.LLE(),
        gramfold.KernelPCA(),
        gramfold.ClassicalMDS(),
        gramfold.LPP(),
        gramfold.ProbabilisticPCA(),
        gramfold.SpectralClustering(3),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning", "ignore::gramfold.errors.RankWarning")
@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")
def test_a_fit_says_so_once(model):
    with pytest.warns(ScaleWarning, match="column 2 has 100.0% of the variance: standardise columns") as told:
        model.fit(LOUD)
    assert sum(issubclass(one.category, ScaleWarning) for one in told) == 1
    assert told[0].filename == __file__


def silent(model, X, y=None, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        warnings.simplefilter("error", ScaleWarning)
        model.fit(X, y, **given)


def test_methods_without_units_are_silent():
    silent(gramfold.FactorAnalysis(), LOUD)
    silent(gramfold.ProjectionPursuit(), LOUD)
    silent(gramfold.OrientedPCA(), LOUD)
    silent(gramfold.KernelPCA(kernel="cosine"), LOUD)
    for metric in ("seuclidean", "cosine", "gower"):
        silent(gramfold.Isomap(metric=metric), LOUD)
    silent(gramfold.LPP(graph="classes"), LOUD, np.arange(300) % 3)
    distances = np.linalg.norm(LOUD[:, None] - LOUD, axis=2)
    silent(gramfold.Isomap(metric="precomputed"), distances)
    silent(gramfold.LPP(), LOUD, affinity=(distances < np.median(distances)).astype(float))
    silent(gramfold.PCA(), csr_array(np.abs(LOUD)))
    silent(gramfold.PCA(), StandardScaler().fit_transform(LOUD))


def test_the_column_has_its_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOUD, columns=list("abcdefgh"))
    with pytest.warns(ScaleWarning, match=r"column 'c' has 100.0% of the variance.*StandardScaler"):
        gramfold.PCA().fit(frame)


@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
def test_groups_that_lie_apart_are_no_unit():
    apart = np.vstack([NORMAL, NORMAL + np.r_[1e3, np.zeros(7)]])
    with pytest.warns(DisconnectedGraphWarning) as told:
        gramfold.Isomap().fit(apart)
    assert not any(issubclass(one.category, ScaleWarning) for one in told)
