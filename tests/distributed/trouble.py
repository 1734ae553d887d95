"""Partitions that do something to the worker that reads them, or to whoever waits for it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, Timer
from uuid import uuid4

import dask.array as da
import numpy as np
from distributed import Status

PARTS = 12
_SECONDS = 0.03  # that each partition takes to read


@dataclass(frozen=True)
class Watched:
    """Reads a partition, slowly, and leaves a file each time; at the reading of this number its worker is killed."""

    folder: Path
    kill_at: int | None = None
    delay: float = 0.0  # seconds into that reading, below the time that it takes
    seconds: float = _SECONDS

    def __call__(self, block):
        (self.folder / uuid4().hex).touch()
        if self.kill_at is not None and self.readings >= self.kill_at and self._first():
            Timer(self.delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
            time.sleep(60)  # never to the end
        time.sleep(self.seconds)
        return block

    def _first(self):
        try:
            (self.folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    @property
    def readings(self):
        """How many there were."""
        return sum(1 for _ in self.folder.iterdir())

    def rows(self, X, parts=PARTS):
        """The rows in partitions that are read like this."""
        size = -(-len(X) // parts)
        return da.from_array(X, chunks=(size, X.shape[1])).map_blocks(self, meta=np.empty((0, X.shape[1])))


def watched(tmp_path, **options):
    """A new one, with a folder of its own."""
    folder = tmp_path / uuid4().hex
    folder.mkdir()
    return Watched(folder, **options)


def interrupt_once_read(reading: Watched, readings: int = 1) -> Thread:
    """Press Ctrl-C in this process when so many partitions were read."""

    def press():
        until(lambda: reading.readings >= readings)
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=press)
    thread.start()
    return thread


def all_up(client):
    """Whether each worker of a local cluster runs; one that is killed while it starts is not started again by Dask."""
    known = {worker.pid for worker in client.cluster.scheduler.workers.values()}
    nannies = client.cluster.workers.values()
    return known == {nanny.pid for nanny in nannies} and all(nanny.status == Status.running for nanny in nannies)


def until(holds, seconds=20.0):
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.01)


def until_none(found, seconds=20.0):
    """Wait until nothing is found."""
    end = time.monotonic() + seconds
    while left := found():
        assert time.monotonic() < end, left
        time.sleep(0.01)
