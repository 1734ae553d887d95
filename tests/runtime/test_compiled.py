"""The decorator of compiled kernels."""

import importlib.util
import json
import logging
import os
import subprocess
import sys
import time
import warnings

import numba
import numpy as np
import pytest

from gramfold.errors import CompileCacheWarning
from gramfold.runtime import compiled
from gramfold.runtime.compiled import inline, kernel
from gramfold.runtime.threads import blocks, run_blocks

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

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
    monkeypatch.setattr("gramfold.runtime.compiled._TOLD", set())
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
    assert "no cache folder for compiled code is writable" in str(caught[0].message)
    assert "set NUMBA_CACHE_DIR" in str(caught[0].message)
    assert run(module, np.array([1.0])) == [2.0]
    out = np.empty(1)
    another(np.ones(1), out)
    assert out.tolist() == [1.0]
    assert len(told(caplog)) == 2


def damaged(path, how):
    """What a crash, a full disk or another program may have left of a file."""
    whole = path.read_bytes()
    path.write_bytes(
        {
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "zeros": bytes(len(whole)),
            "another file": b"a,b\n1,2\n",
        }[how]
    )


@pytest.mark.parametrize("ending", ["nbc", "nbi"])
@pytest.mark.parametrize("how", ["truncated", "empty", "zeros", "another file"])
def test_damaged_code_is_compiled_again_with_one_warning_and_repaired(ending, how, load, tmp_path, caplog):
    caplog.set_level(logging.INFO, "gramfold")
    run(load(), np.ones(1))
    told(caplog)
    (kept,) = tmp_path.rglob(f"*.{ending}")
    damaged(kept, how)
    with pytest.warns(CompileCacheWarning, match=r"compiled code in '.*' is damaged \(.*compiled again\. No action is"):
        assert run(load(), np.array([1.5])) == [3.0]
    assert len(told(caplog)) == 1
    assert run(load(), np.array([2.5])) == [5.0]  # found on disk, and nothing is said
    assert told(caplog) == []


def test_damaged_code_that_cannot_be_replaced_is_compiled_all_the_same(load, tmp_path, monkeypatch):
    run(load(), np.ones(1))
    damaged(next(tmp_path.rglob("*.nbi")), "truncated")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", full)
    with pytest.warns(CompileCacheWarning) as caught:
        assert run(load(), np.array([1.5])) == [3.0]
    assert [str(w.message).partition(" in ")[0] for w in caught] == [
        "compiled code could not be cached",
        "the cached compiled code",
    ]


def test_code_that_numba_kept_without_a_digest_is_compiled_without_a_word(load, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "gramfold")
    with monkeypatch.context() as before:
        before.setattr("gramfold.runtime.compiled._CheckedCache._impl_class", numba.core.caching.CompileResultCacheImpl)
        run(load(), np.ones(1))
    told(caplog)
    assert run(load(), np.array([1.5])) == [3.0]
    assert len(told(caplog)) == 1


# Each run is a forked child, which is as quick as numba is long to import; it prints results and warnings.
PROCESS = """
import json, os, resource, sys, warnings
from pathlib import Path
import numpy as np
import gramfold.runtime.compiled

sys.path.insert(0, sys.argv[1])

def child(most=None):
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)
    if most is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from kernel_of_a_test import doubled, tripled
        out = np.zeros((2, 2))
        doubled(np.arange(2.0), out[0])
        tripled(np.arange(2.0), out[1])
    print(json.dumps([out.tolist(), [str(w.message) for w in caught]]), flush=True)
    os._exit(0)

child(most=64)
child()
for path in Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"):
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle - 2000] + bytes(4000) + whole[middle + 2000:])
child()
child()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="file-size limits are of POSIX")
def test_in_processes_of_their_own_nothing_about_the_cache_is_fatal(tmp_path):
    another = SOURCE[SOURCE.index("@kernel") :].replace("doubled", "tripled").replace("twice(", "3 * (")
    (tmp_path / "kernel_of_a_test.py").write_text(SOURCE + another)
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, str(tmp_path)],
        # a file-size limit would leave half a .pyc behind, which is Python's own and not what is tested
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results, sentences = zip(*map(json.loads, done.stdout.splitlines()), strict=True)
    assert results == ([[0.0, 2.0], [0.0, 3.0]],) * 4
    limited, first, after_damage, again = sentences
    assert first == again == []
    # two kernels, one sentence
    (sentence,) = limited
    assert "could not be cached in" in sentence
    assert "(File too large), so it is compiled again in each process: free disk space" in sentence
    (sentence,) = after_damage
    assert "is damaged (DamagedCacheError: its checksum does not match) and is compiled again" in sentence


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


# --- the line on a slow compilation


NOTICE = "gramfold is compiling code for this machine"


def notices(caplog):
    records = [record for record in caplog.records if record.getMessage().startswith(NOTICE)]
    caplog.clear()
    assert all((record.name, record.levelno) == ("gramfold", logging.WARNING) for record in records)
    return [record.getMessage() for record in records]


@pytest.fixture
def impatient(monkeypatch):
    """More than 0.1 s is long; each call makes the notice of a new process."""
    monkeypatch.setattr(compiled, "_PATIENCE", 0.1)

    def process():
        wait = compiled._Wait()
        monkeypatch.setattr(compiled, "_wait", wait)
        return wait

    return process


def compile_for(wait, seconds, folder):
    wait.begin(str(folder))
    time.sleep(seconds)
    wait.end()


def test_a_slow_compilation_is_explained_once_on_a_machine(impatient, tmp_path, caplog):
    wait = impatient()
    compile_for(wait, 0.5, tmp_path / "room")
    (message,) = notices(caplog)
    assert str(tmp_path) in message
    assert (tmp_path / "gramfold-compiles.told").exists()
    compile_for(wait, 0.5, tmp_path / "room")
    assert notices(caplog) == [], "not twice in a process"
    compile_for(impatient(), 0.5, tmp_path / "room")
    assert notices(caplog) == [], "nor in another, which finds the mark"
    (tmp_path / "gramfold-compiles.told").unlink()
    compile_for(impatient(), 0.5, tmp_path / "room")
    assert len(notices(caplog)) == 1


def test_a_quick_compilation_is_not_worth_a_line(impatient, tmp_path, caplog):
    compile_for(impatient(), 0.0, tmp_path / "room")
    time.sleep(0.3)
    assert notices(caplog) == []
    assert list(tmp_path.iterdir()) == []


def test_many_short_compilations_are_one_long_wait(impatient, tmp_path, caplog):
    wait = impatient()
    for _ in range(20):
        compile_for(wait, 0.02, tmp_path / "room")
    assert len(notices(caplog)) == 1


def test_a_folder_that_cannot_be_written_is_no_trouble(impatient, tmp_path, caplog):
    for _ in range(2):  # which is explained again, and compiled again
        compile_for(impatient(), 0.5, tmp_path / "not there" / "room")
        assert len(notices(caplog)) == 1


def test_kernels_tell_of_their_own_compilation(load, impatient, monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(compiled._Wait, "begin", begin_and_wait(compiled._Wait.begin))
    impatient()
    assert run(load(), np.array([1.5])) == [3.0]
    (message,) = notices(caplog)
    (mark,) = tmp_path.rglob("gramfold-compiles.told")
    assert str(mark.parent) in message
    assert list(mark.parent.rglob("*.nbc")), "where the code is kept"
    impatient()
    assert run(load(), np.array([1.5])) == [3.0]  # from disk
    assert run(load(), np.array([3])) == [6]  # compiled, with the mark
    assert notices(caplog) == []


def begin_and_wait(begin):
    def patient(self, folder):
        begin(self, folder)
        time.sleep(0.2)  # until the timer has run

    return patient
