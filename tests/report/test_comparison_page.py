"""The page of a comparison: its numbers are those of the table, and nothing on it is more than words."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from gramfold import PCA, Isomap, compare
from gramfold.comparison import Best
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import Measure
from gramfold.errors import InputError
from gramfold.report.compared import ComparedEntry, ComparedSubject, Ranking
from gramfold.report.sections.comparison import compared

N = 240
HOSTILE = "</script><img src=x onerror=alert(1)>&amp;{{style}}"


class Broken(BaseEstimator):
    """A guest that raises."""

    def fit_transform(self, X):
        raise RuntimeError(f"no luck {HOSTILE}")


class Cells(HTMLParser):
    """Cells of tables: (table, row, column) -> attributes and words; and the words of elements with an id."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.words, self.tags = {}, {}, []
        self._table = self._row = self._cell = None
        self._open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag not in ("meta", "img", "input", "br", "link", "circle", "line"):
            self._open.append((tag, found.get("id")))
        if tag == "table":
            self._table = self.tables.setdefault(found["id"], {})
        elif tag == "tr":
            self._row = found.get("data-name")
        elif tag in ("td", "th"):
            self._cell = [found, ""]
            if self._row is not None and tag == "td":
                key = next((found[one] for one in ("data-measure", "data-fault", "data-cost") if one in found), None)
                self._table[self._row, key] = self._cell

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell[1] += data
        for _, name in self._open:
            if name:
                self.words[name] = self.words.get(name, "") + data


def manifest_of(text):
    return json.loads(re.search(r'<script type="application/json" id="manifest">(.*?)</script>', text, re.DOTALL)[1])


def stored(text, ref):
    """Numbers that a reference of the manifest points to."""
    block = re.search(rf'id="block-{ref["block"]}">(.*?)</script>', text, re.DOTALL)[1]
    kind = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}[ref["type"]]
    found = np.frombuffer(gzip.decompress(base64.b64decode(block)), kind, ref["count"], ref["at"])
    if "step" not in ref:
        return found
    return np.where(found == np.iinfo(found.dtype).max, np.nan, ref["low"] + found * ref["step"])


def shown(value, digits=3):
    return "–" if np.isnan(value) else f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(N, random_state=0)


@pytest.fixture(scope="module")
def found(roll):
    lacking = roll.truth.copy()
    lacking[::10] = np.nan
    methods = {
        "pca": "pca",
        "isomap": Isomap(n_neighbors=8),
        "three": PCA(n_components=3),
        HOSTILE: roll.points[:, [0, 1]],
        "sheet": lacking,
        "broken": Broken(),
    }
    labels = np.where(roll.truth[:, 0] > np.median(roll.truth[:, 0]), "far", HOSTILE)
    return compare(roll.points, methods, labels=labels, sample=100, stability=2)


@pytest.fixture(scope="module")
def text(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "maps.html"
    assert found.report(path, title=f"Maps {HOSTILE}") == path
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def cells(text):
    return Cells(text)


def test_numbers_are_those_of_the_table(found, cells):
    table, measures = found.to_pandas(), cells.tables["measures-table"]
    names = list(dict.fromkeys(name for row in found for name in row.measures))
    assert {key for _, key in measures} == set(names)
    for name in table.index:
        for key in names:
            attributes, words = measures[name, key]
            value = table.loc[name, key]
            assert attributes["data-value"] == ("" if np.isnan(value) else repr(float(value)))
            assert words.startswith(shown(value)), (name, key)
            interval = found[name].measures[key].interval if key in found[name].measures else None
            if interval is not None:
                assert words.endswith(f"{shown(interval[0])} to {shown(interval[1])}")
                assert (table.loc[name, f"{key}_low"], table.loc[name, f"{key}_high"]) == interval
            else:
                assert " to " not in words


def test_faults_and_costs_are_those_of_the_table(found, cells):
    table, faults, costs = found.to_pandas(), cells.tables["faults-table"], cells.tables["costs-table"]
    for row in found:
        if row.faults is None:
            assert (row.name, "torn") not in faults
            continue
        for fault in row.faults:
            attributes, words = faults[row.name, fault.name]
            assert float(attributes["data-value"]) == table.loc[row.name, fault.name]
            assert words.startswith(shown(fault.total))
            assert (f" {fault.name}" in words) is fault.named
            assert f"threshold {shown(fault.threshold)}" in words
            assert (fault.words in cells.words["faults"]) is fault.named
    for name in table.index:
        for key in ("stability", "seconds", "megabytes", "rows", "warnings"):
            value = float(table.loc[name, key])
            assert costs[name, key][0]["data-value"] == ("" if np.isnan(value) else repr(value))
    assert "a finished map cannot be fitted again" in costs["sheet", "stability"][1]


def test_the_best_are_marked_in_words(found, cells):
    marks = {"best", "level", "collapsed", "highest", "lowest"}
    for purpose in found.purposes:
        best = found.best_for(purpose)
        assert best.sentence in cells.words["best"]
        marked = {
            name: words.split()[1]
            for (name, key), (_, words) in cells.tables["measures-table"].items()
            if key == best.measure and len(words.split()) > 1 and words.split()[1] in marks
        }
        passed = dict.fromkeys(best.passed_over, "collapsed")
        first = {best.winner: "best"} if best.decided else dict.fromkeys([best.winner, *best.level_with], "level")
        assert marked == {**first, **passed}, purpose
    extreme = {"trustworthiness": ("idxmax", "highest"), "stress": ("idxmin", "lowest")}
    able = [row.name for row in found if row.faults is not None and not row.faults.collapsed.named]
    for key, (which, word) in extreme.items():
        winner = getattr(found.to_pandas().loc[able, key], which)()
        marked = [
            name for (name, one), (_, words) in cells.tables["measures-table"].items() if one == key and word in words
        ]
        assert marked == [winner]


def test_charts_say_their_numbers(found, cells):
    said = [attributes["aria-label"] for tag, attributes in cells.tags if tag == "svg" and "aria-label" in attributes]
    table = found.to_pandas()
    strain = next(words for words in said if words.startswith("Strain"))
    for name in ("pca", "isomap"):
        assert f"{name} {shown(table.loc[name, 'strain'])}" in strain


def test_maps_are_the_aligned_ones_row_by_row(found, text):
    aligned = found.aligned_maps()
    maps = manifest_of(text)["maps"]
    assert [one["name"] for one in maps] == list(aligned)
    for one in maps:
        places = np.column_stack([stored(text, ref) for ref in one["coordinates"]])
        wanted = aligned[one["name"]]
        assert np.array_equal(np.isnan(places), np.isnan(wanted))
        np.testing.assert_allclose(places, wanted, atol=1e-5 * np.nanstd(wanted))
        kept = found[one["name"]].measures["r_nx"].per_point
        np.testing.assert_allclose(stored(text, one["kept"]), kept, atol=1e-4)
    assert np.isnan(stored(text, maps[-1]["coordinates"][0])[::10]).all()


def test_nothing_is_more_than_words(found, text, cells):
    scripts = [attributes for tag, attributes in cells.tags if tag == "script"]
    blocks = sum(one.get("type") == "application/octet-stream" for one in scripts)
    assert len(scripts) == blocks + 3  # manifest, library, ours
    assert all(attributes.get("src", "data:").startswith("data:") for tag, attributes in cells.tags if tag == "img")
    assert not any(name.startswith("on") for _, attributes in cells.tags for name in attributes)
    assert not re.search(r'(?:src|href)="?(?:https?:)?//', text)
    assert manifest_of(text)["title"] == f"Maps {HOSTILE}"
    tiles = [attributes for tag, attributes in cells.tags if tag == "article"]
    assert [one["data-name"] for one in tiles] == [row.name for row in found]
    assert f"no luck {HOSTILE}" in cells.words["told"]
    levels = manifest_of(text)["columns"][manifest_of(text)["first_color"]]["levels"]
    assert set(levels) == {"far", HOSTILE}


def test_a_method_that_failed_has_a_card_and_no_map(found, text, cells):
    card = next(
        attributes for tag, attributes in cells.tags if tag == "article" and attributes["data-name"] == "broken"
    )
    assert "absent" in card["class"]
    assert "RuntimeError: no luck" in cells.words["map-grid"]
    pictures = [attributes for tag, attributes in cells.tags if tag == "img"]
    assert len(pictures) == len(found) - 1
    assert f"{N * 9 // 10:,}" in cells.words["about"]  # rows that all maps have


def test_it_says_how_it_was_made(found, cells):
    made = cells.words["made"]
    for line in ("'isomap': Isomap(", "'sheet': Y,  # a finished map", "labels=labels", "sample=100", "stability=2"):
        assert line in made
    assert "metric=" not in made
    assert re.search(r"SHA-256 [0-9a-f]{16}", made)
    assert "numpy" in made


def test_maps_of_more_dimensions_are_told_of(cells):
    assert "three has 3" in cells.words["best"]


def test_columns_colors_labels_and_pictures(found, roll, tmp_path):
    table = pd.DataFrame({"along": roll.truth[:, 0], "name": [f"row {i}" for i in range(N)], "one": 1})
    path = tmp_path / "maps.html"
    found.report(path, table=table, color="along", label="name", pictures=roll.points[:, :1, None] * np.ones((1, 4, 5)))
    text = path.read_text(encoding="utf-8")
    manifest = manifest_of(text)
    names = [one["name"] for one in manifest["columns"]]
    assert names == ["labels", "along", "name", "one"]
    assert (names[manifest["first_color"]], names[manifest["label"]]) == ("along", "name")
    np.testing.assert_array_equal(stored(text, manifest["columns"][1]["values"]), roll.truth[:, 0])
    pictures = manifest["pictures"]
    assert (pictures["height"], pictures["width"], pictures["pixels"]["count"]) == (4, 5, 20 * N)
    for wrong in ({"color": "none of them"}, {"color": roll.truth[:9, 0]}, {"most": 0}, {"table": table[:9]}):
        with pytest.raises(InputError):
            found.report(path, **wrong)
    with pytest.raises(InputError, match="html"):
        found.report(tmp_path / "maps.txt")


@pytest.mark.parametrize("color", [None, "along"])
def test_labels_are_classes_though_they_are_numbers(roll, tmp_path, color):
    labels = np.arange(N) % 30 + 2
    found = compare(roll.points, {"pca": "pca"}, labels=labels)
    page = found.report(tmp_path / "maps.html", table={"along": roll.truth[:, 0]}, color=color)
    text = page.read_text(encoding="utf-8")
    column = manifest_of(text)["columns"][0]
    assert (column["name"], column["kind"]) == ("labels", "category")
    assert column["levels"] == [str(one) for one in range(2, 32)]
    np.testing.assert_array_equal(stored(text, column["codes"]), labels - 2)


def test_thinned_rows_keep_their_numbers(found, tmp_path):
    path = tmp_path / "maps.html"
    found.report(path, most=60)
    text = path.read_text(encoding="utf-8")
    manifest = manifest_of(text)
    rows = stored(text, manifest["number"])
    assert (manifest["rows"]["total"], manifest["rows"]["shown"], len(rows)) == (N, 60, 60)
    assert "60 of 240 rows are drawn" in Cells(text).words["maps"]
    places = stored(text, manifest["maps"][0]["coordinates"][0])
    np.testing.assert_allclose(places, found.maps["pca"][rows, 0], atol=1e-4)


@pytest.mark.filterwarnings("ignore::gramfold.errors.GramfoldWarning")
def test_infinite_coordinates_are_told_not_drawn(roll, tmp_path):
    far = roll.truth.copy()
    far[3] = np.inf
    found = compare(roll.points, {"pca": "pca", "far": far})
    text = found.report(tmp_path / "maps.html").read_text(encoding="utf-8")
    assert [one["name"] for one in manifest_of(text)["maps"]] == ["pca"]
    cells = Cells(text)
    assert "cannot be judged" in cells.words["map-grid"] or "cannot be drawn" in cells.words["map-grid"]


@pytest.mark.parametrize(("margin", "word"), [(0.026, "narrow lead"), (0.04, "clear lead")])
def test_a_lead_hardly_above_noise_is_narrow(margin, word):
    best = Best("local", "r_nx", "one", 0.5, "other", margin, 0.025, (), {}, ())
    ranking = Ranking("local", "r_nx", "one", best.sentence, best.decided, best.narrow, "other", (), ())
    entries = [ComparedEntry(name, measures={"r_nx": Measure(0.5)}) for name in ("one", "other")]
    said = compared(ComparedSubject("maps", entries, [ranking], 99, 99, 99, 9), {}).verdict
    assert word in said
    assert ("narrowly" in said) is best.narrow


def test_one_map_has_nothing_beside_it(roll, tmp_path):
    found = compare(roll.points, ["pca"])
    cells = Cells(found.report(tmp_path / "maps.html").read_text(encoding="utf-8"))
    assert "Only pca was judged" in cells.words["best"]
    assert "best" not in "".join(words for _, words in cells.tables["measures-table"].values())
    assert "no other map" in cells.words["best"]


def test_distances_have_no_columns(roll, tmp_path):
    apart = np.linalg.norm(roll.points[:60, None] - roll.points[None, :60], axis=2)
    found = compare(apart, ["classical_mds"], metric="precomputed")
    text = found.report(tmp_path / "maps.html").read_text(encoding="utf-8")
    assert manifest_of(text)["columns"] == []
    assert "metric='precomputed'" in Cells(text).words["made"]
