"""Model files that were cut or changed on their way: each is refused, by one kind of error, in little memory."""

import os
import tracemalloc
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import gramfold
from gramfold.errors import ModelFileError
from tests.contract.discovery import exported
from tests.io.model_file.models import fitted

CLASSES = [cls.__name__ for cls in exported()]
MANY, FEW = 500, 6  # damages of the file of a class
LENGTH = 8  # bytes of the number in front


@cache
def whole(name: str) -> bytes:
    """The file of a model of this class."""
    with TemporaryDirectory() as folder:
        fitted(name).save(f"{folder}/model")
        return Path(folder, "model").read_bytes()


def first_array(file: bytes) -> int:
    """Where the arrays begin."""
    return LENGTH + int.from_bytes(file[:LENGTH], "little")


def flipped(file: bytes, place: int, bits: int = 0xFF) -> bytes:
    changed = bytearray(file)
    changed[place] ^= bits
    return bytes(changed)


def with_length(file: bytes, length: int) -> bytes:
    return length.to_bytes(LENGTH, "little") + file[LENGTH:]


def systematic(file: bytes) -> Iterator[bytes]:
    """Cut and changed where it matters."""
    begins = first_array(file)
    for length in (0, 1, 7, 8, 9, 10, begins // 2, begins - 1, begins, begins + 1, len(file) // 2, len(file) - 1):
        yield file[:length]
    for place in (*range(12), begins - 1, begins, begins + 7, len(file) // 2, len(file) - 1):
        yield flipped(file, place)
        yield flipped(file, place, 1)
    length = begins - LENGTH
    for other in (0, 1, 2, length - 1, length + 1, length + 64, len(file), 1 << 28, 1 << 40, (1 << 64) - 1):
        yield with_length(file, other)
    yield file + b"\0"
    yield file + file
    yield file[:begins] + b"\0" * (len(file) - begins)
    yield b"\0" * len(file)
    yield file[1:]
    yield file[: len(file) // 2] + file[len(file) // 2 + 8 :]
    yield file[:begins] + file[begins + 8 :] + file[begins : begins + 8]


def at_random(file: bytes, seed: int) -> Iterator[bytes]:
    """Cut anywhere, and changed anywhere by a bit or a byte."""
    rng = np.random.default_rng(seed)
    while True:
        yield file[: int(rng.integers(len(file)))]
        yield flipped(file, int(rng.integers(len(file))), 1 << int(rng.integers(8)))
        yield flipped(file, int(rng.integers(len(file))), int(rng.integers(1, 256)))
        yield flipped(file, int(rng.integers(first_array(file))), int(rng.integers(1, 256)))


def require_refused(path: Path, name: str, damaged: bytes) -> None:
    file = whole(name)
    assert damaged != file
    path.write_bytes(damaged)
    with pytest.raises(ModelFileError, match=r"^'.*(damaged|not a model file|no model)"):
        gramfold.load(path)
    with pytest.raises(ModelFileError):
        gramfold.model_info(path)
    try:
        mapped = gramfold.load(path, mmap=True)
    except ModelFileError:
        return
    # the arrays alone differ, which are not read here
    assert len(damaged) == len(file)
    assert damaged[: first_array(file)] == file[: first_array(file)]
    assert type(mapped).__name__ == name


@pytest.mark.parametrize("name", CLASSES)
def test_a_damaged_file_is_refused(name: str, tmp_path: Path) -> None:
    file = whole(name)
    every, first = list(systematic(file)), CLASSES.index(name)  # each class has others of them
    for damaged in [*every[first :: len(CLASSES)], *islice(at_random(file, first), FEW)]:
        require_refused(tmp_path / "model", name, damaged)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_five_hundred_damages(name: str, tmp_path: Path) -> None:
    file = whole(name)
    for damaged in islice(chain(systematic(file), at_random(file, 1)), MANY):
        require_refused(tmp_path / "model", name, damaged)


def test_every_array_is_compared(tmp_path: Path) -> None:
    file = whole("Isomap")
    places = range(first_array(file), len(file), 1009)
    assert len(places) > 50
    for place in places:
        (tmp_path / "model").write_bytes(flipped(file, place, 1))
        with pytest.raises(ModelFileError, match="differs from its digest"):
            gramfold.load(tmp_path / "model")


@pytest.mark.parametrize("at", ["front", "text", "arrays"])
def test_two_files_in_one(at: str, tmp_path: Path) -> None:
    one, other = whole("Isomap"), whole("LLE")
    cut = {"front": LENGTH, "text": first_array(one) // 2, "arrays": first_array(one)}[at]
    for spliced in (one[:cut] + other[cut:], other[:cut] + one[cut:]):
        (tmp_path / "model").write_bytes(spliced)
        for load in (gramfold.load, gramfold.model_info, lambda path: gramfold.load(path, mmap=True)):
            with pytest.raises(ModelFileError):
                load(tmp_path / "model")


# --- memory


def peak(path: Path) -> int:
    """Bytes that were taken to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            gramfold.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MOST = 4  # times its size that a file may take, and some for the sentences


@pytest.mark.parametrize("length", [1 << 20, 1 << 40, (1 << 63) - 1])
def test_a_length_that_the_file_has_not(length: int, tmp_path: Path) -> None:
    file = whole("Isomap")
    (tmp_path / "model").write_bytes(with_length(file, length))
    assert peak(tmp_path / "model") < MOST * len(file)


@pytest.mark.parametrize("size", [1 << 32, 1 << 40])
@pytest.mark.parametrize("length", [None, 1 << 30, 1 << 39])
def test_a_file_of_holes(size: int, length: int | None, tmp_path: Path) -> None:
    """A file may have any size on a disk that holds none of it."""
    file = whole("Isomap")
    path = tmp_path / "model"
    path.write_bytes(file if length is None else with_length(file, length))
    os.truncate(path, size)
    assert peak(path) < MOST * len(file)
    for load in (gramfold.model_info, lambda path: gramfold.load(path, mmap=True)):
        with pytest.raises(ModelFileError):
            load(path)


def test_damage_takes_no_more_memory_than_the_file(tmp_path: Path) -> None:
    file = whole("Isomap")
    for damaged in systematic(file):
        (tmp_path / "model").write_bytes(damaged)
        assert peak(tmp_path / "model") < MOST * max(len(file), len(damaged))
