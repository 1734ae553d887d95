"""Saving that is ended, hindered or done twice at once: the old file or the new one is there, whole, and no other."""

import importlib
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gramfold
from gramfold.errors import InputError
from tests.contract.checks import sheet

replacing = importlib.import_module("gramfold.io.replacing")  # the module: the room has a function of its name
KILLS = 20
ROWS = 250_000  # a file of some 30 MB, which takes some 50 ms to write


def model_of(seed: int, n: int = 60) -> Any:
    return gramfold.PCA().fit(sheet(60) * (seed + 1) if n == 60 else np.random.default_rng(seed).normal(size=(n, 4)))


def is_one_of(path: Path, models: list[Any]) -> bool:
    found = gramfold.load(path).embedding_
    return any(np.array_equal(found, one.embedding_) for one in models)


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


# --- kill -9


def save_and_be_killed(folder: str, seed: int, *, named: bool) -> None:
    """In a process of its own: children that save two models in turn, and are killed."""
    if named:  # as where the system has no files without a name
        replacing._unnamed = lambda target: None
    path, moments = Path(folder, "model.gramfold"), random.Random(seed)
    models = [model_of(0, ROWS), model_of(1, ROWS)]
    models[0].save(path)
    took = time.monotonic()
    models[1].save(path)
    took = time.monotonic() - took
    left: set[str] = set()
    for _ in range(KILLS):
        child = os.fork()
        while child == 0:
            models[0].save(path)
            models[1].save(path)
        time.sleep(moments.uniform(0.0, 3 * took))
        os.kill(child, signal.SIGKILL)
        _, how = os.waitpid(child, 0)
        assert os.WTERMSIG(how) == signal.SIGKILL
        assert is_one_of(path, models)
        left |= {*names_in(Path(folder))} - {path.name}
    # only the instant in which a new file has its first name, and not yet that of the old one, leaves something behind
    assert named or len(left) <= 1


@pytest.mark.parametrize("named", [False, True])
def test_killed_while_it_saves(named: bool, tmp_path: Path) -> None:
    if not named and replacing._unnamed(tmp_path / "model") is None:
        pytest.skip("this file system has no files without a name")
    script = "from tests.io.model_file.test_killed import save_and_be_killed as run; "
    command = [sys.executable, "-W", "ignore", "-c", f"{script}run({str(tmp_path)!r}, 0, named={named})"]
    subprocess.run(command, check=True)


@pytest.mark.parametrize("named", [False, True])
def test_the_key_is_pressed_at_every_step(named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C raises an exception between two steps of Python: here after each call of the system."""
    path = tmp_path / "model.gramfold"
    old, new = model_of(0), model_of(1)
    old.save(path)
    if named:
        monkeypatch.setattr(replacing, "_unnamed", lambda target: None)

    def pressed_after(call: Any) -> Any:
        def after(*args: Any, **kwargs: Any) -> Any:
            call(*args, **kwargs)
            raise KeyboardInterrupt

        return after

    steps = [(os, "fsync")] if named else [(os, "fsync"), (os, "fchmod"), (os, "link")]
    for owner, step in steps:
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, pressed_after(getattr(owner, step)))
            with pytest.raises(KeyboardInterrupt):
                new.save(path)
        assert names_in(tmp_path) == [path.name]
        assert is_one_of(path, [old])


def test_two_processes_at_once(tmp_path: Path) -> None:
    path, models = tmp_path / "model.gramfold", [model_of(0), model_of(1)]
    failed: list[BaseException] = []

    def save_often(model: Any) -> None:
        try:
            for _ in range(40):
                model.save(path)
                assert is_one_of(path, models)
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=save_often, args=(model,)) for model in models]  # names are of the system
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert names_in(tmp_path) == [path.name]


# --- what the system refuses


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without files that have no name until they are whole."""
    if request.param == "named":
        monkeypatch.setattr(replacing, "_unnamed", lambda target: None)
    return str(request.param)


@pytest.mark.usefixtures("way")
def test_a_full_disk(tmp_path: Path) -> None:
    path, old = tmp_path / "model.gramfold", model_of(0)
    old.save(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, before[1]))
    try:
        with pytest.raises(InputError, match=r"could not be written .* free disk space"):
            model_of(1).save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names_in(tmp_path) == [path.name]
    assert is_one_of(path, [old])


@pytest.mark.usefixtures("way")
def test_a_protected_file(tmp_path: Path) -> None:
    path, old = tmp_path / "model.gramfold", model_of(0)
    old.save(path)
    path.chmod(0o444)
    with pytest.raises(InputError, match="write-protected"):
        model_of(1).save(path)
    assert is_one_of(path, [old])


@pytest.mark.usefixtures("way")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_protected_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(InputError, match="folder is not writable"):
            model_of(0).save(tmp_path / "model.gramfold")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.usefixtures("way")
def test_a_link_stays_one(tmp_path: Path) -> None:
    path, link, model = tmp_path / "model.gramfold", tmp_path / "link", model_of(0)
    link.symlink_to(path.name)
    for _ in range(2):  # there is no file yet, and there is one
        model.save(link)
        assert link.is_symlink()
        assert not path.is_symlink()
        assert is_one_of(path, [model])
    assert names_in(tmp_path) == ["link", "model.gramfold"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_permissions(mask: int, tmp_path: Path) -> None:
    path, before = tmp_path / "model.gramfold", os.umask(mask)
    try:
        model_of(0).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        path.chmod(0o640)
        model_of(1).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640  # of the file that was there
    finally:
        os.umask(before)


@pytest.mark.usefixtures("way")
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe, model = tmp_path / "pipe", model_of(0)
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    model.save(pipe)
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "model").write_bytes(read[0])
    assert is_one_of(tmp_path / "model", [model])


def test_the_standard_output() -> None:
    script = (
        "import gramfold, numpy as np; gramfold.PCA().fit(np.random.default_rng(0).normal(size=(30, 3)))"
        ".save('/dev/stdout')"
    )
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout
    assert told[8:10] == b'{"'


def test_a_file_that_is_mapped_can_be_replaced(tmp_path: Path) -> None:
    path, old, new = tmp_path / "model.gramfold", model_of(0), model_of(1)
    old.save(path)
    mapped = gramfold.load(path, mmap=True)
    new.save(path)
    assert np.array_equal(mapped.embedding_, old.embedding_)
    assert is_one_of(path, [new])
