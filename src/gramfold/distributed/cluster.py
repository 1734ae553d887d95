"""A cluster that is named by its address: connected to, and asked whether its workers see the files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramfold.distributed.running import load_dask
from gramfold.distributed.workers import require_cluster
from gramfold.errors import ClusterError, InputError, MissingExtraError

_SECONDS = 20  # to answer


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
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler of Dask answers at {address} ({type(error).__name__}): start one with `dask scheduler`, and "
            "give the address that it prints."
        ) from error
    with client:
        yield client


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
