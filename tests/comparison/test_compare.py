"""Which map: the numbers of diagnostics, one search for all, failures as rows, guests and finished maps."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.manifold import Isomap as OtherIsomap
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramfold import PCA, Isomap, LaplacianEigenmaps, compare
from gramfold.comparison import Best, Comparison
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import faults, measures, procrustes, stability
from gramfold.embedding import fit as fit_module
from gramfold.errors import InputError
from gramfold.neighbors.search import rows_index

ROWS, KINDS = (part[:200] for part in load_digits(return_X_y=True))
PLACES = PCA(2).fit_transform(ROWS)


class Broken(BaseEstimator):
    """A guest that raises."""

    def __init__(self, error=RuntimeError):
        self.error = error

    def fit_transform(self, X, y=None):
        raise self.error("no luck\n  today")


class Plain:
    """A guest that is no estimator of scikit-learn: two columns, with NaN in some rows."""

    def __init__(self, absent=()):
        self.absent = list(absent)

    def fit_transform(self, X):
        found = np.array(X, dtype=float)[:, 20:22]
        found[self.absent] = np.nan
        return found


@pytest.fixture(scope="module")
def found():
    methods = {"pca": PCA, "iso": Isomap(n_neighbors=12), "laplace": "laplacian", "columns": ROWS[:, 20:22]}
    return compare(ROWS, methods, labels=KINDS)


def test_numbers_are_those_of_diagnostics(found):
    for name, places in found.maps.items():
        alone, wrong = measures(ROWS, places, KINDS), faults(ROWS, places)
        assert len(found[name].measures) == 8
        strain = found[name].measures["strain"]
        assert (strain.value, strain.interval) == (wrong.strained.total, None)
        assert np.array_equal(strain.per_point, wrong.strained.per_point, equal_nan=True)
        for measure in set(found[name].measures) - {"strain"}:
            value = found[name].measures[measure]
            assert value.value == alone[measure].value, (name, measure)
            assert value.interval == alone[measure].interval
        assert found[name].faults.named == wrong.named
        assert [one.total for one in found[name].faults] == [one.total for one in wrong]


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_intervals_where_rows_are_drawn():
    found = compare(ROWS, ["pca", "isomap"], labels=KINDS, sample=60, random_state=5)
    assert (found.n_judged, found.n_sampled) == (200, 60)
    for name, places in found.maps.items():
        alone = measures(ROWS, places, KINDS, sample=60, random_state=5)
        for measure in set(found[name].measures) - {"strain"}:
            value = found[name].measures[measure]
            assert (value.value, value.interval) == (alone[measure].value, alone[measure].interval)
        strained = faults(ROWS, places, sample=60, random_state=5).strained
        assert (found[name].measures["strain"].value, found[name].measures["strain"].interval) == (
            strained.total,
            strained.interval,
        )
    table = found.to_pandas()
    for name in ("stress", "strain"):
        assert (table[f"{name}_low"] < table[name]).all()
    assert "±" in repr(found)
    assert "r_nx_low" not in table  # it is exact


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_maps_are_those_of_fits_by_themselves(found):
    np.testing.assert_array_equal(found.maps["iso"], Isomap(n_neighbors=12).fit_transform(ROWS))
    np.testing.assert_array_equal(found.models["iso"].embedding_, found.maps["iso"])
    np.testing.assert_array_equal(found.maps["laplace"], LaplacianEigenmaps(random_state=0).fit_transform(ROWS))
    assert set(found.models) == {"pca", "iso", "laplace"}


def test_one_search_serves_all_fits_and_one_all_judgements(monkeypatch):
    fits, judgements = [], []
    search = fit_module.NeighborGraph.of
    monkeypatch.setattr(
        fit_module.NeighborGraph, "of", lambda X, hood, **more: fits.append(hood.n_neighbors) or search(X, hood, **more)
    )

    def index(rows, *more, **settings):
        judgements.append(rows.shape[1])
        return rows_index(rows, *more, **settings)

    monkeypatch.setattr("gramfold.diagnostics.tables.rows_index", index)
    roll = make_swiss_roll(300, random_state=0).points
    found = compare(roll, [Isomap(n_neighbors=12), "laplacian", "lle", "ltsa", "pca"], n_neighbors=10)
    assert not found.failures
    assert fits == [12]
    assert found.searches == 1
    assert judgements.count(3) == 1  # of the data
    assert judgements.count(2) == 5  # of each map


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_a_search_of_its_own_and_another_metric():
    own = Isomap(search=KNeighborsTransformer(n_neighbors=9))
    methods = {"own": own, "cosine": Isomap(metric="cosine"), "radius": Isomap(radius=40.0), "usual": Isomap()}
    found = compare(ROWS, methods)
    assert not found.failures
    assert found.searches == 2  # cosine, and the usual one
    for name, model in methods.items():
        np.testing.assert_array_equal(found.maps[name], model.fit_transform(ROWS))


def test_a_failure_is_a_row():
    found = compare(ROWS, {"pca": "pca", "broken": Broken(), "many": Isomap(n_neighbors=500), "isomap": "isomap"})
    assert found.failures["broken"] == "RuntimeError: no luck today"
    assert "n_neighbors=500" in found.failures["many"]
    assert found["broken"].embedding is None
    assert list(found.maps) == ["pca", "isomap"]
    assert "broken failed: RuntimeError: no luck today" in repr(found)
    assert found.to_pandas().loc["broken", "failure"].startswith("RuntimeError")
    assert found.best_for("global").winner == "pca"


def test_an_interrupt_passes():
    with pytest.raises(KeyboardInterrupt):
        compare(ROWS, [Broken(KeyboardInterrupt)])


def test_warnings_are_counted_not_shown():
    groups = np.concatenate([ROWS[:100], ROWS[100:] + 1000.0])
    found = compare(groups, ["isomap"])
    assert found["isomap"].warned["DisconnectedGraphWarning"] == 1
    assert "connected components" in found["isomap"].examples["DisconnectedGraphWarning"]
    assert "isomap warned: DisconnectedGraphWarning" in repr(found)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_guests():
    scaled = make_pipeline(StandardScaler(), PCA(2))
    found = compare(ROWS, [OtherIsomap(n_neighbors=8), TSNE, Plain(), scaled, "isomap"])
    assert list(found.maps) == ["Isomap", "TSNE", "Plain", "Pipeline", "isomap"]
    assert found.models["TSNE"].random_state == 0
    np.testing.assert_allclose(found.maps["Pipeline"], scaled.fit_transform(ROWS))
    assert procrustes(found.maps["Isomap"], found.maps["isomap"]).value < 1e-3  # ties are broken otherwise
    assert found["TSNE"].seconds > 0
    assert found.best_for("local").winner == "TSNE"


def test_an_estimator_is_cloned_and_names_are_told_apart():
    model = Isomap(n_neighbors=12)
    found = compare(ROWS, [model, Isomap(n_neighbors=20), model])
    assert not hasattr(model, "model_")
    assert list(found.maps) == ["isomap", "isomap 2", "isomap 3"]
    assert found.best_for("local").decided is (found.best_for("local").margin > found.best_for("local").noise)
    np.testing.assert_array_equal(found.maps["isomap"], found.maps["isomap 3"])


def test_rows_that_a_map_does_not_have():
    found = compare(ROWS, {"few": Plain(range(30)), "pca": "pca", "hardly": Plain(range(150))})
    assert found.n_judged == 170
    assert found["few"].n_rows == 170
    assert "50 of 200 rows" in found.failures["hardly"]
    assert "judged on the 170 that all of them have" in repr(found)
    alone = measures(ROWS[30:], found.maps["pca"][30:])
    own = dict(found["pca"].measures)
    assert own.pop("strain").value == faults(ROWS[30:], found.maps["pca"][30:]).strained.total
    for name, measure in own.items():
        assert measure.value == alone[name].value, name


def test_labels_in_another_order_are_refused():
    table = pd.DataFrame(ROWS, index=[f"cell {i}" for i in range(200)])
    labels = pd.Series(KINDS, index=table.index)
    with pytest.raises(InputError, match=r"X and labels have the same index in different orders.*labels.loc"):
        compare(table, ["pca"], labels=labels.sample(frac=1, random_state=0))
    found = compare(table, ["pca"], labels=labels)
    assert found["pca"].measures["neighborhood_purity"].value == (
        compare(ROWS, ["pca"], labels=KINDS)["pca"].measures["neighborhood_purity"].value
    )


def test_missing_labels_in_a_list_are_no_class():
    with pytest.raises(InputError, match="labels are missing for 10 rows"):
        compare(ROWS, ["pca"], labels=[np.nan] * 10 + ["a"] * 190)
    assert compare(ROWS, ["pca"], labels=["a"] * 100 + ["b"] * 100)["pca"].measures["silhouette"].value > -1


def test_what_leaves_nothing_to_compare_is_refused():
    with pytest.raises(InputError, match="judged_neighbors <= 66"):
        compare(ROWS, {"broken": Broken(KeyboardInterrupt)}, judged_neighbors=199)  # before any fit
    with pytest.raises(InputError, match=r"every method failed.*0 of 200 rows, which is less than half"):
        compare(ROWS, {"m": np.full((200, 2), np.nan)})
    infinite = PLACES.copy()
    infinite[3] = np.inf
    with pytest.raises(InputError, match=r"every method failed.*infinity"):
        compare(ROWS, {"m": infinite})


class TestFinishedMaps:
    names = tuple(f"cell {i}" for i in range(200))

    def test_rows_in_another_order_are_matched_by_index(self):
        table = pd.DataFrame(ROWS, index=list(self.names))
        mixed = pd.DataFrame(PLACES, index=list(self.names)).sample(frac=1, random_state=0)
        found = compare(table, {"mixed": mixed, "same": PLACES})
        np.testing.assert_array_equal(found.maps["mixed"], PLACES)
        assert found["mixed"].measures["stress"].value == measures(ROWS, PLACES)["stress"].value

    def test_numbers_as_index(self):
        mixed = pd.DataFrame(PLACES).sample(frac=1, random_state=0)
        np.testing.assert_array_equal(compare(pd.DataFrame(ROWS), {"mixed": mixed}).maps["mixed"], PLACES)
        with pytest.raises(InputError, match="numbers its rows in another order, and X has no index"):
            compare(ROWS, {"mixed": mixed})

    def test_numbers_that_are_no_names(self):
        order = np.random.default_rng(0).permutation(200)
        table, plain = pd.DataFrame(ROWS, index=order), pd.DataFrame(PLACES)
        with pytest.raises(InputError, match="not known which rows are the same"):
            compare(table, {"plain": plain})
        for other in (table.set_axis(2 * order), table.set_axis(order + 5)):  # labels that rows were left with
            np.testing.assert_array_equal(compare(other, {"plain": plain}).maps["plain"], PLACES)
            map_of_it = plain.set_axis(other.index)
            np.testing.assert_array_equal(compare(pd.DataFrame(ROWS), {"its": map_of_it}).maps["its"], PLACES)

    def test_some_rows_only(self):
        table = pd.DataFrame(ROWS, index=list(self.names))
        part = pd.DataFrame(PLACES, index=list(self.names)).iloc[40:][::-1]
        found = compare(table, {"part": part, "pca": "pca"})
        assert found.n_judged == 160
        np.testing.assert_array_equal(found.maps["part"][40:], PLACES[40:])

    def test_a_map_without_names_is_in_the_order_of_the_rows(self):
        table = pd.DataFrame(ROWS, index=list(self.names))
        np.testing.assert_array_equal(compare(table, {"plain": pd.DataFrame(PLACES)}).maps["plain"], PLACES)

    @pytest.mark.parametrize(
        ("index", "words"),
        [([f"other {i}" for i in range(200)], "has no name of a row of X"), (["cell 1"] * 200, "names a row twice")],
    )
    def test_names_that_do_not_match(self, index, words):
        with pytest.raises(InputError, match=words):
            compare(pd.DataFrame(ROWS, index=list(self.names)), {"odd": pd.DataFrame(PLACES, index=index)})

    def test_one_of_a_single_place_is_collapsed(self):
        found = compare(ROWS, {"point": np.zeros((200, 2)), "pca": "pca"})
        assert found["point"].faults.collapsed.named
        assert np.isnan(found["point"].measures["r_nx"].value)
        assert "point" in str(found)
        assert all(found.best_for(purpose).winner == "pca" for purpose in found.purposes)

    def test_one_that_cannot_be_judged_is_a_row(self):
        endless = np.full((200, 2), np.inf)
        found = compare(ROWS, {"endless": endless, "pca": "pca"})
        assert "cannot be judged" in found.failures["endless"]
        assert found.best_for("local").winner == "pca"


@pytest.mark.parametrize("refits", [0, 2])
def test_a_guest_that_works_in_place_changes_nothing(refits):
    rows = make_swiss_roll(120, random_state=0).points
    before, table = rows.copy(), pd.DataFrame(rows)
    methods = {"guest": make_pipeline(StandardScaler(copy=False), decomposition.PCA(2)), "pca": "pca"}
    found = compare(rows, methods, stability=refits)
    assert np.array_equal(rows, before)
    alone = compare(before, ["pca"])
    assert found["pca"].measures["stress"].value == alone["pca"].measures["stress"].value
    compare(table, methods, stability=refits)
    assert np.array_equal(table.to_numpy(), before)


class TestBest:
    def test_a_collapsed_map_does_not_win(self):
        rng = np.random.default_rng(0)
        sheet = rng.random((200, 2))
        far = np.concatenate([sheet[:195], 1e3 * sheet[195:]])  # all neighbours but those of five rows are kept
        turned = sheet[:, ::-1] + 0.05 * rng.normal(size=sheet.shape)
        found = compare(sheet, {"far": far, "turned": turned, "noise": rng.random((200, 2))})
        assert found["far"].faults.collapsed.named
        best = found.best_for("local")
        assert best.winner == "turned"
        assert "lie in a crowd" in best.passed_over["far"]
        assert "Not ranked, since collapsed: far" in str(best)

    def test_where_all_collapsed_the_best_of_them_is_named_with_its_fault(self):
        sheet = np.random.default_rng(0).random((200, 2))
        far = np.concatenate([sheet[:195], 1e3 * sheet[195:]])
        best = compare(sheet, {"far": far}).best_for("local")
        assert best.winner == "far"
        assert "collapsed" in best.faults
        assert "there is no other map" in best.sentence

    def test_a_lower_strain_is_better(self, found):
        best = found.best_for("isometry")
        strains = found.to_pandas()["strain"].drop("columns")  # which collapsed
        assert best.winner == strains.idxmin()
        assert best.margin == strains[best.runner_up] - strains.min() > 0

    def test_an_unrolled_sheet_is_the_isometric_map(self):
        roll = make_swiss_roll(300, random_state=0)
        found = compare(roll.points, {"truth": roll.truth, "isomap": "isomap", "pca": "pca"})
        best = found.best_for("isometry")
        assert best.winner in {"truth", "isomap"}
        assert "pca" not in best.level_with
        assert found.to_pandas()["stress"].idxmin() == "pca"  # straight lines through the roll
        assert "straight-line distances in the data" in repr(found)

    def test_the_same_map_twice_is_level(self):
        turned = PLACES @ [[0.0, 1.0], [-1.0, 0.0]]
        found = compare(ROWS, {"one": PLACES, "other": 3.0 * turned}, labels=KINDS)
        for purpose in ("local", "global", "isometry", "clusters"):
            best = found.best_for(purpose)
            assert not best.decided
            assert len(best.level_with) == 1
            assert "not by more than noise" in str(best)

    def test_words(self, found):
        for purpose in found.purposes:
            assert found.best_for(purpose).sentence in repr(found)
        best = compare(ROWS, {"noise": np.random.default_rng(0).random((200, 2)), "pca": PLACES}).best_for("local")
        assert isinstance(best, Best)
        assert best.decided
        assert f"ahead of noise by {best.margin:.3f} ± {best.noise:.3f}." in str(best)
        assert not best.narrow
        with pytest.raises(InputError, match="purpose='best' is not known"):
            found.best_for("best")
        with pytest.raises(InputError, match="no labels were given"):
            compare(ROWS, ["pca"]).best_for("clusters")

    def test_narrow_leads_are_told_from_clear_ones(self):
        def lead(margin, noise):
            return Best("local", "r_nx", "one", 0.5, "other", margin, noise, (), {}, ())

        narrow = lead(0.0254, 0.0251)
        assert narrow.decided
        assert narrow.narrow
        assert "narrowly ahead of other by 0.0254 ± 0.0251." in str(narrow)
        assert not lead(0.04, 0.025).narrow
        assert "ahead of other by 0.040 ± 0.025." in str(lead(0.04, 0.025))
        assert not lead(0.02, 0.025).narrow


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
class TestRowsOfEveryKind:
    def test_usual_methods(self):
        found = compare(ROWS)
        assert list(found.maps) == ["pca", "isomap", "laplacian_eigenmaps", "diffusion_map", "modified_lle"]
        assert not found.failures

    def test_distances(self):
        found = compare(cdist(ROWS, ROWS), metric="precomputed", labels=KINDS)
        assert next(iter(found.maps)) == "classical_mds"
        assert not found.failures
        straight = compare(ROWS, ["isomap"], labels=KINDS)
        assert found["isomap"].measures["r_nx"].value == pytest.approx(straight["isomap"].measures["r_nx"].value)

    def test_a_method_that_would_read_distances_as_rows_fails(self):
        methods = {"pca": "pca", "tsne": TSNE(), "own": TSNE(metric="precomputed", init="random"), "isomap": "isomap"}
        found = compare(cdist(ROWS, ROWS), methods, metric="precomputed")
        assert list(found.failures) == ["pca", "tsne"]
        assert "would read as rows" in found.failures["pca"]
        found = compare(ROWS, {"isomap": Isomap(metric="precomputed"), "pca": "pca"})
        assert "X holds rows" in found.failures["isomap"]

    def test_sparse_rows(self):
        found = compare(csr_array(ROWS), ["pca", "isomap"])
        dense = compare(ROWS, ["pca", "isomap"])
        for name in ("pca", "isomap"):
            assert found[name].measures["stress"].value == pytest.approx(dense[name].measures["stress"].value, abs=1e-6)

    def test_numbers_categories_and_gaps(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"size": rng.random(90), "colour": rng.choice(["red", "blue"], 90)})
        table.loc[3, "size"] = np.nan
        found = compare(table, metric="gower", n_neighbors=20)
        assert not found.failures
        assert list(found.maps) == ["classical_mds", "isomap", "laplacian_eigenmaps", "diffusion_map"]

    @pytest.mark.parametrize("n", [12, 30])
    def test_few_rows(self, n):
        found = compare(ROWS[:n], labels=KINDS[:n] > 4, n_neighbors=5)
        assert found.n_neighbors == min(10, n // 3)
        assert not found.failures
        assert isinstance(repr(found), str)

    def test_copies_and_outliers(self):
        rows = np.concatenate([ROWS, ROWS[:60], 1e4 + ROWS[:2]])
        found = compare(rows, ["pca", "isomap", "lle", Isomap(n_neighbors=230)])
        assert list(found.failures) == ["isomap 2"]  # more neighbours than distinct rows
        assert "distinct rows" in found.failures["isomap 2"]


def test_stability():
    found = compare(ROWS, {"pca": "pca", "tsne": Plain(), "map": PLACES}, stability=3)
    assert found["pca"].stability.value == stability(PCA(2), ROWS, refits=3).value
    assert found["map"].stability is None
    assert "cannot be fitted again" in found["map"].not_measured
    assert "moved" in repr(found)
    assert "no refits were asked for" in repr(compare(ROWS, ["pca"]))


def test_models_need_not_be_kept():
    assert compare(ROWS, ["pca"], keep_models=False).models == {}


def test_memory_of_a_fit_is_seen():
    class Hungry:
        def fit_transform(self, X):
            return np.ones((20_000_000,))[: 2 * len(X)].reshape(-1, 2) * np.asarray(X)[:, 20:22]

    found = compare(ROWS, {"hungry": Hungry(), "map": PLACES})
    assert 150 < found["hungry"].megabytes < 400  # 160 of numbers
    assert np.isnan(found["map"].megabytes)


def test_table_and_html(found):
    table = found.to_pandas()
    assert list(table.index) == ["pca", "iso", "laplace", "columns"]
    assert table.loc["pca", "r_nx"] == found["pca"].measures["r_nx"].value
    assert table.loc["columns", "rows"] == 200
    html = compare(ROWS, {"<b>": PLACES})._repr_html_()
    assert "<table>" in html
    assert "&lt;b&gt;" in html
    assert "<b>:" not in html
    assert isinstance(found, Comparison)
    with pytest.raises(KeyError, match="'umap' is not among the maps pca, iso"):
        found["umap"]


def test_maps_are_turned_onto_the_first():
    turned = PLACES @ [[0.0, 1.0], [-1.0, 0.0]] * 7 + 3
    aligned = compare(ROWS, {"first": PLACES, "turned": turned, "line": PLACES[:, :1]}).aligned_maps()
    np.testing.assert_allclose(aligned["turned"], PLACES, atol=1e-9)
    np.testing.assert_array_equal(aligned["line"], PLACES[:, :1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare(ROWS, ["isomop"]), "There is no method 'isomop'"),
        (lambda: compare(ROWS, []), "methods is empty"),
        (lambda: compare(ROWS, PLACES), "methods is a ndarray"),
        (lambda: compare(ROWS, 7), "methods is a int"),
        (lambda: compare(ROWS, [dict]), "dict has no fit_transform"),
        (lambda: compare(ROWS, {"f": len}), "has no fit_transform"),
        (lambda: compare(ROWS, {"mine": PLACES[:7]}), "X has 200 rows and the map 'mine' has 7"),
        (lambda: compare(ROWS, [Broken()]), "every method failed, the first .Broken. with: RuntimeError"),
        (lambda: compare(np.where(ROWS == 16, np.nan, ROWS)), "X contains NaN"),
        (lambda: compare(ROWS, labels=KINDS[:5]), "labels have shape"),
        (lambda: compare(ROWS, stability=1), "stability=1 is one refit"),
        (lambda: compare(ROWS, stability=-2), "stability=-2 is not valid"),
        (lambda: compare(ROWS, judged_neighbors=300), "n_neighbors=300, but there are only 200 rows"),
        (lambda: compare(csr_array(cdist(ROWS, ROWS)), metric="precomputed"), "sparse matrix of precomputed"),
        (lambda: compare("cells.csv"), "X is a str, which is no table"),
    ],
)
def test_one_sentence(call, words):
    with pytest.raises(InputError, match=words) as error:
        call()
    assert str(error.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("rows", "words"),
    [(19, "faults of fewer than 20 rows cannot be told"), (49, "49 rows are few"), (50, "")],
)
def test_few_rows_are_told(rows, words):
    told = repr(compare(ROWS[:rows], {"pca": "pca"}))
    assert words in told
    assert ("chance may" in told or "told from chance" in told) is bool(words)
