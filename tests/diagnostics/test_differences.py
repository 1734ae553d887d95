"""Effects of chosen rows: against counting all pairs, against simulated truth, on tables that users bring."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from scipy.stats import mannwhitneyu, norm
from sklearn.datasets import load_wine

from gramfold.diagnostics import differences
from gramfold.diagnostics.effects import dominance, dominance_interval, share_interval
from gramfold.errors import InputError, NotNumbersError

SHARED = Path(__file__).parents[3] / "shared" / "data"


def by_pairs(a, b):
    """Cliff's delta, the plain way."""
    return np.sign(np.asarray(a)[:, None] - np.asarray(b)).mean()


def test_the_effect_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    for a, b in ((rng.normal(size=20) + 1, rng.normal(size=31)), (rng.integers(0, 4, 15), rng.integers(1, 4, 9))):
        assert np.isclose(dominance(a, b).delta, by_pairs(a, b))
        # and the statistic of Mann and Whitney
        assert np.isclose(dominance(a, b).delta, 2 * mannwhitneyu(a, b).statistic / (len(a) * len(b)) - 1)


def test_sparse_columns_are_as_dense_ones():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (np.where(rng.random(n) < 0.4, rng.normal(size=n).round(1), 0.0) for n in (13, 29))
        found = dominance(a[a != 0], b[b != 0], (int((a == 0).sum()), int((b == 0).sum())))
        assert np.isclose(found.delta, by_pairs(a, b))
        assert np.isclose(found.variance, dominance(a, b).variance)
    X = np.where(rng.random((60, 8)) < 0.3, rng.integers(-2, 5, (60, 8)), 0).astype(float)
    chosen = np.arange(60) < 25
    dense = differences(X, chosen)
    for kind in (csr_array, csc_array):
        sparse = differences(kind(X), chosen)
        assert sparse.names == dense.names
        for name in ("effects", "lower", "upper", "chosen", "rest", "chosen_means", "rest_means"):
            assert np.allclose(getattr(sparse, name), getattr(dense, name))


def intervals(found, m, n):
    """Single ones, of 95%."""
    deltas, variances = np.array([(one.delta, one.variance) for one in found]).T
    sizes = (np.full(len(found), float(size)) for size in (m, n))
    return dominance_interval(deltas, variances, *sizes, norm.ppf(0.975))


@pytest.mark.parametrize(("m", "n"), [(20, 200), (50, 50), (200, 20)])
def test_groups_of_unlike_spread(m, n):
    rng = np.random.default_rng(0)
    low, high = intervals([dominance(5 * rng.normal(size=m), rng.normal(size=n)) for _ in range(2000)], m, n)
    assert np.mean((low <= 0) & (high >= 0)) > 0.92


def test_the_variance_is_that_of_repeated_draws():
    rng = np.random.default_rng(0)
    found = [dominance(2 * rng.normal(size=40) + 1, rng.normal(size=60)) for _ in range(3000)]
    assert np.isclose(np.var([one.delta for one in found]), np.mean([one.variance for one in found]), rtol=0.1)


@pytest.mark.parametrize(
    ("m", "n", "shift"), [(10, 30, 0.0), (10, 30, 1.0), (40, 200, 2.0), (8, 8, 1.5), (20, 20, 3.0)]
)
def test_intervals_hold_as_often_as_they_say(m, n, shift):
    rng = np.random.default_rng(0)
    truth = 2 * norm.cdf(shift / np.sqrt(2)) - 1
    low, high = intervals([dominance(rng.normal(size=m) + shift, rng.normal(size=n)) for _ in range(2000)], m, n)
    assert 0.93 < np.mean((low <= truth) & (truth <= high)) <= 0.99
    shares = norm.cdf(shift), 0.5
    a, b = (rng.binomial(size, share, 2000) / size for size, share in zip((m, n), shares, strict=True))
    low, high = share_interval(a, np.full(2000, float(m)), b, np.full(2000, float(n)), norm.ppf(0.975))
    assert np.mean((low <= shares[0] - 0.5) & (shares[0] - 0.5 <= high)) > 0.94


@pytest.mark.parametrize(
    ("share", "m", "n"), [(0.0003, 1000, 99_000), (0.01, 50, 500), (0.05, 20, 200), (0.3, 20, 200)]
)
def test_rare_categories_are_not_clear_by_chance(share, m, n):
    """At the width for 50 columns, of which 1 in 1,000 may be."""
    rng = np.random.default_rng(0)
    a, b = (rng.binomial(size, share, 50_000) / size for size in (m, n))
    low, high = share_interval(a, np.full(50_000, float(m)), b, np.full(50_000, float(n)), norm.isf(0.025 / 50))
    assert np.mean((low > 0) | (high < 0)) < 0.001


def test_all_intervals_hold_together():
    """Among 200 columns of noise hardly a table has one that is clear, where single intervals would have ten."""
    rng = np.random.default_rng(0)
    tables = [differences(rng.normal(size=(60, 200)), np.arange(60) < 20).clear.any() for _ in range(60)]
    assert np.mean(tables) <= 0.1
    low, high = intervals([dominance(rng.normal(size=20), rng.normal(size=40)) for _ in range(200)], 20, 40)
    assert 2 < ((low > 0) | (high < 0)).sum() < 20


def test_an_effect_at_its_end_has_an_interval():
    low, high = dominance_interval(np.array([1.0, -1.0]), np.zeros(2), np.full(2, 10.0), np.full(2, 10.0), 1.96)
    assert 0.3 < low[0] < 0.9
    assert high[0] == pytest.approx(1)
    assert np.allclose(low, -high[::-1])


def test_neither_outliers_nor_units_change_the_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    chosen = np.arange(100) < 40
    X[chosen, 2] += 2
    plain = differences(X, chosen)
    wild = X * (1e-9, 1, 1e6, 1, 1)
    wild[60, 2] = 1e300  # one row of the rest
    found = differences(wild, chosen)
    assert found.names[0] == plain.names[0] == "column 2"
    assert abs(found.effects[0] - plain.effects[0]) < 0.05
    assert np.allclose(differences(np.exp(X), chosen).effects, plain.effects)


def test_categories_and_gaps():
    rng = np.random.default_rng(0)
    chosen = np.arange(200) < 80
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.3, np.nan, rng.normal(50, 10, 200) + 15 * chosen),
            "colour": np.where(
                chosen, rng.choice(["red", "red", "blue", "green"], 200), rng.choice(["blue", "green"], 200)
            ),
            "smoker": pd.Categorical(np.where(rng.random(200) < np.where(chosen, 0.9, 0.2), "yes", "no")),
            "lost": np.full(200, np.nan),
            "noise": rng.normal(size=200),
        }
    )
    frame.loc[:20, "colour"] = None
    found = differences(frame, chosen)
    table = found.to_pandas()
    assert table.loc["colour = red", "effect"] == pytest.approx(
        (frame.colour[chosen].dropna() == "red").mean() - (frame.colour[~chosen].dropna() == "red").mean()
    )
    assert table.loc["age", "known_chosen"] == frame.age[chosen].notna().sum()
    assert table.loc["age", "effect"] == pytest.approx(
        by_pairs(frame.age[chosen].dropna(), frame.age[~chosen].dropna())
    )
    assert {"smoker = yes", "smoker = no"} & set(found.names[:3])
    assert np.isnan(table.loc["lost", "effect"])
    assert found.names[-1] == "lost"
    assert not found.clear[found.names.index("noise")]
    assert "columns and categories differ" in str(found)


def test_names_of_rows_are_no_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"row {i}" for i in range(40)], "kind": rng.choice(list("abc"), 40)})
    assert {name.split(" = ")[0] for name in differences(frame, [0, 1, 2]).names} == {"kind"}
    with pytest.raises(InputError, match="nothing to compare"):
        differences(frame[["id"]], [0, 1, 2])


def test_names_of_every_kind_of_table():
    import pyarrow as pa

    X = np.random.default_rng(0).normal(size=(30, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for table in (frame, pa.Table.from_pandas(frame)):
        assert set(differences(table, [0, 1, 2]).names) == {"a", "b", "c"}
    for table in (X, X.tolist(), pd.DataFrame(X)):
        assert set(differences(table, [0, 1, 2]).names) == {"column 0", "column 1", "column 2"}


def test_numbers_and_masks_choose_the_same_rows():
    wine = load_wine(as_frame=True)
    mask = wine.target == 0
    by_mask, by_number = differences(wine.data, mask), differences(wine.data, np.flatnonzero(mask))
    assert by_mask.names == by_number.names
    assert np.array_equal(by_mask.effects, by_number.effects)
    assert by_mask.names[0] == "proline"  # as chemists tell them
    assert str(by_mask).splitlines()[1].split()[0] == "proline"
    assert (by_mask.n_chosen, by_mask.n_rest) == (59, 119)
    opposite = differences(wine.data, ~mask)
    assert np.allclose(opposite.effects, -by_mask.effects)


def test_a_mask_in_another_order_is_refused():
    wine = load_wine(as_frame=True)
    mask = wine.target == 0
    with pytest.raises(InputError, match=r"X and chosen have the same index in different orders.*chosen.loc"):
        differences(wine.data, mask.sample(frac=1, random_state=0))
    numbers = pd.Series(np.flatnonzero(mask), index=np.arange(59)[::-1])  # of rows, in an order of their own
    assert differences(wine.data, numbers).names == differences(wine.data, mask).names


def test_marker_genes_of_b_cells():
    path = SHARED / "pbmc3k.npz"
    if not path.exists():
        pytest.skip("pbmc3k.npz is not here")
    data = np.load(path)
    counts = csr_array((data["data"].astype(float), data["indices"].astype("int32"), data["indptr"]), data["shape"])
    names = [str(name) for name in data["genes"]]
    chosen = counts[:, [names.index("CD79A")]].toarray().ravel() > 0
    found = differences(counts, chosen, names=names)
    assert {"CD79A", "CD74", "HLA-DRA", "CD79B", "MS4A1"} <= set(found.names[:15])
    assert found.clear.sum() < 1500  # of 32,738


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (np.ones(10, dtype=bool), "10 of 10 rows are chosen"),
        ([3], "1 of 10 rows are chosen"),
        ([3, 10], "chosen holds row 10, but X has 10 rows"),
        ([-1, 2], "from 0 to 9"),
        (np.ones(9, dtype=bool), "a mask of 9 rows, but X has 10"),
        (["a", "b"], "pass a mask of 10 booleans"),
        (np.zeros((10, 2), dtype=bool), "pass a mask of 10 booleans"),
        ([0, 1, 1, 0, 1, 0, 0, 0, 1, 0], "10 integers, one for each row.*chosen == 1"),
        ([1, 2, 2], "the same number more than once"),
    ],
)
def test_rows_that_cannot_be_chosen(chosen, words):
    with pytest.raises(InputError, match=words):
        differences(np.random.default_rng(0).normal(size=(10, 3)), chosen)


def test_names_of_several_levels_and_kinds():
    X = np.random.default_rng(0).normal(size=(30, 3))
    levels = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")]))
    assert set(differences(levels, [0, 1, 2]).names) == {"a, x", "a, y", "b, x"}
    mixed = pd.DataFrame(X, columns=["a", 2020, ("b", 1)])
    assert set(differences(mixed, [0, 1, 2]).names) == {"a", "2020", "b, 1"}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_and_sparse_tables_are_as_arrays():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 3)) < 0.4, rng.normal(size=(40, 3)), 0.0)
    expected = differences(pd.DataFrame(X, columns=["a", "b", "c"]), np.arange(12))
    sparse = pd.DataFrame.sparse.from_spmatrix(csr_matrix(X), columns=["a", "b", "c"])
    for table in (sparse, np.asmatrix(X)):
        found = differences(table, np.arange(12), names=["a", "b", "c"])
        assert found.names == expected.names
        assert np.allclose(found.effects, expected.effects)
    assert differences(sparse, np.arange(12)).names == expected.names


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_infinity_is_told_with_its_place(kind):
    X = np.random.default_rng(0).normal(size=(10, 3))
    X[3, 1] = np.inf
    with pytest.raises(InputError, match=r"infinity in row 3 of column 'b'.*no mean"):
        differences(kind(X), [0, 1, 2], names=["a", "b", "c"])
    with pytest.raises(InputError, match="infinity in row 3 of column 1 "):
        differences(kind(X), [0, 1, 2])
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN in row 3 of column 1 "):
        differences(csr_array(X), [0, 1, 2])


def test_what_cannot_be_compared():
    X = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(InputError, match="level='a' is not a confidence"):
        differences(X, [0, 1, 2], level="a")
    with pytest.raises(InputError, match="rows differ in length"):
        differences([[1, 2], [3]], [0, 1])
    with pytest.raises(InputError, match="Expected 2D array, got a int"):
        differences(3, [0, 1])
    with pytest.raises(InputError, match="level=95"):
        differences(X, [0, 1, 2], level=95)
    with pytest.raises(InputError, match="2 names, but X has 3 columns"):
        differences(X, [0, 1, 2], names=["a", "b"])
    X[0, 0] = np.inf
    with pytest.raises(InputError, match="infinity"):
        differences(X, [0, 1, 2])
    dates = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=10)})
    with pytest.raises(NotNumbersError, match="but differences reads numbers"):
        differences(dates, [0, 1, 2])
