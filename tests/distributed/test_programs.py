"""`dask scheduler` and `dask worker` as programs of their own, on loopback."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import dask.array as da
import numpy as np
import pytest
from distributed import Client

import gramfold
from gramfold import PCA
from gramfold.errors import ClusterError
from tests.distributed.trouble import until, watched


@contextmanager
def program(*arguments, **environment):
    """One of Dask's programs; it ends with the block."""
    command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
    running = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


@contextmanager
def scheduler(folder):
    """A scheduler on a free port, and its address."""
    file = folder / "scheduler.json"
    with program("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)) as running:
        until(lambda: file.exists() and file.read_text().endswith("}"))
        yield running, json.loads(file.read_text())["address"]


def worker(address, *options, **environment):
    """A worker program."""
    return program("worker", address, "--nthreads", "1", "--memory-limit", "1GB", *options, **environment)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with (
        scheduler(tmp_path_factory.mktemp("scheduler")) as (_, address),
        worker(address, "--nworkers", "2"),
    ):
        yield address


def test_fit_and_transform_by_address(address, X):
    with Client(address) as client:
        client.wait_for_workers(2, timeout=60)
        rows = da.from_array(X, chunks=(500, 5))
        model, whole = PCA(2).fit(rows), PCA(2).fit(X)
        np.testing.assert_allclose(model.transform(rows).compute(), whole.embedding_, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__version__ = '0.0.9'\nPCA = None", f"has gramfold 0.0.9, and this is gramfold {gramfold.__version__}"),
        ("raise ImportError('libarrow.so not found')", "has no gramfold"),
    ],
    ids=["other version", "none"],
)
def test_a_worker_without_this_gramfold_is_named(address, X, tmp_path, text, said):
    (tmp_path / "gramfold.py").write_text(text)
    rows = da.from_array(X, chunks=(500, 5))
    with Client(address) as client:
        client.wait_for_workers(2, timeout=60)
        PCA(2).fit(rows)
        with worker(address, "--no-nanny", PYTHONPATH=str(tmp_path)):
            client.wait_for_workers(3, timeout=60)
            with pytest.raises(ClusterError, match=rf"the worker at tcp://127.0.0.1:\d+ {said}.*run `pip install"):
                PCA(2).fit(rows)
        until(lambda: len(client.nthreads()) == 2)
        PCA(2).fit(rows)


def test_the_scheduler_is_lost_in_a_fit(X, tmp_path):
    """One error, at once; the model stays, and nothing of the connection is left."""
    threads = set(threading.enumerate())
    reading = watched(tmp_path)
    with (
        scheduler(tmp_path) as (running, address),
        worker(address, "--no-nanny", "--death-timeout", "1"),
        Client(address) as client,
    ):
        client.wait_for_workers(1, timeout=60)
        model = PCA(2).fit(X)
        before = model.model_

        def kill():
            until(lambda: reading.readings > 2)
            running.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(ClusterError, match=f"the connection to the scheduler at {address} was lost"):
            model.fit(reading.rows(X, 200))
        killer.join()
        assert reading.readings < 200
        with pytest.raises(ClusterError, match="was lost, and with it all tasks: start the cluster again"):
            model.fit(reading.rows(X, 200))
        assert model.model_ is before
    until(lambda: {thread for thread in threading.enumerate() if not thread.daemon} <= threads)
