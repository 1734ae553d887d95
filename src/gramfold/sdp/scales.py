"""Lengths of two very different sizes: near-duplicate rows, or groups that are far from each other.

The numbers of a matrix hold about 16 digits, and lengths enter it squared: where the short pairs are 1e-6 of the
others, they are lost in rounding if all are solved at once. But then the problem can be divided. Vertices that are
joined by short pairs are a cluster, which is a point for the long pairs. So the clusters are unfolded, then each by
itself, and

    Y = [Y of my cluster, Y within my cluster]     in columns of their own, so that variances add up
    w = [w of the clusters, W · w within]          W ≫ w, so that L(w) ⪰ M nearly as for points

The error of a long pair is the size of its clusters relative to its length; the certificate bounds the cost of all
these errors. Clusters may be divided into smaller ones by the same rule.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from gramfold.direct.factor import Symbolic
from gramfold.errors import InfeasibleLengthsError, NoInteriorError, NotConvergedError
from gramfold.sdp.certificate import certify
from gramfold.sdp.feasible import touching
from gramfold.sdp.problem import Certificate, Problem, Solution
from gramfold.types import Floats, Integers

# Radius of a cluster, relative to every length between clusters. Below the first share of `tol` the problem is divided
# at once; above the second, clusters are not points. In between it is divided if solving all at once failed.
_SURELY, _PERHAPS = 1e-2, 1e-3
_STRONGER = tuple(10.0**k for k in range(1, 9))  # W, in units of the weight that a vertex hangs by, that are tried

Solve = Callable[..., Solution]  # of a problem, with `start`, `time_limit` and other limits


@dataclass(frozen=True)
class Part:
    """A cluster of two vertices or more, as a problem of its own."""

    members: Integers  # vertices of the whole
    pairs: Integers  # pairs of the whole
    problem: Problem


@dataclass(frozen=True)
class Scales:
    """A problem divided into clusters, with the problem between clusters and those within them."""

    whole: Problem
    cluster: Integers  # (n,) of each vertex
    clusters: Problem
    between: Integers  # (b,) pairs of the whole between clusters
    group: Integers  # (b,) the clusters' pair of each
    share: Floats  # (b,) of that pair's multiplier which each carries
    parts: list[Part]


def solve_by_scales(
    problem: Problem, solve: Solve, *, tol: float, start: Solution | None, time_limit: float | None, **limits: Any
) -> Solution:
    """Solve by `solve`, all at once or divided by size."""
    time_left = _countdown(time_limit)

    def apart(scales: Scales) -> Solution:
        def again(other: Problem, **others: Any) -> Solution:
            return solve_by_scales(other, solve, tol=tol, **others)

        return solve_apart(scales, again, tol=tol, start=start, time_limit=time_left(), **limits)

    scales = two_scales(problem, _SURELY * tol)
    if scales is not None:
        return apart(scales)
    try:
        found = solve(problem, tol=tol, start=start, time_limit=time_limit, **limits)
    except (NoInteriorError, NotConvergedError):
        scales = two_scales(problem, _PERHAPS)
        other = None if scales is None else apart(scales)
        if other is None or (problem.isometry == "exact" and other.stalled):
            raise
        return other
    scales = two_scales(problem, _PERHAPS) if found.stalled else None
    return found if scales is None else min(found, apart(scales), key=_off)


def _off(solution: Solution) -> float:
    return max(abs(solution.certificate.gap), solution.certificate.max_violation)


def _countdown(seconds: float | None) -> Callable[[], float | None]:
    began = time.perf_counter()
    return lambda: None if seconds is None else max(0.0, seconds - (time.perf_counter() - began))


def two_scales(problem: Problem, near: float) -> Scales | None:
    """The clusters whose radius is at most `near` times every length between them; None if there are none."""
    ascending = np.sort(problem.squared)
    # the uppermost gap first: below it are the largest clusters
    for place in np.flatnonzero(ascending[1:] * near**2 > ascending[:-1])[::-1]:
        short = problem.squared <= ascending[place]
        cluster, radius = _clusters(problem, short)
        inside = cluster[problem.pairs[:, 0]] == cluster[problem.pairs[:, 1]]
        stretched = problem.isometry == "slack" and (inside & ~short).any()  # a long spring holds its ends apart
        if not inside.all() and not stretched and radius <= near * np.sqrt(ascending[place + 1]):
            return _apart(problem, cluster, short)
    return None


def solve_apart(
    scales: Scales, solve: Solve, *, tol: float, start: Solution | None, time_limit: float | None, **limits: Any
) -> Solution:
    """Solve the problem between clusters, then each cluster, by `solve`; combine and certify the solutions."""
    began, time_left = time.perf_counter(), _countdown(time_limit)
    whole = scales.whole
    try:
        top = solve(scales.clusters, start=_start(scales, start), time_limit=time_limit, **limits)
    except InfeasibleLengthsError as error:  # of lengths that are the clusters', not the user's
        raise NoInteriorError(
            "the kept distances have two very different sizes (near-duplicate rows), and the long ones cannot be kept "
            'exactly together with the short ones: use isometry="nonexpansive" or "slack", or round the rows so that '
            "near-duplicates become duplicates."
        ) from error
    limits["listen"] = None
    inner = [_solve_part(part, whole, solve, time_limit=time_left(), **limits) for part in scales.parts]
    coordinates = _together(scales, top.coordinates, [part.coordinates for part in inner])
    if whole.isometry == "nonexpansive":
        coordinates = touching(whole, coordinates)
    certificate = _certificate(scales, coordinates, top, inner)
    converged = abs(certificate.gap) <= tol and certificate.max_violation <= tol
    stopped = any(not (part.converged or part.stalled) for part in (top, *inner))  # at a limit
    return Solution(
        coordinates=coordinates,
        certificate=certificate,
        converged=converged,
        steps=top.steps,
        solver=top.solver,
        seconds=time.perf_counter() - began,
        stalled=not (converged or stopped),
    )


def _clusters(problem: Problem, short: Any) -> tuple[Integers, float]:
    """The cluster of each vertex by the short pairs, and the largest radius of a cluster."""
    n, (i, j) = len(problem), problem.pairs[short].T
    graph = csr_array(coo_array((np.sqrt(problem.squared[short]), (i, j)), shape=(n, n)))
    _, cluster = connected_components(graph, directed=False)
    _, some = np.unique(cluster, return_index=True)
    return cluster, float(dijkstra(graph, directed=False, indices=some, min_only=True).max())


def _apart(problem: Problem, cluster: Integers, short: Any) -> Scales:
    first, second = np.sort(cluster[problem.pairs], axis=1).T
    between = np.flatnonzero(first != second)
    first, second = first[between], second[between]
    squared = problem.squared[between]
    group, share = np.arange(len(between)), np.ones(len(between))
    if problem.isometry != "slack":  # springs may be parallel; of limits the least counts, and of lengths the mean
        _, one, group = np.unique(first * len(problem) + second, return_index=True, return_inverse=True)
        if problem.isometry == "exact":
            share = 1.0 / np.bincount(group)[group]
        else:
            one = np.lexsort((squared, group))[np.searchsorted(np.sort(group), np.arange(len(one)))]
            share = np.zeros(len(between))
            share[one] = 1.0
        first, second, squared = first[one], second[one], _sums(group, share * squared)
    clusters = replace(
        problem,
        pairs=np.column_stack([first, second]),
        squared=squared,
        mass=_sums(cluster, problem.mass),
        names=None,
    )
    return Scales(problem, cluster, clusters, between, group, share, _parts(problem, cluster, short))


def _sums(group: Integers, values: Floats) -> Floats:
    return np.bincount(group, values).astype(np.float64)


def _parts(problem: Problem, cluster: Integers, short: Any) -> list[Part]:
    inside = np.flatnonzero(short)
    inside = inside[np.argsort(cluster[problem.pairs[inside, 0]], kind="stable")]
    of_pair = cluster[problem.pairs[inside, 0]]
    vertices = np.argsort(cluster, kind="stable")
    number = np.empty(len(problem), dtype=np.int64)
    parts = []
    for one, begin in zip(*np.unique(of_pair, return_index=True), strict=True):
        pairs = inside[begin : np.searchsorted(of_pair, one, side="right")]
        members = vertices[slice(*np.searchsorted(cluster[vertices], [one, one + 1]))]
        number[members] = np.arange(len(members))
        part = replace(
            problem,
            pairs=number[problem.pairs[pairs]],
            squared=problem.squared[pairs],
            mass=problem.mass[members],
            names=members if problem.names is None else problem.names[members],
        )
        parts.append(Part(members, pairs, part))
    return parts


def _solve_part(part: Part, whole: Problem, solve: Solve, **limits: Any) -> Solution:
    if len(part.problem) == 2:
        return two_points(part.problem)
    try:
        return solve(part.problem, start=None, **limits)
    except InfeasibleLengthsError as error:  # its weights are of this part's pairs
        if error.weights is not None:
            weights = np.zeros(len(whole.pairs))
            weights[part.pairs] = error.weights
            error.weights = weights
        raise


def two_points(problem: Problem) -> Solution:
    """The solution for one pair, in closed form: w = 1 / (1/m₁ + 1/m₂), and in the slack form K = d² (1 + w/C)."""
    mass, squared = problem.mass, float(problem.squared[0])
    tension = 1.0 / float((1.0 / mass).sum())
    if problem.isometry == "slack":
        squared *= 1.0 + tension / problem.stiffness
    coordinates = np.sqrt(squared) * mass[::-1, None] / mass.sum() * [[1.0], [-1.0]]
    certificate = Certificate(
        primal=problem.objective(coordinates),
        upper_bound=problem.bound(np.array([tension]), 1.0),
        max_violation=0.0,
        primal_uncertainty=0.0,
        weights=np.array([tension]),
        pairs=problem.pairs,
    )
    return Solution(coordinates, certificate, True, (), "closed form", 0.0)


def _start(scales: Scales, start: Solution | None) -> Solution | None:
    if start is None:
        return None
    mass = scales.whole.mass
    places = np.stack([np.bincount(scales.cluster, mass * column) for column in start.coordinates.T], axis=1)
    weights = _sums(scales.group, start.certificate.weights[scales.between])
    return replace(
        start,
        coordinates=places / scales.clusters.mass[:, None],
        certificate=replace(start.certificate, weights=weights, pairs=scales.clusters.pairs),
    )


def _together(scales: Scales, places: Floats, inner: list[Floats]) -> Floats:
    """Coordinates of the cluster of each vertex, and within it in further columns; columns by descending variance.

    Columns are not rotated: those within clusters would be lost in the rounding of the others.
    """
    width = max(part.shape[1] for part in inner)
    within = np.zeros((len(scales.whole), width))
    for part, own in zip(scales.parts, inner, strict=True):
        within[part.members, : own.shape[1]] = own
    together = scales.whole.centered(np.column_stack([places[scales.cluster], within]))
    return np.asarray(together[:, np.argsort(-(scales.whole.mass @ together**2), kind="stable")])


def _certificate(scales: Scales, coordinates: Floats, top: Solution, inner: list[Solution]) -> Certificate:
    """The best certificate from the multipliers between clusters and increasing multiples of those within."""
    whole = scales.whole
    weights, within = np.zeros(len(whole.pairs)), np.zeros(len(whole.pairs))
    weights[scales.between] = scales.share * top.certificate.weights[scales.group]
    for part, solution in zip(scales.parts, inner, strict=True):
        within[part.pairs] = solution.certificate.weights
    ends = whole.pairs.ravel()
    hangs = float((np.bincount(ends, np.repeat(np.abs(weights), 2), len(whole)) / whole.mass).max())
    symbolic = Symbolic.of(whole.laplacian(weights))
    best: Certificate | None = None
    for stronger in _STRONGER:
        found = certify(whole, coordinates, weights + stronger * hangs * within, symbolic)
        if best is not None and found.upper_bound > best.upper_bound and np.isfinite(best.upper_bound):
            break
        best = found if best is None or found.upper_bound <= best.upper_bound else best
    assert best is not None
    return best
