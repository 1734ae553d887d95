"""A cluster that is named by its address: connected to, and asked whether its workers see the files."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramfold.distributed.running import load_dask
from gramfold.distributed.workers import require_cluster
from gramfold.errors import ClusterError, InputError, MissingExtraError

_SECONDS = 10  # to answer
_LOGS = ("distributed", "distributed.client", "tornado.application")


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """A client of the cluster at this address for the length of the block; None where none is named."""
    if address is None:
        yield None
        return
    load_dask()
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("--scheduler needs the package distributed: pip install 'gramfold[dask]'.") from error
    with _unlogged():
        try:
            asyncio.run(asyncio.wait_for(_answer(address), _SECONDS))  # a Client may wait for ever
            client = Client(address, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler of Dask answers at {address} ({type(error).__name__}): start one with `dask scheduler`, "
                "and give the address that it prints."
            ) from error
        with client:
            try:
                yield client
            except ClusterError as error:
                if client.status == "running":
                    raise
                raise ClusterError(
                    f"the connection to the scheduler at {address} was lost, and with it all tasks: start it and run "
                    "the same command again."
                ) from error


async def _answer(address: str) -> None:
    """Return when something that speaks as Dask does has answered."""
    from distributed.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=_SECONDS, **Security().get_connection_args("client"))
    await comm.close()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Within it Dask does not log what an error says in one sentence."""
    logs = [logging.getLogger(name) for name in _LOGS]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def require_paths(client: Any, paths: Sequence[Path]) -> None:
    """Raise an error that names a worker which cannot do the work, or does not see a path."""
    if not client.nthreads():
        raise ClusterError(
            f"the scheduler at {client.scheduler.address} has no workers: start some with `dask worker ADDRESS`."
        )
    require_cluster(client)
    for worker, unseen in sorted(client.run(_unseen, list(paths)).items()):
        if unseen is not None:
            raise InputError(
                f"the worker at {worker} does not see '{unseen}': all machines must have the files under the same path."
            )


def _unseen(paths: Sequence[Path]) -> Path | None:
    return next((path for path in paths if not path.exists()), None)
