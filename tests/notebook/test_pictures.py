"""The picture decodes to what the map says: dots at their places, shades by their number, a colour for each cluster."""

import base64
import io
import re
import struct
import zlib

import numpy as np
import pytest
from matplotlib.image import imread

from gramfold import PCA, Isomap, SpectralClustering
from gramfold.errors import DisconnectedGraphWarning
from gramfold.notebook.palette import ABSENT, OKABE_ITO, PLAIN, hue_of_category, opacity, rgb
from gramfold.notebook.picture import picture_of
from gramfold.notebook.png import png_bytes
from gramfold.notebook.raster import MOST_DOTS, scattered, sized
from gramfold.notebook.scale import HEIGHT, SHARP, WIDTH, scale_of

RNG = np.random.default_rng
SIZE = (HEIGHT * SHARP, WIDTH * SHARP)
ONE = rgb(PLAIN)[None]


class Shown:
    """A map of given coordinates, and clusters."""

    def __init__(self, places, labels=None):
        self.embedding_ = None if places is None else np.asarray(places, dtype=float)
        if labels is not None:
            self.labels_ = np.asarray(labels)


def inked(pixels):
    return (pixels < 255).any(axis=2)


def decoded(data: bytes) -> np.ndarray:
    """A PNG read by hand: chunks, checksums, lines without filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        chunks[kind] = body
        at += 12 + length
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 2, 0, 0, 0]
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 3)


def test_a_png_decodes_to_its_pixels():
    pixels = RNG(0).integers(0, 256, size=(7, 5, 3), dtype=np.uint8)
    data = png_bytes(pixels)
    np.testing.assert_array_equal(decoded(data), pixels)
    read = imread(io.BytesIO(data), format="png")
    np.testing.assert_array_equal(np.rint(255 * read[..., :3]).astype(np.uint8), pixels)


def test_the_picture_of_the_card_is_that_of_the_map():
    model = PCA().fit(RNG(0).normal(size=(40, 3)))
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', model._repr_html_())
    np.testing.assert_array_equal(decoded(base64.b64decode(data)), picture_of(model).pixels)


def test_dots_stand_where_the_map_says():
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0], [4.0, 2.0], [1.0, 1.5]])
    ink = inked(picture_of(Shown(corners)).pixels)
    scale = scale_of(corners)
    columns, lines = scale.place(corners)
    assert ink[lines, columns].all()
    # 4 x 2 fills the width; up is up; one unit is as long along both axes
    assert columns[1] - columns[0] == pytest.approx(2 * (lines[0] - lines[2]), abs=2)
    assert columns[1] > columns[0]
    assert lines[2] < lines[0]
    assert columns[4] - columns[0] == pytest.approx((columns[1] - columns[0]) / 4, abs=1)
    # five separate dots, and nothing else: ink is only near them
    far = np.ones(SIZE, dtype=bool)
    for line, column in zip(lines, columns, strict=True):
        far[line - 8 : line + 9, column - 8 : column + 9] = False
    assert not ink[far].any()


def test_few_dots_are_round_and_large_and_many_are_small():
    def area(n):
        return inked(scattered(np.full(n, 300), np.full(n, 200), ONE, np.zeros(n, dtype=int))).sum()

    assert area(1) > 90  # a disc of about 6 pixels
    assert area(1) > area(2_000) > area(15_000) > 4


def test_a_crowd_is_shaded_by_its_number():
    n = MOST_DOTS + 1
    counts = np.array([1, 20, 400, n - 421])
    columns, lines = np.repeat([100, 200, 300, 400], counts), np.full(n, 240)
    pixels = scattered(columns, lines, ONE, np.zeros(n, dtype=int)).astype(int)
    seen = pixels[240, [100, 200, 300, 400]]
    assert (np.diff(seen[:, 0]) < 0).all()  # ever darker
    expected = 255 * (1 + opacity(counts)[:, None] * (ONE - 1))
    np.testing.assert_allclose(seen, expected, atol=255 / 64 + 1)  # in 32 steps
    assert inked(pixels).sum() == 4 * SHARP**2


def test_a_million_rows_are_no_blob():
    places = RNG(0).normal(size=(1_000_000, 2))
    pixels = picture_of(Shown(places)).pixels
    assert len(np.unique(pixels[..., 0])) > 15
    middle, rim = pixels[SIZE[0] // 2, SIZE[1] // 2, 0], pixels[..., 0][inked(pixels)].max()
    assert int(rim) - int(middle) > 100


@pytest.mark.parametrize("n", [300, MOST_DOTS + 300])
def test_clusters_have_their_colors(n):
    labels = np.arange(n) % 3 - 1
    places = np.column_stack([labels * 10.0, (np.arange(n) % 2) * 10.0])  # which clusters share no dot
    picture = picture_of(Shown(places, labels))
    assert [group.name for group in picture.groups] == ["no cluster", "0", "1"]
    assert [group.rows for group in picture.groups] == np.bincount(labels + 1).tolist()
    columns, lines = scale_of(places).place(places)
    for label, color in ((-1, ABSENT), (0, OKABE_ITO[0]), (1, OKABE_ITO[1])):
        at = np.flatnonzero(labels == label)
        np.testing.assert_allclose(
            picture.pixels[lines[at], columns[at]] / 255, np.tile(rgb(color), (len(at), 1)), atol=0.02
        )


def test_a_mixture_of_clusters_has_the_mean_color():
    codes = np.array([0, 1])
    colors = np.array([hue_of_category(0), hue_of_category(1)])
    pixels = scattered(np.array([300, 300]), np.array([200, 200]), colors, codes)
    covered = pixels[200, 300] / 255
    np.testing.assert_allclose(covered, colors.mean(axis=0), atol=0.05)


def test_one_coordinate_is_a_histogram():
    values = np.repeat([0.0, 1.0, 2.0], [10, 40, 20])
    picture = picture_of(Shown(values[:, None]))
    ink = inked(picture.pixels)
    columns, _ = scale_of(np.column_stack([values, 0 * values])).place(np.column_stack([values, 0 * values]))
    bars = ink[: SIZE[0] - 4 * 8 * SHARP]
    heights = [ink[:-80, max(c - 6, 0) : c + 7].sum(axis=0).max() for c in np.unique(columns)]
    assert bars.any()
    assert np.array(heights) / heights[1] == pytest.approx([10 / 40, 1.0, 20 / 40], abs=0.1)
    assert "coordinate 1: bars count rows" in picture.caption


def test_bars_of_one_coordinate_have_the_colors_of_clusters():
    picture = picture_of(Shown([[0.0]] * 5 + [[1.0]] * 5, [0] * 5 + [1] * 5))
    left, right = picture.pixels[:, : SIZE[1] // 2], picture.pixels[:, SIZE[1] // 2 :]
    for half, color in ((left, OKABE_ITO[0]), (right, OKABE_ITO[1])):
        seen = half[inked(half)].mean(axis=0) / 255
        assert np.abs(seen - rgb(color)).max() < 0.17  # a bar lets a little of the paper through


def test_components_without_a_map_are_bars_of_their_sizes():
    picture = picture_of(Shown(None, [0] * 30 + [1] * 60))
    ink = inked(picture.pixels).sum(axis=1)
    lengths = sorted({int(length) for length in ink} - {0})
    assert lengths[0] * 2 == pytest.approx(lengths[1], abs=2)
    np.testing.assert_array_equal(
        picture.pixels, sized(np.array([30, 60]), np.array([hue_of_category(j) for j in (0, 1)]))
    )


def test_rows_without_a_place_are_counted():
    places = RNG(0).normal(size=(50, 2))
    places[:7] = np.nan
    assert picture_of(Shown(places)).notes == ("7 rows of 50 are not placed (NaN)",)
    np.testing.assert_array_equal(picture_of(Shown(places)).pixels, picture_of(Shown(places[7:])).pixels)
    nothing = picture_of(Shown(np.full((5, 2), np.nan)))
    assert nothing.pixels is None
    assert nothing.notes == ("5 rows of 5 are not placed (NaN)",)


@pytest.mark.parametrize("places", [np.zeros((20, 2)), np.full((20, 1), 3.0), np.full((20, 4), 1e300)])
def test_a_collapsed_map_says_so(places):
    picture = picture_of(Shown(places))
    assert picture.notes == ("all 20 rows are at one place",)
    assert inked(picture.pixels).any()


def test_a_constant_coordinate_says_so():
    picture = picture_of(Shown(np.column_stack([np.arange(9.0), np.full(9, 2.0)])))
    assert picture.caption.endswith("coordinate 2 is constant")
    lines = np.flatnonzero(inked(picture.pixels).any(axis=1))
    assert lines.mean() == pytest.approx(SIZE[0] / 2, abs=2)


def test_far_rows_say_how_many_share_a_dot():
    near = RNG(0).normal(size=(999, 2))
    assert picture_of(Shown(near)).notes == ()
    assert picture_of(Shown([*near, [1e9, 0.0]])).notes == ("99.9% of the rows are on 1 dot of the picture",)
    many = RNG(0).normal(size=(99_999, 2))
    assert picture_of(Shown([*many, [1e9, 0.0]])).notes == ("over 99.9% of the rows are on 1 dot of the picture",)
    assert picture_of(Shown([*near, *(near + 1e9)])).notes == ("100% of the rows are on 2 dots of the picture",)


def test_a_hair_line_is_widened_and_says_so():
    places = RNG(0).uniform(-1, 1, size=(500, 2))
    assert picture_of(Shown(places * [20, 1])).caption.endswith("on one scale")
    wide = picture_of(Shown(places * [1, 300]))
    assert re.search(r"on two scales: 2 is (29|30)\d times as long$", wide.caption)
    assert np.ptp(np.flatnonzero(inked(wide.pixels).any(axis=0))) > SIZE[1] / 2
    # where one row alone makes it long, the others are no line
    assert picture_of(Shown([*places, [1e5, 0.0]])).caption.endswith("on one scale")


def test_more_coordinates_are_mentioned():
    picture = picture_of(Shown(RNG(0).normal(size=(30, 5))))
    assert picture.caption.startswith("coordinates 1 (across) and 2 (up) of 5")


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e308])
def test_no_size_of_coordinates_is_too_large(size):
    places = RNG(0).uniform(-1, 1, size=(60, 2))
    usual = picture_of(Shown(places))
    np.testing.assert_array_equal(picture_of(Shown(places * size)).pixels, usual.pixels)


def test_clusters_are_shown_along_coordinates_that_tell_them_apart():
    X = np.vstack([RNG(j).normal(size=(60, 2)) + [3.0 * j, 0] for j in range(3)])
    model = SpectralClustering(n_clusters=3, n_neighbors=15).fit(X)
    assert np.ptp(model.embedding_[:, 0]) == pytest.approx(0.0, abs=1e-9)  # one component: its axis is constant
    picture = picture_of(model)
    assert picture.caption.startswith("coordinates 2 (across) and 3 (up) of 3")
    assert [group.rows for group in picture.groups] == np.bincount(model.labels_).tolist()


def test_left_out_rows_of_a_real_map():
    X = np.vstack([RNG(0).normal(size=(60, 3)), RNG(1).normal(size=(20, 3)) + 100])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(n_neighbors=6, on_disconnected="largest").fit(X)
    assert picture_of(model).notes == ("20 rows of 80 are not placed (NaN)",)


def test_the_picture_has_words_for_those_who_do_not_see_it():
    picture = picture_of(Shown([[0.0, 1.0], [2.0, 5.0]]))
    assert picture.alt == "Shown: 2 rows; coordinate 1 from 0 to 2, coordinate 2 from 1 to 5"
