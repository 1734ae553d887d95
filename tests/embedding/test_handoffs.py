"""What other packages hand over and take: pipelines, searches of parameters, named columns in and out."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import gramfold
from gramfold import LPP, PCA, FactorAnalysis, Isomap, KernelPCA, LaplacianEigenmaps, ProbabilisticPCA
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import loadings
from gramfold.errors import GramfoldWarning, InputError, NotNumbersError, ScaleWarning
from gramfold.methods.names import known_methods

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
ROLL = make_swiss_roll(90, random_state=0)
NAMES = ["height", "weight", "age"]
ROWS = [f"row {i}" for i in range(90)]
FRAMES = {
    "pandas": pd.DataFrame(ROLL.points, columns=NAMES, index=ROWS),
    "polars": pl.DataFrame(ROLL.points, schema=NAMES),
    "arrow": pa.table(dict(zip(NAMES, ROLL.points.T, strict=True))),
}
UNUSUAL = {"oriented_pca", "distortion_discriminant_analysis"}  # whose fit needs more than rows


def fitted(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        return method.fit(FRAMES["pandas"])


# --- names in every message


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("method", [PCA, Isomap, KernelPCA, FactorAnalysis, LPP])
def test_a_missing_value_is_named_by_its_column(library, method):
    gap = np.where(np.arange(90) == 4, np.nan, ROLL.points[:, 1])
    whole, table = FRAMES[library], FRAMES["pandas"].assign(weight=gap)
    if library == "polars":
        table = whole.with_columns(weight=pl.Series([None if np.isnan(one) else one for one in gap]))
    if library == "arrow":
        table = whole.set_column(1, "weight", pa.array(gap, from_pandas=True))
    with pytest.raises(InputError, match="NaN in row 4, column 'weight'"):
        method().fit(table)
    model = method().fit(whole)
    with pytest.raises(InputError, match="NaN in row 4, column 'weight'"):
        model.transform(table)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "double[pyarrow]", "int64[pyarrow]", "bool[pyarrow]"])
def test_columns_of_every_type_of_numbers_are_read(dtype):
    some = (ROLL.points[:, 1] > 0) if dtype.startswith("bool") else ROLL.points[:, 1].round()
    table = FRAMES["pandas"].assign(weight=pd.array(some, dtype=dtype))
    plain = np.column_stack([ROLL.points[:, 0], some, ROLL.points[:, 2]])
    np.testing.assert_allclose(PCA().fit_transform(table), PCA().fit_transform(plain))
    table.loc["row 4", "weight"] = pd.NA
    with pytest.raises(InputError, match="NaN in row 4, column 'weight'"):
        PCA().fit(table)


def test_decimals_are_numbers():
    from decimal import Decimal

    exact = [Decimal(f"{one:.3f}") for one in ROLL.points[:, 0]]
    plain = PCA().fit_transform(np.column_stack([np.array(exact, dtype=float), ROLL.points[:, 1]]))
    for table in (
        pd.DataFrame({"a": exact, "b": ROLL.points[:, 1]}),
        pl.DataFrame({"a": exact, "b": ROLL.points[:, 1]}),
        pa.table({"a": exact, "b": ROLL.points[:, 1]}),
    ):
        np.testing.assert_allclose(PCA().fit_transform(table), plain)


def test_text_is_named_in_the_words_of_the_library():
    kinds = ["m", "f"] * 45
    with pytest.raises(NotNumbersError, match=r"text in column 'sex' \('m'\): .*pandas.get_dummies"):
        PCA().fit(FRAMES["pandas"].assign(sex=kinds))
    with pytest.raises(NotNumbersError, match=r"text in column 'sex' \('m'\): .*polars.DataFrame.to_dummies"):
        PCA().fit(FRAMES["polars"].with_columns(sex=pl.Series(kinds)))


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("method", [PCA(), Isomap(), Isomap(metric="gower")], ids=str)
def test_other_columns_than_at_the_fit_are_named(library, method):
    table = FRAMES[library]
    model = method.fit(table)
    take = (lambda names: table[names]) if library == "pandas" else (lambda names: table.select(names))
    with pytest.raises(InputError, match="X has no column 'age': pass all columns"):
        model.transform(take(["height", "weight"]))
    with pytest.raises(InputError, match="X has column 'age', where the training rows have 'height'") as told:
        model.transform(take(["age", "height", "weight"]))
    # what the sentence says to pass is what helps
    code = str(told.value).rsplit("pass ", 1)[1].removesuffix(".")
    chosen = eval(code, {"X": take(["age", "height", "weight"]), "model": model})
    np.testing.assert_array_equal(model.transform(chosen), model.transform(table))
    extra = {"pandas": "assign", "polars": "with_columns"}.get(library)
    more = getattr(table, extra)(more=1.0) if extra else table.append_column("more", pa.array(np.ones(90)))
    with pytest.raises(InputError, match="X has column 'more', which the training rows do not have"):
        model.transform(more)


def test_names_that_are_no_strings_are_told_too():
    several = pd.MultiIndex.from_tuples([("body", "height"), ("body", "weight"), ("time", "age")])
    for columns, shown in (([10, 20, 30], "20"), (several, "body, weight")):
        table = FRAMES["pandas"].set_axis(columns, axis=1)
        gap = table.copy()
        gap.iloc[4, 1] = np.nan
        for method in (PCA, Isomap):
            with pytest.raises(InputError, match=f"row 4, column '{shown}'"):
                method().fit(gap)
            with pytest.raises(InputError, match=f"row 4, column '{shown}'"):
                method().fit(table).transform(gap)
            with pytest.warns(ScaleWarning, match=f"column '{shown}' has"):
                method().fit(table * [1, 1e4, 1])
        assert loadings(PCA().fit(table)).names[1] == shown
        assert not hasattr(PCA().fit(table), "feature_names_in_")  # as in scikit-learn, which keeps strings
    plain = pd.DataFrame(ROLL.points)
    plain.iloc[4, 1] = np.nan
    with pytest.raises(InputError, match="row 4, column 1 "):
        PCA().fit(plain)


@pytest.mark.parametrize("library", FRAMES)
def test_what_is_said_of_a_map_names_columns(library):
    assert loadings(PCA().fit(FRAMES[library])).names == tuple(NAMES)
    loud = ROLL.points * [1, 1e4, 1]
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(library, pa.table)
    with pytest.warns(ScaleWarning, match="column 'weight' has"):
        Isomap().fit(table(dict(zip(NAMES, loud.T, strict=True))))


def test_the_missing_value_of_r_is_one_too():
    """R's NA is a signalling NaN: arithmetic with it raises a flag, of which NumPy warns."""
    gap = ROLL.points.copy()
    gap[4, 1] = np.array([0x7FF00000000007A2], dtype=np.uint64).view(np.float64)[0]
    table = pd.DataFrame({name: gap[:, j] for j, name in enumerate(NAMES)})
    for method in (PCA, Isomap, FactorAnalysis, KernelPCA):
        with pytest.raises(InputError, match="NaN in row 4, column 'weight'"):
            method().fit(table)
    assert np.isfinite(ProbabilisticPCA().fit_transform(table)).all()
    assert np.isfinite(Isomap(metric="gower").fit_transform(table)).all()


def test_weights_in_another_order_of_the_same_rows_are_refused():
    weights = pd.Series(np.linspace(1, 2, 90), index=ROWS)
    plain = PCA().fit(FRAMES["pandas"], sample_weight=weights).embedding_
    np.testing.assert_array_equal(plain, PCA().fit(FRAMES["pandas"], sample_weight=weights.to_numpy()).embedding_)
    with pytest.raises(InputError, match="X and sample_weight have the same index in different orders"):
        PCA().fit(FRAMES["pandas"], sample_weight=weights[::-1])


# --- names out


@pytest.mark.parametrize("name", sorted(set(known_methods()) - UNUSUAL))
def test_every_map_goes_out_as_a_frame_also_after_a_pickle(name):
    table = FRAMES["pandas"]
    model = fitted(known_methods()[name]().set_output(transform="pandas"))
    for one in (model, pickle.loads(pickle.dumps(model))):
        # ordinal scaling places no new rows
        found = one.fit_transform(table[:7]) if name == "ordinal_mds" else one.transform(table[:7])
        assert list(found.index) == ROWS[:7]
        assert list(found.columns) == one.get_feature_names_out().tolist()
        assert found.columns[0] == name.replace("_", "") + "0"
    if name in ("isomap", "pca"):
        plain = found.to_numpy()
        found = model.set_output(transform="polars").transform(table[:7])
        assert isinstance(found, pl.DataFrame)
        np.testing.assert_array_equal(found.to_numpy(), plain)


def test_coordinates_in_another_order_are_refused():
    model = Isomap().set_output(transform="pandas").fit(FRAMES["pandas"])
    places = model.transform(FRAMES["pandas"])
    rows = model.inverse_transform(places)
    assert isinstance(rows, np.ndarray)  # as from scikit-learn's own
    np.testing.assert_array_equal(rows, model.inverse_transform(places.to_numpy()))
    turned = places[["isomap1", "isomap0"]]
    with pytest.raises(InputError, match="Y has column 'isomap1' first, where the embedding has 'isomap0'"):
        model.inverse_transform(turned)
    with pytest.raises(InputError, match="order isomap0, isomap1"):
        model.extrapolation(pl.from_pandas(turned), of="coordinates")
    other = places.set_axis(["u", "v"], axis=1)  # names of the user's own
    np.testing.assert_array_equal(model.inverse_transform(other), rows)


# --- pipelines


def test_a_scaler_in_front_keeps_names_and_index_there_and_back():
    pipeline = make_pipeline(StandardScaler(), PCA(3)).set_output(transform="pandas")
    places = pipeline.fit_transform(FRAMES["pandas"])
    assert list(places.index) == ROWS
    assert pipeline[-1].feature_names_in_.tolist() == NAMES
    np.testing.assert_allclose(pipeline.inverse_transform(places), ROLL.points)


def test_parameters_are_searched_and_maps_are_features():
    search = GridSearchCV(make_pipeline(StandardScaler(), Isomap(), Ridge()), {"isomap__n_neighbors": [6, 12]}, cv=3)
    search.fit(FRAMES["pandas"], ROLL.truth[:, 0])
    assert search.best_params_["isomap__n_neighbors"] in (6, 12)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = GridSearchCV(LaplacianEigenmaps(), {"n_neighbors": [8, 15]}, cv=2).fit(FRAMES["pandas"])
    assert 0 < alone.best_score_ <= 1  # trustworthiness
    both = FeatureUnion([("flat", PCA()), ("bent", Isomap())]).set_output(transform="pandas")
    found = both.fit_transform(FRAMES["pandas"])
    assert list(found.columns) == ["flat__pca0", "flat__pca1", "bent__isomap0", "bent__isomap1"]
    assert list(found.index) == ROWS


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_prepared_each_in_its_way(library):
    kinds = np.array(["a", "b", "c"] * 30)
    table = FRAMES[library]
    table = table.assign(kind=kinds) if library == "pandas" else table.with_columns(kind=pl.Series(kinds))
    ways = ColumnTransformer(
        [("numbers", StandardScaler(), NAMES), ("kinds", OneHotEncoder(sparse_output=False), ["kind"])]
    )
    pipeline = make_pipeline(ways, PCA()).set_output(transform=library)
    found = pipeline.fit_transform(table)
    assert isinstance(found, pl.DataFrame if library == "polars" else pd.DataFrame)
    assert pipeline[-1].feature_names_in_.tolist() == [
        *(f"numbers__{name}" for name in NAMES),
        *(f"kinds__kind_{k}" for k in "abc"),
    ]
    one_hot = np.column_stack([StandardScaler().fit_transform(ROLL.points), *(kinds == k for k in "abc")])
    np.testing.assert_allclose(found.to_numpy(), PCA().fit_transform(one_hot), atol=1e-10)


def test_gaps_are_taken_by_those_who_take_them():
    gap = FRAMES["polars"].with_columns(weight=pl.Series([None, *ROLL.points[1:, 1]]))
    assert np.isfinite(ProbabilisticPCA().fit_transform(gap)).all()
    assert gramfold.Isomap(metric="gower").fit_transform(gap).shape == (90, 2)
