"""Projective methods against scikit-learn on 100,000 rows of 50 columns, and on few rows of many columns.

Both mixtures take the same number of steps. Scikit-learn's "auto" on the wide table is randomised and proves nothing.
"""

from collections.abc import Iterator

import numpy as np
from sklearn import decomposition
from sklearn.mixture import GaussianMixture

from benchmarks.timing import Race, race
from gramfold import PCA, MixturePPCA, ProbabilisticPCA

_N, _D, _PLANES, _STEPS = 100_000, 50, 5, 10


def races() -> Iterator[Race]:
    """A map of the rows each: the peer's `fit_transform`; and its `fit` alone, which makes none."""
    X = planes()
    for count in (2, 10):
        for cls in (PCA, ProbabilisticPCA):
            yield race(
                f"{cls.__name__}({count}), {_N:,} x {_D} (peer: PCA.fit_transform)",
                lambda cls=cls, count=count: cls(count).fit(X),
                lambda count=count: decomposition.PCA(count).fit_transform(X),
                target="0.5x",
                runs=9,
            )
        yield race(
            f"ProbabilisticPCA({count}), {_N:,} x {_D} (peer: PCA.fit, no map)",
            lambda count=count: ProbabilisticPCA(count).fit(X),
            lambda count=count: decomposition.PCA(count).fit(X),
            target="0.5x",
            runs=9,
        )
    noise = np.random.default_rng(1).standard_normal((1_200, 3_968)).astype(np.float32)
    for solver in ("auto", "full"):
        yield race(
            f"PCA(10), 1,200 x 3,968 Gaussian numbers, float32 (peer: PCA.fit_transform, svd_solver={solver!r})",
            lambda: PCA(10).fit(noise),
            lambda solver=solver: decomposition.PCA(10, svd_solver=solver, random_state=0).fit_transform(noise),
            target="–" if solver == "auto" else "1x",
        )
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        yield race(
            f"MixturePPCA(5), 5 planes, {_STEPS} steps, {np.dtype(dtype).name} (peer: GaussianMixture)",
            lambda rows=rows: MixturePPCA(5, n_planes=_PLANES, n_init=1, max_iter=_STEPS, tol=0).fit(rows),
            lambda rows=rows: GaussianMixture(_PLANES, max_iter=_STEPS, tol=0, random_state=0).fit(rows),
            target="0.5x",
        )


def planes() -> np.ndarray:
    """Rows about planes of 5 dimensions that overlap, so that no mixture settles at once."""
    rng = np.random.default_rng(0)
    n = _N // _PLANES
    parts = [
        rng.standard_normal((n, 5)) @ rng.standard_normal((5, _D))
        + 0.3 * rng.standard_normal(_D)
        + 2.0 * rng.standard_normal((n, _D))
        for _ in range(_PLANES)
    ]
    return rng.permutation(np.concatenate(parts))
