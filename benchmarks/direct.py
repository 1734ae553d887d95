"""The sparse factor and its nested dissection against those of other packages, on the graphs that fits meet.

Factors: of the Laplacian of a neighbour graph, shifted to be positive definite, and of the Newton matrix of a
semidefinite embedding, whose values are made up. Orders: seconds, and the multiplications of a factor in them.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.sparse import bsr_array, coo_array, csr_array, eye_array

from benchmarks.data import digits, fashion_mnist, ocean, usps
from benchmarks.direct_peers import PEERS, Peer
from benchmarks.timing import Race, race
from gramfold.datasets import make_swiss_roll
from gramfold.direct.dissection import Dissection
from gramfold.direct.elimination import Elimination, eliminate
from gramfold.direct.factor import Factor, Symbolic, without_diagonal
from gramfold.direct.fill_reducing import metis, minimum_degree
from gramfold.direct.permutation import renumbered
from gramfold.graph.build import symmetrize
from gramfold.graph.laplacian import laplacian
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import exact_index

_K = 10
_SHIFT = 1e-3  # of the mean diagonal: positive definite
_RANK = 4  # of a semidefinite embedding of 10,000 rows
_SIDES = 8
_MOST_FILL = 3e8  # entries of a factor that memory holds beside a peer's
_MOST_MMD = 2e9  # multiplications of SuperLU's factor, which its order costs
_THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)

Rows = Callable[[], "np.ndarray | None"]


def _roll(n: int) -> np.ndarray:
    return make_swiss_roll(n, random_state=0).points


def _cube(n: int) -> np.ndarray:
    return np.random.default_rng(0).random((n, 3))


_TABLES: dict[str, Rows] = {
    "roll10k": partial(_roll, 10_000),
    "roll100k": partial(_roll, 100_000),
    "digits": partial(digits, 1_797),
    "usps": partial(usps, 9_298),
    "fashion": partial(fashion_mnist, 10_000),
    "cube60k": partial(_cube, 60_000),
    "ocean200k": partial(ocean, 200_000),
    "roll1m": partial(_roll, 1_000_000),
}
_USUAL = tuple(name for name in _TABLES if name != "roll1m")


def races(*only: str) -> Iterator[Race]:
    """Factors, then orders; of all graphs but the largest, or of those named."""
    yield from factors(*only)
    yield from orders(*only)


def quick() -> Iterator[Race]:
    """A small sheet, and pictures."""
    yield from races("roll10k", "digits")


def million() -> Iterator[Race]:
    """A roll of a million rows."""
    yield from races("roll1m")


def factors(*only: str) -> Iterator[Race]:
    """Order, factor and solutions of each matrix, beside each peer."""
    for name in only or (*_USUAL, "sde10k"):
        matrix = _newton(_roll(10_000)) if name == "sde10k" else _shifted(name)
        if matrix is None:
            yield Race(f"factor of {name}: the data are absent", [], [], "none")
        else:
            yield from _factor_races(name, matrix, _RANK if name == "sde10k" else 1)


def orders(*only: str) -> Iterator[Race]:
    """Nested dissection beside METIS and minimum degree."""
    for name in only or _USUAL:
        graph = _graph(name) if name in _TABLES else None
        if graph is None:
            yield Race(f"order of {name}: the data are absent", [], [], "none")
        else:
            yield from _order_races(name, without_diagonal(graph))


def _graph(name: str) -> csr_array | None:
    X = _TABLES[name]()
    if X is None:
        return None
    edges = symmetrize(exact_index(X, make_metric("euclidean", None, X), _THREADS).own(_K, None))
    return csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)


def _shifted(name: str) -> csr_array | None:
    weights = _graph(name)
    if weights is None:
        return None
    L = laplacian(weights)
    return csr_array(L + _SHIFT * L.diagonal().mean() * eye_array(L.shape[0]))


def _newton(X: np.ndarray) -> csr_array:
    """(L(v) + shift) ⊗ I + Σ over edges of 2 v/s (b ⊗ D)(b ⊗ D)ᵀ, vertex by vertex, with weights and slacks made up."""
    edges = coo_array(symmetrize(exact_index(X, make_metric("euclidean", None, X), _THREADS).own(4, None)))
    once = edges.row < edges.col
    i, j = edges.row[once], edges.col[once]
    n, m, rng = len(X), len(i), np.random.default_rng(0)
    D = rng.standard_normal((m, _RANK))
    v, s = rng.exponential(size=m), rng.exponential(size=m) + 0.1
    forms = (2 * v / s)[:, None, None] * D[:, :, None] * D[:, None, :] + v[:, None, None] * np.eye(_RANK)
    ends = np.zeros((n, _RANK, _RANK))
    np.add.at(ends, i, forms)
    np.add.at(ends, j, forms)
    ends += _SHIFT * ends.trace(axis1=1, axis2=2).mean() / _RANK * np.eye(_RANK)
    rows, columns = np.concatenate([np.arange(n), i, j]), np.concatenate([np.arange(n), j, i])
    blocks = np.concatenate([ends, -forms, -forms])
    turn = np.lexsort((columns, rows))
    start = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n))))
    return csr_array(bsr_array((blocks[turn], columns[turn], start), shape=(n * _RANK, n * _RANK)).tocsr())


def _symbolic(matrix: csr_array, block: int) -> Symbolic:
    """Of blocks of this size, as a fit does it: the order is that of the vertices."""
    if block == 1:
        return Symbolic.of(matrix, _THREADS)
    blocks = bsr_array(matrix, blocksize=(block, block))
    n = matrix.shape[0] // block
    pattern = csr_array((np.ones(len(blocks.indices)), blocks.indices, blocks.indptr), shape=(n, n))
    return Symbolic.of(pattern, _THREADS).blocks(block)


def _factor_races(name: str, matrix: csr_array, block: int) -> Iterator[Race]:
    symbolic = _symbolic(matrix, block)
    n, work = matrix.shape[0], float(symbolic.operations.sum())
    told = f"{name} ({n:,} rows, {symbolic.entries:.2g} entries, {work:.1g} multiplications, {_THREADS} thread(s))"
    if symbolic.entries > _MOST_FILL:
        yield Race(f"{told}: left out, the factor is too large", [], [], "none")
        return
    right = np.random.default_rng(0).standard_normal((n, _SIDES))
    for peer in PEERS:
        if not peer.installed():
            yield Race(f"{told}, {peer.name}: absent", [], [], "none")
        elif work > peer.most:
            yield Race(f"{told}, {peer.name}: left out, it would take minutes", [], [], "none")
        else:
            yield from _beside(told, matrix, symbolic, peer, right, block)


def _beside(
    told: str, matrix: csr_array, symbolic: Symbolic, kind: type[Peer], right: np.ndarray, block: int
) -> Iterator[Race]:
    peer = kind(matrix)
    runs = 5 if symbolic.operations.sum() < 1e10 and len(right) <= 100_000 else 3
    made: list[Factor] = []

    def order() -> Symbolic:
        return _symbolic(matrix, block)

    def factor() -> None:
        made[:] = [Factor.of(matrix, symbolic, _THREADS)]

    def both() -> None:
        made[:] = [Factor.of(matrix, order(), _THREADS)]

    def solve() -> np.ndarray:
        return made[0].solve(right, _THREADS)

    steps = [(kind.order_told, order, peer.order), ("factor", factor, peer.factor)]
    if not kind.orders:
        steps = [("order and factor", both, peer.factor)]
    timed = []
    for step, ours, theirs in steps:
        timed.append(race(f"{told}, {step} (peer: {kind.name})", ours, theirs, target="≥ 1.0x", runs=runs, cpu=True))
        yield timed[-1]
    for whose, solved in (("ours", solve()), (kind.name, peer.solve(right))):
        if np.abs(matrix @ solved - right).max() > 1e-6 * np.abs(right).max():
            raise RuntimeError(f"{told}: {whose} does not solve the system.")
    job = f"{told}, {_SIDES} solutions (peer: {kind.name})"
    timed.append(race(job, solve, lambda: peer.solve(right), target="≥ 1.0x", runs=runs, cpu=True))
    yield timed[-1]
    yield _together(f"{told}, all steps (peer: {kind.name})", timed)


def _together(job: str, steps: list[Race]) -> Race:
    def sums(runs: Iterable[list[float]]) -> list[float]:
        return [sum(seconds) for seconds in zip(*runs, strict=True)]

    cpu = sums(step.cpu[0] for step in steps), sums(step.cpu[1] for step in steps)
    return Race(job, sums(step.ours for step in steps), sums(step.peer for step in steps), "≥ 0.67x", cpu=cpu)


def _order_races(name: str, graph: csr_array) -> Iterator[Race]:
    ours = partial(_dissected, graph)
    found = _elimination(graph, ours())
    for peer, order in _orders(graph, found):
        if order is None:
            yield Race(f"order of {name} (peer: {peer})", [], [], "none")
            continue
        theirs = _elimination(graph, order())
        ratio = theirs.operations / found.operations
        job = (
            f"dissection of {name} ({graph.shape[0]:,} rows, {_THREADS} thread(s)), "
            f"{found.operations:.2g} multiplications (peer: {peer}, {theirs.operations:.2g}: {ratio:.2f} of ours)"
        )
        yield race(job, ours, order, target="none", cpu=True)


def _dissected(graph: csr_array) -> np.ndarray:
    order = Dissection(graph).finish(_THREADS)
    assert order is not None  # it gives up only where it is told how wide a separator may be
    return order


def _elimination(graph: csr_array, order: np.ndarray) -> Elimination:
    found = eliminate(renumbered(graph, order))
    assert found is not None  # without a limit
    return found


def _orders(graph: csr_array, ours: Elimination) -> Iterator[tuple[str, Callable[[], np.ndarray] | None]]:
    if find_spec("pymetis") is None:
        yield "METIS, absent", None
    else:
        yield "METIS", lambda: metis(graph.indptr, graph.indices)
    if ours.operations > _MOST_MMD:
        yield "SuperLU's minimum degree, left out: it factors too, for minutes", None
    else:
        yield "SuperLU's minimum degree, its factor included", lambda: minimum_degree(graph)
    if find_spec("cvxopt") is None:
        yield "AMD of cvxopt, absent", None
    else:
        yield "AMD of cvxopt", partial(_amd, graph)


def _amd(graph: csr_array) -> np.ndarray:
    import cvxopt
    import cvxopt.amd

    edges = coo_array(graph + eye_array(graph.shape[0]))
    given = cvxopt.spmatrix(1.0, edges.row.astype(int), edges.col.astype(int), graph.shape)
    return np.array(cvxopt.amd.order(given), dtype=np.intp).ravel()
