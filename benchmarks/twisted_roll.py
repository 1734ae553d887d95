"""A twisted swiss roll by direct and by continuous maps: `python -m benchmarks.twisted_roll [--picture roll.png]`.

Brand, IJCAI 2003, section 4, figures 2 to 6: a sheet of 90 × 60, rolled up and twisted about the axis of the roll, on a
regular grid with a little noise; edges to the nearest 8 weighing 1/distance; kernels at rows drawn
at random. A cell of the grid is folded where its image is turned over, as against most cells; correlations are
Spearman's with the true length and height, of the coordinate that has more of it; the disparity is Procrustes'.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial import procrustes
from scipy.stats import spearmanr

from gramfold import LPP, KernelEigenmaps, LaplacianEigenmaps
from gramfold.datasets import make_swiss_roll
from gramfold.plotting import plot_gallery, save_picture

_ALONG, _ACROSS = 60, 40
_LENGTH, _HEIGHT = 90.0, 60.0
_TWIST = 1.0  # radians from one end of the axis to the other
_NOISE = 0.05
_KERNELS = 150


def twisted_roll(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 3) and truth (n, 2) of the grid, along the length first."""
    rng = np.random.default_rng(seed)
    s, h = np.meshgrid(np.linspace(0, _LENGTH, _ALONG), np.linspace(0, _HEIGHT, _ACROSS), indexing="ij")
    truth = np.column_stack([s.ravel(), h.ravel()])
    # the spiral r = t of the data set, at the arc lengths of the grid
    dense = make_swiss_roll(20_000, length=_LENGTH, height=_HEIGHT, random_state=0)
    order = np.argsort(dense.truth[:, 0])
    arc, (x, _, z) = dense.truth[order, 0], dense.points[order].T
    x, z = np.interp(truth[:, 0], arc, x), np.interp(truth[:, 0], arc, z)
    angle = _TWIST * truth[:, 1] / _HEIGHT
    turned = np.column_stack(
        [x * np.cos(angle) - z * np.sin(angle), truth[:, 1], x * np.sin(angle) + z * np.cos(angle)]
    )
    return turned + _NOISE * rng.standard_normal(turned.shape), truth


def models(seed: int) -> dict[str, object]:
    """The maps of the paper, in its order."""
    mixture = {"n_kernels": _KERNELS, "centers": "random", "random_state": seed}
    return {
        "Laplacian eigenmap, weights 1": LaplacianEigenmaps(2),
        # which a kernel on every row is, too narrow to see another
        "Laplacian eigenmap": KernelEigenmaps(2, n_kernels=_ALONG * _ACROSS, width=1e-6, local_dim=0),
        "kernel eigenmap, raw": KernelEigenmaps(2, **mixture, approximation="raw"),
        "kernel eigenmap, reweighted": KernelEigenmaps(2, **mixture),
        "kernel eigenmap, reweighted, equal degrees": KernelEigenmaps(2, **mixture, equal_degrees=True),
        "kernel eigenmap, k-means centres": KernelEigenmaps(2, n_kernels=_KERNELS, random_state=seed),
        "LPP": LPP(2, approximation="raw"),
        "LPP, affine": LPP(2),
    }


def folded(places: np.ndarray) -> float:
    """Share of the cells of the grid that are turned over."""
    grid = places.reshape(_ALONG, _ACROSS, 2)
    along, across = np.diff(grid, axis=0)[:, :-1], np.diff(grid, axis=1)[:-1]
    area = along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]
    return float(min((area > 0).mean(), (area < 0).mean()))


def main() -> None:
    """Print the table, means over the seeds, and draw the maps of the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--picture", type=Path, help="where to draw the maps of the first seed (png, pdf or svg)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, ...]]] = {}
    maps: dict[str, np.ndarray] = {}
    for seed in range(options.seeds):
        X, truth = twisted_roll(seed)
        for name, model in models(seed).items():
            places = model.fit_transform(X)
            maps.setdefault(name, places)
            ranks = [max(abs(spearmanr(place, true)[0]) for place in places.T) for true in truth.T]
            found.setdefault(name, []).append((folded(places), *ranks, procrustes(truth, places)[2]))
    print(f"{_ALONG} × {_ACROSS} rows, {_KERNELS} kernels, means over {options.seeds} seeds\n")
    print(f"| map | folded cells | with length | with height | disparity |\n|{'---|' * 5}")
    for name, rows in found.items():
        fold, length, height, disparity = np.mean(rows, axis=0)
        print(f"| {name} | {fold:.1%} | {length:.3f} | {height:.3f} | {disparity:.3f} |")
    if options.picture is not None:
        save_picture(plot_gallery(maps, color=truth[:, 0], color_label="length"), options.picture)


if __name__ == "__main__":
    main()
