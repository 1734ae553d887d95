import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramfold.errors import InputError, NotNumbersError
from gramfold.graph.given_weights import checked_affinity, graph_of_weights

W = np.array([[0.0, 1.0, 0.0, 0.25], [1.0, 2.0, 0.5, 0.0], [0.0, 0.5, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0]])
FORMATS = ("csr", "csc", "coo", "dok", "lil", "dia", "bsr")


def changed(i, j, value, both=True):
    made = W.copy()
    made[i, j] = value
    if both:
        made[j, i] = value
    return made


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_gives_the_same_canonical_matrix(form, kind):
    given = getattr(sp, f"{form}_{kind}")(W)
    found = checked_affinity(given, 4)
    assert isinstance(found, sp.csr_array)
    assert found.dtype == np.float64
    assert found.has_canonical_format
    assert found.nnz == 7  # the diagonal is kept, zeros are not stored
    np.testing.assert_array_equal(found.toarray(), W)
    np.testing.assert_array_equal(given.toarray(), W)


@pytest.mark.parametrize("given", [W.tolist(), W.astype(np.float32), np.asmatrix(W), np.ceil(W).astype(int), W > 0])
def test_dense_arrays_of_any_number_type(given):
    np.testing.assert_array_equal(checked_affinity(given, 4).toarray(), np.asarray(given, dtype=float))


def test_a_table_with_names():
    pd = pytest.importorskip("pandas")
    np.testing.assert_array_equal(checked_affinity(pd.DataFrame(W, columns=list("abcd")), 4).toarray(), W)


def test_the_users_matrix_is_neither_changed_nor_kept():
    # entries out of order, and one of them stored in two parts
    entries, columns, starts = np.array([0.5, 2.0, 0.5, 1.0, 2.0]), np.array([1, 2, 1, 0, 0]), np.array([0, 3, 4, 5])
    given = sp.csr_array((entries.copy(), columns.copy(), starts.copy()), shape=(3, 3))
    found = checked_affinity(given, 3)
    np.testing.assert_array_equal(found.toarray(), [[0, 1, 2], [1, 0, 0], [2, 0, 0]])
    found.data[:] = 7.0
    for part, before in ((given.data, entries), (given.indices, columns), (given.indptr, starts)):
        np.testing.assert_array_equal(part, before)


def test_rounding_is_averaged_out():
    found = checked_affinity(changed(0, 1, 1 + 1e-12, both=False), 4)
    assert (found != found.T).nnz == 0
    assert found[0, 1] == pytest.approx(1 + 5e-13, rel=1e-15)
    slightly = checked_affinity(changed(0, 2, -1e-12), 4)  # as cosines have it
    assert slightly.nnz == 7


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (W[:3], r"affinity has the shape \(3, 4\), but there are 4 samples: pass a square matrix"),
        (W[0], r"affinity has the shape \(4,\), but there are 4 samples"),
        (W[:3, :3], r"affinity has the shape \(3, 3\), but there are 4 samples"),
        (sp.csr_array(W[:, :3]), r"affinity has the shape \(4, 3\)"),
        (changed(1, 2, 0.7, both=False), r"not symmetric: entry \(1, 2\) is 0\.7 and entry \(2, 1\) is 0\.5"),
        (np.triu(W), r"not symmetric: .* pass \(W \+ W\.T\) / 2"),
        (changed(0, 1, -1.0), r"the negative weight -1 in entry \(0, 1\)"),
        (changed(2, 1, np.nan, both=False), r"contains NaN in entry \(2, 1\)"),
        (changed(0, 3, np.inf), r"contains infinity in entry \(0, 3\)"),
        (np.zeros((4, 4)), "joins no two samples"),
        (sp.csr_array((4, 4)), "joins no two samples"),
        (np.eye(4), "joins no two samples: its entries off the diagonal are all 0"),
        (changed(0, 1, 1e308) + changed(0, 1, 0.7e308), "divide the matrix by its largest entry"),
    ],
)
def test_one_sentence_for_whatever_is_no_graph(given, sentence):
    with pytest.raises(InputError, match=sentence) as told:
        checked_affinity(given, 4)
    assert "\n" not in str(told.value)
    if not sp.issparse(given) and given.shape == (4, 4):
        with pytest.raises(InputError, match=sentence):
            checked_affinity(sp.coo_array(given), 4)


def test_what_holds_no_numbers():
    with pytest.raises(NotNumbersError, match="affinity holds text"):
        checked_affinity([["a"] * 4] * 4, 4)
    with pytest.raises(NotNumbersError, match="Complex data not supported"):
        checked_affinity(sp.csr_array(1j * W), 4)


def test_the_caller_names_it():
    with pytest.raises(InputError, match="weights has the shape"):
        checked_affinity(W, 5, "weights")


def test_the_graph_has_lengths_of_one_over_the_weight_and_no_loops():
    graph = graph_of_weights(checked_affinity(W, 4), np.array([3, 5, 7, 9]))
    expected = np.divide(1, W, out=np.zeros_like(W), where=W > 0)
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(graph.lengths.toarray(), expected)
    assert graph.n_edges == 3
    np.testing.assert_array_equal(graph.rows, [3, 5, 7, 9])
    np.testing.assert_array_equal(graph.neighbors.indices, [1, 3, 0, 2, 1, 0])  # the heaviest edge first
    np.testing.assert_array_equal(graph.neighbors.counts, [2, 2, 1, 1])


def test_the_smallest_weights_have_finite_lengths():
    W = np.array([[0, 1e100, 1e-49], [1e100, 0, 1e-60], [1e-49, 1e-60, 0]])
    graph = graph_of_weights(checked_affinity(W, 3), np.arange(3))
    assert np.isfinite(graph.lengths.data).all()
    assert graph.n_edges == 2  # the third cannot be told from none beside the largest
    with pytest.raises(InputError, match="must be between 1e-100 and 1e\\+100"):
        checked_affinity(np.array([[0, 5e-324], [5e-324, 0]]), 2)


def test_odd_dtypes_are_numbers_or_get_a_sentence():
    W = np.array([[0.0, 2.0], [2.0, 0.0]])
    for odd in (W.astype(object), W.astype(np.float16), W.astype(">f8"), W.astype(int), W > 0):
        np.testing.assert_allclose(checked_affinity(odd, 2).toarray(), np.asarray(odd, dtype=float))
    frame = pd.DataFrame(W).astype("Float64")
    frame.iloc[0, 1] = pd.NA
    with pytest.raises(InputError, match="affinity"):
        checked_affinity(frame, 2)
