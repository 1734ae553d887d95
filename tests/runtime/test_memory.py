"""The forecast of memory."""

import re
import subprocess
import sys
import types

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramfold.errors import MemoryForecastError
from gramfold.runtime import memory
from gramfold.runtime.memory import USABLE_SHARE, available_memory, largest_that_fits, require_memory


def square(n):
    return 8.0 * n**2


@pytest.fixture
def free(monkeypatch):
    return lambda size: monkeypatch.setattr(memory, "available_memory", lambda: size)


@settings(deadline=None)
@given(st.floats(0, 1e13), st.integers(1, 10**6), st.sampled_from([1, 2, 3]))
def test_the_largest_fits_and_one_more_does_not(free_bytes, at_most, power):
    def need(n):
        return 8.0 * n**power

    n = largest_that_fits(need, at_most, free_bytes)
    assert 0 <= n <= at_most
    assert need(n) <= USABLE_SHARE * free_bytes
    assert n == at_most or need(n + 1) > USABLE_SHARE * free_bytes


def test_the_free_memory_is_asked_for_where_not_given(free):
    free(1e9)
    assert largest_that_fits(square, 10**6) == largest_that_fits(square, 10**6, 1e9) == 10606


def test_what_does_not_fit_is_refused_with_rows_that_do(free):
    free(16e9)
    with pytest.raises(
        MemoryForecastError, match=r"Isomap on 100,000 rows needs 80.0 GB, but only 16.0 GB are free.*transform\(\)"
    ) as refused:
        require_memory("Isomap", square, 100_000)
    rows = int(re.search(r"at most ([\d,]+) rows", str(refused.value))[1].replace(",", ""))
    require_memory("Isomap", square, rows)
    with pytest.raises(MemoryForecastError):
        require_memory("Isomap", square, rows + 1)


def test_an_exact_fit_of_the_usable_share_is_accepted(free):
    free(square(1000) / USABLE_SHARE * (1 + 1e-12))
    require_memory("Isomap", square, 1000)
    with pytest.raises(MemoryError, match="1,001 rows"):  # a caller may catch Python's own
        require_memory("Isomap", square, 1001)


def test_one_refusal_reads_the_free_memory_once(monkeypatch):
    sizes = iter([1e9])  # a second reading would differ, and the sentence would contradict itself
    monkeypatch.setattr(memory, "available_memory", lambda: next(sizes))
    with pytest.raises(MemoryForecastError, match="10,606 rows"):
        require_memory("Isomap", square, 10**6)


def test_where_no_rows_fit_none_are_named(free):
    free(100.0)
    with pytest.raises(MemoryForecastError, match=r"are free: not even 5 rows fit, so free some memory, or rest\.$"):
        require_memory("Isomap", square, 10, instead=lambda: ["or rest"], least=5)
    free(square(5) / USABLE_SHARE * (1 + 1e-12))
    with pytest.raises(
        MemoryForecastError, match=r"at most 5 rows \(0\.0 GB\) and embed the other rows with transform\(\)\.$"
    ):
        require_memory("Isomap", square, 10, least=5)


class TestContainer:
    @pytest.fixture(autouse=True)
    def _machine(self, monkeypatch, tmp_path):
        monkeypatch.setattr(psutil, "virtual_memory", lambda: types.SimpleNamespace(available=10_000))
        monkeypatch.setattr(memory, "_CGROUP", tmp_path)
        (tmp_path / "memory").mkdir()
        self.folder = tmp_path
        monkeypatch.setattr(memory, "_LASTS", 1e-9)  # each question is asked of the system

    def limit(self, size, used, files=0):
        for name, text in {"max": size, "current": used, "stat": f"anon 5\ninactive_file {files}\nslab 7\n"}.items():
            (self.folder / f"memory.{name}").write_text(f"{text}\n")

    def test_no_container(self):
        assert available_memory() == 10_000

    def test_a_container_without_limit(self):
        self.limit("max", 4_000)
        assert available_memory() == 10_000

    def test_a_container_with_less_than_the_machine(self):
        self.limit(6_000, 4_000)
        assert available_memory() == 2_000

    def test_a_container_with_more_than_the_machine(self):
        self.limit(60_000, 4_000)
        assert available_memory() == 10_000

    def test_files_read_lately_give_way(self):
        self.limit(6_000, 5_900, files=3_000)
        assert available_memory() == 3_100

    def test_a_container_that_is_full(self):
        self.limit(6_000, 6_100)
        assert available_memory() == 0

    def test_the_older_kind_of_container(self):
        older = {"limit_in_bytes": 6_000, "usage_in_bytes": 5_000, "stat": "inactive_file 1\ntotal_inactive_file 500"}
        for name, text in older.items():
            (self.folder / "memory" / f"memory.{name}").write_text(f"{text}\n")
        assert available_memory() == 1_500


def test_this_machine_has_some_memory_left():
    assert 0 < available_memory() <= psutil.virtual_memory().total


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not keep to it")
def test_a_limit_of_the_process_is_told_before_the_system_refuses():
    code = """
import resource
import numpy as np
import psutil
from gramfold import PCA
from gramfold.errors import MemoryForecastError

rows = np.random.default_rng(0).normal(size=(20_000, 200))
model = PCA().fit(rows[:300])
model.sensitivity(rows[:2])
resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 550_000_000, resource.RLIM_INFINITY))
try:
    model.sensitivity(np.tile(rows, (3, 1)))
except MemoryForecastError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert re.search(r"sensitivity of PCA at 60,000 rows .* pass at most [\d,]+ rows at a time", told), told
