"""An object that all tasks read, sent to a cluster once."""

from typing import Any
from uuid import uuid4

from gramfold.distributed.running import current_client, key_of, load_dask

_TINY = 1e4  # bytes: each task may as well have its own
_LARGE = 1e6  # bytes: with a graph of tasks such an object would travel each time that the tasks run
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 PB"}  # of an object that is sent once


def sent_once(what: Any, name: str, client: Any = None) -> Any:
    """What tasks take as an argument: the object itself where it is tiny, else a task that gives it.

    Where it is large, and this session talks to a cluster, it is sent there now. The scheduler has it as long as the
    result lives, so that a lost worker gets it again.
    """
    dask, token, size = load_dask(), uuid4().hex[:16], _size(what)
    if size < _TINY:
        return what
    client = current_client() if client is None else client
    if client is None or size < _LARGE:
        return dask.delayed(what, name=key_of(name, token, 0), pure=False, traverse=False)
    with dask.config.set(_NO_WARNING):
        return client.submit(_itself, what, key=key_of(name, token, 0), pure=False)


def _size(what: Any) -> int:
    """In bytes, without a copy of its arrays."""
    from distributed.protocol.pickle import dumps

    buffers: list[Any] = []
    plain: bytes = dumps(what, protocol=5, buffer_callback=buffers.append)
    return len(plain) + sum(int(buffer.raw().nbytes) for buffer in buffers)


def _itself(what: Any) -> Any:
    return what
