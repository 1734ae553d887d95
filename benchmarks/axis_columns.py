"""Which columns `loadings` names on planted maps, and how much of the axis derivatives and regression explain.

Rows have 40 columns of noise, of scales from 0.001 to 0.16; three of them follow a hidden y, on a line or along an arc.
For each method: the rank correlation of its first axis with y and, for slopes by derivative and by regression within
cells, the share of the axis explained, the share of the three columns, and whether they come first.

    python -m benchmarks.axis_columns
"""

import warnings

import numpy as np
from scipy.stats import spearmanr

import gramfold
from gramfold.diagnostics.cell_slopes import derived, regressed, spreads_of
from gramfold.diagnostics.map_regions import Cells
from gramfold.embedding.sensitivity import sensitivity_blocks

COLUMNS = [5, 17, 30]
METHODS = {
    "PCA": {},
    "ProbabilisticPCA": {},
    "FactorAnalysis": {},
    "MixturePPCA": {},
    "OrientedPCA": {},
    "ProjectionPursuit": {},
    "KernelPCA": {},
    "NystromEmbedding": {"landmarks": 100},
    "ClassicalMDS": {},
    "LandmarkMDS": {},
    "Isomap": {"n_neighbors": 10},
    "LandmarkIsomap": {"n_neighbors": 10},
    "KernelIsomap": {"n_neighbors": 10},
    "LLE": {"n_neighbors": 15},
    "ModifiedLLE": {"n_neighbors": 15},
    "HessianLLE": {"n_neighbors": 15},
    "LTSA": {"n_neighbors": 15},
    "LaplacianEigenmaps": {"n_neighbors": 10},
    "CommuteTime": {"n_neighbors": 10},
    "HeatKernel": {"n_neighbors": 10},
    "DiffusionMap": {"n_neighbors": 10},
    "KernelEigenmaps": {},
    "LPP": {},
}


def planted(kind: str, n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and the y that three of their columns follow."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 40)) * 10.0 ** rng.uniform(-3, -0.8, 40)
    y = rng.random(n)
    if kind == "line":
        X[:, COLUMNS] = np.outer(3 * y, [1, 0.8, -0.6]) + 0.15 * rng.normal(size=(n, 3))
    else:
        angle = 1.5 * np.pi * y
        arc = np.column_stack([np.cos(angle), np.sin(angle), 0.5 * angle])
        X[:, COLUMNS] = 1.5 * arc + 0.05 * rng.normal(size=(n, 3))
    return X, y


def main() -> None:
    """Print a table."""
    warnings.simplefilter("ignore")
    print(f"{'':22}{'':6}{'y':>6}   derivative                regression")
    for kind in ("line", "arc"):
        X, y = planted(kind)
        spreads = spreads_of(X)
        for name, parameters in METHODS.items():
            model = getattr(gramfold, name)(**parameters).fit(X)
            places = model.embedding_
            size = places.std(axis=0)
            Y = (places - places.mean(axis=0)) / size
            cell = Cells.of(Y, X.shape[1], 0).cell
            blocks = ((some, s * spreads / size[:, None]) for some, s in sensitivity_blocks(model.model_, X, None))
            line = f"{name:22}{kind:6}{abs(spearmanr(places[:, 0], y)[0]):6.2f}"
            for slopes in (derived(X, Y, spreads, cell, blocks), regressed(X, Y, spreads, cell)):
                squares = np.average(slopes.values[:, 0] ** 2, axis=0, weights=slopes.rows)
                first = set(np.argsort(-squares)[:3]) == set(COLUMNS)
                share = squares[COLUMNS].sum() / squares.sum()
                explained = slopes.explained_by_all[0]
                line += f"   {explained:4.0%} explained, {share:4.0%} {'first' if first else '     '}"
            print(line)


if __name__ == "__main__":
    main()
