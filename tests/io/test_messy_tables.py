"""Tables as people have them: each is read as they would hope, or refused in one sentence."""

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pyarrow as pa
import pytest

from gramfold.errors import GramfoldError, HeaderWarning, InputError, MemoryForecastError
from gramfold.io import Ids, ids_in, names_in, read_columns, read_table, write_table

NAN = np.nan
PLAIN = b"a,b\n1.5,2\n3,4\n"
EXPECTED = [[1.5, 2], [3, 4]]


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


# name of the file, its bytes, names, values, and what is said of how it was read
READ = {
    "a BOM": ("t.csv", b"\xef\xbb\xbf" + PLAIN, ["a", "b"], EXPECTED, "UTF-8"),
    "Latin-1": ("t.csv", "größe;b\n1;2\n".encode("latin-1"), ["größe", "b"], [[1, 2]], "Windows-1252"),
    "Windows-1252": ("t.csv", "€ each;b\n1;2\n".encode("cp1252"), ["€ each", "b"], [[1, 2]], "Windows-1252"),
    "Latin-1 far below": (
        "t.csv",
        b"a,b,c\n" + b"1,2,x\n" * 30_000 + "1,2,é\n".encode("latin-1"),
        ["a", "b"],
        [[1, 2]] * 30_001,
        "Windows-1252",
    ),
    "UTF-16": ("t.csv", "größe;b\n1;2\n".encode("utf-16"), ["größe", "b"], [[1, 2]], "utf-16"),
    "UTF-16 without a mark": ("t.csv", "alpha;beta\n1;2\n".encode("utf-16-le"), ["alpha", "beta"], [[1, 2]], "utf-16"),
    "decimal commas": ("t.csv", b"a;b\n1,5;2\n3,25;4\n", ["a", "b"], [[1.5, 2], [3.25, 4]], "decimal comma"),
    "decimal commas, no header": ("t.csv", b"1,5;2,5\n3,5;4,5\n", ["x0", "x1"], [[1.5, 2.5], [3.5, 4.5]], "no header"),
    "decimal commas far below": (
        "t.csv",
        b"a;b\n" + b"1;2\n" * 100 + b"1,5;2\n",
        ["a", "b"],
        [[1, 2]] * 100 + [[1.5, 2]],
        "decimal comma",
    ),
    "German thousands": (
        "t.csv",
        b"a;b\n1.234,5;2.000\n12,25;3.000\n",
        ["a", "b"],
        [[1234.5, 2000], [12.25, 3000]],
        "thousands separated by '.'",
    ),
    "English thousands": ("t.csv", b'a,b\n"1,234.5",2\n"12",3\n', ["a", "b"], [[1234.5, 2], [12, 3]], "thousands"),
    "French thousands": (
        "t.csv",
        "a;b\n1 234,5;2\n12\u202f000;3\n".encode(),
        ["a", "b"],
        [[1234.5, 2], [12000, 3]],
        "' '",
    ),
    "semicolons": ("t.csv", b"a;b\n1.5;2\n3;4\n", ["a", "b"], EXPECTED, "semicolons"),
    "tabs in a .csv": ("t.csv", b"a\tb\n1.5\t2\n3\t4\n", ["a", "b"], EXPECTED, "tabs"),
    "commas in a .tsv": ("t.tsv", PLAIN, ["a", "b"], EXPECTED, "commas"),
    "bars": ("t.csv", b"a|b\n1.5|2\n3|4\n", ["a", "b"], EXPECTED, "vertical bars"),
    "blanks": ("t.txt", b"  a   b\n 1.5   2 \n   3  4\n", ["a", "b"], EXPECTED, "blanks"),
    "blanks in a .csv": ("t.csv", b"1.5 2\n3   4\n", ["x0", "x1"], EXPECTED, "blanks"),
    "quoted newlines": ("t.csv", b'a,b,c\n1.5,2,"two\nlines"\n3,4,"x"\n', ["a", "b"], EXPECTED, "commas"),
    "a name of two lines": ("t.csv", b'"a\nm",b\n1.5,2\n3,4\n', ["a\nm", "b"], EXPECTED, "commas"),
    "Windows line ends": ("t.csv", PLAIN.replace(b"\n", b"\r\n"), ["a", "b"], EXPECTED, "commas"),
    "old line ends": ("t.csv", PLAIN.replace(b"\n", b"\r"), ["a", "b"], EXPECTED, "commas"),
    "no last line end": ("t.csv", PLAIN.strip(), ["a", "b"], EXPECTED, "commas"),
    "lines that end in a separator": ("t.csv", b"a,b,\n1.5,2,\n3,4,\n", ["a", "b"], EXPECTED, "commas"),
    "only rows end in a separator": ("t.csv", b"a;b\n1.5;2;\n3;4;\n", ["a", "b"], EXPECTED, "semicolons"),
    "names twice": ("t.csv", b"a,a\n1.5,2\n3,4\n", ["a", "a"], EXPECTED, "commas"),
    "an empty name": ("t.csv", b"a,,c\n1.5,2,0\n3,4,0\n", ["a", "x1", "c"], [[1.5, 2, 0], [3, 4, 0]], "commas"),
    "no header": ("t.csv", b"1.5,2\n3,4\n", ["x0", "x1"], EXPECTED, "no header"),
    "one row": ("t.csv", b"a,b\n1,2\n", ["a", "b"], [[1, 2]], "commas"),
    "one column": ("t.csv", b"a\n1\n2\n", ["a"], [[1], [2]], "text"),
    "a title above": ("t.csv", b"Station 7\nmade in May\n\na;b\n1.5;2\n3;4\n", ["a", "b"], EXPECTED, "lines above"),
    "sep=": ("t.csv", b"sep=;\na;b\n1.5;2\n3;4\n", ["a", "b"], EXPECTED, "1 line above the table left out"),
    "comments": ("t.csv", b"# made by hand\n# twice\na,b\n1.5,2\n3,4\n", ["a", "b"], EXPECTED, "commas"),
    "blanks around": ("t.csv", b"a , b\n 1.5 , 2 \n 3 ,4\n", ["a", "b"], EXPECTED, "commas"),
    "gaps": (
        "t.csv",
        b"a,b\n1,NA\nN/A,2\nNULL,3\n-,4\n?,5\n,6\n n/a ,7\n#N/A,8\nNaN,9\n",
        ["a", "b"],
        [[1, NAN], *([NAN, number] for number in range(2, 10))],
        "commas",
    ),
    "True and False": ("t.csv", b"a,b\nTrue,1\nFALSE,0\n", ["a", "b"], [[1, 1], [0, 0]], "commas"),
    "gzip": ("t.csv.gz", gzip.compress(PLAIN), ["a", "b"], EXPECTED, "compressed with gzip"),
    "bzip2": ("t.csv.bz2", bz2.compress(PLAIN), ["a", "b"], EXPECTED, "compressed with bzip2"),
    "xz": ("t.csv.xz", lzma.compress(PLAIN), ["a", "b"], EXPECTED, "compressed with xz"),
    "zstd": ("t.csv.zst", zstd(PLAIN), ["a", "b"], EXPECTED, "compressed with zstd"),
    "gzip without its ending": ("t.csv", gzip.compress(PLAIN), ["a", "b"], EXPECTED, "compressed with gzip"),
    "unpacked by a browser": ("t.csv.gz", PLAIN, ["a", "b"], EXPECTED, "commas"),
    "no ending": ("table", PLAIN, ["a", "b"], EXPECTED, "text"),
}


@pytest.mark.parametrize("case", READ)
def test_messy_tables_are_read_as_one_would_hope(case, tmp_path):
    name, data, names, values, said = READ[case]
    (tmp_path / name).write_bytes(data)
    columns = read_columns(tmp_path / name)
    numeric = [j for j, column in enumerate(columns.names) if columns.kinds[column] in ("number", "flag")]
    assert [columns.names[j] for j in numeric] == names
    np.testing.assert_array_equal(columns.table_of(numeric), values)
    assert said in str(columns.reading)
    others = [column for column in columns.names if columns.kinds[column] not in ("number", "flag")]
    table = read_table(tmp_path / name, skip=others or None, missing=True)
    np.testing.assert_array_equal(table.values, values)
    assert table.reading == columns.reading


REFUSED = {
    "a ragged row": ("t.csv", b"a,b\n1,2\n3,4,5\n", r"3 cells in line 3 where 2 are expected \(separated by commas\)"),
    "a short row": ("t.csv", b"a,b\n1,2\n3\n", r"1 cell in line 3 where 2 are expected"),
    "header only": ("t.csv", b"a,b\n", "columns but no rows"),
    "nothing": ("t.csv", b"", "is empty: a table needs at least one row"),
    "blank lines": ("t.csv", b"\n\n\n", "has no rows"),
    "nothing in a gzip": ("t.csv.gz", gzip.compress(b""), "is empty"),
    "binary": ("t.csv", bytes(range(256)) * 9, "holds binary data, not text: save the table of it as .csv"),
    "parquet called .csv": ("t.csv", b"PAR1\x15\x04", "is a parquet file, not a .csv file: change its ending"),
    "a workbook called .csv": ("t.csv", b"PK\x03\x04xl/", "if it is an Excel workbook change its ending to .xlsx"),
    "a picture": ("t.csv", b"\x89PNG\r\n\x1a\n", "is a picture, not a .csv file: put the pictures into a folder"),
    "a pickle": ("t", b"\x80\x04\x95\x00\x00", "is a pickle, which may run code, which cannot be read"),
    "another ending": ("t.json", b'{"a": 1}', "ends in '.json', which cannot be read: use one of .csv"),
    "a quote that is not closed": ("t.csv", b'a,b\n1,"2\n3,4\n5,6\n', "look for a quote that is not closed"),
    "a cut gzip": ("t.csv.gz", gzip.compress(PLAIN * 999)[:-20], "compressed with gzip, but is truncated or damaged"),
    "a cut xz": ("t.csv.xz", lzma.compress(PLAIN * 999)[:-20], "compressed with xz, but is truncated or damaged"),
    "a cut bzip2": ("t.csv.bz2", bz2.compress(PLAIN * 999)[:-9], "compressed with bzip2, but is truncated or damaged"),
    "a cut zstd": ("t.csv.zst", zstd(PLAIN * 999)[:-9], "compressed with zstd, but is truncated or damaged"),
    "two number formats": ("t.csv", b"a;b\n1,5;2.5\n2,5;3.25\n", "but other columns use another number format"),
    "text alone": ("t.csv", b"a,b\nx,y\nz,w\n", "hold text .* a table of numbers is needed"),
    "dates": (
        "t.csv",
        b"d,b\n2020-01-01,1\n2020-01-02,2\n",
        r"column 'd' holds dates \('2020-01-01' in line 2\): leave",
    ),
    "a word among numbers": ("t.csv", b"a,b\n1,2\n3,4o\n5,6\n", "'4o' in column 'b', line 3, which is not a number"),
    "damaged UTF-8": ("t.csv", "ä,ö,ü\n1,2,3\n".encode() + b"1,2,\xff\n", "byte 0xff in line 3 is not"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_messy_tables_are_refused_in_one_sentence(case, tmp_path):
    name, data, sentence = REFUSED[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=sentence) as caught:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert str(caught.value).isprintable()


def test_names_that_look_like_numbers_stay_as_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("id,phone,x\n0x1f,030 123 456,1\n0x2a,040 333 222,2\n")
    columns = read_columns(tmp_path / "t.csv")
    assert columns.kinds == {"id": "text", "phone": "text", "x": "number"}
    assert columns.words("phone") == ["030 123 456", "040 333 222"]


def test_a_numeric_header_is_spoken_of(tmp_path):
    (tmp_path / "t.csv").write_text("2019,2020\n1.5,2.5\n3.5,4.5\n")
    with pytest.warns(HeaderWarning, match="read as column names"):
        assert read_table(tmp_path / "t.csv").names == ["2019", "2020"]


def test_an_archive_larger_than_memory_is_not_unpacked(tmp_path, monkeypatch):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    monkeypatch.setattr("gramfold.runtime.memory.available_memory", lambda: 1e7)
    with pytest.raises(MemoryForecastError, match=r"needs at least .* GB to be read"):
        read_table(tmp_path / "t.csv.gz")


@pytest.mark.parametrize("packed", [PLAIN, gzip.compress(PLAIN), "npy"], ids=["text", "gzip", "npy"])
def test_standard_input_by_its_content_and_more_than_once(packed, monkeypatch):
    if packed == "npy":
        stream = io.BytesIO()
        np.save(stream, np.array(EXPECTED))
        packed = stream.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    for _ in range(2):
        np.testing.assert_array_equal(read_table("-").values, EXPECTED)


# ------------------------------------------------------------------------------------ columns that stay

KINDS = ["u", "v", "w,1", "", "é"]
VALUES = np.random.default_rng(0).normal(size=(5, 3))


@pytest.mark.parametrize(
    "ending",
    [".csv", ".csv.gz", ".tsv.bz2", ".txt.xz", ".csv.zst", ".npz", ".parquet"]
    + [".feather", ".arrow", ".arrows", ".xlsx", ".h5ad"],
)
def test_ids_and_other_columns_come_back(ending, tmp_path):
    if ending == ".xlsx":
        pytest.importorskip("python_calamine")
    if ending == ".h5ad":
        pytest.importorskip("h5py")
    path = tmp_path / f"t{ending}"
    ids = Ids("cell", ["007", "b2", "c3", "d4", "e5"])
    write_table(path, VALUES, ["x", "y", "z"], ids=ids, beside={"kind": np.array(KINDS)})
    columns = read_columns(path)
    np.testing.assert_array_equal(columns.numbers(["x", "y", "z"]), VALUES)
    np.testing.assert_array_equal(columns.numbers(), VALUES)
    assert columns.words("kind") == KINDS
    assert columns.column("kind").tolist() == [kind or None for kind in KINDS]
    assert list(ids_in(path, "obs_names" if ending == ".h5ad" else "cell").values) == list(ids.values)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_packing_what_is_packed_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"would be packed twice: leave out \.gz"):
        write_table(tmp_path / "t.parquet.gz", VALUES, ["x", "y", "z"])
    assert not list(tmp_path.iterdir())


def test_folders_and_patterns_of_parquet_files(tmp_path):
    for part in range(3):
        write_table(tmp_path / f"p{part}.parquet", VALUES + part, ["x", "y", "z"])
    whole = np.vstack([VALUES, VALUES + 1, VALUES + 2])
    np.testing.assert_array_equal(read_table(tmp_path).values, whole)
    np.testing.assert_array_equal(read_table(tmp_path / "*.parquet", columns=["z"]).values, whole[:, 2:])
    np.testing.assert_array_equal(read_table(tmp_path / "p[12].parquet").values, whole[5:])
    assert names_in(tmp_path) == ["x", "y", "z"]
    with pytest.raises(InputError, match=r"No file fits '.*q\*': check the pattern"):
        read_table(tmp_path / "q*")
    write_table(tmp_path / "p3.parquet", VALUES, ["x", "y", "w"])
    with pytest.raises(InputError, match="have column 'w' in only one of them"):
        read_table(tmp_path)


def test_pictures_are_rows(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(1).integers(0, 256, size=(3, 4, 6), dtype=np.uint8)
    for number, picture in enumerate(pixels):
        image.fromarray(picture).save(tmp_path / f"p{number}.png")
    np.testing.assert_array_equal(read_table(tmp_path).values, pixels.reshape(3, -1))
    assert read_columns(tmp_path).words("file") == ["p0.png", "p1.png", "p2.png"]
    image.fromarray(pixels[0, :3]).save(tmp_path / "p3.png")
    with pytest.raises(InputError, match=r"p3.png' has 6 × 3 pixels, but '.*p0.png' has 6 × 4 pixels"):
        read_table(tmp_path)
    (tmp_path / "p3.png").write_bytes(b"\x89PNG, or not")
    with pytest.raises(InputError, match=r"p3.png' is not a readable picture"):
        read_table(tmp_path)


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_cells(form, tmp_path):
    h5py = pytest.importorskip("h5py")
    from scipy import sparse

    path, counts = tmp_path / "cells.h5ad", np.array([[0, 2.5], [1, 0], [0, 0]], dtype=np.float32)
    write_table(path, counts, ["CD3", "MS4A1"], ids=Ids("cell", ["a", "b", "c"]), beside={"n": np.arange(3)})
    with h5py.File(path, "a") as file:
        group = file["obs"].create_group("kind")
        group["categories"], group["codes"] = np.array(["T", "B"], dtype=object), np.array([1, 0, -1], dtype=np.int8)
        file["obs"].attrs["column-order"] = ["n", "kind"]
        file["obsm"]["X_pca"] = np.eye(3)
        if form != "dense":
            del file["X"]
            matrix = getattr(sparse, f"{form}_array")(counts)
            stored = file.create_group("X")
            stored.attrs["encoding-type"], stored.attrs["shape"] = f"{form}_matrix", counts.shape
            stored["data"], stored["indices"], stored["indptr"] = matrix.data, matrix.indices, matrix.indptr
    columns = read_columns(path)
    assert columns.names == ["CD3", "MS4A1", "obs_names", "n", "kind"]
    assert columns.column("kind").tolist() == ["B", "T", None]
    table = read_table(path, labels="n")
    np.testing.assert_array_equal(table.values, counts)
    assert table.values.dtype == np.float32
    np.testing.assert_array_equal(table.labels, [0, 1, 2])
    np.testing.assert_array_equal(read_table(path, array="X_pca").values, np.eye(3))
    with pytest.raises(InputError, match=r"has no array 'X_umap'; it has X, obsm/X_pca"):
        read_table(path, array="X_umap")
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(GramfoldError, match=r"is not a readable \.h5ad file"):
        read_table(path)


def test_sheets_of_a_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "t.xlsx"
    write_table(path, [[1.5, 2.0], [3.0, np.nan]], ["a", "b"], beside={"day": np.array(["2020-01-01", "2020-01-02"])})
    columns = read_columns(path)
    assert columns.kinds == {"a": "number", "b": "number", "day": "date"}
    np.testing.assert_array_equal(columns.numbers(), [[1.5, 2], [3, NAN]])
    with pytest.raises(InputError, match="no value in column 'b', row 3"):
        read_table(path, skip=["day"])
    with pytest.raises(InputError, match="has no sheet 'two'; it has map"):
        read_table(path, sheet="two")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(InputError, match="is not a readable workbook"):
        read_table(path)


def test_which_array_of_several_is_named(tmp_path):
    np.savez(tmp_path / "t.npz", train=np.eye(3), test=np.eye(2))
    np.testing.assert_array_equal(read_table(tmp_path / "t.npz", array="test").values, np.eye(2))
    with pytest.raises(InputError, match=r"has no array 'X'; it has train, test\.$"):
        read_table(tmp_path / "t.npz", array="X")
