import numpy as np

from gramfold.extension.placement import Part
from gramfold.extension.side_by_side import side_by_side


def piece(width, n=5):
    line = np.linspace(-width / 2, width / 2, n)
    return Part(None, None, None, np.column_stack([line, line**2]), np.zeros(2))


def spans(laid):
    return [(p.coordinates[:, 0] + p.offset[0]).min() for p in laid], [
        (p.coordinates[:, 0] + p.offset[0]).max() for p in laid
    ]


def test_pieces_do_not_touch_and_keep_their_shape():
    pieces = [piece(10.0), piece(4.0), piece(0.5)]
    laid = side_by_side(pieces)
    left, right = spans(laid)
    assert left[0] == 0.0
    np.testing.assert_allclose(np.subtract(left[1:], right[:-1]), 5.0)  # half of the widest
    for before, after in zip(pieces, laid, strict=True):
        assert after.coordinates is before.coordinates
        assert after.offset[1] == 0.0


def test_single_points_are_laid_apart_too():
    left, right = spans(side_by_side([piece(0.0, 1), piece(0.0, 1)]))
    assert right[0] < left[1]


def test_one_piece_is_left_where_it_is():
    one = piece(3.0)
    assert side_by_side([one])[0] is one
