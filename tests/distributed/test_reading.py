"""Columns, gaps and files of every kind are read as they are in memory, or are one sentence."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask import delayed

from gramfold import PCA, ProbabilisticPCA
from gramfold.distributed import open_rows
from gramfold.errors import ClusterError, InputError, NotNumbersError
from tests.distributed.cuts import far, held


@pytest.fixture
def frame(X):
    return pd.DataFrame(X[:400], columns=list("abcde"))


def parts_of(frame, change=lambda part: part, number=2):
    """In four partitions, of which one is changed."""
    parts = [frame.iloc[start : start + 100] for start in range(0, 400, 100)]
    parts[number] = change(parts[number])
    return dd.from_delayed([delayed(lambda part=part: part)() for part in parts], frame.iloc[:0], verify_meta=False)


@pytest.mark.parametrize("count", [100, 10_000], ids=["sums", "whole"])
@pytest.mark.parametrize(
    "columns",
    [range(5), [4, 2, 0, 1, 3], pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)])],
    ids=["positions", "numbers", "levels"],
)
def test_names_that_are_no_strings_are_ignored(X, monkeypatch, columns, count):
    held(monkeypatch, count)
    frame = pd.DataFrame(X, columns=columns)
    rows = dd.from_pandas(frame, npartitions=3)
    model, whole = PCA(2).fit(rows), PCA(2).fit(frame)
    assert not hasattr(model, "feature_names_in_")
    assert far(model.transform(rows).compute(), whole.embedding_) < 1e-9
    with pytest.raises(InputError, match=r"^partition 2 has no column"):
        PCA(2).fit(parts_of(frame.iloc[:400], lambda part: part.iloc[:, 1:]))


def nullable(frame):
    return frame.assign(
        a=frame["a"].astype("Float64").mask(frame.index == 3),
        b=(frame["b"] > 0).astype("boolean").mask(frame.index == 5),
        c=frame["c"].round().astype("Int64").mask(frame.index == 7),
        d=frame["d"].astype(pd.ArrowDtype(pa.float64())).mask(frame.index == 8),
    )


@pytest.mark.parametrize("way", ["dask", "files"])
def test_gaps_of_nullable_and_arrow_types(frame, tmp_path, way):
    rows = dd.from_pandas(nullable(frame), npartitions=4)
    if way == "files":
        rows.to_parquet(tmp_path)
        rows = str(tmp_path)
    with pytest.raises(InputError, match=r"^partition 0 .*contains NaN in row 3, column 'a' \(4 such values"):
        PCA(2).fit(rows)
    model, whole = ProbabilisticPCA(2).fit(rows), ProbabilisticPCA(2).fit(nullable(frame))
    assert far(model.transform(rows), whole.embedding_) < 1e-12


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ("1.5", "text"),
        (pd.Timestamp("2020-01-01"), "dates or times"),
        (pd.Categorical(["1"] * 400), "categories"),
        (1j, "complex values"),
    ],
)
def test_types_that_are_known_are_refused_before_anything_is_read(frame, tmp_path, values, kind):
    def never(part):
        raise AssertionError("it was read")

    model, odd = PCA(2).fit(frame), frame.assign(b=values)
    meta = dd.from_pandas(odd, npartitions=1)._meta
    rows = dd.from_pandas(odd, npartitions=4).map_partitions(never, meta=meta)
    for ask in (PCA(2).fit, model.transform):
        with pytest.raises(NotNumbersError, match=rf"X holds {kind} in column 'b'"):
            ask(rows)
    if kind != "complex values":  # which Parquet does not have
        frame.to_parquet(tmp_path / "1.parquet")
        odd.to_parquet(tmp_path / "2.parquet")
        with pytest.raises(NotNumbersError, match=rf"^'.*2\.parquet' holds {kind} in column 'b'"):
            PCA(2).fit(str(tmp_path))


@pytest.mark.parametrize("values", [np.ones((30, 2)) * 1j, np.full((30, 2), "1")], ids=["complex", "text"])
def test_arrays_that_hold_no_numbers(tmp_path, values):
    np.save(tmp_path / "rows.npy", values)
    for rows in (tmp_path / "rows.npy", da.from_array(values)):
        with pytest.raises(NotNumbersError, match=r"X holds (complex values|text) in columns 0, 1"):
            PCA(2).fit(open_rows(rows))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda part: None, "is None, but X is a dataframe"),
        (lambda part: part.to_numpy(), "is of type ndarray, but X is a dataframe"),
        (lambda part: "later", "is of type str, but X is a dataframe"),
    ],
    ids=["none", "array", "text"],
)
def test_a_partition_of_another_type(frame, change, said):
    rows, model = parts_of(frame, change), PCA(2).fit(frame)
    with pytest.raises(InputError, match=rf"^partition 2 {said}"):
        PCA(2).fit(rows)
    with pytest.raises(InputError, match=rf"^partition 2 {said}"):
        model.transform(rows).compute()


def test_what_is_no_table(frame):
    rows = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(InputError, match=r"X is a Dask Series, and a table has columns: pass X.to_frame\(\)"):
        PCA(2).fit(rows["a"])
    with pytest.raises(InputError, match=r"which has no rows and columns"):
        PCA(2).fit(delayed(frame))
    with pytest.raises(InputError, match=r"X has 0 feature\(s\)"):
        PCA(2).fit(rows[[]])
    with pytest.raises(InputError, match=r"^partition 2 has no column 'a'"):
        PCA(2).fit(parts_of(frame, lambda part: pd.DataFrame()))


def test_partitions_that_are_of_another_length_each_time(frame, monkeypatch):
    held(monkeypatch, 100)
    readings = []

    def shorter(part):
        readings.append(None)
        return part.iloc[len(readings) :]

    rows = dd.from_pandas(frame, npartitions=4).map_partitions(shorter, meta=frame.iloc[:0])
    with pytest.raises(InputError, match=r"^partition \d has \d+ rows, and had \d+ when it was read before"):
        PCA(2).fit(rows)


def test_the_order_of_columns_of_a_dataframe(frame):
    model = PCA(2).fit(frame)
    rows = dd.from_pandas(frame[list("edcba")], npartitions=4)
    with pytest.raises(InputError, match=r"pass X\[list\(model.feature_names_in_\)\]"):
        model.transform(rows)
    found = model.transform(rows[list(model.feature_names_in_)])
    assert far(found.compute(), model.embedding_) < 1e-12


# --- files


def test_a_model_reads_its_own_columns_of_a_folder(frame, tmp_path):
    model = PCA(2).fit(frame)
    dd.from_pandas(frame.assign(town="x")[["e", "town", *"dcba"]], npartitions=2).to_parquet(tmp_path)
    assert far(model.transform(str(tmp_path)), model.embedding_) < 1e-12
    with pytest.raises(InputError, match=r"has no column 'z': it has 'e', 'town', 'd', 'c', 'b', 'a'"):
        open_rows(tmp_path, columns=["a", "z"])


def test_a_list_of_files(frame, tmp_path):
    dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path)
    model = PCA(2).fit(open_rows([tmp_path / "part.3.parquet", str(tmp_path / "part.0.parquet")]))
    assert far(model.embedding_, PCA(2).fit(pd.concat([frame[300:], frame[:100]])).embedding_) < 1e-12


@pytest.mark.parametrize("spoil", [lambda file: os.truncate(file, 2000), os.remove], ids=["cut", "removed"])
@pytest.mark.parametrize("ending", [".npy", ".parquet"])
def test_a_file_that_changes_after_it_was_opened(frame, tmp_path, spoil, ending):
    file = tmp_path / f"rows{ending}"
    frame.to_parquet(file) if ending == ".parquet" else np.save(file, frame.to_numpy())
    rows = open_rows(file)
    spoil(file)
    with pytest.raises(InputError, match=rf"^'.*rows\{ending}' (was changed while it was read|cannot be seen)"):
        PCA(2).fit(rows)


@pytest.mark.parametrize("ending", [".npy", ".parquet"])
def test_a_file_that_is_none(tmp_path, ending):
    file = tmp_path / f"rows{ending}"
    for content in (b"", b"\x93NUMPY", b"PAR1 and no more"):
        file.write_bytes(content)
        with pytest.raises(InputError, match=rf"^'.*rows\{ending}' is not a readable"):
            PCA(2).fit(file)


def test_pickled_objects_in_a_file(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[1, "a"]], dtype=object))
    with pytest.raises(InputError, match=r"^'.*rows\.npy' is not a readable"):
        PCA(2).fit(tmp_path / "rows.npy")


def test_a_column_in_the_names_of_folders(frame, tmp_path):
    frame.assign(month=[1, 2] * 200).to_parquet(tmp_path / "hive", partition_cols=["month"])
    for source in (tmp_path / "hive", tmp_path / "hive" / "**" / "*.parquet"):
        with pytest.raises(InputError, match=r"'month=1', whose names are a column 'month' .* dask.dataframe"):
            PCA(2).fit(str(source))
    assert PCA(2).fit(str(tmp_path / "hive" / "month=1")).n_features_in_ == 5


@pytest.mark.parametrize("source", ["nowhere/", "nowhere.parquet"])
def test_a_path_that_is_not_there(source):
    with pytest.raises(InputError, match=rf"^there is no '{source}'"):
        PCA(2).fit(source)


def test_the_index_of_a_frame_is_no_data(frame):
    shuffled = frame.sample(frac=1, random_state=0)
    table = pa.Table.from_pandas(shuffled)
    assert "__index_level_0__" in table.column_names
    model = PCA(2).fit(table)
    assert list(model.feature_names_in_) == list("abcde")
    assert far(model.transform(table), PCA(2).fit(shuffled).embedding_) < 1e-12


@pytest.mark.parametrize("limit", ["10 EB", 1e99, "1e9", ".5 GiB"])
def test_sizes(X, limit):
    assert len(open_rows(X, memory_limit=limit)) == 1


@pytest.mark.parametrize(
    ("limit", "said"), [("1 B", "rows of 5 columns need at least 3,200"), ("0", "is no size"), (-1, "is no size")]
)
def test_sizes_that_are_too_small(X, limit, said):
    with pytest.raises(InputError, match=said):
        open_rows(X, memory_limit=limit)


# --- a fork


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_client_in_a_fork(client, X):
    rows, (coming, going) = da.from_array(X), os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(30)  # if it waits for ever
        try:
            PCA(2).fit(rows)
        except ClusterError as error:
            os.write(going, str(error).encode())
        finally:
            os._exit(0)
    os.close(going)
    with os.fdopen(coming) as found:
        said = found.read()
    os.waitpid(child, 0)
    assert said.startswith("the client of Dask was made before this process was forked")
