"""Denoising digits: `python -m benchmarks.denoising /path/to/usps.npz` (arrays X, y and test: 9298 digits of 16 × 16).

As in Mika et al., NIPS 11 (1999): 100 clean digits of each class to learn from (they had 300), without their labels;
others with noise are projected on the leading components and brought back. Mean squared error per pixel to the clean
digit, by PCA and by Gaussian kernel PCA with the fixed-point pre-image, both with as many components. Noise is
Gaussian, or speckles: a share of the pixels becomes black or white. The width of the kernel is that of the default, σ²
the total variance of the rows, or others: give them after the path, relative to it.
"""

import sys
import warnings
from collections.abc import Iterator

import numpy as np

from gramfold import PCA, KernelPCA
from gramfold.errors import ExtrapolationWarning

LEARNED, JUDGED = 100, 20  # digits of each class
COMPONENTS = (1, 4, 16, 64, 256)
WIDTHS = (2.0, 1.0, 0.5)  # relative to the default


def load(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Digits to learn from and digits to judge by, pixels from −1 to 1."""
    data = np.load(path)
    rows, labels, test = data["X"].astype(np.float64), data["y"], data["test"].astype(bool)
    rows = 2.0 * (rows - rows.min()) / (rows.max() - rows.min()) - 1.0
    rng = np.random.default_rng(0)

    def some(pool: np.ndarray, count: int) -> np.ndarray:
        return np.concatenate([rng.permutation(np.flatnonzero(pool & (labels == c)))[:count] for c in range(10)])

    return rows[some(~test, LEARNED)], rows[some(test, JUDGED)]


def noises(clean: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The digits with noise of several kinds and strengths."""
    rng = np.random.default_rng(1)
    for size in (0.25, 0.5, 1.0):
        yield f"Gaussian {size:g}", clean + size * rng.standard_normal(clean.shape)
    for share in (0.2, 0.4):
        struck, colour = rng.random(clean.shape) < share, np.sign(rng.random(clean.shape) - 0.5)
        yield f"speckles {share:.0%}", np.where(struck, colour, clean)


def main() -> None:
    """Print a table for each width."""
    warnings.simplefilter("ignore", ExtrapolationWarning)  # noise lies far outside, which is the point
    known, clean = load(sys.argv[1])
    noisy = dict(noises(clean))
    widths = [float(text) for text in sys.argv[2:]] or list(WIDTHS)
    linear = [PCA(count).fit(known) for count in COMPONENTS]
    heads = " | ".join(f"{count}: PCA | kernel" for count in COMPONENTS)
    for width in widths:
        gamma = 1.0 / (2.0 * known.var(axis=0).sum() * width**2)
        curved = [KernelPCA(count, gamma=gamma, inverse="fixed-point").fit(known) for count in COMPONENTS]
        print(
            f"\nwidth {width:g} of the default\n\n| noise | untouched | {heads} |\n|---|---|{'---|' * 10}", flush=True
        )
        for name, rows in noisy.items():
            cells = [f"{np.square(rows - clean).mean():.3f}"]
            for pair in zip(linear, curved, strict=True):
                cells += [f"{_error(model, rows, clean):.3f}" for model in pair]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _error(model: PCA | KernelPCA, rows: np.ndarray, clean: np.ndarray) -> float:
    return float(np.square(model.inverse_transform(model.transform(rows)) - clean).mean())


if __name__ == "__main__":
    main()
