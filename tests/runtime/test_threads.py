"""Blocks of work over threads: order, failures, interrupts."""

import os
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.errors import InputError
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import blocks, run_blocks, thread_count


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 8), (-1, 8), (-2, 7), (-8, 1), (-9, 1), (-100, 1), (1, 1), (3, 3), (20, 20)]
)
def test_thread_count(n_jobs, threads, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert thread_count(n_jobs) == threads


def test_where_affinity_is_not_known_all_cores_count(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert thread_count(None) == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count(-1) == 1


def test_no_thread_at_all():
    with pytest.raises(InputError, match=r"n_jobs=0 asks for no thread at all: use None"):
        thread_count(0)


@settings(deadline=None)
@given(st.integers(0, 200), st.integers(1, 60))
def test_blocks_cover_the_range_in_order(n, size):
    parts = blocks(n, size)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert all(0 < part.stop - part.start <= size for part in parts)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_blocks(n_jobs):
    def work(part):
        time.sleep(0.001 * (7 - part.start))  # the first takes longest
        return part.start

    assert run_blocks(work, blocks(7, 1), n_jobs) == list(range(7))
    assert run_blocks(work, [], n_jobs) == []


def test_two_threads_work_at_once_and_one_stays_at_home():
    meet = threading.Barrier(2, timeout=10)
    assert sorted(run_blocks(lambda part: meet.wait(), blocks(2, 1), 2)) == [0, 1]
    assert set(run_blocks(lambda part: threading.get_ident(), blocks(3, 1), 1)) == {threading.get_ident()}


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failure_comes_out_and_stops_the_rest(failure, n_jobs):
    begun = []

    def work(part):
        begun.append(part.start)
        if part.start == 3:
            raise failure
        time.sleep(0.005)

    with pytest.raises(failure):
        run_blocks(work, blocks(1000, 1), n_jobs)
    counted = len(begun)
    assert counted < 900
    time.sleep(0.05)
    assert len(begun) == counted  # nobody works on behind the caller's back


def test_an_interrupt_of_the_caller_drops_the_blocks_not_begun():
    begun = []

    class Interrupted(Stages):
        def bar(self, items, total, what):
            for item in items:
                yield item
                raise KeyboardInterrupt

    def work(part):
        begun.append(part.start)
        time.sleep(0.005)

    with pytest.raises(KeyboardInterrupt):
        run_blocks(work, blocks(1000, 1), 2, stages=Interrupted())
    counted = len(begun)
    assert counted < 900
    time.sleep(0.05)
    assert len(begun) == counted


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_bar_is_shown_when_verbose(n_jobs, capsys):
    assert run_blocks(lambda part: part.start, blocks(4, 1), n_jobs, stages=Stages(1, "X"), what="rows") == [0, 1, 2, 3]
    assert "[X] rows" in capsys.readouterr().err
    run_blocks(lambda part: part.start, blocks(4, 1), n_jobs)
    assert capsys.readouterr().err == ""
