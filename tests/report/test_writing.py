"""Reports as they are written: of every kind of model and map, with any table, and nothing hostile in them."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from sklearn import decomposition
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import gramfold
from gramfold import PCA, ClassicalMDS, Isomap, LandmarkMDS, LaplacianEigenmaps, OrdinalMDS, SpectralClustering
from gramfold.diagnostics import faults, loadings
from gramfold.embedding import Embedding
from gramfold.errors import InputError
from gramfold.report import digest_of, write_report
from gramfold.report.page import assemble, script_of
from gramfold.report.payload import Payload
from gramfold.report.subject import Sections
from gramfold.runtime.destinations import check_page
from tests.report.decoded import Page, numbers, stored

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")

RNG = np.random.default_rng(0)
TWO_GROUPS = RNG.normal(size=(200, 4)) * (1, 1, 0.5, 0.5) + np.repeat([[0], [6]], 100, axis=0) * (1, 0, 0, 0)
DISTANCES = np.linalg.norm(TWO_GROUPS[:, None] - TWO_GROUPS[None], axis=2)
NAMED = pd.DataFrame(TWO_GROUPS, columns=["height", "weight", "age", "dose"])


@pytest.fixture
def page(tmp_path):
    """The page of a model, or of what write_report takes."""

    def made(*given, **options) -> Page:
        path = write_report(tmp_path / "x.html", *given, **{"dimension": False, **options})
        assert [one.name for one in tmp_path.iterdir()] == ["x.html"]
        return Page.of(path)

    return made


# --- what a page holds


def test_the_map_and_its_columns_are_those_of_the_model(page):
    model = Isomap(n_neighbors=8, on_disconnected="bridge").fit(NAMED)
    found = page(model)
    assert np.abs(found.places - model.embedding_).max() < 1e-6 * np.ptp(model.embedding_)
    assert found.manifest["maps"][0]["axes"] == ["isomap0", "isomap1"]
    assert found.manifest["rows"] == {"total": 200, "shown": 200, "note": ""}
    for j, name in enumerate(NAMED):
        assert np.array_equal(found.column(name), TWO_GROUPS[:, j])
    assert found.manifest["data_columns"] == [0, 1, 2, 3]


def test_faults_of_each_row_are_those_of_diagnostics(page):
    model = PCA().fit(TWO_GROUPS)
    found, known = page(model), faults(model)
    for name in ("torn", "glued", "strained"):
        expected = getattr(known, name).per_point
        assert np.nanmax(np.abs(found.column(name) - expected)) <= np.ptp(expected) / 60_000
    assert found.manifest["faults"]["torn"] == found.names.index("torn")


def test_density_and_how_alone_a_row_is():
    """A grid with a spacing of 1 and a finer one far away: ten times nearer is one more, and one row stands alone."""
    from gramfold.report.edges import around
    from gramfold.report.given import Asked, subject_of
    from gramfold.runtime.progress import SILENT

    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    rows = np.vstack([grid, 0.1 * grid + 100, [[-30.0, -30.0]]])
    near = around(subject_of(rows, rows, None, Asked(dimension=False), SILENT))
    inner = 15 * 7 + 7
    assert near.density[225 + inner] - near.density[inner] == pytest.approx(1.0)
    assert near.alone.argmax() == 450
    assert near.alone[450] == pytest.approx(np.hypot(30, 30) / np.sort(np.linalg.norm(grid, axis=1))[8])
    assert near.alone[inner] < 1


def test_edges_are_those_of_the_graph_both_ways_and_copies_hang_on_theirs(page):
    rows = np.vstack([TWO_GROUPS, TWO_GROUPS[:3]])
    model = Isomap(n_neighbors=6).fit(rows * 1024)
    found = page(model)
    edges = found.manifest["edges"]
    starts, ends = stored(edges["starts"], found.blocks), stored(edges["ends"], found.blocks)
    lengths = numbers(edges["lengths"], found.blocks)
    matrix = csr_array((lengths + 1e-30, ends.astype(np.int32), starts.astype(np.int32)), shape=(203, 203))
    assert (abs(matrix - matrix.T) > 1e-6).nnz == 0
    assert starts[-1] == len(ends) == len(lengths)
    for copy, first in zip((200, 201, 202), range(3), strict=True):
        assert ends[starts[copy] : starts[copy + 1]].tolist() == [first]
    inside = np.repeat(np.arange(203), np.diff(starts))
    assert lengths == pytest.approx(np.linalg.norm(rows[inside] - rows[ends], axis=1) * 1024, rel=1e-5)
    assert np.isfinite(shortest_path(matrix, directed=False)).all()


def test_without_a_graph_edges_join_nearest_rows(page):
    found = page(PCA().fit(TWO_GROUPS))
    starts = stored(found.manifest["edges"]["starts"], found.blocks)
    assert np.diff(starts).min() >= 10
    assert "10 nearest" in found.manifest["edges"]["of"]


def test_arrows_point_where_the_columns_rise(page):
    model = PCA().fit(NAMED)
    arrows = page(model).manifest["maps"][0]["arrows"]
    known = loadings(model)
    assert arrows[0]["name"] == "height" == known.top(0, 1)[0][0]
    assert np.linalg.norm(arrows[0]["values"]) == pytest.approx(1.0)
    for arrow in arrows:
        j = list(NAMED).index(arrow["name"])
        slopes = known.slopes[:, j] * model.embedding_.std(axis=0)
        assert np.dot(arrow["values"], slopes) == pytest.approx(
            np.linalg.norm(arrow["values"]) * np.linalg.norm(slopes)
        )
    assert sum(arrow["share"] for arrow in arrows) == pytest.approx(1.0, abs=0.05)


def test_clusters_colour_the_map_of_a_clusterer(page):
    model = SpectralClustering(n_clusters=3, n_neighbors=8).fit(TWO_GROUPS)
    found = page(model)
    assert found.column("cluster") == [str(label) for label in model.labels_]
    assert found.manifest["first_color"] == found.names.index("cluster")


def test_clusters_that_need_no_map_are_drawn_by_pca(page):
    rows = np.vstack([TWO_GROUPS[:100], TWO_GROUPS[100:] + 100])
    model = SpectralClustering(n_clusters=2, n_neighbors=8, on_disconnected="separate").fit(rows)
    assert model.embedding_ is None
    found = page(model)
    assert "drawn by PCA" in found.manifest["maps"][0]["name"]
    plain = np.abs(np.corrcoef(found.places[:, 0], decomposition.PCA(2).fit_transform(rows)[:, 0])[0, 1])
    assert plain == pytest.approx(1.0)


# --- tables, colours, labels, pictures


def test_columns_of_a_table_come_with_its_types_and_those_mapped_are_known(page):
    model = make_pipeline(StandardScaler(), Isomap(n_neighbors=8)).fit(NAMED)
    table = NAMED.assign(
        who=[f"no. {j}" for j in range(200)],
        stage=["early", "late"] * 100,
        born=pd.date_range("2001-01-01", periods=200),
    )
    found = page(model, table=table, label="who")
    assert np.array_equal(found.column("height"), NAMED["height"])  # in the unit of the table
    assert [found.names[j] for j in found.manifest["data_columns"]] == list(NAMED)
    assert [found.kind(name) for name in ("who", "stage", "born")] == ["text", "category", "date"]
    assert found.manifest["label"] == found.names.index("who")
    assert found.manifest["first_color"] == found.names.index("stage")  # which is no data
    assert "StandardScaler()" in found.text


def test_a_column_of_the_table_that_was_mapped_without_a_name_is_listed_once(page):
    X = TWO_GROUPS.astype(np.float32)
    table = {"who": list(range(len(X))), "same": TWO_GROUPS[:, 1], "one": [1.0] * len(X)}
    found = page(X, X[:, :2], table=table)
    assert [name for name in found.names if name not in found.manifest["faults"]] == ["who", "same", "one"]
    assert found.manifest["data_columns"] == [1]


def test_what_was_mapped_is_shown_beside_a_table_that_has_other_columns(page):
    found = page(PCA().fit(NAMED), table={"stage": ["early", "late"] * 100})
    assert found.names[:5] == ["stage", *NAMED]


@pytest.mark.parametrize("values", [list("ab") * 100, np.repeat([0, 1], 100), pd.Series(list("ab") * 100, name="kind")])
def test_a_value_for_each_row_colours_it(page, values):
    found = page(PCA().fit(NAMED), color=values)
    name = getattr(values, "name", "color")
    assert found.names[found.manifest["first_color"]] == name
    assert found.column(name) == [str(value) for value in values]


@pytest.mark.parametrize("given", [(8, 8), load_digits().images[:150]], ids=["shape", "pictures"])
def test_pictures_of_rows_that_are_images(page, given):
    digits = load_digits()
    found = page(PCA().fit(digits.data[:150]), pictures=given, color=digits.target[:150])
    held = found.manifest["pictures"]
    assert (held["width"], held["height"], held["channels"]) == (8, 8, 1)
    pixels = stored(held["pixels"], found.blocks).reshape(150, 8, 8)
    assert np.abs(pixels / 255 * 16 - digits.images[:150]).max() < 0.04
    assert found.names == ["color", "torn", "glued", "strained", "density", "extrapolation"]


def test_pictures_in_colours_and_with_opacity(page):
    given = np.zeros((200, 2, 3, 4), dtype=np.uint8)
    given[:, 0, 0] = (200, 100, 0, 255)
    given[:, 0, 1] = (200, 100, 0, 0)
    found = page(PCA().fit(TWO_GROUPS), pictures=given)
    pixels = stored(found.manifest["pictures"]["pixels"], found.blocks).reshape(200, 2, 3, 3)
    assert pixels[7, 0, 0].tolist() == [200, 100, 0]
    assert pixels[7, 0, 1].tolist() == [255, 255, 255]


def test_pictures_that_are_too_large_are_made_smaller_and_it_is_said(page):
    given = RNG.random((200, 256, 512))
    found = page(PCA().fit(TWO_GROUPS), pictures=given)
    held = found.manifest["pictures"]
    assert (held["width"], held["height"]) == (128, 64)
    assert "128 × 64 pixels in place of 512 × 256" in found.text
    pixels = stored(held["pixels"], found.blocks).reshape(200, 64, 128)
    assert np.abs(pixels / 255 - given.reshape(200, 64, 4, 128, 4).mean(axis=(2, 4))).max() < 0.005


def test_of_many_columns_those_are_shown_that_matter(page):
    wide = RNG.normal(size=(200, 300)) * np.where(np.arange(300) == 217, 30.0, 1.0)
    found = page(PCA().fit(wide))
    assert len(found.manifest["data_columns"]) == 60
    assert "column 217" in found.names
    assert "60 of 300 columns are on this page" in found.text


# --- thinning and rows without a place


def test_a_table_with_more_rows_is_thinned_and_the_page_says_so(page):
    model = PCA().fit(NAMED)
    found = page(model, most=50, color=np.arange(200) == 7)
    assert found.places.shape == (50, 2)
    assert np.abs(found.places - model.embedding_[found.rows]).max() < 1e-6 * np.ptp(model.embedding_)
    assert np.array_equal(found.column("height"), NAMED["height"].to_numpy()[found.rows])
    assert 7 in found.rows
    assert found.manifest["edges"] is None
    assert "50 of 200 rows are drawn" in found.text
    assert found.manifest["rows"] == {"total": 200, "shown": 50, "note": found.manifest["rows"]["note"]}


def test_rows_without_a_place_are_rows_all_the_same(page):
    rows = np.vstack([TWO_GROUPS[:100], TWO_GROUPS[100:] + 100])
    model = Isomap(n_neighbors=5, on_disconnected="largest").fit(rows)
    found = page(model)
    lost = np.isnan(model.embedding_).any(axis=1)
    assert lost.sum() >= 100
    assert np.array_equal(np.isnan(found.places).any(axis=1), lost)
    assert f"{lost.sum()} without a place" in found.text
    starts = stored(found.manifest["edges"]["starts"], found.blocks)
    assert not np.diff(starts)[lost].any()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(page, n):
    found = page(TWO_GROUPS[:n], TWO_GROUPS[:n, :2])
    assert np.allclose(found.places, TWO_GROUPS[:n, :2])
    assert "<img" in found.html


@pytest.mark.parametrize("dimensions", [1, 3, 10])
def test_maps_of_other_dimensions(page, dimensions):
    rows = RNG.normal(size=(100, 12))
    found = page(rows, rows[:, :dimensions])
    assert found.places.shape == (100, dimensions)
    assert len(found.manifest["maps"][0]["axes"]) == dimensions
    assert found.manifest["maps"][0]["shown"] == list(range(min(dimensions, 2)))


# --- models and maps of all kinds


def _embeddings():
    made = [kind() for kind in {getattr(gramfold, name) for name in gramfold.__all__} if isinstance(kind, type)]
    return sorted((one for one in made if isinstance(one, Embedding)), key=lambda one: type(one).__name__)


@pytest.mark.parametrize("method", _embeddings(), ids=lambda one: type(one).__name__)
def test_every_method_has_a_report(method, tmp_path):
    rows = TWO_GROUPS[::4] + 0.0
    extra = {}
    name = type(method).__name__
    if name in ("OrientedPCA", "DistortionDiscriminantAnalysis"):
        extra["X_distorted"] = [rows + 0.1 * RNG.normal(size=rows.shape)]
    try:
        model = clone(method).fit(rows, **extra)
    except (InputError, TypeError, ValueError) as error:
        pytest.skip(f"needs other data: {error}")
    found = Page.of(model.report(tmp_path / "x.html", dimension=False))
    known = np.isfinite(model.embedding_)
    assert np.allclose(
        found.places[known], model.embedding_[known], rtol=1e-4, atol=1e-5 * np.ptp(model.embedding_[known])
    )
    assert f"{name}(" in found.text


def test_precomputed_distances_are_judged_where_they_are_given(page):
    model = ClassicalMDS(metric="precomputed").fit(DISTANCES)
    assert "does not keep the rows or distances" in page(model).text
    found = page(model, rows=DISTANCES, table=NAMED)
    assert {"torn", "glued", "height"} <= set(found.names)
    assert (
        np.nanmax(
            np.abs(found.column("torn") - faults(DISTANCES, model.embedding_, metric="precomputed").torn.per_point)
        )
        < 1e-4
    )
    assert {"torn", "glued"} <= set(page(DISTANCES, model.embedding_, metric="precomputed").names)


def test_a_method_that_keeps_no_rows_is_judged_where_they_are_given(page):
    model = OrdinalMDS().fit(TWO_GROUPS[::4])
    assert "torn" not in page(model).names
    assert {"torn", "column 0"} <= set(page(model, rows=TWO_GROUPS[::4]).names)


def test_sparse_rows(page):
    rows = csr_array(np.where(RNG.random((150, 30)) < 0.2, RNG.random((150, 30)), 0.0))
    found = page(LaplacianEigenmaps().fit(rows))
    assert np.array_equal(found.column("column 3"), rows.toarray()[:, 3])


def test_rows_of_numbers_and_categories(page):
    table = pd.DataFrame({"size": TWO_GROUPS[:, 0].round(6), "kind": ["x", "y"] * 100, "even": [True, False] * 100})
    table.loc[3, ["size", "kind"]] = None
    for model in (Isomap(n_neighbors=8, metric="gower"), SpectralClustering(n_clusters=2, metric="gower")):
        found = page(model.fit(table))
        assert np.array_equal(found.column("size"), table["size"], equal_nan=True)
        assert found.column("kind") == [None if j == 3 else kind for j, kind in enumerate(table["kind"])]
        assert found.column("even") == ["True", "False"] * 100


def test_maps_that_others_made(page):
    theirs = decomposition.PCA(2).fit(NAMED)
    places = pd.DataFrame(theirs.transform(NAMED), columns=["first", "second"])
    found = page(NAMED, places, color="age")
    assert found.manifest["maps"][0]["axes"] == ["first", "second"]
    assert found.names[found.manifest["first_color"]] == "age"
    assert not found.manifest["inverse"]


def test_a_pipeline_of_embed_with_what_was_decided(page):
    table = NAMED.assign(id=np.arange(200) + 1_000)
    places, model = gramfold.embed(table, draw=False, verbose=0, return_model=True)
    found = page(model, table=table, label="id", notes=places.attrs["gramfold"])
    assert all(
        sentence.partition(": ")[2].split(".")[0] in " ".join(found.text.split())
        for sentence in places.attrs["gramfold"]
    )


def test_an_aligned_model_is_shown_as_it_is_aligned(page):
    old = PCA().fit(TWO_GROUPS)
    new = gramfold.align(PCA().fit(TWO_GROUPS @ np.diag([1, -1, 1, 1])), -old.embedding_)
    assert np.abs(page(new).places - new.embedding_).max() < 1e-5


def test_how_it_was_made_stands_on_the_page(page):
    model = Isomap(n_neighbors=9, verbose=0).fit(NAMED)
    found = page(model)
    for words in ("Isomap(n_components=2, n_neighbors=9)", gramfold.__version__, np.__version__, digest_of(NAMED)[:16]):
        assert words in found.text


class _Plain:
    """A step that does not tell its parameters."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


_WEIGHTS = np.arange(3)


class _Weighted(StandardScaler):
    def __init__(self, weights=_WEIGHTS):
        super().__init__()
        self.weights = weights


def test_pipelines_within_pipelines_and_steps_of_any_kind(page):
    inner = make_pipeline(None, _Weighted(np.arange(2)), _Weighted(np.arange(30)), StandardScaler())
    steps = [("none", "passthrough"), ("inner", inner), ("plain", _Plain()), ("map", PCA()), ("end", "passthrough")]
    found = page(Pipeline(steps).fit(TWO_GROUPS))
    for call in ("_Weighted(weights=np.array([0, 1]))", "_Weighted(weights=np.array(...))", "_Plain(...)"):
        assert call in found.text
    assert "passthrough" not in found.text


def test_a_stability_that_cannot_be_measured_leaves_the_rest(page):
    table = NAMED.assign(kind=["a", "b"] * 100)
    found = page(Isomap(metric="gower", n_neighbors=20).fit(table), stability=True)
    assert "Not shown. Isomap was fitted on precomputed values" in found.text


def test_lengths_beyond_single_precision(page):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        page(PCA().fit(TWO_GROUPS * 1e150))


def test_stability_moves_to_the_rows(page):
    model = LandmarkMDS(landmarks=50).fit(TWO_GROUPS[::2])
    found = page(model, stability=True)
    assert np.nanmax(found.column("moved")) > 0


def test_stages_are_told_if_asked(tmp_path, capsys):
    model = PCA().fit(TWO_GROUPS)
    model.report(tmp_path / "x.html", dimension=False)
    assert not capsys.readouterr().err
    model.report(tmp_path / "x.html", dimension=False, verbose=1)
    assert "[report] words" in capsys.readouterr().err
    model.set_params(verbose=1).report(tmp_path / "x.html", dimension=False)
    assert "[report] words" in capsys.readouterr().err
    model.report(tmp_path / "x.html", dimension=False, verbose=0)
    assert "[report]" not in capsys.readouterr().err


def test_progress_is_told(tmp_path):
    told = []
    PCA().fit(TWO_GROUPS).report(
        tmp_path / "x.html", progress=lambda stage, done, total: told.append((stage, done, total))
    )
    stages = list(dict.fromkeys(stage.partition(":")[0] for stage, *_ in told))
    assert stages == ["judging", "dimension", "axes", "columns", "words", "rows", "page"]
    assert all(any(s == stage and done == total for s, done, total in told) for stage in stages)


# --- digests


@pytest.mark.parametrize(
    "same", [NAMED, TWO_GROUPS, np.asfortranarray(TWO_GROUPS), TWO_GROUPS.tolist()], ids=str.__class__
)
def test_the_digest_is_of_the_numbers_alone(same):
    assert digest_of(same) == digest_of(TWO_GROUPS)


def test_another_number_or_shape_has_another_digest():
    other = TWO_GROUPS.copy()
    other[199, 3] = np.nextafter(other[199, 3], 9)
    sparse = csr_array(TWO_GROUPS)
    digests = [digest_of(one) for one in (TWO_GROUPS, other, TWO_GROUPS.reshape(400, 2), sparse, sparse[:100])]
    assert len(set(digests)) == 5
    assert digest_of(sparse.tocoo()) == digest_of(sparse)


# --- the file


def test_the_file_is_one_page_that_asks_the_network_for_nothing(page):
    found = page(Isomap(n_neighbors=8).fit(NAMED), color="height")
    for tag, attributes in found.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "xlink:href", "action", "srcset"):
                assert value.startswith(("data:", "#")), (tag, value)
    (policy,) = [a["content"] for tag, a in found.elements if tag == "meta" and a.get("http-equiv")]
    assert "default-src 'none'" in policy
    style = re.search(r"<style>(.*?)</style>", found.html, re.DOTALL)[1]
    assert "@import" not in style
    assert "url(" not in style
    assert [a["src"][:22] for tag, a in found.elements if tag == "img" and a.get("id") == "still"] == [
        "data:image/png;base64,"
    ]


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--",
    "</title><img src=x onerror=alert(1)>",
    '"><svg/onload=alert(1)>',
    "=HYPERLINK(1)",
    "\u202eright to left",
    "zero\0byte",
    "{{manifest}}",
    "\u2028line",
)


def test_hostile_names_titles_and_values_do_nothing(page):
    calm = page(
        NAMED, TWO_GROUPS[:, :2], table=NAMED.assign(stage=["early", "late"] * 100), color="stage", label="dose"
    )
    for word in HOSTILE:
        rows = NAMED.rename(columns={"height": word})
        table = {**rows, f"{word}2": [word, "calm"] * 100, "names": [f"{word}{j}" for j in range(200)]}
        found = page(rows, TWO_GROUPS[:, :2], table=table, color=f"{word}2", label="names", title=word)
        assert found.manifest["title"] == word
        assert found.column(f"{word}2")[0] == word
        assert found.column("names")[3] == f"{word}3"
        assert "\0" not in found.html
        kinds = [
            [tag for tag, _ in one.elements if tag in ("script", "img", "iframe", "style")] for one in (calm, found)
        ]
        assert kinds[0] == kinds[1]
        assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
        assert "alert(1)" not in "".join(
            str(value) for tag, a in found.elements for value in a.values() if tag == "script"
        )


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.html"
    path.write_text("old")

    def stop(stage, done, total):
        if stage == "page":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        PCA().fit(TWO_GROUPS).report(path, dimension=False, progress=stop)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["x.html"]


def test_the_same_model_gives_the_same_bytes(tmp_path):
    first, second = (PCA().fit(TWO_GROUPS) for _ in range(2))
    pages = [
        re.sub(
            r"\d+\.\d+ s|\d+\.\d+%|<svg.*?</svg>|(width|x|value)=\"[^\"]*\"",
            "",
            one.report(tmp_path / "x.html").read_text(),
        )
        for one in (first, first)
    ]
    assert pages[0] == pages[1]
    blocks = [Page.of(one.report(tmp_path / "x.html")).blocks for one in (first, second)]
    assert blocks[0] == blocks[1]


# --- errors


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"color": "nothing"}, "color='nothing' is no column .*'height'"),
        ({"label": [1, 2]}, "label is neither the name of a column nor 200 values"),
        ({"table": NAMED.head(7)}, "table has 7 rows in column 'height', and the map has 200"),
        ({"pictures": (28, 28)}, "needs rows of 784 columns, but they have 4"),
        ({"pictures": np.zeros((3, 8, 8))}, "pictures has shape .* for 200 rows"),
        ({"pictures": np.zeros((200, 8, 8, 2))}, "pictures have 2 values for each pixel"),
        ({"most": 0}, "most=0 is not a number of rows"),
        ({"rows": TWO_GROUPS[:5]}, "rows has 5 rows, but PCA was fitted on 200"),
        ({"title": b"x"}, "title=b'x' is a bytes, not a title"),
    ],
)
def test_an_error_names_what_to_change(tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        PCA().fit(NAMED).report(tmp_path / "x.html", dimension=False, **options)
    assert not list(tmp_path.iterdir())


def test_rows_in_another_order_are_refused(tmp_path):
    rows = NAMED.set_index(pd.Index([f"cell {j}" for j in range(200)]))
    for options in ({"table": rows[::-1]}, {"color": rows["age"][::-1]}, {"table": rows, "label": rows["age"][::-1]}):
        with pytest.raises(InputError, match="same index in different orders"):
            write_report(tmp_path / "x.html", rows, TWO_GROUPS[:, :2], **options)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ((PCA(),), NotFittedError, "PCA is not fitted, so it has no map to report"),
        ((decomposition.PCA(2),), InputError, r"PCA is not .*write_report\(path, rows, pca.transform\(rows\)\)"),
        ((TWO_GROUPS, TWO_GROUPS * 1e307), InputError, r"Y holds coordinates up to .*e\+307, too large to be drawn"),
        ((TWO_GROUPS,), InputError, "Y is missing"),
        ((TWO_GROUPS, TWO_GROUPS[:5, :2]), InputError, "X has 200 rows and Y has 5"),
        ((PCA().fit(TWO_GROUPS), TWO_GROUPS), InputError, "Y was given with PCA, which has its own map"),
    ],
)
def test_what_has_no_map_is_refused(tmp_path, given, kind, words):
    with pytest.raises(kind, match=words):
        write_report(tmp_path / "x.html", *given)


def test_a_compact_model_has_no_map(tmp_path):
    PCA().fit(TWO_GROUPS).save(tmp_path / "small.gramfold", compact=True)
    model = gramfold.load(tmp_path / "small.gramfold")
    with pytest.raises(InputError, match="saved with compact=True and keeps no map"):
        model.report(tmp_path / "x.html")
    write_report(tmp_path / "x.html", TWO_GROUPS, model.transform(TWO_GROUPS), dimension=False)


def test_distances_of_another_shape_are_refused(tmp_path):
    model = Isomap(metric="precomputed", n_neighbors=9, on_disconnected="bridge").fit(DISTANCES)
    with pytest.raises(InputError, match=r"rows has shape \(200, 4\).* of shape \(200, 200\)"):
        model.report(tmp_path / "x.html", rows=TWO_GROUPS)


@pytest.mark.parametrize("number", ["x", 0, -1, 2.5])
def test_a_number_of_neighbours_is_checked_early(tmp_path, number):
    with pytest.raises(InputError, match="is not a number of neighbours"):
        write_report(tmp_path / "x.html", TWO_GROUPS, TWO_GROUPS[:, :2], n_neighbors=number)


@pytest.mark.parametrize("params", [5, [1], {"p": "x"}, {"p": float("nan")}, {"p": None}])
def test_parameters_of_a_metric_are_checked(tmp_path, params):
    with pytest.raises(InputError, match=r"not parameters of a metric|is not a distance"):
        write_report(
            tmp_path / "x.html",
            TWO_GROUPS,
            TWO_GROUPS[:, :2],
            metric="minkowski",
            metric_params=params,
            dimension=False,
        )


def test_notes_are_sentences(tmp_path, page):
    assert "Rows were scaled." in page(TWO_GROUPS, TWO_GROUPS[:, :2], notes="Rows were scaled.").text
    with pytest.raises(InputError, match="notes is a int, not sentences"):
        write_report(tmp_path / "y.html", TWO_GROUPS, TWO_GROUPS[:, :2], notes=5)


@pytest.mark.parametrize("path", [5, None, b"x.html", ""])
def test_what_names_no_file_is_refused(path):
    with pytest.raises(InputError, match="is not the name of a file: pass the path of a file to write"):
        write_report(path, TWO_GROUPS, TWO_GROUPS[:, :2])


def test_an_ending_may_be_the_whole_name(tmp_path):
    check_page(tmp_path / ".html")


@pytest.mark.parametrize(("name", "words"), [("x.pdf", "does not end in .html"), ("no/x.html", "there is no folder")])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(tmp_path, name, words):
    def told(*_):
        raise AssertionError("work was begun")

    with pytest.raises(InputError, match=words):
        PCA().fit(TWO_GROUPS).report(tmp_path / name, progress=told)


# --- the page itself


def test_scripts_are_one_module_without_imports_and_every_name_is_there_once():
    for entry in ("app/main.js", "compare/main.js"):
        script = script_of(entry)
        assert script
        assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
        names = re.findall(r"^(?:async )?(?:function\*?|class|const|let) (\w+)", script, re.MULTILINE)
        assert len(names) == len(set(names)), {name for name in names if names.count(name) > 1}


def test_slots_of_the_template_are_not_filled_twice():
    html = assemble(Sections("{{script}}", "{{below}}", ""), Payload({"title": "{{blocks}}"}, (b"x",)), "{{head}}")
    assert [html.count(slot) for slot in ("{{script}}", "{{below}}", "{{head}}")] == [1, 1, 1]
    assert html.count("{{blocks}}") == 2  # title, and manifest


def test_nothing_is_left_in_the_package_that_reads_the_network():
    folder = Path(gramfold.__file__).parent / "report" / "page"
    for path in folder.rglob("*"):
        if path.suffix in (".js", ".css", ".html") and path.parent.name != "vendor":
            assert not re.search(r"https?://(?!www\.w3\.org/)", path.read_text()), path
