"""A worker that is lost costs time and nothing else; where it is hopeless, one sentence says what would help."""

import os
import re
import signal

import dask
import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster

from gramfold import LPP, PCA, Isomap
from gramfold.distributed import open_rows
from gramfold.errors import ClusterError
from tests.distributed.trouble import all_up, until, until_none, watched

MODELS = [
    pytest.param(PCA(2), 1, id="PCA"),
    pytest.param(PCA(2), 10, id="PCA, 10 times", marks=pytest.mark.slow),
    pytest.param(LPP(2, graph_rows=600, random_state=0), 10, id="LPP", marks=pytest.mark.slow),
    pytest.param(Isomap(2, landmarks=50, graph_rows=600, random_state=0), 10, id="Isomap", marks=pytest.mark.slow),
]


def killed_at_random(client, model, way, X, tmp_path, kills, seed):
    """Results of `way(model, rows)` with a worker killed at a random moment of each, and the undisturbed one."""
    rng = np.random.default_rng(seed)
    calm = watched(tmp_path)
    expected = way(model, calm.rows(X))
    for _ in range(kills):
        until(lambda: all_up(client), 60)
        reading = watched(tmp_path, kill_at=int(rng.integers(1, calm.readings + 1)), delay=float(rng.uniform(0, 0.03)))
        found = way(model, reading.rows(X))
        assert (reading.folder / "killed").exists()
        yield found, expected


def same_map(found, expected):
    """Up to the last bit or two: how BLAS adds up a block depends on where in memory it lies."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("model", "kills"), MODELS)
def test_a_worker_is_killed_in_a_fit(client, X, tmp_path, model, kills):
    def fitted(model, rows):
        return model.fit(rows).embedding_

    for found, expected in killed_at_random(client, model, fitted, X, tmp_path, kills, seed=0):
        same_map(found, expected)


@pytest.mark.parametrize(
    ("model", "kills"),
    [
        pytest.param(PCA(2), 1, id="PCA"),
        pytest.param(PCA(2), 10, id="PCA, 10 times", marks=pytest.mark.slow),
        # a model of a megabyte, which is sent once: a worker that has it may be the one that is lost
        pytest.param(Isomap(2, landmarks=100), 10, id="Isomap", marks=pytest.mark.slow),
    ],
)
def test_a_worker_is_killed_in_a_transform(client, X, tmp_path, model, kills):
    def placed(model, rows):
        return model.transform(rows).compute()

    for found, expected in killed_at_random(client, model.fit(X), placed, X, tmp_path, kills, seed=1):
        same_map(found, expected)


def test_kept_rows_that_are_lost_are_read_again(client, X, tmp_path):
    reading = watched(tmp_path, seconds=0.0)
    rows = open_rows(reading.rows(X))
    with rows.kept() as kept:
        before, once = kept.total("count", len, sum_of), reading.readings
        assert kept.total("count", len, sum_of) == before == len(X)
        assert reading.readings == once  # they were kept
        workers = client.cluster.scheduler.workers
        pid = next(worker.pid for worker in workers.values() if worker.has_what)
        os.kill(pid, signal.SIGKILL)
        until(lambda: pid not in [worker.pid for worker in workers.values()])
        assert kept.total("count", len, sum_of) == before
        assert once < reading.readings < 2 * once + 1  # those of one worker
    until_none(lambda: held_by(client))


def sum_of(a, b):
    return a + b


def held_by(client):
    """What the workers hold, and who wants it."""
    tasks = client.cluster.scheduler.tasks.values()
    return [(task.key, task.who_wants, task.waiters) for task in tasks if task.who_has]


def test_nothing_is_left_on_the_workers(client, X, tmp_path):
    for model in (PCA(2), Isomap(2, graph_rows=600, landmarks=50, random_state=0)):
        model.fit(watched(tmp_path, seconds=0.0).rows(X))
    until_none(lambda: held_by(client))
    until_none(lambda: list(client.cluster.scheduler.tasks))


def test_a_partition_that_no_worker_survives_is_named(client, X, monkeypatch):
    """The scheduler gives up at the first loss here, at the fourth by default."""
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)

    def deadly(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.from_array(X, chunks=(200, 5)).map_blocks(deadly, meta=X[:0])
    model = PCA(2).fit(X)
    before = model.model_
    with pytest.raises(
        ClusterError, match=r"partition 3 .*could not .*\(moments\): 1 workers? .* tcp://127.*rows of 5 col"
    ):
        model.fit(rows)
    assert model.model_ is before


def test_no_worker_for_as_long_as_the_scheduler_waits(X):
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "100ms"}),
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster),
        pytest.raises(ClusterError, match=r"no worker for the fit \(moments\) .* start some"),
    ):
        PCA(2).fit(da.from_array(X, chunks=(200, 5)))


def test_a_partition_too_large_is_named_with_the_size_that_fits():
    """And that size does fit."""

    def made(n):
        return np.random.default_rng(0).standard_normal((n, 10)) * [9, 8, 1, 1, 1, 1, 1, 1, 1, 1]

    def rows(*sizes):
        make = delayed(made, pure=True)
        return da.concatenate([da.from_delayed(make(n), (n, 10), dtype=float) for n in sizes])

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, memory_limit="400MB", dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        with pytest.raises(ClusterError, match=r"partition 1 (and partition 2 )?could not be") as caught:
            PCA(2).fit(rows(100, 6_000_000, 100))
        said = re.search(r"when it had taken (\S+) GB .* limit of 0.40 GB .* of about ([\d,]+) rows", str(caught.value))
        assert float(said[1]) > 0.3
        most = int(said[2].replace(",", ""))
        assert 50_000 < most < 6_000_000
        assert PCA(2).fit(rows(*[most] * 3)).model_.drawn.n_rows == 3 * most
