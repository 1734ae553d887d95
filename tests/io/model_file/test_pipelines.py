"""Pipelines of scikit-learn's transformers before a model are part of its file; others are refused by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn import decomposition
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import gramfold
from gramfold import PCA, Isomap, LaplacianEigenmaps
from gramfold.advice import LeaveOut
from gramfold.errors import GramfoldWarning, InputError, ModelFileError
from gramfold.io.model_file import parts

pytestmark = pytest.mark.filterwarnings(f"ignore::{GramfoldWarning.__module__}.{GramfoldWarning.__name__}")


def messy() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 4)), columns=["a", "b", "c", "größe"])
    table["kind"] = rng.choice(["x", "y", "ü"], 90)
    table["class"] = rng.integers(0, 5, 90)
    table.loc[3, "a"] = np.nan
    return table


def numbers() -> pd.DataFrame:
    return messy()[["a", "b", "c", "größe"]].fillna(0.0)


OF_NUMBERS = {
    "StandardScaler": make_pipeline(StandardScaler(), Isomap()),
    "all scalers": make_pipeline(RobustScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), PCA()),
    "made normal": make_pipeline(PowerTransformer(), QuantileTransformer(n_quantiles=20), PCA()),
    "arcsinh and PCA": make_pipeline(
        FunctionTransformer(np.arcsinh, feature_names_out="one-to-one"), decomposition.PCA(3), LaplacianEigenmaps()
    ),
    "TruncatedSVD": make_pipeline(VarianceThreshold(), TruncatedSVD(3, random_state=0), PCA()),
    "one in another": make_pipeline(make_pipeline(StandardScaler()), PolynomialFeatures(2), PCA()),
    "bins": make_pipeline(KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), PCA()),
    "two models": make_pipeline(PCA(3), Isomap()),
    "union": make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", decomposition.PCA(2))]), PCA()),
    "slices": make_pipeline(
        ColumnTransformer([("a", StandardScaler(), slice(0, 2)), ("b", "passthrough", [2])], remainder="drop"), PCA()
    ),
    "counts": make_pipeline(
        FunctionTransformer(np.absolute, feature_names_out="one-to-one"),
        Binarizer(threshold=0.5),
        TfidfTransformer(),
        PCA(),
    ),
    "to pandas": make_pipeline(StandardScaler(), PCA()).set_output(transform="pandas"),
}
OF_ALL = {
    "columns by name": make_pipeline(
        ColumnTransformer(
            [
                ("num", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
                ("gaps", MissingIndicator(features="all"), ["a"]),
                ("cat", OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32), ["kind"]),
                ("ord", OrdinalEncoder(), ["class"]),
            ]
        ),
        PCA(),
    ),
    "columns by type": make_pipeline(
        make_column_transformer(
            (KNNImputer(), make_column_selector(dtype_include=float)), ("drop", ["kind"]), remainder="passthrough"
        ),
        PCA(),
    ),
    "LeaveOut": make_pipeline(LeaveOut(columns=["kind"]), SimpleImputer(), PCA()),
}


@pytest.mark.parametrize("name", [*OF_NUMBERS, *OF_ALL])
def test_a_pipeline_is_saved_whole(name, tmp_path):
    model, X = (OF_NUMBERS[name], numbers()) if name in OF_NUMBERS else (OF_ALL[name], messy())
    places = model.fit(X).transform(X)
    for compact in (False, True):
        gramfold.save(model, tmp_path / "one", compact=compact)
        again = gramfold.load(tmp_path / "one")
        found = again.transform(X)
        assert type(found) is type(places)
        np.testing.assert_array_equal(found, places)
        assert [key for key, _ in again.steps] == [key for key, _ in model.steps]
        assert list(again.get_feature_names_out()) == list(model.get_feature_names_out())
        info = gramfold.model_info(tmp_path / "one")
        assert info.columns == X.shape[1]
        assert info.compact is compact
        assert type(model[-1]).__name__ in str(info)
    assert hasattr(model[-1].model_, "embedding"), "the user's own model is not made compact"
    assert model[-1].embedding_.shape == places.shape


def test_every_transformer_that_is_listed_was_tried():
    tried = repr([OF_NUMBERS, OF_ALL])
    listed = {name for names in parts._OF_SCIKIT_LEARN.values() for name in names}
    untried = {name for name in listed if name not in tried}
    assert untried == {"KNeighborsTransformer", "RadiusNeighborsTransformer", "SelectKBest"}  # searches, and one of y


def double(X):
    return 2 * X


class OwnScaler(StandardScaler):
    pass


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (FunctionTransformer(double), "func of step 'own' is the function double"),
        (OwnScaler(), "step 'own' is OwnScaler of tests"),
        (ColumnTransformer([("inner", OwnScaler(), [0])]), "step 'inner' is OwnScaler"),
        (make_pipeline(StandardScaler(), OwnScaler()), "step 'ownscaler' is OwnScaler"),
    ],
)
def test_foreign_steps_are_refused_by_name(step, words, tmp_path):
    model = Pipeline([("own", step), ("pca", PCA(1))]).fit(numbers())
    with pytest.raises(ModelFileError, match=words):
        gramfold.save(model, tmp_path / "one")
    assert not list(tmp_path.iterdir())


def test_a_pipeline_must_end_in_a_model(tmp_path):
    model = make_pipeline(StandardScaler(), decomposition.PCA(2)).fit(numbers())
    with pytest.raises(InputError, match="model is a Pipeline that ends in a PCA, and a model file holds"):
        gramfold.save(model, tmp_path / "one")
    both = make_pipeline(StandardScaler(), FeatureUnion([("a", PCA()), ("b", PCA(3))])).fit(numbers())
    with pytest.raises(InputError, match="model is a Pipeline that ends in a FeatureUnion, and a model file holds"):
        gramfold.save(both, tmp_path / "both")


def test_where_a_pipeline_kept_its_work_is_not_saved(tmp_path):
    model = Pipeline([("scale", StandardScaler()), ("pca", PCA())], memory=str(tmp_path / "kept")).fit(numbers())
    gramfold.save(model, tmp_path / "one")
    assert b"kept" not in (tmp_path / "one").read_bytes().replace(b"kept_", b"")
    assert gramfold.load(tmp_path / "one").memory is None


def test_training_rows_in_an_imputer_are_told_of(tmp_path):
    model = make_pipeline(LeaveOut(columns=["kind"]), KNNImputer(), PCA()).fit(messy())
    gramfold.save(model, tmp_path / "one", compact=True)
    assert gramfold.model_info(tmp_path / "one").training_data == "KNNImputer: training rows; PCA: no training rows"
