"""What the search for short circuits promises: planted ones are found and removed, sheets without any have none."""

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from gramfold import PCA, SDE, Isomap, KernelEigenmaps, LaplacianEigenmaps, SpectralClustering
from gramfold.datasets import (
    make_helix,
    make_punctured_sphere,
    make_s_curve,
    make_swiss_roll,
    make_torus,
)
from gramfold.diagnostics import short_circuits
from gramfold.errors import InputError


def between_turns(n, seed, noise=0.0):
    """A roll with 5 rows midway between two of its turns, and its truth."""
    roll = make_swiss_roll(n, random_state=seed, noise=noise)
    rng = np.random.default_rng(seed)
    t, height = rng.uniform(5.5, 7.5, 5), rng.uniform(2.0, 19.0, 5)
    return np.vstack([roll.points, np.column_stack([(t + np.pi) * np.cos(t), height, (t + np.pi) * np.sin(t)])]), roll


@pytest.mark.parametrize(("n", "k", "noise"), [(1000, 8, 0.0), (1500, 6, 0.1), (2000, 10, 0.2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_ones_are_named_and_removed(n, k, noise, seed):
    rows, roll = between_turns(n, seed, noise)
    found = short_circuits(rows, n_neighbors=k)
    assert len(found) >= 10
    assert (found.edges.max(axis=1) >= n).all()  # each has a planted row
    assert (found.scores > 1).all()
    folded, flat = Isomap(n_neighbors=k).fit(rows), Isomap(n_neighbors=k, drop_edges=found).fit(rows)
    assert procrustes(roll.truth, folded.embedding_[:n])[2] > 0.3
    assert procrustes(roll.truth, flat.embedding_[:n])[2] < 0.01


def uneven(n, seed):
    """A roll ten times as dense at its beginning as at its end."""
    rng = np.random.default_rng(seed)
    u = (np.sqrt(1 + 99 * rng.random(n)) - 1) / 9  # of density 1 + 9u
    t = np.sqrt((1.5 * np.pi) ** 2 + (1 - u) * (14.2**2 - (1.5 * np.pi) ** 2))
    height = 21 * rng.random(n)
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([0.5 * t * t, height])


# twelve are every noise with every kind of roll
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 20))])
def test_rolls_without_any_have_none(seed):
    rng = np.random.default_rng(seed)
    n, k, noise = int(rng.integers(500, 3001)), int(rng.integers(6, 13)), (0.0, 0.1, 0.3)[seed % 3]
    if seed % 4 == 3:
        X, truth = uneven(n, seed)
    else:
        X, truth = make_swiss_roll(n, random_state=seed, noise=noise, hole=seed % 4 == 2)
    found = short_circuits(X, n_neighbors=k)
    i, j = found.edges.T
    # few rows with many neighbours do have edges from turn to turn; nothing else is named
    assert (np.linalg.norm(truth[i] - truth[j], axis=1) > 3 * np.linalg.norm(X[i] - X[j], axis=1)).all()
    if n > 900 and seed % 4 != 3:
        assert len(found) == 0


@pytest.mark.parametrize("k", [6, 8, 12])
@pytest.mark.parametrize(
    "make",
    [make_s_curve, make_helix, make_torus, make_punctured_sphere],
    ids=lambda make: make.__name__,
)
def test_other_sheets_have_none(make, k):
    assert len(short_circuits(make(1000, random_state=0).points, n_neighbors=k)) == 0


def test_digits_are_not_flooded():
    assert len(short_circuits(load_digits().data)) == 0


def test_a_fitted_model_is_examined_as_it_is():
    rows, _ = between_turns(1000, 1)
    found = short_circuits(rows, n_neighbors=8)
    for model in (
        Isomap(n_neighbors=8),
        LaplacianEigenmaps(n_neighbors=8, coordinates="independent"),
        KernelEigenmaps(n_neighbors=8),
        SpectralClustering(n_neighbors=8, n_clusters=3),
    ):
        same = short_circuits(model.fit(rows))
        assert np.array_equal(same.edges, found.edges)
        assert np.allclose(same.scores, found.scores)
    without = Isomap(n_neighbors=8, drop_edges=found).fit(rows)
    assert len(short_circuits(without)) == 0


def test_units_do_not_matter():
    rows, _ = between_turns(1000, 1)
    found, tiny = short_circuits(rows), short_circuits(rows * 1e-170)
    assert np.array_equal(found.edges, tiny.edges)
    assert np.allclose(found.lengths, tiny.lengths * 1e170)
    assert np.allclose(found.detours, tiny.detours * 1e170)
    assert np.allclose(found.scores, tiny.scores)


def test_copies_do_not_matter():
    rows, _ = between_turns(1000, 1)
    assert np.array_equal(short_circuits(np.vstack([rows, rows[::7]])).edges, short_circuits(rows).edges)


def test_distances_do_as_well_as_rows():
    rows, _ = between_turns(700, 1)
    distances = np.sqrt(np.maximum(((rows[:, None] - rows[None]) ** 2).sum(axis=2), 0.0))
    found = short_circuits(rows)
    assert len(found) > 0
    assert np.array_equal(short_circuits(distances, metric="precomputed").edges, found.edges)


def test_tensions_of_semidefinite_embedding():
    rows, _ = between_turns(400, 1)
    with np.errstate(all="ignore"):
        model = SDE(n_neighbors=6, pairs="neighbors").fit(rows)
    found = short_circuits(model)
    assert len(found) > 0
    assert found.tensions is not None
    pairs = np.sort(model.certificate_.pairs, axis=1).tolist()
    weights = np.abs(model.certificate_.weights)
    for edge, tension in zip(np.sort(found.edges, axis=1).tolist(), found.tensions, strict=True):
        assert tension == pytest.approx(weights[pairs.index(edge)] / np.median(weights[weights > 0]))
    assert found.tensions.max() > 5  # what holds two turns together is pulled at
    assert short_circuits(rows, n_neighbors=6).tensions is None


def test_what_cannot_be_examined():
    rows, _ = between_turns(300, 0)
    with pytest.raises(InputError, match="PCA has no graph of neighbours"):
        short_circuits(PCA().fit(rows))
    with pytest.raises(NotFittedError, match="Isomap is not fitted"):
        short_circuits(Isomap())
    with pytest.raises(InputError, match="n_neighbors=5 was given with a fitted Isomap"):
        short_circuits(Isomap().fit(rows), n_neighbors=5)
    with pytest.raises(InputError, match="most=0"):
        short_circuits(rows, most=0)


def test_only_the_first_few():
    rows, _ = between_turns(1000, 1)
    found = short_circuits(rows)
    few = short_circuits(rows, most=1)
    assert few.n_found == found.n_found > 1
    assert np.array_equal(few.edges, found.edges[found.circuits == 0])
