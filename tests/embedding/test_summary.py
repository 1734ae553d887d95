"""`summary()`: what a fitted model is, in a few lines."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import NotFittedError

import gramfold
from gramfold import LPP, PCA, SDE, Isomap, LaplacianEigenmaps, OrdinalMDS, SpectralClustering
from gramfold.datasets import make_swiss_roll
from gramfold.embedding.compact import compacted
from gramfold.embedding.estimator import Estimator
from gramfold.embedding.made import known_verdict
from gramfold.embedding.summary import summary_of
from gramfold.errors import DisconnectedGraphWarning

METHODS = [
    cls
    for name in gramfold.__all__
    if isinstance(cls := getattr(gramfold, name), type) and issubclass(cls, Estimator) and cls is not Estimator
]
ROWS = make_swiss_roll(150, random_state=0).points
APART = np.vstack([ROWS[:60], ROWS[:50] + 1000.0])
MOST_LINES = 15


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_every_method_has_one(cls):
    model = cls(random_state=3).fit(ROWS)
    found = model.summary()
    lines = str(found).splitlines()
    assert lines[0] == found.name == type(model).__name__
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= 112
    assert (found.rows, found.placed, found.columns) == (150, 150, 3)
    assert found.parameters == {"random_state": 3}
    assert found.stages == model.timings_
    assert found.memory >= model.embedding_.nbytes if hasattr(model, "embedding_") else found.memory > 0
    graph = getattr(model, "graph_", None)
    assert (found.graph is None) == (graph is None)
    if graph is not None:
        assert found.graph.edges == graph.lengths.nnz // 2
    assert found._repr_html_().count("<tr>") == len(found.lines())
    assert repr(found) == str(found)
    back = pickle.loads(pickle.dumps(model)).summary()  # an array that is a part of another is one of its own there
    assert [line for line in back.lines() if line[0] != "memory"] == [
        line for line in found.lines() if line[0] != "memory"
    ]


def test_what_it_says_is_what_the_attributes_say():
    model = Isomap(n_neighbors=6, verbose=0).fit(ROWS)
    found = model.summary()
    assert found.solver == model.spectrum_.solver
    assert found.residual == model.spectrum_.residuals.max()
    assert found.eigenvalues == tuple(model.spectrum_.eigenvalues)
    assert found.graph.neighbors == 6
    assert found.graph.components == 1
    assert found.dimensions == 2
    pca = PCA().fit(ROWS)
    assert pca.summary().shares == tuple(pca.explained_variance_ratio_)


def test_what_the_fit_warned_of_is_kept():
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap().fit(APART)
    (text,) = model.summary().warnings
    assert text.startswith("DisconnectedGraphWarning: the neighbour graph has 2 connected components")
    assert model.summary().graph.bridges == 1
    assert "warned of" in str(model.summary())
    assert pickle.loads(pickle.dumps(model)).summary().warnings == (text,)
    model.fit(ROWS[:60])
    assert model.summary().warnings == ()
    with pytest.warns(DisconnectedGraphWarning):
        some = Isomap(on_disconnected="largest").fit(APART).summary()
    assert (some.rows, some.placed) == (110, 60)
    assert "60 of them placed" in str(some)


def test_what_only_some_methods_have():
    clusters = SpectralClustering(2).fit(APART)
    sizes = np.bincount(clusters.labels_)
    assert f"2, of {sizes[0]}, {sizes[1]} rows" in str(clusters.summary())
    ordinal = OrdinalMDS().fit(ROWS[:60])
    assert f"{ordinal.stress_:.4g} after {ordinal.n_iter_} iterations" in str(ordinal.summary())
    unfolded = SDE().fit(ROWS[:60])
    assert f"within {unfolded.certificate_.gap:.1e} of the optimum" in str(unfolded.summary())


def test_other_input():
    given = Isomap(metric="precomputed").fit(squareform(pdist(ROWS))).summary()
    assert "precomputed values of 150 rows, to 2 dimensions" in str(given)
    assert given.parameters == {"metric": "precomputed"}
    sparse = LaplacianEigenmaps().fit(csr_array(np.abs(ROWS))).summary()
    assert "150 sparse rows of 3 columns" in str(sparse)
    assert LPP().fit(ROWS).summary().graph.components == 1


def test_mixed_rows():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=list("abc"))
    frame["kind"] = pd.Categorical(["x", "y"] * 75)
    frame.loc[3, "a"] = np.nan
    found = Isomap(metric="gower", n_neighbors=30).fit(frame).summary()
    assert "150 rows with categories of 4 columns" in str(found)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("cls", [cls for cls in METHODS if cls is not OrdinalMDS], ids=lambda cls: cls.__name__)
def test_a_compact_model_is_told_without_what_it_left_out(cls):
    model = cls().fit(ROWS)
    found = summary_of(model, compacted(model.model_))
    assert (found.rows, found.columns, found.dimensions) == (150, 3, model.summary().dimensions)
    assert "compact: without its map" in str(found)
    assert found.memory <= model.summary().memory


def test_an_unfitted_model_has_none():
    with pytest.raises(NotFittedError):
        Isomap().summary()


def test_the_verdict_is_told_once_it_is_known():
    model = Isomap().fit(ROWS)
    assert known_verdict(model) is None
    assert model.summary().verdict is None
    assert model.verdict(n_neighbors=8) is known_verdict(model)  # the last one
    found = model.verdict()
    assert model.verdict() is found is known_verdict(model) is model.summary().verdict
    assert f"{found.kind} ({found.sure})" in str(model.summary())
    assert known_verdict(pickle.loads(pickle.dumps(model))) is None
    model.fit(ROWS[:100])
    assert known_verdict(model) is None
    assert known_verdict(Isomap()) is None


def test_memory_counts_what_parts_share_once():
    model = PCA().fit(ROWS)
    at_least = ROWS.nbytes + model.embedding_.nbytes
    assert at_least <= model.summary().memory <= 4 * at_least
