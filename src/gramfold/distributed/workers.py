"""The workers of a cluster: whether they can do the work, and how many rows of a partition they have memory for."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import gramfold
from gramfold.errors import ClusterError, InputError

_USABLE = 0.8  # of a worker's memory: beyond it Dask begins no task there
_COPIES = 4  # of a partition: as Dask has it, as it is read, and two that the work makes


@dataclass(frozen=True)
class Worker:
    """What one answers when it is first met."""

    version: str | None  # of gramfold; None without it
    bytes: int  # of memory that it has taken


def require_own(client: Any) -> Any:
    """The client; an error if it was made in a process that this one was forked from: in the fork it is silent."""
    made = re.fullmatch(r".*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", client.id)
    # Dask makes the id of a client with the number of its process, of which it keeps 14 bits
    if made is not None and UUID(made[1]).clock_seq != os.getpid() & 0x3FFF:
        raise ClusterError(
            "the client of Dask was made before this process was forked, and does not work in it: connect with a new "
            "Client here, or start processes by 'spawn'."
        )
    return client


_met: WeakKeyDictionary[Any, dict[str, Worker]] = WeakKeyDictionary()  # by address, for each client


def require_cluster(client: Any) -> None:
    """Raise an error unless this client can be waited for, and all of its workers have this version of gramfold."""
    require_own(client)
    if client.asynchronous:
        raise InputError(
            "the client is asynchronous, and a fit waits for the results of its tasks: pass Client(address) without "
            "asynchronous=True, and call fit in a thread of its own (asyncio.to_thread) where nothing may wait."
        )
    if client.status != "running":
        raise lost_scheduler(client)
    known = _met.setdefault(client, {})
    fresh = sorted(set(client.nthreads()) - set(known))
    if not fresh:
        return
    for address, answer in client.run(_asked(), workers=fresh, on_error="return").items():
        if isinstance(answer, Exception):  # it is being lost: its tasks go to another
            continue
        found = Worker(*answer)
        if found.version != gramfold.__version__:
            has = "no gramfold" if found.version is None else f"gramfold {found.version}"
            raise ClusterError(
                f"the worker at {address} has {has}, and this is gramfold {gramfold.__version__}: run `pip install "
                f"'gramfold[dask]=={gramfold.__version__}'` there."
            )
        known[address] = found


def _asked() -> Callable[[], tuple[str | None, int]]:
    """What each worker is asked: a function that is sent as it is, since it is not known what a worker has."""

    def answer() -> tuple[str | None, int]:
        import os

        import psutil  # which Dask needs

        try:
            from gramfold import PCA, __version__  # with what a fit loads
        except ImportError:
            return None, 0
        del PCA
        return __version__, psutil.Process(os.getpid()).memory_info().rss

    return answer


def lost_scheduler(client: Any) -> ClusterError:
    """What to say where there is no connection any longer."""
    address = client.scheduler.address if client.scheduler else "its address"
    return ClusterError(
        f"the connection to the scheduler at {address} was lost, and with it all tasks: start the cluster again, "
        "connect with a new Client, and fit again."
    )


def rows_that_fit(client: Any, limit: float, threads: int, row_bytes: float) -> int:
    """Rows of a partition that a worker with this memory has room for, while each thread works on one."""
    taken = min((one.bytes for one in _met.get(client, {}).values()), default=0)
    return _rounded(max(0.0, (_USABLE * limit - taken) / (threads * _COPIES * row_bytes)))


def _rounded(x: float) -> int:
    """Down to two digits: the forecast has no more."""
    unit: int = 10 ** max(0, len(str(int(x))) - 2)
    return int(x) // unit * unit
