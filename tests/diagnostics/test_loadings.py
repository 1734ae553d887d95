"""What axes mean: planted columns are named, maps of nothing are given no meaning, real tables speak."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold.diagnostics import loadings
from gramfold.diagnostics.axis_words import axis_name, leading
from gramfold.diagnostics.cell_slopes import regressed, spreads_of
from gramfold.errors import InputError, PrecomputedInputError

SHARED = Path(__file__).parents[3] / "shared" / "data"
PLANTED = [5, 17, 30]  # columns of 40


def planted(kind, n=500, seed=0):
    """40 columns of noise, of scales from 0.001 to 0.16; three of them follow y, on a line or along an arc."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40)) * 10.0 ** rng.uniform(-3, -0.8, 40)
    y = rng.random(n)
    if kind == "linear":
        X[:, PLANTED] = np.outer(3 * y, [1, 0.8, -0.6]) + 0.15 * rng.normal(size=(n, 3))
    else:
        angle = 1.5 * np.pi * y
        arc = np.column_stack([np.cos(angle), np.sin(angle), 0.5 * angle])
        X[:, PLANTED] = 1.5 * arc + 0.05 * rng.normal(size=(n, 3))
    return X, y


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X)


METHODS = [
    gramfold.PCA(),
    gramfold.ProbabilisticPCA(),
    gramfold.FactorAnalysis(),
    gramfold.MixturePPCA(),
    gramfold.OrientedPCA(),
    gramfold.DistortionDiscriminantAnalysis(),
    gramfold.ProjectionPursuit(),
    gramfold.KernelPCA(),
    gramfold.NystromEmbedding(landmarks=100),
    gramfold.ClassicalMDS(),
    gramfold.LandmarkMDS(),
    gramfold.Isomap(n_neighbors=10),
    gramfold.LandmarkIsomap(n_neighbors=10),
    gramfold.KernelIsomap(n_neighbors=10),
    gramfold.LLE(n_neighbors=15),
    gramfold.ModifiedLLE(n_neighbors=15),
    gramfold.HessianLLE(n_neighbors=15),
    gramfold.LTSA(n_neighbors=15),
    gramfold.LaplacianEigenmaps(n_neighbors=10),
    gramfold.CommuteTime(n_neighbors=10),
    gramfold.HeatKernel(n_neighbors=10),
    gramfold.DiffusionMap(n_neighbors=10),
    gramfold.KernelEigenmaps(),
    gramfold.LPP(),
]
# whose first axis is not y: rank correlation below 0.9
ASTRAY = {("linear", "ProjectionPursuit"), ("curved", "ProjectionPursuit")}


@pytest.mark.parametrize("kind", ["linear", "curved"])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_every_method_that_recovers_y_names_its_three_columns_first(method, kind):
    X, y = planted(kind)
    model = fitted(method, X)
    recovered = abs(spearmanr(model.embedding_[:, 0], y)[0]) >= 0.9
    assert recovered == ((kind, type(method).__name__) not in ASTRAY)
    if recovered:
        found = loadings(model)
        names = {name for name, *_ in found.top(0, 3)}
        assert names == {f"column {j}" for j in PLANTED}
        assert found.shares[0, PLANTED].sum() > 0.9
        assert found.explained[0] > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear", "curved"])
def test_semidefinite_embedding_too(kind):
    X, y = planted(kind, 200)
    model = fitted(gramfold.SDE(), X)
    assert abs(spearmanr(model.embedding_[:, 0], y)[0]) >= 0.9
    assert {name for name, *_ in loadings(model).top(0, 3)} == {f"column {j}" for j in PLANTED}


@pytest.mark.parametrize("kind", ["linear", "curved"])
def test_anybodys_map_of_the_same_rows(kind):
    X, y = planted(kind)
    rng = np.random.default_rng(1)
    Y = np.column_stack([y**3, rng.normal(size=len(y))])
    found = loadings(X, Y)
    assert {name for name, *_ in found.top(0, 3)} == {f"column {j}" for j in PLANTED}
    assert found.explained[0] > 0.8
    assert found.explained[1] < 0.1
    assert "The second axis has no meaning in these columns" in str(found)


def test_units_do_not_matter():
    X, y = planted("curved")
    units = 10.0 ** np.random.default_rng(2).uniform(-6, 6, X.shape[1])
    Y = np.column_stack([y, y**2])
    plain, other = loadings(X, Y), loadings(X * units, 1e5 * Y)
    assert np.allclose(plain.shares, other.shares, rtol=1e-6, atol=1e-9)
    assert np.allclose(plain.slopes, other.slopes, rtol=1e-6, atol=1e-9)


def test_rows_of_the_smallest_size_are_read():
    X, y = planted("linear", 200)
    plain = loadings(X, y[:, None])
    for table in (1e-315 * X, csr_array(1e-315 * X)):  # of few digits, and one over such a spread overflows
        assert np.allclose(plain.shares, loadings(table, y[:, None]).shares, atol=1e-3)


@pytest.mark.parametrize("size", [1e-180, 1e180])
def test_rows_of_any_size(size):
    X, y = planted("linear", 200)
    plain, other = loadings(X, y[:, None]), loadings(size * X, y[:, None])
    assert np.allclose(plain.shares, other.shares, rtol=1e-6, atol=1e-9)
    model = gramfold.PCA().fit(size * X)
    assert loadings(model).explained[0] > 0.99


def test_slopes_of_a_linear_map_are_those_of_its_columns():
    """Against theory: of independent columns y = x w the slope is w s / s(y), the share w² s² / Σ w² s²."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4)) * (1, 10, 0.1, 5)
    w = np.array([1.0, -0.05, 3.0, 0.0])
    y = X @ w
    found = loadings(X, np.column_stack([y, rng.normal(size=2000)]))
    theory = w * X.std(axis=0) / y.std()
    assert np.allclose(found.slopes[0], theory, rtol=0.1, atol=0.01)  # the penalty takes a little
    assert np.allclose(found.shares[0], theory**2 / (theory**2).sum(), atol=0.02)
    model = gramfold.PCA().fit(X)
    by_derivative = loadings(model)
    assert by_derivative.by == "derivative"
    slopes = model.components_ * X.std(axis=0) / model.embedding_.std(axis=0)[:, None]
    assert np.allclose(by_derivative.slopes, slopes, rtol=0.1, atol=0.05)


def test_leave_one_out_errors_are_those_of_fits_without_the_row():
    """The closed form, against as many regressions as there are rows."""
    from gramfold.diagnostics.cell_slopes import _PENALTIES, _Cell

    rng = np.random.default_rng(0)
    for n, d in ((25, 6), (15, 30)):
        X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, 2))
        cell, share = _Cell.of(X, Y, np.ones(d)), float(_PENALTIES[6])
        penalty, slow = share * cell.squares.max(), np.zeros(2)
        for i in range(n):
            rest = np.arange(n) != i
            # an intercept that is not penalised; the columns less the mean of all rows, which it takes up
            Z = np.column_stack([np.ones(n), X - X.mean(axis=0)])
            matrix = Z[rest].T @ Z[rest] + np.diag([0.0] + [penalty] * d)
            slow += (Y[i] - Z[i] @ np.linalg.solve(matrix, Z[rest].T @ Y[rest])) ** 2
        assert np.allclose(cell.misses(share), slow, rtol=1e-8)


def test_a_map_of_nothing_has_no_meaning_however_many_columns():
    rng = np.random.default_rng(0)
    for n, d in ((30, 100), (200, 5), (500, 600)):
        found = loadings(rng.normal(size=(n, d)), rng.normal(size=(n, 2)))
        assert (found.explained < 0.1).all()
        assert str(found).count("has no meaning") == 2


def test_copies_tell_nothing_of_each_other():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 200)), rng.normal(size=(60, 2))
    assert (loadings(np.vstack([X, X]), np.vstack([Y, Y])).explained < 0.1).all()


def test_a_region_where_the_axis_means_something_else():
    """Rows of two islands: the first axis is `size` in one and `age` in the other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    left = np.arange(600) < 300
    Y = np.column_stack([np.where(left, X[:, 0] - 8, X[:, 1] + 8), X[:, 2]])
    found = loadings(pd.DataFrame(X, columns=["size", "age", "up", "a", "b"]), Y)
    for region in found.regions:
        rows = left[region.rows]
        if rows.all() or not rows.any():
            assert found.top(0, 1, region=region.name)[0][0] == ("size" if rows.all() else "age")
            assert region.explained[0] > region.explained_by_whole[0]
    assert found.top(1, 1)[0][0] == "up"
    words = str(found).splitlines()[0]
    assert "left it is size (+)" in words or "right it is age (+)" in words


def test_columns_that_vary_together_are_no_other_meaning():
    rng = np.random.default_rng(0)
    t = rng.random(800) * 4
    X = np.column_stack([t, t, t, rng.normal(size=800)]) + 0.02 * rng.normal(size=(800, 4))
    found = loadings(X, np.column_stack([t, X[:, 3]]))
    assert found.kin[0].tolist() == [True, True, True, False]
    assert "left" not in str(found).splitlines()[0]
    assert np.allclose(found.shares[0, :3], 1 / 3, atol=0.1)


def test_sparse_rows_are_as_dense_ones():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 400)) < 0.1, rng.random((300, 400)), 0.0)
    Y = np.column_stack([X[:, 3] - X[:, 7], X[:, 1]])
    dense, sparse = loadings(X, Y), loadings(csr_array(X), Y)
    assert np.allclose(dense.shares, sparse.shares, atol=1e-6)
    assert dense.top(0, 2)[0][0] in {"column 3", "column 7"}
    models = [gramfold.PCA().fit(rows) for rows in (X, csr_array(X))]
    assert np.allclose(*(loadings(model).shares for model in models), atol=1e-6)


def test_names_come_from_the_table_and_from_the_user():
    frame = pd.DataFrame(planted("linear")[0][:, PLANTED], columns=["age", "dose", "weight"])
    model = gramfold.PCA().fit(frame)
    assert loadings(model).names == ("age", "dose", "weight")
    assert loadings(model, names=["a", "b", "c"]).names == ("a", "b", "c")
    assert loadings(frame, model.embedding_).names == ("age", "dose", "weight")
    assert loadings(model, frame[:100]).n_rows == 100
    with pytest.raises(InputError, match="2 names, but X has 3 columns"):
        loadings(model, names=["a", "b"])


def test_a_map_in_another_order_is_refused():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), index=[f"row {i}" for i in range(60)])
    Y = X.iloc[:, :2]
    with pytest.raises(InputError, match=r"X and Y have the same index in different orders.*Y.loc"):
        loadings(X, Y.sample(frac=1, random_state=0))
    assert np.array_equal(loadings(X, Y).shares, loadings(X.to_numpy(), Y.to_numpy()).shares)


def test_the_table_has_every_number():
    found = loadings(gramfold.PCA().fit(planted("linear", 300)[0]))
    table = found.to_pandas()
    assert len(table) == (1 + len(found.regions)) * 2 * 40
    whole = table[(table.region == "whole map") & (table.axis == 1)]
    assert np.isclose(whole.share.sum(), 1)
    assert whole.column.iloc[0] == found.top(0, 1)[0][0]
    with pytest.raises(InputError, match="is not on this map"):
        found.top(0, region="nowhere")


def test_rows_without_a_place_are_left_out():
    X, y = planted("linear")
    Y = np.column_stack([y, y])
    Y[::7] = np.nan
    found = loadings(X, Y)
    assert found.n_rows == np.isfinite(Y[:, 0]).sum()
    for region in found.regions:
        assert np.isfinite(Y[region.rows]).all()


@pytest.mark.parametrize("n", [10, 20, 60])
def test_few_rows(n):
    X, y = planted("linear", n)
    found = loadings(X, np.column_stack([y, y**2]))
    assert found.regions == ()
    assert set(np.argsort(-found.shares[0])[:3]) == set(PLANTED)


def test_maps_of_one_and_of_three_axes():
    X, y = planted("linear")
    one = loadings(X, y[:, None])
    assert len(str(one).splitlines()) == 1
    assert {region.name for region in one.regions} <= {"left", "right", "centre"}
    three = loadings(X, np.column_stack([y, X[:, 0], X[:, 1], X[:, 2]]))
    assert [line.split()[1] for line in str(three).splitlines()] == ["first", "second", "third", "4th"]


def test_an_aligned_map_and_constant_columns():
    X, _ = planted("linear")
    X[:, 0] = 3.0
    model = gramfold.PCA().fit(X)
    turned = gramfold.align(model, -2 * model.embedding_[:, ::-1])
    plain, other = loadings(model), loadings(turned)
    assert np.allclose(plain.slopes[0], -other.slopes[1], atol=1e-6)
    assert plain.shares[0, 0] == 0
    flat = loadings(X, np.column_stack([np.ones(len(X)), X[:, 5]]))
    assert flat.explained[0] == 0
    assert np.isfinite(flat.shares).all()


def test_what_has_no_columns_is_refused():
    X, y = planted("linear", 60)
    distances = np.abs(X[:, None] - X[None]).sum(axis=2)
    with pytest.raises(PrecomputedInputError, match=r"loadings\(X, model.embedding_\)"):
        loadings(gramfold.ClassicalMDS(metric="precomputed").fit(distances))
    with pytest.raises(InputError, match="gower"):
        loadings(gramfold.ClassicalMDS(metric="gower").fit(X))
    with pytest.raises(InputError, match="not fitted"):
        loadings(gramfold.PCA())
    with pytest.raises(InputError, match="the map is missing"):
        loadings(X)
    with pytest.raises(InputError, match="60 rows and Y has 59"):
        loadings(X, y[1:, None])
    with pytest.raises(InputError, match="at least 10"):
        loadings(X[:9], X[:9, :2])
    with pytest.raises(InputError, match="needs a fitted model"):
        loadings(X, X[:, :2], by="derivative")
    with pytest.raises(InputError, match="sample='many' is not a number of rows"):
        loadings(X, X[:, :2], sample="many")
    with pytest.raises(InputError, match="by='slope' is not known"):
        loadings(X, X[:, :2], by="slope")
    with pytest.raises(InputError, match="pass the rows and the coordinates"):
        loadings(gramfold.OrdinalMDS().fit(X))


def test_derivatives_can_be_asked_for():
    X, _ = planted("curved")
    model = fitted(gramfold.Isomap(n_neighbors=10), X)
    assert loadings(model).by == "regression"
    found = loadings(model, by="derivative")
    assert found.by == "derivative"
    assert {name for name, *_ in found.top(0, 3)} == {f"column {j}" for j in PLANTED}
    # why regression is the default there: mean derivatives of a staircase explain less of the axis
    assert found.explained[0] < loadings(model).explained[0] - 0.2
    mixture = fitted(gramfold.KernelEigenmaps(), load_digits().data[:600])
    by_regression = loadings(mixture)
    assert by_regression.by == "regression"
    assert loadings(mixture, by="derivative").explained.mean() < by_regression.explained.mean() - 0.2


def scaled(load):
    table = load(as_frame=True)
    return pd.DataFrame(StandardScaler().fit_transform(table.data), columns=table.data.columns)


def test_wines_are_told_by_their_phenols_and_colour():
    for method in (gramfold.PCA(), gramfold.Isomap(n_neighbors=10), gramfold.LaplacianEigenmaps(n_neighbors=10)):
        found = loadings(fitted(method, scaled(load_wine)))
        assert "flavanoids" in [name for name, *_ in found.top(0, 2)]
        assert (found.explained > 0.6).all()


def test_tumours_are_told_by_size_and_shape():
    found = loadings(fitted(gramfold.Isomap(n_neighbors=10), scaled(load_breast_cancer)))
    first = " ".join(name for name, *_ in found.top(0, 6))
    assert "concave points" in first
    assert "perimeter" in first or "radius" in first
    assert "fractal dimension" in found.top(1, 1)[0][0]


def test_embryo_cells_are_told_by_genes_of_lineages():
    path = SHARED / "guo_embryo_qpcr.npz"
    if not path.exists():
        pytest.skip("guo_embryo_qpcr.npz is not here")
    data = np.load(path)
    frame = pd.DataFrame(data["X_norm"].astype(float), columns=data["genes"])
    first = {name for name, *_ in loadings(fitted(gramfold.PCA(), frame)).top(0, 6)}
    # trophectoderm against primitive endoderm (Guo et al., Developmental Cell 18, 2010)
    assert {"Id2", "Gata4", "Krt8"} <= first
    walked = {name for name, *_ in loadings(fitted(gramfold.DiffusionMap(n_neighbors=10), frame)).top(0, 8)}
    assert len(walked & {"Id2", "Tspan8", "DppaI", "Pdgfra", "Krt8", "Gata4"}) >= 3


def test_blood_cells_are_told_by_marker_genes():
    path = SHARED / "pbmc3k.npz"
    if not path.exists():
        pytest.skip("pbmc3k.npz is not here")
    data = np.load(path)
    counts = csr_array((data["data"].astype(float), data["indices"].astype("int32"), data["indptr"]), data["shape"])
    cells = csr_array(counts * (1e4 / np.asarray(counts.sum(axis=1)))[:, None])
    cells.data = np.log1p(cells.data)
    found = loadings(gramfold.PCA().fit(cells), names=[str(name) for name in data["genes"]])
    monocytes, lymphocytes = ({name for name, *_ in found.top(axis, 8)} for axis in (0, 1))
    assert {"LYZ", "S100A9", "CST3"} <= monocytes
    assert {"NKG7", "HLA-DRA"} <= lymphocytes


def test_a_hundred_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20))
    found = loadings(X, X[:, :2] + 0.1 * rng.normal(size=(100_000, 2)))
    assert found.n_rows == 5_000
    assert [found.top(axis, 1)[0][0] for axis in (0, 1)] == ["column 0", "column 1"]


def test_the_same_seed_gives_the_same_numbers():
    X, y = planted("curved", 800)
    Y = np.column_stack([y, X[:, 0]])
    a, b = (loadings(X, Y, sample=300, random_state=3) for _ in range(2))
    assert np.array_equal(a.shares, b.shares)
    assert a.n_rows == 300


def test_regression_in_one_cell_is_ridge_regression_of_scikit_learn():
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10)) * np.arange(1, 11)
    y = X @ rng.normal(size=10) + rng.normal(size=80)
    Y, spreads = (y / y.std())[:, None], spreads_of(X)
    found = regressed(X, Y, spreads, np.zeros(80, dtype=int)).values[0, 0]
    Z = X / spreads
    largest = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)[0] ** 2
    from gramfold.diagnostics.cell_slopes import _PENALTIES

    peers = [Ridge(alpha=share * largest).fit(Z, Y[:, 0]).coef_ for share in _PENALTIES]
    assert min(np.abs(found - peer).max() for peer in peers) < 1e-8


@pytest.mark.parametrize(
    ("weights", "named"),
    [
        ([1.0, -0.98, 0.0, 0.0], "is mostly a (+) and b (−): 100% of it."),
        ([1.0, 0.5, 0.0, 0.0], "is mostly a (+): 80% of it."),
        ([0.96, 0.0, 1.0, -0.98], "is mostly c (+), d (−) and a (+): 100% of it."),
    ],
)
def test_columns_with_nearly_the_same_share_are_named_together(weights, named):
    X = np.random.default_rng(0).normal(size=(2000, 4))
    X = np.linalg.qr(X - X.mean(axis=0))[0]  # without chance correlations, so that shares are those of the weights
    words = str(loadings(X, (X @ weights)[:, None], names=list("abcd"), by="regression"))
    assert named in words


def test_which_columns_lead():
    def named(*shares):
        return leading(np.array(shares)).tolist()

    assert named(0.51, 0.49) == [0, 1]
    assert named(0.32, 0.34, 0.34) == [1, 2, 0]
    assert named(0.5, 0.36, 0.14) == [0, 1]  # 0.36 is more than 0.7 of 0.5
    assert named(0.5, 0.34, 0.16) == [0]
    assert named(1.0, 0.0, 0.0) == [0]
    assert len(named(0.0, 0.0)) <= 2  # of a constant axis, which is not told
    assert named(*np.full(40, 1 / 40)) == [0, 1, 2, 3, 4, 5]  # not all forty
    assert named(1.0) == [0]


@pytest.mark.parametrize("n", [20, 500])
@pytest.mark.parametrize("far", [[1e4, 1e4], [-300.0, 0.0]])
def test_a_far_row_does_not_take_the_meaning_of_the_rest(n, far):
    X = np.random.default_rng(0).normal(size=(n, 3))
    Y = X[:, :2].copy()
    Y[7] = far
    found, without = loadings(X, Y, names=list("abc")), loadings(np.delete(X, 7, 0), np.delete(Y, 7, 0))
    assert found.n_far == 1
    assert without.n_far == 0
    assert found.n_rows == n - 1
    assert np.allclose(found.shares, without.shares)
    first, second, last = str(found).splitlines()
    assert first.startswith("The first axis is mostly a (+): ")
    assert second.startswith("The second axis is mostly b (+): ")
    assert last == "1 row far outside of the rest of the map was left out."
    assert all(7 not in region.rows for region in found.regions)


def test_many_far_rows_are_a_part_of_the_map():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[:30, 2] += 200.0  # a group of its own
    Y = X[:, [0, 2]]
    found = loadings(X, Y, names=list("abc"))
    assert found.n_far == 0
    assert found.n_rows == 400
    few = loadings(X, np.where(np.arange(400)[:, None] < 5, 1e3, Y), names=list("abc"))
    assert few.n_far == 0  # the group is far as well, and all far rows are more than a few


def test_most_rows_at_one_place_are_no_outliers():
    X = np.random.default_rng(0).normal(size=(200, 2))
    Y = np.where(np.arange(200) < 40, X[:, 0], 0.0)[:, None]
    assert loadings(X, Y).n_far == 0


def test_numbers_of_axes_are_ordinals():
    names = [axis_name(axis) for axis in range(113)]
    assert names[:4] == ["first", "second", "third", "4th"]
    assert names[10:13] == ["11th", "12th", "13th"]
    assert names[20:24] == ["21st", "22nd", "23rd", "24th"]
    assert names[100:102] == ["101st", "102nd"]
    assert names[110:113] == ["111th", "112th", "113th"]
