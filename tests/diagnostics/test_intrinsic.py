"""Intrinsic dimension: against plain formulas, scikit-dimension, and manifolds whose dimension is known."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skdim.id
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

import gramfold
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import (
    correlation_dimension,
    dimension,
    local_pca,
    maximum_likelihood,
    spectral_gap,
    two_nn,
)
from gramfold.diagnostics.intrinsic.nearby import Nearby
from gramfold.diagnostics.intrinsic.normal_reference import correlation_slope, log_ratio, mean_log_ratio
from gramfold.errors import InputError, PrecomputedInputError, ScaleWarning
from tests.diagnostics.manifolds import (
    MANIFOLDS,
    allowed,
    circle,
    cube,
    flat_torus,
    in_columns,
    normal,
    sphere,
    swiss_roll,
)

FOUR = {
    "two_nn": two_nn,
    "maximum_likelihood": maximum_likelihood,
    "correlation_dimension": correlation_dimension,
    "local_pca": local_pca,
}
ROLL = make_swiss_roll(600, random_state=0).points


def plain_neighbors(X, k):
    """Indices and distances of the k nearest other rows, by sorting all of them."""
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def manifold(name, n, rng, noise=0.0):
    """Rows of a manifold; noise has this length, relative to the median distance of the 20th neighbour."""
    _, make, columns = MANIFOLDS[name]
    points = make(n, rng)
    X = in_columns(points, columns, rng)
    if not noise:
        return X
    radius = np.median(Nearby.of(X, 20).distances[:, 19])
    return X + noise * radius / np.sqrt(columns) * rng.normal(size=X.shape)


# ---------------------------------------------------------------------------------------- plain formulas


def test_two_nn_is_its_formula():
    X = normal(3)(150, np.random.default_rng(0))
    x = sorted(np.log(r[1] / r[0]) for r in plain_neighbors(X, 2)[1])
    kept = int(0.9 * 150)
    expected = (kept - 1) / (sum(x[:kept]) + (150 - kept) * x[kept - 1])
    assert two_nn(X).value == pytest.approx(expected, rel=1e-12)
    assert two_nn(X, discard=0.0).value == pytest.approx(149 / sum(x), rel=1e-12)


def test_maximum_likelihood_averages_the_inverses():
    X = normal(3)(150, np.random.default_rng(0))
    local = [9 / sum(np.log(r[9] / r[j]) for j in range(9)) for r in plain_neighbors(X, 10)[1]]
    found = maximum_likelihood(X, n_neighbors=10)
    assert found.value == pytest.approx(150 / sum(1 / d for d in local), rel=1e-12)
    np.testing.assert_allclose(found.per_point, local, rtol=1e-10)


def test_correlation_dimension_counts_pairs():
    X = normal(3)(150, np.random.default_rng(0))
    radii = plain_neighbors(X, 12)[1]
    near, far = np.median(radii[:, 5]), np.median(radii[:, 11])
    counts = [sum(d < r for d in pdist(X)) for r in (near, far)]
    expected = np.log(counts[1] / counts[0]) / np.log(far / near)
    assert correlation_dimension(X, n_neighbors=12).value == pytest.approx(expected, rel=1e-12)


def test_local_pca_is_its_formula():
    X = normal(4)(120, np.random.default_rng(0))
    k, inverses, counts = 9, [], []
    for row in plain_neighbors(X, k)[0]:
        S = np.cov(X[row].T)
        values = np.linalg.eigvalsh(S)
        counts.append(np.count_nonzero(values > 0.05 * values.max()))
        Q = sum(np.sum((y - X[row].mean(axis=0)) ** 2) ** 2 for y in X[row]) / (k - 1)
        squared, trace = np.trace(S @ S), np.trace(S)
        above = (k - 1) * (k - 2) * squared + trace**2 - k * Q
        inverses.append(above / (2 * squared + (k * k - 3 * k + 1) * trace**2 - k * Q))
    found = local_pca(X, n_neighbors=k)
    assert found.value == pytest.approx(1 / np.mean(inverses), rel=1e-10)
    np.testing.assert_allclose(1 / found.per_point, np.maximum(inverses, 0), rtol=1e-9)
    counted = local_pca(X, n_neighbors=k, criterion="fukunaga-olsen")
    assert counted.value == pytest.approx(np.mean(counts), rel=1e-12)
    np.testing.assert_array_equal(counted.per_point, counts)


def test_traces_of_local_pca_are_without_bias():
    """Averaged over all samples of 5 from a population of 4 points, both are exactly those of the population."""
    points = np.array([[0.0, 0.0], [1.0, 0.5], [-2.0, 1.0], [0.3, -1.0]])
    k = 5
    above, below = [], []
    for places in np.ndindex(*(4,) * k):
        sample = points[list(places)]
        S = np.cov(sample.T)
        Q = np.sum(np.sum((sample - sample.mean(axis=0)) ** 2, axis=1) ** 2) / (k - 1)
        scale = (k - 1) / (k * (k - 2) * (k - 3))
        squared, trace = np.trace(S @ S), np.trace(S)
        above.append(scale * ((k - 1) * (k - 2) * squared + trace**2 - k * Q))
        below.append(scale * (2 * squared + (k * k - 3 * k + 1) * trace**2 - k * Q))
    whole = np.cov(points.T, bias=True)
    assert np.mean(above) == pytest.approx(np.trace(whole @ whole), rel=1e-12)
    assert np.mean(below) == pytest.approx(np.trace(whole) ** 2, rel=1e-12)


def test_scales_are_ratios_of_distances():
    X = normal(3)(300, np.random.default_rng(0))
    radii = plain_neighbors(X, 8)[1]
    found = dimension(X, n_neighbors=8).scales
    # E log(r_2m / r_m) is 1/d times 1, 1/2 + 1/3, 1/4 + … + 1/7
    harmonic = {2: 1.0, 4: 1 / 2 + 1 / 3, 8: 1 / 4 + 1 / 5 + 1 / 6 + 1 / 7}
    for k, value, radius in zip(found.n_neighbors[:3], found.value, found.radius, strict=False):
        expected = harmonic[int(k)] / np.mean(np.log(radii[:, k - 1] / radii[:, k // 2 - 1]))
        assert value == pytest.approx(expected, rel=1e-12)
        assert radius == pytest.approx(np.median(radii[:, k - 1]), rel=1e-12)


def test_local_dimension_is_smoothed_over_neighbors():
    X = normal(3)(150, np.random.default_rng(0))
    order, _ = plain_neighbors(X, 20)
    inverse = 1 / maximum_likelihood(X).per_point
    expected = [1 / np.mean([inverse[i], *inverse[row]]) for i, row in enumerate(order)]
    np.testing.assert_allclose(dimension(X).per_point, expected, rtol=1e-10)


# ---------------------------------------------------------------------------------------- scikit-dimension


@pytest.mark.parametrize("name", ["swiss roll", "normal 5"])
def test_matches_scikit_dimension(name):
    X = manifold(name, 600, np.random.default_rng(1))
    theirs = skdim.id.TwoNN(method="mle").fit(X).dimension_
    assert two_nn(X).value == pytest.approx(theirs, rel=1e-10)
    model = skdim.id.MLE().fit(X, n_neighbors=20)
    found = maximum_likelihood(X, n_neighbors=20)
    assert found.value == pytest.approx(model.dimension_, rel=1e-10)
    np.testing.assert_allclose(found.per_point, model.dimension_pw_, rtol=1e-10)
    theirs = skdim.id.CorrInt(k1=10, k2=20).fit(X).dimension_
    # theirs divides by n² instead of n (n − 1), which cancels
    assert correlation_dimension(X, n_neighbors=20).value == pytest.approx(theirs, rel=1e-10)


def test_local_pca_matches_scikit_dimension():
    X = manifold("normal 3", 200, np.random.default_rng(1), noise=0.1)
    order, _ = plain_neighbors(X, 15)
    theirs = [skdim.id.lPCA(ver="FO").fit(X[row]).dimension_ for row in order]
    np.testing.assert_array_equal(local_pca(X, n_neighbors=15, criterion="fukunaga-olsen").per_point, theirs)


# ---------------------------------------------------------------------------------------- known dimensions


def within(found, d, *, corrected=False):
    values = [one.best if corrected else one.value for one in found.estimates.values()]
    return sum(abs(value - d) <= allowed(d) for value in values)


@pytest.mark.parametrize("name", ["circle", "swiss roll", "torus", "cube 3", "sphere 5", "normal 10"])
def test_dimension_of_manifolds_with_few_rows(name):
    found = dimension(manifold(name, 1500, np.random.default_rng(0)))
    assert within(found, MANIFOLDS[name][0]) >= 3
    assert within(found, MANIFOLDS[name][0], corrected=True) == 4
    assert found.agree


@pytest.mark.slow
@pytest.mark.parametrize("name", MANIFOLDS)
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_dimension_of_manifolds(name, noise):
    """At 5,000 rows, exactly on the manifold or beside it by a tenth of a neighbourhood radius."""
    d = MANIFOLDS[name][0]
    for seed in range(2):
        found = dimension(manifold(name, 5000, np.random.default_rng(seed), noise))
        assert within(found, d) >= 3
        assert within(found, d, corrected=True) >= 3


@pytest.mark.parametrize("d", [5, 10, 20])
def test_correction_is_exact_for_normal_rows(d):
    found = dimension(in_columns(normal(d)(1500, np.random.default_rng(d)), 2 * d, np.random.default_rng(0)))
    for one in (found.two_nn, found.maximum_likelihood, found.correlation_dimension):
        low, high = one.corrected_interval
        assert one.corrected == pytest.approx(d, rel=0.05)
        assert 0.97 * low <= d <= 1.03 * high
    assert found.correlation_dimension.value < 0.95 * d


@pytest.mark.parametrize(("d", "n", "k"), [(2, 400, 10), (10, 400, 2), (10, 400, 20)])
def test_normal_reference_is_what_normal_rows_read(d, n, k):
    rng = np.random.default_rng(0)
    ratios, mean = [], []
    for _ in range(30):
        radii = plain_neighbors(rng.normal(size=(n, d)), k)[1]
        mean.append(np.mean(np.log(radii[:, -1:] / radii[:, :-1])))
        ratios.append(np.mean(np.log(radii[:, k - 1] / radii[:, k // 2 - 1])))
    for simulated, formula in ((mean, mean_log_ratio(d, n, k)), (ratios, log_ratio(d, n, k // 2, k))):
        # the share within the k-th neighbour is taken at its geometric mean, which costs a per cent
        assert np.mean(simulated) == pytest.approx(formula, abs=3 * np.std(simulated) / 30**0.5 + 0.015 * formula)


@pytest.mark.parametrize("d", [1.0, 2.0, 7.5])
def test_normal_reference_has_no_bias_at_the_smallest_scale(d):
    assert 1 / mean_log_ratio(d, 10**9, 20) == pytest.approx(d, rel=0.005)
    assert correlation_slope(d, 1e-9, 2e-9) == pytest.approx(d, rel=0.01)
    assert correlation_slope(d, 0.01, 0.02) < d  # fewer pairs than d dimensions would have, far out


# ---------------------------------------------------------------------------------------- intervals


def coverage(make, n, seeds):
    """How often each interval at 90% holds the mean of its estimator over all these tables, and each value."""
    values, intervals = [], []
    for seed in seeds:
        near = Nearby.of(make(n, np.random.default_rng(seed)), 20)
        found = [estimate(near) for estimate in FOUR.values()]
        values.append([one.value for one in found])
        intervals.append([one.interval for one in found])
    mean = 1 / np.mean(1 / np.array(values), axis=0)
    low, high = np.moveaxis(np.array(intervals), -1, 0)
    return ((low <= mean) & (mean <= high)).sum(axis=0), mean


@pytest.mark.parametrize("make", [swiss_roll, normal(5)], ids=["roll", "normal"])
def test_intervals_hold_what_they_claim_on_small_tables(make):
    held, _ = coverage(make, 300, range(60))
    assert (held >= 50).all(), held  # of an interval that holds 90%, fewer hold once in 30 tries


COVERED = {
    "circle": circle,
    "roll": swiss_roll,
    "sphere": sphere(2),
    "flat torus": flat_torus(3),
    "cube": cube(5),
    "normal": normal(10),
    "noisy roll": lambda n, rng: swiss_roll(n, rng) + 0.3 * rng.normal(size=(n, 3)),
    "heavy tails": lambda n, rng: rng.standard_t(2, size=(n, 3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERED)
def test_intervals_hold_what_they_claim(name):
    """9 times in 10, at 1,000 rows, the value that the estimator has on average at this number of rows."""
    held, _ = coverage(COVERED[name], 1000, range(200))
    assert (held >= 180).all(), held


@pytest.mark.slow
def test_intervals_hold_the_value_of_many_rows_where_no_edge_is():
    """On a circle and a sphere the value at 1,000 rows is that of 200,000, and the dimension itself."""
    for make, d in ((circle, 1), (sphere(2), 2)):
        large = dimension(make(200_000, np.random.default_rng(0)), sample=5000)
        for one in large.estimates.values():
            assert one.value == pytest.approx(d, rel=0.05)
        held = np.zeros(3, dtype=int)
        for seed in range(100):
            near = Nearby.of(make(1000, np.random.default_rng(seed)), 20)
            for place, estimate in enumerate((two_nn, maximum_likelihood, correlation_dimension)):
                low, high = estimate(near).interval
                held[place] += low <= d <= high
        assert (held >= 90).all(), held


@pytest.mark.slow
def test_maximum_likelihood_holds_the_value_of_many_rows_at_the_same_scale():
    """200 times the rows and 200 times the neighbours: the same radius, and the bias of edges that goes with it."""
    rng = np.random.default_rng(0)
    for make in (swiss_roll, cube(3)):
        large = maximum_likelihood(make(200_000, rng), n_neighbors=4000, sample=2000).value
        held = 0
        for seed in range(100):
            low, high = maximum_likelihood(make(1000, np.random.default_rng(seed))).interval
            held += low <= large <= high
        assert held >= 90, held


def test_a_higher_level_is_a_wider_interval():
    for estimate in FOUR.values():
        narrow, wide = estimate(ROLL, level=0.5).interval, estimate(ROLL, level=0.99).interval
        assert wide[0] < narrow[0] < estimate(ROLL).value < narrow[1] < wide[1]


# ---------------------------------------------------------------------------------------- what X may be


def same(found, expected, rel=1e-9):
    assert found.estimates.keys() == expected.estimates.keys()
    for name, one in found.estimates.items():
        other = expected.estimates[name]
        assert one.value == pytest.approx(other.value, rel=rel), name
        assert one.interval == pytest.approx(other.interval, rel=rel), name


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")  # of the maps, which are not asked here
def test_all_kinds_of_input_agree():
    expected = dimension(ROLL)
    same(dimension(pd.DataFrame(ROLL, columns=["x", "y", "z"])), expected, rel=1e-15)
    same(dimension(csr_array(ROLL)), expected)
    same(dimension(cdist(ROLL, ROLL), metric="precomputed"), expected, rel=1e-6)
    same(dimension(cdist(ROLL, ROLL), metric="precomputed", sample=50), expected, rel=1e-6)
    same(dimension(gramfold.LLE().fit(ROLL)), expected, rel=1e-15)
    same(dimension(gramfold.LaplacianEigenmaps(metric="precomputed").fit(cdist(ROLL, ROLL))), expected, rel=1e-6)
    for name, estimate in FOUR.items():
        assert estimate(ROLL).value == pytest.approx(expected.estimates[name].value, rel=1e-12)


def test_scale_and_order_do_not_matter():
    expected = dimension(ROLL)
    for factor in (1e-200, 1e-3, 1e180):
        found = dimension(ROLL * factor)
        same(found, expected, rel=1e-6)
        np.testing.assert_allclose(found.scales.radius / factor, expected.scales.radius, rtol=1e-9)
    order = np.random.default_rng(0).permutation(len(ROLL))
    shuffled = dimension(ROLL[order])
    for name, one in shuffled.estimates.items():
        assert one.value == pytest.approx(expected.estimates[name].value, rel=1e-9)
    np.testing.assert_allclose(shuffled.per_point, expected.per_point[order], rtol=1e-9)


def test_copies_count_once():
    expected = dimension(ROLL)
    twice = np.repeat(ROLL, 2, axis=0)
    found = dimension(twice)
    same(found, expected, rel=1e-12)
    assert (found.n_rows, found.n_distinct) == (1200, 600)
    assert "600 of 1,200 rows are copies" in found.sentence
    np.testing.assert_allclose(found.per_point, np.repeat(expected.per_point, 2))
    same(dimension(cdist(twice, twice), metric="precomputed"), expected, rel=1e-6)


def test_a_sample_of_rows_has_neighbors_among_all():
    X = normal(3)(3000, np.random.default_rng(0))
    found, whole = dimension(X, sample=400), dimension(X)
    assert np.count_nonzero(~np.isnan(found.per_point)) == found.n_sampled == 400
    for name, one in found.estimates.items():
        low, high = one.interval
        assert whole.estimates[name].value == pytest.approx(one.value, abs=1.3 * (high - low))
        if name != "correlation_dimension":  # all of whose pairs can be counted either way
            assert high - low > 1.2 * np.subtract(*whole.estimates[name].interval[::-1])
    drawn = ~np.isnan(found.maximum_likelihood.per_point)
    np.testing.assert_allclose(found.maximum_likelihood.per_point[drawn], whole.maximum_likelihood.per_point[drawn])
    again, other = dimension(X, sample=400), dimension(X, sample=400, random_state=1)
    assert again.value == found.value != other.value
    same(dimension(csr_array(X), sample=400), found)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")  # of the maps, which are not asked here
def test_cosine_is_the_distance_of_directions():
    """Half its square would have half the dimension."""
    X = np.abs(normal(4)(500, np.random.default_rng(0))) + 0.1
    directions = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = dimension(directions)
    same(dimension(X, metric="cosine"), expected, rel=1e-6)
    same(dimension(csr_array(X), metric="cosine"), expected, rel=1e-6)
    same(dimension(gramfold.LLE(metric="cosine").fit(X)), expected, rel=1e-6)
    assert expected.value == pytest.approx(3, abs=0.5)


def test_tables_with_categories_have_distances_only():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    table["kind"] = np.where(rng.random(200) < 0.5, "one", "other")
    found = dimension(table, metric="gower")
    assert found.local_pca is None
    assert "local_pca is not defined here" in found.sentence
    assert 1.5 < found.maximum_likelihood.value < 4.5


def test_few_rows():
    X = normal(2)(6, np.random.default_rng(0))
    found = dimension(X, n_neighbors=4)
    assert all(np.isfinite(one.value) for one in found.estimates.values())
    assert found.local_pca.per_point.shape == (6,)
    assert two_nn(X[:3]).value > 0
    with pytest.raises(InputError, match="only 6 distinct rows"):
        dimension(X)
    with pytest.raises(InputError, match="all rows are equal"):
        dimension(np.ones((30, 3)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dimension(csr_array(np.eye(30)), metric="precomputed"), "sparse matrix of distances"),
        (lambda: dimension(gramfold.LLE()), "not fitted"),
        (lambda: dimension(gramfold.LLE().fit(ROLL), metric="cosine"), "leave out metric"),
        (lambda: dimension(gramfold.ClassicalMDS(metric="precomputed").fit(cdist(ROLL, ROLL))), "holds no rows"),
        (lambda: dimension(gramfold.Isomap(n_neighbors=5).fit(ROLL[:15])), "only 15 distinct rows"),
        (lambda: dimension(ROLL, level=90), "level=90"),
        (lambda: dimension(ROLL, n_neighbors=3), "n_neighbors=3"),
        (lambda: dimension(ROLL, sample=0), "sample=0"),
        (lambda: dimension(np.full((30, 2), np.nan)), "contains NaN"),
        (lambda: two_nn(ROLL[:2]), "only 2 distinct rows"),
        (lambda: spectral_gap(gramfold.PCA(2).fit(ROLL), n_eigenvalues=2), "n_eigenvalues=2"),
        (lambda: dimension(np.eye(30)), "no estimate"),
        (lambda: two_nn(ROLL, discard=1), "discard=1"),
        (lambda: local_pca(ROLL, criterion="kaiser"), "criterion='kaiser'"),
        (lambda: maximum_likelihood(ROLL, n_neighbors=1), "n_neighbors=1"),
        (lambda: two_nn(np.stack(np.meshgrid(*[np.arange(12.0)] * 2), -1).reshape(-1, 2)), "on a grid"),
    ],
)
def test_errors_say_what_to_change(call, words):
    with pytest.raises((InputError, PrecomputedInputError, NotFittedError), match=words):
        call()


# ---------------------------------------------------------------------------------------- spectra


def test_spectral_gap_is_at_the_rank():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 20)) + 0.05 * rng.normal(size=(400, 20))
    models = [
        gramfold.PCA(2),
        gramfold.ClassicalMDS(2),
        gramfold.LandmarkMDS(2, random_state=0),
        gramfold.KernelPCA(2, kernel="linear"),
    ]
    for model in models:
        found = spectral_gap(model.fit(X))
        assert (found.value, found.interval, found.note) == (5.0, (5.0, 5.0), None), model


def test_spectral_gap_divides_the_logarithms():
    values = gramfold.Isomap().fit(ROLL).leading_eigenvalues(20)
    logs = np.log(values)
    errors = {q: logs[:q].var() * q + logs[q:].var() * (20 - q) for q in range(1, 20)}
    assert spectral_gap(gramfold.Isomap().fit(ROLL)).value == min(errors, key=errors.get) == 2
    assert dimension(gramfold.Isomap().fit(ROLL)).spectral_gap.value == 2


def test_a_spectrum_without_gap_is_told_of():
    found = spectral_gap(gramfold.PCA(2).fit(normal(20)(2000, np.random.default_rng(0))))
    assert "no clear gap" in found.note
    few = spectral_gap(gramfold.PCA(2).fit(normal(2)(50, np.random.default_rng(0))))
    assert (few.value, few.note) == (2, None)  # all that two columns have
    rows_of_rank_3 = normal(3)(50, np.random.default_rng(0)) @ normal(9)(3, np.random.default_rng(1))
    assert spectral_gap(gramfold.PCA(2).fit(rows_of_rank_3)).value == 3


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")  # of the maps, which are not asked here
def test_spectral_gap_of_eigenvalues_that_are_no_variances():
    for model in (gramfold.LaplacianEigenmaps(), gramfold.LLE(), gramfold.KernelPCA(kernel="gaussian")):
        with pytest.raises(InputError, match="do not measure variance"):
            spectral_gap(model.fit(ROLL))
        assert dimension(model).spectral_gap is None
    with pytest.raises(NotFittedError):
        spectral_gap(gramfold.PCA())
    with pytest.raises(InputError, match="has none"):
        spectral_gap(ROLL)


# ---------------------------------------------------------------------------------------- sentences


def test_a_sentence_on_noise():
    X = manifold("swiss roll in 30 columns", 2000, np.random.default_rng(0), noise=0.5)
    found = dimension(X)
    assert found.two_nn.value > 1.5 * found.local_pca.value
    assert not found.agree
    assert "falls with the scale" in found.sentence
    assert "noise" in found.sentence
    assert dimension(X, n_neighbors=100).maximum_likelihood.value < found.maximum_likelihood.value


def test_a_sentence_on_curvature():
    t = np.random.default_rng(0).uniform(size=400)
    X = np.column_stack([np.cos(60 * t), np.sin(60 * t), 2 * t])  # a narrow helix, which is a tube from afar
    found = dimension(X)
    assert found.scales.corrected[-1] > 1.5
    assert "rises with the scale" in found.sentence


def test_a_sentence_on_values_on_a_grid():
    digits = np.round(normal(4)(800, np.random.default_rng(0)) * 4)
    found = dimension(digits)
    assert found.tied > 0.2
    assert "exactly the same distance" in found.sentence
    assert found.n_distinct < 800
    assert two_nn(digits).note is not None


def test_a_sentence_on_rows_in_a_sequence():
    t = np.linspace(0, 6, 300)
    found = dimension(np.column_stack([np.cos(t), 2 * np.sin(t)]))
    assert found.spacing < 0.6
    assert found.two_nn.value > 5
    assert "more evenly" in found.sentence
    assert dimension(ROLL).spacing > 0.8


def test_a_sentence_on_few_rows():
    found = dimension(normal(12)(300, np.random.default_rng(0)))
    assert "needs about 10^(d/2)" in found.sentence
    assert "needs about" not in dimension(ROLL).sentence


def test_a_sentence_on_groups_of_several_dimensions():
    rng = np.random.default_rng(0)
    X = np.zeros((1000, 6))
    X[:500, 0] = rng.uniform(size=500)
    X[500:] = rng.normal(size=(500, 6)) + 10
    found = dimension(X)
    assert np.median(found.per_point[:500]) == pytest.approx(1, abs=0.3)
    assert np.median(found.per_point[500:]) == pytest.approx(5.5, abs=1)
    assert "local dimension varies" in found.sentence


def test_a_sentence_on_groups_smaller_than_a_neighborhood():
    rng = np.random.default_rng(0)
    X = (1000 * rng.normal(size=(60, 1, 3)) + rng.normal(size=(60, 10, 3))).reshape(-1, 3)
    found = dimension(X)
    assert found.maximum_likelihood.value < 0.8
    assert "groups far apart" in found.sentence
    assert dimension(X, n_neighbors=5).maximum_likelihood.value > 2


@pytest.mark.parametrize("noise", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("times", [2, 3, 4])
def test_a_sentence_on_rows_measured_again(times, noise):
    """Few neighbours read the pairs: far below 2 between neighbours 1 and 2, or 2 and 4. The roll has 2 dimensions."""
    rng = np.random.default_rng(0)
    roll = make_swiss_roll(1000, random_state=0).points
    found = dimension(np.vstack([roll + noise * rng.normal(size=roll.shape) for _ in range(times)]))
    assert found.n_near == 0
    assert found.scales.corrected[0 if times == 2 else 1] < 1
    assert found.tight.size == times
    assert found.value == pytest.approx(2, abs=0.35)
    assert not found.evenly_spaced
    assert f"come in tight {'pairs' if times == 2 else f'groups of {times}'}" in found.sentence
    assert "Trust larger neighbourhoods" in found.sentence
    for false in ("smaller neighbourhoods", "curvature", "noise is seen", "more evenly", "median of"):
        assert false not in found.sentence
    if times == 2:
        assert "ratios of distances to few neighbours read the groups" in found.sentence


def test_some_rows_measured_again_in_a_sample_and_as_distances():
    rng = np.random.default_rng(0)
    roll = make_swiss_roll(1000, random_state=0).points
    X = np.vstack([roll, roll[:300] + 0.03 * rng.normal(size=(300, 3))])
    for found in (dimension(X), dimension(X, sample=700), dimension(cdist(X, X), metric="precomputed")):
        assert found.tight.size == 2
        assert "come in tight pairs" in found.sentence
    assert json.loads(json.dumps(found.as_dict()))["tight"]["size"] == 2


def spiral(n, rng):
    angle = rng.uniform(0, 60, n)
    return np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])


UNGROUPED = {
    "circle": circle,
    "spiral": spiral,  # whose layers are two dimensions from afar
    "steps": lambda n, rng: np.arange(float(n))[:, None] + 0.1 * rng.normal(size=(n, 1)),
    "uneven": lambda n, rng: np.exp(3 * rng.normal(size=(n, 1))),
    "heavy tails": lambda n, rng: rng.standard_t(2, size=(n, 3)),
    "walk": lambda n, rng: np.cumsum(rng.normal(size=(n, 2)), axis=0),
    "normal": normal(10),
}


@pytest.mark.parametrize("name", UNGROUPED)
def test_ordinary_rows_are_in_no_tight_groups(name):
    for seed in range(4):
        for n in (30, 100, 1000):
            assert dimension(UNGROUPED[name](n, np.random.default_rng(seed))).tight is None


def test_rows_are_the_nearest_of_their_nearest():
    X = normal(2)(300, np.random.default_rng(0))
    nearest = plain_neighbors(X, 1)[0][:, 0]
    near = Nearby.of(X, 4)
    assert near.mutual == np.mean([nearest[nearest[i]] == i for i in range(300)])
    assert Nearby.of(X, 4, sample=150).mutual == pytest.approx(near.mutual, abs=0.15)


def test_a_sentence_on_a_grid_goes_with_the_numbers():
    rng = np.random.default_rng(0)
    bits = dimension((rng.random((500, 20)) < 0.5).astype(float))
    assert bits.two_nn.best == min(one.best for one in bits.estimates.values())
    assert "reads the grid, and a lower dimension than the others" in bits.sentence
    assert "trust smaller neighbourhoods" not in bits.sentence
    counts = dimension(rng.poisson(1.0, size=(500, 5)).astype(float))
    assert counts.two_nn.best == max(one.best for one in counts.estimates.values())
    assert "reads the grid, and a higher dimension than the others" in counts.sentence
    alike = dimension(rng.poisson(2.0, size=(500, 10)).astype(float))
    assert alike.tied > 0.1
    assert "near the others here" in alike.sentence
    for found in (bits, counts, alike):
        assert "too high" not in found.sentence
        assert "high" not in found.two_nn.note


def test_a_sentence_on_rows_too_few_to_correct():
    X = normal(1000)(300, np.random.default_rng(0))
    found = dimension(X)
    bounded = ("two_nn", "maximum_likelihood", "correlation_dimension")
    assert all(found.estimates[name].beyond_correction for name in bounded)
    assert not found.local_pca.beyond_correction
    assert found.value == found.local_pca.value == pytest.approx(1000, rel=0.05)
    assert not found.agree
    assert "by local_pca. 300 rows are too few to correct" in found.sentence
    for name in bounded:
        assert f"{found.estimates[name].value:.3g} ({name})" in found.sentence
    for words in (found.sentence, str(found), str(found.two_nn), str(found.scales)):
        assert "inf" not in words
    assert "not corrected" in str(found.two_nn)
    assert found.scales.shown[2] == f"{found.scales.value[0]:.3g} uncorrected"
    assert found.as_dict()["estimates"]["two_nn"]["beyond_correction"]
    alone = replace(found, local_pca=None)
    assert alone.value == max(alone.estimates[name].value for name in bounded)
    assert f"is at least {alone.value:.3g}" in alone.sentence


def test_a_sentence_on_a_column_in_a_large_unit():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([normal(5)(500, rng), 1e4 * rng.random(500)])
        found = dimension(X)
        assert "Column 5 has 100.0% of the variance: standardise" in found.sentence
        for false in ("more evenly", "noise is seen"):
            assert false not in found.sentence
    table = pd.DataFrame(X, columns=[*"abcde", "income"])
    assert "Column 'income' has" in dimension(table).sentence
    with pytest.warns(ScaleWarning):
        model = gramfold.PCA(2).fit(table)
    assert "Column 'income' has" in dimension(model).sentence
    for other in (dimension(X, metric="cosine"), dimension(X, metric="seuclidean"), dimension(X / X.std(axis=0))):
        assert "of the variance" not in other.sentence


def test_a_grid_beside_a_loud_column_has_no_lower_bound():
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(60.0), 5 * np.arange(20.0)), axis=-1).reshape(-1, 2)
    found = dimension(np.column_stack([grid[:, 0] * 20, grid[:, 1], 1e-4 * rng.normal(size=(1200, 2))]))
    assert found.two_nn.beyond_correction
    assert found.loud is not None
    assert "lower bound" not in found.sentence
    assert found.value < 4


def test_a_sentence_on_dense_regions():
    rng = np.random.default_rng(0)
    X = np.zeros((2000, 6))
    X[:250, :2] = 0.01 * rng.normal(size=(250, 2))
    X[250:] = rng.normal(size=(1750, 6)) + 5
    found = dimension(X)
    assert found.correlation_dimension.value < 0.7 * found.two_nn.value
    assert "densest rows" in found.correlation_dimension.note
    assert found.correlation_dimension.note in found.sentence


def test_digits():
    found = dimension(load_digits().data)
    assert not found.agree
    assert all(4 < one.value < 12 for one in found.estimates.values())
    assert "needs about 10^(d/2)" in found.sentence
    one = found.two_nn
    low, high = one.interval
    assert str(one) == f"Estimate({one.value:.3g}, 90% interval {low:.3g} to {high:.3g}, corrected {one.corrected:.3g})"


def test_everything_can_be_written_as_json():
    found = dimension(ROLL)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["estimates"]["two_nn"]["value"] == found.two_nn.value == float(found.two_nn)
    assert plain["value"] == found.value == float(found)
    assert len(plain["scales"]) == len(found.scales) == 6
    # as many dimensions as no correction reaches
    wild = dimension(normal(3000)(60, np.random.default_rng(0)))
    assert wild.two_nn.corrected == np.inf
    assert json.loads(json.dumps(wild.as_dict(), allow_nan=False))["estimates"]["two_nn"]["corrected"] is None
    assert np.isfinite(wild.value)


# --- rows that are nearly copies, and grids


def given_again(rng, X, times, jitter):
    """Each row so often, moved by this share of the spacing of a square."""
    return np.vstack([X + jitter / np.sqrt(len(X)) * rng.normal(size=X.shape) for _ in range(times)])


@pytest.mark.parametrize(("times", "jitter"), [(2, 1e-9), (2, 1e-6), (3, 1e-6), (2, 1e-3)])
def test_near_copies_count_once(times, jitter):
    rng = np.random.default_rng(0)
    sheet = in_columns(cube(2)(1000, rng), 3, rng)
    X, plain = given_again(rng, sheet, times, jitter), dimension(sheet)
    found = dimension(X)
    assert found.agree
    assert found.value == pytest.approx(plain.value, abs=0.02)
    assert found.n_near == pytest.approx(1000 * (times - 1), abs=3)
    assert "nearly" in found.sentence
    for name, estimate in FOUR.items():
        assert estimate(X).value == pytest.approx(getattr(plain, name).value, abs=0.05)
    np.testing.assert_array_equal(found.per_point[:1000], found.per_point[1000:2000])  # copies share theirs


def test_a_tenth_of_the_rows_given_again_and_a_matrix_of_distances():
    rng = np.random.default_rng(1)
    sheet = cube(2)(500, rng)
    X = np.vstack([sheet, sheet[:50] + 1e-7 * rng.normal(size=(50, 2))])
    assert two_nn(X).value == pytest.approx(two_nn(sheet).value, rel=0.03)
    assert two_nn(cdist(X, X), metric="precomputed").value == pytest.approx(two_nn(X).value, rel=1e-6)
    sampled = two_nn(X, sample=200)
    assert sampled.value == pytest.approx(2, abs=0.5)


def test_ordinary_rows_have_no_near_copies():
    rng = np.random.default_rng(0)
    for make in (cube(1), cube(2), normal(1), lambda n, r: np.exp(3 * r.normal(size=(n, 1)))):
        for n in (30, 300, 3000):
            assert Nearby.of(make(n, rng), 2).n_near == 0
    pairs = np.repeat(rng.normal(size=(15, 2)), 2, axis=0) + 1e-6 * rng.normal(size=(30, 2))
    assert Nearby.of(pairs, 20).n_near == 0  # too few would be left


@pytest.mark.parametrize("jitter", [0.0, 1e-6, 0.01, 0.05, 0.1])
@pytest.mark.parametrize(("side", "d"), [(1000, 1), (32, 2), (10, 3)])
def test_the_value_of_a_grid_is_its_dimension(side, d, jitter):
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.arange(float(side))] * d), axis=-1).reshape(-1, d)
    found = dimension(grid + jitter * rng.normal(size=grid.shape))
    assert found.evenly_spaced
    assert found.value == pytest.approx(d, abs=0.2)
    assert f"is about {found.value:.2g}" in found.sentence
    assert not dimension(cube(d)(1000, rng)).evenly_spaced
