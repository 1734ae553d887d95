"""What the loss of a worker or of the scheduler means for a fit, in one sentence.

A fit does not move work away from a lost worker itself: Dask runs a task again where its inputs are, and every task
here gives the same result each time. What is left to say is when that is hopeless: a task that has lost as many
workers as the scheduler allows (`distributed.scheduler.allowed-failures`, 3) is not tried on another one.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gramfold.distributed.blocks import BlockReader
from gramfold.distributed.workers import lost_scheduler, rows_that_fit
from gramfold.errors import ClusterError, GramfoldError
from gramfold.runtime.memory import GIGABYTE

_NUMBERED = re.compile(r"gramfold-.*-[0-9a-f]{16}-(\d+)")  # the key of a task for one partition (running.key_of)


@contextmanager
def losses_named(name: str, client: Any, tasks: Sequence[Any], reader: BlockReader | None) -> Iterator[None]:
    """Within it these tasks are waited for."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except GramfoldError as error:
        raise error.with_traceback(None) from None  # its sentence says all; the frames are those of a worker
    except KilledWorker as error:
        raise ClusterError(_killed(error, name, client, tasks, reader)) from error
    except (CancelledError, TimeoutError, OSError) as error:
        if client.status != "running" or isinstance(error, CommClosedError):
            raise lost_scheduler(client) from error
        if not isinstance(error, CancelledError):
            raise
        raise ClusterError(
            f"the tasks of the fit ({name}) were cancelled on the cluster, or it was restarted: fit again."
        ) from error


def _killed(error: Any, name: str, client: Any, tasks: Sequence[Any], reader: BlockReader | None) -> str:
    """Which partition no worker survives, and which size they would."""
    worker = error.last_worker
    number = partition_of(error.task, tasks)
    what = "a task" if number is None or reader is None else reader.named(number)
    said = f"{what} could not be computed ({name}): {error.allowed_failures + 1} workers were lost over it, the last "
    ended = [event for _, event in client.get_events("worker-restart-memory") if event["worker"] == worker.address]
    if not ended:
        said += f"{worker.address}, whose log may say why; most often the system ended it for want of memory"
    else:
        said += f"{worker.address} when it had taken {ended[-1]['rss'] / GIGABYTE:.2f} GB of memory"
    if not worker.memory_limit or reader is None:
        return f"{said}: use smaller partitions, or workers with more memory."
    rows = rows_that_fit(client, worker.memory_limit, worker.nthreads, reader.width * 8)
    threads = f"{worker.nthreads} thread{'s' * (worker.nthreads > 1)}"
    return (
        f"{said}: its limit of {worker.memory_limit / GIGABYTE:.2f} GB with {threads} has room for partitions of about "
        f"{rows:,} rows of {reader.width} columns; use partitions of at most so many rows, fewer threads for each "
        "worker, or workers with more memory."
    )


def partition_of(key: Any, tasks: Sequence[Any]) -> int | None:
    """The number of the only partition whose task needs this one; None where several do."""
    from dask.core import get_dependencies, reverse_dict
    from dask.highlevelgraph import HighLevelGraph
    from dask.utils import ensure_dict

    graph = ensure_dict(HighLevelGraph.merge(*(task.dask for task in tasks)))
    needed_by = reverse_dict({one: get_dependencies(graph, one) for one in graph})
    found, todo, seen = set(), [key], {key}
    while todo:
        one = todo.pop()
        numbered = _NUMBERED.fullmatch(one) if isinstance(one, str) else None
        if numbered is not None:
            found.add(int(numbered[1]))
            continue
        fresh = needed_by.get(one, set()) - seen
        seen |= fresh
        todo.extend(fresh)
    return found.pop() if len(found) == 1 else None
