"""Whoever solves, the result is right, its residuals are the true ones, and a wrong one is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from gramfold import LLE, Isomap
from gramfold.datasets import make_s_curve
from gramfold.errors import NotConvergedError
from gramfold.graph.laplacian import laplacian
from gramfold.kernels.gram import centered_gram
from gramfold.kernels.penalty import PenaltyKernel
from gramfold.runtime.costs import Costs, EigenCosts
from gramfold.spectral import krylov, policy, shift_invert, sparse
from gramfold.spectral.negative import negative_part
from gramfold.spectral.policy import leading_spectrum
from gramfold.spectral.sparse import affordable_factor
from gramfold.types import Spectrum
from tests.spectral.examples import (
    angle,
    cycle,
    from_edges,
    path,
    path_eigenvalues,
    penalty_kernel,
    sheet_penalty,
    star,
    torus,
    torus_eigenvalues,
    two_clusters,
)


def _fails(*_: object, **__: object) -> None:
    raise NotConvergedError("too close together")


PENALTY_SOLVERS = {
    "dense": EigenCosts(dense_rows=10_000),
    "full factor": EigenCosts(dense_rows=0, small_rows=0, full_share=0.0),
    "shift-invert": EigenCosts(dense_rows=0, small_rows=0, full_share=2.0),
    "shift-invert, SuperLU's order": EigenCosts(dense_rows=0, small_rows=10_000, small_entries=10_000, full_share=2.0),
    "shift-invert, our factor": EigenCosts(dense_rows=0, small_rows=0, full_share=2.0, superlu_operations=0),
    # too slow, unless nothing else is left
    "products": EigenCosts(dense_rows=0, small_rows=0, full_share=2.0, factored_pair=1e9),
}
NAMES = {
    "dense": "dense",
    "full factor": "shift-invert (LAPACK)",
    "shift-invert": "shift-invert",
    "shift-invert, SuperLU's order": "shift-invert",
    "shift-invert, our factor": "shift-invert",
    "products": "Chebyshev",
}


def choosing(solver: str) -> Costs:
    return Costs(eigen=PENALTY_SOLVERS[solver])


NEVER_DENSE = Costs(eigen=EigenCosts(dense_rows=0))


def indefinite(n: int, seed: int = 0) -> np.ndarray:
    """Values that are not those of any inner product: minus half of squared random dissimilarities."""
    D = np.random.default_rng(seed).random((n, n)) + 1
    X = np.random.default_rng(seed).standard_normal((n, 3))
    D = D + D.T + 2 * np.linalg.norm(X[:, None] - X[None], axis=-1)
    np.fill_diagonal(D, 0)
    return D**2


def check_penalty(spectrum: Spectrum, P: csr_array, mass: np.ndarray) -> None:
    V, mu = spectrum.eigenvectors, spectrum.penalties
    assert mu is not None
    np.testing.assert_allclose(V.T @ (mass[:, None] * V), np.eye(len(mu)), atol=1e-9)
    # the residuals in the symmetric form, computed anew
    root = np.sqrt(mass)[:, None]
    misfit = np.linalg.norm((P @ V - mass[:, None] * V * mu) / root, axis=0)
    np.testing.assert_allclose(spectrum.residuals, misfit / mu, rtol=0.5, atol=1e-9)
    assert (misfit <= np.maximum(1e-6 * mu, 1e-13)).all()


@pytest.mark.parametrize("solver", PENALTY_SOLVERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_penalties_against_numpy(solver: str, weighted: bool) -> None:
    P = two_clusters(60, 0.5)
    mass = np.random.default_rng(0).lognormal(size=120) if weighted else np.ones(120)
    spectrum = leading_spectrum(penalty_kernel(P, mass), 4, costs=choosing(solver))
    values, vectors = eigh(P.toarray(), np.diag(mass))
    np.testing.assert_allclose(spectrum.penalties, values[1:5], rtol=1e-8)
    np.testing.assert_allclose(spectrum.eigenvalues, 1 / values[1:5], rtol=1e-8)
    for k in range(4):
        assert angle(spectrum.eigenvectors[:, [k]], vectors[:, [k + 1]]) < 1e-6
    check_penalty(spectrum, P, mass)
    assert spectrum.solver.startswith(NAMES[solver])


@pytest.mark.parametrize("solver", ["dense", "shift-invert", "shift-invert, our factor"])
def test_path_of_2000(solver: str) -> None:
    n = 700 if solver == "dense" else 2000
    spectrum = leading_spectrum(penalty_kernel(path(n)), 4, costs=choosing(solver))
    np.testing.assert_allclose(spectrum.penalties, path_eigenvalues(n, 4), rtol=1e-8)
    check_penalty(spectrum, path(n), np.ones(n))


@pytest.mark.parametrize("solver", PENALTY_SOLVERS)
@pytest.mark.parametrize(
    ("P", "expected"),
    [
        (cycle(300), np.repeat(4 * np.sin(np.pi * np.array([1, 2]) / 300) ** 2, 2)),
        (star(300), np.ones(4)),
        (torus(20, 20), torus_eigenvalues(20, 20, 4)),
    ],
)
def test_repeated_eigenvalues(solver: str, P: csr_array, expected: np.ndarray) -> None:
    spectrum = leading_spectrum(penalty_kernel(P), 4, costs=choosing(solver))
    np.testing.assert_allclose(spectrum.penalties, expected, rtol=1e-7)
    check_penalty(spectrum, P, np.ones(P.shape[0]))


@pytest.mark.parametrize("solver", PENALTY_SOLVERS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_a_weak_bridge(solver: str, seed: int) -> None:
    spectrum = leading_spectrum(penalty_kernel(two_clusters(200, 1e-9, seed)), 2, costs=choosing(solver))
    sides = np.repeat([1.0, -1.0], 200)[:, None]
    assert angle(spectrum.eigenvectors[:, :1], sides) < 1e-6
    assert spectrum.penalties is not None
    assert spectrum.penalties[0] == pytest.approx(1e-11, rel=1e-2)


@pytest.mark.parametrize("solver", PENALTY_SOLVERS)
def test_tiny_eigenvalues_as_in_local_linear_embedding(solver: str) -> None:
    side = 24
    across, along = (4 * np.sin(np.pi * np.arange(m) / (2 * m)) ** 2 for m in (side, side + 1))
    expected = np.sort((across[:, None] + along).ravel() ** 2)[1:4]
    spectrum = leading_spectrum(penalty_kernel(sheet_penalty(side)), 3, costs=choosing(solver))
    np.testing.assert_allclose(spectrum.penalties, expected, rtol=1e-7)


def test_products_that_do_not_converge_give_way_to_the_factor() -> None:
    spectrum = leading_spectrum(penalty_kernel(path(3000)), 2, costs=choosing("products"))
    assert spectrum.solver.startswith("shift-invert")
    np.testing.assert_allclose(spectrum.penalties, path_eigenvalues(3000, 2), rtol=1e-7)


def full(n: int) -> csr_array:
    """The Laplacian of a graph in which everybody is joined to everybody."""
    places = np.random.default_rng(0).random((n, 2))
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    return laplacian(csr_array(np.exp(-0.5 * (distances / 0.2) ** 2) - np.eye(n)))


def test_a_full_graph_is_not_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    # to order and factor it as a sparse one takes longer, and far longer where that must first be compiled
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(sparse, "affordable_factor", never)
    monkeypatch.setattr("gramfold.direct.factor.Symbolic.of", never)
    P = full(1010)
    kernel = penalty_kernel(P)
    spectrum = leading_spectrum(kernel, 5)
    assert spectrum.solver == "shift-invert (LAPACK)"
    np.testing.assert_allclose(spectrum.penalties, np.linalg.eigvalsh(P.toarray())[1:6], rtol=1e-8)
    check_penalty(spectrum, P, np.ones(1010))
    column = kernel.columns(np.array([3]))
    np.testing.assert_allclose(P @ column, np.eye(1010)[:, [3]] - 1 / 1010, atol=1e-8)


def test_a_full_graph_whose_factor_is_too_large_is_solved_by_products(monkeypatch: pytest.MonkeyPatch) -> None:
    P = full(1010)
    expected = leading_spectrum(penalty_kernel(P), 3)
    monkeypatch.setattr(sparse, "available_memory", lambda: 1e6)
    found = leading_spectrum(penalty_kernel(P), 3)
    assert found.solver == "Chebyshev filter"
    np.testing.assert_allclose(found.penalties, expected.penalties, rtol=1e-8)


def test_a_full_graph_with_very_many_equal_eigenvalues_is_solved_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "smallest_eigenpairs", _fails)
    found = leading_spectrum(penalty_kernel(full(1010)), 3)
    assert found.solver == "dense (LAPACK)"
    check_penalty(found, full(1010), np.ones(1010))


def rooted(n: int) -> PenaltyKernel:
    """LLE's kernel, whose penalty has a known root."""
    return LLE(2, 8).fit(make_s_curve(n, random_state=0).points).kernel_


def test_a_known_root_is_solved_through() -> None:
    kernel = rooted(300)
    dense = leading_spectrum(kernel, 3)
    found = leading_spectrum(kernel, 3, costs=NEVER_DENSE)
    assert found.solver == "shift-invert of a root (SuperLU, ARPACK)"
    np.testing.assert_allclose(found.penalties, dense.penalties, rtol=1e-5)
    assert angle(found.eigenvectors, dense.eigenvectors) < 1e-6


def test_a_root_that_fails_gives_way_to_the_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    def rough(root: csr_array, null: np.ndarray, count: int, order: object) -> tuple[np.ndarray, np.ndarray]:
        vectors = np.random.default_rng(0).standard_normal((root.shape[0], count))
        return np.zeros(count), np.linalg.qr(vectors)[0]

    kernel = rooted(300)
    dense = leading_spectrum(kernel, 2)
    monkeypatch.setattr(sparse, "smallest_by_root", rough)
    found = leading_spectrum(kernel, 2, costs=NEVER_DENSE)
    assert found.solver == "shift-invert"
    assert angle(found.eigenvectors, dense.eigenvectors) < 1e-6


def test_a_factor_is_afforded_where_it_is_quick_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 1500, (2, 9000))
    tangle = from_edges(i[i != j], j[i != j], 1500)
    assert affordable_factor(path(300), 1e-6) is not None
    assert affordable_factor(tangle, 1e-3) is None
    assert affordable_factor(tangle, 10.0) is not None
    monkeypatch.setattr(sparse, "available_memory", lambda: 1e6)
    assert affordable_factor(tangle, 10.0) is None
    few_products = Costs(eigen=replace(PENALTY_SOLVERS["products"], products=50))
    with pytest.raises(NotConvergedError, match="factor does not fit into memory: use fewer"):
        leading_spectrum(penalty_kernel(tangle), 30, costs=few_products)


def test_an_earlier_solution_is_a_better_start(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    plain = shift_invert._without

    def counted(*arguments: object) -> object:
        solve = plain(*arguments)  # type: ignore[arg-type]
        return lambda v: asked.append(1) or solve(v)

    monkeypatch.setattr(shift_invert, "_without", counted)
    kernel = penalty_kernel(sheet_penalty(40))
    cold = leading_spectrum(kernel, 4)
    count = len(asked)
    nearly = cold.eigenvectors + 1e-7 * np.random.default_rng(0).standard_normal(cold.eigenvectors.shape)
    warm = leading_spectrum(kernel, 4, start=nearly)
    assert len(asked) - count < count
    np.testing.assert_allclose(warm.penalties, cold.penalties, rtol=1e-9)


def test_the_normalised_form_of_uneven_degrees() -> None:
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 1010, (2, 3000))
    W = csr_array((rng.lognormal(0, 2, 3000), (i, j)), shape=(1010, 1010))
    W = csr_array(W + W.T + diags_array([1e-3, 1e-3], offsets=[1, -1], shape=(1010, 1010)))
    degree = np.asarray(W.sum(axis=1))
    spectrum = leading_spectrum(penalty_kernel(laplacian(W), degree), 3)
    expected = eigh(laplacian(W).toarray(), np.diag(degree), eigvals_only=True, subset_by_index=(1, 3))
    np.testing.assert_allclose(spectrum.penalties, expected, rtol=1e-8)
    check_penalty(spectrum, laplacian(W), degree)


@pytest.mark.parametrize(("n", "dense_gram_rows"), [(300, 1000), (300, 0), (1010, 1000)])
@pytest.mark.parametrize("weighted", [False, True])
def test_grams_with_a_negative_part(n: int, dense_gram_rows: int, weighted: bool) -> None:
    array = indefinite(n)
    mass = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else np.ones(n)
    kernel = centered_gram(array, scale=-0.5, mass=mass)
    root = np.sqrt(mass)
    every = np.linalg.eigvalsh(kernel.matrix() * np.outer(root, root))
    spectrum = leading_spectrum(kernel, 3, costs=Costs(eigen=EigenCosts(dense_gram_rows=dense_gram_rows)))
    assert spectrum.solver == ("dense (LAPACK)" if n <= dense_gram_rows else "block Lanczos")
    np.testing.assert_allclose(spectrum.eigenvalues, every[::-1][:3], rtol=1e-10)
    assert every[0] < -1
    exact = negative_part(kernel, spectrum)
    assert exact.exact
    assert exact.most_negative == pytest.approx(every[0], rel=1e-12)
    assert exact.mass == pytest.approx(-every[every < 0].sum() / np.abs(every).sum(), rel=1e-10)
    V, values = spectrum.eigenvectors, spectrum.eigenvalues
    np.testing.assert_allclose(V.T @ (mass[:, None] * V), np.eye(3), atol=1e-10)
    misfit = np.linalg.norm(root[:, None] * (kernel.product(mass[:, None] * V) - V * values), axis=0)
    np.testing.assert_allclose(spectrum.residuals, misfit / values, rtol=0.5, atol=1e-13)
    assert spectrum.total == pytest.approx(mass @ np.diag(kernel.matrix()), rel=1e-10)


@pytest.mark.parametrize("n", [100, 1010])
def test_a_positive_gram_has_no_negative_part(n: int) -> None:
    X = np.random.default_rng(0).standard_normal((n, 5))
    spectrum = leading_spectrum(centered_gram(X @ X.T), 3)
    X -= X.mean(axis=0)
    np.testing.assert_allclose(spectrum.eigenvalues, np.linalg.svd(X, compute_uv=False)[:3] ** 2, rtol=1e-10)
    found = negative_part(centered_gram(X @ X.T), spectrum)
    assert found.most_negative == pytest.approx(0.0, abs=1e-9)
    assert found.mass < 1e-12


@pytest.mark.parametrize("n", [200, 1010])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_a_gram_of_low_rank_is_no_failure(n: int, offset: float) -> None:
    # far from the origin B is 1e8 times its centred K: the directions beyond the rank hold its rounding only
    X = np.random.default_rng(0).standard_normal((n, 2)) + offset
    spectrum = leading_spectrum(centered_gram(X @ X.T), 4)
    expected = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    np.testing.assert_allclose(spectrum.eigenvalues[:2], expected, rtol=1e-6)
    assert (np.abs(spectrum.eigenvalues[2:]) < (1e-12 if offset == 0 else 1e-300) * expected[0]).all()


def test_equal_rows_are_no_failure() -> None:
    for n in (50, 1010):
        spectrum = leading_spectrum(centered_gram(np.ones((n, n))), 2)
        np.testing.assert_allclose(spectrum.eigenvalues, 0.0, atol=1e-10)


def test_float32_storage_is_solved_in_float64() -> None:
    array = indefinite(1010).astype(np.float32)
    spectrum = leading_spectrum(centered_gram(array, scale=-0.5), 2)
    expected = leading_spectrum(centered_gram(array.astype(np.float64), scale=-0.5), 2)
    np.testing.assert_allclose(spectrum.eigenvalues, expected.eigenvalues, rtol=1e-12)
    np.testing.assert_allclose(spectrum.eigenvectors, expected.eigenvectors, atol=1e-9)


def perturbed(solve: object) -> object:
    def wrong(*arguments: object, **options: object) -> tuple[object, ...]:
        values, vectors, *rest = solve(*arguments, **options)  # type: ignore[operator]
        noise = np.random.default_rng(0).standard_normal(vectors.shape)
        return values, vectors + 1e-4 * noise / np.linalg.norm(noise, axis=0), *rest

    return wrong


@pytest.mark.parametrize(
    ("n", "name", "kind"),
    [
        (100, "eigenpairs_between", "gram"),
        (1010, "block_lanczos largest_of_any_sign", "gram"),  # the second is tried where the first fails
        (100, "symmetric_eigenpairs", "penalty"),
        (1010, "smallest_eigenpairs", "penalty"),
    ],
)
def test_a_wrong_solution_is_refused(n: int, name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = penalty_kernel(path(n)) if kind == "penalty" else centered_gram(indefinite(n), scale=-0.5)
    leading_spectrum(kernel, 2)
    for one in name.split():
        room = policy if hasattr(policy, one) else sparse
        monkeypatch.setattr(room, one, perturbed(getattr(room, one)))
    with pytest.raises(
        NotConvergedError, match=r"left a residual of .* on eigenvalue 1 .* cannot be trusted: use fewer"
    ):
        leading_spectrum(kernel, 2)


def test_a_coordinate_far_smaller_than_the_first_is_solved() -> None:
    """An unrolled curve: its second eigenvalue is 1e-9 of the first, which block Lanczos does not resolve."""
    t = np.random.default_rng(1).random(800)
    model = Isomap(n_neighbors=10).fit(np.column_stack([t, t**2]))
    values = model.spectrum_.eigenvalues
    assert 0 < values[1] < 1e-6 * values[0]
    assert model.spectrum_.residuals.max() < 1e-6
    assert abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.98


def test_a_slightly_wrong_vector_of_a_long_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # its residual of 1e-9 is small beside ‖L‖ = 4 and large beside the eigenvalue of 1e-6
    n = 3000
    plain = sparse.smallest_eigenpairs

    def mixed(*arguments: object, **options: object) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = plain(*arguments, **options)  # type: ignore[arg-type]
        mix = np.array([[np.cos(1e-3), -np.sin(1e-3)], [np.sin(1e-3), np.cos(1e-3)]])
        return values, vectors @ mix

    monkeypatch.setattr(sparse, "smallest_eigenpairs", mixed)
    with pytest.raises(NotConvergedError, match="cannot be trusted"):
        leading_spectrum(penalty_kernel(path(n)), 2)


def test_a_residual_is_judged_by_its_own_eigenvalue(monkeypatch: pytest.MonkeyPatch) -> None:
    # 1e-9 is nothing beside the second eigenvalue of 5, and much beside the first of 1e-11
    plain = policy.symmetric_eigenpairs

    def nudged(*arguments: object) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = plain(*arguments)
        vectors[:, 0] += 1e-9 * vectors[:, 1]
        return values, vectors

    monkeypatch.setattr(policy, "symmetric_eigenpairs", nudged)
    with pytest.raises(NotConvergedError, match="on eigenvalue 1 "):
        leading_spectrum(penalty_kernel(two_clusters(200, 1e-9)), 2, costs=choosing("dense"))


def test_where_blocks_do_not_converge_restarts_do(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = centered_gram(indefinite(1010), scale=-0.5)
    blocks = leading_spectrum(kernel, 3)
    assert blocks.solver == "block Lanczos"
    monkeypatch.setattr(policy, "block_lanczos", _fails)
    restarts = leading_spectrum(kernel, 3)
    assert restarts.solver == "Lanczos (ARPACK)"
    np.testing.assert_allclose(restarts.eigenvalues, blocks.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(restarts.eigenvectors, blocks.eigenvectors, atol=1e-8)


def test_arpack_failing_is_told_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise krylov.ArpackError(-9)

    monkeypatch.setattr(krylov, "eigsh", fails)
    monkeypatch.setattr(policy, "block_lanczos", _fails)
    with pytest.raises(NotConvergedError, match="Lanczos could not start or broke down"):
        leading_spectrum(centered_gram(indefinite(1010), scale=-0.5), 2)


@pytest.mark.parametrize("n", [200, 1010])
def test_signs_are_canonical(n: int) -> None:
    for kernel in (penalty_kernel(path(n)), centered_gram(indefinite(n), scale=-0.5)):
        root = np.sqrt(kernel.mass)[:, None]
        vectors = leading_spectrum(kernel, 3).eigenvectors * root
        first = (np.abs(vectors) >= (1 - 1e-6) * np.abs(vectors).max(axis=0)).argmax(axis=0)
        assert (vectors[first, np.arange(3)] > 0).all()
