"""Walking between pictures: `python -m benchmarks.teapot_walk strip.png [views]`.

A teapot is seen from 120 (or so many) sides. The map of these pictures is a ring; halfway between two neighbours on it
(on the closed spline through the places) lies a picture that was never taken. It is brought back by each way and held
against the true rendering at that angle: root mean square error per pixel, relative to the spread of the pictures about
their mean, the median over all gaps. Beside it the picture of one neighbour, and both laid over one another. The strip
shows six such places: the view before, the true picture, then each way in the order of the table, and the view after.
"""

import sys
import warnings

import numpy as np

from gramfold import SDE, Isomap, LaplacianEigenmaps
from gramfold.datasets import make_teapots

SHAPE = (76, 101)
WAYS = ("barycentric", "mixture", "ridge")
SHOWN = 6


def halfway(places: np.ndarray) -> np.ndarray:
    """Places halfway between neighbours on the closed curve through these, which are in order."""
    from scipy.interpolate import CubicSpline

    closed = np.vstack([places, places[:1]])
    return np.asarray(CubicSpline(np.arange(len(closed)), closed, bc_type="periodic")(np.arange(len(places)) + 0.5))


def main() -> None:
    """Print the errors and write the strip of Isomap's pictures."""
    views = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    pictures = make_teapots(2 * views, image_shape=SHAPE).points
    known, between = pictures[::2], pictures[1::2]  # of gap i the true picture is between[i]
    after = np.roll(known, -1, axis=0)
    spread = float(np.sqrt(np.square(known - known.mean(axis=0)).sum(axis=1).mean()))
    warnings.simplefilter("ignore")

    def error(made: np.ndarray) -> str:
        return f"{np.median(np.linalg.norm(made - between, axis=1)) / spread:.1%}"

    print(f"{views} views, {360 / views:g} degrees apart\n")
    print(f"| map | one neighbour | both, laid over | {' | '.join(WAYS)} |")
    print(f"|---|{'---|' * (len(WAYS) + 2)}")
    columns = []
    for model in (Isomap(n_neighbors=4), LaplacianEigenmaps(n_neighbors=4), SDE(n_neighbors=4)):
        model.fit(known)
        places = halfway(model.embedding_.astype(np.float64))
        made = []
        for way in WAYS:
            model.inverse = way
            made.append(model.inverse_transform(places))
        cells = [error(known), error((known + after) / 2), *(error(one) for one in made)]
        print(f"| {type(model).__name__} | {' | '.join(cells)} |", flush=True)
        columns = columns or [known, between, *made, after]
    shown = np.arange(0, views, views // SHOWN)[:SHOWN]
    strip = np.vstack([np.hstack([column[gap].reshape(SHAPE) for column in columns]) for gap in shown])
    from matplotlib.pyplot import imsave

    imsave(sys.argv[1], np.clip(strip, 0, 1), cmap="gray", vmin=0, vmax=1)


if __name__ == "__main__":
    main()
