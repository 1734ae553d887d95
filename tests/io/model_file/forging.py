"""Model files that nobody wrote, with the digests that they should have; and what is done with them.

Run with the name of a folder of files, it loads each in turn and uses the model as people do. Before each file it
prints its name, after it the outcome: whoever started it sees which file ended the process.
"""

import copy
import json
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gramfold
from gramfold.io.model_file.container import Container, write_container
from tests.io.model_file.models import VARIANTS, new_rows

SECONDS = 60  # that a file may be used for; none takes a hundredth of it
MEMORY = 8 << 30  # bytes of address space; compiled code and its threads map two of them
HUGE = 1 << 40


@dataclass
class Forgery:
    """What a model file says, and its arrays: to be changed and written."""

    told: dict[str, Any]
    arrays: list[np.ndarray]

    @classmethod
    def of(cls, path: Path) -> "Forgery":
        opened = Container(path)
        return cls({key: value for key, value in opened.told.items() if key != "arrays"}, opened.arrays)

    def copy(self) -> "Forgery":
        return Forgery(copy.deepcopy(self.told), list(self.arrays))

    def write(self, path: Path) -> Path:
        with path.open("wb") as stream:
            write_container(stream, self.told, [np.ascontiguousarray(array) for array in self.arrays])
        return path

    def part(self, name: str) -> dict[str, Any]:
        """What the first part of this class holds."""
        found: dict[str, Any] = next(part["holds"] for part in self.told["parts"] if part.get("is") == name)
        return found

    def array(self, name: str, field: str) -> int:
        """The number of the array in this field."""
        ((_, number),) = self.part(name)[field].items()
        return int(number)


def changed_arrays(array: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The array, each time with another thing wrong."""
    with np.errstate(all="ignore"):  # numbers that the other type cannot hold are wrong too
        return list(_changed_arrays(array))


def _changed_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "one entry less", array[:-1]
    yield "one entry more", np.concatenate([array, array[-1:]]) if array.ndim else array.reshape(1)
    yield "empty", array[:0]
    yield "one axis more", array[None]
    if array.ndim > 1:
        yield "transposed", array.T
        yield "one column less", array[:, :-1]
        yield "one column more", np.concatenate([array, array[:, -1:]], axis=1)
    yield "other items", array.astype(np.float64 if array.dtype.kind in "iub" else np.int64)
    with np.errstate(over="ignore"):
        short = array.astype(np.float16 if array.dtype.kind == "f" else np.int8)
    yield "short items", short
    if not array.size or array.dtype.kind == "b":
        return
    wrong = (HUGE, -1, -7, len(array), 1 << 62) if array.dtype.kind == "i" else (np.nan, np.inf, -np.inf, -1e300)
    for number in wrong:
        for place in (0, -1):
            other = array.astype(np.int64 if array.dtype.kind == "i" else array.dtype)
            other.flat[place] = np.asarray(number).astype(other.dtype)
            yield f"{number} at {place}", other.astype(array.dtype) if abs(number) < 1 << 30 else other


def changed_trees(told: dict[str, Any]) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """What a file says, each time with one value of it changed; made when it is asked for."""
    for place in _leaves(told["parts"], ()):
        for other in _others(_at(told["parts"], place), len(told["parts"])):
            yield f"{'.'.join(map(str, place))} = {str(other)[:20]}", partial(_with, told, place, other)
    for number, part in enumerate(told["parts"]):
        for key in part.get("holds", {}):
            yield f"{number} without {key}", partial(_without, told, number, key)


def _with(told: dict[str, Any], place: tuple[Any, ...], other: Any) -> dict[str, Any]:
    changed = copy.deepcopy(told)
    _at(changed["parts"], place[:-1])[place[-1]] = other
    return changed


def _without(told: dict[str, Any], number: int, key: str) -> dict[str, Any]:
    changed = copy.deepcopy(told)
    del changed["parts"][number]["holds"][key]
    return changed


def _leaves(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(one, (*place, key))
    else:
        yield place


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _others(value: Any, count: int) -> list[Any]:
    """Values of the same kind, and of another."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [0, -1, value + 1, max(value - 1, 0), HUGE, 10**30, count, "text"]
    if isinstance(value, float):
        return [0.0, -1.0, 1e308, {"float": "nan"}, {"float": "inf"}, None]
    if isinstance(value, str):
        return ["", "__class__", "euclidean", 3]
    return [3, "text", {"tuple": []}, []]


# --- what people do with a model


def used(model: Any, name: str) -> list[str]:
    """Everything that reads a model; the names of what did not raise an error."""
    rows = VARIANTS[name][1]()
    fresh = new_rows(rows)
    calls = {
        "transform": lambda: model.transform(fresh),
        "of training rows": lambda: model.transform(rows),
        "predict": lambda: model.predict(fresh),
        "inverse": lambda: model.inverse_transform(model.transform(fresh)),
        "extrapolation": lambda: model.extrapolation(fresh),
        "sensitivity": lambda: model.sensitivity(fresh),
        "kernel": lambda: model.kernel_.dense(),
        "spectrum": lambda: repr(model.spectrum_),
        "graph": lambda: repr(model.graph_) + repr(model.neighbors_),
        "embedding": lambda: model.embedding_.sum(),
        "labels": lambda: model.labels_.sum(),
        "words": lambda: repr(model),
    }
    done = []
    for what, call in calls.items():
        try:
            call()
        except Exception:  # noqa: BLE001 - any error of Python's will do, but no crash
            continue
        done.append(what)
    return done


def _use_all(folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    names = json.loads((folder / "names.json").read_text())
    for path in sorted(folder.glob("*.gramfold")):
        _tell(f"{path.name} ")
        signal.alarm(SECONDS)
        try:
            gramfold.model_info(path)
            done = used(gramfold.load(path), names[path.name])
        except gramfold.errors.ModelFileError:
            _tell("refused\n")
        else:
            _tell(f"loaded {','.join(done)}\n")
        signal.alarm(0)


def _tell(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()  # before the process may end


if __name__ == "__main__":
    _use_all(Path(sys.argv[1]))
