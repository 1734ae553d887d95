"""Lists of neighbours become a symmetric graph."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gramfold.graph.build import build_graph, subgraph, symmetrize
from gramfold.types import Neighbors

ABSENT = -1.0
STEPS = st.sampled_from([0.0, -0.0, 5e-324, 0.5, 1.0, 1.0 + 2**-52, 3.0, 1e300])


@st.composite
def chosen(draw: st.DrawFn) -> np.ndarray:
    """A matrix of directed lengths, ABSENT where there is no choice."""
    n = draw(st.integers(2, 7))
    entries = draw(st.lists(st.one_of(st.just(ABSENT), STEPS), min_size=n * n, max_size=n * n))
    table = np.array(entries).reshape(n, n)
    np.fill_diagonal(table, ABSENT)
    return table


def lists(table: np.ndarray) -> Neighbors:
    rows, columns = np.nonzero(table >= 0)
    return Neighbors.from_pairs(rows, columns, table[rows, columns], table.shape)


def plain(table: np.ndarray) -> np.ndarray:
    n = len(table)
    out = np.full((n, n), ABSENT)
    for i in range(n):
        for j in range(n):
            both = [length for length in (table[i, j], table[j, i]) if length >= 0]
            if both:
                out[i, j] = min(both)
    return out


def stored(lengths: object) -> np.ndarray:
    coo = lengths.tocoo()  # type: ignore[attr-defined]
    out = np.full(coo.shape, ABSENT)
    out[coo.row, coo.col] = coo.data
    assert len(coo.data) == (out >= 0).sum()  # nothing stored twice
    return out


@given(chosen())
def test_an_edge_wherever_either_end_chose_the_other_and_the_shorter_length(table: np.ndarray) -> None:
    np.testing.assert_array_equal(stored(symmetrize(lists(table))), plain(table))


@given(chosen(), st.randoms(use_true_random=False))
def test_subgraph_is_the_part_of_the_dense_matrix(table: np.ndarray, random: object) -> None:
    n = len(table)
    members = np.array(sorted(random.sample(range(n), n // 2 + 1)))  # type: ignore[attr-defined]
    outside = np.setdiff1d(np.arange(n), members)
    table[np.ix_(members, outside)] = table[np.ix_(outside, members)] = ABSENT  # a piece of its own
    graph = build_graph(lists(table), np.arange(n) + 0.5, np.arange(n) + 1.0)
    part = subgraph(graph, members)
    np.testing.assert_array_equal(stored(part.lengths), plain(table)[np.ix_(members, members)])
    np.testing.assert_array_equal(stored(symmetrize(part.neighbors)), stored(part.lengths))
    np.testing.assert_array_equal(part.radii, members + 0.5)
    np.testing.assert_array_equal(part.multiplicity, members + 1.0)
    np.testing.assert_array_equal(part.vertices, members)


def test_subgraph_of_a_subgraph_keeps_the_first_numbers_and_its_own_bridges() -> None:
    table = np.full((6, 6), ABSENT)
    for i, j in [(0, 2), (2, 4), (1, 3), (3, 5)]:
        table[i, j] = 1.0
    graph = build_graph(lists(table), None, np.ones(6))
    graph = type(graph)(**{**vars(graph), "bridges": np.array([[2, 4], [1, 3]])})
    even = subgraph(graph, np.array([0, 2, 4]))
    np.testing.assert_array_equal(even.bridges, [[1, 2]])
    tail = subgraph(even, np.array([1, 2]))
    np.testing.assert_array_equal(tail.vertices, [2, 4])
    np.testing.assert_array_equal(tail.bridges, [[0, 1]])
    assert tail.radii is None
    assert tail.n_edges == 1
