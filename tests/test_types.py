"""What flows between the rooms, against plain lists and plain matrices."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gramfold.types import Graph, Kernel, NegativePart, Neighbors, Spectrum

N_VERTICES = 6
LENGTHS = st.sampled_from([0.0, 0.5, 1.0, 2.0])  # few, so that ties are many
ROWS = st.lists(st.lists(st.tuples(LENGTHS, st.integers(0, N_VERTICES - 1)), max_size=7), max_size=6)


def from_plain(lists):
    """Neighbors from lists of (distance, vertex), in a scrambled order."""
    pairs = [(i, j, d) for i, row in enumerate(lists) for d, j in row]
    pairs = pairs[1::2] + pairs[::2]
    i, j, d = zip(*pairs, strict=True) if pairs else ((), (), ())
    return Neighbors.from_pairs(
        np.array(i, dtype=int), np.array(j, dtype=int), np.array(d, dtype=float), (len(lists), N_VERTICES)
    )


def to_plain(neighbors):
    bounds = list(zip(neighbors.indptr[:-1], neighbors.indptr[1:], strict=True))
    return [
        list(zip(neighbors.distances[a:b].tolist(), neighbors.indices[a:b].tolist(), strict=True)) for a, b in bounds
    ]


def shortest_once(row):
    shortest = {}
    for d, j in row:
        shortest[j] = min(d, shortest.get(j, d))
    return sorted((d, j) for j, d in shortest.items())


@settings(deadline=None)
@given(ROWS)
def test_pairs_become_sorted_lists_without_repeats(lists):
    neighbors, truth = from_plain(lists), [shortest_once(row) for row in lists]
    assert to_plain(neighbors) == truth
    assert len(neighbors) == len(lists)
    assert neighbors.n_vertices == N_VERTICES
    assert neighbors.counts.tolist() == [len(row) for row in truth]
    assert neighbors.rows.tolist() == [i for i, row in enumerate(truth) for _ in row]
    assert neighbors.nearest.tolist() == [row[0][1] if row else -1 for row in truth]
    assert neighbors.farthest.tolist() == [row[-1][0] if row else 0.0 for row in truth]


@settings(deadline=None)
@given(ROWS, st.data())
def test_keep(lists, data):
    neighbors = from_plain(lists)
    total = len(neighbors.indices)
    mask = data.draw(st.lists(st.booleans(), min_size=total, max_size=total))
    flags = iter(mask)
    truth = [[pair for pair in row if next(flags)] for row in to_plain(neighbors)]
    kept = neighbors.keep(np.array(mask, dtype=bool))
    assert to_plain(kept) == truth
    assert kept.rows.tolist() == [i for i, row in enumerate(truth) for _ in row]


@settings(deadline=None)
@given(ROWS.filter(bool), st.data())
def test_take(lists, data):
    neighbors = from_plain(lists)
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=8))  # in any order, repeated or not
    plain = to_plain(neighbors)
    assert to_plain(neighbors.take(np.array(rows, dtype=int))) == [plain[i] for i in rows]


@settings(deadline=None)
@given(ROWS, st.permutations(range(10, 10 + N_VERTICES)))
def test_renumber(lists, number):
    neighbors = from_plain(lists)
    renamed = neighbors.renumber(np.array(number), 20)
    assert to_plain(renamed) == [[(d, number[j]) for d, j in row] for row in to_plain(neighbors)]
    assert renamed.n_vertices == 20


@settings(deadline=None)
@given(st.integers(0, 5), st.integers(0, 4))
def test_equal_lists(m, k):
    indices = np.arange(m * k).reshape(m, k) % N_VERTICES
    distances = np.sort(np.linspace(0, 1, m * k).reshape(m, k), axis=1)
    neighbors = Neighbors.from_lists(indices, distances, N_VERTICES)
    assert len(neighbors) == m
    assert to_plain(neighbors) == [
        list(zip(d, j, strict=True)) for d, j in zip(distances.tolist(), indices.tolist(), strict=True)
    ]


def test_recall_survives_a_selection_and_nothing_can_be_set():
    neighbors = Neighbors(np.array([0, 1, 2]), np.array([1, 0]), np.array([1.0, 2.0]), 2, recall=0.9)
    assert neighbors.keep(np.array([True, False])).recall == 0.9
    assert neighbors.take(np.array([1])).recall == 0.9
    with pytest.raises(FrozenInstanceError):
        neighbors.recall = 1.0


def test_an_edge_of_length_zero_is_an_edge():
    lengths = csr_array(([0.0, 0.0, 1.0, 1.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    lists = Neighbors.from_lists(np.array([[1], [0], [1]]), np.array([[0.0], [0.0], [1.0]]), 3)
    graph = Graph(lengths, lists, None, np.ones(3), np.arange(3), np.arange(3))
    assert graph.n_edges == 2
    assert len(graph) == 3
    assert graph.bridges.tolist() == []


def test_a_spectrum_is_as_long_as_its_eigenvalues():
    assert len(Spectrum(np.array([2.0, 1.0]), np.eye(3)[:, :2], np.zeros(2), "dense", 0.0)) == 2


def negative(mass, total, ends=None):
    return NegativePart(most_negative=-1.0, mass=mass, interval=ends or (mass, mass), total=total)


@pytest.mark.parametrize(
    "every", [[6.0, 3.0, 1.0, -1.0, -2.0], [3.0, 1.0, 4.0], [5.0, -4.9], [0.0, 0.0]], ids=["some", "none", "much", "0"]
)
def test_the_positive_eigenvalues_follow_from_the_trace_and_the_negative_share(every):
    every = np.array(every)
    size = np.abs(every).sum()
    found = negative(-every[every < 0].sum() / size if size else 0.0, every.sum())
    assert found.positive_total == pytest.approx(every[every > 0].sum(), rel=1e-12)


def test_where_half_is_negative_the_positive_sum_is_not_made_up():
    assert negative(0.5, 0.0).positive_total == 0.0  # P = N, of any size
    assert negative(0.6, -2.0).positive_total == 0.0
    assert negative(0.5, 1e-17).positive_total == 1e-17  # a trace that rounding left


def test_only_an_interval_of_no_length_is_exact():
    assert negative(0.1, 1.0).exact
    assert not negative(0.1, 1.0, (0.05, 0.1)).exact
    assert not negative(0.1, 1.0, (0.1, 0.2)).exact


# --- the kernel that a user sees


class Dense(Kernel):
    """A Gram matrix over vertices, some of which stand for several data rows."""

    kind = "gram"
    exponent = 0.5

    def __init__(self, points, rows):
        self.gram = points @ points.T
        self.rows = rows
        self.mass = np.bincount(rows).astype(float)
        self.null = np.empty((len(points), 0))

    def product(self, vectors):
        return self.gram @ vectors

    def matrix(self):
        return self.gram


POINTS = np.random.default_rng(0).normal(size=(4, 3))
OF_ROW = np.array([0, 1, 0, 2, 3, 3, 3])
KERNEL = Dense(POINTS, OF_ROW)
DATA = POINTS[OF_ROW]  # the data rows that the vertices stand for


def test_the_gram_matrix_is_over_the_data_rows():
    assert KERNEL.shape == (7, 7)
    np.testing.assert_allclose(KERNEL.dense(), DATA @ DATA.T, atol=1e-14)


@pytest.mark.parametrize("shape", [(7,), (7, 1), (7, 3)])
def test_products_are_those_of_the_whole_matrix(shape):
    vectors = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_allclose(KERNEL @ vectors, DATA @ DATA.T @ vectors, atol=1e-13)
    # whole numbers and float32 are multiplied in float64
    np.testing.assert_allclose(
        KERNEL @ vectors.astype(np.float32), DATA @ DATA.T @ vectors.astype(np.float32), atol=1e-12
    )


def test_columns():
    wanted = np.array([5, 0, 2, 2])
    np.testing.assert_allclose(KERNEL.columns(wanted), (DATA @ DATA.T)[:, wanted], atol=1e-14)


@pytest.mark.parametrize("rows", [3, [3], np.array([6, 0, 2]), [0, 0]])
@pytest.mark.parametrize("columns", [None, 1, [4, 4, 1], np.arange(7)])
def test_feature_space_distances_are_those_of_the_points(rows, columns):
    picked = DATA[np.atleast_1d(rows)]
    others = DATA if columns is None else DATA[np.atleast_1d(columns)]
    truth = ((picked[:, None] - others[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(KERNEL.squared_distances(rows, columns), truth, atol=1e-12)


def test_some_of_a_spectrum():
    whole = Spectrum(
        np.array([4.0, 2.0, 1.0]),
        np.eye(5)[:, :3],
        np.array([1e-9, 2e-9, 3e-9]),
        "dense",
        0.5,
        penalties=np.array([0.25, 0.5, 1.0]),
        novelty=np.array([1.0, 0.1, 0.9]),
    )
    part = whole.take(np.array([0, 2]))
    assert part.eigenvalues.tolist() == [4.0, 1.0]
    np.testing.assert_array_equal(part.eigenvectors, np.eye(5)[:, [0, 2]])
    assert part.residuals.tolist() == [1e-9, 3e-9]
    assert part.penalties.tolist() == [0.25, 1.0]
    assert part.novelty.tolist() == [1.0, 0.9]
    assert part.taken.tolist() == [0, 2]
    assert part.solver == "dense"
    assert whole.taken is None
