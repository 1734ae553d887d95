"""What the report says of a map: the numbers of gramfold.diagnostics, whatever names hold, and what is missing."""

import itertools
import re
import warnings
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits, load_iris

from gramfold import LLE, PCA, SDE, Isomap, KernelPCA, LandmarkIsomap, OrdinalMDS, SpectralClustering
from gramfold.cli.trust import summary
from gramfold.datasets import make_swiss_roll
from gramfold.diagnostics import Judged, dimension, faults, feature_distances, measures, stability, verdict
from gramfold.diagnostics.four_faults import percent
from gramfold.diagnostics.kernel_panels import DistancesFrom, nearest_pairs
from gramfold.diagnostics.leading_values import shares_of
from gramfold.report.given import Asked, subject_of
from gramfold.report.sections import believed
from gramfold.report.sections.found import dealt_maps, faults_in
from gramfold.report.subject import Subject
from gramfold.runtime.progress import Stages

_VOID = {"img", "br", "meta", "link", "input", "hr", "line", "rect", "circle", "path"}
_INLINE = {"b", "em", "bdi", "code", "data", "strong", "sub", "i"}  # which do not part words
_KEYS = ["faults", "quality", "distances", "spectrum", "dimension", "stability", "warnings", "made"]


class Page(HTMLParser):
    """Elements that were opened and closed in their order, texts, and the numbers by their names."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.numbers, self.shown, self.ids = {}, {}, []
        self.feed(html)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        held = dict(attrs)
        assert len(held) == len(attrs), f"an attribute of {tag} twice"
        self.tags.append(tag)
        self.attributes.append(held)
        if "id" in held:
            self.ids.append(held["id"])
        if "data-name" in held:
            known = self.numbers.setdefault(held["data-name"], held["data-value"])
            assert known == held["data-value"] == held["value"], held["data-name"]
        self.now = held.get("data-name")
        if tag not in _INLINE:
            self.texts.append(" ")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        self.now = None

    def handle_data(self, data):
        self.texts.append(data)
        if getattr(self, "now", None):
            self.shown[self.now] = data

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    def number(self, name):
        return float(self.numbers[name])

    def section(self, key):
        """The words of a section."""
        return sections_by_key(self.html)[key]


def sections_by_key(html):
    """The words of each section by its key."""
    found = re.findall(r'(<section id="([a-z]+)".*?</section>)', html, flags=re.DOTALL)
    return {key: Page(section).text for section, key in found}


def page_of(subject):
    made = believed(subject)
    html = f"<header>{made.head}</header>{made.verdict}<div>{made.below}</div>"
    page = Page(html)
    page.html = html
    return page


def warned_fit(model, X):
    """Fitted, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def subject_from(X, Y=None, rows=None, **asked):
    return subject_of(X, Y, rows, Asked(**asked), Stages())


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(500, random_state=0).points


@pytest.fixture(scope="module")
def unrolled(roll):
    return Isomap(n_neighbors=8).fit(roll)


@pytest.fixture(scope="module")
def page(unrolled):
    return page_of(subject_from(unrolled))


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture(scope="module")
def drawn():
    """A page of more rows than are all looked at, by a map made elsewhere."""
    X = make_swiss_roll(3_100, random_state=0).points
    return X, page_of(subject_from(X, X[:, [0, 2]], dimension=False))


# --- numbers


def test_faults_are_those_of_the_diagnostics(page, unrolled):
    found = faults(unrolled)
    for fault in found:
        assert page.number(f"faults.{fault.name}.total") == fault.total
        assert page.number(f"faults.{fault.name}.threshold") == fault.threshold
        assert page.number(f"faults.{fault.name}.plain") == fault.plain
        assert page.shown[f"faults.{fault.name}.total"] == percent(fault.total)
    assert page.number("faults.glued.chance") == found.glued.chance
    assert page.number("faults.kept") == found.kept.value


def test_measures_are_those_of_the_diagnostics_beside_pca_and_chance(page, unrolled, roll):
    judged = Judged(unrolled)
    own, plain = measures(judged), measures(judged.with_map(PCA(2).fit_transform(roll)))
    deals = [measures(one) for one in dealt_maps(judged)]
    assert len(own) == 10
    for name in own:
        assert page.number(f"measures.{name}") == own[name].value
        assert page.shown[f"measures.{name}"] == f"{own[name].value:.3f}".replace("-", "−")
        assert page.number(f"pca.{name}") == pytest.approx(plain[name].value, abs=1e-9)
        assert page.number(f"chance.{name}") == pytest.approx(np.mean([deal[name].value for deal in deals]), abs=1e-12)
    # what chance is, is known
    assert page.number("chance.r_nx") == pytest.approx(0.0, abs=0.02)
    assert page.number("chance.trustworthiness") == pytest.approx(0.5, abs=0.03)
    assert page.number("chance.distance_correlation") == pytest.approx(0.0, abs=0.05)


def test_the_comparison_with_pca_counts_what_the_table_says(page, unrolled, roll):
    words = page.section("quality")
    better, measured, worse = map(
        int, re.search(r"better than that of PCA in (\d+) of (\d+) measures, worse in (\d+)", words).groups()
    )
    assert measured == 10
    assert words.count("better by") == better
    assert words.count("worse by") == worse
    difference = page.number("measures.stress") - page.number("pca.stress")
    assert f"{'worse' if difference > 0 else 'better'} by {abs(difference):.3f}" in words  # less is better


def test_verdict_says_the_sentences_with_their_tests(page, unrolled):
    said = verdict(unrolled)
    words = page.section("verdict")
    for j, one in enumerate(said.sentences):
        assert one.text in words
        assert one.test in words
        assert words.index("The tests behind these sentences") > words.index(one.text)
        if np.isfinite(one.number):
            assert page.number(f"verdict.{j}") == one.number
    assert "The data lie on a sheet (likely). The map has none of the four faults." in words


def test_tests_are_folded_away_below_the_sentences(page):
    verdict = page.html[: page.html.index("</section>")]
    sentences = re.search(r'<ol class="sentences">(.*?)</ol>', verdict)[1]
    assert "verdict.0" not in sentences
    folded = re.search(r"<details><summary>The tests behind these sentences</summary>(.*?)</details>", verdict)[1]
    assert "verdict.0" in folded


def test_the_line_below_the_title_names_a_metric_that_is_not_euclidean(iris, page):
    assert "metric" not in page.html[: page.html.index("</header>")]
    made = believed(subject_from(iris, iris[:, :2], dimension=False, metric="manhattan"))
    assert Page(made.head).text.endswith("2 dimensions · metric manhattan")


def test_the_command_line_says_the_same_of_the_faults(page, unrolled):
    words = page.text
    for line in summary(faults(unrolled), 500):
        for share in re.findall(r"[\d.]+%", line):
            assert share in words


def test_a_map_without_a_fault_that_lost_most_neighbours_is_not_praised():
    digits = load_digits().data[:500]
    words = page_of(subject_from(PCA(2).fit(digits), dimension=False)).section("verdict")
    share = float(re.search(r"Do not trust [^:]*: (\d+)%", words)[1])
    assert share > 50
    assert "The map has no fault beyond those of PCA, but most of its rows are not to be trusted." in words


def test_a_fault_is_named_in_words_and_marked(roll):
    folded = np.abs(make_swiss_roll(500, random_state=0).truth - [50.0, 10.0])
    page = page_of(subject_from(roll, folded, dimension=False))
    assert "The map is glued." in page.section("verdict")
    states = {held["data-fault"]: held["data-state"] for held in page.attributes if "data-fault" in held}
    assert states == {"glued": "above", "torn": "below", "strained": "below", "collapsed": "below"}
    assert "above its limit" in page.section("faults")


def test_spectrum_is_that_of_the_model(page, unrolled):
    values = unrolled.leading_eigenvalues(10)
    assert [page.number(f"spectrum.{j + 1}") for j in range(10)] == pytest.approx(values.tolist(), rel=1e-9)
    shares = shares_of("Isomap", unrolled, 10)
    assert [page.number(f"spectrum.share.{j + 1}") for j in range(10)] == pytest.approx(
        shares.values.tolist(), rel=1e-9
    )
    assert page.number("spectrum.held") == pytest.approx(unrolled.shares().sum(), rel=1e-9)
    assert page.number("spectrum.eigengap") == pytest.approx(1 - values[2] / values[1], rel=1e-9)
    assert page.number("spectrum.negative") == unrolled.negative_part().mass
    assert page.number("spectrum.most_negative") == unrolled.negative_part().most_negative


def test_dimension_is_that_of_the_diagnostics(page, unrolled):
    found = dimension(unrolled)
    assert page.number("dimension.value") == found.value
    assert found.sentence in page.section("dimension")
    for name, one in found.estimates.items():
        assert page.number(f"dimension.{name}") == one.value
        assert [page.number(f"dimension.{name}.{end}") for end in ("low", "high")] == list(one.interval)
    assert page.number("dimension.two_nn.corrected") == found.two_nn.corrected
    assert page.shown["dimension.two_nn"] == f"{found.two_nn.value:.3g}"


def test_panels_have_the_correlations_of_feature_distances(page, unrolled):
    found = feature_distances(unrolled)
    expected = {
        "C": found.everywhere.correlation("map", "input"),
        "D": nearest_pairs(found)[0].correlation("map", "input"),
        "E": found.everywhere.correlation("map", "feature"),
        "F": nearest_pairs(found)[0].correlation("map", "feature"),
    }
    for letter, correlation in expected.items():
        assert page.number(f"distances.{letter}") == correlation
    for where in ("boundary", "centre"):
        row = DistancesFrom.of(found, unrolled.embedding_, where).row
        assert f"From a row at the {where} (row {row:,})" in page.section("distances")


def test_panels_of_the_map_have_contours(page):
    for letter in "GH":
        chart = re.search(rf'<figure class="plot" id="panel-{letter}">.*?</figure>', page.html, re.DOTALL)[0]
        assert chart.count('class="contour"') >= 6
        assert chart.count('class="cross"') == 1
        assert len(re.findall(r"ramp-\d", chart)) == 16  # dots and the bar of colours


def test_stability_is_what_was_measured(roll):
    model = Isomap(n_neighbors=8).fit(roll[:200])
    subject = subject_from(model)
    found = stability(model, refits=3)
    page = page_of(Subject(**{**vars(subject), "stability": found}))
    assert page.number("stability.value") == found.value
    assert [page.number(f"stability.{end}") for end in ("low", "high")] == list(found.interval)
    assert page.number("stability.new") == found.new
    assert found.sentence in page.section("stability")
    assert "model.report(path, stability=True)" in page_of(subject).section("stability")


def test_of_many_rows_numbers_have_intervals_and_the_rows_drawn_are_said(drawn):
    X, page = drawn
    judged = Judged(X, X[:, [0, 2]])
    own = measures(judged)
    for name in ("trustworthiness", "stress", "r_nx_area"):
        assert [page.number(f"measures.{name}.{end}") for end in ("low", "high")] == list(own[name].interval)
    glued = faults_in(judged).glued
    assert [page.number(f"faults.glued.{end}") for end in ("low", "high")] == list(glued.interval)
    assert "1,000 rows, drawn at random, were compared with all of 3,100 rows" in page.section("verdict")


def test_certificate_and_stress_where_a_method_has_them(roll, iris):
    model = SDE(n_neighbors=5).fit(roll[:120])
    page = page_of(subject_from(model, dimension=False))
    certificate = model.certificate_
    for name in ("primal", "upper_bound", "gap", "max_violation"):
        assert page.number(f"certificate.{name}") == getattr(certificate, name)
    ordered = OrdinalMDS(2).fit(np.linalg.norm(iris[:60, None] - iris[None, :60], axis=2))
    page = page_of(subject_from(ordered))
    assert page.number("stress") == ordered.stress_
    assert "certificate.primal" not in page.numbers


def test_of_very_many_rows_some_are_measured(iris, monkeypatch):
    from gramfold.report.sections import found

    monkeypatch.setattr(found, "EVERY_ROW", 120)
    monkeypatch.setattr(found, "_MEASURED", 100)
    page = page_of(subject_from(iris, iris[:, :2], dimension=False))
    judged = Judged(iris, iris[:, :2])
    own = measures(judged.fewer(100))
    for name in own:
        assert page.number(f"measures.{name}") == own[name].value
    assert "100 of 150 rows that were drawn at random" in page.section("quality")
    assert "150 rows were looked at" in page.section("verdict")
    assert page.number("faults.strained.total") == faults(judged).strained.total
    some = judged.fewer(100)
    plain = measures(some.with_map(PCA(2).fit(iris[some.kept]).transform(iris)))
    assert page.number("pca.stress") == pytest.approx(plain["stress"].value, abs=1e-9)


# --- how it was made


def test_how_it_was_made(unrolled):
    subject = subject_from(unrolled, decisions=("column a was <b>left out</b>",))
    words = page_of(Subject(**{**vars(subject), "steps": ("StandardScaler()",)})).section("made")
    for part in ("Isomap", "n_neighbors=8", "8 neighbours a row", "StandardScaler()", "column a was <b>left out</b>"):
        assert part in words
    page = page_of(subject)
    assert page.numbers["made.digest"] == subject.digest
    assert len(subject.digest) == 64
    assert page.shown["made.digest"] == subject.digest[:16]
    assert page.numbers["made.seed"] == "0"
    for stage, seconds in unrolled.timings_.items():
        assert page.number(f"seconds.{stage}") == seconds
    assert page.number("made.residual") == unrolled.spectrum_.residuals.max()
    code = re.search(r'<pre class="copy" tabindex="0"><code>(.*?)</code></pre>', page.html, re.DOTALL)[1]
    assert unescape(code) == subject.call
    assert "n_neighbors=8" in subject.call


def test_warnings_of_the_fit_stand_in_full(iris):
    model = warned_fit(Isomap(n_neighbors=3, on_disconnected="largest"), iris)
    page = page_of(subject_from(model))
    assert model.model_.warned
    for text in model.model_.warned:
        assert " ".join(text.split()) in page.section("warnings")


def test_no_warning_is_said_too(page):
    assert "The fit gave no warning." in page.section("warnings")


# --- escaping and form

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(1)",
    "\u202eabc\x00\x1b\ud800",
)


def test_hostile_names_are_text(iris):
    subject = subject_from(iris, iris[:, :2] @ [[1.0, 0.2], [0.1, 1.0]])
    made = believed(
        Subject(
            **{
                **vars(subject),
                "title": "".join(HOSTILE),
                "names": HOSTILE,
                "decisions": HOSTILE,
                "steps": HOSTILE,
                "warnings": HOSTILE,
                "call": "".join(HOSTILE),
                "seconds": dict.fromkeys(HOSTILE, 1.0),
                "unjudged": "".join(HOSTILE),
                "digest": HOSTILE[1],
                "method": HOSTILE[0],
            }
        )
    )
    html = f"{made.head}{made.verdict}{made.below}"
    page = Page(f"<div>{html}</div>")
    assert not {"script", "img", "iframe", "link"} & set(page.tags)
    assert not [name for held in page.attributes for name in held if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]", html)
    html.encode("utf-8")
    assert page.text.count("alert(1)") >= 12
    for name in HOSTILE[:3]:
        assert name in page.text
    # what turns the direction of writing around stands in an element of its own
    for found in re.finditer("\u202e", re.sub(r'"[^"]*"', "", html)):
        before = re.sub(r'"[^"]*"', "", html)[: found.start()]
        assert re.search(r"<(bdi|code|th|td|desc)[^>]*>[^<]*$", before)


def test_hostile_reasons_are_text(iris):
    subject = subject_from(iris, iris[:, :2], dimension=False)
    made = believed(Subject(**{**vars(subject), "judged": None, "unjudged": HOSTILE[0]}))
    page = Page(f"<div>{made.verdict}{made.below}</div>")
    assert "script" not in page.tags
    assert HOSTILE[0] in page.text


def test_headings_go_down_one_step_at_a_time_and_ids_are_unique(page):
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert max(Counter(page.ids).values()) == 1
    for held in page.attributes:
        for name in held.get("aria-labelledby", "").split():
            assert name in page.ids


def test_tables_have_captions_and_heads(page):
    tables = re.findall(r"<table.*?</table>", page.html, flags=re.DOTALL)
    assert len(tables) >= 4
    for table in tables:
        assert re.search(r"<caption>.+?</caption>", table)
        heads = re.findall(r'<th scope="col"', table)
        for row in re.findall(r"<tr.*?</tr>", table, flags=re.DOTALL)[1:]:
            assert row.count('<th scope="row"') == 1
            assert row.count("<td") == len(heads) - 1


def test_every_drawing_is_xml_with_a_name(page):
    drawings = re.findall(r"<svg.*?</svg>", page.html, flags=re.DOTALL)
    assert len(drawings) > 20
    for one in drawings:
        found = ET.fromstring(one)
        named = found.attrib.get("aria-label") or found.findtext("title")
        assert named or found.attrib.get("aria-hidden") == "true"


def test_a_page_of_a_thousand_pairs_is_small(page):
    assert len(page.html) < 200_000


def test_all_sections_are_there_in_their_order(page):
    assert re.findall(r'<section id="([a-z]+)"', page.html) == ["verdict", *_KEYS]


# --- what cannot be made says why


def test_five_rows():
    X = np.random.default_rng(0).standard_normal((5, 3))
    page = page_of(subject_from(PCA(2).fit(X)))
    assert "There are too few rows to judge the map." in page.section("verdict")
    assert page.section("verdict").count("not judged") == 4
    assert "With 5 rows no fault can be told from chance; 20 are needed." in page.section("faults")
    assert "No contours. Of 5 rows contours say nothing." in page.section("distances")
    assert "measures.trustworthiness" in page.numbers  # numbers are numbers
    assert "Not shown" in page.section("dimension")


def test_two_rows():
    page = page_of(subject_from(PCA(1).fit(np.array([[0.0, 1.0], [2.0, 5.0]]))))
    assert "This map was not judged." in page.section("verdict")
    assert "Not shown" in page.section("quality")


def test_one_column():
    X = np.random.default_rng(0).standard_normal((100, 1))
    page = page_of(subject_from(PCA(1).fit(X)))
    assert "100 rows × 1 column → 1 dimension" in page.text
    assert page.number("measures.stress") == pytest.approx(0.0, abs=1e-7)  # a root of rounding errors
    assert "chart-H" in page.html


def test_a_map_made_elsewhere(iris):
    page = page_of(subject_from(iris, iris[:, :2]))
    assert "a map made elsewhere" in page.text
    assert "Its kernel is not known" not in page.text
    assert "has no kernel whose eigenvalues are known" in page.section("spectrum")
    assert "cannot be fitted again" in page.section("stability")
    panels = page.section("distances")
    apart = np.corrcoef(pdist(iris), pdist(iris[:, :2]))[0, 1]
    assert page.number("distances.C") == pytest.approx(apart, abs=1e-9)
    judged = Judged(iris, iris[:, :2])
    near = np.column_stack([judged.in_data.rows, judged.in_data.indices])
    lengths = (np.linalg.norm(table[near[:, 0]] - table[near[:, 1]], axis=1) for table in (iris, iris[:, :2]))
    assert page.number("distances.D") == pytest.approx(np.corrcoef(*lengths)[0, 1], abs=1e-9)
    assert "Not drawn: E (all pairs against feature space), F (" in panels
    assert page.number("measures.stress") == measures(iris, iris[:, :2])["stress"].value


def test_precomputed_distances_with_and_without_them(iris):
    similar = iris @ iris.T
    without = page_of(subject_from(KernelPCA(kernel="precomputed").fit(similar)))
    assert "150 rows (precomputed values) → 2 dimensions" in without.text
    assert "This map was not judged." in without.section("verdict")
    assert "distances.E" in without.numbers
    assert "distances.C" not in without.numbers
    assert "does not keep the rows or distances" in without.section("distances")
    D = np.linalg.norm(iris[:, None] - iris[None], axis=2)
    model = warned_fit(Isomap(metric="precomputed"), D)
    page = page_of(subject_from(model, rows=D))
    own = measures(D, model.embedding_, metric="precomputed")
    assert page.number("measures.continuity") == own["continuity"].value
    assert "classical scaling" in page.section("quality")
    assert "distances.C" in page.numbers


def test_rows_without_a_place(iris):
    model = warned_fit(Isomap(n_neighbors=3, on_disconnected="largest"), iris)
    absent = int(np.isnan(model.embedding_[:, 0]).sum())
    assert absent > 0
    page = page_of(subject_from(model))
    assert f"{absent} rows without a place are left out." in page.section("verdict")
    assert page.number("measures.stress") == measures(model)["stress"].value


def test_rows_that_were_drawn_before_are_said(iris):
    subject = subject_from(iris, iris[:, :2], dimension=False)
    page = page_of(Subject(**{**vars(subject), "judged": subject.judged.fewer(100)}))
    assert "100 of 150 rows that were drawn at random" in page.section("verdict")
    assert page.number("measures.stress") == measures(subject.judged.fewer(100))["stress"].value


def test_clusters_without_a_map():
    X = np.concatenate(
        [np.random.default_rng(0).standard_normal((60, 2)), 50 + np.random.default_rng(1).random((60, 2))]
    )
    model = warned_fit(SpectralClustering(n_clusters=2), X)
    page = page_of(subject_from(model))
    assert "SpectralClustering has no feature space of its own." in page.section("distances")
    assert page.number("faults.glued.total") >= 0


def test_a_compact_model(iris, tmp_path):
    from gramfold import load

    model = warned_fit(Isomap(), iris)
    model.save(tmp_path / "one.gramfold", compact=True)
    compact = load(tmp_path / "one.gramfold")
    subject = Subject("compact", compact, model.embedding_, unjudged="The model was saved with compact=True.")
    page = page_of(subject)
    assert "The model was saved with compact=True." in page.section("quality")
    assert "saved with compact=True" in page.section("made")
    for key in ("distances", "spectrum"):
        assert re.search("Not (shown|drawn)", page.section(key))


def test_a_map_of_one_place_has_collapsed(iris):
    page = page_of(subject_from(iris, np.zeros((150, 2)), dimension=False))
    assert "The map is collapsed." in page.section("verdict")
    states = {held["data-fault"]: held["data-state"] for held in page.attributes if "data-fault" in held}
    assert states["collapsed"] == "above"
    assert "not defined" in page.section("quality")
    assert "unknown" not in page.section("verdict")


@pytest.mark.parametrize(
    "model", [KernelPCA(kernel="rbf"), LLE(n_neighbors=8), LandmarkIsomap(landmarks=40), PCA(3), PCA(1)], ids=str
)
def test_any_method_has_all_sections(model, iris):
    page = page_of(subject_from(warned_fit(model, iris), dimension=False))
    assert {"distances.C", "distances.F", "spectrum.1", "measures.r_nx", "faults.torn.total"} <= set(page.numbers)
    assert "Not shown" not in page.section("spectrum")


def test_faults_are_computed_once(iris, monkeypatch):
    from gramfold.report.sections import found

    counted = []
    made = found.faults_of
    monkeypatch.setattr(found, "faults_of", lambda *args, **named: counted.append(1) or made(*args, **named))
    subject = subject_from(iris, iris[:, :2], dimension=False)
    first = faults_in(subject.judged)
    page_of(subject)
    assert counted == [1]
    assert faults_in(subject.judged) is first


def test_a_total_that_looks_like_its_limit_gets_more_digits():
    from gramfold.diagnostics import Fault
    from gramfold.report.sections.verdict import total_and_limit

    fault = Fault("glued", 0.4512, None, 0.4488, 0.4, 0.6, np.zeros(3), "x")
    assert [Page(one).texts for one in total_and_limit(fault)] == [["45.1%"], ["44.9%"]]


def test_a_map_of_pca_whose_rows_lie_in_a_crowd_says_so():
    rows = np.random.default_rng(0).normal(size=(1500, 3)) * 1e-5
    rows[:2] += np.eye(3)[:2]
    page = page_of(subject_from(rows, PCA(2).fit_transform(rows), dimension=False))
    verdict, faults = page.section("verdict"), page.section("faults")
    assert "but most rows lie on top of others" in verdict
    assert "99.7% of the rows share a place, or lie in a crowd, as on the map of PCA" in faults
    states = {held["data-fault"]: held["data-state"] for held in page.attributes if "data-fault" in held}
    assert states["collapsed"] == "usual"
    for words in (verdict, faults):
        assert "cannot be decided" not in words
        assert "limit 100" not in words


def test_where_pca_only_turns_the_columns_nothing_is_called_worse(roll):
    three = Isomap(n_components=3, n_neighbors=8).fit(roll)
    words = page_of(subject_from(three, dimension=False)).section("quality")
    assert "In 3 dimensions PCA only turns the 3 columns, so that nothing can be better by these measures" in words
    assert "worse" not in words
    assert not re.search(r"better by [−\d]", words)
    assert re.search(r"[−+]0\.\d{3}", words)
