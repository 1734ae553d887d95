"""Ctrl-C at any moment: work that it would leave half done ends first."""

import signal
import subprocess
import sys
import threading

import pytest

from gramfold.runtime.interrupts import uninterrupted

pytestmark = pytest.mark.usefixtures("heard")


def test_an_interrupt_waits_for_the_end():
    done = []

    def work():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with uninterrupted():
        pass
    with pytest.raises(ZeroDivisionError), uninterrupted():
        1 / 0  # noqa: B018
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_within_another():
    done = []

    def work():
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
            done.append(True)  # the outer one holds it back

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done


def test_other_threads_have_nothing_to_hold_back():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


_FIRST_FIT = """
import builtins, importlib, signal, numpy as np
from gramfold import Isomap
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).random((200, 3))
rooms = "neighbors.plain_distances", "graph.plain_paths", "direct.plain_elimination"
for room in rooms:  # as where the kernels pay
    importlib.import_module("gramfold." + room).prefer_plain = lambda *_: False
real = builtins.__import__
def interrupted(name, *args, **kwargs):
    if name == "numba.core" or name.startswith("numba.core."):
        builtins.__import__ = real
        signal.raise_signal(signal.SIGINT)
    return real(name, *args, **kwargs)
builtins.__import__ = interrupted
try:
    Isomap().fit(X)
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    pass
print(Isomap().fit(X).embedding_.shape)
"""

_SEARCH = """
import os, signal, threading, numpy as np
from gramfold.neighbors.exact import TreeIndex
from gramfold.neighbors.metrics import Metric
signal.signal(signal.SIGINT, signal.default_int_handler)
index = TreeIndex(np.random.default_rng(0).random((60_000, 3)), Metric("euclidean", "euclidean"), 2)
index.own(8, None)
interrupts = 0
for delay in np.linspace(0.001, 0.1, 25):
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        index.own(8, None)
        timer.join()
    except KeyboardInterrupt:
        interrupts += 1
print(interrupts)
"""


def run(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.strip()


def test_an_interrupt_of_the_first_fit_leaves_numba_whole():
    assert run(_FIRST_FIT) == "(200, 2)"


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="Windows sends no signals to itself")
def test_an_interrupt_of_a_search_does_not_end_the_process():
    assert int(run(_SEARCH)) == 25
