"""Run tasks on a cluster, or in the threads of this process."""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.losses import losses_named
from gramfold.distributed.workers import require_cluster, require_own
from gramfold.errors import MissingExtraError
from gramfold.runtime.progress import SILENT, Stages
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import unheard

PREFIX = "gramfold"
HERE = "this process"
_PAUSE = 0.2  # seconds between two looks at how far a cluster is
_OF_CLUSTERS = (None, "dask.distributed", "distributed")  # Dask's setting `scheduler` where a client decides


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
    """The cluster that this session, or the task that runs in it, talks to; None where Dask runs in this process."""
    if "distributed" not in sys.modules:
        return None
    from distributed import Client, get_client

    chosen = load_dask().config.get("scheduler", None)
    if isinstance(chosen, Client):
        return require_own(chosen)
    if chosen not in _OF_CLUSTERS:
        return None
    try:
        return require_own(get_client())
    except ValueError:  # there is none
        return None


def key_of(name: str, token: str, number: int | str) -> str:
    """Of a task: Dask's dashboard shows what stands before the token."""
    return f"{PREFIX}-{name.replace(' ', '-')}-{token}-{number}"


def computed(
    tasks: Sequence[Any],
    name: str,
    client: Any = None,
    stages: Stages = SILENT,
    *,
    reader: BlockReader | None = None,
    steps: Sequence[Any] = (),
) -> list[Any]:
    """The results of delayed tasks, in their order; interrupted, they are cancelled on the cluster too.

    Where the work is in tasks that these need, `steps` are the keys of those, for whoever is told how far it is.
    """
    if not tasks:
        return []
    client = current_client() if client is None else client
    if client is None:
        keys = steps or [task.key for task in tasks]
        with _steps_told(keys, name, stages):
            return list(load_dask().compute(*tasks))
    with submitted(tasks, name, client, reader) as futures:
        if stages.told:
            for _ in stages.bar(_done(client, futures, steps), len(steps or futures), name):
                pass
        return list(client.gather(futures))


def arriving(tasks: Sequence[Any], name: str, client: Any, stages: Stages = SILENT) -> Generator[Any]:
    """The results of delayed tasks on a cluster, as they are ready; left, the others are cancelled."""
    from distributed import as_completed

    with submitted(tasks, name, client) as futures:
        for future in stages.bar(as_completed(futures, loop=client.loop), len(futures), name):
            yield future.result()


@contextmanager
def submitted(tasks: Sequence[Any], name: str, client: Any, reader: BlockReader | None = None) -> Iterator[list[Any]]:
    """Tasks that run on the cluster, as futures; whatever ends the block before they are done cancels them."""
    require_cluster(client)
    futures: list[Any] = []
    try:
        with losses_named(name, client, tasks, reader), _waiting():
            futures = client.compute(list(tasks))
            yield futures
    except BaseException:
        if client.status == "running":  # a scheduler that is lost has forgotten them
            client.cancel(futures, force=True)
        raise


def _waiting() -> AbstractContextManager[Any]:
    """Where a task of a worker waits for other tasks, its thread is free for them."""
    from distributed import get_worker, worker_client

    try:
        get_worker()
    except ValueError:
        return nullcontext()
    context: AbstractContextManager[Any] = worker_client()
    return context


def _done(client: Any, futures: Sequence[Any], steps: Sequence[Any]) -> Iterator[None]:
    """One item for each step that is done, until all futures are; the error of one that has failed."""
    from distributed import wait

    told = 0
    while (states := {future.status for future in futures}) - {"finished"}:
        if states - {"pending", "finished"}:
            client.gather(futures)
        with suppress(TimeoutError):
            wait(futures, timeout=_PAUSE)
        done = _steps_done(client, futures, steps)
        yield from [None] * (done - told)
        told = max(told, done)


def _steps_done(client: Any, futures: Sequence[Any], steps: Sequence[Any]) -> int:
    if not steps:
        return sum(future.status != "pending" for future in futures)
    states = client.sync(client.scheduler.get_task_status, keys=list(steps))
    return sum(state in {"memory", "released"} for state in states.values())  # released: done, and used up


@contextmanager
def _steps_told(keys: Sequence[Any], name: str, stages: Stages) -> Iterator[None]:
    """Within it Dask runs in this process, and whoever listens is told of each task of these that is done."""
    from dask.callbacks import Callback

    mine = set(keys)
    steps = iter(stages.bar(keys, len(keys), name))
    next(steps, None)

    def told(key: Any, *_: Any) -> None:
        if key in mine:
            next(steps, None)  # says that the one before is done

    with Callback(posttask=told):
        yield


@contextmanager
def persisted(tasks: Sequence[Any], client: Any) -> Iterator[list[Any]]:
    """Tasks whose results the workers hold for the length of the block.

    Then they drop them, whoever still has a reference, such as the frames of an error.
    """
    from distributed import futures_of

    require_cluster(client)
    held = client.persist(list(tasks))
    try:
        yield held
    finally:
        for future in futures_of(held):
            future.release()


def where() -> str:
    """Who does the work of this task, in an error."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError):
            return f"worker {get_worker().address}"
    return HERE


def on_worker(work: Callable[..., Any], *arguments: Any) -> Any:
    """Work of one task, whose warnings nobody would see.

    It has one thread, since Dask runs as many tasks beside each other as there are.
    """
    with at_work(1), unheard():
        return work(*arguments)
