"""Run tasks on a cluster, or in the threads of this process; what goes wrong there in one sentence.

A fit does not move work away from a lost worker itself: Dask runs a task again where its inputs are, and every task
here gives the same result each time. What is left to say is when that is hopeless.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gramfold.errors import ClusterError, MissingExtraError
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import unheard

PREFIX = "gramfold"


def load_dask() -> Any:
    """The package, or a sentence that says how to get it."""
    try:
        import dask
    except ImportError as error:
        raise MissingExtraError(
            "rows in Dask collections need the package dask: pip install 'gramfold[dask]'."
        ) from error
    return dask


def current_client() -> Any:
    """The cluster that this session talks to; None where Dask runs in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:  # there is none
        return None


def key_of(name: str, token: str, number: int | str) -> str:
    """Of a task: Dask's dashboard shows what stands before the token."""
    return f"{PREFIX}-{name.replace(' ', '-')}-{token}-{number}"


def computed(tasks: Sequence[Any], name: str, client: Any = None, stages: Stages = SILENT) -> list[Any]:
    """The results of delayed tasks, in their order; interrupted, they are cancelled on the cluster too."""
    if not tasks:
        return []
    client = current_client() if client is None else client
    if client is None:
        return list(load_dask().compute(*tasks))
    with told(name, client):
        futures = client.compute(list(tasks))
        try:
            if stages.told:
                from distributed import as_completed

                for _ in stages.bar(as_completed(futures), len(futures), name):
                    pass
            return list(client.gather(futures))
        except BaseException:
            _cancel(client, futures)
            raise


def _cancel(client: Any, futures: Sequence[Any]) -> None:
    """Nobody waits for these any longer; a scheduler that is lost has forgotten them already."""
    if client.status == "running":
        client.cancel(list(futures), force=True)


@contextmanager
def told(name: str, client: Any) -> Iterator[None]:
    """Say what the loss of a worker or of the scheduler means."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except KilledWorker as error:
        last = getattr(error.last_worker, "address", error.last_worker)
        raise ClusterError(
            f"a partition could not be computed ({name}): {error.allowed_failures + 1} workers were lost over it, the "
            f"last at {last}, most likely out of memory: use smaller partitions, fewer threads for each worker, or "
            "workers with more memory."
        ) from error
    except (CommClosedError, CancelledError, TimeoutError, OSError) as error:
        if client.status == "running" and not isinstance(error, CommClosedError | OSError):
            raise
        raise ClusterError(
            f"the connection to the scheduler at {client.scheduler.address if client.scheduler else 'its address'} was "
            f"lost ({name}): start the cluster again, connect with a new Client, and fit again."
        ) from error


def on_worker(work: Callable[..., Any], *arguments: Any) -> Any:
    """Work of one task, whose warnings nobody would see.

    It has one thread, since Dask runs as many tasks beside each other as there are.
    """
    with at_work(1), unheard():
        return work(*arguments)
