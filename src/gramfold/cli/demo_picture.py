"""The picture of `gramfold demo`: six panels, each with a title that says what is seen."""

from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramfold.cli.demo import Findings

_ALONG = "viridis"  # the way along the roll, in the three panels above
_ROUND = "twilight"  # an angle: its end is its beginning
_VIEW = {"elev": 8, "azim": -80}  # nearly along the roll's axis, so that its turns are seen
_VIEWS = 10  # teapots around the ring
_GREY = "0.35"
_SOUND, _FAULTY = "#009E73", "#D55E00"  # told apart with any colour vision
_WORDS_WIDE = 76  # letters in a line of the verdicts
_DOT = 11


def draw(found: "Findings") -> Any:
    """The figure."""
    from gramfold.plotting import blank_figure

    figure: Any = blank_figure(16, 9.6)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12, hspace=0.04)
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.15])
    grid = above.add_gridspec(1, 3, width_ratios=[1, 1, 1.9])
    _roll(above.add_subplot(grid[0], projection="3d"), found)
    _pca(above.add_subplot(grid[1]), found)
    _unrolled(above.add_subplot(grid[2]), found)
    left, middle, right = below.subplots(1, 3, width_ratios=[1.15, 1, 1.55])
    _ring(left, found)
    _branches(middle, found)
    _verdicts(right, found)
    return figure


def _roll(ax: Any, found: "Findings") -> None:
    ax.scatter(*found.roll.points.T, c=found.roll.truth[:, 0], cmap=_ALONG, s=_DOT, depthshade=False)
    ax.view_init(**_VIEW)
    ax.set_box_aspect((1, 0.8, 1), zoom=1.25)
    ax.set_axis_off()
    _titled(ax, "A sheet, rolled up", f"{len(found.roll.points):,} rows; colour: the way along it")


def _pca(ax: Any, found: "Findings") -> None:
    ax.scatter(*found.pca.model.embedding_.T, c=found.roll.truth[:, 0], cmap=_ALONG, s=_DOT)
    kept = found.pca.faults.kept.value
    _titled(ax, "PCA: only its shadow", f"{kept:.0%} of the nearest neighbours are kept")
    _plain(ax)


def _unrolled(ax: Any, found: "Findings") -> None:
    scale = {"cmap": _ALONG, "vmin": found.roll.truth[:, 0].min(), "vmax": found.roll.truth[:, 0].max()}
    ax.scatter(*found.sde.model.embedding_.T, c=found.roll.truth[:, 0], s=_DOT, alpha=0.55, linewidths=0, **scale)
    new = ax.scatter(*found.placed.T, c=found.new.truth[:, 0], s=4 * _DOT, edgecolors="black", linewidths=0.8, **scale)
    ax.legend([new], [f"{len(found.placed)} rows that the map was not made of"], loc="upper center", frameon=False,
              bbox_to_anchor=(0.5, 0.0))  # fmt: skip
    kept, gap = found.sde.faults.kept.value, found.sde.model.certificate_.gap
    _titled(
        ax,
        "SDE unrolls it, with a proof",
        f"{kept:.0%} of the neighbours are kept; the variance is within {gap:.2%} of the largest possible",
    )
    _plain(ax)


def _ring(ax: Any, found: "Findings") -> None:
    ring, pictures = found.ring.model.embedding_, found.teapots
    ax.scatter(*ring.T, c=pictures.truth[:, 0], cmap=_ROUND, s=2 * _DOT)
    for view in range(0, len(ring), len(ring) // _VIEWS):
        _beside(ax, ring[view], pictures.points[view].reshape(pictures.image_shape))
    ax.margins(0.42)
    gap = found.ring.model.certificate_.gap
    _titled(
        ax,
        f"{len(ring)} pictures of a teapot: a ring",
        f"SDE, within {gap:.2%} of the largest variance; colour: the angle",
    )
    _plain(ax)


def _beside(ax: Any, place: Any, picture: Any) -> None:
    """A small picture outside the ring."""
    import numpy as np
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    grey = np.interp(picture, (picture.min(), picture.max()), (0, 1))
    seen = np.dstack([grey, grey, grey, picture != picture[0, 0]])  # its background is the paper
    ax.add_artist(
        AnnotationBbox(
            OffsetImage(seen, zoom=0.55),
            place,
            xybox=36.0 * place / np.linalg.norm(place),
            boxcoords="offset points",
            frameon=False,
        )
    )


def _branches(ax: Any, found: "Findings") -> None:
    from gramfold.notebook.palette import OKABE_ITO

    rows = found.branches
    for arm, color in zip(range(rows.arm.max() + 1), OKABE_ITO, strict=False):
        of_it = rows.arm == arm
        places = found.diffusion.model.embedding_[of_it].T
        ax.scatter(*places, s=_DOT * (0.6 + 1.6 * rows.along[of_it]), color=color, label=f"{of_it.sum()} rows")
    ax.legend(loc="best", frameon=False, markerscale=1.6, handletextpad=0.1)
    _titled(ax, "A diffusion map: branches", f"of a process in {rows.points.shape[1]} noisy columns")
    _plain(ax)


def _verdicts(ax: Any, found: "Findings") -> None:
    """What is said of each map, in its own words."""
    maps = {
        "The sheet, by SDE": found.sde,
        "The teapots, by SDE": found.ring,
        "The branches, by a diffusion map": found.diffusion,
    }
    _titled(ax, "Each map has a verdict", "what the data are, what the map keeps of it, what is wrong with it")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, len(maps))
    ax.set_axis_off()
    for row, (name, shown) in enumerate(maps.items()):
        top = len(maps) - row - 0.04
        color = _FAULTY if shown.verdict.faults else _SOUND
        ax.plot([0, 0], [top - 0.86, top], color=color, linewidth=5, solid_capstyle="butt")
        ax.text(0.025, top, name, fontsize=11.5, fontweight="bold", va="top")
        told = fill(" ".join(one.text for one in shown.verdict.sentences[:3]), _WORDS_WIDE)
        ax.text(0.025, top - 0.16, told, fontsize=10.5, va="top", color=_GREY, linespacing=1.3)


def _titled(ax: Any, title: str, below: str) -> None:
    ax.set_title(title, fontsize=15, fontweight="bold", loc="left", pad=24, x=0)
    write = ax.text2D if hasattr(ax, "text2D") else ax.text  # of axes with three dimensions
    write(0, 1.02, below, transform=ax.transAxes, fontsize=11, color=_GREY, va="bottom")


def _plain(ax: Any) -> None:
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
