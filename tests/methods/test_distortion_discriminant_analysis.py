import numpy as np
import pytest
from scipy.linalg import eigh

from gramfold import PCA, DistortionDiscriminantAnalysis, OrientedPCA
from gramfold.errors import InputError, MemoryForecastError, RankWarning
from tests.methods.maps import difference


def clips(n=150, d=48, versions=2, seed=0):
    """Walks, and two distortions of each: noise, and a shift along the columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).cumsum(axis=1)
    noise = X + 0.5 * rng.standard_normal((versions, n, d))
    shifted = np.stack([np.roll(X, by, axis=1) + 0.1 * rng.standard_normal(X.shape) for by in (1, -1)])
    return X, noise, shifted


def plain(X, distorted, layers):
    """Layer by layer, window by window; each layer with mean 0 and noise of mean square 1. Its maps of all rows."""
    signals = [[[np.array([value]) for value in row] for row in X]]
    noisy = [[[np.array([value]) for value in row] for row in version] for version in distorted]
    for length, step, count in layers:
        frames = len(signals[0][0])
        starts = range(0, frames - length + 1, step)

        def cut(rows, starts=starts, length=length):
            return [[np.concatenate(row[start : start + length]) for start in starts] for row in rows]

        clean, loud = cut(signals[0]), [cut(rows) for rows in noisy]
        flat = np.array([window for row in clean for window in row])
        mean = flat.mean(axis=0)
        R = np.zeros((flat.shape[1], flat.shape[1]))
        for rows in loud:
            for row, own in zip(rows, clean, strict=True):
                for window, undistorted in zip(row, own, strict=True):
                    R += np.outer(window - undistorted, window - undistorted)
        R /= len(loud) * len(flat)
        N = eigh(np.cov(flat.T, bias=True), R)[1][:, ::-1][:, :count]
        signals = [[[(window - mean) @ N for window in row] for row in clean]]
        noisy = [[[(window - mean) @ N for window in row] for row in rows] for rows in loud]
    return np.array(signals[0])[:, 0], [np.array(rows)[:, 0] for rows in noisy]


# --- reference


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [(8, 8, 3)],
        [(8, 4, 3)],  # windows that overlap
        [(6, 3, 4), (3, 2, 5)],  # three layers
    ],
)
def test_matches_layers_made_window_by_window(layers):
    X, noise, _ = clips(n=80)
    model = DistortionDiscriminantAnalysis(3, layers=layers).fit(X, X_distorted=noise)
    frames = 48
    for length, step, _ in layers:
        frames = (frames - length) // step + 1
    expected, loud = plain(X, noise, [*layers, (frames, 1, 3)])
    assert difference(model.embedding_, expected) < 1e-8
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected), atol=1e-7 * np.abs(expected).max())
    for version, places in zip(noise, loud, strict=True):
        np.testing.assert_allclose(np.abs(model.transform(version)), np.abs(places), atol=1e-7 * np.abs(places).max())


def test_each_layer_has_distortions_of_its_own():
    X, noise, shifted = clips()
    layers = [(8, 8, 3)]
    mixed = DistortionDiscriminantAnalysis(3, layers=layers).fit(X, X_distorted=[noise, shifted])
    only_noise = DistortionDiscriminantAnalysis(3, layers=layers).fit(X, X_distorted=noise)
    np.testing.assert_array_equal(mixed.layers_[0].axes, only_noise.layers_[0].axes)
    # the top layer, by itself, on what the first has made
    windows = mixed.layers_[0].windows

    def below(rows):
        return (windows.of(rows[:, :, None]) @ mixed.layers_[0].axes).reshape(len(rows), -1)

    top = OrientedPCA(3).fit(below(X), X_distorted=np.stack([below(version) for version in shifted]))
    assert difference(mixed.embedding_, top.embedding_) < 1e-8
    np.testing.assert_allclose(mixed.signal_to_noise_, top.signal_to_noise_)
    # alignment noise, which it was told of, moves its features less
    moved = [np.square(model.transform(shifted[0]) - model.embedding_).mean() for model in (mixed, only_noise)]
    spread = [model.embedding_.var() for model in (mixed, only_noise)]
    assert moved[0] / spread[0] < moved[1] / spread[1]


# --- theory


def test_signal_has_mean_zero_and_noise_unit_mean_square():
    X, noise, _ = clips()
    model = DistortionDiscriminantAnalysis(4, layers=[(8, 4, 3), (3, 2, 4)]).fit(X, X_distorted=noise)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-9)
    made = np.concatenate([model.transform(version) - model.embedding_ for version in noise])
    np.testing.assert_allclose(np.square(made).mean(axis=0), 1.0, rtol=1e-8)
    features = X[:, :, None]
    differences = (noise[0] - X)[:, :, None], (noise[1] - X)[:, :, None]
    for layer in model.layers_:  # and so within
        signal = layer.windows.of(features)
        signal = (signal - signal.mean(axis=0)) @ layer.axes
        np.testing.assert_allclose(signal.var(axis=0), layer.signal_to_noise, rtol=1e-8)
        features = signal.reshape(len(X), layer.windows.count, -1)
        differences = [layer.differences(each) for each in differences]
        mean_square = np.mean([np.square(each).mean(axis=(0, 1)) for each in differences], axis=0)
        np.testing.assert_allclose(mean_square, 1.0, rtol=1e-8)


def test_one_layer_is_oriented_pca():
    X, noise, _ = clips()
    ours = DistortionDiscriminantAnalysis(3).fit(X, X_distorted=noise)
    theirs = OrientedPCA(3).fit(X, X_distorted=noise)
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-10)


def test_layers_without_distortion_are_layers_of_principal_components():
    X, _, _ = clips()
    model = DistortionDiscriminantAnalysis(3, layers=[(8, 8, 2)]).fit(X)
    frames = X.reshape(150, 6, 8)
    lower = PCA(2).fit(frames.reshape(-1, 8))
    upper = PCA(3).fit(lower.embedding_.reshape(150, 12))
    assert difference(model.embedding_, upper.embedding_) < 1e-9
    one, principal = DistortionDiscriminantAnalysis(3).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(one.embedding_, principal.embedding_, atol=1e-11)


def test_layers_that_keep_everything_change_nothing():
    """Complete lower layers are invertible, and oriented PCA does not care about the basis of its input."""
    X, noise, _ = clips()
    whole = DistortionDiscriminantAnalysis(3, layers=[(8, 8, 8)]).fit(X, X_distorted=noise)
    assert difference(whole.embedding_, OrientedPCA(3).fit(X, X_distorted=noise).embedding_) < 1e-7


def test_kernel_is_that_of_the_last_layer():
    X, noise, _ = clips()
    model = DistortionDiscriminantAnalysis(3, layers=[(8, 8, 3)]).fit(X, X_distorted=noise)
    np.testing.assert_allclose(model.spectrum_.eigenvalues, 150 * model.signal_to_noise_, rtol=1e-8)
    V = model.spectrum_.eigenvectors
    np.testing.assert_allclose(model.kernel_ @ V, V * model.spectrum_.eigenvalues, rtol=1e-6, atol=1e-6)


def test_bad_layers_get_their_sentence():
    X, noise, _ = clips()
    cases = [
        ([(8, 8)], None, "must be three positive integers"),
        ([(8, 0, 2)], None, "must be three positive integers"),
        ([7], None, "must be three positive integers"),
        (
            [(10, 10, 2)],
            None,
            "windows of 10 columns every 10 columns, .* the 48 columns of a row .*rows with 40 columns",
        ),
        ([(50, 1, 2)], None, "do not cover the 48 columns"),
        (
            [(8, 8, 2), (4, 4, 2)],
            None,
            r"layers\[1\] has windows of 4 frames every 4 frames, which do not cover the 6 frames",
        ),
        ([(8, 8, 9)], None, "has n_components=9, but its windows have only 8 values"),
        ([(8, 8, 2)], [noise], "X_distorted is a list of length 1, but there are 2 layers"),
        ([(8, 8, 2)], [noise, noise[:, :3]], r"X_distorted\[1\] has shape \(2, 3, 48\)"),
    ]
    for layers, distorted, sentence in cases:
        with pytest.raises(InputError, match=sentence):
            DistortionDiscriminantAnalysis(layers=layers).fit(X, X_distorted=distorted)


def test_rows_that_are_all_the_same_have_a_map_of_zeros():
    same, noise = np.full((20, 6), 0.1), np.random.default_rng(0).standard_normal((20, 6))
    for layers in ((), [(3, 3, 2)], [(2, 1, 2), (2, 1, 1)]):
        for distorted in (None, same + noise):
            with pytest.warns(RankWarning, match="vary along only 0 directions"):
                model = DistortionDiscriminantAnalysis(2, layers=layers).fit(same, X_distorted=distorted)
            assert (model.embedding_ == 0).all()


def test_windows_that_vary_along_fewer_directions_than_a_layer_has():
    X = clips(40, 6)[0]
    X[:, [1, 2, 4, 5]] = 1.0  # one column of each window varies
    model = DistortionDiscriminantAnalysis(2, layers=[(3, 3, 2)]).fit(X)
    assert model.layers_[0].axes.shape == (3, 2)
    assert difference(model.embedding_, PCA(2).fit(X).embedding_) < 1e-10


def test_many_columns_without_noise_need_no_matrix_of_them():
    wide = np.random.default_rng(0).standard_normal((10, 60_000))
    for cls in (DistortionDiscriminantAnalysis, OrientedPCA):
        assert difference(cls(2).fit(wide).embedding_, PCA(2).fit(wide).embedding_) < 1e-10
    with pytest.raises(MemoryForecastError, match="not even 3 rows fit, so free some memory, or use fewer columns: "):
        OrientedPCA(2).fit(np.zeros((3, 200_000)), X_distorted=np.ones((3, 200_000)))
