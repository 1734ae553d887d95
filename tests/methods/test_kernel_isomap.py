import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from gramfold import ClassicalMDS, Isomap, KernelIsomap
from gramfold.datasets import make_swiss_roll
from gramfold.errors import DisconnectedGraphWarning
from tests.methods.maps import difference, roll, s_curve


def centred(A):
    H = np.eye(len(A)) - 1 / len(A)
    return -0.5 * H @ A @ H


def plain_walks(X, k=8):
    return shortest_path(kneighbors_graph(X, k, mode="distance"), directed=False)


def test_the_paper_written_out():
    X, fresh = roll()[:250], roll()[250:300]
    D = plain_walks(X)
    n = len(D)
    # eqs (3) and (4), in full
    whole = np.block([[np.zeros((n, n)), 2 * centred(D**2)], [-np.eye(n), -4 * centred(D)]])
    c = np.linalg.eigvals(whole).real.max()
    K = centred(D**2) + 2 * c * centred(D) + 0.5 * c**2 * (np.eye(n) - 1 / n)
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    model = KernelIsomap(3, on_disconnected="error").fit(X)
    assert model.c_ == pytest.approx(c, rel=1e-8)
    np.testing.assert_allclose(model.kernel_.dense(), K, atol=1e-8 * values[0])
    assert difference(model.embedding_, vectors * np.sqrt(values)) < 1e-8
    # new points, eqs (8)–(11) with their misprints put right
    steps = cdist(fresh, X)
    nearest = np.argsort(steps, axis=1)[:, :8]
    d = np.array([np.min(s[near][:, None] + D[near], axis=0) for s, near in zip(steps, nearest, strict=True)])
    repaired = np.where(D > 0, D + c, 0) ** 2
    y = -0.5 * ((d + c) ** 2 - repaired.mean(axis=0)) @ vectors / np.sqrt(values)
    y *= values / (values - 0.5 * c**2)  # a new point is at c, not at 0, from one that it is very near to
    assert (
        difference(np.vstack([model.embedding_, model.transform(fresh)]), np.vstack([vectors * np.sqrt(values), y]))
        < 1e-8
    )


@pytest.mark.parametrize("n", [400, 1100])  # dense, and through products
@pytest.mark.parametrize("repair", ["constant", "shift"])
def test_kernel_is_positive_semidefinite(n, repair):
    model = KernelIsomap(repair=repair).fit(make_swiss_roll(n, noise=0.5, random_state=1).points)
    values = np.linalg.eigvalsh(model.kernel_.dense())
    assert values[0] >= -1e-9 * values[-1]
    np.testing.assert_allclose(model.spectrum_.eigenvalues, values[::-1][:2], rtol=1e-9)
    assert model.negative_part().mass < 1e-9 < model.negative_part(before_repair=True).mass


def test_flat_data_needs_no_constant():
    X = s_curve()[:150]
    model = KernelIsomap(n_neighbors=149).fit(X)  # every walk is a straight line
    assert model.c_ < 1e-6
    assert difference(model.embedding_, Isomap(n_neighbors=149).fit_transform(X)) < 1e-6


def test_the_other_repairs():
    X, fresh = roll()[:500], roll()[500:600]
    isomap = Isomap().fit(X)
    none, clip, shift = (KernelIsomap(repair=repair).fit(X) for repair in (None, "clip", "shift"))
    for model in (none, clip):
        np.testing.assert_allclose(model.embedding_, isomap.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.transform(fresh), isomap.transform(fresh), atol=1e-8)
    values = np.linalg.eigvalsh(clip.kernel_.dense())
    assert values[0] >= -1e-9 * values[-1]
    # a shift stretches each axis of the map and turns none
    a = -isomap.negative_part().most_negative
    stretch = np.sqrt(1 + a / isomap.spectrum_.eigenvalues)
    np.testing.assert_allclose(shift.embedding_, isomap.embedding_ * stretch, atol=1e-6)
    assert none.c_ == clip.c_ == shift.c_ == 0
    for model in (none, clip, shift):
        assert model.negative_part(before_repair=True).mass == pytest.approx(isomap.negative_part().mass)
    assert none.negative_part() == none.negative_part(before_repair=True)


@pytest.mark.parametrize("repair", ["constant", "shift", "clip"])
def test_rows_beside_training_rows_land_beside_them(repair):
    X = roll()[:600]
    model = KernelIsomap(3, repair=repair).fit(X)
    np.testing.assert_allclose(model.transform(X + 1e-6), model.embedding_, atol=1e-4)


def test_new_rows_are_not_drawn_in():
    """In many columns nobody is very near to a new row; the constant does not bring it nearer to the middle."""
    X = load_digits().data[:900]
    known, new = X[:600], X[600:]
    isomap = Isomap().fit(known)
    shift, constant = (KernelIsomap(repair=repair).fit(known) for repair in ("shift", "constant"))
    stretch = np.sqrt(shift.spectrum_.eigenvalues / isomap.spectrum_.eigenvalues)
    np.testing.assert_allclose(shift.transform(new), isomap.transform(new) * stretch, atol=1e-8)
    widths = [model.transform(new).std(axis=0) / model.embedding_.std(axis=0) for model in (isomap, constant)]
    np.testing.assert_allclose(*widths, atol=0.04)


@pytest.mark.parametrize("repair", ["constant", "shift", "clip"])
def test_training_rows_return(repair):
    X = roll()[:600]
    X = np.vstack([X, X[:40], X[:10]])  # copies weigh more
    X = np.vstack([X, X[:40] + 1e-9])  # near-copies are rows of their own
    model = KernelIsomap(3, repair=repair).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    # without the look-up: the kernel's own row gives the place back
    kernel, piece = model.kernel_, model.model_.parts[0]
    there = kernel.cross(kernel.array) @ (kernel.mass[:, None] * piece.spectrum.eigenvectors)
    np.testing.assert_allclose(there / np.sqrt(piece.spectrum.eigenvalues), piece.coordinates, atol=1e-9)


def test_float32_finds_the_same_constant():
    X = roll()[:400]
    precise, short = KernelIsomap().fit(X), KernelIsomap().fit(X.astype(np.float32))
    assert short.kernel_.array.dtype == np.float32
    assert short.c_ == pytest.approx(precise.c_, rel=1e-4)
    values = np.linalg.eigvalsh(short.kernel_.dense())
    assert values[0] >= -1e-9 * values[-1]


def test_each_piece_has_its_own_constant():
    left = roll()[:200]
    X = np.vstack([left, left[:150] + [500.0, 0, 0], left[:2] + [0, 900.0, 0], left[:1] - 900.0])
    with pytest.warns(DisconnectedGraphWarning):
        model = KernelIsomap(radius=12.0, on_disconnected="separate").fit(X)
    assert np.isfinite(model.embedding_).all()
    assert model.c_ == pytest.approx(KernelIsomap(radius=12.0).fit(left).c_, rel=1e-8)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


# --- on the parts of Isomap: landmarks, conformal lengths, storage


@pytest.mark.parametrize("settings", [{}, {"landmarks": 60}, {"conformal": True}, {"storage": "float32"}])
def test_without_a_repair_it_is_isomap(settings):
    X = roll()[:400]
    model, plain = KernelIsomap(repair=None, **settings).fit(X), Isomap(**settings).fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    np.testing.assert_array_equal(model.transform(roll()[400:450]), plain.transform(roll()[400:450]))


@pytest.mark.parametrize("repair", ["constant", "shift", "clip"])
def test_the_kernel_of_landmarks_is_repaired(repair):
    X = roll()[:500]
    model, plain = KernelIsomap(repair=repair, landmarks=70).fit(X), Isomap(landmarks=70).fit(X)
    rows = model.landmarks_
    np.testing.assert_array_equal(rows, plain.landmarks_)
    walks = np.sqrt(plain.kernel_.array)
    expected = ClassicalMDS(repair=repair, metric="precomputed").fit(walks)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, expected.spectrum_.eigenvalues, rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.embedding_[rows]), np.abs(expected.embedding_), atol=1e-6)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    assert np.linalg.eigvalsh(model.kernel_.dense())[0] > -1e-6 * model.spectrum_.eigenvalues[0]
    if repair == "constant":
        apart = np.sqrt(model.kernel_.squared_distances([3], [9])[0, 0])
        assert apart == pytest.approx(walks[3, 9] + model.c_)


def test_a_shift_stretches_the_axes_of_landmarks_and_of_all_others():
    X = roll()[:500]
    model, plain = KernelIsomap(repair="shift", landmarks=70).fit(X), Isomap(landmarks=70).fit(X)
    stretch = np.sqrt(model.spectrum_.eigenvalues / plain.spectrum_.eigenvalues)
    assert (stretch > 1).all()
    np.testing.assert_allclose(model.embedding_, plain.embedding_ * stretch, atol=1e-6)


def test_walks_in_a_file_give_the_same_map(tmp_path):
    X = roll()[:300]
    model, plain = KernelIsomap(storage=tmp_path).fit(X), KernelIsomap().fit(X)
    np.testing.assert_allclose(model.embedding_, plain.embedding_, atol=1e-9)
    assert not list(tmp_path.iterdir())
