"""Semidefinite embedding end to end, on paper 002's roll in 23 dimensions, certified."""

import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.manifold import Isomap

from benchmarks.timing import Race, race
from gramfold import SDE
from gramfold.datasets import make_swiss_roll
from gramfold.errors import ApproximationWarning, DisconnectedGraphWarning

_TOL = 1e-6


def races() -> Iterator[Race]:
    """All but the largest."""
    yield from small()
    yield from paper()
    yield from large()
    yield from signed()


def small() -> Iterator[Race]:
    """The exact form, 100 points, beside CVXPY."""
    X = roll(100)
    certificate = exact(X).certificate_
    distances = np.linalg.norm(X[certificate.pairs[:, 0]] - X[certificate.pairs[:, 1]], axis=1)
    yield race(
        "exact SDE, roll n=100, gap 1e-6 (peer: CVXPY + Clarabel)",
        lambda: exact(X),
        lambda: _clarabel(certificate.pairs, distances),
        target="100x, 40x at least",
        runs=1,
    )


def paper() -> Iterator[Race]:
    """The exact form, the paper's 800 points, beside Isomap of 5,000."""
    X, many = roll(800), roll(5_000)
    yield race(
        "exact SDE, roll n=800, gap and violation 1e-6 (peer: scikit-learn's Isomap, n=5,000)",
        lambda: exact(X),
        lambda: Isomap(n_neighbors=10).fit(many),
        target="≥ 0.5x, 0.33x at least",
        runs=2,
    )


def large() -> Iterator[Race]:
    """The non-expansive form of 10,000 points beside Isomap of as many."""
    X = roll(10_000)
    yield race(
        "non-expansive SDE, roll n=10,000, gap 1e-3 (peer: scikit-learn's Isomap)",
        lambda: unfolded(X),
        lambda: Isomap(n_neighbors=10).fit(X),
        target="4x, 2x at least",
        runs=2,
    )


def signed() -> Iterator[Race]:
    """The exact and slack forms of 10,000 points beside the non-expansive one of the same pairs."""
    X = roll(10_000)
    for k in (4, 6):
        kept = {"n_neighbors": k, "pairs": "angles"}
        for form in ("nonexpansive", "exact"):  # compiled code loads here
            _fitted(SDE(**kept, isometry=form, solver="low-rank"), roll(500))
        for form, settings in (
            ("exact", {"isometry": "exact"}),
            ("slack, C=100", {"isometry": "slack"}),
            ("slack, C=20,000", {"isometry": "slack", "stiffness": 2e4}),
        ):
            yield race(
                f"{form} SDE, roll n=10,000, k={k}, gap 1e-3, lengths to 1e-4 (peer: the non-expansive form)",
                lambda: _fitted(SDE(**kept, **settings), X),  # noqa: B023  called at once
                lambda: _fitted(SDE(**kept), X),  # noqa: B023
                target="0.067x (15 times at most)",
                runs=1,
                warm=False,
            )


def largest() -> Iterator[Race]:
    """The non-expansive form of 100,000 points beside 10,000."""
    unfolded(roll(10_000))  # compiled code loads here
    seconds = []
    for n in (10_000, 100_000):
        X = roll(n)
        started = time.perf_counter()
        unfolded(X)
        seconds.append(time.perf_counter() - started)
    yield Race(
        "non-expansive SDE, roll n=100,000, gap 1e-3 (peer: its own n=10,000)",
        seconds[1:],
        seconds[:1],
        "≥ 0.04x (25 times at most), 0.025x at least",
    )


def roll(n: int) -> np.ndarray:
    """20 dimensions of noise beside the three of a swiss roll."""
    points: np.ndarray = make_swiss_roll(n, extra_dimensions=20, extra_noise=0.05, random_state=0).points
    return points


def exact(X: np.ndarray) -> SDE:
    """As in the paper: distances and angles kept."""
    return _fitted(SDE(n_neighbors=4, isometry="exact", pairs="angles", tol=_TOL), X)


def unfolded(X: np.ndarray) -> SDE:
    """As it is by default."""
    return _fitted(SDE(n_neighbors=4), X)


def _fitted(model: SDE, X: np.ndarray) -> SDE:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a gap that was not proved is no time
        for harmless in (DisconnectedGraphWarning, ApproximationWarning):  # few neighbours, searched among many rows
            warnings.simplefilter("ignore", harmless)
        return model.fit(X)


def _clarabel(pairs: np.ndarray, distances: np.ndarray) -> None:
    import cvxpy

    i, j = pairs.T
    n = int(pairs.max()) + 1
    K = cvxpy.Variable((n, n), PSD=True)
    diagonal = cvxpy.diag(K)
    lengths = diagonal[i] + diagonal[j] - 2 * K[i, j]
    program = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), [cvxpy.sum(K) == 0, lengths == distances**2])
    program.solve(solver="CLARABEL", tol_gap_rel=_TOL, tol_feas=_TOL)
