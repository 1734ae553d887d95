"""`gramfold demo`: five methods on two bundled data sets, compared in a table and a picture."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.methods import parameters_of
from gramfold.methods.names import find_method
from gramfold.cli.sentences import in_sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PICTURE = "gramfold-demo.png"
SHOWN = ("classical_mds", "isomap", "kernel_pca", "laplacian_eigenmaps", "lle")  # five that differ and are fast
ROLL_POINTS = 1500
JUDGED_NEIGHBORS = 10
MONTAGE = 8  # digits shown along each side
VIEW = {"elev": 8, "azim": -80}  # nearly along the roll's axis, so that its turns are seen


@dataclass(frozen=True)
class Show:
    """A data set, and how an embedding of it is scored."""

    title: str
    points: "NDArray[np.floating]"
    color: "NDArray[Any]"
    color_label: str
    quality: str  # name of the second score
    judge: "Callable[[NDArray[np.floating]], float]"


@dataclass(frozen=True)
class Result:
    """The embedding of a data set by one method, and its scores."""

    method: str
    coordinates: "NDArray[np.floating]"
    seconds: float
    trust: float
    quality: float
    solver: str


@click.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the picture.  [default: the current folder]",
)
@in_sentences
def demo(folder: Path) -> None:
    """Compare five methods on two bundled data sets.

    A table is printed, and a picture of the ten embeddings is written to gramfold-demo.png.
    """
    from gramfold.plotting import check_picture_destination

    folder.mkdir(parents=True, exist_ok=True)
    check_picture_destination(folder / PICTURE)
    _warm_up()
    shows = [_roll(), _digits()]
    results = []
    for show in shows:
        click.echo(f"\n{show.title}")
        click.echo(_row("method", "seconds", "trustworthiness", show.quality, "solver"))
        results.append([_printed(result) for result in _results(show)])
    picture = _draw(shows, results, folder / PICTURE)
    click.echo(
        "\ntrustworthiness: 1 if all neighbours on the map are neighbours in the data\n"
        "distance to truth: Procrustes disparity to the true coordinates, between 0 (identical) and 1 (unrelated)\n"
        "same digit: share of the images whose nearest image on the map shows the same digit\n"
        f"\nPicture: {picture}"
    )


def _warm_up() -> None:
    """Compile the code first, so that the table shows the time of the computation alone."""
    from gramfold import Isomap
    from gramfold.datasets import make_swiss_roll

    click.echo("Compiling code (cached for the next run) ... ", nl=False)
    started = time.perf_counter()
    Isomap().fit(make_swiss_roll(n_samples=100, length=20, random_state=0).points)
    click.echo(f"{time.perf_counter() - started:.1f} s")


def _roll() -> Show:
    from scipy.spatial import procrustes

    from gramfold.datasets import make_swiss_roll

    roll = make_swiss_roll(n_samples=ROLL_POINTS, random_state=0)
    return Show(
        title=f"Swiss roll: {ROLL_POINTS:,} points on a rolled-up sheet of 90 × 21",
        points=roll.points,
        color=roll.truth[:, 0],
        color_label="arc length",
        quality="distance to truth",
        judge=lambda coordinates: float(procrustes(roll.truth, coordinates)[2]),
    )


def _digits() -> Show:
    from sklearn.datasets import load_digits
    from sklearn.neighbors import NearestNeighbors

    images, digits = load_digits(return_X_y=True)

    def same_digit(coordinates: "NDArray[np.floating]") -> float:
        nearest = NearestNeighbors(n_neighbors=1).fit(coordinates).kneighbors(return_distance=False)[:, 0]
        return float((digits[nearest] == digits).mean())

    return Show(
        title=f"Handwritten digits: {len(images):,} images of 8 × 8 pixels",
        points=images,
        color=digits,
        color_label="digit",
        quality="same digit",
        judge=same_digit,
    )


def _results(show: Show) -> Iterable[Result]:
    from sklearn.manifold import trustworthiness

    for name in SHOWN:
        method = find_method(name)
        seed = {"random_state": 0} if "random_state" in parameters_of(method) else {}
        started = time.perf_counter()
        model = method(**seed)
        coordinates = model.fit_transform(show.points)
        seconds = time.perf_counter() - started
        trust = float(trustworthiness(show.points, coordinates, n_neighbors=JUDGED_NEIGHBORS))
        solver = getattr(getattr(model, "spectrum_", None), "solver", "-")
        yield Result(name, coordinates, seconds, trust, show.judge(coordinates), solver)


def _printed(result: Result) -> Result:
    """Print the line of a result as soon as it is computed."""
    numbers = (f"{result.seconds:.2f}", f"{result.trust:.3f}", f"{result.quality:.3f}")
    click.echo(_row(result.method, *numbers, result.solver))
    return result


def _row(method: str, seconds: str, trust: str, quality: str, solver: str) -> str:
    return f"  {method:<20}{seconds:>8}{trust:>17}{quality:>19}  {solver}"


def _draw(shows: list[Show], results: list[list[Result]], path: Path) -> Path:
    from gramfold.plotting import blank_figure, plot_gallery, save_picture

    columns = len(results[0]) + 1
    figure = blank_figure(width=2.6 * columns + 1, height=3.1 * len(shows))
    parts: Any = figure.subfigures(len(shows), 1)
    for part, show, made in zip(parts, shows, results, strict=True):
        maps = {"the data": show.points[:, :3]} | {
            f"{result.method}\n{show.quality} {result.quality:.2f}": result.coordinates for result in made
        }
        plot_gallery(
            maps,
            color=show.color,
            color_label=show.color_label,
            title=show.title,
            n_columns=columns,
            figure=part,
        )
        first: Any = part.axes[0]
        if show.points.shape[1] == 3:
            first.view_init(**VIEW)
        else:
            place = first.get_subplotspec()
            first.remove()
            _montage(part.add_subplot(place), show.points)
    return save_picture(figure, path)


def _montage(ax: Any, images: "NDArray[np.floating]") -> None:
    """The first images as one."""
    import numpy as np

    side = round(images.shape[1] ** 0.5)
    tiles = np.pad(images[: MONTAGE**2].reshape(-1, side, side), ((0, 0), (1, 1), (1, 1)))
    side += 2
    rows = tiles.reshape(MONTAGE, MONTAGE, side, side).transpose(0, 2, 1, 3)
    ax.imshow(rows.reshape(MONTAGE * side, MONTAGE * side), cmap="gray_r")
    ax.set_title("the data", fontsize="medium")
    ax.set_axis_off()
