"""The decorator of compiled kernels."""

import importlib.util
import logging
import sys
import warnings

import numpy as np
import pytest

from gramfold.errors import CompileCacheWarning
from gramfold.runtime.compiled import inline, kernel
from gramfold.runtime.threads import blocks, run_blocks

SOURCE = '''
from gramfold.runtime.compiled import inline, kernel

@inline
def twice(x):
    return 2 * x

@kernel
def doubled(values, out):
    """Twice the values."""
    for i in range(values.size):
        out[i] = twice(values[i])
'''


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Imports a module of one kernel from its own folder, as a new process would."""
    path = tmp_path / "kernel_of_a_test.py"
    path.write_text(SOURCE)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))

    def fresh():
        spec = importlib.util.spec_from_file_location("kernel_of_a_test", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "kernel_of_a_test", module)
        spec.loader.exec_module(module)
        return module

    return fresh


def run(module, values):
    out = np.empty_like(values)
    module.doubled(values, out)
    return out.tolist()


def told(caplog):
    messages = [record.getMessage() for record in caplog.records if record.name == "gramfold"]
    caplog.clear()
    return messages


def test_compiles_when_first_used_and_once_per_machine(load, tmp_path, caplog):
    caplog.set_level(logging.INFO, "gramfold")
    module = load()
    assert module.doubled.__doc__ == "Twice the values."
    assert not list(tmp_path.rglob("*.nbc"))
    assert run(module, np.array([1.0, np.inf])) == [2.0, np.inf]
    (message,) = told(caplog)
    assert message.startswith("compiled doubled (")
    assert list(tmp_path.rglob("*.nbc"))
    assert run(module, np.array([3.0])) == [6.0]
    assert told(caplog) == []
    # a new process finds it on disk, and says so only of what it has to compile itself
    again = load()
    assert run(again, np.array([1.5])) == [3.0]
    assert told(caplog) == []
    assert run(again, np.array([3])) == [6]
    assert len(told(caplog)) == 1


def test_threads_that_wait_for_one_compilation_tell_it_once(load, caplog):
    caplog.set_level(logging.INFO, "gramfold")
    module = load()
    assert run_blocks(lambda part: run(module, np.arange(4.0)[part]), blocks(4, 1), 4) == [[0.0], [2.0], [4.0], [6.0]]
    assert len(told(caplog)) == 1


def test_without_a_writable_folder_it_works_and_warns_once(load, monkeypatch, caplog):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    caplog.set_level(logging.INFO, "gramfold")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        module = load()

        @kernel
        def another(values, out):
            out[0] = values[0]

    assert [warning.category for warning in caught] == [CompileCacheWarning]
    assert "no folder is writable" in str(caught[0].message)
    assert "set NUMBA_CACHE_DIR" in str(caught[0].message)
    assert run(module, np.array([1.0])) == [2.0]
    out = np.empty(1)
    another(np.ones(1), out)
    assert out.tolist() == [1.0]
    assert len(told(caplog)) == 2


def test_other_troubles_are_not_hidden(monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("something else")

    monkeypatch.setattr("numba.njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        kernel(lambda values: None)


def test_an_inlined_function_is_plain_arithmetic():
    @inline
    def plus(a, b):
        return a + b

    assert plus(2.0, 3.0) == 5.0
