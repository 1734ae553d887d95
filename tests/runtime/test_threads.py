"""Blocks of work over threads: order, failures, interrupts; limits on the threads of libraries."""

import importlib
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from gramfold import LLE, PCA, Isomap, KernelPCA, LaplacianEigenmaps, NystromEmbedding, OrdinalMDS
from gramfold.errors import InputError
from gramfold.kernels.projection import algebra_threads
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import (
    at_work,
    blas_threads,
    blocks,
    in_blocks,
    one_blas_thread,
    run_blocks,
    thread_count,
)


@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, 8), (-1, 8), (-2, 7), (-8, 1), (-9, 1), (-100, 1), (1, 1), (3, 3), (20, 20), (2**70, 1024)],
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
    with pytest.raises(InputError, match=r"n_jobs=0 is not a number of threads: use None"):
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


# --- limits on linear algebra, of which the process has one


def set_now(openmp=False):
    """Of linear algebra that has one number of threads; with `openmp` of such as has one for each calling thread."""
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {library["num_threads"] for library in blas if (library.get("threading_layer") == "openmp") == openmp}


@pytest.fixture
def three_threads():
    importlib.import_module("sklearn.cluster")  # what it loads later would have as many threads as there are cores
    np.linalg.svd(np.eye(3))  # the library is loaded
    with threadpool_limits(3, "blas"):
        yield
        assert set_now() == {3}


def test_limits_within_each_other_hold_and_go(three_threads):
    with blas_threads(2):
        assert set_now() == {2}
        with one_blas_thread():
            assert set_now() == {1}
            with blas_threads(2):
                assert set_now() == {2}  # the innermost holds
                with one_blas_thread():
                    assert set_now() == {1}
                assert set_now() == {2}
            assert set_now() == {1}
        assert set_now() == {2}
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            1 / 0  # noqa: B018
        assert set_now() == {2}


@pytest.mark.parametrize("count", [3, 4, 1_000])
def test_a_limit_never_gives_more_threads_than_there_were(three_threads, count):
    with blas_threads(count):
        assert set_now() == {3}
        with one_blas_thread(), blas_threads(count):
            assert set_now() == {3}
    with one_blas_thread():
        assert set_now() == {1}
        with blas_threads(count):
            assert set_now() == {3}
        assert set_now() == {1}


def test_of_threads_that_are_in_limits_the_smallest_innermost_one_applies(three_threads):
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread(), blas_threads(2):
            inside.set()
            assert leave.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    assert inside.wait(10)
    assert set_now() == {2}
    with blas_threads(3):
        assert set_now() == {2}  # the other thread's
        with one_blas_thread():
            assert set_now() == {1}
        assert set_now() == {2}
        leave.set()
        other.join()
        assert set_now() == {3}


@pytest.mark.parametrize("first_out", [0, 1])
def test_limits_of_two_threads_overlap_and_the_last_one_out_restores(three_threads, first_out):
    inside, leave = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]

    def hold(number):
        with blas_threads(1 + number):
            inside[number].set()
            assert leave[number].wait(10)

    threads = [threading.Thread(target=hold, args=(number,)) for number in (0, 1)]
    for thread, entered in zip(threads, inside, strict=True):
        thread.start()
        assert entered.wait(10)
    assert set_now() == {1}
    leave[first_out].set()
    threads[first_out].join()
    assert set_now() == {2 if first_out == 0 else 1}
    leave[1 - first_out].set()
    threads[1 - first_out].join()
    assert set_now() == {3}


@pytest.fixture
def faiss_loaded():
    importlib.import_module("faiss")  # brings such linear algebra


def test_limits_that_count_for_each_thread_hold_where_they_are_asked_for(faiss_loaded, three_threads):
    inside, leave, seen = threading.Event(), threading.Event(), []

    def hold():
        with one_blas_thread():
            seen.append(set_now(openmp=True))
            inside.set()
            assert leave.wait(10)

    other = threading.Thread(target=hold)
    with blas_threads(2):
        assert set_now(openmp=True) == {2}
        other.start()
        assert inside.wait(10)
        assert (set_now(openmp=True), set_now()) == ({2}, {1})
    assert set_now(openmp=True) == {3}  # though the other thread is the last one out
    leave.set()
    other.join()
    assert seen == [{1}]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_innermost_limit_that_is_left_holds(steps):
    """Limits of any number, entered and left in any order."""
    with threadpool_limits(3, "blas"):
        held = []
        for count, leaving in steps:
            stack = ExitStack()
            stack.enter_context(blas_threads(count))
            held.append((count, stack))
            for _ in range(min(leaving, len(held))):
                held.pop(0)[1].close()
            assert set_now() == {min(3, held[-1][0]) if held else 3}
        for _, stack in held:
            stack.close()
        assert set_now() == {3}


def test_a_limit_that_a_library_refuses_is_not_left_behind(three_threads):
    with pytest.raises(TypeError), blas_threads("many"):
        pytest.fail("never")
    assert set_now() == {3}
    with blas_threads(2):
        assert set_now() == {2}
    assert set_now() == {3}


def test_k_means_in_several_threads_leaves_linear_algebra_its_threads(three_threads):
    from gramfold.kernels.landmarks import kmeans_rows

    X = np.random.default_rng(0).standard_normal((400, 3))
    threads = [
        threading.Thread(target=lambda: [kmeans_rows(X, 20, np.random.RandomState(0)) for _ in range(8)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set_now() == {3}


# --- blocks of products


def test_blocks_of_many_entries_run_in_threads_with_one_blas_thread_each(three_threads):
    seen, covered = [], np.zeros(1_000, dtype=int)

    def work(part):
        seen.append((set_now(), threading.get_ident()))
        covered[part] += 1

    in_blocks(work, 1_000, 2.9e6, n_jobs=2)
    assert seen == [({3}, threading.get_ident())]  # so few are done at once, where they are asked for
    assert (covered == 1).all()
    seen.clear()
    in_blocks(work, 1_000, 4e7, n_jobs=2)
    assert (covered == 2).all()
    assert len(seen) >= 10
    assert {str(threads) for threads, _ in seen} == {"{1}"}
    in_blocks(work, 1_000, 1e12, n_jobs=2)  # more entries in a row than a block should have
    assert (covered == 3).all()


def test_an_estimator_at_work_keeps_its_pool_until_it_is_done():
    def names(n_jobs=None):
        meet = threading.Barrier(2)  # so that both threads take part

        def work(_):
            meet.wait(10)
            return threading.current_thread().name

        return set(run_blocks(work, [0, 1], n_jobs))

    with at_work(2):
        first = names()
        assert names() == first
        with pytest.raises(ZeroDivisionError):
            run_blocks(lambda part: part / 0, [1, 2, 3])
        assert names() == first
        with at_work(2):
            assert not names() & first  # one within it has its own, which ends with it
        assert names() == first
        assert not names(3) & first  # another number of threads
        pool = {thread for thread in threading.enumerate() if thread.name in first}
        assert len(pool) == 2
    assert not any(thread.is_alive() for thread in pool)
    assert names(2) != names(2)  # outside: one for the occasion


# --- estimators


@pytest.fixture
def rows():
    return np.random.default_rng(0).standard_normal((120, 5))


@pytest.mark.parametrize("cls", [PCA, KernelPCA, Isomap, LLE, LaplacianEigenmaps, NystromEmbedding, OrdinalMDS])
def test_a_fit_leaves_linear_algebra_its_threads(cls, three_threads, rows):
    model = cls().fit(rows)
    assert set_now() == {3}
    if cls is not OrdinalMDS:
        model.transform(rows[:5])
    model.negative_part()
    model.leading_eigenvalues(3)
    assert set_now() == {3}


def test_a_fit_has_one_blas_thread(three_threads, rows):
    seen = []

    def kernel(x, y):
        if not seen or seen[-1] != set_now():
            seen.append(set_now())
        return float(x @ y)

    model = KernelPCA(kernel=kernel).fit(rows[:20])
    model.transform(rows[20:22])
    assert seen == [{1}]
    assert set_now() == {3}


def test_a_fit_that_fails_leaves_linear_algebra_its_threads(three_threads, rows):
    def fails(x, y):
        assert set_now() == {1}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        KernelPCA(kernel=fails).fit(rows)
    assert set_now() == {3}
    with pytest.raises(InputError):
        Isomap().fit(np.full((30, 3), np.nan))
    assert set_now() == {3}
    with pytest.raises(InputError):
        Isomap().fit(rows).leading_eigenvalues(0)
    assert set_now() == {3}


@pytest.mark.parametrize(
    ("shape", "n_jobs", "threads"),
    [((2_000, 1_999), 2, 1), ((2_000, 2_001), 2, 2), ((2_000, 2_001), 1, 1), ((2_000, 2_001), 8, 3)],
)
def test_only_large_tables_have_threads_of_blas(three_threads, shape, n_jobs, threads):
    table = np.broadcast_to(0.0, shape)
    with one_blas_thread(), algebra_threads(n_jobs, table):
        assert set_now() == {threads}
    assert set_now() == {3}


# --- children

_CHILD = """
import os, signal, sys, threading
import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits
from gramfold.runtime.threads import one_blas_thread

def in_child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # one that waits for ever is ended
        os._exit(0 if work() else 1)
    return os.waitpid(pid, 0)[1] == 0
"""


def run(script):
    # one thread would have nobody to wait for
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD + script], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_wait_for_the_threads_of_its_parent():
    """k-means and the brute search of scikit-learn, and faiss, leave threads of OpenMP behind."""
    run("""
from sklearn.neighbors import NearestNeighbors
from gramfold import KernelEigenmaps, LaplacianEigenmaps
from gramfold.neighbors.approximate import faiss_installed
X = np.random.default_rng(0).standard_normal((60, 3))

def work():
    model = KernelEigenmaps(2).fit(X)
    if faiss_installed():
        LaplacianEigenmaps(2, search="approximate").fit(X)
    model.inverse = "mixture"
    model.inverse_transform(model.embedding_[:5])
    return model.score(X) > 0.5

NearestNeighbors(algorithm="brute").fit(X).kneighbors(X)
work()
sys.exit(not in_child(work))
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_is_free_of_limits_that_other_threads_of_its_parent_hold():
    run("""
inside, leave = threading.Event(), threading.Event()

def hold():
    with one_blas_thread():
        inside.set()
        leave.wait(60)

def free():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {3}

with threadpool_limits(3, "blas"):
    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    right = in_child(free)
    with one_blas_thread():
        right &= in_child(lambda: not free())  # the thread that forked is still within its own
    leave.set()
    thread.join()
sys.exit(not (right and in_child(free) is False))
""")
