"""Traces of symmetric matrices that are known by their products, with a confidence interval.

    tr A = tr QᵀAQ + E zᵀAz,    z = (I − QQᵀ) s,  s random signs;    tr AB = tr (AQ)ᵀBQ + E (Az)ᵀ(Bz)

Q is an orthonormal basis of what is large in A and B: known eigenvectors, and the images of a few random vectors. That
part is exact, and only the rest is left to chance. Meyer, Musco, Musco, Woodruff, Hutch++, SOSA 2021.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from gramfold.types import Floats

Product = Callable[[Floats], Floats]

_SURE = 0.975  # quantile at the upper end of an interval that holds the truth 95 times of 100
_SKETCH = 3  # probes for each vector whose image is in the basis


@dataclass(frozen=True, eq=False)
class SampledTraces:
    """Several traces: what is exact of each, and what each random vector found of the rest."""

    exact: Floats  # (t,)
    samples: Floats  # (probes, t)

    @property
    def values(self) -> Floats:
        """Unbiased, (t,)."""
        return np.asarray(self.exact + self.samples.mean(axis=0))

    def error(self, gradient: Floats) -> float:
        """Half of the 95% interval of a function of the traces that has this gradient (t,) at their values."""
        along = self.samples @ gradient
        return float(stdtrit(len(along) - 1, _SURE) * along.std(ddof=1) / np.sqrt(len(along)))


def sampled_trace(product: Product, n: int, known: Floats, probes: int, rng: np.random.RandomState) -> SampledTraces:
    """Of one matrix (n, n); `known` (n, q) are vectors along which it is large."""
    basis, probe = _split([product], n, known, probes, rng)
    exact = np.vdot(basis, product(basis)) if basis.shape[1] else 0.0
    return SampledTraces(np.array([exact]), np.einsum("ns,ns->s", probe, product(probe))[:, None])


def sampled_inner_products(
    first: Product, second: Product, n: int, known: Floats, probes: int, rng: np.random.RandomState
) -> SampledTraces:
    """Tr AB, tr AA and tr BB of two matrices (n, n)."""
    basis, probe = _split([first, second], n, known, probes, rng)
    a, b = first(basis), second(basis)
    u, v = first(probe), second(probe)
    return SampledTraces(
        np.array([np.vdot(a, b), np.vdot(a, a), np.vdot(b, b)]),
        np.column_stack([np.einsum("ns,ns->s", left, right) for left, right in ((u, v), (u, u), (v, v))]),
    )


def _split(
    products: Sequence[Product], n: int, known: Floats, probes: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """The basis Q of what is large, and random vectors z off it."""
    count = max(1, probes // _SKETCH)
    images = [product(_signs(n, count, rng)) for product in products]
    basis = np.linalg.qr(np.hstack([known, *(_unit(image) for image in images)]))[0]
    probe = _signs(n, probes, rng)
    probe -= basis @ (basis.T @ probe)
    return basis, probe - basis @ (basis.T @ probe)  # twice is enough


def _signs(n: int, count: int, rng: np.random.RandomState) -> Floats:
    return np.asarray(rng.choice([-1.0, 1.0], size=(n, count)))


def _unit(vectors: Floats) -> Floats:
    """Columns of length 1, or 0: the images of matrices of any size."""
    lengths = np.linalg.norm(vectors, axis=0)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))
