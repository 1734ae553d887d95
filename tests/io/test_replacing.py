"""Files appear whole or not at all, under the name that was given, and nothing else is left or lost."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gramfold.errors import InputError
from gramfold.io import check_destination, read_table, replacing, write_table

posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX")
ENDINGS = [".csv", ".npy", ".npz", ".parquet", ".feather"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "map.csv"
    write_table(path, [[1.0]], ["a"])
    before = path.read_bytes()

    def interrupted():
        with replacing(path) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_one_sentence(tmp_path):
    def full():
        with replacing(tmp_path / "map.csv"):
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"could not be written \(No space left on device\)"):
        full()


def test_the_longest_name_can_be_written(tmp_path):
    path = tmp_path / ("ö" * 125 + ".csv")  # 254 bytes
    write_table(path, [[1.0]], ["a"])
    assert list(tmp_path.iterdir()) == [path]


# --------------------------------------------------------------------------------------------- links


@posix
def test_a_replaced_file_keeps_its_permissions_and_its_link(tmp_path):
    path, link = tmp_path / "map.csv", tmp_path / "latest.csv"
    write_table(path, [[1.0]], ["a"])
    path.chmod(0o640)
    link.symlink_to(path)
    write_table(link, [[2.0]], ["a"])
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text() == "a\n2\n"


@posix
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("target", ["blob", "blob.csv", "blob.feather"])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_judged_by_its_own_name_and_stays_a_link(ending, target, there, tmp_path):
    store, link = tmp_path / "store", tmp_path / f"out{ending}"
    store.mkdir()
    if there:
        (store / target).write_text("old")
    link.symlink_to(Path("store") / target)
    write_table(link, np.eye(2), ["x0", "x1"])
    assert link.readlink() == Path("store") / target
    assert list(store.iterdir()) == [store / target]
    np.testing.assert_array_equal(read_table(link).values, np.eye(2))
    expected = tmp_path / f"plain{ending}"
    write_table(expected, np.eye(2), ["x0", "x1"])
    assert (store / target).read_bytes()[:6] == expected.read_bytes()[:6]


@posix
def test_a_link_that_leads_to_itself(tmp_path):
    (tmp_path / "one.csv").symlink_to("two.csv")
    (tmp_path / "two.csv").symlink_to("one.csv")
    with pytest.raises(InputError, match=r"one.csv' cannot be written \(symbolic links form a loop\)"):
        write_table(tmp_path / "one.csv", [[1.0]], ["a"])
    with pytest.raises(InputError, match=r"one.csv' cannot be read \(symbolic links form a loop\)"):
        read_table(tmp_path / "one.csv")


# --------------------------------------------------------------------------- what is no ordinary file


@posix
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pipe_is_written_to_and_stays_one(ending, tmp_path):
    pipe, copy = tmp_path / f"pipe{ending}", tmp_path / f"copy{ending}"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    write_table(pipe, np.eye(3), ["x0", "x1", "x2"])
    reader.join()
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == sorted([pipe, copy])
    np.testing.assert_array_equal(read_table(copy).values, np.eye(3))


@posix
def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="is a pipe or a device, but a table must be read more than once"):
        read_table(tmp_path / "pipe.csv")


@posix
def test_a_device_is_written_to(tmp_path):
    link = tmp_path / "nowhere.csv"
    link.symlink_to("/dev/null")
    write_table(link, [[1.0]], ["a"])
    assert link.is_char_device()
    link.unlink()
    link.symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"could not be written \(No space left on device\)"):
        write_table(link, [[1.0]], ["a"])


@pytest.mark.parametrize("write", [check_destination, lambda path: write_table(path, [[1.0]], ["a"])])
def test_a_protected_file_stays_as_it_is(write, tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(InputError, match="is write-protected: allow writing to it, or choose another name"):
        write(path)
    assert path.read_text() == "old"


@posix
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("x" * 300 + ".csv", r"cannot be written \(File name too long\)"),
        ("a\0b.csv", r"'.*a\\x00b.csv' is not a valid file name \(embedded null byte\)"),
        ("file/map.csv", "there is no folder"),
        ("folder.csv", "is a folder: give the name of a file to write"),
    ],
)
def test_names_that_cannot_be_written(name, sentence, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=sentence):
        check_destination(tmp_path / name)


@posix
@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv"])
def test_names_that_cannot_be_read(name, tmp_path):
    with pytest.raises(InputError, match=r"cannot be read \(File name too long\)|is not a valid file name"):
        read_table(tmp_path / name)


# ------------------------------------------------------------------------------- told to end meanwhile

WRITING = """
import signal, sys, time
from gramfold.io import replacing
signal.signal(signal.SIGINT, signal.default_int_handler)  # the background of a shell ignores the key
with replacing(sys.argv[1]) as draft:
    draft.write_text("half")
    print(draft.name, flush=True)
    time.sleep(60)
"""


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_process_that_is_told_to_end_leaves_no_draft(number, tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        draft = process.stdout.readline().strip()
        assert (tmp_path / draft).read_text() == "half"
        process.send_signal(number)
        assert process.wait(timeout=50) == -number  # as whoever sent it expects
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


@posix
def test_handlers_of_the_program_are_left_alone(tmp_path):
    came = []
    before = signal.signal(signal.SIGTERM, lambda *_: came.append("theirs"))
    try:
        with replacing(tmp_path / "map.csv") as draft:
            draft.write_text("whole")
            signal.raise_signal(signal.SIGTERM)
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        assert came == ["theirs"]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (tmp_path / "map.csv").read_text() == "whole"


LIMITED = """
import resource, sys
import numpy as np
from gramfold.errors import InputError
from gramfold.io import write_table
for ending in sys.argv[2:]:  # what is imported first writes what is compiled
    write_table(f"{sys.argv[1]}{ending}", np.eye(2), ["a", "b"])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
values = np.random.default_rng(0).normal(size=(2000, 2))
for ending in sys.argv[2:]:
    try:
        write_table(f"{sys.argv[1]}{ending}", values, ["a", "b"])
    except InputError as error:
        print(error, flush=True)
"""


@posix
def test_what_does_not_fit_leaves_the_old_files(tmp_path):
    words = [sys.executable, "-c", LIMITED, str(tmp_path / "map"), *ENDINGS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentences = done.stdout.splitlines()
    assert len(sentences) == len(ENDINGS)
    for ending, sentence in zip(ENDINGS, sentences, strict=True):
        assert sentence.startswith(f"'{tmp_path / 'map'}{ending}' could not be written (")
        np.testing.assert_array_equal(read_table(tmp_path / f"map{ending}").values, np.eye(2))
    assert len(list(tmp_path.iterdir())) == len(ENDINGS)
