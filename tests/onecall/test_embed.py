"""One call from a table to a map: what is mapped, what comes back, what is said and what is drawn."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold import PCA, Isomap, embed
from gramfold.advice import LeaveOut
from gramfold.datasets import make_swiss_roll
from gramfold.errors import InputError, MissingExtraError, ScaleWarning

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
ROLL = make_swiss_roll(200, random_state=0)
ROWS = [f"row {i}" for i in range(200)]


@pytest.fixture(autouse=True)
def no_windows():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


def frame(**columns):
    """A roll in other units, with a row number, dates and what colours."""
    found = pd.DataFrame(ROLL.points * [1, 1000, 1], columns=["x", "y", "z"], index=ROWS)
    found["id"], found["when"] = np.arange(200), pd.date_range("2020-01-01", periods=200)
    return found.assign(along=ROLL.truth[:, 0], **columns)


def quiet(*args, **kwargs):
    return embed(*args, verbose=0, draw=False, **kwargs)


# --- what is mapped


def test_the_map_is_that_of_the_scaled_measurements():
    places = quiet(frame(), "isomap", n_neighbors=7, color="along")
    plain = Isomap(n_neighbors=7).fit_transform(StandardScaler().fit_transform(ROLL.points))
    np.testing.assert_allclose(places[["isomap0", "isomap1"]].to_numpy(), plain, atol=1e-8)
    assert list(places.columns) == ["isomap0", "isomap1", "along"]
    assert list(places.index) == ROWS
    np.testing.assert_array_equal(places["along"], ROLL.truth[:, 0])


def test_the_advised_map_is_that_of_the_advice():
    table = frame()
    places = quiet(table, color="along")
    advised = gramfold.advise(table.drop(columns="along")).estimator.fit_transform(table.drop(columns="along"))
    np.testing.assert_allclose(places.iloc[:, :-1].to_numpy(), advised, atol=1e-10)


def test_a_column_that_colours_changes_no_map():
    table = frame().drop(columns="along")
    without = quiet(table, "isomap")
    for color in (np.arange(200) % 3, ROLL.truth[:, 0] * 1e4):
        with_color = quiet(table.assign(shade=color), "isomap", color="shade")
        np.testing.assert_array_equal(with_color[["isomap0", "isomap1"]], without)


def test_a_column_that_colours_is_known_by_its_name_and_values_too():
    table = frame()
    by_name = quiet(table, "isomap", color="along")
    for given in (table, pl.from_pandas(table)):
        found = quiet(given, "isomap", color=given["along"])
        np.testing.assert_allclose(found.to_numpy(), by_name.to_numpy(), atol=1e-9)
    shuffled = table["along"].sample(frac=1.0, random_state=0)
    np.testing.assert_array_equal(quiet(table, "isomap", color=shuffled), by_name)
    other = quiet(table, "isomap", color=table["along"] + 1.0)  # which is no column
    assert not np.allclose(other["isomap0"], by_name["isomap0"])


@pytest.mark.parametrize("kind", ["array", "sparse", "pipeline"])
def test_a_position_that_colours_is_left_out_too(kind):
    table = np.column_stack([ROLL.points, 50 * np.arange(200.0) % 7])
    if kind == "pipeline":
        found, plain = quiet(table, make_pipeline(StandardScaler(), PCA()), color=3), table[:, :3]
        np.testing.assert_allclose(found[["pca0", "pca1"]], PCA().fit_transform(StandardScaler().fit_transform(plain)))
    elif kind == "array":
        np.testing.assert_allclose(quiet(table, "pca", color=3)[["pca0", "pca1"]], PCA().fit_transform(table[:, :3]))
    else:
        counts = csr_array(np.random.default_rng(0).poisson(0.4, (100, 30)))
        found = quiet(counts, "isomap", color=4)
        np.testing.assert_array_equal(found.pop("4"), counts.toarray()[:, 4])
        kept = [j for j in range(30) if j != 4]
        np.testing.assert_array_equal(found, quiet(csr_array(counts.toarray()[:, kept]), "isomap"))


def test_libraries_give_the_same_map():
    table = frame()
    pandas = quiet(table, "isomap", color="along")
    polars = quiet(pl.from_pandas(table), "isomap", color="along")
    arrow = quiet(pl.from_pandas(table).to_arrow(), "isomap", color="along")
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == list(pandas.columns) == list(arrow.columns)
    # frames of either library lie in memory in another order, so that sums differ by rounding
    np.testing.assert_allclose(polars.to_numpy(), pandas.to_numpy(), atol=1e-9)
    np.testing.assert_allclose(arrow.to_numpy(), pandas.to_numpy(), atol=1e-9)


def test_scaling_as_asked_for():
    table = frame()[["x", "y", "z"]]
    unit = PCA().fit_transform(StandardScaler().fit_transform(table))
    np.testing.assert_allclose(quiet(table, "pca", scale="standardise"), unit)
    with pytest.warns(ScaleWarning, match="column 'y' has 100"):
        found = quiet(table, "pca", scale="none")
    with pytest.warns(ScaleWarning, match="column 1 has 100"):
        np.testing.assert_allclose(found, PCA().fit_transform(table.to_numpy()))


@pytest.mark.parametrize("method", ["factor_analysis", "projection_pursuit", "oriented_pca"])
def test_what_is_free_of_units_is_judged_on_scaled_rows(method):
    table = frame()[["x", "y", "z"]]
    told = quiet(table, method, n_components=1).attrs["gramfold"]
    assert "scaling: standardise: column 'y' would be 100.0% of the variance" in told
    given = gramfold.OrientedPCA(1, noise_correlation=np.eye(3))  # in the units that the columns have
    assert not any(one.startswith("scaling") for one in quiet(table, given).attrs["gramfold"])


def test_rows_with_gaps_are_filled_or_get_no_place():
    table = frame()[["x", "y", "z"]]
    table.iloc[::10, 0] = np.nan
    assert quiet(table, "isomap").notna().all(axis=None)
    places = quiet(table, "isomap", gaps="rows")
    assert places.index[places.isna().any(axis=1)].tolist() == ROWS[::10]
    whole = table.dropna()
    np.testing.assert_array_equal(places.dropna(), quiet(whole, "isomap"))
    with pytest.raises(InputError, match="0 of 200 rows have no missing value"):
        quiet(
            table.assign(
                x=np.where(np.arange(200) % 2, np.nan, 1.5 * table["z"]),
                y=np.where(np.arange(200) % 2, table["y"], np.nan),
            ),
            "pca",
            gaps="rows",
        )


@pytest.mark.filterwarnings("ignore::gramfold.errors.DisconnectedGraphWarning")  # rows of one text are a component
def test_text_is_left_out_by_name_or_compared_where_asked_for():
    table = frame(kind=["a", "b"] * 100).drop(columns=["id", "when", "along"])
    for method in ("auto", "classical_mds", "isomap"):
        plain = quiet(table, method)
        np.testing.assert_allclose(plain, quiet(table.drop(columns="kind"), method), atol=1e-9)
        assert any("'kind': it holds text (the metric gower" in told for told in plain.attrs["gramfold"])
    mixed = quiet(table, "classical_mds", metric="gower")
    np.testing.assert_allclose(mixed, gramfold.ClassicalMDS(metric="gower").fit_transform(table), atol=1e-8)
    assert any(told.startswith("note: column 'kind': may be a class") for told in mixed.attrs["gramfold"])
    assert "metric: gower: it was asked for" in quiet(table, metric="gower").attrs["gramfold"]
    few = quiet(table[["x", "kind"]], "classical_mds")
    assert any("'kind'), which Gower's distance compares" in told for told in few.attrs["gramfold"])
    linear = quiet(table, "pca")
    assert any("'kind': it holds categories, which PCA does not read" in told for told in linear.attrs["gramfold"])


def test_guests_and_matrices_of_distances():
    guest = TSNE(init="random", max_iter=250, random_state=0)
    assert list(quiet(ROLL.points[:60], guest).columns) == ["tsne0", "tsne1"]
    distances = np.linalg.norm(ROLL.points[:, None] - ROLL.points, axis=2)
    np.testing.assert_array_equal(quiet(distances, "isomap"), Isomap(metric="precomputed").fit_transform(distances))
    with pytest.raises(InputError, match="column of a matrix of distances"):
        quiet(distances, "isomap", color=3)


# --- the model


def test_the_model_places_new_rows_without_what_was_left_out():
    table = frame()
    model = Isomap(n_neighbors=7)
    places, fitted = embed(table[:150], model, color="along", verbose=0, draw=False, return_model=True)
    assert not hasattr(model, "model_")  # the user's own is not changed
    assert isinstance(fitted[0], LeaveOut)
    new = fitted.transform(table[["z", "x", "y"]][150:])
    assert list(new.index) == ROWS[150:]
    np.testing.assert_array_equal(new, fitted.transform(table[150:]))
    np.testing.assert_allclose(fitted.transform(table[:5]), places.iloc[:5, :2])
    with pytest.raises(InputError, match="X has no column 'y', which the training table has"):
        fitted.transform(table[["x", "z"]])
    assert str(fitted[-1].verdict())


# --- what comes back


def test_the_frame_lives_as_other_frames_do(tmp_path):
    places = quiet(frame(), "isomap", color="along")
    pytest.importorskip("pyarrow")
    places.to_parquet(tmp_path / "map.parquet")
    back = pd.read_parquet(tmp_path / "map.parquet")
    pd.testing.assert_frame_equal(back, places)
    assert back.attrs == places.attrs
    beside = pd.concat([frame(), places.drop(columns="along")], axis=1)
    assert beside.loc["row 7", "isomap0"] == places.loc["row 7", "isomap0"]
    assert "isomap0" in places.copy()._repr_html_()


def test_a_colour_with_the_name_of_a_coordinate_gets_another():
    assert list(quiet(frame(pca0=np.arange(200) % 3), "pca", color="pca0").columns) == ["pca0", "pca1", "pca0_color"]


def test_a_series_that_colours_is_matched_by_its_index():
    table = frame()
    shade = pd.Series(ROLL.truth[:, 0], index=ROWS, name="shade")
    shuffled = quiet(table, "pca", color=shade.sample(frac=1.0, random_state=0))
    np.testing.assert_array_equal(shuffled["shade"], shade)
    half = quiet(table, "pca", color=shade[:50])
    assert half["shade"].isna().sum() == 150
    np.testing.assert_array_equal(quiet(table, "pca", color=shade.reset_index(drop=True))["shade"], shade)
    with pytest.raises(InputError, match="no name of a row of the table"):
        quiet(table, "pca", color=shade.rename(lambda name: f"{name}!"))
    twice = pd.concat([shade, shade])
    with pytest.raises(InputError, match="names a row twice"):
        quiet(table, "pca", color=twice)


# --- what is said


def test_decisions_are_told_with_their_reasons(capsys):
    places = embed(frame(), color="along", draw=False)
    told = capsys.readouterr().err
    assert "[embed] method: LaplacianEigenmaps(" in told
    assert "chosen by gramfold.advise: " in told
    for sentence in ("column 'id': it counts the rows", "'when': it holds dates", "'along': it colours the map"):
        assert sentence in told
    assert all(sentence in told for sentence in places.attrs["gramfold"])
    quiet(frame(), color="along")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": "isomop"}, "There is no method 'isomop'"),
        ({"method": "isomap", "k": 3}, "Isomap has no parameter 'k'"),
        ({"n_neighbors": 3}, "method='auto' chooses the parameters"),
        ({"method": Isomap(), "n_neighbors": 3}, "has its own parameters"),
        ({"method": make_pipeline(PCA()), "scale": "none"}, "which scales by itself"),
        ({"method": make_pipeline(PCA()), "gaps": "rows"}, "treats gaps by itself"),
        ({"method": StandardScaler(), "n_components": 2}, "StandardScaler has no such parameter"),
        ({"method": 5}, "makes no map"),
        ({"scale": "log"}, "scale='log' is not known"),
        ({"gaps": "drop"}, "gaps='drop' is not known"),
        ({"draw": "yes"}, "draw='yes' is not known"),
        ({"method": "pca", "color": "stage"}, r"color='stage' is no column of the table \('x', 'y', 'z'"),
        ({"method": "pca", "color": [1, 2]}, r"color has shape \(2,\) for 200 rows"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(given, sentence):
    with pytest.raises(InputError, match=sentence):
        embed(frame(), **{"draw": False, "verbose": 0, **given})


def test_tables_that_cannot_be_mapped_are_refused():
    class AnnData:
        obs = obsm = None

    with pytest.raises(InputError, match="table is an AnnData"):
        embed(AnnData())
    with pytest.raises(InputError, match="table has several columns named 'a'"):
        embed(frame()[["x", "y"]].set_axis(["a", "a"], axis=1))
    with pytest.raises(InputError, match=r"pass table.collect\(\)"):
        embed(pl.LazyFrame({"a": [1.0, 2.0]}))


# --- what is drawn


def test_one_figure_is_drawn_and_none_where_axes_are_given(no_windows):
    plt = no_windows
    embed(frame(), "isomap", color="along", verbose=0)
    assert len(plt.get_fignums()) == 1
    assert plt.gca().get_title() == "Isomap of 200 rows" or plt.gcf().axes[0].get_title() == "Isomap of 200 rows"
    own = gramfold.plotting.blank_figure().subplots()
    embed(frame(), "isomap", color="along", ax=own, verbose=0)
    assert own.get_title() == "Isomap of 200 rows"
    assert len(plt.get_fignums()) == 1
    quiet(frame(), "isomap")
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize(
    ("color", "label"),
    [
        (pd.date_range("2020-01-01", periods=200), "shade, days since 2020-01-01"),
        (pd.array([1.5, None] * 100, dtype="Float64"), "shade"),
        (pd.array(range(200), dtype="Int64"), "shade"),
    ],
)
def test_numbers_and_dates_colour_by_a_scale(no_windows, color, label):
    embed(frame(shade=color), "pca", color="shade", verbose=0)
    assert no_windows.gcf().axes[1].get_ylabel() == label


@pytest.mark.parametrize(
    "color", [pd.Categorical(["u", "v"] * 100), [True, False] * 100, pd.array([1, 2] * 100, dtype="Int64")]
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_colour_by_a_legend(no_windows, color, library):
    table = frame(shade=color)
    embed(table if library == "pandas" else pl.from_pandas(table), "pca", color="shade", verbose=0)
    (ax,) = no_windows.gcf().axes
    assert len(ax.get_legend().get_texts()) == 2


def test_a_wide_map_is_drawn_by_its_first_columns(no_windows):
    table = np.random.default_rng(0).normal(size=(100, 6))
    embed(table, "pca", n_components=5, verbose=0)
    assert no_windows.gca().get_title() == "PCA of 100 rows (the first 2 of 5 columns)"


def test_without_matplotlib_a_sentence_takes_the_place_of_the_picture(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    embed(frame(), "pca", color="along")
    assert "picture: none, since matplotlib is not installed" in capsys.readouterr().err
    with pytest.raises(MissingExtraError, match="Plotting needs matplotlib"):
        embed(frame(), "pca", draw=True)


def test_without_pandas_arrays_are_refused_and_polars_is_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas is not installed"):
        quiet(ROLL.points, "pca")
    assert quiet(pl.DataFrame(ROLL.points, schema=["x", "y", "z"]), "pca").shape == (200, 2)


def test_a_script_shows_nothing_and_ends():
    code = (
        "import numpy as np, matplotlib.pyplot as plt, gramfold\n"
        "def refuse(*args, **kwargs): raise AssertionError('shown')\n"
        "plt.show = refuse\n"
        "print(gramfold.embed(np.random.default_rng(0).normal(size=(60, 4)), 'pca').shape)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "(60, 2)\n"


def test_few_rows_and_many(no_windows):
    assert quiet(ROLL.points[:3]).shape == (3, 2)
    assert quiet(ROLL.points[:20]).shape == (20, 2)
    many = np.random.default_rng(0).normal(size=(30_000, 4)) * [5, 4, 1, 1]
    assert quiet(pd.DataFrame(many, columns=list("abcd")), "pca").shape == (30_000, 2)


# --- odd tables


@pytest.mark.parametrize("odd", [1, None, np.nan])
def test_names_of_which_some_are_no_texts_are_refused(odd):
    table = pd.DataFrame(ROLL.points, columns=pd.Index(["x", odd, "z"], dtype=object))
    with pytest.raises(InputError, match=rf"^table has the column name {odd}, which is no text.*astype\(str\)\.$"):
        quiet(table, "pca")


def test_frames_of_sparse_columns_are_mapped_as_sparse_rows():
    rows = csr_array(np.random.default_rng(0).poisson(0.4, size=(90, 12)).astype(float))
    names = [f"gene{j}" for j in range(12)]
    table = pd.DataFrame.sparse.from_spmatrix(rows, columns=names, index=ROWS[:90])
    places, model = quiet(table, "pca", color="gene3", return_model=True)
    plain = quiet(rows[:, [j for j in range(12) if j != 3]], "pca")
    np.testing.assert_array_equal(places[["pca0", "pca1"]].to_numpy(), plain.to_numpy())
    assert list(places.index) == ROWS[:90]
    assert model.transform(rows[:5, [j for j in range(12) if j != 3]]).shape == (5, 2)


def test_a_number_beyond_the_largest_float_is_refused_or_left_out(capsys):
    table = pd.DataFrame(ROLL.points, columns=["x", "y", "z"]).assign(huge=[10**400, *range(199)])
    assert embed(table, "isomap", draw=False).shape == (200, 2)
    assert "huge" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"column 'huge' holds numbers beyond 1\.8e308"):
        Isomap(metric="gower").fit(table)
    with pytest.raises(InputError, match=r"X holds numbers beyond 1\.8e308, the largest float64, in column 'huge'"):
        PCA().fit(table)


@pytest.mark.parametrize("scale", ["auto", "standardise", "robust", "none"])
def test_a_method_that_reads_gaps_gets_them_in_every_scale(scale):
    table = frame()[["x", "y", "z"]] / ([1, 300, 1] if scale == "none" else 1)  # else a warning of units
    table.iloc[[3, 9], [1, 2]] = np.nan
    _, model = quiet(table, "probabilistic_pca", scale=scale, return_model=True)
    assert np.isnan(model[:-1].transform(table).to_numpy()[3, 1]) if len(model) > 1 else scale == "none"
    assert model[-1].embedding_.shape == (200, 2)


def test_counts_with_gaps_for_a_method_that_reads_them():
    counts = np.random.default_rng(0).poisson(0.4, size=(90, 6)).astype(float)
    counts[3, 1] = np.nan
    assert np.isfinite(quiet(pd.DataFrame(counts, columns=list("abcdef")), "probabilistic_pca").to_numpy()).all()
