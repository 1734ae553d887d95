"""A partition that is not like the first is named, with its file, and nothing is returned."""

import traceback

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask import delayed

from gramfold import LPP, PCA
from gramfold.distributed import open_rows
from gramfold.errors import InputError, MemoryForecastError

BAD = 3  # the number of the partition


@pytest.fixture(params=["cluster", "threads"])
def somewhere(request):
    """On a cluster, and in this process."""
    if request.param == "cluster":
        request.getfixturevalue("client")


def frames(X, change):
    """A dataframe whose partition 3 is not what it should be."""
    parts = [pd.DataFrame(one, columns=list("abcde")) for one in np.split(X, 8)]
    meta = parts[0].iloc[:0]
    parts[BAD] = change(parts[BAD])
    return dd.from_delayed([delayed(part) for part in parts], meta=meta, verify_meta=False)


def set_to(value, name="b", row=2):
    def changed(part):
        part = part.astype({name: object}) if not isinstance(value, float) else part.copy()
        part.iloc[row, part.columns.get_loc(name)] = value
        return part

    return changed


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_to(np.nan), r"contains NaN in row 2, column 'b'"),
        (set_to(np.inf), r"contains infinit\w+ .*row 2, column 'b'"),
        (lambda part: part.drop(columns="c"), r"has no column 'c', which the first partition has"),
        (lambda part: part.rename(columns={"c": "C"}), r"has no column 'c'"),
        (lambda part: part[list("abced")], r"has column 'e' in place 3, unlike the first partition"),
        (lambda part: part.assign(f=1.0), r"has column 'f' in place 5"),
        (set_to("high"), r".*'b'.*"),
        (lambda part: part.assign(b=pd.Timestamp("2020-01-01")), r".*'b'.*"),
        (lambda part: part.assign(b=[object()] * len(part)), r".*'b'.*"),
        (lambda part: part.assign(b=pd.Categorical(["x"] * len(part))), r".*'b'.*"),
    ],
    ids=["nan", "inf", "absent", "renamed", "order", "more", "text", "dates", "objects", "categories"],
)
def test_a_dataframe_with_another_partition(X, change, said):
    model = PCA(2)
    with pytest.raises(InputError, match=rf"^partition 3 {said}"):
        model.fit(frames(X, change))
    assert not hasattr(model, "model_")


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda block: np.where(np.arange(5) == 1, np.nan, block), r"contains NaN in row 0, column 1"),
        (lambda block: block[:, :4], r"has 4 columns, but the first partition has 5"),
        (lambda block: sp.csr_array(block), r"is a sparse matrix"),
        (lambda block: block.astype(str).astype(object) + "x", r"\S+"),
        (lambda block: block.astype("datetime64[s]"), r"\S+"),
        (lambda block: block + 1j, r"holds complex values"),
    ],
    ids=["nan", "width", "sparse", "text", "dates", "complex"],
)
def test_an_array_with_another_block(X, change, said):
    def changed(block, block_info=None):
        return change(block) if block_info[0]["chunk-location"][0] == BAD else block

    with pytest.raises(InputError, match=rf"partition 3 {said}"):
        PCA(2).fit(da.from_array(X, chunks=(300, 5)).map_blocks(changed, meta=X[:0]))


@pytest.mark.usefixtures("somewhere")
@pytest.mark.parametrize(
    ("model", "columns", "filesystem"),
    [(PCA(2), "abcde", "fsspec"), (LPP(2, graph_rows=500), "dcba", "arrow"), (PCA(2), "dcba", "fsspec")],
    ids=["all", "some, by arrow", "some"],
)
def test_the_file_is_named(X, tmp_path, model, columns, filesystem):
    frames(X, set_to(np.nan)).to_parquet(tmp_path, name_function=lambda number: f"month-{number}.parquet")
    frame = dd.read_parquet(tmp_path, filesystem=filesystem)[list(columns)]
    with pytest.raises(
        InputError, match=r"^partition \d \('.*month-3.parquet.*'\) contains NaN in row \d+, column 'b'"
    ):
        model.fit(frame)


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyError, FileNotFoundError])
def test_a_users_own_error_is_not_hidden(client, X, kind):
    def broken(block, block_info=None):
        if block_info[0]["chunk-location"][0] == BAD:
            raise kind("mine")
        return block

    with pytest.raises(kind, match="mine") as caught:
        PCA(2).fit(da.from_array(X, chunks=(300, 5)).map_blocks(broken, meta=X[:0]))
    assert caught.value.__notes__ == ["(from partition 3 of X)"]


def test_frames_of_the_worker_are_not_shown(client, X):
    with pytest.raises(InputError) as caught:
        PCA(2).fit(frames(X, set_to(np.nan)))
    shown = traceback.format_exception(caught.value)
    assert not [line for line in shown if "blocks.py" in line]
    assert caught.value.__cause__ is None


def test_a_request_for_memory_that_is_refused_is_named(client, X):
    def greedy(rows):
        return np.zeros((1 << 45, 5))

    rows = open_rows(da.from_array(X, chunks=(300, 5)))
    with pytest.raises(
        MemoryForecastError, match=r"^partition \d needs more memory than worker tcp://\S+ has \(Unable to"
    ):
        rows.each("greedy", greedy)
    here = pytest.raises(MemoryForecastError, match=r"^partition \d needs more memory than this process has")
    with dask.config.set(scheduler="threads"), here:
        rows.each("greedy", greedy)
