import numpy as np
import pytest
from scipy.spatial.distance import cdist, squareform

from gramfold import ClassicalMDS
from gramfold.errors import InputError
from tests.methods.maps import difference, s_curve

X = s_curve()[:200]


def plain_classical_mds(D, p):
    """The textbook, with every matrix written out."""
    n = len(D)
    H = np.eye(n) - np.ones((n, n)) / n
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    return vectors[:, ::-1][:, :p] * np.sqrt(values[::-1][:p])


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "chebyshev", "canberra", "correlation"])
def test_matches_the_plain_version(metric):
    D = cdist(X, X, metric)
    assert difference(ClassicalMDS(metric=metric).fit_transform(X), plain_classical_mds(D, 2)) < 1e-7


def test_three_dimensions_hold_all_distances_of_rows_in_space():
    model = ClassicalMDS(3).fit(X)
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-7)
    fresh = s_curve()[200:260]
    np.testing.assert_allclose(cdist(model.transform(fresh), model.embedding_), cdist(fresh, X), atol=1e-7)


def test_precomputed_equals_rows():
    D = cdist(X, X, "cityblock")
    known = ClassicalMDS(metric="precomputed").fit(D)
    rows = ClassicalMDS(metric="cityblock").fit(X)
    assert difference(known.embedding_, rows.embedding_) < 1e-8
    fresh = s_curve()[200:220]
    np.testing.assert_allclose(known.transform(cdist(fresh, X, "cityblock")), rows.transform(fresh), atol=1e-9)


def test_negative_part_tells_that_no_space_has_these_distances():
    # four points, three of them pairwise at 2 and all at 1.01 from the fourth: too near for any plane or space
    D = squareform([2, 2, 1.01, 2, 1.01, 1.01])
    found = ClassicalMDS(metric="precomputed").fit(D).negative_part()
    every = np.linalg.eigvalsh(-0.5 * (np.eye(4) - 0.25) @ D**2 @ (np.eye(4) - 0.25))
    assert found.exact
    assert found.most_negative == pytest.approx(every[0])
    assert found.mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum())


def test_trace_tells_what_share_the_map_holds():
    spectrum = ClassicalMDS(3).fit(X).spectrum_
    assert spectrum.eigenvalues.sum() == pytest.approx(spectrum.total)
    assert spectrum.total == pytest.approx(np.square(X - X.mean(axis=0)).sum())


def weights(n, seed=0):
    """Of both signs, with sum 1."""
    c = np.random.default_rng(seed).standard_normal(n)
    return c + (1 - c.sum()) / n


class TestCentre:
    def test_distances_of_a_whole_map_do_not_depend_on_it(self):
        maps = [ClassicalMDS(3, center=c).fit_transform(X) for c in (None, weights(200), weights(200, 1))]
        for places in maps:
            np.testing.assert_allclose(cdist(places, places), cdist(X, X), atol=1e-7)

    def test_origin_of_the_map_is_the_weighted_mean(self):
        c = weights(200)
        model = ClassicalMDS(2, center=c, metric="cityblock").fit(X)
        np.testing.assert_allclose(c @ model.embedding_, 0, atol=1e-8)
        first = ClassicalMDS(2, center=np.eye(200)[17]).fit(X)  # one row is the origin
        np.testing.assert_allclose(first.embedding_[17], 0, atol=1e-8)
        # the axes of a map about the origin are those of the second moments there
        values = np.linalg.eigvalsh((X - X[17]).T @ (X - X[17]))[::-1]
        np.testing.assert_allclose(first.spectrum_.eigenvalues, values[:2])

    @pytest.mark.parametrize("repair", [None, "clip", "shift", "constant"])
    def test_rows_return_to_their_places(self, repair):
        model = ClassicalMDS(3, center=weights(200), metric="cityblock", repair=repair).fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-7)

    def test_uniform_weights_are_the_default(self):
        plain, uniform = ClassicalMDS().fit(X), ClassicalMDS(center=np.full(200, 1 / 200)).fit(X)
        np.testing.assert_allclose(uniform.embedding_, plain.embedding_, atol=1e-9)

    def test_wrong_weights_get_a_sentence(self):
        with pytest.raises(InputError, match=r"center has shape \(199,\), but X has 200 rows: pass one weight"):
            ClassicalMDS(center=np.full(199, 1 / 199)).fit(X)
        with pytest.raises(InputError, match="sum to 2, but a weighted mean needs weights with sum 1: divide"):
            ClassicalMDS(center=np.full(200, 0.01)).fit(X)
        with pytest.raises(InputError, match="sum to nan"):
            ClassicalMDS(center=np.full(200, np.nan)).fit(X)
        with pytest.raises(InputError, match=r"center contains values that are not numbers .*: pass one weight"):
            ClassicalMDS(center=["heavy"] * 200).fit(X)


class TestRepair:
    D = squareform(np.random.default_rng(0).random(60 * 59 // 2))  # not even a metric

    def test_constant_and_shift_are_the_plain_map_of_changed_distances(self):
        for repair in ("constant", "shift"):
            model = ClassicalMDS(3, metric="precomputed", repair=repair).fit(self.D)
            kernel = model.kernel_
            changed = np.sqrt(np.where(self.D > 0, (self.D + kernel.constant) ** 2 + 2 * kernel.shift, 0))
            assert difference(model.embedding_, plain_classical_mds(changed, 3)) < 1e-8
            np.testing.assert_allclose(kernel.squared_distances(np.arange(60)), changed**2, atol=1e-9)
            np.testing.assert_allclose(model.transform(self.D), model.embedding_, atol=1e-9)
            # nothing is lost: in all dimensions the map has these very distances
            whole = ClassicalMDS(58, metric="precomputed", repair=repair).fit_transform(self.D)
            np.testing.assert_allclose(cdist(whole, whole), changed, atol=1e-5)

    def test_clip_changes_the_kernel_and_not_the_map(self):
        plain = ClassicalMDS(3, metric="precomputed").fit(self.D)
        model = ClassicalMDS(3, metric="precomputed", repair="clip").fit(self.D)
        np.testing.assert_allclose(model.embedding_, plain.embedding_, atol=1e-9)
        np.testing.assert_allclose(model.transform(self.D), plain.embedding_, atol=1e-9)
        values, vectors = np.linalg.eigh(plain.kernel_.dense())
        np.testing.assert_allclose(model.kernel_.dense(), (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)

    @pytest.mark.parametrize("repair", ["clip", "shift", "constant"])
    def test_negative_mass_goes(self, repair):
        plain = ClassicalMDS(metric="precomputed").fit(self.D)
        repaired = ClassicalMDS(metric="precomputed", repair=repair).fit(self.D)
        before, told = plain.negative_part(), repaired.negative_part(before_repair=True)
        assert before.mass > 0.2
        assert plain.negative_part(before_repair=True) == before  # nothing was repaired
        assert told.mass == pytest.approx(before.mass)
        assert told.most_negative == pytest.approx(before.most_negative)
        assert repaired.negative_part().mass < 1e-9

    @pytest.mark.parametrize("repair", ["clip", "shift", "constant"])
    def test_copies_stay_together(self, repair):
        rows = np.concatenate([np.arange(60), [0, 0, 7]])
        doubled = self.D[np.ix_(rows, rows)]
        model = ClassicalMDS(3, metric="precomputed", repair=repair).fit(doubled)
        np.testing.assert_allclose(model.embedding_[[60, 61, 62]], model.embedding_[[0, 0, 7]])
        np.testing.assert_allclose(model.transform(doubled), model.embedding_, atol=1e-9)
        # the same constants as for the distinct ones, for a space has both or neither
        alone = ClassicalMDS(3, metric="precomputed", repair=repair).fit(self.D)
        assert model.kernel_.constant == pytest.approx(alone.kernel_.constant, rel=1e-9)
        assert model.kernel_.shift == pytest.approx(alone.kernel_.shift, rel=1e-9)

    def test_rows_of_a_metric_that_rounds_at_0_return(self):
        model = ClassicalMDS(2, metric="cosine", repair="constant").fit(X)
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
