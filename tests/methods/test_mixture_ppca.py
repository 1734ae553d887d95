import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from gramfold import PCA, MixturePPCA, ProbabilisticPCA
from gramfold.errors import InputError, MemoryForecastError, NotConvergedWarning, RankWarning
from tests.methods.maps import difference

DIGITS = load_digits().data


class Planted:
    """Rows about planes of 2 dimensions in 10."""

    def __init__(self, n: int = 900, noise: float = 0.1, apart: float = 3.0, K: int = 3, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.frames = [np.linalg.qr(rng.standard_normal((10, 2)))[0] for _ in range(K)]
        self.means = apart * rng.standard_normal((K, 10))
        self.labels = rng.integers(0, K, n)
        z = rng.standard_normal((n, 2)) * [3.0, 2.0]
        on_planes = [self.means[k] + self.frames[k] @ one for k, one in zip(self.labels, z, strict=True)]
        self.X = np.array(on_planes) + noise * rng.standard_normal((n, 10))


def densities(model: MixturePPCA, X: np.ndarray) -> np.ndarray:
    """log π_k N_k(x), slow and plain."""
    columns = []
    for share, plane in zip(model.shares_, model.planes_, strict=True):
        W = plane.axes * np.sqrt(plane.variances - plane.noise)
        C = W @ W.T + plane.noise * np.eye(len(plane.mean))
        columns.append(np.log(share) + multivariate_normal(plane.mean, C).logpdf(X))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("apart", [3.0, 0.0])  # planes beside each other, and planes that cross in one point
def test_planted_planes_are_recovered(apart):
    truth = Planted(apart=apart)
    model = MixturePPCA(2, n_planes=3, n_init=8).fit(truth.X)
    labels = model.responsibilities(truth.X).argmax(axis=1)
    assert adjusted_rand_score(labels, truth.labels) > (0.99 if apart else 0.85)
    for k, frame in enumerate(truth.frames):
        mine = np.bincount(labels[truth.labels == k]).argmax()
        plane = model.planes_[mine]
        assert subspace_angles(plane.axes, frame).max() < 0.05
        assert plane.noise == pytest.approx(0.01, rel=0.2)
        off = plane.mean - truth.means[k]
        assert np.linalg.norm(off - frame @ (frame.T @ off)) < 0.1  # the mean lies on the planted plane
        assert model.shares_[mine] == pytest.approx((truth.labels == k).mean(), abs=0.05)


def test_density_is_that_of_the_mixture():
    truth = Planted(300)
    model = MixturePPCA(2, n_planes=3).fit(truth.X)
    joint = densities(model, truth.X)
    np.testing.assert_allclose(model.score_samples(truth.X), logsumexp(joint, axis=1), rtol=1e-8)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    np.testing.assert_allclose(model.responsibilities(truth.X), expected, atol=1e-9)


def test_one_plane_is_probabilistic_pca():
    X = DIGITS[:600]
    mixture, single = MixturePPCA(5, n_planes=1).fit(X), ProbabilisticPCA(5).fit(X)
    np.testing.assert_allclose(mixture.score_samples(X), single.score_samples(X), rtol=1e-9)
    assert difference(mixture.embedding_, PCA(5).fit(X).embedding_) < 1e-9
    pca = PCA(5).fit(X)
    np.testing.assert_allclose(mixture.reconstruct(X), pca.inverse_transform(pca.embedding_), atol=1e-9)


def test_a_step_is_that_of_the_plain_algorithm():
    truth = Planted(120, apart=1.0)
    X = truth.X
    settings = {"n_planes": 2, "n_init": 1, "tol": 0.0}
    with pytest.warns(NotConvergedWarning, match="max_iter=1 iterations"):
        before = MixturePPCA(2, max_iter=1, **settings).fit(X)
    with pytest.warns(NotConvergedWarning, match=r"max_iter=2 iterations \(last increase"):
        after = MixturePPCA(2, max_iter=2, **settings).fit(X)
    joint = densities(before, X)
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert after.log_likelihoods_[1] == pytest.approx(logsumexp(joint, axis=1).sum())
    for k, plane in enumerate(after.planes_):
        mean = np.average(X, axis=0, weights=r[:, k])
        values, vectors = np.linalg.eigh(np.cov(X.T, aweights=r[:, k], bias=True))
        np.testing.assert_allclose(plane.mean, mean, atol=1e-9)
        np.testing.assert_allclose(plane.variances, values[:-3:-1], rtol=1e-9)
        assert plane.noise == pytest.approx(values[:-2].mean())
        assert subspace_angles(plane.axes, vectors[:, -2:]).max() < 1e-6
        assert after.shares_[k] == pytest.approx(r[:, k].mean())


@pytest.mark.parametrize(("name", "p", "K"), [("digits", 8, 6), ("crossing", 2, 4), ("copies", 2, 5)])
def test_likelihood_never_falls(name, p, K):
    X = {"digits": DIGITS, "crossing": Planted(apart=0.0).X, "copies": with_copies()}[name]
    model = MixturePPCA(p, n_planes=K, tol=1e-7, n_init=1, max_iter=2000).fit(X)
    rises = np.diff(model.log_likelihoods_)
    assert len(rises) > 5
    assert (rises >= -1e-11 * np.abs(model.log_likelihoods_[:-1])).all()


def with_copies() -> np.ndarray:
    """Two clouds, and one point 30 times: a plane that falls upon it would have no end of density."""
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((200, 5))
    return np.vstack([cloud, cloud[:100] + 8, np.full((30, 5), 20.0)])


def test_planes_do_not_collapse():
    X = with_copies()
    model = MixturePPCA(2, n_planes=5).fit(X)
    floor = 1e-3 * ProbabilisticPCA(2).fit(X).noise_variance_
    assert min(plane.noise for plane in model.planes_) >= floor * (1 - 1e-9)
    assert min(plane.noise for plane in model.planes_) == pytest.approx(floor)  # it would have
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.score_samples(X + 100)).all()  # far away every plane's density is 0 in floating point


def test_more_planes_than_the_rows_can_hold():
    X = Planted(25).X
    model = MixturePPCA(2, n_planes=8).fit(X)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_allclose(model.responsibilities(X).sum(axis=1), 1)
    with pytest.raises(InputError, match="n_planes=30 is more than the 25 rows of X"):
        MixturePPCA(2, n_planes=30).fit(X)


def test_held_out_digits_are_likelier_than_under_one_plane():
    order = np.random.default_rng(0).permutation(len(DIGITS))
    known, fresh = DIGITS[order[:1300]], DIGITS[order[1300:]]
    assert MixturePPCA(10, n_planes=5).fit(known).score(fresh) > ProbabilisticPCA(10).fit(known).score(fresh) + 10


def test_with_all_dimensions_it_is_the_full_gaussian_mixture():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)) + 6 * k for k in range(2)])
    ours = MixturePPCA(3, n_planes=2, tol=1e-9).fit(X)
    theirs = GaussianMixture(2, tol=1e-10, max_iter=1000, reg_covar=0, random_state=0).fit(X)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-5)
    assert ours.bic(X) == pytest.approx(theirs.bic(X) - 0.0, rel=1e-4)  # the same freedom


def test_bic_finds_the_number_of_planes():
    truth = Planted(600, K=3)
    model = MixturePPCA(2, n_planes="bic", max_planes=6).fit(truth.X)
    assert model.n_planes_ == 3 == len(model.planes_)
    assert list(model.bic_) == [1, 2, 3, 4, 5, 6]
    assert min(model.bic_, key=model.bic_.get) == 3
    assert model.bic_[3] == pytest.approx(model.bic(truth.X))
    one_by_hand = MixturePPCA(2, n_planes=1).fit(truth.X)
    freedom = 10 + (10 * 2 - 1) + 1  # a mean, two axes with their variances, the noise
    expected = freedom * np.log(600) - 2 * one_by_hand.score(truth.X) * 600
    assert model.bic_[1] == pytest.approx(expected)


def test_rebuilt_rows_are_the_soft_mean_of_the_nearest_points():
    truth = Planted(200, apart=0.5)
    model = MixturePPCA(2, n_planes=3).fit(truth.X)
    r, along = model.responsibilities(truth.X), model.projections(truth.X)
    expected = np.zeros_like(truth.X)
    for k, plane in enumerate(model.planes_):
        np.testing.assert_allclose(along[:, k], (truth.X - plane.mean) @ plane.axes, atol=1e-10)
        expected += r[:, k : k + 1] * (plane.mean + along[:, k] @ plane.axes.T)
    np.testing.assert_allclose(model.reconstruct(truth.X), expected, atol=1e-10)
    single = PCA(2).fit(truth.X)
    of_one = np.linalg.norm(truth.X - single.inverse_transform(single.embedding_))
    assert np.linalg.norm(truth.X - expected) < 0.2 * of_one
    # the map is the principal components of these rows
    assert difference(model.embedding_, PCA(2).fit(expected).embedding_) < 1e-9


def test_the_way_back_is_the_mean_of_the_rows_there():
    # drawn from the model on its planes, the mean row of those that land near a place is what comes back
    truth = Planted(600, apart=2.0, K=2)
    model = MixturePPCA(2, n_planes=2).fit(truth.X)
    back = model.inverse_transform(model.embedding_)
    of_map = np.linalg.norm(truth.X - back) / np.linalg.norm(truth.X - truth.X.mean(axis=0))
    assert model.inverse_error() == pytest.approx(of_map, rel=0.1)
    linear = PCA(2).fit(truth.X)
    assert of_map < 0.75 * linear.inverse_error()
    rng = np.random.default_rng(1)
    plane = model.planes_[rng.integers(0, 2, 1)[0]]
    place = model.transform(plane.mean[None])[0]
    rows = []
    for share, one in zip(model.shares_, model.planes_, strict=True):
        t = rng.standard_normal((int(400_000 * share), 2)) * np.sqrt(one.variances)
        points = one.mean + t @ one.axes.T
        noise = np.sqrt(one.noise) * rng.standard_normal((len(t), 2))
        there = (points - model.mean_) @ model.components_.T + noise
        rows.append(points[np.linalg.norm(there - place, axis=1) < 0.15])
    np.testing.assert_allclose(model.inverse_transform(place[None])[0], np.vstack(rows).mean(axis=0), atol=0.1)


def test_rotated_and_shifted_rows_give_the_same_map():
    from scipy.stats import ortho_group

    X = Planted(300).X
    model = MixturePPCA(2, n_planes=3).fit(X)
    for moved in (X @ ortho_group.rvs(10, random_state=0), X + 50):
        assert difference(MixturePPCA(2, n_planes=3).fit(moved).embedding_, model.embedding_) < 1e-6


def test_threads_change_no_bit():
    X = Planted(900).X
    first, second = (MixturePPCA(2, n_planes=3, n_jobs=jobs).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(first.log_likelihoods_, second.log_likelihoods_)


def test_float32_rows():
    X = Planted(400).X
    narrow, wide = (MixturePPCA(2, n_planes=3).fit(X.astype(dtype)) for dtype in (np.float32, np.float64))
    assert narrow.reconstruct(X.astype(np.float32)).dtype == np.float32
    assert difference(narrow.embedding_.astype(float), wide.embedding_) < 1e-4
    assert narrow.score(X.astype(np.float32)) == pytest.approx(wide.score(X), abs=1e-4)


@pytest.mark.parametrize("far", [1e4, 1e8])
def test_rows_far_from_the_origin_have_the_same_planes(far):
    X = Planted(300).X
    near, away = MixturePPCA(2, n_planes=3).fit(X), MixturePPCA(2, n_planes=3).fit(X + far)
    assert away.score(X + far) == pytest.approx(near.score(X), abs=1e-5)
    assert difference(near.embedding_, away.embedding_) < 1e-6
    for one, other in zip(near.planes_, away.planes_, strict=True):
        assert other.noise == pytest.approx(one.noise, rel=1e-5)


def test_rows_that_are_all_equally_far_apart():
    model = MixturePPCA(2).fit(np.eye(40))
    np.testing.assert_allclose(model.responsibilities(np.eye(40)).sum(axis=1), 1)
    assert (np.diff(model.log_likelihoods_) > -1e-9 * np.abs(model.log_likelihoods_[1:])).all()
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=0), 1.0)


def test_copies_have_planes_only_for_as_many_as_differ():
    two = np.repeat([[0.0, 0, 1], [3.0, 1, 0]], 20, axis=0)
    model = MixturePPCA(1, n_planes="bic").fit(two)
    assert list(model.bic_) == [1, 2]
    with pytest.raises(InputError, match="n_planes=3 is more than the 2 distinct rows of X"):
        MixturePPCA(1, n_planes=3).fit(two)
    with pytest.raises(InputError, match="the 20 rows are identical up to rounding"):
        MixturePPCA(1).fit(np.full((20, 3), 0.1))


def test_planes_that_too_few_rows_hold_have_the_least_noise_too():
    X = np.random.default_rng(0).standard_normal((5, 11))
    fresh = np.random.default_rng(1).standard_normal((4, 11))
    model = MixturePPCA(4, n_init=1).fit(X)
    assert min(plane.noise for plane in model.planes_) > 1e-9
    np.testing.assert_allclose(model.responsibilities(1e6 * fresh).sum(axis=1), 1.0)
    alone = np.vstack([model.transform(row[None]) for row in fresh])
    np.testing.assert_allclose(model.transform(fresh), alone, atol=1e-8)


@pytest.mark.parametrize("n_components", [2, 3])
def test_a_map_with_a_column_of_zeros_has_a_way_back(n_components):
    line = np.random.default_rng(0).standard_normal((19, 1))
    with pytest.warns(RankWarning):
        model = MixturePPCA(n_components, n_planes=3).fit(line)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), line, atol=1e-3)


def test_groups_that_cannot_be_told_apart_are_fewer_planes():
    X = np.random.default_rng(0).standard_normal((60, 6)).astype(np.float32)
    X[7] = 1e12
    with pytest.warns(
        RankWarning, match="k-means found only 2 groups of rows, so there are 2 planes instead of n_planes=3"
    ):
        model = MixturePPCA(1, n_planes=3).fit(X)
    assert model.n_planes_ == 2
    assert set(model.responsibilities(X).argmax(axis=1)[[0, 7]]) == {0, 1}


def test_many_columns_are_refused_before_the_work():
    with pytest.raises(MemoryForecastError, match=r"not even 3 rows fit, so free some memory, or use fewer columns: "):
        MixturePPCA().fit(np.random.default_rng(0).standard_normal((10, 400_000)))
