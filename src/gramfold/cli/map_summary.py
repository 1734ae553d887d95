"""Summary lines of `embed`: what was mapped, how it was solved, and how much of the variance the map has."""

import json
from math import isfinite
from pathlib import Path
from typing import Any

import click

from gramfold.cli.explained import explained_lines
from gramfold.cli.mapped import Mapped
from gramfold.cli.prepared import decided
from gramfold.cli.wishes import AUTO, Wishes
from gramfold.runtime.costs import COSTS

SHOWN_SHARE = 5e-4  # a smaller one would read 0.0%
# what the values of INPUT are where this parameter is "precomputed"
PRECOMPUTED = {"metric": "distance", "kernel": "kernel value", "weights": "edge weight"}


def tell(
    wishes: Wishes, mapped: Mapped, reading: Any, files: dict[str, Path], replaced: bool, judged: Any = None
) -> None:
    """Print the summary, in lines or as JSON; `reading` is how INPUT was read, `judged` what a report has judged."""
    from gramfold.cli.trust import loud_lines, trust_in

    model, rows, names = mapped.model, mapped.ready.rows, mapped.names
    option = " (--scale standard does)" if mapped.could_scale else ""
    scales = loud_lines(model, rows, names, wishes.silent, wishes.affinity is not None, option)
    explained = explained_lines(mapped.aligned, mapped.seen) if wishes.explain else []
    if wishes.json_out:
        trust = trust_in(model, rows, mapped.coordinates, names, judged).numbers
        click.echo(_as_json(wishes, mapped, reading, {**trust, "axes": explained}, files))
        return
    lines = explained
    if not wishes.quiet:
        click.echo(headline(model, rows, mapped.seconds))
        trust_lines = trust_in(model, rows, mapped.coordinates, names, judged).lines
        facts = [*mapped.used, *account(model, mapped.coordinates), *trust_lines, *scales, *mapped.fit]
        again = " (the earlier one is replaced)" if replaced else ""
        written = [f"{what:<9} {path.absolute()}{again if what == 'map' else ''}" for what, path in files.items()]
        # a method that was named is in the headline
        decisions = decided(reading, mapped.ready.sentences, method=wishes.method in (None, AUTO))
        lines = [*decisions, *facts, *explained, *written]
    for line in lines:
        click.echo(f"  {line}")


def _as_json(wishes: Wishes, mapped: Mapped, reading: Any, more: dict[str, Any], files: dict[str, Path]) -> str:
    """The summary for a program, one object."""
    told = {
        "input": str(wishes.source),
        "read_as": None if reading is None else str(reading),
        "method": type(mapped.model).__name__,
        "parameters": mapped.model.get_params(),
        "rows": int(mapped.places.shape[0]),
        "rows_without_coordinates": int((mapped.places != mapped.places).any(axis=1).sum()),
        "columns": mapped.names,
        "dimensions": int(mapped.places.shape[1]),
        "seconds": mapped.seconds,
        "decisions": list(mapped.ready.sentences),
        **more,
        **{what: str(path.absolute()) for what, path in files.items()},
    }
    return as_json(told)


def as_json(told: dict[str, Any]) -> str:
    """An object for a program."""
    return json.dumps(_finite(told), ensure_ascii=False, indent=2, default=str)


def _finite(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def headline(model: Any, X: Any, seconds: float) -> str:
    """What was mapped."""
    rows, width = X.shape
    dimensions, parameters = model.embedding_.shape[1], model.get_params()
    values = next((word for name, word in PRECOMPUTED.items() if parameters.get(name) == "precomputed"), "column")
    count, found = width, "of"
    if values != "column" and hasattr(X, "nnz"):
        count, found = X.nnz, "with"  # as many as a sparse matrix stores
    return (
        f"{type(model).__name__} mapped {rows:,} rows {found} {count:,} {values}{'s' * (count != 1)} "
        f"to {dimensions} dimension{'s' * (dimensions != 1)} in {seconds:.2f} s"
    )


def account(model: Any, coordinates: Any) -> list[str]:
    """Summary lines: solver, residuals, variance, certificate, timings."""
    import numpy as np

    from gramfold.extension.project import positive_directions
    from gramfold.notebook.facts import certified
    from gramfold.runtime.counting import counted

    lines = []
    spectrum = getattr(model, "spectrum_", None)
    shown = np.nan_to_num(coordinates).any(axis=0)
    if spectrum is not None:
        # an eigenpair of rounding errors has no direction: its column is zero, and its residual has no meaning
        directions = shown[: len(spectrum)] & (positive_directions(spectrum) | (spectrum.eigenvalues < 0))
        residual = f", largest residual {spectrum.residuals[directions].max():.0e}" if directions.any() else ""
        lines.append(f"solver    {spectrum.solver}{residual}")
    if not shown.all():
        lines.append(
            f"rank      {shown.sum()}, less than the {len(shown)} columns of the map; the other columns are zero"
        )
    if spectrum is not None and spectrum.total is not None and spectrum.total > 0 and not _takes_passes(model):
        lines.append(_variance(model))
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        lines.append(f"certified {certified(certificate)}")
    dropped = len(getattr(model, "dropped_edges_", ()))
    if dropped:
        lines.append(f"dropped   {counted(dropped, 'edge')} of the neighbour graph")
    timings = getattr(model, "timings_", {})
    if timings:
        lines.append("stages    " + ", ".join(f"{stage} {spent:.2f} s" for stage, spent in timings.items()))
    absent = int(np.isnan(coordinates).any(axis=1).sum())
    if absent:
        lines.append(f"left out  {absent:,} rows; their coordinates are nan")
    return lines


def _takes_passes(model: Any) -> bool:
    """Whether the variance of the kernel takes dozens of passes over entries that are not stored."""
    kernel = getattr(model, "kernel_", None)
    return kernel is not None and kernel.streamed and len(kernel.mass) > COSTS.eigen.all_rows


def _variance(model: Any) -> str:
    """Share of the kernel's variance in the embedding."""
    negative = model.negative_part()
    share = float(model.spectrum_.eigenvalues.clip(min=0).sum()) / negative.positive_total
    whole = "total variance of the kernel"
    if negative.mass >= SHOWN_SHARE:
        found = f"{negative.mass:.1%}"
        if not negative.exact:
            found = f"about {found} ({negative.interval[0]:.1%} to {negative.interval[1]:.1%})"
        whole = f"positive part of the kernel; {found} of its spectrum is negative"
    return f"variance  {share:.1%} of the {whole}"
