import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.stats import ortho_group
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import sigmoid_kernel

from gramfold import KernelPCA, NystromEmbedding
from gramfold.errors import InputError, RankWarning
from tests.methods.maps import difference, digits, s_curve

X = s_curve()
fresh = np.random.default_rng(5).standard_normal((40, 3))
WAYS = ["exact", "approximate"]
# few rows or landmarks make a map that shows little, and says so: not what is asked here
shows_little = pytest.mark.filterwarnings("ignore::gramfold.errors.DegenerateMapWarning")
# the fresh rows lie off the curve, so that two formulas must agree where nothing is near
pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.ExtrapolationWarning")


def squares(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.square(left[:, None] - right[None]).sum(axis=2)


@pytest.mark.parametrize("eigenvectors", WAYS)
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
def test_all_rows_as_landmarks_is_kernel_pca(eigenvectors, kernel):
    ours = NystromEmbedding(3, kernel=kernel, landmarks=len(X), eigenvectors=eigenvectors).fit(X)
    whole = KernelPCA(3, kernel=kernel).fit(X)
    assert difference(ours.embedding_, whole.embedding_) < 1e-8
    assert difference(ours.transform(fresh), whole.transform(fresh)) < 1e-8
    np.testing.assert_allclose(ours.spectrum_.eigenvalues, whole.spectrum_.eigenvalues, rtol=1e-8)
    assert ours.error_ < 1e-12


@pytest.mark.parametrize("landmarks", [3, 4, 50])
def test_a_kernel_of_low_rank_is_reproduced(landmarks):
    rows = X - 0.3
    model = NystromEmbedding(3, kernel="linear", landmarks=landmarks).fit(rows)
    whole = KernelPCA(3, kernel="linear").fit(rows)
    K = whole.kernel_.dense()
    assert np.abs(model.kernel_.dense() - K).max() < 1e-10 * np.abs(K).max()
    np.testing.assert_allclose(model.spectrum_.eigenvalues, whole.spectrum_.eigenvalues, rtol=1e-10)
    assert difference(model.embedding_, whole.embedding_) < 1e-10
    assert model.error_ < 1e-12


def test_features_are_scikit_learns():
    theirs = Nystroem(gamma=0.3, n_components=60, random_state=0).fit(X)
    ours = NystromEmbedding(3, gamma=0.3, landmarks=theirs.component_indices_).fit(X)
    features = theirs.transform(X)  # uncentred; kernel PCA of them is PCA
    U, s, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    assert difference(ours.embedding_, U[:, :3] * s[:3]) < 1e-8
    np.testing.assert_allclose(ours.error_, 1 - np.square(features).sum() / len(X), atol=1e-10)


def test_approximate_is_kernel_pca_of_the_landmarks():
    model = NystromEmbedding(3, gamma=0.3, landmarks=40, eigenvectors="approximate").fit(X)
    own = KernelPCA(3, gamma=0.3).fit(X[model.landmarks_])
    np.testing.assert_allclose(model.embedding_, own.transform(X), atol=1e-12)
    np.testing.assert_allclose(model.transform(fresh), own.transform(fresh), atol=1e-12)
    assert model.kernel_.shape == (40, 40)


@pytest.mark.parametrize("choice", ["random", "kmeans", "leverage"])
def test_few_landmarks_carry_the_map(choice):
    whole = KernelPCA(3).fit(X)
    model = NystromEmbedding(3, landmarks=60, landmark_choice=choice).fit(X)
    assert procrustes(whole.embedding_, model.embedding_)[2] < 1e-5
    assert procrustes(whole.transform(fresh), model.transform(fresh))[2] < 1e-3
    assert (model.spectrum_.eigenvalues <= whole.spectrum_.eigenvalues * (1 + 1e-12)).all()  # K − K̂ is semidefinite


@shows_little
@pytest.mark.parametrize("choice", ["random", "kmeans", "leverage"])
@pytest.mark.parametrize("eigenvectors", WAYS)
def test_error_is_the_trace_of_the_schur_complement(choice, eigenvectors):
    rows = digits()[:300]
    model = NystromEmbedding(landmarks=25, landmark_choice=choice, eigenvectors=eigenvectors).fit(rows)
    K = np.exp(-model.gamma_ * squares(rows, rows))
    C = K[:, model.landmarks_]
    schur = K - C @ np.linalg.pinv(C[model.landmarks_], hermitian=True) @ C.T
    assert model.error_ == pytest.approx(np.trace(schur) / 300, rel=1e-8)
    H = np.eye(300) - 1 / 300
    truth = np.trace(H @ schur @ H) / np.trace(H @ K @ H)
    assert truth <= model.centered_error_ * (1 + 1e-9)
    assert model.centered_error_ < 1.1 * truth


def test_more_landmarks_miss_less():
    errors = [NystromEmbedding(landmarks=count).fit(X).error_ for count in (10, 30, 90, 270)]
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 1e-8


@pytest.mark.parametrize("eigenvectors", WAYS)
def test_given_landmarks_and_columns_of_a_kernel(eigenvectors):
    rows = np.array([5, 300, 17, 640, 400, 99, 701])
    settings = {"landmarks": rows, "eigenvectors": eigenvectors}
    from_rows = NystromEmbedding(gamma=0.3, **settings).fit(X)
    np.testing.assert_array_equal(from_rows.landmarks_, rows)
    K, to_fresh = np.exp(-0.3 * squares(X, X)), np.exp(-0.3 * squares(fresh, X))
    from_columns = NystromEmbedding(kernel="precomputed", **settings).fit(K[:, rows])
    from_square = NystromEmbedding(kernel="precomputed", **settings).fit(K)
    for model, new in ((from_columns, to_fresh[:, rows]), (from_square, to_fresh)):
        np.testing.assert_allclose(model.embedding_, from_rows.embedding_, atol=1e-9)
        np.testing.assert_allclose(model.transform(new), from_rows.transform(fresh), atol=1e-9)
    assert from_square.error_ == pytest.approx(from_rows.error_)
    assert from_columns.error_ is None  # k(x, x) is not among what was given


@pytest.mark.parametrize("eigenvectors", WAYS)
def test_all_rows_as_landmarks_in_any_order(eigenvectors):
    order = np.random.default_rng(0).permutation(60)
    rows = X[:60]
    plain = KernelPCA(gamma=0.3).fit(rows)
    K = np.exp(-0.3 * squares(rows, rows))
    for settings, given in (({"gamma": 0.3}, rows), ({"kernel": "precomputed"}, K)):
        mixed = NystromEmbedding(landmarks=order, eigenvectors=eigenvectors, **settings).fit(given)
        assert difference(mixed.embedding_, plain.embedding_) < 1e-8
        np.testing.assert_allclose(mixed.transform(given), mixed.embedding_, atol=1e-9)


def test_moved_rows_give_the_same_map():
    rotation = ortho_group.rvs(3, random_state=0)
    still = NystromEmbedding(landmarks=50).fit(X).embedding_
    for moved in (X @ rotation, X + [3.0, -5.0, 11.0]):
        assert difference(NystromEmbedding(landmarks=50).fit(moved).embedding_, still) < 1e-8


def test_sparse_rows_are_not_densified_and_agree():
    counts = np.random.default_rng(0).poisson(0.3, (200, 30)).astype(float)
    for kernel in ("linear", "rbf", "cosine"):
        for choice in ("random", "leverage"):
            settings = {"kernel": kernel, "landmarks": 60, "landmark_choice": choice}
            sparse, dense = (NystromEmbedding(**settings).fit(rows) for rows in (csr_array(counts), counts))
            assert difference(sparse.embedding_, dense.embedding_) < 1e-8
            assert sparse.error_ == pytest.approx(dense.error_, abs=1e-12)


@shows_little
def test_a_function_of_two_rows():
    named = NystromEmbedding(gamma=0.3, landmarks=20, landmark_choice="leverage").fit(X[:100])
    by_hand = NystromEmbedding(
        kernel=lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2)), landmarks=20, landmark_choice="leverage"
    ).fit(X[:100])
    assert difference(by_hand.embedding_, named.embedding_) < 1e-8
    assert by_hand.error_ == pytest.approx(named.error_, rel=1e-6)


def test_float32_columns_of_a_kernel_keep_what_they_know():
    K = np.exp(-0.3 * squares(X, X))
    precise = NystromEmbedding(kernel="precomputed").fit(K)
    rough = NystromEmbedding(kernel="precomputed").fit(K.astype(np.float32))
    assert difference(rough.embedding_, precise.embedding_) < 1e-4
    np.testing.assert_allclose(rough.kernel_.dense(), precise.kernel_.dense(), atol=2e-3)
    assert rough.error_ < 10 * precise.error_


def test_a_large_table_needs_no_square():
    # 100,000 rows have a kernel of 80 GB; blocks of one million values are the most that exists at a time
    rows = np.random.default_rng(0).standard_normal((100_000, 3)).astype(np.float32)
    model = NystromEmbedding(kernel="linear", landmarks=20).fit(rows)
    covariance = np.linalg.eigvalsh(np.cov(rows.T.astype(float), bias=True))[::-1][:2]
    np.testing.assert_allclose(model.spectrum_.eigenvalues, 100_000 * covariance, rtol=1e-8)
    assert model.kernel_.values.points.nbytes == rows.nbytes  # and nothing beside them


def test_rank_is_told():
    with pytest.warns(RankWarning, match="n_components=5, but the kernel has only 3 positive eigenvalues"):
        model = NystromEmbedding(5, kernel="linear", landmarks=20).fit(X)
    assert (model.embedding_[:, 3:] == 0).all()
    assert (model.transform(fresh)[:, 3:] == 0).all()
    constant = lambda a, b: 1.0  # noqa: E731
    with pytest.warns(RankWarning, match="0 positive eigenvalues"):
        assert (NystromEmbedding(kernel=constant).fit(X[:50]).embedding_ == 0).all()


def test_negative_part_of_an_indefinite_kernel_is_dropped_and_told():
    model = NystromEmbedding(kernel="sigmoid", gamma=1.0, landmarks=50).fit(X)
    assert model.negative_part().mass == 0
    assert model.negative_part().exact
    told = model.negative_part(before_repair=True)
    rows = X[model.landmarks_]
    every = np.linalg.eigvalsh(sigmoid_kernel(rows, rows, gamma=1.0))
    assert told.mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum(), rel=1e-6)
    assert told.mass > 1e-3
    assert told.most_negative == pytest.approx(every[0], rel=1e-9)
    assert NystromEmbedding(landmarks=50).fit(X).negative_part(before_repair=True).mass == 0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"landmarks": [3, 3, 4]}, "contain row 3 more than once"),
        ({"landmarks": [0, 9999]}, "contain row 9999, but there are 800 rows"),
        ({"landmarks": [0, 1], "kernel": "precomputed"}, "X has 3 columns, but precomputed kernel values"),
        ({"landmarks": 2, "n_components": 3}, "n_components=3, but there are only 2 landmarks"),
        ({"landmarks": None}, "landmarks"),
        ({"landmark_choice": "dice"}, "landmark_choice"),
    ],
)
def test_landmarks_that_cannot_be(settings, sentence):
    with pytest.raises((InputError, ValueError), match=sentence):
        NystromEmbedding(**settings).fit(X)


def test_kmeans_needs_rows():
    with pytest.raises(InputError, match="needs the rows themselves"):
        NystromEmbedding(kernel="precomputed", landmarks=5, landmark_choice="kmeans").fit(X @ X.T)


# --- footnote 11


@pytest.mark.parametrize("eigenvectors", WAYS)
def test_a_kernel_with_gaps_gives_the_map_of_the_whole_one(eigenvectors):
    known = np.arange(5)  # of rank 3
    whole = X @ X.T
    gaps = whole.copy()
    gaps[5:, 5:] = np.nan
    settings = {"kernel": "precomputed", "eigenvectors": eigenvectors, "landmarks": known}
    ours, theirs = NystromEmbedding(3, **settings).fit(gaps), NystromEmbedding(3, **settings).fit(whole)
    assert difference(ours.embedding_, theirs.embedding_) < 1e-8
    assert (ours.completion_.rank, theirs.completion_) == (3, None)
    np.testing.assert_allclose(ours.error_, 0.0, atol=1e-10)
    np.testing.assert_allclose(ours.transform(whole), ours.embedding_, atol=1e-8)
    with pytest.raises(InputError, match="X contains NaN"):
        ours.transform(gaps)
    with pytest.raises(InputError, match="must be square"):
        NystromEmbedding(**settings).fit(gaps[:, known].copy() + np.where(np.arange(5) == 2, np.nan, 0.0))


def test_rows_that_are_all_equal_have_no_axis():
    with pytest.warns(RankWarning, match="only 0 positive"):
        model = NystromEmbedding(n_components=1, eigenvectors="approximate").fit(np.zeros((38, 1), dtype=np.float32))
    assert not model.embedding_.any()
