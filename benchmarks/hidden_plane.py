"""A plane that is not Gaussian among 50 dimensions: `python -m benchmarks.hidden_plane`.

Angles are the larger principal angle between the map and the rows' places in the true plane; below 30° it is found.
"""

import warnings
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import subspace_angles
from sklearn.decomposition import FastICA

from gramfold import ProjectionPursuit
from gramfold.methods.projection_pursuit.projection_index import make_index

_DIMENSIONS, _SEEDS, _FOUND = 50, range(5), 30.0
_RACES = [
    ("negentropy", shape, n) for n in (2000, 5000) for shape in ("ring", "clusters", "square", "tails")
] + [
    ("kurtosis", "ring", 10_000),
    ("kurtosis", "tails", 10_000),
    ("friedman-tukey", "ring", 2000),
    ("friedman-tukey", "clusters", 5000),
    ("FastICA", "ring", 5000),
    ("FastICA", "clusters", 5000),
    ("FastICA", "square", 5000),
    ("FastICA", "tails", 5000),
]  # fmt: skip


def rows(shape: str, n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and their places in the plane, both of variance 1; no rotation is needed, for whitening undoes it."""
    rng = np.random.default_rng(seed)
    if shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        plane = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.07 * rng.standard_normal((n, 2))
    elif shape == "clusters":
        centres = np.array([[2.0, 0], [-1, 3**0.5], [-1, -(3**0.5)]])
        plane = centres[rng.integers(0, 3, n)] + 0.4 * rng.standard_normal((n, 2))
    else:
        plane = rng.uniform(-1, 1, (n, 2)) if shape == "square" else rng.laplace(size=(n, 2))
    plane = (plane - plane.mean(axis=0)) / plane.std(axis=0)
    return np.hstack([plane, rng.standard_normal((n, _DIMENSIONS - 2))]), plane


def found(index: str, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The map: two directions of the pursuit, or the two least Gaussian of all that FastICA unmixes."""
    if index != "FastICA":
        return np.asarray(ProjectionPursuit(2, index=index).fit_transform(X))
    ica = FastICA(_DIMENSIONS, algorithm="deflation", fun="exp", whiten="unit-variance", random_state=0)
    unmixed = ica.fit_transform(X)
    judge = make_index("negentropy", 1.0)
    values = [judge(unmixed, unit).value for unit in np.eye(_DIMENSIONS)]
    return np.asarray(unmixed[:, np.argsort(values)[-2:]])


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| index | shape | rows | found | degrees | seconds |\n|---|---|---|---|---|---|")
    for index, shape, n in _RACES:
        angles, started = [], perf_counter()
        for seed in _SEEDS:
            X, plane = rows(shape, n, seed)
            angles.append(float(np.degrees(subspace_angles(found(index, X), plane)[0])))
        spent = (perf_counter() - started) / len(_SEEDS)
        good = [angle for angle in angles if angle < _FOUND]
        worst = f"{max(good):.1f}" if good else "–"
        print(f"| {index} | {shape} | {n:,} | {len(good)} of {len(angles)} | {worst} | {spent:.1f} |", flush=True)


if __name__ == "__main__":
    main()
