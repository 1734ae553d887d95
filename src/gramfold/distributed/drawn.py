"""What a model that was fitted on rows in partitions holds of them: a sample."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gramfold.distributed.moments import Moments
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.sampled import fit_of
from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Drawn, Model
from gramfold.embedding.reading import Columns
from gramfold.extension.placement import Part, widened
from gramfold.kernels.linear import LinearGram, project, pull
from gramfold.types import Floats, Integers, Spectrum

SAMPLE = (
    10_000  # rows of a linear map, which needs none: for the inverse, the report and whoever asks how far out rows are
)
_SAME = 1e-6  # of the size of the map


def is_held_whole(rows: Partitions) -> bool:
    """Whether a model holds all of these rows, so that it is fitted to them as they are."""
    return rows.moments.n <= max(SAMPLE, rows.width)


def fitted_whole(estimator: Any, rows: Partitions, extras: Any) -> Model:
    """The model of few rows: the one that the same rows in memory give."""
    numbers = np.arange(rows.n_rows)
    fit = replace(fit_of(estimator, rows.take(numbers), rows), extras=extras, fewer=Fit.fewer)
    model: Model = estimator._build(fit)  # noqa: SLF001  of every estimator
    return replace(model, drawn=Drawn(rows.n_rows, numbers))


def sample_of(rows: Partitions, random_state: Any) -> Integers:
    """The numbers of the rows that a model holds, drawn anew each time that they are asked for."""
    return rows.drawn(SAMPLE, check_random_state(random_state))


def columns_of(rows: Partitions) -> Columns:
    """What is known of the columns."""
    return Columns(rows.width, rows.reader.names, shown=rows.reader.names)


def holding(
    model: Model, rows: Partitions, numbers: Integers, sample: Floats, projected: Floats, moments: Moments
) -> Model:
    """The model of a map that is a function of the columns, with this sample as its training rows.

    The sample is complete and in the model's unit; `projected` are the rows (m, d) that the kernel sees in its place,
    and `moments` those of all such rows. The eigenvalues are those of all rows.
    """
    (part,) = model.parts
    places = widened(part.placement.place(sample, part, None), len(part.offset))
    kernel = _over(part.kernel, projected, moments)
    source: Any = replace(model.source, rows=sample)  # type: ignore[type-var]
    return replace(
        model,
        source=source,
        columns=columns_of(rows),
        parts=(replace(part, kernel=kernel, spectrum=_over_sample(part, projected), coordinates=places),),
        embedding=source.unit.shown(places.astype(rows.dtype), model.degree, rows.dtype, "coordinates"),
        drawn=Drawn(moments.n, numbers),
    )


def _over(kernel: LinearGram, sample: Floats, moments: Moments) -> LinearGram:
    """The kernel over a sample, of which each row stands for as many."""
    m, n, away = len(sample), moments.n, moments.mean - kernel.mean
    return replace(
        kernel,
        points=sample,
        mass=np.full(m, n / m),
        null=np.ones((m, 1)),
        rows=np.arange(m),
        scatter=moments.scatter + n * np.outer(away, away),
    )


def directions_of(part: Part) -> Floats:
    """The directions of a linear map, and those of the eigenvectors of its kernel where these are others, (d, q)."""
    own: Floats = part.placement.directions
    return own if _are_columns(part) else np.hstack([own, _eigen_directions(part)])


def _over_sample(part: Part, sample: Floats) -> Spectrum:
    """The eigenvectors at these rows."""
    found: Spectrum = replace(part.spectrum, eigenvectors=project(sample, part.kernel.mean, _eigen_directions(part)))
    return found


def _are_columns(part: Part) -> bool:
    """Whether the eigenvectors are the columns of the map, but for their lengths."""
    columns = part.spectrum.eigenvectors * np.sqrt(part.spectrum.eigenvalues)
    size = np.abs(columns).max(initial=0.0)
    return bool(np.allclose(columns, part.coordinates[:, : columns.shape[1]], atol=_SAME * size))


def _eigen_directions(part: Part) -> Floats:
    """B of v(x) = (x − mean)ᵀ B, the eigenvectors at any row.

    They are those of the map, or B = G (X − 1 meanᵀ)ᵀ M V / λ with the kernel's metric G.
    """
    kernel, spectrum = part.kernel, part.spectrum
    values = np.where(spectrum.eigenvalues > 0, spectrum.eigenvalues, 1.0)
    if _are_columns(part):
        return np.asarray(part.placement.directions[:, : len(values)] / np.sqrt(values))
    pulled = pull(kernel.points, kernel.mean, kernel.mass[:, None] * spectrum.eigenvectors)
    if kernel.root is not None:
        pulled = kernel.root @ (kernel.root.T @ pulled)
    return np.asarray(pulled / values)
