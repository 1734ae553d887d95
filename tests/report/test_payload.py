"""Numbers in blocks and columns of any table, read back by a decoder of the tests."""

import gzip
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramfold.errors import InputError
from gramfold.report.blocks import EXACT, SINGLE, Blocks
from gramfold.report.columns import Column, columns_of, find
from gramfold.report.payload import Payload
from gramfold.report.thinning import thinned
from tests.report.decoded import numbers, values

INF, NAN = float("inf"), float("nan")


def packed_numbers(given):
    blocks = Blocks()
    ref, digits = blocks.numbers(np.asarray(given, dtype=np.float64))
    return numbers(ref, [gzip.decompress(one) for one in blocks.finished()]), digits, ref


def packed(column: Column):
    """A column as the manifest has it, and its values read back."""
    blocks = Blocks()
    written = json.loads(Payload({"column": column.written(blocks)}, ()).text)["column"]
    return written, values(written, [gzip.decompress(one) for one in blocks.finished()])


def read(given, n=None):
    (raw,) = columns_of({"it": given}, len(given) if n is None else n)
    return raw.read()


def same(one, other):
    """Bit by bit, also the sign of a zero."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return np.array_equal(one, other, equal_nan=True) and np.array_equal(np.signbit(one), np.signbit(other))


# --- numbers


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.floats(), st.integers(-100, 100).map(float), st.sampled_from([0.1, 0.5, -0.0, NAN]))))
def test_every_number_of_few_rows_comes_back_exactly(given):
    given = [NAN if np.isnan(one) else one + 0.0 for one in given]  # the sign of NaN and of 0 is nothing
    found, digits, _ = packed_numbers(given)
    assert same(found, given)
    assert digits == 17


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.arange(70_000.0) % 300, "u16"),
        (np.arange(70_000.0) % 7 / 10, "u8"),
        (np.arange(30_000.0) % 300 / 10, "u16"),
        (np.full(10, NAN), "u16"),
        ([0.5, 0.25, 1e-3, 7.0], "f64"),
        ([0.5, 0.25, 0.125, 7.0], "f32"),
        ([1e300, -1e300, INF, NAN], "f64"),
    ],
)
def test_the_smallest_exact_form_is_taken(given, kind):
    found, digits, ref = packed_numbers(given)
    assert same(found, given)
    assert (ref["type"], digits) == (kind, 17)


@pytest.mark.parametrize(
    ("n", "kind", "error"), [(EXACT, "f64", 0), (EXACT + 1, "f32", 1e-7), (SINGLE + 1, "u16", 1e-5)]
)
def test_numbers_of_many_rows_lose_no_more_than_is_told(n, kind, error):
    given = np.random.default_rng(0).normal(size=n)
    found, digits, ref = packed_numbers(given)
    assert ref["type"] == kind
    assert np.abs(found - given).max() <= error * np.ptp(given)
    assert digits == {"f64": 17, "f32": 7, "u16": 4}[kind]


def test_far_numbers_of_many_rows_do_not_blur_the_others():
    given = np.random.default_rng(0).normal(size=SINGLE + 1)
    given[7] = 1e9
    found, _, ref = packed_numbers(given)
    assert ref["type"] == "f32"
    assert np.abs(found - given)[given < 1e9].max() < 1e-6


def test_numbers_beyond_single_precision_stay_what_they_are():
    given = np.random.default_rng(0).normal(size=EXACT + 1) * 1e200
    found, _, _ = packed_numbers(given)
    assert same(found, given)


@pytest.mark.parametrize("offset", [0.0, 5e6, 1e12])
def test_coordinates_far_from_the_origin_keep_their_distances(offset):
    given = np.random.default_rng(0).normal(size=500) + offset
    blocks = Blocks()
    ref = blocks.coordinates(given)
    found = numbers(ref, [gzip.decompress(one) for one in blocks.finished()])
    assert np.abs(found - given).max() < 1e-4 * np.ptp(given)


def test_blocks_are_the_same_for_the_same_arrays_and_never_split_one():
    def made():
        blocks = Blocks()
        refs = [blocks.add(np.arange(700_000, dtype=np.float64) + j) for j in range(4)]
        refs.append(blocks.add(np.arange(3, dtype=np.uint8)))
        return refs, blocks.finished()

    refs, done = made()
    assert done == made()[1]
    assert len(done) > 1
    opened = [gzip.decompress(one) for one in done]
    for j, ref in enumerate(refs[:4]):
        assert same(numbers(ref, opened), np.arange(700_000) + j)


# --- columns

_FIRST = "1970-01-01T00:00:00.001"


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        ([1, 2, 3], "number", [1, 2, 3]),
        ([1, None, 3], "number", [1, NAN, 3]),
        ([1.5, INF, -INF], "number", [1.5, INF, -INF]),
        ([Decimal("1.5"), Fraction(1, 4), np.float32(2)], "number", [1.5, 0.25, 2]),
        ([2**53, -(2**53)], "number", [2.0**53, -(2.0**53)]),
        ([2**53 + 1, 7], "category", ["9007199254740993", "7"]),
        (np.array([2**63 + 1, 5], dtype=np.uint64), "category", ["9223372036854775809", "5"]),
        ([True, False, None], "category", ["True", "False", None]),
        (np.array([True, False]), "category", ["True", "False"]),
        (["x", "y", "x", None], "category", ["x", "y", "x", None]),
        ([1, "a", None], "category", ["1", "a", None]),
        ([[1, 2], [3], [4]], "category", ["[1, 2]", "[3]", "[4]"]),
        ([1 + 2j, 3j, 0j], "category", ["(1+2j)", "3j", "0j"]),
        ([b"abc", b"\xff"], "category", ["abc", "\\xff"]),
        ([timedelta(seconds=90), None], "number", [90, NAN]),
        ([np.timedelta64(1, "Y"), timedelta(seconds=1)], "number", [31_556_952, 1]),
        (np.array([2**62, 1], dtype="timedelta64[D]"), "number", [2.0**62 * 86_400, 86_400]),
        (np.array([2**62, 1], dtype="datetime64[ms]"), "category", ["146140482-04-24T15:36:27.904", _FIRST]),
        (np.array(["1e4000", "2"], dtype=np.longdouble), "category", ["1e+4000", "2.0"]),
        ([Decimal("1e4000"), Decimal(2)], "category", ["1E+4000", "2"]),
        ([None, None], "number", [NAN, NAN]),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "number", [1, NAN]),
        (pd.array([1, None], dtype="Int64"), "number", [1, NAN]),
        (pd.array([True, None], dtype="boolean"), "category", ["True", None]),
        (pd.Series(["a", None], dtype="category"), "category", ["a", None]),
        (pd.Series([1.0, 0.0], dtype="Sparse[float]"), "number", [1, 0]),
        (pd.Series([3, None], dtype="int64[pyarrow]"), "number", [3, NAN]),
        (pd.period_range("2001-01", periods=2, freq="M").to_series(), "category", ["2001-01", "2001-02"]),
        (pl.Series([1, None]), "number", [1, NAN]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), "category", ["a", "b"]),
        (pl.Series([1, 2**100], dtype=pl.Int128), "category", ["1", str(2**100)]),
        (pl.Series([Decimal(1), "b"], dtype=pl.Object), "category", ["1", "b"]),
        (pa.array([1, None]), "number", [1, NAN]),
        (pa.array([2**62, None], pa.duration("s")), "number", [2.0**62, NAN]),
        (pa.chunked_array([["a"], ["b"]]), "category", ["a", "b"]),
        (pa.array([{"a": 1}, None]), "category", ["{'a': 1}", None]),
        (pa.array([Decimal("1.50")]), "number", [1.5]),
        (pa.array(["u", None]).dictionary_encode(), "category", ["u", None]),
    ],
)
def test_whatever_a_column_holds_the_page_has(given, kind, expected):
    written, found = packed(read(given))
    assert written["kind"] == kind
    assert same(found, expected) if kind == "number" else found == expected


_AWARE = datetime(2024, 3, 31, 12, tzinfo=UTC)
_NAIVE = _AWARE.replace(tzinfo=None)
_NOON = _AWARE.timestamp() * 1000


@pytest.mark.parametrize(
    ("given", "expected", "form", "zone"),
    [
        ([date(1969, 12, 31), None], [-86_400_000, NAN], "day", ""),
        ([_NAIVE], [_NOON], "second", ""),
        ([_AWARE], [_NOON], "second", "UTC"),
        (pd.Series(pd.to_datetime(["2024-03-31 14:00"])).dt.tz_localize("Europe/Berlin"), [_NOON], "second", "UTC"),
        (pd.Series(pd.to_datetime(["2024-03-31 12:00", None])), [_NOON, NAN], "second", ""),
        (np.array(["2024-03-31T12", "NaT"], dtype="datetime64[ns]"), [_NOON, NAN], "second", ""),
        (pl.Series([date(1970, 1, 2)]), [86_400_000], "day", ""),
        (pa.array([_NAIVE], pa.timestamp("us", "Asia/Tokyo")), [_NOON], "second", "UTC"),
        (np.array(["12024-01-01"], dtype="datetime64[D]"), [317_273_587_200_000], "day", ""),
    ],
)
def test_dates_are_milliseconds_with_their_form(given, expected, form, zone):
    written, found = packed(read(given))
    assert (written["kind"], written["form"], written["zone"]) == ("date", form, zone)
    assert same(found, expected)


def test_names_of_rows_are_texts_and_come_back_letter_by_letter():
    names = [f"Zoë {chr(0x4E00 + j)} \u202e{j}\0 </script>" for j in range(200)]
    written, found = packed(read(names))
    assert written["kind"] == "text"
    assert found == names


def test_halves_of_pairs_are_written_as_what_they_are():
    _, found = packed(read([f"\ud800{j}" for j in range(200)]))
    assert found[3] == "\\ud8003"
    written, found = packed(read(["\ud800", "b"]))
    assert written["levels"] == ["b", "\ud800"]


def test_three_hundred_classes_are_categories_in_the_order_of_their_sizes():
    given = [f"class {j}" for j in range(300) for _ in range(300 - j)]
    written, found = packed(read(given))
    assert written["kind"] == "category"
    assert written["levels"] == [f"class {j}" for j in range(300)]
    assert written["codes"]["type"] == "u16"
    assert found == given


def test_a_colour_of_few_whole_numbers_is_classes_in_their_own_order():
    found = read(np.array([9, 1, 1, 0, NAN])).as_classes()
    assert (found.kind, found.levels) == ("category", ("0", "1", "9"))
    assert found.values.tolist() == [2, 1, 1, 0, -1]
    assert read(np.arange(30)).as_classes().kind == "number"
    assert read(np.array([0.5, 1.0])).as_classes().kind == "number"


def test_ordered_categories_keep_their_order():
    stages = pd.Series(pd.Categorical(["late", "late", "early"], ["early", "middle", "late"], ordered=True))
    written, found = packed(read(stages))
    assert written["levels"] == ["early", "late"]
    assert found == ["late", "late", "early"]


def test_single_precision_is_told():
    written, found = packed(read(np.array([0.1, 0.2], dtype=np.float32)))
    assert written["digits"] == 9
    assert same(found, np.array([0.1, 0.2], dtype=np.float32))


class _Rude:
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_an_object_that_cannot_be_shown_is_told_by_its_type():
    _, found = packed(read([_Rude(), "b"]))
    assert found == ["_Rude (RuntimeError)", "b"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pa.table([[1, 3], [2, 4]], names=["a", "a"]),
    ],
)
def test_columns_of_one_name_are_told_apart(table):
    raws = columns_of(table, 2)
    assert [raw.name for raw in raws] == ["a", "a (2)"]
    assert [raw.read().values.tolist() for raw in raws] == [[1, 3], [2, 4]]
    with pytest.raises(InputError, match="name of 2 columns"):
        find(raws, "a", "color")


def test_tables_of_all_kinds_have_the_same_columns():
    expected = [("x", [1.0, 3.0]), ("y", [2.0, 4.0])]
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    named = [
        pd.DataFrame(array, columns=["x", "y"]),
        pl.DataFrame({"x": [1.0, 3.0], "y": [2.0, 4.0]}),
        pa.table({"x": [1.0, 3.0], "y": [2.0, 4.0]}),
        {"x": [1.0, 3.0], "y": (2.0, 4.0)},
        np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("x", float), ("y", float)]),
    ]
    for table in named:
        assert [(raw.name, raw.read().values.tolist()) for raw in columns_of(table, 2)] == expected
        assert columns_of(table, 2)[1].read(np.array([1])).values.tolist() == [4.0]
    for table in (array, csr_array(array), array.tolist()):
        found = columns_of(table, 2)
        assert [raw.name for raw in found] == ["column 0", "column 1"]
        assert found[0].read(np.array([1])).values.tolist() == [3.0]


def test_a_table_of_other_rows_is_refused():
    with pytest.raises(InputError, match="2 rows in column 'x', and the map has 3"):
        columns_of({"x": [1, 2]}, 3)
    for odd in (pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]}), {"x": 1}, {1}, np.array(1), csr_array([[1]])):
        with pytest.raises(InputError, match=r"column 'x' of table is a .*, not a list or array of values"):
            columns_of({"x": odd}, 1)
    with pytest.raises(InputError, match=r"the name of column 1 of table cannot be written \(RuntimeError\)"):
        columns_of({"x": [1], _Rude(): [1]}, 1)
    with pytest.raises(InputError, match="lazy query"):
        columns_of(pl.DataFrame({"x": [1]}).lazy(), 1)
    with pytest.raises(InputError, match="no columns"):
        columns_of(7, 1)


# --- thinning


def test_all_rows_are_drawn_where_there_is_room():
    assert thinned(100, 100).rows is None
    assert thinned(100, 100).note == ""


def test_rare_kinds_and_rows_that_were_looked_at_are_kept():
    kinds = np.zeros(50_000, dtype=int)
    kinds[[7, 40_000]] = 1
    kinds[100:400] = 2
    color = read(kinds).as_classes()
    looked_at = np.arange(0, 50_000, 500)
    found = thinned(50_000, 2_000, color, looked_at)
    assert found.shown == len(np.unique(found.rows)) == 2_000
    assert np.isin([7, 40_000], found.rows).all()
    assert np.isin(looked_at, found.rows).all()
    assert (kinds[found.rows] == 2).sum() >= 50
    for words in ("2,000 of 50,000 rows", "every value of 'it'", "looked at one by one"):
        assert words in found.note


def test_thinning_is_even():
    """As many of each part of the table as of all of it."""
    found = thinned(100_000, 20_000)
    counts = np.bincount(found.rows // 10_000)
    assert np.abs(counts - 2_000).max() < 5 * np.sqrt(2_000 * 0.8)
    assert (np.diff(found.rows) > 0).all()


# --- the manifest


def test_nothing_in_the_manifest_ends_the_script():
    hostile = "</script><!--<script>\u2028\u2029&amp;\0\x7f\ud800"
    text = Payload({"title": hostile, "columns": [hostile]}, ()).text
    assert not set("<>&\0\u2028\u2029\x7f") & set(text)
    assert json.loads(text) == {"title": hostile, "columns": [hostile]}
    text.encode("utf-8")
