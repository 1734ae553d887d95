"""A model in another process: what it says of new rows is the same to the last bit."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse

import gramfold
from gramfold.errors import GramfoldWarning
from tests.io.model_file.models import VARIANTS, fitted, new_rows

NO_COMPACT = ("OrdinalMDS", "OrdinalMDS of distances")  # they place no new rows


def answers(model: Any, name: str) -> dict[str, str]:
    """What a model says of new rows and of its own, in hexadecimal digits; or the error that it raises."""
    rows = VARIANTS[name][1]()
    fresh = new_rows(rows)
    calls = {
        "transform": lambda: model.transform(fresh),
        "of its own rows": lambda: model.transform(rows),
        "predict": lambda: model.predict(fresh),
        "inverse": lambda: model.inverse_transform(model.transform(rows[:5])),
        "extrapolation": lambda: model.extrapolation(fresh),
        "embedding": lambda: model.embedding_,
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        for what, call in calls.items():
            try:
                said = call()
            except (gramfold.errors.GramfoldError, AttributeError) as error:
                found[what] = type(error).__name__
            else:
                if said is None:
                    continue
                said = said.toarray() if issparse(said) else np.asarray(said)
                found[what] = f"{said.dtype} {said.shape} {np.ascontiguousarray(said).tobytes().hex()}"
    return found


def told_by_another_process(folder: Path) -> dict[str, dict[str, str]]:
    script = f"from tests.io.model_file.test_processes import tell_all; tell_all({str(folder)!r})"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
    told: dict[str, dict[str, str]] = json.loads((folder / "answers.json").read_text())
    return told


def tell_all(folder: str) -> None:
    """In the other process: load every file, read and mapped, and write down what its model says."""
    names = json.loads(Path(folder, "names.json").read_text())
    told = {}
    for file, name in names.items():
        for mmap in (False, True):
            told[f"{file} {mmap}"] = answers(gramfold.load(Path(folder, file), mmap=mmap), name)
    Path(folder, "answers.json").write_text(json.dumps(told))


@pytest.mark.slow
def test_another_process_says_the_same(tmp_path: Path) -> None:
    require_the_same(list(VARIANTS), tmp_path)


def test_another_process_says_the_same_of_some(tmp_path: Path) -> None:
    require_the_same(["Isomap of copies", "Isomap, mixed", "LLE", "KernelPCA, sparse", "PCA of a frame"], tmp_path)


def require_the_same(names: list[str], folder: Path) -> None:
    kinds = [(name, compact) for name in names for compact in (False, True) if not (compact and name in NO_COMPACT)]
    files = {f"{number}.gramfold": name for number, (name, _) in enumerate(kinds)}
    for file, (name, compact) in zip(files, kinds, strict=True):
        gramfold.save(fitted(name), folder / file, compact=compact)
    (folder / "names.json").write_text(json.dumps(files))
    told = told_by_another_process(folder)
    for file, (name, compact) in zip(files, kinds, strict=True):
        here = answers(fitted(name), name)
        for mmap in (False, True):
            there = told[f"{file} {mmap}"]
            for what, said in here.items():
                if compact and there[what] == "LeftOutError":
                    assert what not in {"transform", "predict"}, (name, what)
                elif not (compact and what == "extrapolation"):  # by the ball about the rows: see `compacted`
                    assert there[what] == said, (name, what, compact, mmap)
