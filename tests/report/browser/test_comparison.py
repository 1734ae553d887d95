"""The page of a comparison by mouse and keyboard: what is done on one map is seen on all."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors

from gramfold import Isomap, compare
from gramfold.datasets import make_swiss_roll
from tests.report.browser.visit import DESKTOP, NO_WEBGL, PHONE, SOFTWARE_WEBGL, Visit, numbers_in

N = 300
WIDE = (2560, 1200)
HOSTILE = '<b onclick="window.hacked=1">"map" & </script>'


class Broken(BaseEstimator):
    """A guest that raises."""

    def fit_transform(self, X):
        raise RuntimeError("no luck")


@pytest.fixture(scope="module")
def found():
    roll = make_swiss_roll(N, random_state=0)
    lacking = roll.truth.copy()
    lacking[:20] = np.nan
    methods = {
        "pca": "pca",
        HOSTILE: Isomap(n_neighbors=8),
        "three": Isomap(n_components=3, n_neighbors=8),
        "sheet": lacking,
        "broken": Broken(),
    }
    kinds = np.array(["amber", "birch", "cedar"])[np.minimum(roll.truth[:, 0] // 31, 2).astype(int)]
    return compare(roll.points, methods, labels=kinds)


@pytest.fixture(scope="module")
def path(found, tmp_path_factory):
    return found.report(tmp_path_factory.mktemp("compared") / "maps.html", title="Four maps")


def tile(name):
    return ".map[data-name='{}']".format(name.replace("'", "\\'"))


def canvas(name):
    return f"{tile(name)} canvas"


def places(seen, name, rows=range(N)):
    return np.array(
        seen.value("([rows, name]) => rows.map(i => gramfold.place(i, name))", [[int(i) for i in rows], name])
    )


def to(seen, name):
    """Scroll so that a map is in the middle of the window: the tools stay at its top."""
    seen.page.locator(canvas(name)).evaluate("one => one.scrollIntoView({block: 'center'})")


def rings(seen):
    """Where rings are drawn, by the name of the map."""
    return seen.value(
        """() => Object.fromEntries([...document.querySelectorAll('.map .ring[visibility=visible]')].map(ring => {
            const box = ring.getBoundingClientRect();
            return [ring.closest('.map').dataset.name, [box.left + box.width / 2, box.top + box.height / 2]];
        }))"""
    )


def choose_box(seen, name, left, top, right, bottom):
    """Drag a rectangle over a part of a map, in shares of its size."""
    to(seen, name)
    x0, y0, x1, y1 = seen.box(canvas(name))
    at = [(x0 + a * (x1 - x0), y0 + b * (y1 - y0)) for a, b in ((left, top), (right, bottom))]
    here = places(seen, name)
    inside = np.all((here > at[0]) & (here < at[1]), axis=1)
    seen.drag(*at)
    seen.until("() => document.querySelector('#chosen').dataset.answered === 'true'")
    return np.flatnonzero(inside)


@pytest.mark.parametrize("size", [DESKTOP, PHONE, WIDE], ids=["desktop", "phone", "wide"])
def test_all_maps_are_drawn_and_the_page_does_not_scroll_sideways(visit, path, found, size):
    seen = visit(path, size=size)
    assert seen.value("() => gramfold.maps()") == list(found.maps)
    assert seen.value("document.documentElement.scrollWidth") <= size[0]
    beside = len({round(seen.box(tile(row.name))[0]) for row in found} if size != PHONE else {0})
    assert beside == {DESKTOP: 3, PHONE: 1, WIDE: 3}[size]
    for name in found.maps if size == DESKTOP else ():
        pixels = seen.pixels(canvas(name)).reshape(-1, 3)
        assert len(np.unique(pixels, axis=0)) > 20, name
    assert seen.text('.map[data-name="broken"]').endswith("RuntimeError: no luck")
    assert seen.value("window.hacked") is None


def test_rows_stand_where_the_aligned_maps_say(visit, path, found):
    seen = visit(path)
    for name, wanted in found.aligned_maps().items():
        here = np.arange(20, N)
        drawn, wanted = places(seen, name, here), wanted[here, :2] * [1, -1]
        scale = np.ptp(drawn[:, 0]) / np.ptp(wanted[:, 0])
        np.testing.assert_allclose(drawn - drawn.mean(axis=0), scale * (wanted - wanted.mean(axis=0)), atol=0.1)


def test_the_row_under_the_pointer_lights_up_on_all_maps(visit, path):
    seen = visit(path)
    row = 137
    to(seen, "pca")
    x, y = places(seen, "pca", [row])[0]
    seen.page.mouse.move(x + 30, y)
    seen.page.mouse.move(x, y, steps=3)
    seen.until("() => gramfold.pointed() >= 0")
    row = seen.value("gramfold.pointed()")  # or one as near
    ringed = rings(seen)
    assert set(ringed) == {"pca", HOSTILE, "three", "sheet"}
    for name, at in ringed.items():
        np.testing.assert_allclose(at, places(seen, name, [row])[0], atol=0.6)
    assert seen.text("#hover").startswith(f"row {row}")
    assert len(seen.texts("#hover")) == 1
    seen.page.mouse.move(5, 5)
    seen.until("() => gramfold.pointed() < 0")
    assert not seen.shown("#hover")
    assert rings(seen) == {}


def test_a_row_without_a_place_is_told(visit, path):
    seen = visit(path)
    to(seen, "pca")
    here = places(seen, "pca")
    apart = np.linalg.norm(here[:20, None] - here[None], axis=2)
    apart[np.arange(20), np.arange(20)] = np.inf
    row = int(apart.min(axis=1).argmax())
    seen.page.mouse.move(*here[row])
    seen.page.mouse.move(*(here[row] + 0.4))
    seen.until(f"() => gramfold.pointed() === {row}")
    assert "sheet" not in rings(seen)
    assert "no place on sheet" in seen.text("#hover")


def test_rows_chosen_on_one_map_are_followed_on_all(visit, path, found):
    seen = visit(path)
    seen.page.click("#tool-rectangle")
    inside = choose_box(seen, HOSTILE, 0.02, 0.02, 0.5, 0.98)
    assert 20 < len(inside) < N - 20
    assert seen.chosen() == inside.tolist()
    assert seen.text("#chosen-count") == f"{len(inside)} rows chosen"
    for name, map_ in found.aligned_maps().items():
        placed = np.flatnonzero(~np.isnan(map_).any(axis=1))
        chosen = np.intersect1d(inside, placed)
        spread = [
            np.sqrt(((map_[rows] - map_[rows].mean(axis=0)) ** 2).sum(axis=1).mean()) for rows in (chosen, placed)
        ]
        near = placed[NearestNeighbors(n_neighbors=11).fit(map_[placed]).kneighbors(map_[chosen])[1][:, 1:]]
        cells = seen.page.locator(f"#where-table tr[data-name='{name}'] td")
        np.testing.assert_allclose(float(cells.nth(0).get_attribute("data-value")), spread[0] / spread[1], rtol=1e-4)
        share = float(cells.nth(1).get_attribute("data-value"))
        np.testing.assert_allclose(share, np.isin(near, inside).mean(), atol=2e-3)
        assert cells.nth(2).inner_text() == f"{round(100 * (len(chosen) - 1) / (len(placed) - 1))}%"
        assert seen.text(f"{tile(name)} .where").startswith("Chosen:")
    saved = seen.saved_rows()
    assert [int(line[0]) for line in saved[1:]] == inside.tolist()
    at = saved[0].index("sheet 1")
    wanted = found.aligned_maps()["sheet"][inside, 0]
    read = np.array([float(line[at]) if line[at] else np.nan for line in saved[1:]])
    np.testing.assert_allclose(read, wanted, atol=1e-4)
    seen.page.click("#clear")
    assert seen.chosen() == []
    assert not seen.shown("#chosen")


def test_lasso_adds_and_takes_away(visit, path):
    seen = visit(path)
    seen.page.click("#tool-lasso")
    to(seen, "pca")
    x0, y0, x1, y1 = seen.box(canvas("pca"))
    half = [(x0 + 2, y0 + 2), ((x0 + x1) / 2, y0 + 2), ((x0 + x1) / 2, y1 - 2), (x0 + 2, y1 - 2)]
    here = places(seen, "pca")
    left = np.flatnonzero(here[:, 0] < (x0 + x1) / 2)
    seen.drag(*half)
    assert seen.chosen() == left.tolist()
    seen.page.keyboard.down("Control")
    seen.drag(*[(x0 + x1 - x, y) for x, y in half])
    seen.page.keyboard.up("Control")
    assert len(seen.chosen()) == N
    seen.page.keyboard.down("Alt")
    seen.drag(*half)
    seen.page.keyboard.up("Alt")
    assert seen.chosen() == sorted(set(range(N)) - set(left.tolist()))


def test_one_legend_switches_groups_off_on_all_maps(visit, path, found):
    seen = visit(path)
    assert len(seen.texts("#legend .group")) == 3
    before = {name: seen.pixels(canvas(name)) for name in ("pca", "sheet")}
    seen.page.locator("#legend .group").first.click()
    seen.page.wait_for_timeout(300)
    for name, pixels in before.items():
        assert (seen.pixels(canvas(name)) != pixels).any(), name
    seen.page.click("#tool-rectangle")
    off = seen.text("#legend .group .name >> nth=0")
    choose_box(seen, "pca", 0.01, 0.01, 0.99, 0.99)
    kinds = np.asarray(found.labels)
    assert seen.chosen() == np.flatnonzero(kinds != off).tolist()


def test_colors_by_any_column_and_by_what_each_map_keeps(visit, path, found):
    seen = visit(path)
    before = seen.value("gramfold.colors('pca').codes")
    seen.page.select_option("#color", label="column 1")
    height = seen.value("gramfold.colors('pca').codes")
    assert before != height == seen.value("gramfold.colors('sheet').codes")
    seen.page.select_option("#color", label="neighbours kept, on each map")
    colors = {name: seen.value("name => gramfold.colors(name).codes", name) for name in ("pca", "three")}
    pairs = {  # of shares, and of rows that not all maps have, with their colours
        ("missing" if np.isnan(share) else round(float(share), 3), color)
        for name, codes in colors.items()
        for share, color in zip(found[name].measures["r_nx"].per_point, codes, strict=True)
    }
    shares = [share for share, _ in pairs]
    assert "missing" in shares
    assert len(set(shares)) == len(shares) > 5  # one colour for one share, the same on all maps


def test_search_marks_and_chooses(visit, path):
    seen = visit(path)
    seen.page.fill("#search", "17")
    seen.page.wait_for_selector("#search-results li")
    seen.page.keyboard.press("ArrowDown")
    seen.page.keyboard.press("Enter")
    seen.until("() => gramfold.chosen().length > 0")
    assert 17 in seen.chosen()


def test_each_map_has_a_view_of_its_own(visit, path):
    seen = visit(path)
    names = ("pca", "three")
    before = {name: places(seen, name, range(20, N)) for name in names}
    seen.page.focus(canvas("pca"))
    seen.page.keyboard.press("+")
    seen.page.keyboard.press("ArrowLeft")
    after = {name: places(seen, name, range(20, N)) for name in names}
    assert np.ptp(after["pca"][:, 0]) > 1.2 * np.ptp(before["pca"][:, 0])
    shift = after["three"] - before["three"]  # the page may have scrolled
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=0.01)
    seen.page.click("#reset")
    whole = places(seen, "pca", range(20, N))
    np.testing.assert_allclose(np.ptp(whole, axis=0), np.ptp(before["pca"], axis=0), rtol=1e-3)


def test_keyboard_alone_chooses_what_is_in_view(visit, path):
    seen = visit(path)
    seen.page.focus('.map[data-name="pca"] .choose-view')
    seen.page.keyboard.press("Enter")
    assert len(seen.chosen()) == N
    seen.page.focus(canvas("pca"))
    seen.page.keyboard.press("Escape")
    assert seen.chosen() == []


def test_a_map_is_enlarged_and_its_axes_are_changed(visit, path, found):
    seen = visit(path)
    small = seen.box(canvas("three"))
    seen.page.click('.map[data-name="three"] .enlarge')
    seen.until("() => document.querySelector('.map[data-name=three] canvas').clientWidth > 1000")
    large = seen.box(canvas("three"))
    assert large[2] - large[0] > 2 * (small[2] - small[0])
    seen.page.select_option('.map[data-name="three"] .axes', label="1, 3")
    drawn, wanted = places(seen, "three"), found.aligned_maps()["three"][:, [0, 2]]
    np.testing.assert_allclose(
        np.ptp(drawn[:, 0]) / np.ptp(drawn[:, 1]), np.ptp(wanted[:, 0]) / np.ptp(wanted[:, 1]), rtol=1e-3
    )


def test_tables_are_sorted_with_the_best_first(visit, path, found):
    seen = visit(path)
    table = found.to_pandas()
    for measure, ascending in (("r_nx", False), ("strain", True)):
        seen.page.click(f'#measures-table th[data-measure="{measure}"] button')
        names = seen.value("[...document.querySelectorAll('#measures-table tbody tr')].map(row => row.dataset.name)")
        assert (
            names == table.sort_values(measure, ascending=ascending, na_position="last", kind="stable").index.tolist()
        )
    seen.page.click('#measures-table th[data-measure="strain"] button')
    names = seen.value("[...document.querySelectorAll('#measures-table tbody tr')].map(row => row.dataset.name)")
    assert names[-1] == "broken"


def test_dark_and_light(visit, path):
    seen = visit(path, color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = seen.value(paper)
    seen.page.click("#theme")
    seen.until(f"() => {paper} !== '{dark}'")
    assert [max(numbers_in(dark)) < 60, min(numbers_in(seen.value(paper))) > 240] == [True, True]


def test_without_scripts_or_webgl_pictures_stand_for_maps(playwright, chromium, path, found):
    for arguments, options in ((NO_WEBGL, {}), (SOFTWARE_WEBGL, {"java_script_enabled": False})):
        browser = playwright.chromium.launch(executable_path=chromium, args=list(arguments))
        try:
            with Visit(browser, path, ready=not options, **options) as seen:
                pictures = seen.page.locator(".map .still")
                assert pictures.count() == len(found.maps)
                assert pictures.first.is_visible()
                assert "RuntimeError: no luck" in seen.text("#told")
                assert [one for one in seen.complaints if "WebGL" not in one] == []
        finally:
            browser.close()


def test_on_paper_pictures_stand_for_maps(visit, path):
    seen = visit(path)
    seen.page.emulate_media(media="print")
    assert seen.shown(".map .still")
    assert not seen.shown(".map canvas")
    assert not seen.shown("#tools")
    assert seen.shown("#still-key")


def test_rows_that_are_not_chosen_are_pale_in_crowds_too(visit, tmp_path):
    """Where many lie on each other, opacity would add up to the colour of chosen ones."""
    random = np.random.default_rng(0)
    crowd, few = random.normal(size=(1500, 2)), random.normal(size=(30, 2)) / 8 + [7, 0]
    rows = np.vstack([crowd, few])
    found = compare(rows, {"one": rows, "other": rows[:, ::-1]}, labels=np.repeat([0, 1], [1500, 30]), sample=200)
    seen = visit(found.report(tmp_path / "maps.html"))
    to(seen, "one")

    def strength():
        """How far the colours in the middle of the crowd, and of the few, are from the paper."""
        pixels, (left, top, *_) = seen.pixels(canvas("one")), seen.box(canvas("one"))
        paper = np.median(pixels[:4].reshape(-1, 3), axis=0)
        far = []
        for middle in (rows[:1500], rows[1500:]):
            start = 0 if len(middle) > 30 else 1500
            nearest = start + np.argsort(np.linalg.norm(middle - np.median(middle, axis=0), axis=1))[:10]
            at = np.round(places(seen, "one", nearest) - [left, top]).astype(int)
            far.append(np.median(np.linalg.norm(pixels[at[:, 1], at[:, 0]] - paper, axis=1)))
        return far

    before = strength()
    search = seen.page.locator("#search")
    search.fill("labels = 1")
    seen.page.keyboard.press("Enter")
    seen.until("() => gramfold.chosen().length === 30")
    seen.value("async () => { await new Promise(requestAnimationFrame); await gramfold.painted(); }")
    to(seen, "one")
    crowded, chosen = strength()
    assert crowded < 0.35 * before[0]
    assert chosen > 0.7 * before[1]


def test_heads_that_sort_are_large_enough_for_fingers(visit, path):
    seen = visit(path, size=PHONE)
    heights = seen.value(
        "() => [...document.querySelectorAll('table.compared thead button')].map(one => one.offsetHeight)"
    )
    assert len(heights) > 8
    assert min(heights) >= 32
