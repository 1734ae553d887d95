"""Sweeps over numbers of neighbours: the maps of fits by themselves, from one search, turned onto each other."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits

from gramfold import (
    LLE,
    LPP,
    LTSA,
    PCA,
    SDE,
    CommuteTime,
    DiffusionMap,
    HeatKernel,
    HessianLLE,
    Isomap,
    KernelEigenmaps,
    KernelIsomap,
    LaplacianEigenmaps,
    ModifiedLLE,
)
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import procrustes, sweep
from gramfold.embedding import fit as fit_module
from gramfold.errors import InputError

ROLL = make_swiss_roll(400, random_state=0)
DIGITS = np.vstack([load_digits().data[:220], load_digits().data[:30]])  # with copies

GRAPH_METHODS = [
    Isomap(),
    KernelIsomap(),
    Isomap(landmarks=60, conformal=True),
    LaplacianEigenmaps(weights="gaussian", width="self-tuning"),
    LaplacianEigenmaps(landmarks=120),
    CommuteTime(graph="mutual+mst"),
    HeatKernel(),
    DiffusionMap(),
    LLE(),
    ModifiedLLE(),
    HessianLLE(),
    LTSA(),
    LPP(),
    KernelEigenmaps(),
    Isomap(metric="cosine"),
    Isomap(on_disconnected="largest"),
    LaplacianEigenmaps(on_disconnected="separate"),
]


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
@pytest.mark.parametrize("model", GRAPH_METHODS, ids=repr)
def test_maps_are_those_of_fits_by_themselves(model):
    numbers = [6, 7, 10, 16]
    found = sweep(model, DIGITS, numbers)
    assert found.searches == 1
    assert found.n_neighbors == tuple(numbers)
    for step in found:
        own = clone(model).set_params(n_neighbors=step.n_neighbors).fit(DIGITS)
        np.testing.assert_allclose(step.fitted, own.embedding_, atol=1e-10 * np.nanmax(np.abs(own.embedding_)))
        assert step.residual == pytest.approx(own.spectrum_.residuals.max(), rel=1e-6, abs=1e-14)
        assert step.kept == own.kept_.sum()


def test_neighbours_are_searched_once(monkeypatch):
    calls, search = [], fit_module.NeighborGraph.of
    monkeypatch.setattr(
        fit_module.NeighborGraph,
        "of",
        lambda X, hood, **more: calls.append(hood.n_neighbors) or search(X, hood, **more),
    )
    sweep(LLE(), ROLL.points, [8, 12, 16, 24])
    assert calls == [24]


def test_maps_are_turned_onto_the_one_before_and_compared():
    found = sweep(Isomap(), ROLL.points, [7, 8, 9])
    steps = list(found)
    assert np.isnan(steps[0].moved)
    for before, step in pairwise(steps):
        disparity = procrustes(step.fitted, before.fitted).value
        assert step.moved == pytest.approx(np.sqrt(disparity), abs=1e-9)
        gap = step.embedding - before.embedding
        size = before.embedding - before.embedding.mean(axis=0)
        assert np.linalg.norm(gap) / np.linalg.norm(size) == pytest.approx(step.moved, abs=1e-9)
    np.testing.assert_array_equal(found.moved, [step.moved for step in steps[1:]])


def test_short_circuits_are_seen():
    """A swiss roll holds over small numbers and breaks where neighbours reach the next turn."""
    found = sweep(Isomap(), make_swiss_roll(1000, random_state=0).points, [7, 8, 9, 30])
    assert found.moved[:2].max() < 0.1
    assert found.moved[2] > 0.3


def test_components_rows_and_warnings_of_each_number():
    rows = np.vstack([ROLL.points[:80], ROLL.points[:15] + 500.0])
    found = sweep(Isomap(on_disconnected="largest"), rows, [8, 20])
    assert [step.components for step in found] == [2, 1]
    assert [step.kept for step in found] == [80, 95]
    assert list(found.warned)[:1] == [8]
    assert found[8].warned[0].startswith("DisconnectedGraphWarning: the neighbour graph has 2 connected components")
    assert np.isnan(found[8].embedding[80:]).all()
    table = str(found).splitlines()
    assert len(table) == 3
    assert table[1].split()[:3] == ["8", "2", "80"]
    assert "DisconnectedGraphWarning" in table[1]


def test_a_fit_that_fails_is_a_step_with_its_reason():
    found = sweep(HessianLLE(), ROLL.points, [3, 8, 10])
    assert list(found.failures) == [3]
    assert "needs at least 5 neighbours" in found[3].failure
    assert found[3].embedding is None
    assert np.isnan(found[8].moved)  # nothing before it
    assert found[10].moved < 1
    assert "failed: InputError" in str(found)


def test_what_is_measured_stands_in_the_table():
    found = sweep(
        LaplacianEigenmaps(coordinates="independent"),
        ROLL.points,
        [8, 12],
        measures={"truth": lambda X, Y: procrustes(Y, ROLL.truth), "width": lambda X, Y: np.ptp(Y[:, 0])},
    )
    assert found[8].measures["truth"] == pytest.approx(procrustes(found[8].fitted, ROLL.truth).value)
    assert found[12].measures["width"] == np.ptp(found[12].fitted[:, 0])
    assert str(found).splitlines()[0].split() == [
        "n_neighbors", "components", "rows", "moved", "residual", "truth", "width", "told",
    ]  # fmt: skip


def test_distances_and_sparse_rows():
    rows = ROLL.points[:150]
    for X, model in ((cdist(rows, rows), Isomap(metric="precomputed")), (csr_array(rows), Isomap())):
        found = sweep(model, X, [6, 9])
        assert found.searches == 1
        for step in found:
            own = clone(model).set_params(n_neighbors=step.n_neighbors).fit(X)
            np.testing.assert_allclose(step.fitted, own.embedding_, atol=1e-10 * np.abs(own.embedding_).max())


def test_numbers_in_any_order_once_each():
    found = sweep(Isomap(), ROLL.points, (10, 8, 10))
    assert found.n_neighbors == (8, 10)
    assert len(found) == 2
    with pytest.raises(KeyError, match="9 is not among"):
        found[9]


def test_an_unchanged_model():
    model = Isomap(n_neighbors=5)
    sweep(model, ROLL.points, [8, 10])
    assert model.n_neighbors == 5
    assert not hasattr(model, "model_")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_a_learned_kernel():
    found = sweep(SDE(), ROLL.points[:60], [4, 6])
    own = SDE(n_neighbors=4).fit(ROLL.points[:60])
    assert procrustes(found[4].fitted, own.embedding_).value < 1e-10


@pytest.mark.parametrize(
    ("model", "numbers", "words"),
    [
        (PCA(), [5, 8], "PCA, which has no map of n_neighbors"),
        (Isomap, [5, 8], "Isomap, which has no map"),
        (Isomap(), [5], "nothing to compare"),
        (Isomap(), 8, "nothing to compare"),
        (Isomap(), [5, 0], "contains 0"),
        (Isomap(), [5, 2.5], "contains 2.5"),
        (Isomap(radius=2.0), [5, 8], "radius=2"),
        (LaplacianEigenmaps(weights="precomputed"), [5, 8], "weights='precomputed'"),
        (Isomap(), [400, 500], "n_neighbors=400, but there are only 400 distinct rows"),
    ],
)
def test_what_cannot_be_swept_is_told(model, numbers, words):
    with pytest.raises(InputError, match=words):
        sweep(model, ROLL.points, numbers)


def test_a_given_graph_has_its_own_number_of_neighbours():
    graph = csr_array(np.where(cdist(ROLL.points, ROLL.points) < 8, cdist(ROLL.points, ROLL.points), 0))
    with pytest.raises(InputError, match="edges of the neighbour graph are given"):
        sweep(Isomap(metric="precomputed"), graph, [5, 8])


@pytest.mark.parametrize("copies", [1, 2])
def test_a_number_of_neighbours_that_is_too_large_is_one_failed_step(copies):
    X = np.repeat(make_swiss_roll(60, random_state=0).points, copies, axis=0)
    found = sweep(Isomap(), X, [8, 12, 70])
    assert list(found.failures) == [70]
    assert "n_neighbors=70, but" in found[70].failure
    for k in (8, 12):
        np.testing.assert_array_equal(found[k].fitted, Isomap(n_neighbors=k).fit(X).embedding_)
    assert found.searches == copies  # of 60 distinct rows among 120 each fit searches by itself
    with pytest.raises(InputError, match=r"^every fit failed, the first \(n_neighbors=70\) with: InputError") as error:
        sweep(Isomap(), X[:60], [70, 80])
    assert "n_neighbors=70, but" in str(error.value)


@pytest.mark.parametrize(
    ("measures", "words"),
    [
        ([len], "measures is a list: pass a dict of names and functions"),
        ("trustworthiness", "measures is a str"),
        ({"a": 3}, r"measures\['a'\] is a int, which is no function"),
        ({"a": lambda X, Y: "x"}, r"measures\['a'\] returned a str, which is no number"),
    ],
)
def test_what_are_no_measures(measures, words):
    with pytest.raises(InputError, match=words):
        sweep(Isomap(), make_swiss_roll(100, random_state=0).points, [8, 12], measures=measures)
