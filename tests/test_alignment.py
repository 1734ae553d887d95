"""A refit in the frame of the map before it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap as SklearnIsomap
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramfold import (
    LPP,
    PCA,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    MixturePPCA,
    OrdinalMDS,
    ProbabilisticPCA,
    SpectralClustering,
    align,
)
from gramfold.datasets import make_swiss_roll
from gramfold.errors import DegenerateMapWarning, DisconnectedGraphWarning, GramfoldWarning, InputError, RankWarning
from tests.contract.checks import sheet
from tests.contract.discovery import by_name, exported

MAPS = [cls for cls in exported() if hasattr(cls, "fit_transform")]
PLACING = [cls for cls in MAPS if hasattr(cls, "transform")]
ROWS, FRESH = sheet(120), sheet(12, seed=1)

any_warning = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def moved(places, seed=0, scale=3.7):
    """Another map of the same shape."""
    rng = np.random.default_rng(seed)
    p = places.shape[1]
    turn = ortho_group.rvs(p, random_state=seed) if p > 1 else np.array([[-1.0]])
    return scale * places @ turn + 5.0 * rng.standard_normal(p)


def in_frame(alignment, places):
    return alignment.scale * places @ alignment.rotation + alignment.shift


# --- every map


@any_warning
@pytest.mark.parametrize("cls", MAPS, ids=by_name)
def test_a_moved_map_is_met_again(cls):
    model = cls().fit(ROWS)
    before = pickle.dumps(model)
    for seed in range(4):  # turned and mirrored
        old = moved(model.embedding_, seed)
        aligned = align(model, old)
        found = aligned.alignment_
        assert found.misfit < 1e-12
        assert found.scale == pytest.approx(3.7, rel=1e-12)
        np.testing.assert_allclose(aligned.embedding_, old, atol=1e-10)
        np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(len(found.shift)), atol=1e-12)
        np.testing.assert_allclose(in_frame(found, model.embedding_), aligned.embedding_, atol=1e-10)
    assert type(aligned) is cls
    assert aligned.get_params() == model.get_params()
    assert pickle.dumps(model) == before, "the new map is not changed"
    assert model.alignment_ is None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(aligned)).embedding_, aligned.embedding_)
    assert aligned.fit(ROWS).alignment_ is None, "a new fit is not aligned"
    np.testing.assert_array_equal(aligned.embedding_, model.embedding_)


@any_warning
@pytest.mark.parametrize("cls", PLACING, ids=by_name)
def test_all_methods_are_in_the_frame_of_the_old_map(cls):
    model = cls().fit(ROWS)
    aligned = align(model, moved(model.embedding_))
    travelled = pickle.loads(pickle.dumps(aligned))
    np.testing.assert_allclose(
        aligned.transform(FRESH), in_frame(aligned.alignment_, model.transform(FRESH)), rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(travelled.transform(FRESH), aligned.transform(FRESH), rtol=0, atol=1e-12)
    np.testing.assert_allclose(aligned.transform(ROWS), aligned.embedding_, atol=1e-8)
    fresh = model.transform(FRESH)  # training rows may have two of their neighbours at one distance
    there, rebuilt = in_frame(aligned.alignment_, fresh), model.inverse_transform(fresh)
    np.testing.assert_allclose(aligned.inverse_transform(there), rebuilt, rtol=0, atol=1e-10)
    np.testing.assert_allclose(travelled.inverse_transform(there), rebuilt, rtol=0, atol=1e-10)
    assert aligned.inverse_error() == model.inverse_error()
    assert aligned.score(FRESH) == pytest.approx(model.score(FRESH), rel=1e-9)
    np.testing.assert_array_equal(aligned.extrapolation(FRESH, of="rows"), model.extrapolation(FRESH, of="rows"))
    places = model.transform(FRESH)
    np.testing.assert_allclose(
        aligned.extrapolation(in_frame(aligned.alignment_, places), of="coordinates"),
        model.extrapolation(places, of="coordinates"),
        atol=1e-9,
    )
    table = aligned.set_output(transform="pandas").transform(FRESH)
    assert list(table.columns) == list(model.get_feature_names_out())
    assert isinstance(model.transform(FRESH), np.ndarray), "the output of the new map is not changed"
    with pytest.raises(NotFittedError):
        clone(aligned).transform(FRESH)


@pytest.mark.parametrize("cls", MAPS, ids=by_name)
def test_the_attribute_is_documented(cls):
    assert "alignment_ : Alignment or None\n" in cls.__doc__


@pytest.mark.parametrize("inverse", ["mixture", "barycentric", "ridge", "fixed-point"])
def test_every_inverse_is_in_the_frame_of_the_old_map(inverse):
    model = KernelPCA(inverse=inverse).fit(ROWS)
    aligned = align(model, moved(model.embedding_))
    expected = model.inverse_transform(model.embedding_[:20])
    np.testing.assert_allclose(aligned.inverse_transform(aligned.embedding_[:20]), expected, atol=1e-6)
    assert aligned.inverse_error() == model.inverse_error()


# --- the best similarity


def noisy_maps(m=60, p=3, noise=0.3):
    rng = np.random.default_rng(3)
    model = PCA(n_components=p).fit(rng.standard_normal((m, 5)))
    return model, moved(model.embedding_, seed=1) + noise * rng.standard_normal((m, p))


def test_no_other_similarity_is_nearer():
    model, old = noisy_maps()
    best = align(model, old).alignment_
    least = np.square(best.residuals).sum()
    assert least == pytest.approx(np.square(in_frame(best, model.embedding_) - old).sum(), rel=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            turn, _ = np.linalg.qr(best.rotation + size * rng.standard_normal((3, 3)))
            turn *= np.sign(np.diag(turn @ best.rotation.T))[:, None] if size < 1 else 1
            scale = best.scale * np.exp(size * rng.standard_normal())
            shift = best.shift + size * rng.standard_normal(3)
            assert np.square(scale * model.embedding_ @ turn + shift - old).sum() >= least


def test_the_misfit_is_the_root_of_scipys_disparity():
    model, old = noisy_maps()
    *_, disparity = procrustes(old, model.embedding_)
    found = align(model, old).alignment_
    assert found.misfit**2 == pytest.approx(disparity, rel=1e-10)
    spread = np.square(old - old.mean(axis=0)).sum(axis=1).mean()
    assert found.misfit == pytest.approx(np.sqrt(np.square(found.residuals).mean() / spread), rel=1e-12)


def test_most_of_the_roll_lies_where_all_of_it_did():
    roll = make_swiss_roll(1000, random_state=0)
    old = Isomap(n_neighbors=10).fit(roll.points)
    kept = np.random.default_rng(0).permutation(1000)[:900]
    aligned = align(Isomap(n_neighbors=10).fit(roll.points[kept]), old)
    found = aligned.alignment_
    np.testing.assert_array_equal(found.rows, np.column_stack([np.arange(900), kept]))
    assert found.misfit < 0.03
    assert np.abs(aligned.embedding_ - old.embedding_[kept]).max() < 0.04 * np.ptp(old.embedding_, axis=0).max()
    left_out = np.setdiff1d(np.arange(1000), kept)
    new, before = aligned.transform(roll.points[left_out]), old.embedding_[left_out]
    assert np.sqrt(np.square(new - before).sum(axis=1).mean()) < 0.03 * np.sqrt(old.embedding_.var(axis=0).sum())


def test_a_mirrored_refit_of_digits_is_mirrored_back():
    X = load_digits().data
    old = LaplacianEigenmaps(n_components=2).fit(X)
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[: int(0.95 * len(X))])
    new = LaplacianEigenmaps(n_components=2).fit(X[kept])
    straight = align(new, old)
    mirrored = align(new, old.embedding_ * [-1.0, 1.0], rows=straight.alignment_.rows)
    assert straight.alignment_.mirrored != mirrored.alignment_.mirrored
    for one, target in ((straight, old.embedding_), (mirrored, old.embedding_ * [-1.0, 1.0])):
        assert one.alignment_.misfit < 0.15
        assert np.abs(one.embedding_ - target[kept]).max() < 0.15 * np.ptp(target, axis=0).max()
    np.testing.assert_allclose(straight.embedding_ * [-1.0, 1.0], mirrored.embedding_, atol=1e-12)


def test_one_dimension_has_a_sign():
    model = PCA(n_components=1).fit(ROWS)
    aligned = align(model, 7.0 - 2.0 * model.embedding_)
    np.testing.assert_allclose(aligned.alignment_.rotation, [[-1.0]])
    assert aligned.alignment_.mirrored
    np.testing.assert_allclose(aligned.transform(FRESH), 7.0 - 2.0 * model.transform(FRESH))


# --- one alignment after another


def test_alignments_compose():
    model = Isomap().fit(ROWS)
    first, second = moved(model.embedding_, seed=1), moved(model.embedding_, seed=2, scale=1e-3)
    once, twice = align(model, second), align(align(model, first), second)
    np.testing.assert_allclose(twice.embedding_, second, atol=1e-10)
    np.testing.assert_allclose(twice.transform(FRESH), once.transform(FRESH), atol=1e-10)
    np.testing.assert_allclose(in_frame(twice.alignment_, model.embedding_), twice.embedding_, atol=1e-10)


def test_an_aligned_map_may_be_the_old_one():
    months = [Isomap().fit(ROWS[10 * i : 80 + 10 * i]) for i in range(4)]
    last = align(months[0], moved(months[0].embedding_))
    for month in months[1:]:
        aligned = align(month, last)
        here, there = aligned.alignment_.rows.T
        assert len(here) == 70
        away = np.linalg.norm(aligned.embedding_[here] - last.embedding_[there], axis=1)
        np.testing.assert_allclose(aligned.alignment_.residuals, away, atol=1e-10)
        last = aligned


# --- rows in common


def test_columns_are_matched_by_name():
    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    old = PCA().fit(frame)
    new = PCA().fit(frame[["c", "a", "b"]].iloc[30:])
    aligned = align(new, old)
    np.testing.assert_array_equal(aligned.alignment_.rows, np.column_stack([np.arange(90), np.arange(30, 120)]))
    unnamed = PCA().fit(ROWS[30:])
    np.testing.assert_allclose(align(unnamed, old).embedding_, aligned.embedding_, atol=1e-10)
    with pytest.raises(InputError, match="column 'd' is not in both tables"):
        align(PCA().fit(frame.rename(columns={"b": "d"})), old)
    with pytest.raises(InputError, match="fitted on 2 columns and the old one on 3"):
        align(PCA(n_components=2).fit(ROWS[:, :2]), old)


def test_duplicate_rows_are_matched_with_the_first():
    old = Isomap().fit(ROWS[[*range(80), 3, 3, 5]])
    new = Isomap().fit(ROWS[[3, 3, 82, *range(78), 81]])
    pairs = align(new, old).alignment_.rows
    np.testing.assert_array_equal(pairs[:, 1], [3, 3, *range(78)])
    np.testing.assert_array_equal(pairs[:, 0], [0, 1, *range(3, 81)])


def test_sparse_rows_are_matched_too():
    X = np.abs(ROWS) * (ROWS > 0)
    for new, old in ((csr_array(X[20:]), csr_array(X)), (csr_array(X[20:]), X), (X[20:], csr_array(X))):
        found = align(KernelPCA(kernel="linear").fit(new), KernelPCA(kernel="linear").fit(old)).alignment_
        expected = align(KernelPCA(kernel="linear").fit(X[20:]), KernelPCA(kernel="linear").fit(X)).alignment_
        np.testing.assert_array_equal(found.rows, expected.rows)
        assert found.misfit == pytest.approx(expected.misfit, rel=1e-6)


def test_methods_may_differ():
    aligned = align(PCA().fit(ROWS), ClassicalMDS().fit(ROWS[::-1].copy()))
    np.testing.assert_array_equal(aligned.alignment_.rows[:, 1], np.arange(120)[::-1])
    assert aligned.alignment_.misfit < 1e-10, "classical scaling is PCA"


def test_rows_without_values_are_matched_by_number():
    D = cdist(ROWS, ROWS)
    old, new = Isomap().fit(ROWS), Isomap(metric="precomputed").fit(D)
    np.testing.assert_allclose(align(new, old).embedding_, old.embedding_, atol=1e-8)
    np.testing.assert_allclose(align(old, moved(old.embedding_)).alignment_.rows, np.column_stack([range(120)] * 2))
    theirs = SklearnIsomap(n_neighbors=8).fit(ROWS)
    np.testing.assert_allclose(align(old, theirs).embedding_, theirs.embedding_, atol=1e-6)
    fewer = Isomap(metric="precomputed").fit(D[:100, :100])
    with pytest.raises(InputError, match=r"new map has 100 rows and the old one 120, .* with rows="):
        align(fewer, old)
    np.testing.assert_allclose(
        align(fewer, old, rows=(range(100), range(100))).alignment_.misfit,
        align(fewer, old.embedding_[:100]).alignment_.misfit,
    )


@any_warning
def test_ordinal_maps_are_matched_by_number():
    model = OrdinalMDS().fit(ROWS[:40])
    aligned = align(OrdinalMDS().fit(ROWS[:40] @ ortho_group.rvs(3, random_state=0)), model)
    assert aligned.alignment_.misfit < 0.05
    assert aligned.stress_ > 0
    with pytest.raises(InputError, match="with rows="):
        align(OrdinalMDS().fit(ROWS[:30]), model)
    assert len(align(OrdinalMDS().fit(ROWS[:30]), model, rows=(range(30), range(30))).alignment_.rows) == 30


def test_rows_that_are_named():
    old = Isomap().fit(ROWS)
    drawn = np.random.default_rng(0).integers(0, 120, 90)  # a bootstrap sample: old rows may occur again
    new = Isomap().fit(ROWS[drawn])
    expected = align(new, old)
    named = align(new, old, rows=(np.arange(90), drawn))
    np.testing.assert_allclose(named.embedding_, expected.embedding_, atol=1e-12)
    pairs = np.column_stack([np.arange(90), drawn])
    for rows in (pairs, pairs.tolist(), pd.DataFrame(pairs), [list(range(90)), drawn.astype(np.uint64)]):
        np.testing.assert_array_equal(align(new, old, rows=rows).alignment_.rows, pairs)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (([0, 1, 2], [0, 1]), r"shapes \(3,\) and \(2,\)"),
        (([[0, 1, 2]], [[0, 1, 2]]), r"shapes \(1, 3\) and \(1, 3\)"),
        (np.arange(8).reshape(2, 4), r"shape \(2, 4\): pass a pair"),
        (np.arange(4), r"shape \(4,\): pass a pair"),
        (([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]), "array of float64"),
        (([True, False], [True, False]), "array of bool"),
        (([0, 1, 120], [0, 1, 2]), "contains index 120 for the new map, which has rows 0 to 119"),
        (([0, 1, 2], [0, -1, 2]), "contains index -1 for the old map, which has rows 0 to 119"),
        (([0, 1, 2, 1], [0, 1, 2, 3]), "lists row 1 of the new map more than once"),
        (([0, 1], [0, 1]), r"2 rows of the new map .* needs at least n_components \+ 1 = 3"),
        (([], []), "0 rows of the new map"),
    ],
)
def test_rows_that_cannot_be_used(rows, sentence):
    model = PCA().fit(ROWS)
    with pytest.raises(InputError, match=sentence):
        align(model, model, rows=rows)


def test_tables_without_a_common_row_are_refused():
    with pytest.raises(InputError, match=r"^only 0 rows of the new map are also on the old one"):
        align(PCA().fit(ROWS), PCA().fit(ROWS + 1.0))


def test_rows_without_a_place_are_left_out():
    X = np.vstack([ROWS[:60], ROWS[:20] + 100.0])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(on_disconnected="largest").fit(X)
    old = Isomap().fit(ROWS[:60])
    pairs = align(model, old).alignment_.rows
    np.testing.assert_array_equal(pairs, np.column_stack([range(60)] * 2))
    aligned = align(model, moved(model.embedding_))
    assert np.isnan(aligned.embedding_[60:]).all()
    np.testing.assert_array_equal(aligned.kept_, model.kept_)
    assert len(align(old, np.where(np.arange(60)[:, None] < 7, np.nan, old.embedding_)).alignment_.rows) == 53


# --- what has no answer, or several


def test_maps_that_do_not_go_together():
    model = PCA(n_components=2).fit(ROWS)
    with pytest.raises(InputError, match="new map has 2 dimensions and the old one has 3"):
        align(model, PCA(n_components=3).fit(ROWS))
    with pytest.raises(InputError, match="infinity"):
        align(model, np.full((120, 2), np.inf))
    with pytest.raises(ValueError, match="Expected 2D array"):
        align(model, "map.csv")
    with pytest.raises(NotFittedError):
        align(PCA(), model)
    with pytest.raises(NotFittedError):
        align(model, PCA())
    for other in (SpectralClustering(), make_pipeline(PCA()), ROWS):
        with pytest.raises(InputError, match=r"new is a .*, but align"):
            align(other, model)
    with pytest.raises(InputError, match="all have the same coordinates on the old map"):
        align(model, np.full((120, 2), 0.3))
    with pytest.raises(InputError, match="uncorrelated"):
        align(PCA(n_components=1).fit(np.array([[-1.0, 0], [0, 0], [1, 0]])), np.array([[1.0], [-2.0], [1.0]]))


def test_rows_that_do_not_span_the_map_leave_the_rotation_open():
    model = PCA(n_components=3).fit(ROWS)
    flat = model.embedding_ * [1.0, 1.0, 0.0]
    old = moved(flat)
    with pytest.warns(RankWarning, match="span 2 of 3 dimensions"):
        aligned = align(model, old)
    found = aligned.alignment_
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), atol=1e-12)
    # the best of all: what the old map lacks is all that is left over
    best = np.square(flat).sum() / np.square(model.embedding_).sum()
    assert found.misfit == pytest.approx(np.sqrt(1.0 - best), rel=1e-9)
    line = np.argsort(model.embedding_[:, 0])[:4]
    with pytest.warns(RankWarning, match="span 2 of 3"):
        align(model, flat[line], rows=(line, range(4)))


def test_maps_of_another_shape_are_warned_of():
    model, rng = PCA().fit(ROWS), np.random.default_rng(0)
    with pytest.warns(
        DegenerateMapWarning, match="after alignment the misfit of the 120 rows in common is .* differ in shape"
    ):
        found = align(model, rng.standard_normal((120, 2))).alignment_
    assert 0.9 < found.misfit <= 1.0


# --- dtypes and units


@pytest.mark.parametrize("cls", [PCA, Isomap, LaplacianEigenmaps, KernelPCA], ids=by_name)
@any_warning
def test_float32_stays_float32(cls):
    X = ROWS.astype(np.float32)
    model, wide = cls().fit(X), cls().fit(ROWS)
    for old in (moved(model.embedding_), wide):
        aligned = align(model, old)
        assert aligned.alignment_.misfit < 1e-3
        assert aligned.embedding_.dtype == aligned.transform(X[:5]).dtype == np.float32
        np.testing.assert_array_equal(
            aligned.embedding_, in_frame(aligned.alignment_, model.embedding_.astype(float)).astype(np.float32)
        )
        rebuilt = model.inverse_transform(model.embedding_)
        np.testing.assert_allclose(aligned.inverse_transform(aligned.embedding_), rebuilt, atol=1e-3)
    assert align(wide, model).embedding_.dtype == np.float64


@pytest.mark.parametrize("cls", [PCA, Isomap, LaplacianEigenmaps, LPP], ids=by_name)
@pytest.mark.parametrize("power", [-700, 664])
@any_warning
def test_the_frame_is_in_the_users_unit(cls, power):
    unit = 2.0**power
    plain, extreme = cls().fit(ROWS), cls().fit(ROWS * unit)
    old = moved(plain.embedding_)
    aligned = align(extreme, old)
    assert aligned.alignment_.misfit < 1e-12
    np.testing.assert_allclose(aligned.transform(FRESH * unit), align(plain, old).transform(FRESH), rtol=1e-9)
    np.testing.assert_allclose(
        aligned.inverse_transform(aligned.embedding_) / unit, plain.inverse_transform(plain.embedding_), atol=1e-9
    )
    fewer = align(cls().fit(ROWS[:100] * unit), extreme)  # both in the extreme unit
    reference = align(cls().fit(ROWS[:100]), plain)
    assert fewer.alignment_.misfit == pytest.approx(reference.alignment_.misfit, rel=1e-6)
    size = np.abs(extreme.embedding_).max() / np.abs(plain.embedding_).max()
    np.testing.assert_allclose(fewer.embedding_ / size, reference.embedding_, atol=1e-9)
    np.testing.assert_allclose(fewer.alignment_.residuals / size, reference.alignment_.residuals, atol=1e-9)


def test_coordinates_that_no_float_holds_are_refused():
    model = PCA().fit(ROWS)
    huge = align(model, model.embedding_ * 1e306)
    with pytest.raises(InputError, match=r"aligned coordinates exceed 1.8e\+308"), pytest.warns(GramfoldWarning):
        huge.transform(FRESH * 1e4)
    with pytest.raises(InputError, match="differ in size by a factor that float64 cannot hold"):
        align(PCA().fit(ROWS * 1e-200), model.embedding_ * 1e200)


# --- what else models return


def test_the_posterior_of_latent_points_is_in_the_frame_of_the_old_map():
    model = ProbabilisticPCA().fit(ROWS)
    aligned = align(model, moved(model.embedding_))
    gappy = FRESH.copy()
    gappy[::2, 1] = np.nan
    found = aligned.alignment_
    for rows in (FRESH, gappy):
        plain, shown = model.posterior(rows), aligned.posterior(rows)
        np.testing.assert_allclose(shown.mean, aligned.transform(rows), atol=1e-10)
        drawn = np.random.default_rng(0).multivariate_normal(plain.mean[0], plain.covariance[0], 50)
        ours = in_frame(found, drawn) - shown.mean[0]
        there = drawn - plain.mean[0]
        # Mahalanobis lengths do not depend on the frame
        np.testing.assert_allclose(
            np.einsum("ni,ij,nj->n", ours, np.linalg.inv(shown.covariance[0]), ours),
            np.einsum("ni,ij,nj->n", there, np.linalg.inv(plain.covariance[0]), there),
            rtol=1e-8,
        )
    np.testing.assert_array_equal(aligned.impute(gappy), model.impute(gappy))
    np.testing.assert_array_equal(aligned.sample(5), model.sample(5))
    np.testing.assert_array_equal(aligned.score_samples(gappy), model.score_samples(gappy))


@any_warning
def test_coordinates_within_planes_are_their_own():
    model = MixturePPCA().fit(ROWS)
    aligned = align(model, moved(model.embedding_))
    for name in ("projections", "responsibilities", "reconstruct", "score_samples"):
        np.testing.assert_array_equal(getattr(aligned, name)(FRESH), getattr(model, name)(FRESH))


def test_attributes_describe_the_map_before_alignment():
    model = PCA().fit(ROWS)
    aligned = align(model, moved(model.embedding_))
    np.testing.assert_array_equal(aligned.components_, model.components_)
    before = (FRESH - aligned.mean_) @ aligned.components_.T
    np.testing.assert_allclose(aligned.transform(FRESH), in_frame(aligned.alignment_, before), atol=1e-10)


def test_an_alignment_has_a_short_repr():
    model = PCA().fit(ROWS)
    assert repr(align(model, 2.0 * model.embedding_ * [-1.0, 1.0] + 5.0).alignment_).startswith(
        "Alignment(120 rows, misfit "
    )
    assert repr(align(model, 2.0 * model.embedding_ * [-1.0, 1.0] + 5.0).alignment_).endswith(", scale 2, mirrored)")
    with pytest.raises(AttributeError):
        align(model, model).alignment_.scale = 3.0


def test_estimators_without_coordinates_are_named():
    model = PCA().fit(np.random.default_rng(0).standard_normal((20, 3)))
    for old in (StandardScaler().fit(np.eye(3)), PCA):
        with pytest.raises(InputError, match="without coordinates"):
            align(model, old)
