"""What the loss of a worker or of the scheduler means for a fit, in one sentence.

A fit does not move work away from a lost worker itself: Dask runs a task again where its inputs are, and every task
here gives the same result each time. What is left to say is when that is hopeless: a task that has lost as many
workers as the scheduler allows (`distributed.scheduler.allowed-failures`, 3) is not tried on another one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
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
    from distributed.scheduler import NoValidWorkerError, NoWorkerError

    try:
        yield
    except GramfoldError as error:
        # its sentence says all: the frames of a worker are left out, which the block would put back on the same object
        raise copy(error).with_traceback(None) from None
    except KilledWorker as error:
        raise ClusterError(_killed(error, name, client, tasks, reader)) from error
    except (NoValidWorkerError, NoWorkerError) as error:
        raise ClusterError(
            f"the cluster had no worker for the fit ({name}) for as long as its no-workers-timeout says: start "
            "some, and fit again."
        ) from error
    except (CancelledError, TimeoutError, OSError) as error:
        if client.status != "running" or isinstance(error, CommClosedError):
            raise lost_scheduler(client) from error
        if not isinstance(error, CancelledError):
            _note(error, client, tasks, reader)
            raise
        raise ClusterError(
            f"the tasks of the fit ({name}) were cancelled on the cluster, or it was restarted: fit again."
        ) from error
    except Exception as error:
        _note(error, client, tasks, reader)
        raise


def _note(error: Exception, client: Any, tasks: Sequence[Any], reader: BlockReader | None) -> None:
    """Add to an error of the user's own the partition that raised it."""
    if client.status == "running":
        error.add_note(f"(from {_blamed(client, tasks, reader)} of X)")


def _killed(error: Any, name: str, client: Any, tasks: Sequence[Any], reader: BlockReader | None) -> str:
    """Which partition no worker survives, and which size they would."""
    worker = error.last_worker
    said = (
        f"{_blamed(client, tasks, reader)} could not be computed ({name}): {error.allowed_failures + 1} workers were "
        f"lost over it, the last {worker.address}"
    )
    ended = [event for _, event in client.get_events("worker-restart-memory") if event["worker"] == worker.address]
    if ended:
        said += f" when it had taken {ended[-1]['rss'] / GIGABYTE:.2f} GB of memory"
    else:
        said += ", whose log may say why; most often the system ended it for want of memory"
    if not worker.memory_limit or reader is None:
        return f"{said}: use smaller partitions, or workers with more memory."
    rows = rows_that_fit(client, worker.memory_limit, worker.nthreads, reader.width * 8)
    threads = f"{worker.nthreads} thread{'s' * (worker.nthreads > 1)}"
    return (
        f"{said}: its limit of {worker.memory_limit / GIGABYTE:.2f} GB with {threads} has room for partitions of about "
        f"{rows:,} rows of {reader.width} columns; use partitions of at most so many rows, fewer threads for each "
        "worker, or workers with more memory."
    )


def _blamed(client: Any, tasks: Sequence[Any], reader: BlockReader | None) -> str:
    """The partitions that the scheduler blames: one that a worker did not survive, and any that it began beside it."""
    graph = TaskGraph.of(tasks)
    states = client.sync(client.scheduler.get_task_status, keys=list(graph.needs))
    erred = {key for key, state in states.items() if state == "erred"}
    found = set().union(*(graph.partitions(key) for key in erred if not graph.needs[key] & erred))
    if reader is None or not found:
        return "a task"
    named = [reader.named(number) for number in sorted(found)]
    return named[0] if len(named) == 1 else f"one of {' and '.join(named)}"


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """Which task needs which."""

    needs: Mapping[Any, set[Any]]  # of each task

    @classmethod
    def of(cls, tasks: Sequence[Any]) -> "TaskGraph":
        """All that these need."""
        from dask.core import get_dependencies
        from dask.highlevelgraph import HighLevelGraph
        from dask.utils import ensure_dict

        graph = ensure_dict(HighLevelGraph.merge(*(task.dask for task in tasks)))
        return cls({key: get_dependencies(graph, key) for key in graph})

    @cached_property
    def needed_by(self) -> dict[Any, set[Any]]:
        """The tasks that need each."""
        found: dict[Any, set[Any]] = {key: set() for key in self.needs}
        for key, needed in self.needs.items():
            for one in needed:
                found[one].add(key)
        return found

    def partitions(self, key: Any) -> set[int]:
        """The numbers of the partitions whose work needs this task; none where it is needed by all that follows."""
        found, todo, seen = set(), [key], {key}
        while todo:
            one = todo.pop()
            numbered = _NUMBERED.fullmatch(one) if isinstance(one, str) else None
            if numbered is not None:
                found.add(int(numbered[1]))
                continue
            fresh = self.needed_by[one] - seen
            seen |= fresh
            todo.extend(fresh)
        return found if len(found) == 1 else set()
