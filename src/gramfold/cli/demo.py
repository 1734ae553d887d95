"""`gramfold demo`: in a minute, a sheet unrolled with a proof, new rows on it, a ring, branches, and the verdicts."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gramfold.cli.interrupted import kept
from gramfold.cli.sentences import in_sentences
from gramfold.errors import InputError
from gramfold.runtime.destinations import check_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gramfold.datasets import Sample
    from gramfold.diagnostics import Faults, Verdict

PICTURE = "gramfold-demo.png"
ROLL_ROWS, NEW_ROWS = 1000, 150
TEAPOTS = 400
BRANCH_ROWS = (400, 300, 200)  # of the three arms: some outcomes are seen more often than others
BRANCH_COLUMNS = 30


@dataclass(frozen=True)
class Shown:
    """A map, and what is said of it."""

    model: Any
    faults: "Faults"
    verdict: "Verdict"


@dataclass(frozen=True)
class Branches:
    """Rows along three arms that begin at one place: which arm, and how far along it."""

    points: "NDArray[np.floating]"
    arm: "NDArray[np.intp]"
    along: "NDArray[np.floating]"


@dataclass(frozen=True)
class Findings:
    """All that the picture shows."""

    roll: "Sample"
    new: "Sample"
    pca: Shown
    sde: Shown
    placed: "NDArray[np.floating]"  # the new rows, on the map of SDE
    teapots: "Sample"
    ring: Shown
    branches: Branches
    diffusion: Shown


@click.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Folder for the picture, made if there is none.  [default: the current folder]",
)
@in_sentences
def demo(folder: Path) -> None:
    """Show in a minute, and in one picture, what gramfold does.

    A rolled-up sheet is unrolled by semidefinite embedding, with a proof of how good that is, and new rows are placed
    on the map; pictures of a turning teapot become a ring; a diffusion map finds branches. Each map has its verdict.
    All data are generated. The picture is gramfold-demo.png.

    \b
    gramfold demo
    gramfold demo --out pictures
    """  # noqa: D301 - \b is meant: click leaves the lines after it as they are
    _check(folder)
    started = time.perf_counter()
    found = _findings()
    picture = _drawn(found, folder)
    kept(picture)
    click.echo(f"\nPicture: {picture}\n\n{time.perf_counter() - started:.0f} s in all. Your own table:")
    click.echo("  gramfold advise TABLE                                   how to map it\n"
               "  gramfold embed TABLE --out map.csv --picture map.png    its map, with a verdict")  # fmt: skip


def _check(folder: Path) -> None:
    """Raise an error before the work if the picture could not be written after it."""
    there = next(place for place in [folder, *folder.absolute().parents] if place.exists())
    if not there.is_dir():
        raise InputError(f"'{there}' is a file, so that no folder '{folder}' can be made: choose another name.")
    check_folder(there / PICTURE if there == folder else there / folder.name)
    from gramfold.plotting import check_picture_destination

    check_picture_destination(there / PICTURE)


def _findings() -> Findings:
    from gramfold import PCA, SDE, DiffusionMap
    from gramfold.datasets import make_swiss_roll, make_teapots

    roll, new = (make_swiss_roll(n, random_state=seed) for seed, n in enumerate((ROLL_ROWS, NEW_ROWS)))
    click.echo(f"1. A sheet of 90 × 21, rolled up: {ROLL_ROWS:,} rows of 3 columns")
    with _told("PCA"):
        pca = _judged(PCA().fit(roll.points))
    _say(pca)
    with _told("SDE, semidefinite embedding"):
        sde = _judged(SDE(n_neighbors=8, random_state=0).fit(roll.points))
    _say(sde)
    with _told(f"{NEW_ROWS} new rows placed on that map"):
        placed = sde.model.transform(new.points)
    click.echo(f"\n2. {TEAPOTS} pictures of a turning teapot: 7,676 columns")
    with _told("drawing them"):
        teapots = make_teapots(TEAPOTS)
    with _told("SDE"):
        ring = _judged(SDE(n_neighbors=4, random_state=0).fit(teapots.points))
    _say(ring)
    branches = branching()
    click.echo(f"\n3. A process with three outcomes: {BRANCH_COLUMNS} noisy columns")
    with _told("DiffusionMap"):
        diffusion = _judged(DiffusionMap(n_neighbors=15, random_state=0).fit(branches.points))
    _say(diffusion)
    return Findings(roll, new, pca, sde, placed, teapots, ring, branches, diffusion)


def _judged(model: Any) -> Shown:
    from gramfold.diagnostics import faults

    return Shown(model, faults(model), model.verdict())


@contextmanager
def _told(what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    click.echo(f"   {what}: {time.perf_counter() - started:.1f} s")


def _say(shown: Shown) -> None:
    from textwrap import wrap

    certificate = getattr(shown.model, "certificate_", None)
    proof = "" if certificate is None else f"Proved: within {certificate.gap:.2%} of the largest variance possible. "
    for line in wrap(proof + " ".join(one.text for one in shown.verdict.sentences[:3]), 74):
        click.echo(f"      {line}")


def branching() -> Branches:
    """Generate rows along three arms in a space of many columns, with noise; one arm has few rows."""
    import numpy as np

    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(BRANCH_COLUMNS, 2 * len(BRANCH_ROWS))))[0].T
    arm = np.repeat(np.arange(len(BRANCH_ROWS)), BRANCH_ROWS)
    along = rng.random(len(arm))
    straight, bent = directions[2 * arm], directions[2 * arm + 1]
    points = 3 * along[:, None] * straight + 1.5 * along[:, None] ** 2 * bent
    return Branches(points + rng.normal(scale=0.06, size=points.shape), arm, along)


def _drawn(found: Findings, folder: Path) -> Path:
    """Save the picture; a folder that was made for it does not stay behind without it."""
    from gramfold.cli.demo_picture import draw
    from gramfold.plotting import save_picture

    figure = draw(found)
    made = [place for place in [folder, *folder.parents] if not place.exists()]  # the innermost first
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PICTURE
    try:
        return save_picture(figure, path)
    except BaseException:
        for place in made:
            if not any(place.iterdir()):
                place.rmdir()
        raise
