"""What can be judged, and one sentence for what cannot."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

from gramfold import PCA, Isomap, OrdinalMDS, SpectralClustering
from gramfold.diagnostics import (
    Judged,
    density_preservation,
    dimension,
    distance_correlation,
    faults,
    feature_distances,
    kernel_alignment,
    lcmc,
    loadings,
    measures,
    neighborhood_purity,
    procrustes,
    r_nx,
    residual_variance,
    short_circuits,
    silhouette,
    spectral_gap,
    stability,
    stress,
    trustworthiness,
)
from gramfold.errors import InputError, PrecomputedInputError, UndefinedMeasureError, UndefinedMeasureWarning
from tests.diagnostics.kinds import kind

ROWS, PLACES, LABELS = kind("digits", 120)


def test_rows_without_a_place_are_left_out_of_both_tables():
    places = PLACES.copy()
    places[[3, 50, 119], [0, 1, 0]] = np.nan
    kept = ~np.isnan(places).any(axis=1)
    holed, whole = measures(ROWS, places, LABELS), measures(ROWS[kept], PLACES[kept], LABELS[kept])
    for name, measure in whole.items():
        assert holed[name].value == measure.value, name
        if measure.per_point is not None:
            assert np.isnan(holed[name].per_point[[3, 50, 119]]).all()
            np.testing.assert_array_equal(holed[name].per_point[kept], measure.per_point)
    distances = cdist(ROWS, ROWS)
    assert trustworthiness(distances, places, metric="precomputed").value == whole["trustworthiness"].value


def test_a_fitted_model_has_its_rows_metric_and_map():
    model = Isomap(n_neighbors=8, metric="cityblock").fit(ROWS)
    own, given = trustworthiness(model), trustworthiness(ROWS, model.embedding_, metric="cityblock")
    assert own.value == given.value
    assert trustworthiness(model, PLACES).value == trustworthiness(ROWS, PLACES, metric="cityblock").value


def test_every_method_can_be_judged_by_its_model():
    assert trustworthiness(PCA(2).fit(ROWS)).value == pytest.approx(trustworthiness(ROWS, PLACES).value, abs=1e-3)


def test_a_table_of_numbers_and_categories():
    rng = np.random.default_rng(0)
    kinds = rng.integers(3, size=90)
    table = pd.DataFrame({"size": kinds + 0.1 * rng.random(90), "colour": np.array(["red", "green", "blue"])[kinds]})
    table.loc[4, "size"] = np.nan
    good = trustworthiness(table, np.column_stack([kinds, table["size"].fillna(0)]), metric="gower").value
    bad = trustworthiness(table, rng.random((90, 2)), metric="gower").value
    assert good > 0.95
    assert bad < 0.65
    model = Isomap(n_neighbors=40, metric="gower").fit(table)
    assert trustworthiness(model).value == trustworthiness(table, model.embedding_, metric="gower").value


def test_tables_as_users_have_them():
    value = trustworthiness(ROWS, PLACES).value
    assert trustworthiness(pd.DataFrame(ROWS), pd.DataFrame(PLACES)).value == value
    assert trustworthiness(ROWS.tolist(), PLACES.tolist()).value == value
    assert trustworthiness(ROWS.astype(np.float32), PLACES).value == value


def test_one_search_serves_all(monkeypatch):
    judged, searches = Judged(ROWS, PLACES), []
    for table in (judged.data, judged.map):
        search = table.neighbors
        monkeypatch.setitem(vars(table), "neighbors", lambda k, search=search: searches.append(k) or search(k))
    measures(judged, labels=LABELS)
    assert searches == [10, 10]
    assert judged.exact
    assert list(judged.rows) == list(range(120))
    assert repr(judged) == "Judged(120 rows, all of them looked at, 10 neighbours)"


@pytest.mark.parametrize("sample", [None, 40])
@pytest.mark.parametrize("rows", [ROWS, csr_array(ROWS), cdist(ROWS, ROWS)], ids=["dense", "sparse", "distances"])
def test_another_map_shares_what_is_known_of_the_data(rows, sample):
    metric = "precomputed" if rows.shape[1] == len(ROWS) else "euclidean"
    options = {"metric": metric, "sample": sample, "random_state": 3}
    first = Judged(rows, PLACES, **options)
    measures(first, labels=LABELS), faults(first)
    others = {"columns": ROWS[:, 20:22], "noise": np.random.default_rng(0).random((120, 3)), "line": PLACES[:, :1]}
    for name, places in others.items():
        other, alone = first.with_map(places), Judged(rows, places, **options)
        assert other.in_data is first.in_data
        for key, measure in measures(alone, labels=LABELS).items():
            shared = measures(other, labels=LABELS)[key]
            assert (shared.value, shared.interval) == (measure.value, measure.interval), (name, key)
        for one, expected in zip(faults(other), faults(alone), strict=True):
            assert (one.total, one.threshold, one.words) == (expected.total, expected.threshold, expected.words)
            np.testing.assert_array_equal(one.per_point, expected.per_point)
    assert measures(first)["stress"].value == stress(rows, PLACES, **options).value  # it is not changed


def test_the_data_are_searched_once_for_several_maps(monkeypatch):
    first, searches = Judged(ROWS, PLACES), []
    search = first.data.neighbors
    monkeypatch.setitem(vars(first.data), "neighbors", lambda k: searches.append(k) or search(k))
    for places in (ROWS[:, :2], PLACES[:, ::-1], ROWS[:, 5:9]):
        judged = first.with_map(places)
        measures(judged)
        faults(judged)
    measures(first)
    assert searches == [10]


def test_another_map_is_judged_on_the_same_rows():
    few, whole = PLACES.copy(), ROWS[:, 20:22]
    few[[3, 50]] = np.nan
    judged = Judged(ROWS, few).with_map(whole)
    assert judged.n == 118
    kept = np.delete(np.arange(120), [3, 50])
    assert trustworthiness(judged).value == trustworthiness(ROWS[kept], whole[kept]).value


def test_the_seed_decides_the_rows():
    first, same, other = (Judged(ROWS, PLACES, sample=40, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.rows, same.rows)
    assert not np.array_equal(first.rows, other.rows)
    assert not first.exact
    assert len(np.unique(first.rows)) == 40
    assert Judged(ROWS, PLACES, sample=5_000).exact


def test_many_rows_are_sampled():
    X = np.random.default_rng(0).standard_normal((3_001, 3))
    assert len(Judged(X, X[:, :2]).rows) == 1_000
    assert Judged(X[:3_000], X[:3_000, :2]).exact


def test_three_rows():
    found = measures([[0.0], [1.0], [3.0]], [[0.0], [1.0], [2.5]], n_neighbors=1)
    assert found["trustworthiness"].value == found["triplet_accuracy"].value == 1


def test_a_scale_of_any_size():
    for size in (1e-140, 1e140):
        found = measures(ROWS * size, PLACES / size, LABELS)
        for name, measure in measures(ROWS, PLACES, LABELS).items():
            assert found[name].value == pytest.approx(measure.value, abs=1e-3), name  # ties are rounded


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: trustworthiness(ROWS, PLACES[:100]), "X has 120 rows and Y has 100"),
        (lambda: trustworthiness(ROWS), "Y is missing"),
        (lambda: trustworthiness(np.where(ROWS[3, 3] == ROWS, np.nan, ROWS), PLACES), "X contains NaN"),
        (lambda: trustworthiness(ROWS, np.where(PLACES[3, 1] == PLACES, np.inf, PLACES)), "Y contains infinity in row"),
        (lambda: trustworthiness(ROWS, PLACES, n_neighbors=120), "n_neighbors=120, but there are only 120 rows"),
        (lambda: trustworthiness(ROWS, PLACES, n_neighbors=60), "half of the 120 rows or more"),
        (lambda: trustworthiness(ROWS, PLACES, n_neighbors=0), "n_neighbors=0 is not a number of neighbours"),
        (lambda: trustworthiness(ROWS, PLACES, n_neighbors=2.5), "n_neighbors=2.5 is not a number"),
        (lambda: r_nx(ROWS, PLACES, n_neighbors=119), "are all other rows"),
        (lambda: lcmc(ROWS[:2], PLACES[:2], n_neighbors=1), "2 rows with coordinates, but a comparison needs 3"),
        (lambda: lcmc(ROWS, np.full((120, 2), np.nan)), "0 of 120 rows with coordinates"),
        (lambda: lcmc(ROWS, np.ones((120, 2))), "all rows of Y are at one place"),
        (lambda: lcmc(np.ones((120, 2)), PLACES), "all rows of X are at one place"),
        (lambda: lcmc(ROWS, PLACES, sample=5), "sample=5 cannot be drawn"),
        (lambda: lcmc(ROWS, PLACES, random_state=None), "random_state=None is not a seed"),
        (lambda: Judged(ROWS, PLACES, random_state=2**40), "random_state=1099511627776 is not a seed"),
        (lambda: measures(ROWS, PLACES, random_state=2**32), "random_state=4294967296 is not a seed"),
        (lambda: faults(ROWS, PLACES, random_state=-1), "random_state=-1 is not a seed"),
        (lambda: loadings(ROWS, PLACES, random_state=2**40), "random_state=1099511627776 is not a seed"),
        (lambda: loadings(ROWS, PLACES, random_state="a"), "random_state='a' is not a seed"),
        (lambda: dimension(ROWS, random_state=2**40), "random_state=1099511627776 is not a seed"),
        (lambda: lcmc(csr_array(cdist(ROWS, ROWS)), PLACES, metric="precomputed"), "sparse matrix of precomputed"),
        (lambda: lcmc(ROWS, PLACES, metric="precomputed"), "needs a square matrix"),
        (lambda: lcmc(SpectralClustering(2).fit(ROWS)), "SpectralClustering makes no map"),
        (lambda: lcmc(OrdinalMDS().fit(ROWS[:20])), "OrdinalMDS does not keep the rows"),
        (lambda: SpectralClustering(2).fit(ROWS).verdict(), "the coordinates of a map of them as Y, as in gramfold."),
        (lambda: OrdinalMDS().fit(ROWS[:20]).verdict(), "as in gramfold.diagnostics.verdict(X, model.embedding_)"),
        (lambda: lcmc(PCA(2).fit(ROWS), metric="cosine"), "whose own metric is used"),
        (lambda: lcmc(Judged(ROWS, PLACES), PLACES), "X is a Judged"),
        (lambda: lcmc(Judged(ROWS, PLACES), n_neighbors=5), "pass n_neighbors to Judged"),
        (lambda: lcmc(ROWS, csr_array(PLACES)), "sparse"),
        (lambda: Judged(ROWS, PLACES).with_map(PLACES[:7]), "the data have 120 rows and Y has 7"),
        (lambda: Judged(ROWS, PLACES).with_map(np.where(PLACES[3, 1] == PLACES, np.nan, PLACES)), "for 1 of the 120"),
        (lambda: Judged(ROWS, PLACES, search="fast"), "search='fast' is not known"),
        (lambda: neighborhood_purity(ROWS, PLACES), "labels are missing"),
        (lambda: neighborhood_purity(ROWS, PLACES, LABELS[:7]), "labels have shape (7,), but there are 120 rows"),
        (lambda: neighborhood_purity(ROWS, PLACES, LABELS, on="both"), "on='both' is not known"),
        (lambda: silhouette(ROWS, PLACES, np.zeros(120)), "labels hold 1 different values"),
        (lambda: residual_variance(np.eye(3), PLACES[:3], n_neighbors=1), "all distances in the data are equal"),
        (lambda: distance_correlation(np.eye(3), PLACES[:3], n_neighbors=1), "are equal"),
        (lambda: density_preservation(np.arange(9.0)[:, None] // 3, PLACES[:9], n_neighbors=2), "0 of 9 rows"),
        (lambda: density_preservation(np.eye(5), PLACES[:5], n_neighbors=2), "the same radius"),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_measure_that_is_not_defined_leaves_the_others():
    copies = np.repeat(np.random.default_rng(0).standard_normal((20, 3)), 30, axis=0)
    with pytest.warns(UndefinedMeasureWarning, match="density_preservation is NaN: 0 of 600 rows have a neighbour"):
        found = measures(copies, copies[:, :2])
    assert np.isnan(found["density_preservation"].value)
    assert found["continuity"].value == 1


def test_distances_are_computed_once(monkeypatch):
    judged = Judged(ROWS, PLACES)
    asked, compute = [], judged.data.table.distances
    monkeypatch.setitem(
        vars(judged.data.table), "distances", lambda rows, columns=None: asked.extend(rows) or compute(rows, columns)
    )
    first, again = judged.data.distances(np.array([4, 2])), judged.data.distances(np.array([2, 4]), np.array([7, 9]))
    np.testing.assert_array_equal(first, cdist(ROWS[[4, 2]], ROWS))
    np.testing.assert_array_equal(again, first[::-1][:, [7, 9]])
    first[:] = 0  # a copy
    measures(judged)
    assert sorted(asked) == list(range(120))


def test_distances_are_not_kept_by_a_model():
    model = Isomap(metric="precomputed").fit(cdist(ROWS, ROWS))
    with pytest.raises(PrecomputedInputError, match="fitted on precomputed input, which it does not keep"):
        trustworthiness(model)


@pytest.mark.parametrize("bad", [[None] * 60, ["a", None] * 30, [1.0, np.nan] * 30])
def test_labels_with_gaps_are_refused(bad):
    X = np.random.default_rng(0).random((60, 3))
    with pytest.raises(InputError, match="labels are missing for"):
        silhouette(X, X[:, :2], bad)


@pytest.mark.parametrize("metric", [None, 1])
def test_what_is_no_metric(metric):
    X = np.random.default_rng(0).random((60, 3))
    with pytest.raises(InputError, match="is not a metric: pass its name"):
        Judged(X, X[:, :2], metric=metric)


BAD_MAPS = {
    "text": np.array([["a", "b"]] * 120),
    "a file name": "map.csv",
    "one dimension": PLACES[:, 0],
    "complex": PLACES + 1j,
    "three dimensions": np.zeros((120, 2, 2)),
    "infinite": np.full((120, 2), np.inf),
    "no rows": np.empty((0, 2)),
    "no columns": np.empty((120, 0)),
    "ragged": [[1.0, 2.0]] * 119 + [[1.0]],
    "sparse": csr_array(PLACES),
    "columns of one name": pd.DataFrame(PLACES, columns=["a", "a"]),
    "sparse columns": pd.DataFrame(PLACES).astype(pd.SparseDtype(float, 0)),
    "categories": pd.DataFrame({"a": pd.Categorical(["x"] * 120), "b": PLACES[:, 0]}),
}


@pytest.mark.parametrize("bad", BAD_MAPS.values(), ids=BAD_MAPS)
def test_errors_about_a_map_name_it(bad):
    for call, name in ((lambda: faults(ROWS, bad), "Y"), (lambda: procrustes(PLACES, bad), "Z")):
        with pytest.raises(InputError, match=rf"\b{name}\b") as found:
            call()
        assert "X" not in str(found.value)
    with pytest.raises(InputError, match=r"fit_transform\(X\)"):
        stability(Gives(bad), ROWS, refits=2)


class Gives:
    """An estimator that is not of scikit-learn's classes, and whose map is anything."""

    def __init__(self, what):
        self.what = what

    def get_params(self, deep=True):
        return {"what": self.what}

    def fit_transform(self, X, y=None):
        return self.what


def test_a_map_of_other_rows_is_no_map_of_these():
    with pytest.raises(InputError, match=r"fit_transform\(X\) has 50 rows for 120 rows of X"):
        stability(Gives(PLACES[:50]), ROWS, refits=2)


@pytest.mark.parametrize("place", [0.0, 1.0, -7e8])
def test_a_map_of_one_place_is_collapsed(place):
    Y = np.full((120, 2), place)
    found = faults(ROWS, Y)
    assert found.named == ["collapsed"]
    assert found.collapsed.total == 1
    assert "all of them are at one place" in found.collapsed.words
    with pytest.warns(UndefinedMeasureWarning) as told:
        every = measures(ROWS, Y, LABELS)
    assert "trustworthiness is NaN: all rows of Y are at one place" in str(told[0].message)
    undefined = {name for name, one in every.items() if np.isnan(one.value)}
    assert undefined == set(every) - {"stress", "triplet_accuracy", "neighborhood_purity_in_data", "silhouette"}
    assert every["stress"].value == 1
    assert every["triplet_accuracy"].value == pytest.approx(0.5, abs=1e-3)  # two that are equally far in the data too
    with pytest.raises(UndefinedMeasureError, match="faults, which calls such a map collapsed"):
        trustworthiness(ROWS, Y)


def test_a_map_of_one_place_of_many_rows_is_collapsed():
    found = faults(np.random.default_rng(0).normal(size=(3100, 3)), np.ones((3100, 2)))
    assert found.named == ["collapsed"]
    assert (found.collapsed.per_point == 1).all()


def test_a_map_with_a_constant_column_is_collapsed():
    assert faults(ROWS, np.column_stack([PLACES[:, 0], np.ones(120)])).named == ["collapsed"]


@pytest.mark.parametrize("size", [2.0**-1000, 2.0**1000])  # of which products are exact
def test_sizes_whose_squares_are_no_numbers(size):
    plain = measures(ROWS, PLACES)
    for X, Y in ((ROWS, size * PLACES), (size * ROWS, PLACES), (size * ROWS, size * PLACES)):
        assert faults(X, Y).named == faults(ROWS, PLACES).named
        for name, one in measures(X, Y).items():
            assert one.value == pytest.approx(plain[name].value, rel=1e-9), name
    same = stress(size * ROWS, size * PLACES, scale=False).value
    assert same == pytest.approx(stress(ROWS, PLACES, scale=False).value, rel=1e-9)


def test_tables_in_different_orders():
    X = pd.DataFrame(ROWS, index=[f"r{i}" for i in range(120)])
    Y = pd.DataFrame(PLACES, index=X.index)
    shuffled = Y.sample(frac=1, random_state=0)
    for call in (lambda: faults(X, shuffled), lambda: trustworthiness(X, shuffled)):
        with pytest.raises(InputError, match=r"same index in different orders.*pass Y.loc\[X.index\]"):
            call()
    with pytest.raises(InputError, match=r"pass Z.loc\[Y.index\]"):
        procrustes(Y, shuffled)
    labels = pd.Series(LABELS, index=X.index)
    mixed = labels.sample(frac=1, random_state=0)
    for measure in (neighborhood_purity, silhouette, measures):
        for tables, name in (((X, PLACES), "X"), ((ROWS, Y), "Y")):
            with pytest.raises(InputError, match=rf"same index in different orders.*labels.loc\[{name}.index\]"):
                measure(*tables, mixed)
            measure(*tables, mixed.loc[X.index])
    assert neighborhood_purity(X, Y, labels).value == neighborhood_purity(ROWS, PLACES, LABELS).value
    plain = trustworthiness(ROWS, PLACES).value
    for same in (Y, shuffled.loc[X.index], pd.DataFrame(PLACES), Y.set_axis(np.arange(120) + 500), PLACES):
        assert trustworthiness(X, same).value == plain


def test_row_numbers_in_different_orders():
    X, Y = pd.DataFrame(ROWS), pd.DataFrame(PLACES)
    shuffled = Y.sample(frac=1, random_state=0)
    with pytest.raises(InputError, match=r"same index in different orders.*pass Y.loc\[X.index\]"):
        trustworthiness(X, shuffled)
    with pytest.raises(InputError, match=r"pass Z.loc\[Y.index\], or Z.to_numpy\(\)"):
        procrustes(Y, shuffled)
    mixed = X.sample(frac=1, random_state=0)  # and a map of them as they are, or in the order before: who knows
    with pytest.raises(InputError, match="same index in different orders"):
        trustworthiness(mixed, Y)
    some, order = mixed.iloc[:100], mixed.index.to_numpy()[:100]
    as_they_are = trustworthiness(ROWS[order], PLACES[order]).value
    assert trustworthiness(some, PLACES[order]).value == as_they_are
    assert trustworthiness(some, pd.DataFrame(PLACES[order])).value == as_they_are  # other labels


def test_tables_of_nearly_the_same_rows():
    X = pd.DataFrame(ROWS, index=[f"r{i}" for i in range(120)])
    Y = pd.DataFrame(PLACES, index=X.index)
    for there in (Y.drop("r2").sample(frac=1, random_state=0), Y.drop("r2")):  # shuffled, or shifted
        with pytest.raises(InputError, match="118 of 119 labels of the index in common, at different positions"):
            trustworthiness(X.drop("r100"), there)
    renamed = Y.rename(index={"r2": "other"})
    assert trustworthiness(X, renamed).value == trustworthiness(ROWS, PLACES).value


def test_labels_that_occur_twice_or_are_pairs():
    twice = pd.Index([f"r{i // 2}" for i in range(120)])
    with pytest.raises(InputError, match=r"same index in different orders.*sort Y as X is"):
        trustworthiness(pd.DataFrame(ROWS, index=twice), pd.DataFrame(PLACES, index=twice[::-1]))
    pairs = pd.MultiIndex.from_product([range(12), range(10)])
    X, Y = pd.DataFrame(ROWS, index=pairs), pd.DataFrame(PLACES)
    assert trustworthiness(X, Y).value == trustworthiness(ROWS, PLACES).value
    with pytest.raises(InputError, match="same index in different orders"):
        trustworthiness(X, Y.set_axis(pairs[::-1]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: faults(Isomap()),
        lambda: measures(Isomap()),
        lambda: lcmc(Isomap(), PLACES),
        lambda: dimension(Isomap()),
        lambda: spectral_gap(Isomap()),
        lambda: short_circuits(Isomap()),
        lambda: stability(Isomap()),
        lambda: feature_distances(Isomap()),
        lambda: kernel_alignment(Isomap(), Isomap()),
        lambda: procrustes(PLACES, Isomap()),
    ],
)
def test_a_model_that_is_not_fitted(call):
    with pytest.raises(NotFittedError, match=r"Isomap.*not fitted"):
        call()
