from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from gramfold.datasets import make_swiss_roll
from gramfold.kernels.basis import (
    Guard,
    LinearBasis,
    MixtureBasis,
    Reweighted,
    WithConstant,
    constant_of,
    in_line,
    lower_ends,
    nearest_centers,
    principal_axes_of,
    seen_axes,
    spacing_width,
)


@pytest.fixture
def rows():
    return make_swiss_roll(300, random_state=0).points


@pytest.fixture
def mixture(rows):
    return MixtureBasis(rows[::10], 2.0)


def test_responsibilities_are_a_softmax_of_squared_distances(rows, mixture):
    squares = np.square(rows[:, None] - mixture.centers).sum(axis=2)
    shares = mixture.responsibilities(rows)
    np.testing.assert_allclose(shares.toarray(), softmax(-squares / 8, axis=1), atol=3e-8)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)
    assert shares.nnz < 0.7 * rows.shape[0] * len(mixture.centers)


@pytest.mark.parametrize("width", [1e-320, 1e-160, 1e160, 1e300])
def test_a_width_whose_square_is_no_number_leaves_the_nearest_kernel_or_all_alike(rows, mixture, width):
    shares = MixtureBasis(mixture.centers, width).responsibilities(rows[:50]).toarray()
    squares = np.square(rows[:50, None] - mixture.centers).sum(axis=2)
    expected = np.eye(30)[squares.argmin(axis=1)] if width < 1 else np.full((50, 30), 1 / 30)
    np.testing.assert_allclose(shares, expected, rtol=1e-14)


def test_functions_are_what_the_formula_says(rows, mixture):
    z = mixture(rows[:20]).toarray().reshape(20, 30, 4)
    shares = mixture.responsibilities(rows[:20]).toarray()
    np.testing.assert_allclose(z[:, :, 3], shares)
    np.testing.assert_allclose(z[:, :, :3], shares[:, :, None] * (rows[:20, None] - mixture.centers), atol=1e-12)


def test_an_affine_function_is_a_combination(rows, mixture):
    a, b = np.array([0.3, -1.0, 2.0]), 5.0
    v = np.column_stack([np.tile(a, (30, 1)), mixture.centers @ a + b]).ravel()
    np.testing.assert_allclose(mixture(rows) @ v, rows @ a + b, rtol=1e-12)
    np.testing.assert_allclose(mixture(rows) @ constant_of(mixture), 1, rtol=1e-14)


def test_far_away_the_nearest_kernel_goes_on_alone(mixture):
    far = 1e4 * np.array([[1.0, 0.2, -0.7]])
    nearest = np.argmin(np.linalg.norm(mixture.centers - far, axis=1))
    assert mixture.responsibilities(far).toarray()[0, nearest] == 1


def test_a_place_far_from_the_origin_costs_few_digits(rows, mixture):
    moved = MixtureBasis(mixture.centers + 1e6, mixture.width)
    np.testing.assert_allclose(moved(rows + 1e6).toarray(), mixture(rows).toarray(), atol=1e-7)


def test_principal_axes_of_a_plane_are_all_that_it_needs():
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.standard_normal((7, 2)))[0]
    rows = rng.standard_normal((400, 2)) @ plane.T + 3.0
    centers = rows[:12]
    owner = nearest_centers(rows, np.arange(400), centers)
    np.testing.assert_array_equal(owner, [np.argmin(np.linalg.norm(centers - x, axis=1)) for x in rows])
    basis = MixtureBasis(centers, 0.5, principal_axes_of(rows, np.arange(400), centers, owner, 2))
    a = rng.standard_normal(7)
    v = np.hstack([np.einsum("kdl,d->kl", basis.axes, a), (centers @ a)[:, None]]).ravel()
    np.testing.assert_allclose(basis(rows) @ v, rows @ a, atol=1e-10)


def test_a_kernel_of_one_row_has_no_axis():
    rows = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [50, 50, 50]])
    centers = rows[[0, 3]]
    axes = principal_axes_of(rows, np.arange(4), centers, np.array([0, 0, 0, 1]), 2)
    assert not axes[1].any()
    np.testing.assert_allclose(axes[0].T @ axes[0], np.eye(2), atol=1e-12)


def test_a_constant_can_be_appended_or_divided_in(rows, mixture):
    linear = LinearBasis(np.ones(3))
    for basis in (linear, mixture):
        z = basis(rows)
        dense = z if isinstance(z, np.ndarray) else z.toarray()
        extended = WithConstant(basis)(rows)
        extended = extended if isinstance(extended, np.ndarray) else extended.toarray()
        np.testing.assert_array_equal(extended, np.hstack([dense, np.ones((300, 1))]))
        first = np.random.default_rng(0).random(basis.size)
        np.testing.assert_allclose(Reweighted(basis, first)(rows) @ first, 1, rtol=1e-12)
    assert constant_of(linear) is None


def test_the_constant_is_known_wherever_it_was_put(rows, mixture):
    linear = LinearBasis(np.full(3, -30.0))
    first = np.array([0.2, 0.1, 0.3])
    for basis in (mixture, WithConstant(linear), WithConstant(mixture), Reweighted(linear, first)):
        np.testing.assert_allclose(basis(rows) @ constant_of(basis), 1, rtol=1e-12)


def test_a_guarded_divisor_is_never_near_zero(rows):
    linear, first = LinearBasis(np.full(3, -30.0)), np.array([0.2, 0.1, 0.3])
    z = linear(rows)
    guard = Guard(np.sqrt(np.square(z).mean(axis=0)), 0.0)
    guard = replace(guard, least=0.5 * float((z @ first / guard.sizes(z)).min()))
    guarded = Reweighted(linear, first, guard)
    np.testing.assert_array_equal(guarded(rows), Reweighted(linear, first)(rows))  # of the fit none is changed
    assert not guarded.unlike(rows).any()
    # nor is any multiple of them
    np.testing.assert_allclose(guarded(1e-6 * z - 30.0), guarded(rows), rtol=1e-9)
    across = np.array([[3.0, 0.0, -2.0], [0.0, 0.0, 0.0], [-1.0, -1.0, -1.0]])  # u = 0, z = 0, u < 0
    assert guarded.unlike(across - 30.0).all()
    divided = guarded(across - 30.0)
    assert not divided[1].any()
    np.testing.assert_allclose(guard.sizes(divided[[0, 2]]), 1 / guard.least)  # as large as any quotient is


def test_width_is_a_quarter_of_the_spacing():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    assert spacing_width(3 * grid) == pytest.approx(0.75)
    assert spacing_width(grid[:1]) == 1


def test_centres_are_put_in_line_along_their_longest_direction():
    assert in_line(np.array([[0.0, 5], [0, 1], [0.1, 3]])).tolist() in ([1, 2, 0], [0, 2, 1])


# --- what a kernel has seen


def pictures(value=0.0):
    """Rows of three columns in two groups far apart; in the first, the last column has one value."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 3))
    rows[:30, 2] = value
    rows[30:, 0] += 20.0
    return rows


def test_kernels_that_see_all_directions_are_left_alone(rows, mixture):
    assert seen_axes(mixture, rows, np.arange(300)) is mixture
    owner = nearest_centers(rows, np.arange(300), mixture.centers)
    local = MixtureBasis(mixture.centers, 2.0, principal_axes_of(rows, np.arange(300), mixture.centers, owner, 2))
    assert seen_axes(local, rows, np.arange(300)) is local


@pytest.mark.parametrize("value", [0.0, 0.1, 1e5 / 3])  # a mean of equal values may be off by rounding
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_kernel_is_blind_to_a_column_in_which_its_rows_do_not_differ(value, dtype):
    rows = pictures(value).astype(dtype)
    centers = np.stack([rows[:30].mean(axis=0), rows[30:].mean(axis=0)]).astype(np.float64)
    basis = seen_axes(MixtureBasis(centers, 1.0), rows, np.arange(60))
    new = rows.astype(np.float64) + [0, 0, 1.0]
    before, after = basis(rows.astype(np.float64)).toarray(), basis(new).toarray()
    scale = np.finfo(dtype).eps * 1e3
    np.testing.assert_allclose(after[:30], before[:30], atol=scale * np.abs(before[:30]).max())
    assert np.abs(after[30:] - before[30:]).max() > 0.5
    # all that its rows do differ in is still there, and the other kernel is as it was
    assert np.linalg.matrix_rank(before[:30, :3] - before[:30, :3].mean(axis=0), tol=1e-3) == 2
    np.testing.assert_array_equal(basis.axes[1], np.eye(3))


@pytest.mark.parametrize(("first", "share", "directions"), [(16.0, 0.01, 2), (11.0, 0.31, 3)])
def test_a_row_of_which_a_kernel_has_a_small_share_gives_it_no_direction(first, share, directions):
    rows = pictures()
    rows[30] = [first, 0.0, 5.0]  # between the groups, and off the plane of the first
    mixture = MixtureBasis(np.array([[0.0, 0, 0], [20, 0, 0]]), 5.0)
    assert mixture.responsibilities(rows[30:31]).toarray()[0, 0] == pytest.approx(share, abs=0.005)
    basis = seen_axes(mixture, rows, np.arange(60))
    assert np.linalg.matrix_rank(basis.local(rows, 0) - basis.local(rows[:1], 0)) == directions


def test_ends_are_those_of_the_rows_with_a_share(rows, mixture):
    shares = mixture.responsibilities(rows)
    ends = np.full((30, 3), np.inf)
    lower_ends(ends, shares[:100], rows[:100])
    lower_ends(ends, shares[100:], rows[100:])
    expected = [rows[shares.toarray()[:, k] > 0].min(axis=0) for k in range(30)]
    np.testing.assert_array_equal(ends, expected)
