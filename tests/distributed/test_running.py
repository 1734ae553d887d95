"""Where tasks run, in how many threads, and who is told of them."""

import asyncio
import time
from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pytest
from dask.diagnostics import ProgressBar
from distributed import Client, LocalCluster, get_client, worker_client

from gramfold import PCA, Isomap
from gramfold.distributed import open_rows
from gramfold.errors import InputError
from tests.distributed.trouble import PARTS, until, watched


@pytest.fixture(scope="module")
def whole(X):
    return PCA(2).fit(X)


def same_map(model, rows, whole):
    np.testing.assert_allclose(model.transform(rows).compute(), whole.embedding_, atol=1e-9)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_dasks_schedulers_of_this_machine(X, whole, scheduler):
    """They are used where they were asked for, and whoever listens hears of each partition."""
    heard = []
    rows = da.from_array(X, chunks=(400, 5))
    with dask.config.set(scheduler=scheduler, num_workers=2):
        model = PCA(2, progress=lambda *said: heard.append(said)).fit(rows)
        same_map(model, rows, whole)
    assert ("partitions: moments", 6, 6) in heard


def test_the_scheduler_of_a_block_comes_before_the_client(client, X, tmp_path):
    reading = watched(tmp_path, seconds=0.0)
    with dask.config.set(scheduler="threads"):
        open_rows(reading.rows(X)).each("only here", len)
    assert reading.readings == PARTS
    assert not [task for task in client.cluster.scheduler.task_prefixes if "only-here" in task]


def test_a_client_as_the_scheduler_of_a_block(cluster, X, whole):
    rows = da.from_array(X, chunks=(400, 5))
    with dask.config.set(scheduler=cluster):
        same_map(PCA(2).fit(rows), rows, whole)
    assert "gramfold-moments" in cluster.cluster.scheduler.task_prefixes


def test_a_client_that_is_passed(cluster, X, whole):
    rows = da.from_array(X, chunks=(400, 5))
    model = PCA(2).fit(open_rows(rows, client=cluster))
    same_map(model, rows, whole)


def test_progress_counts_partitions_on_a_cluster(client, X, tmp_path):
    heard = []
    PCA(2, progress=lambda *said: heard.append(said)).fit(watched(tmp_path, seconds=0.15).rows(X))
    told = [done for stage, done, total in heard if stage == "partitions: moments" and total == PARTS]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, PARTS)
    assert len(told) > 3  # while it runs


def test_bars_and_names(X, capsys, tmp_path):
    with ProgressBar():
        PCA(2, verbose=1).fit(watched(tmp_path).rows(X))
    printed = capsys.readouterr()
    assert "100% Completed" in printed.out
    assert "partitions: moments" in printed.err


def test_names_on_the_dashboard(client, X):
    rows = da.from_array(X, chunks=(400, 5))
    PCA(2).fit(rows).transform(rows).compute()
    Isomap(2, graph_rows=300, landmarks=40).fit(rows)
    names = {name for name in client.cluster.scheduler.task_prefixes if name.startswith("gramfold")}
    assert {"gramfold-moments", "gramfold-moments-sum", "gramfold-transform"} <= names
    assert not [name for name in names if any(digit in name for digit in "0123456789")]


def test_a_fit_in_a_task(client, X):
    """Two at a time, on two workers of one thread: while a fit waits for tasks, its thread is theirs."""

    def fitted(X, way):
        rows = da.from_array(X, chunks=(400, 5))
        if way == "worker_client":
            with worker_client():
                return PCA(2).fit(rows).embedding_
        if way == "get_client":
            get_client()
        return PCA(2).fit(rows).embedding_

    ways = ["get_client", "worker_client", "plain", "get_client"]
    expected = PCA(2).fit(X).embedding_
    for found in client.gather([client.submit(fitted, X, way, pure=False) for way in ways]):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_an_asynchronous_client_is_refused(cluster, X):
    async def fitted():
        async with Client(cluster.scheduler.address, asynchronous=True, set_as_default=False) as client:
            PCA(2).fit(open_rows(da.from_array(X, chunks=(400, 5)), client=client))

    with pytest.raises(InputError, match="the client is asynchronous, and a fit waits for"):
        asyncio.run(fitted())


def test_a_fit_in_a_thread_of_an_asynchronous_program(client, X, whole):
    rows = da.from_array(X, chunks=(400, 5))
    same_map(asyncio.run(asyncio.to_thread(PCA(2).fit, open_rows(rows, client=client))), rows, whole)


def threads_of_a_task(rows):
    """Threads of the pool and of BLAS while this task runs, and when that was."""
    import threadpoolctl

    from gramfold.runtime.threads import run_blocks, thread_count

    began = time.time()
    names = run_blocks(lambda _: __import__("threading").get_ident(), list(range(8)))
    time.sleep(0.2)
    blas = [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    return thread_count(None), len(set(names)), max(blas), began, time.time()


def test_threads_do_not_multiply(X, whole):
    """Two tasks at a time in one process: each has one thread, and the map is that of two processes."""
    rows = da.from_array(X, chunks=(400, 5))
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, memory_limit="1GB", dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        found = open_rows(rows).each("threads", threads_of_a_task)
        same_map(PCA(2).fit(rows), rows, whole)
        until(lambda: not client.cluster.scheduler.tasks)
    for count, used, blas, _, _ in found:
        assert (count, used, blas) == (1, 1, 1)
    spans = sorted(one[3:] for one in found)
    assert any(later[0] < earlier[1] for earlier, later in pairwise(spans))  # beside each other
