"""Ctrl-C, and whoever is told of the work and ends it: tasks are cancelled on the cluster, the model stays."""

import dask.array as da
import numpy as np
import pytest

from gramfold import PCA, Isomap
from gramfold.distributed import open_rows
from tests.distributed.trouble import interrupt_once_read, until_none, watched

MANY = 200  # partitions, of which few are read before the interrupt


def tasks_of(client):
    """Keys of gramfold's tasks that the scheduler knows."""
    return [key for key in client.cluster.scheduler.tasks if str(key).startswith("gramfold")]


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(
    "model",
    [PCA(2), PCA(2, progress=lambda *_: None), Isomap(2, graph_rows=500, landmarks=50)],
    ids=["gathered", "told", "graph"],
)
def test_an_interrupted_fit_is_cancelled(client, X, tmp_path, model):
    reading = watched(tmp_path)
    before = model.fit(X[:300]).model_
    pressed = interrupt_once_read(reading, 4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(reading.rows(X, MANY))
    pressed.join()
    until_none(lambda: tasks_of(client))
    assert reading.readings < MANY
    assert model.model_ is before
    rows = watched(tmp_path, seconds=0.0).rows(X)
    np.testing.assert_allclose(PCA(2).fit(rows).embedding_, PCA(2).fit(X).embedding_, atol=1e-9)


@pytest.mark.usefixtures("heard")
def test_rows_that_were_kept_for_a_fit_are_released(client, X, tmp_path):
    reading = watched(tmp_path)
    rows = open_rows(reading.rows(X, MANY))
    pressed = interrupt_once_read(reading, 4)
    with pytest.raises(KeyboardInterrupt) as caught, rows.kept() as kept:
        kept.each("count", len)
    pressed.join()
    until_none(lambda: tasks_of(client))
    assert caught.traceback  # whose frames refer to the rows
    assert reading.readings < MANY


def test_an_error_of_the_callback_cancels(client, X, tmp_path):
    reading = watched(tmp_path)

    def full(stage, done, total):
        if done >= 2:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        PCA(2, progress=full).fit(reading.rows(X, MANY))
    until_none(lambda: tasks_of(client))
    assert reading.readings < MANY


def test_cells_of_a_neighbour_search_are_released(client):
    X = np.random.default_rng(0).standard_normal((20_000, 2))  # fewer are searched in this process

    def stop(stage, done, total):
        if "own neighbors" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        Isomap(2, landmarks=50, progress=stop).fit(da.from_array(X, chunks=(5000, 2)))
    until_none(lambda: tasks_of(client))
    assert caught.traceback  # whose frames refer to the cells
