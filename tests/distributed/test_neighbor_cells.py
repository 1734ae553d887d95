"""Neighbours that a cluster finds are those that one process finds, to the last one and at ties too."""

import dask.array as da
import numpy as np
import pytest

from gramfold import LaplacianEigenmaps
from gramfold.distributed.dask_rows import DaskRows
from gramfold.distributed.neighbor_cells import Balls, CellSearch, cut
from gramfold.graph.neighbor_graph import Asking, found_here
from gramfold.neighbors.metrics import make_metric
from gramfold.neighbors.search import build_index
from gramfold.neighbors.units import Unit
from gramfold.runtime.progress import SILENT

N = 5000


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    groups = rng.standard_normal((N, 30)) + 4 * rng.integers(0, 5, (N, 1))
    copies = groups[:, :3].copy()
    copies[2000:3000] = copies[:1000]  # one vertex for two rows
    return {
        "sheet": np.column_stack([rng.random(N), rng.random(N), np.zeros(N)]),
        "lattice": rng.integers(0, 100, (N, 2)).astype(np.float64),  # ties everywhere
        "groups": groups,
        "copies": copies,
        "small numbers": 1e-180 * groups[:, :4],
        "float32": groups.astype(np.float32),
    }


def asked(X, k=7, metric="euclidean"):
    unit = Unit.of_rows(X)
    index, copies = build_index(
        unit.inward(X),
        metric=metric,
        metric_params=None,
        search="exact",
        n_neighbors=k,
        radius=None,
        n_jobs=None,
        random_state=np.random.RandomState(0),
    )
    return Asking(index, copies, unit, k, None)


@pytest.mark.parametrize("table", ["sheet", "lattice", "groups", "copies", "small numbers", "float32"])
def test_they_are_those_of_one_process(client, tables, table):
    X = tables[table]
    there, here = searched(client, X, asked(X)), found_here(asked(X), SILENT)
    np.testing.assert_array_equal(there.indices, here.indices)
    np.testing.assert_allclose(there.distances, here.distances, rtol=1e-14)


@pytest.mark.parametrize("metric", ["cosine", "cityblock", "chebyshev", "canberra", "correlation"])
def test_of_any_metric(client, tables, metric):
    X = tables["groups"][:2500] + 10
    there, here = searched(client, X, asked(X, metric=metric)), found_here(asked(X, metric=metric), SILENT)
    np.testing.assert_array_equal(there.indices, here.indices)


def searched(client, X, asking):
    """On the cluster, and by it."""
    rows = DaskRows.of(da.from_array(X, chunks=(900, X.shape[1])), client=client)
    with rows.kept(np.arange(len(X))) as held:
        search = CellSearch(held, least=100)
        assert search._count(asking.index.size, asking.n_neighbors) > 1
        return search(asking, SILENT)


def test_no_row_is_nearer_than_its_ball_says(tables):
    for name, metric, known in (("sheet", "euclidean", 0.5), ("copies", "chebyshev", 0.2), ("groups", "cosine", 0.0)):
        X = tables[name] + 1
        measure = make_metric(metric, None, X)
        rows = measure.prepare(X)
        cells = cut(rows, 8)
        np.testing.assert_array_equal(np.sort(np.concatenate(cells)), np.arange(N))
        balls = Balls.of(rows, cells, measure)
        some = np.arange(0, N, 500)
        away = balls.away(rows[some], measure)
        lengths = [measure.search_length(measure.block(X[some], X[cell]).min(axis=1)) for cell in cells]
        assert (away <= np.column_stack(lengths)).all()
        assert (away > 0).mean() >= known  # balls that are not asked


def test_cells_halve_the_rows_where_these_are_widest():
    X = np.random.default_rng(0).random((1000, 3)) * [1, 10, 1]
    low, high = cut(X, 2)
    assert len(low) == len(high) == 500
    assert X[low, 1].max() <= X[high, 1].min()


def test_a_map_of_many_rows_uses_it(client, monkeypatch):
    """Above the usual number of rows, with tasks that the dashboard shows by their names."""
    from gramfold.distributed import neighbor_cells

    asked_of = []
    whole = neighbor_cells.computed
    monkeypatch.setattr(
        neighbor_cells, "computed", lambda tasks, name, *more: asked_of.append(name) or whole(tasks, name, *more)
    )
    X = np.random.default_rng(0).random((20_000, 2))
    rows = da.from_array(X, chunks=(5000, 2))
    model = LaplacianEigenmaps(2, coordinates="independent").fit(rows)
    assert asked_of == ["own neighbors", "neighbors"]
    whole_model = LaplacianEigenmaps(2, coordinates="independent").fit(X)
    np.testing.assert_array_equal(model.neighbors_.indices, whole_model.neighbors_.indices)
    np.testing.assert_allclose(model.embedding_, whole_model.embedding_, atol=1e-12)
