"""The non-expansive form with few landmarks, for graphs whose factors fill in: Y = Q ℓ.

    max tr M K   over   K = Q A Qᵀ,  A ⪰ 0 (N × N),    b_eᵀ A b_e ≤ d_e²,   b_e = Q_i − Q_j

Each row of Q (n, N) sums to 1 and writes a vertex as a mixture of landmarks, so that distances do not change if all
landmarks are shifted alike: the last one is held at the origin. Few of the pairs are active constraints. The program
starts with some that determine every landmark. Those that its solution violates are added until no violation is large,
and the solution is then made feasible. The bound of this program does not hold for the whole problem, whose kernels
need not be mixtures. That of the certificate does, and its gap includes the cost of the landmarks.

Weinberger, Packer, Saul, AISTATS 2005.
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from gramfold.errors import InputError, UnboundedProblemError
from gramfold.runtime.threads import one_blas_thread
from gramfold.sdp.certificate import certify
from gramfold.sdp.constraints import Rows
from gramfold.sdp.feasible import made_feasible, touching
from gramfold.sdp.primal_dual import Outcome, Program, core, too_far_apart
from gramfold.sdp.problem import Certificate, Listener, Problem, Solution, Step, by_variance
from gramfold.types import Floats, Integers

_FIRST_PAIRS = 4  # for each landmark
_MORE_PAIRS = 2  # for each landmark, at most, in a round
_TOO_LONG = 0.02  # squared, relative: what a round adds
_ROUNDS = 30
_MIX = (0.03, 0.3, 3.0)  # shares of multipliers on all pairs, beside those of the program, that are tried for the bound


def solve_problem(
    problem: Problem,
    mixtures: Callable[[], Floats],
    known: Floats | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    listen: Listener | None = None,
) -> Solution:
    """Unfold the graph with vertices that are mixtures of landmarks; `mixtures` returns the matrix (n, N).

    `known` are feasible coordinates, if there are any. They are returned if no mixture is better, as may happen with
    few landmarks and data of high dimension.
    """
    if problem.isometry != "nonexpansive":
        raise InputError(
            f'solver="landmarks" does not support isometry={problem.isometry!r}: use isometry="nonexpansive", or '
            "another solver."
        )
    began = time.perf_counter()
    held = mixtures()[:, :-1]  # (n, N − 1)
    vectors = held[problem.pairs[:, 0]] - held[problem.pairs[:, 1]]  # (m, N − 1)
    centered = problem.centered(held)
    objective = centered.T @ (problem.mass[:, None] * centered)
    steps: list[Step] = []
    with one_blas_thread():
        active = _first_pairs(vectors, problem.squared)
        while True:
            program = Program(Rows(vectors[active]), problem.squared[active], objective)
            try:
                outcome = core(program, tol=0.1 * tol, max_iter=max_iter, time_limit=time_limit)
            except UnboundedProblemError as error:  # of a connected graph that is rounding
                raise too_far_apart(problem.squared) from error
            coordinates = made_feasible(problem, centered @ _root(outcome.X))
            too_long = np.einsum("ek,kl,el->e", vectors, outcome.X, vectors, optimize=True) / problem.squared - 1.0
            bound = float(outcome.weights @ program.squared)
            excess = 100 * max(0.0, too_long.max())
            words = f"{len(active)} of {len(vectors)} pairs active, squared distances up to {excess:.1f}% too large"
            seconds = time.perf_counter() - began
            steps.append(Step(len(steps), seconds, problem.variance(coordinates), bound, words))
            if listen is not None:
                listen(steps[-1])
            over = len(steps) >= _ROUNDS or (time_limit is not None and seconds > time_limit)
            if over or too_long.max() <= _TOO_LONG:
                break
            active = _with_worst(active, too_long, _MORE_PAIRS * held.shape[1])
        if known is not None:
            coordinates = max(coordinates, touching(problem, problem.centered(known)), key=problem.variance)
        certificate = _certificate(problem, coordinates, active, outcome)
    return Solution(
        by_variance(coordinates, problem.mass),
        certificate,
        certificate.gap <= tol,
        tuple(steps),
        "landmarks",
        time.perf_counter() - began,
    )


def _first_pairs(vectors: Floats, squared: Floats) -> Integers:
    """Pairs whose vectors span the space, by pivoted QR, and the tightest pairs."""
    scaled = vectors / np.sqrt(squared)[:, None]
    spanning = qr(scaled.T, mode="r", pivoting=True)[1][: vectors.shape[1]]
    tightest = np.argsort(-np.einsum("ek,ek->e", scaled, scaled))[: _FIRST_PAIRS * vectors.shape[1]]
    return np.unique(np.concatenate([spanning, tightest]))


def _with_worst(active: Integers, too_long: Floats, count: int) -> Integers:
    worst = np.argsort(-too_long)[:count]
    return np.union1d(active, worst[too_long[worst] > _TOO_LONG])


def _root(X: Floats) -> Floats:
    """R with X = R Rᵀ, without columns that are zero up to rounding."""
    values, vectors = np.linalg.eigh(X)
    kept = values > 1e-9 * values[-1]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _certificate(problem: Problem, coordinates: Floats, active: Integers, outcome: Outcome) -> Certificate:
    """The certificate, with some weight on all pairs, because the few active pairs do not connect the graph."""
    weights = np.zeros(len(problem.pairs))
    weights[active] = outcome.weights
    everywhere = 1.0 / problem.squared
    everywhere *= weights.sum() / everywhere.sum()
    tried = [certify(problem, coordinates, weights + share * everywhere) for share in _MIX]
    return min(tried, key=lambda certificate: certificate.upper_bound)
