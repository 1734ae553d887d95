"""Random files, whole and damaged: what is read is right, and what is not gets one sentence."""

import csv
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from gramfold.cli import main
from gramfold.errors import HeaderWarning, InputError
from gramfold.io import read_table, write_table

ENDINGS = [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet", ".feather"]
QUICK, LONG = 60, 1200  # trials of each kind and ending
LONGEST_SENTENCE = 2000
NAMES = [
    "a",
    "b c",
    "größe",
    'x"y',
    "d;e",
    "f|g",
    "h\tk",
    "p,q",
    "m\nn",
    "#r",
    "x0",
    "年",
    "1e",
    "nan b",
    "'s",
    "u " * 40,
]
SEPARATORS = {".csv": [",", ";", "\t", "|"], ".tsv": ["\t"], ".txt": [",", ";", "\t", "|"]}
WAYS = [
    {},
    {"decimal": ","},
    {"thousands": ","},
    {"decimal": ",", "thousands": "."},
    {"thousands": "'"},
    {"thousands": " "},
]

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.HeaderWarning")


def outcome(path, **options):
    """The table, or the sentence."""
    try:
        table = read_table(path, **options)
    except InputError as error:
        sentence = str(error)
        assert str(path) in sentence
        assert len(sentence.replace(str(path), "")) < LONGEST_SENTENCE
        assert sentence.isprintable(), sentence
        return sentence
    assert table.values.ndim == 2
    assert table.values.shape[1] == len(table.names) > 0
    assert np.isfinite(table.values).all()
    return table


def quick_and_long(seed, quick=QUICK, long=LONG):
    return [
        pytest.param(seed, quick, id="quick"),
        pytest.param(seed + 1000, long, id="long", marks=pytest.mark.slow),
    ]


def each(seed, count):
    for trial in range(count):
        yield trial, np.random.default_rng([seed, trial])


# --------------------------------------------------------------------------------- whole: right tables


def written_number(number, decimal=".", thousands=None):
    text = repr(float(number))
    if "e" in text or "." not in text:
        return text.replace(".", decimal)
    whole, fraction = text.split(".")
    if thousands:
        whole = f"{int(whole.lstrip('-')):,}".replace(",", thousands)
        whole = "-" * text.startswith("-") + whole
    return f"{whole}{decimal}{fraction}"


def random_text(rng, ending):
    """The bytes of a table, how to read it, and what is in it."""
    n, d = rng.integers(1, 7), rng.integers(1, 5)
    values = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 7)
    if rng.random() < 0.3:
        values = np.round(values)
    marks = WAYS[rng.integers(len(WAYS))] if rng.random() < 0.4 else {}
    separator = str(rng.choice(SEPARATORS[ending]))
    if d == 1 and marks:
        separator = "\t" if ending != ".csv" else ";"  # of one column nothing tells the separator
    named = bool(rng.random() < 0.7)
    names = [NAMES[j] for j in rng.permutation(len(NAMES))[:d]] if named else [f"x{j}" for j in range(d)]
    stream = io.StringIO(newline="")
    ends = ["\n", "\r\n", "\r"][rng.integers(3)]
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    table = csv.writer(stream, delimiter=separator, lineterminator=ends, quoting=quoting)
    comment = (
        "# a comment, with more commas, than there are, columns, in any, table" + ends
        if rng.random() < 0.2 and (named or d > 1)
        else ""
    )
    if named:
        csv.writer(stream, delimiter=separator, lineterminator=ends, quoting=csv.QUOTE_ALL).writerow(names)
    for row in values:
        table.writerow([written_number(value, **marks) for value in row])
        if rng.random() < 0.1:
            stream.write(ends)  # a blank line
    text = comment + stream.getvalue()
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    encoded = text.encode("utf-8-sig" if rng.random() < 0.2 else "utf-8")
    return encoded, {"header": named, **marks}, names, values


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize(("seed", "count"), quick_and_long(1))
def test_whole_text_is_read_to_the_last_bit(ending, seed, count, tmp_path):
    path = tmp_path / f"table{ending}"
    for trial, rng in each(seed, count):
        encoded, options, names, values = random_text(rng, ending)
        path.write_bytes(encoded)
        table = outcome(path, **options)
        assert not isinstance(table, str), (trial, table, encoded)
        assert table.names == [name.strip() for name in names], (trial, encoded)
        np.testing.assert_array_equal(table.values, values, err_msg=f"{trial} {encoded!r}")
        # without a word about the header it is the same table, or was spoken of
        if not any(name.startswith("#") for name in names):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = outcome(path, **{**options, "header": None})
            if not any(issubclass(warning.category, HeaderWarning) for warning in caught):
                np.testing.assert_array_equal(found.values, values, err_msg=f"{trial} {encoded!r}")


# ------------------------------------------------------------------------- damaged: right, or a sentence


def damaged(rng, whole):
    """What may become of a file."""
    found = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(found) + 1))
        match rng.integers(8):
            case 0:
                found = found[:place]
            case 1:
                found[place : place + 1] = bytes([rng.integers(256)])
            case 2:
                found[place:place] = rng.bytes(int(rng.integers(1, 20)))
            case 3:
                found[place : place + int(rng.integers(1, 200))] = b""
            case 4:
                found[place : place + 64] = bytes(64)
            case 5:
                found += found[place:]
            case 6:
                piece = [b",", b'"', b"\n", b"\r", b";", b"\t", b"\0", b"nan", b"inf", b"1e999", b"#", b"\xff", b" "]
                found[place:place] = piece[rng.integers(len(piece))]
            case 7:
                found[:0] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", b"PAR1"][rng.integers(5)]
    return bytes(found)


def plain_tables(text):
    """Every table of numbers that a plain reading of the text gives, with and without its first line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for separator in ("\t", ";", "|", ",", None):
        try:
            rows = [
                line.split() if separator is None else next(csv.reader([line], delimiter=separator), [])
                for line in lines
            ]
        except csv.Error:
            continue
        rows = [row for row in rows if any(cell.strip() for cell in row) or len(row) > 1]
        for body in (rows, rows[1:]):
            try:
                yield np.array([[float(cell) for cell in row] for row in body], dtype=float)
            except ValueError:
                continue


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("seed", "count"), quick_and_long(2))
def test_damaged_files_are_read_right_or_refused_in_a_sentence(ending, seed, count, tmp_path):
    path = tmp_path / f"table{ending}"
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(9, 3)).round(3), columns=["x", "y", "z"])
    wholes = []
    for more in ({}, {"kind": ["u", "v", "w"] * 3}, {"day": pd.date_range("2020", periods=9)}):
        if more and ending in (".npy", ".npz"):
            continue
        table = frame.assign(**more)
        if ending in (".parquet", ".feather"):
            getattr(table, f"to_{ending[1:]}")(path)
        elif more:
            table.to_csv(path, index=False, sep="," if ending == ".csv" else "\t")
        else:
            write_table(path, table.to_numpy(), list(table.columns))
        wholes.append(path.read_bytes())
    read = 0
    for trial, rng in each(seed, count):
        bytes_ = damaged(rng, wholes[trial % len(wholes)])
        path.write_bytes(bytes_)
        found = outcome(path)
        if isinstance(found, str):
            continue
        read += 1
        if ending == ".npz":  # archives carry checksums
            np.testing.assert_array_equal(found.values, frame.to_numpy(), err_msg=f"{trial}")
        elif ending in (".csv", ".tsv", ".txt") and b'"' not in bytes_:
            text = bytes_.decode(found.reading.encoding)
            assert any(np.array_equal(found.values, plain) for plain in plain_tables(text)), (trial, bytes_, found)
    assert read < count


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("seed", "count"), quick_and_long(3))
def test_bytes_that_are_no_file_at_all(ending, seed, count, tmp_path):
    path = tmp_path / f"table{ending}"
    alphabets = [
        bytes(range(256)),
        b"0123456789.,;\n",
        b"0123456789eE+-.,;|\t\r\n \"'#_",
        b"\0\n,1",
        "1٣½，\u2028\n,".encode(),
    ]
    for trial, rng in each(seed, count):
        alphabet = alphabets[trial % len(alphabets)]
        path.write_bytes(bytes(rng.choice(list(alphabet), size=rng.integers(0, 200)).astype(np.uint8)))
        found = outcome(path)
        assert isinstance(found, str) or ending in (".csv", ".tsv", ".txt")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("seed", "count"), [pytest.param(4, 6, id="quick"), pytest.param(1004, 60, id="long", marks=pytest.mark.slow)]
)
def test_the_command_never_blames_itself(ending, seed, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for trial, rng in each(seed, count):
        write_table(f"table{ending}", rng.normal(size=(9, 3)), ["x", "y", "z"])
        whole = (tmp_path / f"table{ending}").read_bytes()
        (tmp_path / f"table{ending}").write_bytes(damaged(rng, whole))
        result = CliRunner().invoke(main, ["embed", f"table{ending}", "-m", "pca", "--out", "map.csv"])
        assert result.exit_code in (0, 2), (trial, result.output)
        if result.exit_code == 2:
            assert result.stderr.splitlines()[-1].startswith("Error: ")
            assert "bug in gramfold" not in result.stderr
        assert sorted(path.name for path in tmp_path.iterdir() if path.name != "map.csv") == [f"table{ending}"]
        (tmp_path / f"table{ending}").unlink()


# --------------------------------------------------------------------------------------- large and odd


def test_twenty_thousand_columns(tmp_path):
    d = 20_000
    names = [f"c{j}" for j in range(d)]
    values = np.arange(2.0 * d).reshape(2, d)
    path = tmp_path / "wide.csv"
    write_table(path, values, names)
    np.testing.assert_array_equal(read_table(path).values, values)
    text = path.read_text().replace("5,", "five,")
    path.write_text(text)
    assert "more hold text" in outcome(path) or "which is not a number" in outcome(path)
    assert "has no column 'c_'" in outcome(path, columns=["c_"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_folders_and_files_of_others(ending, tmp_path, monkeypatch):
    (tmp_path / f"folder{ending}").mkdir()
    assert "is a folder" in outcome(tmp_path / f"folder{ending}")
    path = tmp_path / f"table{ending}"
    write_table(path, np.eye(2), ["x0", "x1"])

    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refused)  # root may read everything
    assert "could not be read (Permission denied): check its permissions" in outcome(path)
