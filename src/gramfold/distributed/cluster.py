"""A cluster that is named by its address: connected to, and asked whether it can do the work."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramfold import __version__
from gramfold.distributed.running import load_dask
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


def require_workers(client: Any, paths: Sequence[Path]) -> None:
    """Raise an error that names a worker without this gramfold, or one that does not see a path."""
    found = client.run(_asked(), [str(path) for path in paths])
    if not found:
        raise ClusterError(
            f"the scheduler at {client.scheduler.address} has no workers: start some with `dask worker ADDRESS`."
        )
    for worker, (version, unseen) in sorted(found.items()):
        if version != __version__:
            has = "no gramfold" if version is None else f"gramfold {version}"
            raise ClusterError(
                f"the worker at {worker} has {has}, and this is gramfold {__version__}: run `pip install "
                f"'gramfold[dask]=={__version__}'` there."
            )
        if unseen is not None:
            raise InputError(
                f"the worker at {worker} does not see '{unseen}': all machines must have the files under the same path."
            )


def _asked() -> Any:
    """What each worker is asked: a function that is sent as it is, since it is not known what a worker has."""

    def answer(paths: list[str]) -> tuple[str | None, str | None]:
        import os.path

        try:
            from gramfold import __version__ as version
        except ImportError:
            return None, None
        return version, next((path for path in paths if not os.path.exists(path)), None)  # noqa: PTH110

    return answer
