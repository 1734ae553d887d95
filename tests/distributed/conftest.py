"""A small cluster that the tests of this folder share, and rows in partitions of every kind."""

import numpy as np
import pytest

from tests.distributed.trouble import all_up, until

_PATIENT = {
    "distributed.scheduler.no-workers-timeout": "60s",  # a test fails rather than waits for ever
    # a local cluster gives up a worker that, so long after it was lost, is just lost once more
    "distributed.deploy.lost-worker-timeout": "1h",
}


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes of one thread each, on this machine."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(_PATIENT),
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0") as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(cluster):
    """The same as the client that Dask uses by itself, for one test; a worker that a test has lost is back after it."""
    with cluster.as_current():
        yield cluster
    until(lambda: all_up(cluster), 60)


@pytest.fixture(scope="session")
def X():
    """Rows that are wide along two columns."""
    return np.random.default_rng(0).standard_normal((2400, 5)) * [5, 4, 1, 1, 1]
