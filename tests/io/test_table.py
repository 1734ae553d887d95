"""Tables: what is read is what was written, and each file that cannot be used says why in one sentence."""

import builtins
import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gramfold.errors import HeaderWarning, InputError, MissingExtraError
from gramfold.io import read_table, write_table

ENDINGS = [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".feather"]
names = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).map(lambda text: "c" + text.strip()),
    min_size=1,
    max_size=5,
    unique=True,
)


def finite_tables(width, dtype):
    elements = st.floats(allow_nan=False, allow_infinity=False, width=np.dtype(dtype).itemsize * 8)
    return hnp.arrays(dtype, st.tuples(st.integers(1, 6), st.just(width)), elements=elements)


@pytest.fixture
def written(tmp_path):
    """A file with this text; gives its path."""

    def write(text, name="points.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


# ------------------------------------------------------------------------------------------- itself


@pytest.mark.parametrize("ending", ENDINGS)
@given(data=st.data())
@settings(max_examples=50, deadline=None)  # files: slow now and then
def test_every_format_gives_the_same_bits_back(ending, data, tmp_path_factory):
    columns = data.draw(names)
    values = data.draw(finite_tables(len(columns), data.draw(st.sampled_from([np.float32, np.float64]))))
    path = tmp_path_factory.mktemp("trip") / f"table{ending}"
    write_table(path, values, columns)
    table = read_table(path)
    # text carries no precision: it is read as float64, which holds every float32
    np.testing.assert_array_equal(table.values.astype(values.dtype), values)
    assert table.values.dtype == (np.float64 if ending in (".csv", ".tsv", ".txt") else values.dtype)
    assert table.names == ([f"x{j}" for j in range(len(columns))] if ending == ".npy" else columns)


@pytest.mark.parametrize("second", ['c;"', 'c|"', '";"', 'a "b;c" d', "\t", '"\t;'])
def test_names_with_other_separators_and_quotes_come_back(second, tmp_path):
    for ending in (".csv", ".txt", ".tsv"):
        path = tmp_path / f"table{ending}"
        write_table(path, [[1.5, 2.5]], ["c0", f"x{second}y"])
        table = read_table(path)
        assert table.names == ["c0", f"x{second}y"]
        np.testing.assert_array_equal(table.values, [[1.5, 2.5]])
        write_table(path, [[1.5, 2.5]], ["c0", f"x{second}"])
        assert read_table(path).names == ["c0", f"x{second}".strip()]


@pytest.mark.parametrize("ending", ENDINGS)
def test_selected_columns_are_those_of_the_whole(ending, tmp_path):
    values = np.random.default_rng(0).normal(size=(7, 4))
    path = tmp_path / f"table{ending}"
    write_table(path, values, ["x0", "x1", "x2", "x3"])
    np.testing.assert_array_equal(read_table(path, columns=["x2", "x0"]).values, values[:, [2, 0]])
    np.testing.assert_array_equal(read_table(path, skip=["x1"]).values, values[:, [0, 2, 3]])
    assert read_table(path, columns=["x3", "x1"], skip=["x1"]).names == ["x3"]


# ---------------------------------------------------------------------------------------- reference


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,2\n3,4.5\n", "t.csv"),
        ("a;b\n1;2\n3;4.5\n", "t.csv"),
        ("a|b\n1|2\n3|4.5\n", "t.csv"),
        ("a\tb\n1\t2\n3\t4.5\n", "t.tsv"),
        ('"a, or so",b\n1,"2"\n-3e-2,4.5\n', "t.csv"),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4.5\r\n", "t.csv"),
    ],
)
def test_text_is_read_as_pandas_reads_it(text, name, written):
    expected = pd.read_csv(io.StringIO(text.lstrip("\ufeff")), sep=None, engine="python")
    table = read_table(written(text, name))
    np.testing.assert_array_equal(table.values, expected.to_numpy(dtype=float))
    assert table.names == list(expected.columns)


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_tables_of_other_libraries(ending, tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": np.float32([0.5, 0.25])}, index=["Ada", "Emmy"])
    path = tmp_path / f"pandas{ending}"
    if ending == ".parquet":
        frame.to_parquet(path)  # the index becomes a column of row labels, which are not data
    else:
        pl.from_pandas(frame).write_ipc(path)
    table = read_table(path)
    assert table.names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.values, [[1, 1, 0.5], [2, 0, 0.25]])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b,c\n1,True,0.5\n2,False,0.25\n", ["a", "b", "c"]),  # pandas
        ("a;b;c\n1;TRUE;0,5\n2;FALSE;0,25\n", ["a", "b", "c"]),  # R and spreadsheets
        ("1,true,0.5\n2,false,0.25\n", ["x0", "x1", "x2"]),
        ("a,true,false\n1,1,0.5\n2,0,0.25\n", ["a", "true", "false"]),  # above numbers these are names
    ],
)
def test_true_and_false_are_1_and_0_as_in_other_files(text, names, written):
    table = read_table(written(text), decimal="," if ";" in text else ".")
    assert table.names == names
    np.testing.assert_array_equal(table.values, [[1, 1, 0.5], [2, 0, 0.25]])


def test_a_word_among_true_and_false_is_named(written):
    with pytest.raises(InputError, match=r"has 'maybe' in column 'b', line 2, which is not a number: correct it"):
        read_table(written("a,b\n1,maybe\n2,True\n3,False\n"))


def test_files_of_numpy_keep_their_names(tmp_path):
    path = tmp_path / "table.txt"
    np.savetxt(path, np.eye(3), header="x y z")
    table = read_table(path)
    assert table.names == ["x", "y", "z"]
    np.testing.assert_array_equal(table.values, np.eye(3))


@pytest.mark.parametrize("index", [True, False])
def test_columns_numbered_by_pandas_are_not_taken_for_a_row(index, tmp_path):
    values = np.random.default_rng(1).normal(size=(5, 3))
    path = tmp_path / "frame.csv"
    pd.DataFrame(values).to_csv(path, index=index)
    table = read_table(path, skip=["x0"] if index else None)
    np.testing.assert_array_equal(table.values, values)
    assert table.names == ["0", "1", "2"]


@pytest.mark.parametrize("text", ["1,2\n3,4\n", "0,1\n1,2\n", "1.5,2\n3,4\n", "nan,1\n2,3\n"])
def test_without_a_header_the_first_line_is_data(text, written):
    path = written(text)
    if text.startswith("nan"):
        with pytest.raises(InputError, match="column 'x0', line 1 "):
            read_table(path)
    else:
        np.testing.assert_array_equal(read_table(path).values, np.loadtxt(io.StringIO(text), delimiter=","))


def test_a_long_comment_and_a_header_of_several_lines(written):
    table = read_table(written("# made by hand\n" * 50 + '"length\nin m",b\r\n1,2\r\n3,4\r\n'))
    assert table.names == ["length\nin m", "b"]
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_columns_without_a_name_get_one_that_nobody_has(written):
    assert read_table(written(",x0,b\n1.5,2,3\n")).names == ["x0_", "x0", "b"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("2020,2021\n1.5,2.5\n3.5,4.5\n", True),  # years above fractions
        ("2020,2021\n5,7\n8,9\n", True),  # above numbers that are no years
        ("2021,2020,2019\n1,2,3\n", True),
        (",2020,2021\n7,1.5,2.5\n5,3.5,4.5\n", True),  # with row labels
        ("400,410,420,430\n0.1,0.2,0.3,0.4\n0.2,0.3,0.1,0.5\n", True),  # wavelengths
        ("400,410,420,430\n1,2,3,4\n2,3,4,5\n", False),  # may be either
    ],
)
def test_numbers_that_may_be_names_are_spoken_of(text, named, written):
    path = written(text)
    n_rows = text.count("\n")
    with pytest.warns(
        HeaderWarning, match="read as column names: if" if named else "read as a row of values: if"
    ) as caught:
        table = read_table(path)
    assert len(table.values) == n_rows - named
    assert f"`--{'no-' * named}header`, or header={not named} in Python" in str(caught[0].message)
    # whoever says what it is hears nothing
    assert len(read_table(path, header=True).values) == n_rows - 1
    if not text.startswith(","):
        assert len(read_table(path, header=False).values) == n_rows


@pytest.mark.parametrize(
    "text",
    [
        "1990,2010\n1950,1980\n1960,2000\n",  # years of birth and of death
        "5,6\n1,2\n3,4\n",
        "0,1\n10,11\n20,21\n",
        "10,20,30\n1.5,2.5,3.5\n",
        "3,1,2\n0.5,0.25,0.125\n",
        "2020\n1.5\n2.5\n",
    ],
)
def test_numbers_that_are_hardly_names_are_data_without_a_word(text, written):
    np.testing.assert_array_equal(
        read_table(written(text)).values, np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2)
    )


@pytest.mark.parametrize(
    ("text", "marks", "values"),
    [
        ('a,b\n"1,234",2\n"2,345.5",-3e2\n', {"thousands": ","}, [[1234, 2], [2345.5, -300]]),
        ("a;b\n1,5;2\n2,25;1\n", {"decimal": ","}, [[1.5, 2], [2.25, 1]]),
        ("a;b\n1.234,5;2\n-2,25;1.000.000\n", {"decimal": ",", "thousands": "."}, [[1234.5, 2], [-2.25, 1e6]]),
        ("a;b\n1 234;2\n3\u00a0456;1\n", {"thousands": " "}, [[1234, 2], [3456, 1]]),
        ("a,b\n1'234.5,2\n3\u2019456,1\n", {"thousands": "'"}, [[1234.5, 2], [3456, 1]]),
        ("a,b\n1_000,2\n3,1\n", {"thousands": "_"}, [[1000, 2], [3, 1]]),
    ],
)
def test_other_ways_to_write_numbers_are_guessed_and_said(text, marks, values, written):
    path = written(text)
    guessed = read_table(path)
    np.testing.assert_array_equal(guessed.values, values)
    assert (guessed.reading.decimal, guessed.reading.thousands) == (marks.get("decimal", "."), marks.get("thousands"))
    assert guessed.reading.unusual
    table = read_table(path, **marks)
    np.testing.assert_array_equal(table.values, values)
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(read_table(path, missing=True, **marks).values, values)


@pytest.mark.parametrize(("separator", "number"), [(",", 1234), (";", 1.234)])
def test_a_number_that_may_be_read_in_two_ways_goes_with_the_separator(separator, number, written):
    path = written('a,b\n"1,234",2\n"2,345",3\n'.replace(",b", f"{separator}b").replace('",', f'"{separator}'))
    assert read_table(path).values[0, 0] == number
    np.testing.assert_array_equal(read_table(path, thousands=",").values, [[1234, 2], [2345, 3]])
    np.testing.assert_array_equal(read_table(path, decimal=",").values, [[1.234, 2], [2.345, 3]])


def test_a_number_that_may_be_read_in_two_ways_is_asked_about(written):
    path = written("a\tb\n1,234\t2\n2,345\t3\n")
    with pytest.raises(
        InputError,
        match=r"'1,234' in column 'a', line 2, .*: to read it as 1234, use `--thousands \",\"`, or thousands=',' in "
        r"Python; to read it as 1.234, use `--decimal \",\"`, or decimal=',' in Python",
    ):
        read_table(path)
    path.write_text(path.read_text() + "1,5\t7\n")  # which tells
    np.testing.assert_array_equal(read_table(path).values, [[1.234, 2], [2.345, 3], [1.5, 7]])


def test_one_column_of_decimal_commas(written):
    path = written("a\n1,5\n2,5\n4,25\n")
    np.testing.assert_array_equal(read_table(path, decimal=",").values, [[1.5], [2.5], [4.25]])
    np.testing.assert_array_equal(read_table(path).values, [[1.5], [2.5], [4.25]])


@pytest.mark.parametrize(
    ("name", "marks", "sentence"),
    [
        ("t.csv", {"decimal": ";"}, r"decimal=';' is not a decimal separator: use '\.' or ','"),
        ("t.csv", {"thousands": "12"}, r"thousands='12' is not a thousands separator"),
        (
            "t.csv",
            {"thousands": ",", "decimal": ","},
            "decimal and thousands are both ',': use two different separators",
        ),
        ("t.csv", {"separator": "&"}, r"separator='&' does not separate columns: use one of"),
        ("t.csv", {"encoding": "latin-99"}, r"encoding='latin-99' is unknown: use utf-8, latin-1"),
        ("t.csv", {"sheet": "a"}, r"is text, to which sheet does not apply: leave it out"),
        ("t.npy", {"header": True}, r"is a \.npy file, to which header does not apply: leave it out"),
        ("t.parquet", {"decimal": ","}, r"is a \.parquet file, to which decimal does not apply: leave it out"),
    ],
)
def test_marks_that_mean_nothing(name, marks, sentence, tmp_path):
    write_table(tmp_path / name, np.eye(2), ["a", "b"])
    with pytest.raises(InputError, match=sentence):
        read_table(tmp_path / name, **marks)


# ------------------------------------------------------------------------------------------- labels

PEOPLE = {"x": [1.0, 2.0, 3.0], "kind": ["tall", "small", "tall"], "y": [0.5, 0.25, 0.0]}


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather", ".npz"])
def test_labels_are_words_beside_the_values(ending, tmp_path):
    path, frame = tmp_path / f"people{ending}", pd.DataFrame(PEOPLE)
    if ending == ".npz":
        np.savez(path, X=frame[["x", "y"]].to_numpy(), names=["x", "y"], kind=frame["kind"].to_numpy(dtype=str))
    elif ending in (".parquet", ".feather"):
        getattr(frame, f"to_{ending[1:]}")(path)
    else:
        frame.to_csv(path, index=False, sep="," if ending == ".csv" else "\t")
    table = read_table(path, labels="kind")
    assert table.labels.tolist() == PEOPLE["kind"]
    assert table.names == ["x", "y"]
    np.testing.assert_array_equal(table.values, frame[["x", "y"]].to_numpy())
    assert read_table(path, columns=["y"], labels="kind").names == ["y"]
    assert read_table(path, columns=["y"]).labels is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_that_are_all_numbers_are_numbers(ending, tmp_path):
    path, values = tmp_path / f"table{ending}", np.array([[1.5, 2.0], [2.5, 10.0], [3.5, 2.0]])
    write_table(path, values, ["x0", "x1"])
    table = read_table(path, labels="x1")
    np.testing.assert_array_equal(table.labels, [2.0, 10.0, 2.0])
    np.testing.assert_array_equal(table.values, values[:, :1])
    # among the columns or skipped as well, it is labels and no value
    np.testing.assert_array_equal(read_table(path, columns=["x1", "x0"], labels="x1").values, values[:, :1])
    np.testing.assert_array_equal(read_table(path, skip=["x1"], labels="x1").labels, [2.0, 10.0, 2.0])


def test_one_word_among_numbers_makes_all_of_them_words(written):
    assert read_table(written("a,b\n1,7\n2, 8a\n3,7\n"), labels="b").labels.tolist() == ["7", "8a", "7"]


@pytest.mark.parametrize("kind", ["category", "bool", "Int64"])
def test_labels_of_pandas_types(kind, tmp_path):
    kinds = pd.Series([1, 0, 1]).astype(kind) if kind != "category" else pd.Series(["a", "b", "a"]).astype(kind)
    pd.DataFrame({"x": [1.0, 2.0, 3.0], "kind": kinds}).to_parquet(tmp_path / "t.parquet")
    labels = read_table(tmp_path / "t.parquet", labels="kind").labels
    assert labels.tolist() == (["a", "b", "a"] if kind == "category" else [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a,b\n1,u\n2,\n3,NA\n",
            r"missing label in column 'b', line 3 \(no value; 2 of 3 rows have no label\): fill in",
        ),
        ("a,b\n1,u\n2,?\n", r"missing label in column 'b', line 3 \('\?'; 1 of 2 rows"),
        ("a,b\n1,2\n2,inf\n", r"no label in column 'b', row 1 counted from 0 \(1 of 2"),
        ("a,c\n1,u\n", r"no column 'b'; it has a, c\.$"),
        ("b\nu\nv\n", r"no column left to use"),
        ("a,b,b\n1,u,v\n", r"several columns named 'b'"),
        ("a,b\n1,u\n2,u,v\n", r"3 cells in line 3 where 2 are expected"),
    ],
)
def test_text_without_usable_labels(text, sentence, written):
    with pytest.raises(InputError, match=sentence):
        read_table(written(text), labels="b")


def test_other_files_without_usable_labels(tmp_path):
    path = tmp_path / "t.parquet"
    times = pd.to_datetime(["2001-01-01", "2002-02-02"])
    pd.DataFrame({"x": [1.0, 2.0], "word": ["a", None], "number": [1.0, np.nan], "time": times}).to_parquet(path)
    for name in ("word", "number"):
        with pytest.raises(InputError, match=rf"no label in column '{name}', row 1 counted from 0 \(1 of 2 rows"):
            read_table(path, columns=["x"], labels=name)
    with pytest.raises(InputError, match=r"column 'time' holds dates or times: labels must be strings or numbers"):
        read_table(path, columns=["x"], labels="time")
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(2), z=np.zeros(3, dtype="M8[D]"))
    with pytest.raises(InputError, match=r"'y' of .* shape \(2,\), but the table has 3 rows: save one label"):
        read_table(tmp_path / "t.npz", labels="y")
    with pytest.raises(InputError, match=r"'z' of .* has dtype datetime64\[D\]: labels must be strings or numbers"):
        read_table(tmp_path / "t.npz", labels="z")


# ------------------------------------------------------------------------------- one clear sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "name,x\nAlice,1\nBob,2\n",
            r"column 'name' holds text \('Alice' in line 2\): leave it out \(`--skip name`",
        ),
        ("a,b,c\nu,v,1\nw,x,2\n", r"columns 'a' and 'b' hold text .*`--skip a,b`, or skip=\['a', 'b'\]"),
        ("my name,x\nAlice,1\n", r"--skip 'my name'"),
        ("a,b\n1,2\n3,4o\n5,6\n", r"'4o' in column 'b', line 3, which is not a number: correct it"),
        ("a,b\n1,2\n3\n", r"1 cell in line 3 where 2 are expected \(separated by commas\)"),
        ("a,b\n1,2\n3,4,5\n", r"3 cells in line 3 where 2 are expected"),
        ("a,b\n1,2\n,4\n", r"no value in column 'a', line 3 \(1 of 2 rows have missing or infinite values\)\. Fill"),
        ("a,b\n1,2\n3,NA\n5,?\n", r"'NA' in column 'b', line 3 \(2 of 3 rows"),
        ("a,b\n1,inf\n3,4\n", r"'inf' in column 'b', line 2"),
        ("a,b\n", r"columns but no rows"),
        ("\n\n", r"has no rows"),
        ("", r"is empty"),
        (",a\n0,0.1\n1,0.2\n2,0.7\n", r"has no name and holds distinct integers \(0, 1, …\).*`--skip x0`"),
        (",a\n4,1.5\n9,2\n2,0\n0,3\n7,7\n", r"has no name and holds distinct integers \(4, 9, …\).*`--skip x0`"),
        ("Unnamed: 0,a\n0,0.1\n1,0.2\n2,0.7\n", r"\(0, 1, …\).*Leave it out \(`--skip 'Unnamed: 0'`"),
        ('a,b\n1,"' + "2\n" * 100_000, r"look for a quote that is not closed"),
        ("a,b,c\n1,,3\n1,NA,inf\n2,3,4\n", r"no value in column 'b', line 2 \(2 of 3 rows .*: 'b' 2, 'c' 1\).*b,c`"),
        ("a,b\n1,\n,4\n", r"\(2 of 2 rows .*by column: 'a' 1, 'b' 1\)\. Fill in the values or remove these rows\.$"),
        ("a,b\n12%,x\n13%,y\n", r"columns 'a' and 'b' hold text .*: a table of numbers is needed\.$"),
        (
            "a;b\n1'234,5;2\n3;1 234,5\n",
            r"'1'234,5' in column 'a', line 2, but other columns use another number format: write",
        ),
        ("a,b\n1,2\n3,\x00\n5,6\n", r"'·' in column 'b', line 3, which is not a number"),
        ("a,b\n" + "y" * 999 + ",2\n3,4\n5,6\n", r"'y{59}…' in column 'a', line 2, which is not a number"),
        ("a,b\n1,2\n1,2\n１,2\n", r"'１' in column 'a', line 4, which is not a number"),
        (
            ",".join(f"c{j}" for j in range(30)) + "\n" + ",".join("x1"[j % 2] for j in range(30)) + "\n",
            r"more hold text",
        ),
    ],
)
def test_unusable_text(text, sentence, written):
    with pytest.raises(InputError, match=sentence) as caught:
        read_table(written(text))
    assert "\n" not in str(caught.value)


def test_a_shifted_line_is_noticed_although_its_column_is_skipped(written):
    path = written("name,x,y\nAda,1,2\nBolyai, János,3,4\n")
    with pytest.raises(InputError, match="4 cells in line 3 where 3 are expected"):
        read_table(path, skip=["name"])


@pytest.mark.parametrize(("encoding", "said"), [("latin-1", "cp1252"), ("cp1252", "cp1252"), ("utf-16", "utf-16")])
def test_text_in_other_encodings(encoding, said, written):
    table = read_table(written("größe;x\n1,5;2\n", encoding=encoding))
    assert table.names == ["größe", "x"]
    np.testing.assert_array_equal(table.values, [[1.5, 2]])
    assert table.reading.encoding == said
    assert read_table(written("größe;x\n1,5;2\n", encoding=encoding), encoding=encoding).names == ["größe", "x"]


def test_text_that_is_not_in_the_encoding_that_was_named(written):
    with pytest.raises(InputError, match=r"is not text in utf-8 \(byte 2\): save it as UTF-8, or name another"):
        read_table(written("größe,x\n1,2\n", encoding="latin-1"), encoding="utf-8")
    path = written("größe,höhe,länge\n1,2,3\n")
    path.write_bytes(path.read_bytes() + b"1,2,\xff\n")
    with pytest.raises(InputError, match=r"is UTF-8 text, but byte 0xff in line 3 is not: correct that line"):
        read_table(path)


@pytest.mark.parametrize(
    ("columns", "skip", "sentence"),
    [
        (["heigth"], None, r"no column 'heigth': did you mean 'height'\?"),
        (None, ["zzz"], r"no column 'zzz'; it has height, weight"),
        (["height"], ["height"], r"no column left to use"),
        (["height", "height"], None, r"lists column 'height' twice: list each column once"),
        ("height", None, r"columns='height' is a single string: give a list"),
    ],
)
def test_columns_that_are_not_there(columns, skip, sentence, written):
    path = written("height,weight\n1,2\n")
    with pytest.raises(InputError, match=sentence):
        read_table(path, columns=columns, skip=skip)


def test_a_repeated_name_cannot_be_selected(written):
    path = written("a,a,b\n1,2,3\n")
    np.testing.assert_array_equal(read_table(path, skip=["b"]).values, [[1, 2]])
    with pytest.raises(InputError, match="several columns named 'a'"):
        read_table(path, columns=["a"])


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.arange(5.0), r"shape \(5,\).*save array.reshape\(-1, 1\)"),
        (np.zeros((4, 3, 2)), r"shape \(4, 3, 2\).*save array.reshape\(len\(array\), -1\)"),
        (
            np.ones(5, dtype=[("a", float), ("b", float)]),
            r"structured array with fields a, b: save .*structured_to_unstructured\(array",
        ),
        (np.array([["a", "b"]]), r"type <U1, which are not real numbers"),
        (np.ones((2, 2)) * 1j, r"complex128, which are not real numbers"),
        (np.array([[1.0, np.nan], [2.0, 3.0]]), r"missing value in column 'x1', row 0 .*1 of 2 rows"),
        (np.array([[1.0, 2.0], [np.inf, 3.0]]), r"infinite value in column 'x0', row 1"),
        (np.empty((0, 3)), r"columns but no rows"),
        (np.empty((3, 0)), r"has no columns: a table needs at least one"),
    ],
)
def test_unusable_arrays(array, sentence, tmp_path):
    np.save(tmp_path / "array.npy", array)
    with pytest.raises(InputError, match=sentence):
        read_table(tmp_path / "array.npy")


def test_a_pickle_is_never_run(tmp_path):
    np.save(tmp_path / "array.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(InputError, match=r"array.npy' is not a readable array"):
        read_table(tmp_path / "array.npy")
    np.savez(tmp_path / "array.npz", X=np.array([[object()]]))
    with pytest.raises(InputError, match=r"'X' of .* is not a readable array: save it again"):
        read_table(tmp_path / "array.npz")


def test_which_array_of_several(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, points=np.eye(3), labels=np.arange(3))
    np.testing.assert_array_equal(read_table(path).values, np.eye(3))
    np.savez(path, train=np.eye(3), test=np.eye(3))
    with pytest.raises(InputError, match=r"holds train \(3, 3\), test \(3, 3\): it is not clear .* under the name X"):
        read_table(path)
    np.savez(path, X=np.eye(2), test=np.eye(3))
    np.testing.assert_array_equal(read_table(path).values, np.eye(2))


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".feather"])
def test_a_file_that_is_something_else(ending, written):
    with pytest.raises(InputError, match=rf"is not a readable ({ending} file|array)"):
        read_table(written("a,b\n1,2\n", f"points{ending}"))


@pytest.mark.parametrize(
    ("ending", "called", "sentence"),
    [
        (".npy", ".npz", r"is a \.npy array, not a \.npz file: change its ending to \.npy"),
        (".npz", ".npy", r"is a zip archive, not a \.npy file"),
        (
            ".npz",
            ".csv",
            r"is a zip archive, not a \.csv file: unpack it, or if it is an Excel workbook change its ending to \.xlsx",
        ),
        (".parquet", ".csv", r"is a parquet file, not a \.csv file: change its ending to \.parquet"),
        (".parquet", ".feather", r"is a parquet file, not a \.feather file"),
        (".feather", ".parquet", r"is a feather file, not a \.parquet file"),
    ],
)
def test_a_file_under_another_name(ending, called, sentence, tmp_path):
    write_table(tmp_path / f"table{ending}", np.eye(3), ["a", "b", "c"])
    (tmp_path / f"table{ending}").rename(tmp_path / f"other{called}")
    with pytest.raises(InputError, match=sentence):
        read_table(tmp_path / f"other{called}")


@pytest.mark.parametrize(
    ("bytes_", "sentence"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), None),
        (b"%PDF-1.7\n", "is a PDF document, not a .csv file: save the table of it as .csv"),
        (b"PAR1,PAR2\n1,2\n", None),
        (b"FEA1,BZh\n1,2\n", None),
    ],
)
def test_text_is_told_by_its_first_bytes(bytes_, sentence, tmp_path):
    (tmp_path / "table.csv").write_bytes(bytes_)
    if sentence is None:
        np.testing.assert_array_equal(read_table(tmp_path / "table.csv").values, [[1, 2]])
    else:
        with pytest.raises(InputError, match=sentence):
            read_table(tmp_path / "table.csv")


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet", ".feather"])
def test_files_that_are_cut_off(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write_table(path, np.random.default_rng(0).normal(size=(50, 3)), ["a", "b", "c"])
    whole = path.read_bytes()
    for length in range(8, len(whole), len(whole) // 9):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"not a readable|truncated"):
            read_table(path)


def test_arrays_whose_header_announces_what_is_not_there(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, np.eye(4))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"(4, 4)", b"(9, 4)"))
    with pytest.raises(InputError, match=r"is truncated: its header declares 416 bytes, but there are 256"):
        read_table(path)
    # nothing of that size is made, and a row that the header hides is not lost in silence
    path.write_bytes(whole.replace(b"(4, 4), }          ", b"(4, 400000000000), }"))
    with pytest.raises(InputError, match="is truncated: its header declares 12,800,000,000,"):
        read_table(path)
    path.write_bytes(whole.replace(b"(4, 4)", b"(3, 4)"))
    with pytest.raises(InputError, match="has extra bytes after its array"):
        read_table(path)


def test_only_what_is_asked_for_is_loaded_from_an_archive(tmp_path, monkeypatch):
    path = tmp_path / "arrays.npz"
    np.savez(path, other=np.eye(9), X=np.eye(3), names=["a", "b", "c"], kind=np.arange(3), more=np.eye(9))
    loaded = []
    real = np.lib.format.read_array

    def counted(stream, **kwargs):
        loaded.append(stream.name)
        return real(stream, **kwargs)

    monkeypatch.setattr("numpy.lib.format.read_array", counted)
    read_table(path)
    assert loaded == ["X.npy", "names.npy"]
    loaded.clear()
    read_table(path, labels="kind")
    assert loaded == ["X.npy", "names.npy", "kind.npy"]
    # what cannot be read is of no account where nobody asks for it
    np.savez(path, X=np.eye(3), pickled=np.array([object()]))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("note.txt", "made by hand")
    np.testing.assert_array_equal(read_table(path).values, np.eye(3))
    np.savez(path, table=np.eye(3), pickled=np.array([object()]))
    loaded.clear()
    np.testing.assert_array_equal(read_table(path).values, np.eye(3))
    assert loaded == ["table.npy"]


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_columns_that_are_not_numbers(ending, tmp_path):
    path = tmp_path / f"people{ending}"
    frame = pd.DataFrame(
        {
            "who": ["Ada"],
            "born": [pd.Timestamp("1815-12-10")],
            "kind": pd.Categorical(["tall"]),
            "x": [1.0],
            "gap": pd.array([None], dtype="Float64"),
        }
    )
    getattr(frame, f"to_{ending[1:]}")(path)
    with pytest.raises(
        InputError,
        match=r"columns 'who' \(text: 'Ada'\), 'born' \(dates or times: '1815-12-10 00:00:00'\), 'kind' "
        r"\(categories: 'tall'\) are not numeric: leave them out \(`--skip who,born,kind`",
    ):
        read_table(path, skip=["gap"])
    with pytest.raises(InputError, match=r"column 'kind' \(categories: 'tall'\) is not numeric: save it as numbers"):
        read_table(path, columns=["kind"])
    with pytest.raises(InputError, match="missing value in column 'gap', row 0"):
        read_table(path, columns=["x", "gap"])


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_columns_of_one_name_and_names_with_points(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    write = pyarrow.parquet.write_table if ending == ".parquet" else pyarrow.feather.write_feather
    columns = [[1.0], [2.0], [3.0]]
    write(pa.table(columns, names=["a", "a", "b"]), path)
    np.testing.assert_array_equal(read_table(path).values, [[1, 2, 3]])
    np.testing.assert_array_equal(read_table(path, skip=["b"]).values, [[1, 2]])
    write(pa.table([pa.array([{"x": 5.0}]), *columns], names=["s", "s.x", "a", "b"]), path)
    np.testing.assert_array_equal(read_table(path, columns=["b", "s.x"]).values, [[3, 1]])


@pytest.mark.parametrize("note", [b"{}", b"no json", b"[]", b'{"index_columns": 5}', b"\xff\xfe"])
def test_notes_of_pandas_that_say_nothing(note, tmp_path):
    table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": note})
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet").names == ["a"]


def test_integers_beyond_the_exact_ones_are_rounded(tmp_path):
    pyarrow.parquet.write_table(pa.table({"a": [2**62 + 1, 3]}), tmp_path / "table.parquet")
    np.testing.assert_array_equal(read_table(tmp_path / "table.parquet").values, [[2.0**62], [3.0]])


@pytest.mark.parametrize(
    ("name", "package", "first"),
    [("t.xlsx", "python_calamine", b"PK\x03\x04"), ("t.h5ad", "h5py", b"\x89HDF\r\n"), ("t.png", "PIL", b"\x89PNG")],
)
def test_without_an_optional_package(name, package, first, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(first)
    real_import = builtins.__import__

    def not_there(module, *args, **kwargs):
        if module.split(".")[0] == package:
            raise ImportError(module)
        return real_import(module, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", not_there)
    with pytest.raises(MissingExtraError, match=r'pip install "gramfold\[tables\]"'):
        read_table(tmp_path if name == "t.png" else tmp_path / name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.csv", "There is no file"),
        ("table.doc", r"ends in '.doc', which cannot be read: use one of .csv"),
        ("https://example.org/t.csv", "is an address, and only files are read: download it first"),
        ("folder.csv", "is a folder that holds no files: give the name of a file in it"),
    ],
)
def test_names_that_cannot_be_read(name, sentence, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "table.doc").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=sentence):
        read_table(name if "://" in name else tmp_path / name)


# ------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize(
    ("name", "values", "columns", "sentence"),
    [
        ("missing/map.csv", [[1.0]], ["a"], "there is no folder"),
        ("map.doc", [[1.0]], ["a"], "ends in '.doc', which cannot be written"),
        ("map.csv", [[1.0]], ["a", "b"], r"2 names were given for values of shape \(1, 1\)"),
        ("map.csv", [[1.0, 2.0]], ["a", "a"], "same name"),
    ],
)
def test_what_cannot_be_written(name, values, columns, sentence, tmp_path):
    with pytest.raises(InputError, match=sentence):
        write_table(tmp_path / name, values, columns)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [["#a", "b"], ["a\rb", "c"], ["a\n#b", "c"], ["# a", "1"]])
def test_odd_names_come_back(names, tmp_path):
    for ending in (".csv", ".tsv", ".txt"):
        write_table(tmp_path / f"map{ending}", [[1.5, 2.5]], names)
        assert read_table(tmp_path / f"map{ending}").names == names


def test_gaps_in_a_map_are_written_as_nan(tmp_path):
    write_table(tmp_path / "map.csv", [[1.0, np.nan]], ["a", "b"])
    assert pd.read_csv(tmp_path / "map.csv").isna().to_numpy().tolist() == [[False, True]]


@pytest.mark.parametrize("ending", ENDINGS)
def test_gaps_that_are_wanted_come_back_as_nan(ending, tmp_path):
    values = np.array([[1.5, np.nan, 3.0], [np.nan, 2.0, -1.0]])
    write_table(tmp_path / f"gaps{ending}", values, ["a", "b", "c"])
    np.testing.assert_array_equal(read_table(tmp_path / f"gaps{ending}", missing=True).values, values)


def test_every_way_to_write_a_gap_is_understood_and_nothing_else(written):
    table = read_table(written("a,b\n1,NA\n,2\n3,n/a\n?,4\n"), missing=True)
    np.testing.assert_array_equal(table.values, [[1, np.nan], [np.nan, 2], [3, np.nan], [np.nan, 4]])
    with pytest.raises(InputError, match="has 'many' in column 'b', line 4, which is not a number"):
        read_table(written("a,b\n1,NA\n1,2\n1,many\n1,4\n"), missing=True)
    with pytest.raises(InputError, match="has 'inf' in column 'a', line 3"):
        read_table(written("a,b\n1,NA\ninf,2\n1,3\n"), missing=True)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npy"])
def test_codes_of_missing_values(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    write_table(path, [[1.0, -999.0], [-999.0, 2.5], [3.0, 4.5]], ["a", "b"])
    found = read_table(path, na=[-999], missing=True)
    np.testing.assert_array_equal(found.values, [[1.0, np.nan], [np.nan, 2.5], [3.0, 4.5]])
    with pytest.raises(InputError, match="na=-999 is a single value"):
        read_table(path, na=-999)


def test_words_that_stand_for_missing_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\nnone given,y\n3,none given\n")
    found = read_table(path, columns=["a"], na=["none given"], missing=True)
    np.testing.assert_array_equal(found.values, [[1.0], [np.nan], [3.0]])
    mixed = read_table(path, na=["none given"], text=True).values
    assert mixed.tolist()[2] == [3.0, None]
