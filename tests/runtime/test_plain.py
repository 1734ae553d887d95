"""Plain NumPy in the place of compiled kernels: when, and with the same bits."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.csgraph import connected_components

from gramfold.direct import elimination, factor
from gramfold.direct.elimination import eliminate
from gramfold.direct.factor import Factor, Symbolic, symmetric_factor
from gramfold.direct.superlu import SymmetricLU
from gramfold.errors import SingularFactorError
from gramfold.graph import geodesic, plain_paths, walk_kernels
from gramfold.graph.build import symmetrize
from gramfold.graph.geodesic import all_pairs, stepped, walks_from
from gramfold.graph.min_plus import EliminatedGraph
from gramfold.graph.plain_paths import PlainElimination
from gramfold.neighbors import distance_kernels, plain_distances
from gramfold.runtime import plain
from gramfold.runtime.costs import Costs, GeodesicCosts
from gramfold.runtime.plain import prefer_plain
from gramfold.runtime.progress import SILENT
from gramfold.sdp import feasible_kernels, plain_shorten
from gramfold.types import Graph, Neighbors

seeds = st.integers(0, 10_000)
both_floats = st.sampled_from([np.float32, np.float64])


# --- when


def test_kernels_that_are_loaded_are_used():
    assert not prefer_plain("gramfold.neighbors.distance_kernels", 0.0, 1e9)
    assert not prefer_plain(__name__, 0.0, 1e9) or __name__ not in sys.modules


@pytest.fixture
def unloaded(monkeypatch, tmp_path):
    """The module of a kernel that this process has not loaded, with an empty folder for machine code."""
    monkeypatch.delitem(sys.modules, "gramfold.sdp.feasible_kernels")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(plain, "_spent", {})
    monkeypatch.setattr(plain, "_NUMBA", 0.0)  # which these tests have loaded
    monkeypatch.setattr(plain, "_LOADING", 0.5)
    plain._on_disk.cache_clear()
    yield "gramfold.sdp.feasible_kernels"
    plain._on_disk.cache_clear()


def test_what_would_be_done_before_they_are_compiled_is_plain(unloaded):
    assert prefer_plain(unloaded, 3.4, 3.0)  # half a second to load, and three to compile
    assert not prefer_plain(unloaded, 3.6, 3.0)


def test_a_process_that_has_spent_as_long_loads_them(unloaded):
    assert [prefer_plain(unloaded, 1.0, 3.0) for _ in range(5)] == [True, True, True, False, False]
    assert prefer_plain(unloaded, 0.4, 3.0), "what is shorter may still go on"


def test_work_that_will_be_repeated_is_foreseen(unloaded):
    assert prefer_plain(unloaded, 0.1, 3.0, times=34)
    assert not prefer_plain(unloaded, 0.1, 3.0, times=36)


def test_kernels_on_disk_need_only_be_loaded(unloaded, tmp_path):
    (tmp_path / "sdp_1").mkdir()
    (tmp_path / "sdp_1" / "feasible_kernels.shorten-12.py311.nbi").touch()
    assert prefer_plain(unloaded, 0.4, 3.0)
    assert not prefer_plain(unloaded, 0.6, 3.0)


def test_machine_code_of_other_modules_does_not_count(unloaded, tmp_path):
    (tmp_path / "sdp_1").mkdir()
    (tmp_path / "sdp_1" / "interior_point_kernels.step-12.py311.nbi").touch()
    assert prefer_plain(unloaded, 3.4, 3.0)


def test_a_module_that_is_not_there_is_never_on_disk():
    assert not plain._on_disk("gramfold.no_such_kernels", "")


# --- distances


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(0, 13), st.integers(0, 40), both_floats, st.booleans())
def test_lengths_of_pairs(seed, columns, pairs, dtype, ties):
    rng = np.random.default_rng(seed)
    left, right = (rng.lognormal(0, 4, (9, columns)) * rng.choice([-1, 1], (9, columns)) for _ in range(2))
    if ties:
        left, right = np.round(left % 3), np.round(right % 3)
    left, right = left.astype(dtype), right.astype(dtype)
    i, j = rng.integers(0, 9, (2, pairs))
    compiled, found = np.full(pairs, np.nan), np.full(pairs, np.nan)
    distance_kernels.pair_lengths(left, i, right, j, compiled)
    plain_distances.pair_lengths(left, i, right, j, found)
    np.testing.assert_array_equal(found, compiled)


def test_lengths_of_many_pairs_are_measured_in_blocks(monkeypatch):
    monkeypatch.setattr(plain_distances, "_ENTRIES_PER_BLOCK", 50)
    rng = np.random.default_rng(0)
    rows, (i, j) = rng.standard_normal((30, 7)), rng.integers(0, 30, (2, 200))
    compiled, found = np.empty(200), np.empty(200)
    distance_kernels.pair_lengths(rows, i, rows, j, compiled)
    plain_distances.pair_lengths(rows, i, rows, j, found)
    np.testing.assert_array_equal(found, compiled)


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(0, 12), st.integers(1, 30), both_floats, st.sampled_from([2, 5, 10**6]), st.data())
def test_smallest_of_each_row(seed, rows, columns, dtype, different, data):
    k = data.draw(st.integers(1, columns))
    rng = np.random.default_rng(seed)
    values = rng.integers(0, different, (rows, columns)).astype(dtype)  # many are equal: the first comes first
    values[rng.random(values.shape) < 0.1] = np.inf
    compiled = np.full((rows, k), -1, dtype=np.intp), np.full((rows, k), np.nan, dtype=dtype)
    found = np.full((rows, k), -1, dtype=np.intp), np.full((rows, k), np.nan, dtype=dtype)
    distance_kernels.smallest(values, *compiled)
    plain_distances.smallest(values, *found)
    np.testing.assert_array_equal(found[0], compiled[0])
    np.testing.assert_array_equal(found[1], compiled[1])


def test_smallest_of_rows_that_are_looked_at_in_blocks(monkeypatch):
    values = np.random.default_rng(0).integers(0, 4, (50, 20)).astype(float)
    compiled, found = ((np.empty((50, 5), dtype=np.intp), np.empty((50, 5))) for _ in range(2))
    distance_kernels.smallest(values, *compiled)
    monkeypatch.setattr(plain_distances, "_ENTRIES_PER_BLOCK", 45)
    plain_distances.smallest(values, *found)
    np.testing.assert_array_equal(found, compiled)


# --- graphs


def random_graph(seed: int, n: int, edges: int, *, whole: bool) -> Graph:
    """Of several connected components where edges are few; with `whole` lengths, many sums are equal and some 0."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    i, j = i[i != j], j[i != j]
    lengths = rng.integers(0, 4, len(i)).astype(float) if whole else rng.lognormal(0, 3, len(i))
    neighbors = Neighbors.from_pairs(i, j, lengths, (n, n))
    return Graph(symmetrize(neighbors), neighbors, None, np.ones(n), np.arange(n), np.arange(n))


graphs = st.builds(random_graph, seeds, st.integers(1, 40), st.integers(0, 160), whole=st.booleans())


@settings(max_examples=60, deadline=None)
@given(graphs, st.data())
def test_symbolic_elimination(graph, data):
    n = len(graph)
    of = data.draw(st.one_of(st.none(), st.lists(st.integers(0, n - 1), unique=True).map(sorted).map(np.array)))
    of = None if of is None else of.astype(np.int64)
    found = {}
    for way in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(elimination, "plain_elimination", lambda _, way=way: way)
            whole = eliminate(graph.lengths)
            found[way] = whole.parent, whole.counts, *whole.structure(of)
            fill = int(whole.counts.sum())
            assert eliminate(graph.lengths, fill) is not None
            assert fill == 0 or eliminate(graph.lengths, fill - 1) is None
    for one, other in zip(found[False], found[True], strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@settings(max_examples=60, deadline=None)
@given(graphs, both_floats, st.data())
def test_shortest_paths_by_elimination(graph, dtype, data):
    n = len(graph)
    symbolic = eliminate(graph.lengths)
    compiled = EliminatedGraph.of(graph, symbolic, dtype, SILENT)
    found = PlainElimination.of(graph.lengths, dtype, np.inf)
    np.testing.assert_array_equal(found.symbolic.counts, symbolic.counts)
    np.testing.assert_array_equal(found.symbolic.parent, symbolic.parent)
    expected, other = np.empty((n, n), dtype=dtype), np.empty((n, n), dtype=dtype)
    compiled.all_pairs(expected, 1, SILENT)
    found.all_pairs(other, 1, SILENT)
    np.testing.assert_array_equal(other, expected)
    sources = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6, unique=True)), dtype=np.int32)
    some, same = (np.empty((n, len(sources)), dtype=dtype) for _ in range(2))
    compiled.walks_from(sources, some, 1, SILENT)
    found.walks_from(sources, same, 1, SILENT)
    np.testing.assert_array_equal(same, some)


@settings(max_examples=40, deadline=None)
@given(graphs)
def test_a_fill_that_is_too_large_is_not_made(graph):
    fill = int(eliminate(graph.lengths).counts.sum())
    assert PlainElimination.of(graph.lengths, np.float64, fill) is not None
    assert fill == 0 or PlainElimination.of(graph.lengths, np.float64, fill - 1) is None


WALKED = Costs(geodesics=GeodesicCosts(walked_edge=0.0))


@settings(max_examples=60, deadline=None)
@given(graphs, both_floats, st.sampled_from([Costs(), WALKED]), st.data())
def test_geodesics_whichever_way_they_are_found(graph, dtype, costs, data):
    n = len(graph)
    sources = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6, unique=True)))
    found = {}
    for way in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(geodesic, "plain_paths", lambda *_, way=way: way)
            found[way] = (
                all_pairs(graph, dtype, n_jobs=1, costs=costs),
                walks_from(graph, sources, dtype, n_jobs=1, costs=costs),
            )
    for one, other in zip(found[False], found[True], strict=True):
        np.testing.assert_array_equal(one, other)
    apart = connected_components(graph.lengths, directed=False)[1]
    np.testing.assert_array_equal(np.isfinite(found[True][0]), apart[:, None] == apart)


@settings(max_examples=60, deadline=None)
@given(seeds, st.lists(st.integers(0, 6), max_size=8), st.integers(0, 9), st.booleans())
def test_a_step_before_the_paths(seed, lengths, width, ties):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)  # some lists are empty
    indices = rng.integers(0, 7, indptr[-1])
    walks, steps = rng.lognormal(0, 3, (7, width)), rng.lognormal(0, 3, indptr[-1])
    if ties:
        walks, steps = np.round(walks % 4), np.round(steps % 4)
    walks[rng.random(walks.shape) < 0.2] = np.inf
    compiled, found = (np.full((len(lengths), width), np.nan) for _ in range(2))
    walk_kernels.step_then_walk(indptr, indices, steps, walks, compiled)
    plain_paths.step_then_walk(indptr, indices, steps, walks, found)
    np.testing.assert_array_equal(found, compiled)


def test_rows_without_a_neighbour_are_infinitely_far(monkeypatch):
    nearest = Neighbors(np.array([0, 0, 1]), np.array([1]), np.array([2.0]), 2)
    for way in (False, True):
        monkeypatch.setattr(geodesic, "plain_steps", lambda _, way=way: way)
        np.testing.assert_array_equal(stepped(nearest, np.array([[5.0], [1.0]])), [[np.inf], [9.0]])


# --- semidefinite embedding


@settings(max_examples=60, deadline=None)
@given(seeds, st.integers(2, 25), st.integers(1, 5), st.integers(0, 60), st.integers(0, 12))
def test_shortened_pairs(seed, n, rank, pairs, sweeps):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, rank))
    first, second = rng.integers(0, n, (2, pairs))
    first, second = first[first != second], second[first != second]
    lengths = rng.uniform(0.1, 2.0, len(first))
    compiled, found = points.copy(), points.copy()
    feasible_kernels.shorten(compiled, first, second, lengths, np.empty_like(points), np.empty((n, 2)), 1e-3, sweeps)
    plain_shorten.shorten(found, first, second, lengths, 1e-3, sweeps)
    np.testing.assert_array_equal(found, compiled)


def symmetric(n: int, edges: int, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    dense = np.zeros((n, n))
    i, j = rng.integers(0, n, (2, edges))
    dense[i, j] = rng.standard_normal(edges)
    dense = dense + dense.T
    np.fill_diagonal(dense, (np.abs(dense).sum(axis=1) + 1) * rng.choice([-1.0, 1.0], n))
    return csr_array(dense)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(0, 200), seeds, st.integers(1, 4))
def test_superlu_solves_and_counts_signs_as_numpy_does(n, edges, seed, columns):
    A = symmetric(n, edges, seed)
    wanted = np.random.default_rng(seed).standard_normal((n, columns))
    for order in (np.arange(n), np.random.default_rng(seed).permutation(n)):
        found = SymmetricLU(A, order)
        assert found.negative == (np.linalg.eigvalsh(A.toarray()) < 0).sum()
        np.testing.assert_allclose(found.solve(A @ wanted), wanted, atol=1e-10)
        turned = found.in_order()
        np.testing.assert_allclose(turned.solve((A @ wanted)[order]), wanted[order], atol=1e-10)


def grid(side: int) -> csr_array:
    line = csr_array(2.0 * eye_array(side) - eye_array(side, k=1) - eye_array(side, k=-1))
    return csr_array(kron(line, eye_array(side)) + kron(eye_array(side), line))


@pytest.mark.parametrize("shift", [-1.0, 0.5, 2.0001, 3.99, 7.0, 9.0])
def test_superlu_counts_the_eigenvalues_below_a_shift(shift):
    A = csr_array(grid(12) - shift * eye_array(144))
    symbolic = Symbolic.of(A)
    below = int((np.linalg.eigvalsh(A.toarray()) < 0).sum())
    assert SymmetricLU(A, symbolic.order).negative == Factor.of(A, symbolic).negative == below


def test_a_pivot_of_zero_is_told():
    A = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))  # not singular, but without pivots on its diagonal
    with pytest.raises(SingularFactorError, match="singular"):
        SymmetricLU(A, np.arange(2))
    with pytest.raises(SingularFactorError, match="singular"):
        SymmetricLU(csr_array(np.array([[1.0, 1.0], [1.0, 1.0]])), np.arange(2))


def test_the_factor_of_a_process_that_has_compiled_nothing(monkeypatch):
    A, asked = grid(10), []
    symbolic = Symbolic.of(A)
    assert isinstance(symmetric_factor(A, symbolic, 10), Factor)

    def record(module, seconds, compiling, times):
        asked.append((module, seconds * times, compiling))
        return True

    monkeypatch.setattr(factor, "prefer_plain", record)
    found = symmetric_factor(A, symbolic, 10)
    assert isinstance(found, SymmetricLU)
    ((module, seconds, compiling),) = asked
    assert module == "gramfold.direct.factor_kernels"
    assert 0 < seconds < compiling
    wanted = np.random.default_rng(0).standard_normal((100, 3))
    np.testing.assert_allclose(found.solve(A @ wanted), Factor.of(A, symbolic).solve(A @ wanted), atol=1e-12)
