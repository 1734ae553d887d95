"""`drop_edges`: edges taken out of the graph of every method that has one."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from gramfold import (
    LLE,
    LPP,
    LTSA,
    SDE,
    Isomap,
    KernelEigenmaps,
    LandmarkIsomap,
    LaplacianEigenmaps,
    SpectralClustering,
)
from gramfold.datasets import make_s_curve, make_swiss_roll
from gramfold.diagnostics import short_circuits
from gramfold.errors import DisconnectedGraphError, DisconnectedGraphWarning, DroppedEdgesWarning, InputError

ROWS = make_s_curve(120, random_state=0).points
METHODS = [
    Isomap(n_neighbors=6),
    LandmarkIsomap(n_neighbors=6, landmarks=30),
    LaplacianEigenmaps(n_neighbors=6),
    LLE(n_neighbors=6),
    LTSA(n_neighbors=6),
    SDE(n_neighbors=5, max_iter=50),
    LPP(n_neighbors=6),
    KernelEigenmaps(n_neighbors=6),
    SpectralClustering(n_neighbors=6, n_clusters=3),
]


def bent():
    """A roll with a row between two turns."""
    t = 6.0
    return np.vstack(
        [make_swiss_roll(1000, random_state=0).points, [(t + np.pi) * np.cos(t), 10.0, (t + np.pi) * np.sin(t)]]
    )


@pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")
def test_every_graph_method_leaves_them_out(model):
    rows = ROWS[:60] if isinstance(model, SDE) else ROWS
    whole = clone(model).fit(rows)
    i, j = next((int(i), int(j)) for i, j in zip(*whole.graph_.lengths.nonzero(), strict=True) if i < j)
    less = clone(model).set_params(drop_edges=[(j, i)]).fit(rows)
    assert whole.dropped_edges_.shape == (0, 2)
    assert less.dropped_edges_.tolist() == [[j, i]]
    difference = whole.graph_.lengths - less.graph_.lengths
    assert {(int(a), int(b)) for a, b in zip(*difference.nonzero(), strict=True)} == {(i, j), (j, i)}
    assert j not in less.graph_.neighbors.indices[slice(*less.graph_.neighbors.indptr[i : i + 2])]
    again = pickle.loads(pickle.dumps(less))
    assert again.dropped_edges_.tolist() == [[j, i]]


def test_the_same_as_a_graph_without_them():
    model = Isomap(n_neighbors=6).fit(ROWS)
    edges = np.argwhere(np.triu(model.graph_.lengths.toarray()) > 0)[::9]
    less = Isomap(n_neighbors=6, drop_edges=edges).fit(ROWS)
    lengths = model.graph_.lengths.toarray()
    lengths[tuple(edges.T)] = lengths[tuple(edges[:, ::-1].T)] = 0.0
    given = Isomap(metric="precomputed").fit(csr_array(lengths))
    assert np.allclose(np.abs(less.embedding_), np.abs(given.embedding_))
    dropped = Isomap(metric="precomputed", drop_edges=edges).fit(model.graph_.lengths)
    assert np.allclose(dropped.embedding_, given.embedding_)
    assert np.allclose(less.transform(ROWS), less.embedding_, atol=1e-8)


def test_weights_that_were_given():
    weights = (Isomap(n_neighbors=6).fit(ROWS).graph_.lengths.toarray() > 0).astype(float)
    i, j = np.argwhere(np.triu(weights))[5]
    less = LaplacianEigenmaps(weights="precomputed", coordinates="independent", drop_edges=[(i, j)]).fit(
        csr_array(weights)
    )
    weights[i, j] = weights[j, i] = 0.0
    other = LaplacianEigenmaps(weights="precomputed", coordinates="independent").fit(csr_array(weights))
    assert np.allclose(less.embedding_, other.embedding_)


def test_short_circuits_are_found_and_removed():
    rows = bent()
    found = short_circuits(rows)
    assert len(found) > 0
    with pytest.warns(DroppedEdgesWarning, match=f"1 short circuit of {len(found)} edges .* were removed"):
        model = Isomap(drop_edges="short_circuits").fit(rows)
    assert np.array_equal(model.dropped_edges_, found.edges)
    assert np.array_equal(model.embedding_, Isomap(drop_edges=found).fit(rows).embedding_)
    clean = Isomap(drop_edges="short_circuits").fit(rows[:-1])  # warnings are errors: none is found
    assert np.array_equal(clean.embedding_, Isomap().fit(rows[:-1]).embedding_)


def test_copies_name_the_edges_of_their_first():
    rows = np.vstack([ROWS, ROWS[:3]])
    model = Isomap(n_neighbors=6).fit(rows)
    i = 1
    j = int(model.graph_.lengths[[i]].indices[0])
    less = Isomap(n_neighbors=6, drop_edges=[(len(ROWS) + i, j)]).fit(rows)
    assert less.dropped_edges_.tolist() == [[i, j]]
    assert less.graph_.lengths[i, j] == 0 < model.graph_.lengths[i, j]
    with pytest.warns(DroppedEdgesWarning, match=r"1 of 1 pair .*rows 1 and 121\) is not an edge"):
        Isomap(n_neighbors=6, drop_edges=[(i, len(ROWS) + i)]).fit(rows)


def test_rows_that_are_no_landmarks_have_no_edges():
    rows = make_s_curve(300, random_state=1).points
    settings = {"n_neighbors": 6, "landmarks": np.arange(0, 300, 2), "coordinates": "independent"}
    model = LaplacianEigenmaps(**settings).fit(rows)
    i, j = np.argwhere(np.triu(model.graph_.lengths.toarray()) > 0)[0]
    less = LaplacianEigenmaps(**settings, drop_edges=[(i, j)]).fit(rows)
    assert less.dropped_edges_.tolist() == [[i, j]]
    with pytest.warns(DroppedEdgesWarning, match="rows 1 and 2"):
        LaplacianEigenmaps(**settings, drop_edges=[(1, 2)]).fit(rows)


def two_sheets():
    sheet = np.random.default_rng(0).random((60, 2))
    return np.vstack([sheet, sheet + [1.2, 0.0]])


def test_disconnected_without_them():
    rows = two_sheets()
    lengths = Isomap(n_neighbors=9).fit(rows).graph_.lengths.toarray()
    between = np.argwhere(np.triu(lengths) > 0)
    between = between[(between[:, 0] < 60) & (between[:, 1] >= 60)]
    assert len(between) > 0
    with pytest.warns(DisconnectedGraphWarning, match="2 connected components"):
        largest = Isomap(n_neighbors=9, drop_edges=between, on_disconnected="separate").fit(rows)
    assert np.isfinite(largest.embedding_).all()
    with pytest.warns(DisconnectedGraphWarning, match="1 bridge"):
        bridged = Isomap(n_neighbors=9, drop_edges=between).fit(rows)
    assert len(bridged.graph_.bridges) == 1
    with pytest.raises(DisconnectedGraphError, match="2 connected components"):
        Isomap(n_neighbors=9, drop_edges=between, on_disconnected="error").fit(rows)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([(0, 120)], r"pair \(0, 120\), but X has the rows 0 to 119"),
        ([(-1, 3)], r"pair \(-1, 3\)"),
        ([(0.5, 2)], "pairs of row numbers"),
        ([1, 2, 3], "pairs of row numbers"),
        ([(1, 2, 3)], "pairs of row numbers"),
    ],
)
def test_what_is_no_edge_of_rows_is_refused(asked, words):
    with pytest.raises(InputError, match=words):
        Isomap(n_neighbors=6, drop_edges=asked).fit(ROWS)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="drop_edges"):
        Isomap(drop_edges="all").fit(ROWS)
    with pytest.raises(InputError, match="classes"):
        LPP(graph="classes", drop_edges=[(0, 1)]).fit(ROWS, np.arange(120) % 3)


def test_none_to_drop():
    whole = Isomap(n_neighbors=6).fit(ROWS)
    assert np.array_equal(Isomap(n_neighbors=6, drop_edges=[]).fit(ROWS).embedding_, whole.embedding_)


def test_too_few_neighbours_are_left():
    model = LTSA(n_neighbors=4).fit(ROWS)
    near = model.neighbors_.indices[:4]
    with pytest.raises(InputError, match="row 0 has 1 neighbours"):
        LTSA(n_neighbors=4, drop_edges=[(0, j) for j in near[:3]]).fit(ROWS)
