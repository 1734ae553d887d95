"""What the user gives: each column that cannot be used is named, with an example and what to do."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from gramfold import PCA, ClassicalMDS, Isomap, KernelEigenmaps
from gramfold.errors import InputError, NotNumbersError

N = 12
A = np.random.default_rng(0).normal(size=(N, 2))
BASE = {"a": A[:, 0], "b": A[:, 1]}
DAYS = pd.date_range("2020-01-01", periods=N)


def frame(**more):
    return pd.DataFrame({**BASE, **more})


def polars(**more):
    return pl.DataFrame({**BASE, **more})


def fitted(X):
    return PCA(1).fit(X).embedding_


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (frame(d=DAYS), r"X holds dates or times in column 'd' \(2020-01-01 00:00:00\): leave .* days since the first"),
        (pd.DataFrame({"d": DAYS, "e": DAYS}), r"dates or times in columns 'd' \(.*\), 'e' \("),
        (frame(d=DAYS.tz_localize("UTC")), r"dates or times in column 'd'"),
        (frame(d=DAYS.to_period("D")), r"dates or times in column 'd'"),
        (frame(d=pd.Series([dt.date(2020, 1, 1)] * N, dtype=object)), r"dates or times in column 'd' \(2020"),
        (frame(d=DAYS - DAYS[0]), r"durations in column 'd' \(0 days 00:00:00\): .*durations as seconds"),
        (
            frame(t=["Ada"] * N),
            r"X holds text in column 't' \('Ada'\): leave such columns out, or convert them to numbers: text by one",
        ),
        (frame(t=["Ada"] * N, d=DAYS), r"text in column 't' \('Ada'\) and dates or times in column 'd'"),
        (frame(t=pd.Series([1.0, "x"] * 6, dtype=object)), r"text in column 't' \('x'\)"),
        (frame(t=pd.array(["a", "b"] * 6, dtype="string[pyarrow]")), r"text in column 't' \('a'\)"),
        (frame(c=pd.Categorical(["u", "v"] * 6)), r"categories in column 'c' \('u'\): .*pandas.get_dummies"),
        (frame(c=pd.Categorical([1, 2] * 6)), r"categories in column 'c' \(1\)"),
        (frame(c=pd.interval_range(0, N)), r"intervals in column 'c'"),
        (frame(c=pd.Series([[1, 2]] * N, dtype=object)), r"objects in column 'c' \(\[1, 2\]; float\(\) argument must"),
        (frame(c=np.ones(N) * 1j), r"^Complex data not supported: X holds complex values in column 'c' \(1j\)"),
        (pd.DataFrame({0: A[:, 0], 1: ["x"] * N}), r"text in column 1 \('x'\)"),
        (frame(**{f"t{j}": ["x"] * N for j in range(20)}), r"'t11' \('x'\) and 8 more: leave"),
        (polars(t=["Ada"] * N), r"text in column 't' \('Ada'\)"),
        (polars(d=[dt.date(2020, 1, 1)] * N), r"dates or times in column 'd' \(2020-01-01\)"),
        (polars(d=[dt.timedelta(days=1)] * N), r"durations in column 'd'"),
        (polars(c=pl.Series(["x", "y"] * 6, dtype=pl.Categorical)), r"categories in column 'c' \('x'\)"),
        (polars(c=[[1, 2]] * N), r"lists in column 'c'"),
        (pa.table({**BASE, "t": ["x"] * N}), r"text in column 't' \('x'\)"),
        ([[1.0, "b"]] * N, r"text in column 1 \('b'\)"),
        (np.array([["a", "1"]] * N), r"text in column 0 \('a'\)"),
        (np.array([["2020-01-01", "2020-01-02"]] * N, dtype="M8[D]"), r"dates or times in columns 0 \(2020-01-01\), 1"),
        (np.array([[{"foo": 1}, 1.0]] * N, dtype=object), r"objects in column 0 .* must be a string or a real number"),
        (A + 1j, r"^Complex data not supported: X holds complex values in columns 0"),
        (csr_array(A + 1j), r"^Complex data not supported: X holds complex values"),
    ],
)
def test_columns_that_hold_no_numbers_are_named(X, sentence):
    with pytest.raises(NotNumbersError, match=sentence) as caught:
        fitted(X)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (A[:1], r"X has 1 sample\(s\) \(shape=\(1, 2\)\) while a minimum of 2 is required: pass more rows"),
        (A[:0], r"X has 0 sample\(s\)"),
        (frame().iloc[:1], r"X has 1 sample\(s\)"),
        (A[:, :0], r"X has 0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required: pass at least one"),
        (frame()[[]], r"X has 0 feature\(s\)"),
        (
            np.zeros((N, 8, 8)),
            r"X has 3 dimensions \(shape=\(12, 8, 8\)\), but a table has 2: pass X.reshape\(12, -1\)",
        ),
        ([[[1, 2], [3, 4]]] * N, r"X has 3 dimensions"),
        (A[:, 0], r"Expected 2D array, got 1D array of shape \(12,\)\. Reshape your data: X.reshape\(-1, 1\)"),
        (frame()["a"], r"Expected 2D array, got 1D array .*X.to_frame\(\) for a Series"),
        (pl.Series([1.0, 2.0]), r"Expected 2D array, got 1D array"),
        (5.0, r"Expected 2D array, got a float, which has no rows and columns: pass an array or table"),
        (None, r"Expected 2D array, got a NoneType"),
        ({"a": [1, 2]}, r"Expected 2D array, got a dict"),
        ("points.csv", r"Expected 2D array, got a str, .*or read the file with gramfold.io.read_table"),
        ([[1, 2], [3]] * 6, r"rows differ in length \(2 values in row 0, 1 in row 1\): give each row a value"),
        (np.zeros(N, dtype=[("a", float), ("b", float)]), r"got a structured array: pass numpy.lib.recfunctions"),
        (polars().lazy(), r"X is a lazy query, not a table: pass X.collect\(\)"),
        (pd.DataFrame(np.c_[A, A], columns=list("abab")), r"several columns named 'a': give each its own name"),
        (frame().astype(pd.SparseDtype(float)), r"with a fill value other than 0: pass X.sparse.to_dense\(\)"),
    ],
)
def test_what_is_no_table(X, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        fitted(X)
    assert "\n" not in str(caught.value)


def test_sparse_columns_are_told_how_to_become_dense():
    X = pd.DataFrame(np.eye(N), columns=list("abcdefghijkl")).astype(pd.SparseDtype(float, 0.0))
    expected = (
        r"table of sparse columns of 12 x 12, but KernelEigenmaps reads dense rows: .*to_coo\(\).* "
        r"X.sparse.to_dense\(\) if that fits in memory \(1.2e-06 GB\)"
    )
    with pytest.raises(InputError, match=expected):
        KernelEigenmaps().fit(X)
    np.testing.assert_allclose(np.abs(fitted(X)), np.abs(fitted(X.sparse.to_coo())), atol=1e-12)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo"])
@pytest.mark.parametrize("wrong", [N, -1])
def test_entries_outside_of_a_sparse_matrix_are_refused(form, wrong):
    X = csr_array(np.eye(N)).asformat(form)
    (X.col if form == "coo" else X.indices)[3] = wrong
    model = PCA(1).fit(np.eye(N))
    for read in (PCA(1).fit, Isomap(metric="precomputed").fit, model.transform):
        with pytest.raises(InputError, match=r"sparse matrix of 12 x 12 with invalid indices \(.*: build it"):
            read(X)


@pytest.mark.parametrize("kind", ["boolean", "Int64", "Float64", "int64[pyarrow]", "object"])
def test_gaps_are_told_by_column_with_counts(kind):
    gaps = pd.Series(np.arange(N) % 2).astype(kind)
    gaps[[1, 4, 5]] = None
    X = frame(c=gaps)
    X.loc[2:8, "a"] = np.nan
    with pytest.raises(
        InputError,
        match=r"X contains NaN in row 1, column 'c' \(10 such values in all: 7 in column 'a', 3 in column 'c'\)",
    ):
        fitted(X)
    with pytest.raises(InputError, match=r"X contains NaN in row 1, column 'c' \(10 such values"):
        Isomap().fit(X)
    model = ClassicalMDS().fit(frame())
    with pytest.raises(InputError, match=r"X contains infinity in row 3, column 'b' \(1 such value in all\)"):
        model.transform(frame(b=np.where(np.arange(N) == 3, np.inf, 0.0)))


def test_gaps_of_arrays_and_sparse_rows():
    spoilt = A.copy()
    spoilt[[3, 4], [1, 0]] = np.nan
    expected = r"in row 3, column 1 \(2 such values in all: 1 in column 0, 1 in column 1\)"
    for X in (spoilt, spoilt.tolist(), csr_array(spoilt)):
        with pytest.raises(InputError, match=expected):
            fitted(X)
    with pytest.raises(InputError, match=r"1 in column 11 and more in 8 others\)"):
        fitted(np.diag(np.full(20, np.nan)))


@pytest.mark.parametrize(
    "more",
    [
        [True, False] * 6,
        pd.array([True, False] * 6, dtype="boolean"),
        pd.array([1, 0] * 6, dtype="Int64"),
        pd.array([1.0, 0.0] * 6, dtype="Float64"),
        pd.array([1, 0] * 6, dtype="int64[pyarrow]"),
        pd.array([decimal.Decimal(1), decimal.Decimal(0)] * 6, dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        pd.Series([decimal.Decimal(1), 0] * 6, dtype=object),
        pd.Series(["1.0", "0.0"] * 6, dtype=object),
        pd.arrays.SparseArray([1.0, 0.0] * 6, fill_value=0.0),
    ],
)
@pytest.mark.filterwarnings("ignore:pandas.DataFrame with sparse columns found")
def test_whatever_holds_numbers_is_read(more):
    expected = fitted(np.c_[A, [1.0, 0.0] * 6])
    np.testing.assert_array_equal(fitted(frame(c=more)), expected)


def test_tables_of_other_libraries_hold_the_same_numbers():
    expected = fitted(A)
    for X in (frame(), polars(), pa.table(BASE), A.tolist(), A.astype(object), np.asfortranarray(A)):
        np.testing.assert_array_equal(fitted(X), expected)


def test_lists_are_worked_on_in_float64():
    narrow = A.astype(np.float32)
    assert fitted(narrow).dtype == np.float32
    found = fitted(list(narrow))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, fitted(narrow.astype(np.float64)))


def test_places_on_the_map_are_read_alike():
    model = PCA(2).fit(A)
    expected = model.inverse_transform(model.embedding_)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_.tolist()), expected)
    with pytest.raises(InputError, match=r"got 1D array of shape \(2,\)\. Reshape .*Y.reshape\(1, -1\) for a row"):
        model.inverse_transform([0.0, 1.0])
    with pytest.raises(NotNumbersError, match=r"Y holds dates or times in column 'd'"):
        model.inverse_transform(pd.DataFrame({"a": A[:, 0], "d": DAYS}))


def test_what_lies_under_a_mask_is_missing():
    masked = np.ma.masked_array(A, mask=A > 1)
    with pytest.raises(InputError, match=rf"X contains NaN .*\({(A > 1).sum()} such values in all"):
        fitted(masked)
    np.testing.assert_array_equal(fitted(np.ma.masked_array(A)), fitted(A))
    counts = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 0], [1, 0]])
    with pytest.raises(InputError, match=r"X contains NaN in row 1, column 0 \(1 such value"):
        fitted(counts)
