"""The negative part of the spectrum of a Gram matrix: exactly where it is cheap, else by stochastic Lanczos quadrature.

    P, N = Σ λ over the positive, Σ |λ| over the negative eigenvalues;    P − N = tr K;    mass = N / (P + N)
    2 N = tr(|K| − K) = E zᵀ(|K| − K) z over random signs z;    zᵀ f(K) z ≈ n Σ_j (e₁ᵀ s_j)² f(θ_j)

with (θ_j, s_j) the eigenpairs of the tridiagonal matrix that Lanczos makes from z. The leading eigenvectors, which are
known and positive, are taken out of z first: they would add nothing but variance. Ubaru, Chen, Saad, SIAM Journal on
Matrix Analysis and Applications 38 (2017).
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigvalsh
from scipy.special import stdtrit

from gramfold.runtime.costs import COSTS, Costs
from gramfold.spectral.pencil import mass_root
from gramfold.types import Floats, Kernel, NegativePart, Spectrum

_SEED = 20170301  # of the random signs: the same call gives the same interval
_SURE = 0.975  # quantile at the upper end of the interval, which holds the truth 95 times of 100


def negative_part(
    kernel: Kernel, spectrum: Spectrum, *, probes: int = 8, steps: int = 40, costs: Costs = COSTS
) -> NegativePart:
    """Of a Gram matrix whose leading eigenpairs are known; `probes` and `steps` are those of the quadrature."""
    root = mass_root(kernel)[:, None]
    total = float(kernel.trace())  # type: ignore[attr-defined]
    if len(root) <= costs.eigen.all_rows:
        values = eigvalsh(root * kernel.matrix() * root.T, overwrite_a=True, check_finite=False)
        below = float(np.abs(values[values < 0]).sum())
        return _part(total, min(float(values[0]), 0.0), np.full(3, below))
    known = (root * spectrum.eigenvectors)[:, spectrum.eigenvalues > 0]
    signs = np.random.default_rng(_SEED).choice([-1.0, 1.0], size=(len(root), probes))
    signs -= known @ (known.T @ signs)

    def product(block: Floats) -> Floats:
        image = root * kernel.product(root * block)
        return np.asarray(image - known @ (known.T @ image))

    lowest, found = 0.0, []
    for tridiagonal in _tridiagonals(product, signs, steps):
        nodes, vectors = np.linalg.eigh(tridiagonal)
        weights = np.square(vectors[:, 0]) * np.square(signs).sum(axis=0)[:, None]
        found.append(0.5 * (weights * (np.abs(nodes) - nodes)).sum(axis=1))  # (probes,) of N
        lowest = min(lowest, float(nodes.min()))
    half, whole = found
    # what chance leaves open, and what more steps would change: half as many show its size
    error = float(stdtrit(probes - 1, _SURE)) * whole.std(ddof=1) / np.sqrt(probes) + abs(whole.mean() - half.mean())
    below = float(whole.mean())
    return _part(total, lowest, np.array([below, max(0.0, below - error), below + error]))


def _part(total: float, lowest: float, below: Floats) -> NegativePart:
    """From N and the ends of its interval."""
    mass = [float(n / (total + 2.0 * n)) if total + 2.0 * n > 0 else 0.0 for n in below]
    return NegativePart(most_negative=lowest, mass=mass[0], interval=(mass[1], mass[2]), total=total)


def _tridiagonals(product: Callable[[Floats], Floats], start: Floats, steps: int) -> tuple[Floats, Floats]:
    """The matrices (s, ·, ·) that Lanczos makes from each of s vectors, after half of the steps and after all."""
    newest, last = start / np.linalg.norm(start, axis=0), np.zeros_like(start)
    diagonals, beside = np.zeros((2, steps, start.shape[1]))
    for step in range(steps):
        image = product(newest)
        diagonals[step] = np.einsum("ns,ns->s", newest, image)
        image -= newest * diagonals[step] + last * (beside[step - 1] if step else 0.0)
        beside[step] = np.linalg.norm(image, axis=0)
        last, newest = newest, image / np.maximum(beside[step], np.finfo(np.float64).tiny)
    whole = np.zeros((start.shape[1], steps, steps))
    along = np.arange(steps)
    whole[:, along, along] = diagonals.T
    whole[:, along[1:], along[:-1]] = whole[:, along[:-1], along[1:]] = beside[:-1].T
    return whole[:, : steps // 2, : steps // 2], whole
