"""The non-expansive form at scale: an interior point method on a low-rank factor.

    max tr A Y Yᵀ   over centred Y (n, r),   |y_i − y_j|² + s_e = d_e²,  s_e ≥ 0 for each pair e;     A = M

The barrier is on the pairs alone, so the multipliers v ≥ 0 make L(v) positive semidefinite by themselves. With
D_e = y_i − y_j the conditions that a step aims at are

    L(v) Y = A Y,     s_e = d_e² − |D_e|²,     v_e s_e = μ

and, with s and v eliminated, its direction solves

    H dY = A Y − L(u) Y,    u = (t − v ρ)/s,    ρ = d² − |D|² − s
    H = (L(v) − θA) ⊗ I_r + Σ_e (2 v_e/s_e) (b_e ⊗ D_e)(b_e ⊗ D_e)ᵀ,     b_e = e_i − e_j
    ds = ρ − 2 D·dD,    dv = (t − v ds)/s − v

Newton has θ = 1. Then H is indefinite wherever L(v) has an eigenvalue below 1, and the method diverges; θ just below
the least eigenvalue of L(v) x = λ A x makes H positive (but for the constants, which nothing moves). That damping is
what makes the method work. Mehrotra's predictor and corrector choose the targets t.

Y needs enough columns: when its rank is full and the bottom of L(v) asks for more, two are added, along the
eigenvectors that are not in Y yet; columns that carry nothing are dropped. With enough of them only the optimum has
multipliers that pass the certificate.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.ordering.factor import Factor, Symbolic
from gramfold.sdp.assembly import Assembly
from gramfold.sdp.certificate import certify
from gramfold.sdp.feasible import made_feasible
from gramfold.sdp.problem import Listener, Problem, Solution, Step, by_variance
from gramfold.types import Floats

_RANK = 3  # to begin with: a sheet and one more
_MOST_COLUMNS = 24
_SPARE = 3  # eigenvectors of L(v) beyond those that Y should span: where Y may grow
_BOUNDARY = 0.9  # share of the way to the boundary that a step may go
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 0.1, 1e-4, 0.2  # of θ, relative to how far Y is from L(v) Y = A Y
_GROW_SHARE, _GROW_BELOW = 1e-3, 1.3  # no column carries less, and r eigenvalues are below: more columns are needed
_DROP_SHARE = 1e-7
_PROVE_AT = 0.9  # of the gap that is asked for: the proved bound is a little above the estimate
_GROW_LENGTH = 0.02  # squared length of the 99% quantile pair in a new column, relative to d²


def solve(
    pairs: Any,
    distances: Any,
    *,
    mass: Any = None,
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
) -> Solution:
    """Unfold the graph of these pairs; no pair becomes longer than its distance.

    Parameters
    ----------
    pairs : array-like of shape (m, 2)
        The pairs whose distances are kept, by vertex number.
    distances : array-like of shape (m,)
        Their distances.
    mass : array-like of shape (n,), optional
        How often each vertex counts; once by default.
    tol : float
        The gap to prove.
    max_iter, time_limit : int, float or None
        Iterations and seconds after which the best answer so far is returned.
    start : Solution, optional
        Of the same pairs with similar distances: where to begin.
    listen : callable, optional
        Called with a `Step` after each iteration.

    Returns
    -------
    solution : Solution
        The kernel's factor and its certificate.
    """
    problem = Problem.of(pairs, distances, mass=mass)
    return solve_problem(problem, tol=tol, max_iter=max_iter, time_limit=time_limit, start=start, listen=listen)


def solve_problem(
    problem: Problem,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    time_limit: float | None = None,
    start: Solution | None = None,
    listen: Listener | None = None,
) -> Solution:
    """The same for a problem that was checked."""
    if problem.isometry != "nonexpansive":
        raise InputError(f'the low-rank solver is for isometry="nonexpansive", not {problem.isometry!r}.')
    began = time.perf_counter()
    unit = float(problem.squared.mean())
    symbolic = Symbolic.of(Assembly.of(problem.pairs, len(problem)).pattern())
    number = np.empty(len(problem), dtype=np.int64)
    number[symbolic.order] = np.arange(len(problem))
    # vertices in the order of elimination, lengths of mean 1
    scaled = replace(
        problem,
        pairs=number[problem.pairs],
        squared=problem.squared / unit,
        mass=problem.mass[symbolic.order],
    )
    if start is not None:
        start = replace(start, coordinates=start.coordinates[symbolic.order] / np.sqrt(unit))
    search = _Search(scaled, symbolic.renumbered(), start)
    steps: list[Step] = []
    while True:
        search.measure(tol)
        best = search.best
        seconds = time.perf_counter() - began
        steps.append(Step(len(steps), seconds, best.primal * unit, best.bound * unit, search.words))
        if listen is not None:
            listen(steps[-1])
        over = len(steps) >= max_iter or (time_limit is not None and seconds > time_limit) or search.at_rest(tol)
        if best.gap <= _PROVE_AT * tol or over:
            certificate = certify(scaled, best.coordinates, best.weights, search.symbolic)
            if certificate.gap <= tol or over:
                break
            search.best = replace(best, bound=certificate.upper_bound)
        search.advance()
    return Solution(
        coordinates=by_variance(best.coordinates, scaled.mass)[number] * np.sqrt(unit),
        certificate=replace(
            certificate,
            primal=certificate.primal * unit,
            upper_bound=certificate.upper_bound * unit,
            pairs=problem.pairs,
        ),
        converged=certificate.gap <= tol,
        steps=tuple(steps),
        solver="low-rank interior point",
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True)
class _Best:
    """The best feasible coordinates and the best multipliers so far; they need not be of one iteration."""

    coordinates: Floats
    primal: float
    weights: Floats
    bound: float

    @property
    def gap(self) -> float:
        return 1.0 - self.primal / self.bound


class _Search:
    """The iteration: Y, s, v, and the bottom of L(v)."""

    def __init__(self, problem: Problem, symbolic: Symbolic, start: Solution | None) -> None:
        self.problem, self.symbolic = problem, symbolic
        self.assembly = Assembly.of(problem.pairs, len(problem))
        self.random = np.random.default_rng(0)
        self.age = 0  # iterations since the rank changed
        self.iteration = 0
        self.begin(start)
        self.best = _Best(self.Y, -np.inf, self.v, np.inf)

    def begin(self, start: Solution | None) -> None:
        """Y from the bottom of L(1/d²), at half of the allowed lengths; s and v to match."""
        squared = self.problem.squared
        self.V = self.random.standard_normal((len(self.problem), _RANK + _SPARE))
        self.bottom(1.0 / squared)
        if start is None:
            self.Y = self.V[:, :_RANK] / np.sqrt(self.eigenvalues[:_RANK])
        else:
            self.Y = start.coordinates
        ratio = np.quantile(self.problem.squared_lengths(self.Y) / squared, 0.99)
        self.Y = self.problem.centered(self.Y) * np.sqrt(0.5 / ratio)
        self.s = np.maximum(squared - self.problem.squared_lengths(self.Y), 0.2 * squared)
        self.v = 1.0 / squared / self.eigenvalues[0]

    def bottom(self, v: Floats) -> None:
        """The smallest eigenpairs of L(v) x = λ M x beside the constant, by inverse iteration from the last ones."""
        mass = self.problem.mass
        root = np.sqrt(mass)[:, None]
        laplacian = self.assembly.laplacian(v)
        shift = 1e-9 * laplacian.diagonal().mean() / mass.mean()
        factor = Factor.of(self.assembly.laplacian(v, shift * mass), self.symbolic)
        last = np.full(self.V.shape[1], np.inf)
        for _ in range(40):
            self.V = self.problem.centered(factor.solve(self.V * mass[:, None]))
            basis = np.linalg.qr(root * self.V)[0] / root
            self.eigenvalues, turn = np.linalg.eigh(basis.T @ (laplacian @ basis))
            self.V = basis @ turn
            if np.abs(self.eigenvalues[:2] - last[:2]).max() < 1e-3 * self.eigenvalues[0]:
                break
            last = self.eigenvalues
        self.LY = laplacian @ self.Y if hasattr(self, "Y") else None

    def measure(self, tol: float) -> None:
        """Where the iterate stands: residuals, bound and a feasible kernel."""
        mass = self.problem.mass
        self.bottom(self.v)
        bound = self.problem.bound(self.v, self.eigenvalues[0])
        if bound < self.best.bound:
            self.best = replace(self.best, bound=bound, weights=self.v / self.eigenvalues[0])
        rounded = made_feasible(self.problem, self.Y, min(1e-4, tol / 20))
        primal = self.problem.variance(rounded)
        if primal > self.best.primal:
            self.best = replace(self.best, primal=primal, coordinates=rounded)
        self.residual = float(np.linalg.norm(mass[:, None] * self.Y - self.LY) / np.linalg.norm(mass[:, None] * self.Y))
        self.mu = float(self.v @ self.s) / len(self.s)
        self.words = f"rank {self.Y.shape[1]}, mu {self.mu:.1e}, residual {self.residual:.1e}"

    def at_rest(self, tol: float) -> bool:
        """Converged as far as doubles allow."""
        return self.mu * len(self.s) < 1e-3 * tol * self.best.bound and self.residual < 1e-10

    def advance(self) -> None:
        """One predictor and corrector step."""
        self.iteration += 1
        self.age += 1
        if self.age > 3 and self.iteration > 5:
            self.adapt_rank()
        problem, assembly = self.problem, self.assembly
        D = self.Y[assembly.first] - self.Y[assembly.second]  # (m, r)
        rho = problem.squared - np.einsum("ec,ec->e", D, D) - self.s
        damping = np.clip(_DAMPING * self.residual, _LEAST_DAMPING, _MOST_DAMPING)
        theta = min(1.0, self.eigenvalues[0]) * (1.0 - damping)
        r = self.Y.shape[1]
        forms = (2.0 * self.v / self.s)[:, None, None] * D[:, :, None] * D[:, None, :]
        forms[:, np.arange(r), np.arange(r)] += self.v[:, None]
        factor = Factor.of(assembly.blocks(forms, -theta * problem.mass), self.symbolic.blocks(r))

        def direction(target, extra):
            lacking = rho + extra
            u = (target - self.v * lacking) / self.s
            right = problem.mass[:, None] * self.Y - assembly.spread(u[:, None] * D)
            dY = factor.solve(right.reshape(-1, 1)).reshape(-1, r)
            dD = dY[assembly.first] - dY[assembly.second]
            ds = lacking - 2.0 * np.einsum("ec,ec->e", D, dD)
            return dY, dD, ds, (target - self.v * ds) / self.s - self.v

        dY, dD, ds, dv = direction(0.0, 0.0)
        primal, dual = min(1.0, to_boundary(self.s, ds)), min(1.0, to_boundary(self.v, dv))
        mu_after = float((self.s + primal * ds) @ (self.v + dual * dv)) / len(ds)
        sigma = np.clip((mu_after / self.mu) ** 2, 1e-2, 1.0)
        dY, dD, ds, dv = direction(
            sigma * self.mu - primal * dual * ds * dv, -(primal**2) * np.einsum("ec,ec->e", dD, dD)
        )
        primal = min(1.0, _BOUNDARY * to_boundary(self.s, ds))
        dual = min(1.0, _BOUNDARY * to_boundary(self.v, dv))
        self.Y = problem.centered(self.Y + primal * dY)
        self.s = self.s + primal * ds
        self.v = self.v + dual * dv

    def adapt_rank(self) -> None:
        """More columns where the bottom of L(v) asks for them, fewer where one carries nothing."""
        r = self.Y.shape[1]
        root = np.sqrt(self.problem.mass)[:, None]
        values, turn = np.linalg.eigh((root * self.Y).T @ (root * self.Y))  # ascending
        shares = values / values.sum()
        if shares[0] > _GROW_SHARE and (self.eigenvalues < _GROW_BELOW).sum() >= r and r < _MOST_COLUMNS:
            span = np.linalg.qr(root * self.Y)[0]
            fresh = root * self.V - span @ (span.T @ (root * self.V))
            fresh = np.linalg.svd(fresh, full_matrices=False)[0][:, :2] / root
            fresh = self.problem.centered(fresh)
            ratio = np.quantile(self.problem.squared_lengths(fresh) / self.problem.squared, 0.99)
            self.Y = np.column_stack([self.Y, fresh * np.sqrt(_GROW_LENGTH / ratio)])
            self.V = np.column_stack([self.V, self.random.standard_normal((len(self.V), 2)) / np.sqrt(len(self.V))])
            self.age = 0
        elif r > _RANK and shares[1] < _DROP_SHARE and self.iteration > 8:
            self.Y = self.Y @ turn[:, 1:]


def to_boundary(values: Floats, steps: Floats) -> float:
    """How far values + α steps stay positive."""
    falling = steps < 0
    return float((-values[falling] / steps[falling]).min()) if falling.any() else np.inf
