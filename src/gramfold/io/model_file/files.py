"""Save a model to a file, and load it."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding import Estimator
from gramfold.embedding.compact import compacted
from gramfold.errors import InputError, ModelFileError
from gramfold.io.model_file.container import Container, write_container
from gramfold.io.model_file.decoding import Decoder, NotAModelError
from gramfold.io.model_file.encoding import Encoder
from gramfold.io.model_file.soundness import UnsoundError
from gramfold.io.replacing import replacing_stream


def save(model: Any, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a fitted model to a file.

    The file holds arrays and text, and no code. It is written at once: a reader finds the old file or the new one.

    Parameters
    ----------
    model : estimator of gramfold, or Pipeline
        A fitted model, or a pipeline of scikit-learn that ends in one. Its other steps may be scalers, encoders,
        imputers and other transformers of scikit-learn, a ColumnTransformer of them, or estimators of gramfold.
    path : str or path-like
        File to write or replace; the usual ending is .gramfold.
    compact : bool, default=False
        Whether to keep only what `transform` (or `predict`) reads. The rest then raises an error: `embedding_`,
        `kernel_`, `inverse_transform`. A compact linear map holds no training rows.

    Examples
    --------
    >>> import gramfold, tempfile
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = gramfold.PCA().fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gramfold.save(model, f"{folder}/iris.gramfold")
    ...     again = gramfold.load(f"{folder}/iris.gramfold")
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    _require_model(model)
    check_is_fitted(model)
    model = _with_compact_models(model) if compact else model
    encoder = Encoder()
    root = encoder.value(model, f"the {type(model).__name__}")
    told = {"libraries": _libraries(), "compact": compact, "parts": encoder.parts, "model": root}
    with replacing_stream(path) as stream:
        write_container(stream, told, encoder.arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Load a model that was saved by `model.save` or `gramfold.save`.

    Every byte of the file is compared with its digest, and nothing in it is run. Search trees are built again when they
    are first needed.

    Parameters
    ----------
    path : str or path-like
        Model file.
    mmap : bool, default=False
        Whether to map the arrays of the file into memory instead of reading them: loading takes no time, and only what
        is used is read. The text and the sizes are checked, the arrays are not: for files that you trust.

    Returns
    -------
    model : estimator or Pipeline
        The fitted model. Its `transform` returns the same coordinates as that of the saved one, to the last bit on the
        same machine with the same versions and number of threads.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path={path!r} is not the name of a file: pass the path of a model file.")
    opened = Container(path, mmap=mmap)
    return decoded(opened, scan=not mmap)


def decoded(opened: Container, *, scan: bool) -> Any:
    """The model of a container."""
    with readable(opened):
        told = opened.told
        if type(told["compact"]) is not bool or not _are_texts(told["libraries"]):
            raise NotAModelError("it does not say what wrote it")
        model = Decoder(opened.arrays, scan=scan).model(told["parts"], told["model"])
        _require_model(model)
        check_is_fitted(model)
        return model


@contextmanager
def readable(opened: Container) -> Iterator[None]:
    """Whatever goes wrong with what the file says, the file is named and no other error is raised."""
    try:
        yield
    except Exception as error:
        made: Any = opened.told.get("libraries")
        why = str(error) if isinstance(error, NotAModelError | UnsoundError) else "a part cannot be made"
        written = (
            ", ".join(f"{name} {version}" for name, version in made.items()) if _are_texts(made) else "nothing known"
        )
        raise ModelFileError(
            f"'{opened.path}' holds no model that this gramfold can read ({why}; written with {written}): use these "
            "versions, or fit and save the model again."
        ) from error


def models_in(model: Any) -> Iterator[Estimator]:
    """The models of gramfold in a pipeline, first to last, or the model itself."""
    if isinstance(model, Estimator):
        yield model
    elif isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from models_in(step)


def _require_model(model: Any) -> None:
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    if isinstance(model, type) or not isinstance(last, Estimator):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        what += "" if last is model else f" that ends in a {type(last).__name__}"
        raise InputError(
            f"model is {what}, and a model file holds a fitted model of gramfold, or a Pipeline that ends in one: pass "
            "one of these."
        )


def _with_compact_models(model: Any) -> Any:
    """The same model or pipeline, whose models of gramfold are compact; the user's own is not changed."""
    other: BaseEstimator = copy(model)
    if isinstance(other, Pipeline):
        other.steps = [
            (name, _with_compact_models(step) if isinstance(step, Pipeline | Estimator) else step)
            for name, step in other.steps
        ]
    else:
        other.model_ = compacted(other.model_)
    return other


def _libraries() -> dict[str, str]:
    """The versions that a model was made with, for those who cannot load it later."""
    import numpy as np
    import scipy
    import sklearn

    import gramfold

    found = {
        "gramfold": gramfold.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    if "faiss" in sys.modules:  # its search graphs are built again, by another version perhaps in another way
        found["faiss"] = sys.modules["faiss"].__version__
    return found


def _are_texts(libraries: Any) -> bool:
    return isinstance(libraries, dict) and all(isinstance(version, str) for version in libraries.values())
