"""Semidefinite embedding on the data of its first paper, in pictures.

    python examples/unfolding.py FOLDER

    roll.png       a rolled-up sheet in 23 dimensions, its map, and the spectra of four kernels
    teapots.png    pictures of a turning teapot lie on a ring, and the spectra of the same kernels
    dimension.png  large eigenvalues count the dimensions: a curve, a ring, a sheet and a solid

Weinberger, Sha, Saul, ICML 2004. It takes less than a minute and needs matplotlib (pip install "gramfold[plot]").
"""

import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from gramfold import SDE, KernelPCA
from gramfold.datasets import make_swiss_roll, make_teapots
from gramfold.datasets.sample import Sample
from gramfold.errors import DegenerateMapWarning
from gramfold.plotting import blank_figure, plot_map, save_picture

SHOWN = 8  # eigenvalues
VIEWS = 10  # teapots beside the ring
INTO_THE_ROLL = {"elev": 8, "azim": -80}
COLORS = {"semidefinite": "tab:red", "linear": "0.3", "polynomial": "0.55", "Gaussian": "0.8"}


def main(folder: Path) -> None:
    """Draw and save all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in (("roll", roll), ("teapots", teapots), ("dimension", dimension)):
        print(save_picture(draw(), folder / f"{name}.png"))


def roll() -> Any:
    """Three of the 23 columns hold the roll, the others nothing but noise."""
    sample = make_swiss_roll(800, extra_dimensions=20, extra_noise=0.05, random_state=0)
    model = SDE(n_neighbors=8, pairs="angles").fit(sample.points)
    figure = blank_figure(11, 7)
    panels = figure.add_gridspec(2, 2, height_ratios=[1.5, 1.0])
    data = figure.add_subplot(panels[0, 0], projection="3d")
    unfolded = figure.add_subplot(panels[1, :])
    arc = sample.truth[:, 0]
    plot_map(sample.points[:, :3], color=arc, ax=data, title="800 points: the first 3 of 23 columns", size=12)
    data.view_init(**INTO_THE_ROLL)
    plot_map(model, color=arc, ax=unfolded, title=told("unfolded by SDE", model), size=16)
    for scale in [ax for ax in figure.axes if ax not in {data, unfolded}]:
        scale.remove()  # the colour is the way along the spiral, in both
    bars(figure.add_subplot(panels[0, 1]), {"semidefinite": shares(model)} | usual_kernels(model, sample.points))
    return figure


def teapots() -> Any:
    """Only the angle differs between the pictures, and after a whole turn it is where it was."""
    sample = whole_turn()
    model = SDE(n_neighbors=4, pairs="angles").fit(sample.points)
    figure = blank_figure(12, 5.6)
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1.0])
    ring = model.embedding_
    left.scatter(*ring.T, s=14, c=sample.truth[:, 0], cmap="twilight")
    left.set_title(told("400 views of a teapot, mapped by SDE", model), pad=24)
    for view in range(0, len(ring), len(ring) // VIEWS):
        beside(left, ring[view], sample.points[view].reshape(sample.image_shape))
    left.set_aspect("equal")
    left.margins(0.32)
    left.set_axis_off()
    bars(right, {"semidefinite": shares(model)} | usual_kernels(model, sample.points))
    return figure


@cache
def whole_turn() -> Sample:
    """Drawn once, for two pictures."""
    return make_teapots(400)


def dimension() -> Any:
    """A ring counts twice: no line closes."""
    rng = np.random.default_rng(0)
    x, y, angle = rng.random((1000, 3)).T * [[1.5], [2.0], [2.5]]
    solid = np.column_stack([x, y, np.cos(angle), np.sin(angle)])
    data = {
        "half a turn of the teapot: a line": (make_teapots(200, degrees=180).points, 4),
        "its whole turn: a ring": (whole_turn().points, 4),
        "a 50 × 35 sheet, rolled up": (make_swiss_roll(800, length=50, height=35, random_state=0).points, 8),
        "a 2.5 × 2 × 1.5 solid, bent in 4-D": (solid, 12),
    }
    figure = blank_figure(13, 3.6)
    for ax, (title, (points, k)) in zip(figure.subplots(1, len(data), sharey=True), data.items(), strict=True):
        bars(ax, {"semidefinite": shares(SDE(n_components=1, n_neighbors=k).fit(points))})
        ax.set_title(title, fontsize="medium")
        ax.get_legend().remove()
        ax.label_outer()
    return figure


def shares(model: Any) -> Any:
    """The largest eigenvalues of the kernel, divided by its trace."""
    values = np.linalg.eigvalsh(model.kernel_.dense())[::-1]
    return values[:SHOWN] / values.sum()


def usual_kernels(model: SDE, points: Any) -> dict[str, Any]:
    """The kernels that the paper compares with; its Gaussian is as wide as a neighbourhood."""
    gamma = 0.5 / np.mean(model.neighbors_.distances**2)
    kernels = {
        "linear": KernelPCA(kernel="linear"),
        "polynomial": KernelPCA(kernel="polynomial", degree=4, gamma=1.0, coef0=1.0),
        "Gaussian": KernelPCA(kernel="gaussian", gamma=gamma),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateMapWarning)  # that they show less of the data is what is to be seen
        return {name: shares(kernel.fit(points)) for name, kernel in kernels.items()}


def bars(ax: Any, spectra: dict[str, Any]) -> None:
    """Eigenvalues side by side."""
    width = 0.8 / len(spectra)
    for number, (name, values) in enumerate(spectra.items()):
        places = np.arange(1, len(values) + 1) + (number - (len(spectra) - 1) / 2) * width
        ax.bar(places, values, width, color=COLORS[name], label=name)
    ax.set_xticks(range(1, SHOWN + 1))
    ax.set_ylim(0, 1)
    ax.set_xlabel("eigenvalue")
    ax.set_ylabel("share of the kernel's trace")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)


def told(title: str, model: SDE) -> str:
    """With what is proved of the kernel."""
    return f"{title}\nvariance within {model.certificate_.gap:.2%} of the largest possible"


def beside(ax: Any, place: Any, picture: Any) -> None:
    """A small picture outside the ring."""
    outwards = 52.0 * place / np.linalg.norm(place)
    ax.add_artist(
        AnnotationBbox(
            OffsetImage(picture, zoom=0.6, cmap="gray"),
            place,
            xybox=outwards,
            boxcoords="offset points",
            frameon=False,
            arrowprops={"arrowstyle": "-", "color": "0.6"},
        )
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/unfolding.py FOLDER")
    main(Path(sys.argv[1]))
