"""The noisy roll of paper 004, Isomap and kernel Isomap side by side: `python -m benchmarks.noisy_roll`.

1200 rows of the swiss roll with noise of variance 0.25, k = 4, the largest piece of the graph, 3000 new rows, three
seeds. Roughness of a coordinate is the mean squared step to the 6 nearest rows in the true coordinates, over twice its
variance: 0 is smooth, 1 is noise. Disparity is Procrustes' to the truth (arc length, height): of the first two
coordinates, and of all three to the truth with a third column of zeros. Beside them stands what each coordinate is:
the share of its variance that is a function of the arc length, and of the height (means over 30 bins).
"""

import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np
from scipy.spatial import cKDTree, procrustes

from gramfold import Isomap, KernelIsomap
from gramfold.datasets import make_swiss_roll

_ROWS, _NEW, _NEIGHBORS, _NOISE = 1200, 3000, 4, 0.5
_TRUE_NEIGHBORS = 6
_BINS = 30
_SEEDS = (0, 1, 2)
_COLUMNS = (
    *("seed", "map", "rows", "roughness 1, 2, 3", "disparity 2-D", "3-D", "of length/height 1, 2, 3"),
    *("λ1, λ2, λ3", "c", "negative mass"),
)


@dataclass(frozen=True)
class Judgement:
    """How one map of some rows looks beside the truth."""

    first: float
    second: float
    third: float
    flat: float
    space: float
    shares: str


def roughness(coordinate: np.ndarray, truth: np.ndarray) -> float:
    """Mean squared step to the true neighbours / twice the variance."""
    nearest = cKDTree(truth).query(truth, _TRUE_NEIGHBORS + 1)[1][:, 1:]
    return float(np.square(coordinate[nearest] - coordinate[:, None]).mean() / (2 * coordinate.var()))


def share(coordinate: np.ndarray, cause: np.ndarray) -> float:
    """Share of the coordinate's variance that is a function of the cause."""
    bins = np.minimum((cause - cause.min()) / np.ptp(cause) * _BINS, _BINS - 1).astype(int)
    means = np.bincount(bins, coordinate, _BINS) / np.maximum(np.bincount(bins, minlength=_BINS), 1)
    return float(means[bins].var() / coordinate.var())


def judge(places: np.ndarray, truth: np.ndarray) -> Judgement:
    """Judge the rows that have a place."""
    placed = ~np.isnan(places[:, 0])
    places, truth = places[placed], truth[placed]
    in_space = np.column_stack([truth, np.zeros(len(truth))])
    return Judgement(
        *(roughness(coordinate, truth) for coordinate in places.T),
        procrustes(truth, places[:, :2])[2],
        procrustes(in_space, places)[2],
        ", ".join("/".join(f"{share(coordinate, cause):.2f}" for cause in truth.T) for coordinate in places.T),
    )


def maps(seed: int) -> Iterator[tuple[str, KernelIsomap | Isomap, Judgement, Judgement]]:
    """Each method fitted, with its judgement on training rows and on new ones."""
    X, truth = make_swiss_roll(_ROWS + _NEW, noise=_NOISE, random_state=seed)
    for cls in (Isomap, KernelIsomap):
        model = cls(3, _NEIGHBORS, on_disconnected="largest").fit(X[:_ROWS])
        placed = model.transform(X[_ROWS:])
        yield cls.__name__, model, judge(model.embedding_, truth[:_ROWS]), judge(placed, truth[_ROWS:])


def main() -> None:
    """Print the table, a row for each map and seed, and what the eigenvalues say."""
    warnings.simplefilter("ignore")
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    for seed in _SEEDS:
        for name, model, known, new in maps(seed):
            values = ", ".join(f"{value:.3g}" for value in model.spectrum_.eigenvalues)
            before, after = (model.negative_part(before_repair=asked).mass for asked in (True, False))
            about = f"{values} | {getattr(model, 'c_', 0.0):.4g} | " + (
                f"{before:.3g} → {after:.1g}" if hasattr(model, "c_") else "–"
            )
            for kind, judgement in (("training", known), ("new", new)):
                *rough, flat, space, shares = astuple(judgement)
                told = ", ".join(f"{value:.4f}" for value in rough)
                print(
                    f"| {seed} | {name} | {kind} | {told} | {flat:.4f} | {space:.4f} | {shares} | {about} |", flush=True
                )


if __name__ == "__main__":
    main()
