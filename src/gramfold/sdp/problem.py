"""The semidefinite program of maximum variance unfolding.

    max tr M K   over   K ⪰ 0,  Σ_ij m_i m_j K_ij = 0,   and for each kept pair e = (i, j), K_e = K_ii + K_jj − 2 K_ij:

    "exact"          K_e = d_e²
    "nonexpansive"   K_e ≤ d_e²
    "slack"          any K_e, penalised: the objective is  tr M K − (C/2) Σ_e (K_e − d_e²)² / d_e²

M = diag(m): a vertex of m duplicate rows counts m times. K = Y Yᵀ is stored as its factor Y, with the coordinates of
vertex i in row i. K_e = |y_i − y_j|², and Σ_e w_e K_e = tr L(w) K with the Laplacian L(w) = Σ_e w_e b_e b_eᵀ,
b_e = e_i − e_j.

Weinberger, Sha, Saul, ICML 2004.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from gramfold.errors import InfeasibleLengthsError, InputError, UnboundedProblemError
from gramfold.types import Floats, Integers

Isometry = Literal["nonexpansive", "exact", "slack"]
# A pair this much longer than the shortest path between its ends breaks the triangle inequality; less is rounding.
_TRIANGLE = 1e-9
_LARGEST = 1e150  # squares of larger distances overflow, of those below its inverse vanish


@dataclass(frozen=True)
class Problem:
    """A connected graph with lengths, and how strictly they are kept."""

    pairs: Integers  # (m, 2) kept pairs, each once
    squared: Floats  # (m,) d_e² > 0
    mass: Floats  # (n,) m_i > 0
    isometry: Isometry = "nonexpansive"
    stiffness: float = 100.0  # C of "slack"
    names: Integers | None = None  # (n,) the data row of each vertex, for messages; None: the vertices themselves

    @classmethod
    def of(
        cls,
        pairs: Any,
        distances: Any,
        *,
        mass: Any = None,
        isometry: Isometry = "nonexpansive",
        stiffness: float = 100.0,
        names: Any = None,
    ) -> Self:
        """Check the graph and make the problem; its vertices are 0 … n − 1, with n = len(mass) or by the pairs."""
        pairs, distances = np.asarray(pairs), np.asarray(distances, dtype=np.float64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or distances.shape != (len(pairs),):
            raise InputError(
                f"pairs have shape {pairs.shape} and distances {distances.shape}: pass an array of vertex indices of "
                "shape (m, 2), with m >= 1, and their distances of shape (m,)."
            )
        if isometry not in get_args(Isometry):
            raise InputError(f"isometry={isometry!r} is unknown: use one of {', '.join(get_args(Isometry))}.")
        pairs = np.sort(pairs.astype(np.int64), axis=1)
        n = int(pairs.max()) + 1 if mass is None else len(mass)
        mass = np.ones(n) if mass is None else np.asarray(mass, dtype=np.float64)
        _check(pairs, distances, mass, np.arange(n) if names is None else names)
        problem = cls(pairs, distances**2, mass, isometry, float(stiffness), names)
        problem.check_connected()
        if isometry == "exact":
            problem.check_triangles()
        return problem

    def __len__(self) -> int:
        return len(self.mass)

    def check_connected(self) -> None:
        """Raise an error if the graph is not connected, where the variance has no maximum."""
        count, piece = connected_components(self._graph(self.squared), directed=False)
        if count > 1:
            other = int(np.argmax(piece != piece[0]))
            raise UnboundedProblemError(
                f"the graph has {count} connected components (no path joins vertices {self.name(0)} and "
                f"{self.name(other)}), which can move apart without limit, so that the variance has no maximum: add "
                "pairs between the components, or solve each of them separately."
            )

    def check_triangles(self) -> None:
        """Raise an error if a pair is longer than the shortest path between its ends."""
        graph = self._graph(np.sqrt(self.squared))
        starts = np.unique(self.pairs[:, 0])
        place = np.searchsorted(starts, self.pairs[:, 0])
        # a path longer than the longest pair cannot contradict any pair
        for part in np.array_split(np.arange(len(starts)), max(1, len(starts) * len(self) // 10_000_000)):
            walks = dijkstra(graph, directed=False, indices=starts[part], limit=float(np.sqrt(self.squared.max())))
            mine = np.flatnonzero((place >= part[0]) & (place <= part[-1]))
            shortest = walks[place[mine] - part[0], self.pairs[mine, 1]]
            excess = np.sqrt(self.squared[mine]) / np.maximum(shortest, 1e-300)
            worst = int(np.argmax(excess))
            if excess[worst] > 1.0 + _TRIANGLE:
                i, j = self.pairs[mine[worst]]
                pair = f"({self.name(i)}, {self.name(j)})"
                raise InfeasibleLengthsError(
                    f"the distance {np.sqrt(self.squared[mine[worst]]):.6g} of pair {pair} is larger than the length "
                    f"{shortest[worst]:.6g} of a path along other pairs, so no points have these distances (triangle "
                    'inequality): correct the distances, or use isometry="nonexpansive" or "slack".'
                )

    def name(self, vertex: int) -> int:
        """The number of a vertex in messages."""
        return int(vertex if self.names is None else self.names[vertex])

    def _graph(self, values: Floats) -> csr_array:
        return csr_array(coo_array((values, (self.pairs[:, 0], self.pairs[:, 1])), shape=(len(self), len(self))))

    # --- what every solver and the certificate read

    def centered(self, coordinates: Floats) -> Floats:
        """Y with its centre of mass at the origin."""
        return np.asarray(coordinates - (self.mass @ coordinates) / self.mass.sum())

    def squared_lengths(self, coordinates: Floats) -> Floats:
        """K_e of each pair."""
        differences = coordinates[self.pairs[:, 0]] - coordinates[self.pairs[:, 1]]
        return np.asarray(np.einsum("ec,ec->e", differences, differences))

    def laplacian(self, weights: Floats) -> csr_array:
        """L(w)."""
        i, j = self.pairs.T
        n = len(self)
        values = np.concatenate([-weights, -weights, np.bincount(i, weights, n) + np.bincount(j, weights, n)])
        rows, columns = np.concatenate([i, j, np.arange(n)]), np.concatenate([j, i, np.arange(n)])
        return csr_array(coo_array((values, (rows, columns)), shape=(n, n)))

    def variance(self, coordinates: Floats) -> float:
        """Tr M K of a centred Y."""
        return float(self.mass @ np.einsum("ic,ic->i", coordinates, coordinates))

    def objective(self, coordinates: Floats) -> float:
        """The objective of a centred Y."""
        value = self.variance(coordinates)
        if self.isometry == "slack":
            strain = self.squared_lengths(coordinates) / self.squared - 1.0
            value -= 0.5 * self.stiffness * float(self.squared @ strain**2)
        return value

    def multipliers(self, weights: Floats, least: float) -> Floats:
        """Multipliers v with L(v) ⪰ M on centred vectors from those with L(w) ⪰ least · M; w as it is where least ≤ 0.

        v = w / least; more of them will do too, which in the slack form may be better: Σ v d² + v² d²/2C need not grow.
        """
        if least <= 0:
            return weights
        size = float(weights**2 @ self.squared)
        if self.isometry != "slack" or size == 0:
            return weights / least
        return weights * max(1.0 / least, -self.stiffness * float(weights @ self.squared) / size)

    def bound(self, weights: Floats, least: float) -> float:
        """Upper bound of the optimum from multipliers whose L(w) ⪰ least · (M − m mᵀ/Σm).

        With their v, L(v) ⪰ M on centred vectors, so tr M K ≤ Σ v_e K_e for every centred K ⪰ 0, and

            K_e = d_e² (or ≤ d_e², v ≥ 0)   ⇒   tr M K ≤ Σ v_e d_e²
            slack:  tr M K − (C/2) Σ (K_e − d_e²)²/d_e² ≤ Σ max_k [v_e k − (C/2)(k − d_e²)²/d_e²]
                                                         = Σ v_e d_e² + v_e² d_e²/2C
        """
        if least <= 0:
            return float("inf")
        scaled = self.multipliers(weights, least)
        value = float(scaled @ self.squared)
        return value + float(scaled**2 @ self.squared) / (2.0 * self.stiffness) if self.isometry == "slack" else value


def gap_between(primal: float, bound: float) -> float:
    """1 − primal / bound, relative to |bound|: in the slack form both may be negative."""
    return 1.0 if np.isinf(bound) else (bound - primal) / max(abs(bound), np.finfo(float).tiny)


@dataclass(frozen=True, repr=False)
class Certificate:
    """Proved bounds on the optimum for a kernel; see `certify`."""

    primal: float  # objective of the returned kernel
    upper_bound: float  # no feasible kernel has more
    max_violation: float  # largest |√K_e / d_e − 1| that is not allowed: 0 where the pair may be shorter and is
    primal_uncertainty: float  # "exact": Σ |w_e| |K_e − d_e²|, what the violation is worth; else 0
    weights: Floats  # (m,) multiplier of each pair
    pairs: Integers  # (m, 2)

    def __repr__(self) -> str:
        numbers = f"gap {self.gap:.1e}, largest violation {self.max_violation:.1e}"
        return f"Certificate({len(self.pairs):,} pairs, {numbers})"

    @property
    def gap(self) -> float:
        """1 − primal / upper_bound."""
        return gap_between(self.primal, self.upper_bound)


@dataclass(frozen=True)
class Step:
    """Report of one iteration."""

    iteration: int
    seconds: float
    primal: float
    upper_bound: float
    words: str = ""  # further values, for the progress report

    @property
    def gap(self) -> float:
        """1 − primal / upper_bound, of the best so far."""
        return gap_between(self.primal, self.upper_bound)


Listener = Callable[[Step], None]


@dataclass(frozen=True, repr=False)
class Solution:
    """A kernel K = Y Yᵀ, its certificate, and how it was found."""

    coordinates: Floats  # (n, r) Y, centred, by falling variance
    certificate: Certificate
    converged: bool  # whether the gap that was asked for is certified
    steps: tuple[Step, ...]
    solver: str
    seconds: float
    stalled: bool = False  # whether it ended because there was no progress any more

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"Solution({len(self.coordinates):,} rows, {self.solver}, {len(self.steps)} iterations, {state})"


def by_variance(coordinates: Floats, mass: Floats) -> Floats:
    """Y rotated so that its columns are uncorrelated and of descending variance; K stays the same."""
    root = np.sqrt(mass)[:, None]
    values, turn = np.linalg.eigh((coordinates * root).T @ (coordinates * root))
    order = np.argsort(values)[::-1]
    return np.asarray(coordinates @ turn[:, order])


def _check(pairs: Integers, distances: Floats, mass: Floats, names: Integers) -> None:
    n = len(mass)
    if pairs.min() < 0 or pairs.max() >= n:
        raise InputError(
            f"a pair has vertex {pairs.max() if pairs.max() >= n else pairs.min()}, but there are {n} vertices: use "
            f"indices from 0 to {n - 1}."
        )
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InputError(
            f"vertex {pairs[np.argmax(pairs[:, 0] == pairs[:, 1]), 0]} is paired with itself: remove this pair."
        )
    usable = (distances >= 1.0 / _LARGEST) & (distances <= _LARGEST)
    if not usable.all():
        worst = int(np.argmin(usable))
        change = "multiply all by a constant" if distances[worst] > 0 else "merge vertices at distance 0 into one"
        raise InputError(
            f"the distance of pair {tuple(names[pairs[worst]].tolist())} is {distances[worst]:g}, but distances must "
            f"be positive, between {1.0 / _LARGEST:g} and {_LARGEST:g} so that they can be squared: {change}."
        )
    if not (np.isfinite(mass).all() and (mass > 0).all()):
        raise InputError(
            "mass must be positive and finite for every vertex: pass the number of rows of each vertex, or None if all "
            "have the same."
        )
    keys = np.sort(pairs[:, 0] * n + pairs[:, 1])
    if (keys[1:] == keys[:-1]).any():
        key = int(keys[1:][keys[1:] == keys[:-1]][0])
        raise InputError(f"pair ({key // n}, {key % n}) is given twice: keep one of its distances.")
