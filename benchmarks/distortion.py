"""How far from the best embedding the four approximations are, on random graphs: `python -m benchmarks.distortion`.

Brand, IJCAI 2003, figure 1: graphs with random edge weights, random vectors z for the vertices, and an embedding that
must be linear in z. Distortion is tr(Yᵀ L Y) = Σ w_ij |y_i − y_j|²/2, over that of the best embedding of the graph, the
leading eigenvectors. Coordinates are brought to the same size in one of two ways:

    scaled   each to yᵀ D y = 1, as it is (the paper's words: "when scaled to equal norm")
    judged   first shifted to the mean 0 and made D-orthonormal, as the best embedding is: what a constant hidden in the
             coordinates, or two coordinates alike, had gained is taken away again

Columns of z are uniform on [0, 1]: the leading combination then has one sign, and may be divided by.
"""

import argparse
import warnings

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from gramfold.kernels.basis import LinearBasis
from gramfold.kernels.transformational import Problem, Vertices, transformational_map

FORMS = ("reweighted", "affine", "stochastic", "raw")


def distortions(n: int, r: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Of one random graph: (approximation, way of scaling)."""
    upper = np.triu(rng.random((n, n)), 1)
    W = upper + upper.T
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    best = eigh(L, np.diag(degrees), eigvals_only=True)[1 : p + 1].sum()
    problem = Problem(Vertices(rng.random((n, r)), np.arange(n), np.arange(n)), csr_array(W), degrees)
    found = np.empty((len(FORMS), 2))
    for row, form in enumerate(FORMS):
        Y = transformational_map(problem, LinearBasis(np.zeros(r)), p, form).places
        scaled = Y / np.sqrt((degrees[:, None] * Y**2).sum(axis=0))
        centred = Y - degrees @ Y / degrees.sum()
        values = eigh(centred.T @ L @ centred, centred.T @ (degrees[:, None] * centred), eigvals_only=True)
        found[row] = np.trace(scaled.T @ L @ scaled) / best, values.sum() / best
    return found


def main() -> None:
    """Print a table: mean distortion over the best, for z of several lengths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=60)
    parser.add_argument("--dimensions", type=int, default=2, help="of the embedding")
    parser.add_argument("--trials", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("error")  # nothing may be divided by a coordinate that changes its sign unnoticed
    lengths = [r for r in (5, 10, 20, 40) if r < options.vertices]
    print(
        f"{options.vertices} vertices, {options.dimensions} dimensions, {options.trials} trials: mean ± error of it, "
        "wins: share of the trials in which it is best (judged)\n"
    )
    print(f"| r | approximation | scaled | judged | wins |\n|{'---|' * 5}")
    for r in lengths:
        rng = np.random.default_rng(r)
        every = np.array(
            [distortions(options.vertices, r, options.dimensions, rng) for _ in range(options.trials)]
        )  # (trials, forms, 2)
        wins = np.bincount(every[:, :, 1].argmin(axis=1), minlength=len(FORMS)) / options.trials
        spread = every.std(axis=0) / np.sqrt(options.trials)
        for row, form in enumerate(FORMS):
            told = " | ".join(f"{every[:, row, i].mean():.4f} ± {spread[row, i]:.4f}" for i in range(2))
            print(f"| {r} | {form} | {told} | {wins[row]:.0%} |", flush=True)


if __name__ == "__main__":
    main()
