"""Seeded trials: any estimator with any parameters on any rows, distances, graph or kernel, asked all that it offers.

A trial ends well with right results, or with one clear sentence. `python -m tests.contract.fuzz SEED` replays one and
`python -m tests.contract.fuzz FIRST LAST` groups the failures of many by their cause.
"""

import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin
from sklearn.neighbors import KNeighborsTransformer
from sklearn.utils._param_validation import Interval, StrOptions

import gramfold
from gramfold.errors import DisconnectedGraphWarning, GramfoldError, GramfoldWarning
from tests.contract.discovery import exported

Rng = np.random.Generator

# Words of NumPy, LAPACK and SciPy: whoever reads them learns nothing about the rows.
RAW = (
    "broadcast",
    "SVD did not converge",
    "Eigenvalues did not converge",
    "singular matrix",
    "Singular matrix",
    "infs or NaNs",
    "negative dimensions",
    "division by zero",
    "LAPACK",
    "ARPACK",
    "leading minor",
    "illegal value",
    "index out of",
    "out of bounds",
    "zero-size array",
    "ufunc",
    "NoneType",
    "Traceback",
)
_VALIDATION = ("sklearn/utils/validation.py", "sklearn/utils/_param_validation.py")
# Of the map's size: training rows return to their places. Nobody promises more than this for the worst of rows.
_RETURN = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
_MOST = {"n_components": 5, "n_neighbors": 16}
_SLOW = {"SDE": 14, "MixturePPCA": 20, "ProjectionPursuit": 20, "OrdinalMDS": 20}  # rows at most


@dataclass
class Trial:
    """What is fitted, and on what."""

    seed: int
    cls: type
    params: dict[str, Any]
    form: str  # table, distances, graph or kernel
    kind: str
    X: Any
    new: Any
    y: Any = None

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        shape = " x ".join(map(str, getattr(self.X, "shape", ["lists"])))
        return f"{self.cls.__name__}({settings}).fit({self.kind}, {shape} {getattr(self.X, 'dtype', '')})"


@dataclass
class Failure:
    """What went wrong in which step, and where."""

    trial: Trial
    step: str
    cause: str
    place: str = ""
    detail: str = ""

    @property
    def group(self) -> str:
        return f"{self.cause} @ {self.place or self.step}"

    def __str__(self) -> str:
        return (
            f"python -m tests.contract.fuzz {self.trial.seed}  # {self.trial}.{self.step}: {self.cause}"
            f" ({self.place}) {self.detail}"
        )


# --- inputs


def _gaussian(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def _groups(rng: Rng, n: int, d: int) -> np.ndarray:
    far = 10 ** rng.uniform(1, 4)
    return far * rng.standard_normal((3, d))[rng.integers(3, size=n)] + rng.standard_normal((n, d))


def _copies(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))[rng.integers(0, max(2, n // 2), size=n)]


def _near_copies(rng: Rng, n: int, d: int) -> np.ndarray:
    return _copies(rng, n, d) + 1e-10 * rng.standard_normal((n, d))


def _outlier(rng: Rng, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[rng.integers(n)] *= 10 ** rng.uniform(2, 12)
    return X


def _constant_columns(rng: Rng, n: int, d: int) -> np.ndarray:
    X = rng.standard_normal((n, d))
    X[:, rng.random(d) < 0.5] = rng.standard_normal()
    return X


def _collinear(rng: Rng, n: int, d: int) -> np.ndarray:
    rank = int(rng.integers(1, 3))
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def _line(rng: Rng, n: int, d: int) -> np.ndarray:
    return np.arange(n)[:, None] * rng.standard_normal(d)


def _integers(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.integers(0, rng.integers(2, 20), size=(n, d))


def _one_hot(rng: Rng, n: int, d: int) -> np.ndarray:
    return np.eye(d)[rng.integers(d, size=n)]


def _identity(rng: Rng, n: int, d: int) -> np.ndarray:
    return np.eye(n)


def _zeros(rng: Rng, n: int, d: int) -> np.ndarray:
    X = np.full((n, d), rng.choice([0.0, 1.0]))
    X[0] += rng.choice([0.0, 1.0])
    return X


def _scaled(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-300, 300)


def _shifted(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d)) + 10.0 ** rng.integers(3, 12)


def _mixed_scales(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-12, 12, size=d)


def _curve(rng: Rng, n: int, d: int) -> np.ndarray:
    angle = np.sort(rng.uniform(0, 4, n))
    return np.column_stack([np.cos(angle), np.sin(angle), angle])[:, : max(1, min(d, 3))]


TABLES = [
    *[_gaussian, _groups, _copies, _near_copies, _outlier, _constant_columns, _collinear, _line, _integers, _one_hot],
    *[_identity, _zeros, _scaled, _shifted, _mixed_scales, _curve],
]


def _euclidean(rng: Rng, X: np.ndarray) -> np.ndarray:
    return cdist(X, X)


def _cosine(rng: Rng, X: np.ndarray) -> np.ndarray:
    return np.maximum(cdist(X, X + 1e-12, "cosine"), 0) * (1 - np.eye(len(X)))


def _cityblock(rng: Rng, X: np.ndarray) -> np.ndarray:
    return cdist(X, X, "cityblock")


def _noise(rng: Rng, X: np.ndarray) -> np.ndarray:
    return rng.random((len(X), len(X)))


def _asymmetric(rng: Rng, X: np.ndarray) -> np.ndarray:
    D = cdist(X, X)
    return D * (1 + 1e-9 * rng.random(D.shape))


def _detours(rng: Rng, X: np.ndarray) -> np.ndarray:
    D = cdist(X, X)
    return D * np.where(rng.random(D.shape) < 0.1, 10.0, 1.0)


def _zeros_off_the_diagonal(rng: Rng, X: np.ndarray) -> np.ndarray:
    D = cdist(X, X)
    return D * (rng.random(D.shape) > 0.1)


def _ranks(rng: Rng, X: np.ndarray) -> np.ndarray:
    return np.round(cdist(X, X))


DISTANCES = [_euclidean, _cosine, _cityblock, _noise, _asymmetric, _detours, _zeros_off_the_diagonal, _ranks]
_NOT_QUITE_SYMMETRIC = {_asymmetric}


def _distances(rng: Rng, X: np.ndarray) -> tuple[str, np.ndarray]:
    """A square matrix of distances, made symmetric where it is not meant to be otherwise."""
    kind = DISTANCES[rng.integers(len(DISTANCES))]
    with np.errstate(all="ignore"):
        D = np.nan_to_num(np.asarray(kind(rng, X), dtype=np.float64), posinf=1e300)
    if kind not in _NOT_QUITE_SYMMETRIC:
        D = np.triu(D, 1)
        D = D + D.T
    np.fill_diagonal(D, 0.0)
    return kind.__name__.strip("_"), D


def _graph_of(rng: Rng, D: np.ndarray, n: int) -> tuple[str, csr_array, csr_array]:
    """A neighbour graph of the first n points, and the edges of the others to them."""
    k = int(rng.integers(1, max(2, min(n, 8))))
    words = []
    own, others = D[:n, :n] + np.diag(np.full(n, np.inf)), D[n:, :n]
    keep = own <= np.sort(own, axis=1)[:, [k - 1]]
    if rng.random() < 0.2:
        words.append("directed")
        keep &= rng.random(keep.shape) < 0.7
    if rng.random() < 0.2:
        words.append("disconnected")
        half = np.arange(n) < n // 2
        keep &= half[:, None] == half[None, :]
    if rng.random() < 0.4:
        words.append("with diagonal")
        keep |= np.eye(n, dtype=bool)
    own = np.where(np.eye(n, dtype=bool), 0.0, own)
    near = others <= np.sort(others, axis=1)[:, [min(k, n) - 1]]
    return f"graph of {k} {' '.join(words)}".strip(), _stored(own, keep), _stored(others, near)


def _stored(values: np.ndarray, keep: np.ndarray) -> csr_array:
    i, j = np.nonzero(keep)
    indptr = np.concatenate(([0], np.cumsum(keep.sum(axis=1))))
    return csr_array((values[i, j], j, indptr), shape=values.shape)


def _kernel_of(rng: Rng, X: np.ndarray) -> tuple[str, np.ndarray]:
    kind = str(rng.choice(["inner products", "gaussian", "indefinite", "zero", "distances"]))
    with np.errstate(all="ignore"):
        if kind == "inner products":
            K = X @ X.T
        elif kind == "gaussian":
            K = np.exp(-(cdist(X, X) ** 2))
        elif kind == "indefinite":
            K = rng.standard_normal((len(X), len(X)))
        elif kind == "zero":
            K = np.zeros((len(X), len(X)))
        else:
            K = cdist(X, X)
        return f"kernel of {kind}", np.nan_to_num(K + K.T, posinf=1e300, neginf=-1e300)


def _spoilt(rng: Rng, X: Any) -> tuple[str, Any]:
    """What nobody can use."""
    if issparse(X):
        X = X.copy()
        X.data[:1] = rng.choice([np.nan, -1.0])
        return "with a bad edge", X
    way = str(rng.choice(["nan", "inf", "text", "one row", "flat", "deep", "empty", "complex", "ragged"]))
    if way in {"nan", "inf"}:
        X = X.astype(np.float64)
        X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = float(way)
    elif way == "text":
        X = X.astype(object)
        X[0, 0] = "a"
    elif way == "ragged":
        X = [list(row) for row in X[:-1]] + [list(X[-1])[:-1]]
    else:
        X = {"one row": X[:1], "flat": X[:, 0], "deep": X[None], "empty": X[:0], "complex": X + 1j}[way]
    return f"with {way}" if way in {"nan", "inf", "text"} else way, X


# --- parameters


# How often a parameter is given; the others now and then.
_SHARES = {
    "n_components": 0.9,
    "n_neighbors": 0.95,
    "max_iter": 0.8,
    "n_init": 0.8,
    "n_clusters": 0.8,
    "search": 0.1,
}


def _drawn(rng: Rng, name: str, allowed: list[Any], default: Any, n: int, unit: float) -> Any:
    """A value of a parameter, nearly always one that its constraints allow."""
    if name in {"n_jobs", "verbose"}:
        return 1 if name == "n_jobs" else 0
    if name == "random_state":
        return int(rng.integers(5))
    if name in {"storage", "metric_params", "kernel_params", "time_limit", "layers", "center", "warm_start"}:
        return default
    if name == "metric":
        return str(
            rng.choice(["euclidean", "euclidean", "cityblock", "cosine", "correlation", "chebyshev", "minkowski"])
        )
    if name == "search":
        search = [*["auto", "exact", "approximate"], KNeighborsTransformer(n_neighbors=int(rng.integers(1, max(2, n))))]
        return search[rng.integers(4)]
    if name in {"n_components", "n_neighbors", "landmarks", "n_clusters", "n_kernels", "n_planes", "max_planes"}:
        words = [word for one in allowed if isinstance(one, StrOptions) for word in sorted(one.options)]
        if words and rng.random() < 0.2:
            return words[rng.integers(len(words))]
        return int(rng.integers(2 if name == "landmarks" else 1, max(3, min(n, _MOST.get(name, n)))))
    if name in {"radius", "width"} and rng.random() < 0.8:
        return unit * float(10 ** rng.uniform(-1, 1))
    if name == "max_iter":
        return int(rng.integers(1, 60))
    if name == "n_init":
        return 1
    return _of(rng, allowed[rng.integers(len(allowed))], default)


def _of(rng: Rng, constraint: Any, default: Any) -> Any:
    if isinstance(constraint, StrOptions):
        return sorted(constraint.options)[rng.integers(len(constraint.options))]
    if isinstance(constraint, Interval):
        low = 0 if constraint.left is None else constraint.left
        if constraint.type is Integral:
            return int(low) + int(rng.integers(0, 6))
        value = low + float(10 ** rng.uniform(-6, 2))
        return min(value, constraint.right * (1 - 1e-6)) if constraint.right is not None else value
    if constraint == "boolean":
        return bool(rng.integers(2))
    return None if constraint is None else default


def _params(rng: Rng, cls: type, n: int, unit: float) -> dict[str, Any]:
    """Settings for n distinct rows that are about a unit apart."""
    params = {}
    constraints = cls._parameter_constraints
    for name in sorted(constraints.keys() - {"progress"}):  # which is a function
        if rng.random() < _SHARES.get(name, 0.2):
            default = cls.__dataclass_fields__[name].default
            params[name] = _drawn(rng, name, constraints[name], default, n, unit)
    if params.get("inverse") == "fixed-point" and "gamma" not in constraints:
        del params["inverse"]
    if params.get("search") == "approximate" and rng.random() < 0.9:
        params.pop("radius", None)
    if params.get("metric") == "minkowski":
        params["metric_params"] = {"p": float(rng.choice([1.0, 1.5, 3.0]))}
    if rng.random() < 0.04:
        wrong = [0, -1, n, n + 5, 2.5, math.nan, math.inf, "nonsense", None]
        settable = sorted(constraints.keys() - {"verbose", "progress"})  # which would print
        params[settable[rng.integers(len(settable))]] = wrong[rng.integers(len(wrong))]
    return {**params, "n_jobs": params.get("n_jobs", 1)}


def _form(rng: Rng, cls: type) -> str:
    forms, constraints = ["table"] * 6, cls._parameter_constraints
    needs_columns = cls.__name__ in {"KernelEigenmaps", "LPP"}  # and refuse all else
    if "metric" in constraints and (not needs_columns or rng.random() < 0.1):
        forms += ["distances", "distances"] + (["graph"] if "search" in constraints else [])
    if "kernel" in constraints and any("precomputed" in str(one) for one in constraints["kernel"]):
        forms += ["kernel", "kernel"]
    if "weights" in constraints and any("precomputed" in str(one) for one in constraints["weights"]):
        forms += ["weights", "weights"]
    return forms[rng.integers(len(forms))]


def _weights_of(rng: Rng, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Edge weights between all rows: a kernel, or those of some edges at random; with self-loops now and then."""
    n = len(rows)
    if rng.random() < 0.5:
        D = cdist(rows, rows)
        with np.errstate(all="ignore"):
            kind, W = "affinities", np.nan_to_num(np.exp(-0.5 * (D / np.median(D)) ** 2))
    else:
        kind, W = "edges", np.where(rng.random((n, n)) < 0.3, rng.lognormal(0, 2, (n, n)), 0.0)
        W += np.diag(np.full(n - 1, 0.1), 1) * (rng.random() < 0.7)  # a path through all
    W = np.triu(W, 1)
    return kind, W + W.T + np.diag(rng.random(n)) * (rng.random() < 0.3)


def draw(seed: int) -> Trial:
    """The trial of this number."""
    rng = np.random.default_rng(seed)
    classes = sorted(exported(), key=lambda cls: cls.__name__)
    cls = classes[rng.integers(len(classes))]
    n, fresh = int(rng.integers(2, 41)), 4
    n = min(n, _SLOW.get(cls.__name__, n))
    d = int(rng.integers(1, 13))
    table = TABLES[rng.integers(len(TABLES))]
    kind = table.__name__.strip("_")
    rows = table(rng, n + fresh, d)
    unit = float(np.median(cdist(rows, rows)))
    unit = unit if np.isfinite(unit) and unit > 0 else 1.0
    distinct = len(np.unique(rows[:n], axis=0))
    params = _params(rng, cls, distinct if rng.random() < 0.9 else n, unit)
    form = _form(rng, cls)
    if form != "table" and rng.random() < 0.9:
        params.pop("landmarks", None)  # which graphs refuse
    if params.get("weights") == "precomputed" and rng.random() < 0.95:
        del params["weights"]  # which tables and distances are not
    X, new = rows[:n], rows[n:]
    if form == "kernel":
        kind, K = _kernel_of(rng, rows)
        X, new, params["kernel"] = K[:n, :n], K[n:, :n], "precomputed"
    elif form == "weights":
        kind, W = _weights_of(rng, rows)
        X, new, params["weights"] = W[:n, :n], W[n:, :n], "precomputed"
        for name in (
            "metric",
            "metric_params",
            "n_neighbors",
            "radius",
            "search",
            "width",
        ):  # which a given graph has no use for
            params.pop(name, None)
        if rng.random() < 0.5:
            X, new = csr_array(X), csr_array(new)
    elif form != "table":
        kind, D = _distances(rng, rows)
        X, new, params["metric"] = D[:n, :n], D[n:, :n], "precomputed"
        params.pop("metric_params", None)
        if form == "graph":
            of, X, new = _graph_of(rng, D, n)
            kind = f"{of}, {kind}"
    if rng.random() < 0.25:
        with np.errstate(over="ignore"):
            X, new = X.astype(np.float32), new.astype(np.float32)
    if rng.random() < 0.04:
        what, X = _spoilt(rng, X)
        kind = f"{kind} {what}"
    y = rng.integers(3, size=n) if "graph" in params else None
    return Trial(seed, cls, params, form, kind, X, new, y)


# --- judging


class Broken(Exception):  # noqa: N818
    """A result that is not right."""


@dataclass
class Witness:
    """Runs one step of a trial at a time, and keeps what must not have happened."""

    trial: Trial
    failures: list[Failure] = field(default_factory=list)
    told: list[type] = field(default_factory=list)  # classes of the warnings in the last step

    def __call__(self, step: str, act: Callable[[], Any]) -> Any:
        """What the step gives; None where it ended with a clear sentence, or badly."""
        result = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = act()
            except Exception as error:  # noqa: BLE001  whatever it is, it is judged
                if not _clear(error):
                    self._blame(step, f"{type(error).__name__}", _place(error), str(error))
        self.told = [one.category for one in caught]
        for one in caught:
            if not issubclass(one.category, GramfoldWarning):
                self._blame(step, one.category.__name__, f"{_short(one.filename)}:{one.lineno}", str(one.message))
        return result

    def judge(self, step: str, check: Callable[[], None]) -> None:
        try:
            with np.errstate(all="ignore"):
                check()
        except Broken as error:
            cause, _, detail = str(error).partition(": ")
            self._blame(step, cause, f"{self.trial.cls.__name__}.{step} of a {self.trial.form}", detail)

    def _blame(self, step: str, cause: str, place: str, detail: str) -> None:
        self.failures.append(Failure(self.trial, step, cause, place, " ".join(detail.split())[:300]))


def _clear(error: Exception) -> bool:
    """Whether an error says one sentence that a user can act on."""
    message = str(error)
    if not message.strip() or any(word in message for word in RAW):
        return False
    if isinstance(error, GramfoldError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return isinstance(error, ValueError | TypeError) and last.endswith(_VALIDATION)


def _place(error: Exception) -> str:
    home = str(Path(gramfold.__file__).parent)
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(home)]
    return f"{_short(ours[-1].filename)}:{ours[-1].lineno}" if ours else ""


def _short(path: str) -> str:
    return path.replace("\\", "/").rpartition("site-packages/")[2].rpartition("src/gramfold/")[2]


def run(trial: Trial) -> list[Failure]:
    """Fit, and ask all that the class offers. Returns what went wrong."""
    step = Witness(trial)
    given = deepcopy(trial.X)
    model = step("fit()", lambda: trial.cls(**trial.params).fit(trial.X, trial.y))
    if model is None:
        return step.failures
    if isinstance(model, ClusterMixin):
        _run_clusterer(trial, model, step)
    else:
        _run_map(trial, model, step, left_out=DisconnectedGraphWarning in step.told)
    step.judge("fit()", lambda: _untouched(trial.X, given))
    return step.failures


def _run_clusterer(trial: Trial, model: Any, step: Witness) -> None:
    step.judge("labels_", lambda: _labels_hold(model.labels_, trial.X.shape[0]))
    step.judge("labels_", lambda: _copies_agree(trial, model.labels_))
    again = step("predict(X)", lambda: model.predict(trial.X))
    if again is not None:
        step.judge("predict(X)", lambda: _same_labels(again, model.labels_, _recognized(trial)))
    labels = step("predict(new)", lambda: model.predict(trial.new))
    if labels is not None:
        step.judge("predict(new)", lambda: _labels_hold(labels, trial.new.shape[0]))
    score = step("score(X)", lambda: model.score(trial.X))
    if score is not None:
        step.judge("score(X)", lambda: _finite_score(score, 1.0))


def _run_map(trial: Trial, model: Any, step: Witness, left_out: bool) -> None:
    places = model.embedding_
    n, p = trial.X.shape[0], getattr(model, "n_components_", model.n_components)
    dtype = np.float32 if trial.X.dtype == np.float32 else np.float64
    step.judge("embedding_", lambda: _map_holds(places, (n, p), dtype, left_out))
    step.judge("embedding_", lambda: _copies_agree(trial, places))
    if not hasattr(model, "transform"):
        return
    tolerance = _RETURN[places.dtype] + _rounding_of_kernels(trial)
    again = step("transform(X)", lambda: model.transform(trial.X))
    if again is not None:
        step.judge("transform(X)", lambda: _same_places(again, places, _recognized(trial), tolerance))
    found = step("transform(new)", lambda: model.transform(trial.new))
    if found is not None:
        told = list(step.told)
        shape = (trial.new.shape[0], p)
        of = np.float32 if trial.new.dtype == np.float32 else np.float64
        step.judge("transform(new)", lambda: _map_holds(found, shape, of, DisconnectedGraphWarning in told))
        if not told and trial.form != "kernel":
            step.judge("transform(new)", lambda: _near_the_map(found[_amid(trial)], places))
        alone = step("transform(new[:1])", lambda: model.transform(trial.new[:1]))
        if alone is not None and not (_has_transformer(trial) and trial.kind == "shifted"):
            step.judge("transform(new[:1])", lambda: _same_alone(alone, found[:1], places, tolerance))
    known = places[~np.isnan(places).any(axis=1)][:5]
    rows = step("inverse_transform(places)", lambda: model.inverse_transform(known))
    if rows is not None:
        shape = (len(known), trial.X.shape[1])
        step.judge("inverse_transform(places)", lambda: _map_holds(rows, shape, dtype, False))
    score = step("score(X)", lambda: model.score(trial.X))
    if score is not None:
        step.judge("score(X)", lambda: _finite_score(score, None if hasattr(model, "score_samples") else 1.0))


def _map_holds(places: Any, shape: tuple[int, int], dtype: Any, left_out: bool) -> None:
    if places.shape != shape:
        raise Broken(f"wrong shape: {places.shape}, not {shape}")
    if places.dtype != dtype:
        raise Broken(f"wrong dtype: {places.dtype}, not {np.dtype(dtype)}")
    bad = ~np.isfinite(places.data if issparse(places) else places)
    if bad.any() and not (left_out and (bad.all(axis=1) == bad.any(axis=1)).all()):
        raise Broken(f"not finite: {int(bad.sum())} of {bad.size} values")


def _rounding_of_kernels(trial: Trial) -> float:
    """Inner products of rows far from the origin round before they are centred, which nobody can undo.

    Distances that are asymmetric by 1e-9 are settled in fit; a coordinate made of such differences magnifies them.
    """
    if trial.kind == "asymmetric":
        return 1e-4
    of_rows = trial.form == "table" and "gamma" in trial.cls._parameter_constraints
    if not of_rows or trial.params.get("kernel", "rbf") in {"rbf", "gaussian"}:
        return 0.0
    X = np.asarray(trial.X, dtype=np.float64)
    spread = float(np.ptp(X, axis=0).max()) or 1.0
    return 100 * float(np.finfo(np.float64).eps) * min(float(np.abs(X).max()) / spread, 1e7) ** 2


def _recognized(trial: Trial) -> np.ndarray:
    """Training rows that are nobody else as well: not at distance 0 from another, nor with the edges of another."""
    if trial.form not in {"distances", "graph", "weights"}:
        return np.ones(trial.X.shape[0], dtype=bool)
    if trial.form == "weights":
        edges = trial.X.toarray() if issparse(trial.X) else np.asarray(trial.X)
        return _alone(edges - np.diag(np.diag(edges)))
    zeros = csr_array(trial.X == 0) if trial.form == "distances" else trial.X.copy()
    if trial.form == "graph":
        zeros.data = zeros.data == 0
    zeros.setdiag(False)
    known = np.asarray(zeros.sum(axis=1)).ravel() == 0
    return known & _alone(trial.X.toarray()) if trial.form == "graph" else known


def _alone(edges: np.ndarray) -> np.ndarray:
    """Vertices whose edges no other vertex has."""
    _, kind, counts = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(counts[kind.ravel()] == 1)


def _same_places(again: np.ndarray, places: np.ndarray, known: np.ndarray, tolerance: float) -> None:
    if again.shape != places.shape:
        raise Broken(f"wrong shape: {again.shape}, not {places.shape}")
    known = known & ~np.isnan(places).any(axis=1)
    if not known.any():
        return
    size = float(np.abs(places[known]).max()) or 1.0
    off = float(np.abs(again[known].astype(np.float64) - places[known]).max()) / size
    if not off <= tolerance:
        raise Broken(f"training rows do not return: off by {off:.1e} of the map's size")


def _has_transformer(trial: Trial) -> bool:
    """Whether scikit-learn finds the neighbours: far from the origin it rounds a batch in another way than its rows."""
    return not isinstance(trial.params.get("search", "auto"), str)


def _same_alone(alone: np.ndarray, among: np.ndarray, places: np.ndarray, tolerance: float) -> None:
    size = float(np.nanmax(np.abs(np.vstack([among, places])), initial=0.0)) or 1.0
    if not np.allclose(alone, among, rtol=0, atol=tolerance * size, equal_nan=True):
        raise Broken(f"a batch is not its rows: {alone}, {among}")


def _copies_agree(trial: Trial, values: np.ndarray) -> None:
    """Equal rows have one place, one label."""
    if trial.form != "table" or np.isnan(X := np.asarray(trial.X, dtype=np.float64)).any():
        return
    _, first, copy_of = np.unique(X, axis=0, return_index=True, return_inverse=True)
    size = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    tolerance = _RETURN.get(values.dtype, 0.0) * size
    if not np.allclose(values, values[first[copy_of.ravel()]], rtol=0, atol=tolerance, equal_nan=True):
        raise Broken("copies are torn apart")


def _untouched(X: Any, given: Any) -> None:
    same = (X.data, given.data) if issparse(given) else (X, given)
    if not np.array_equal(*same, equal_nan=getattr(X, "dtype", np.dtype(object)).kind == "f"):
        raise Broken("the user's array was changed")


def _amid(trial: Trial) -> np.ndarray:
    """New rows that are no farther from some training row than training rows are from each other."""
    if trial.form == "table":
        X = np.asarray(trial.X, dtype=np.float64)
        return cdist(np.asarray(trial.new, dtype=np.float64), X).min(axis=1) <= cdist(X, X).max()
    nearest = trial.new.min(axis=1)
    return np.asarray(nearest.toarray() if issparse(nearest) else nearest).ravel() <= trial.X.max()


def _near_the_map(found: np.ndarray, places: np.ndarray) -> None:
    """New rows are drawn as the training rows were: nobody flies off without a warning."""
    known = places[~np.isnan(places).any(axis=1)].astype(np.float64)
    size = float(np.ptp(known, axis=0).max()) if len(known) else 0.0
    away = float(np.nanmax(np.abs(found - known.mean(axis=0)), initial=0.0)) if size > 0 else 0.0
    if size > 0 and away > 100 * size:
        raise Broken(f"new rows fly off in silence: {away / size:.1e} times the map's size")


def _labels_hold(labels: np.ndarray, n: int) -> None:
    if labels.shape != (n,) or labels.dtype.kind != "i" or labels.min() < -1:
        raise Broken(f"no labels: {labels!r}")


def _same_labels(again: np.ndarray, labels: np.ndarray, known: np.ndarray) -> None:
    if (again != labels)[known].any():
        raise Broken(f"training rows lose their label: {int((again != labels).sum())} of {len(labels)}")


def _finite_score(score: float, most: float | None) -> None:
    if not math.isfinite(score) or (most is not None and not -1e-9 <= score <= most + 1e-9):
        raise Broken(f"no score: {score}")


def failures_of(seeds: range) -> Iterator[Failure]:
    """Of all these trials."""
    for seed in seeds:
        yield from run(draw(seed))


def _main(arguments: list[str]) -> None:
    if len(arguments) == 1:
        trial = draw(int(arguments[0]))
        failures = run(trial)
        print(trial, "\n".join(map(str, failures)) or "holds", sep="\n")  # noqa: T201
        return
    groups: dict[str, list[Failure]] = {}
    for failure in failures_of(range(*map(int, arguments))):
        groups.setdefault(failure.group, []).append(failure)
    for group, members in sorted(groups.items(), key=lambda item: -len(item[1])):
        classes = sorted({one.trial.cls.__name__ for one in members})
        smallest = min(members, key=lambda one: (len(one.trial.params), len(str(one.trial))))
        print(f"{len(members):5d}  {group}  [{', '.join(classes)}]\n       {smallest}")  # noqa: T201


if __name__ == "__main__":
    _main(sys.argv[1:])
