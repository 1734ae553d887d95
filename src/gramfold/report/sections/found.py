"""What several sections need of a comparison of rows and map, each computed once, by whoever asks first."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramfold.diagnostics import (
    Faults,
    FeatureDistances,
    Judged,
    Measure,
    Verdict,
    feature_distances,
    measures,
)
from gramfold.diagnostics.four_faults import faults_of
from gramfold.diagnostics.kernel_panels import judged_distances
from gramfold.diagnostics.plain_places import plain_places
from gramfold.diagnostics.plain_words import FEWEST, verdict_of
from gramfold.diagnostics.tables import Remembered, Rows
from gramfold.embedding import Embedding
from gramfold.errors import GramfoldError, InputError
from gramfold.report.markup import MissingPartError
from gramfold.report.subject import Subject
from gramfold.types import Floats

EVERY_ROW = 20_000  # rows up to which each of them gets its faults, and all are measured
_MEASURED = 10_000  # rows that are measured of more: three maps of all would take far longer than the verdict
_DEALT = 1_000  # rows that are dealt to random places in all: those of few rows several times, or chance would be noise
_MOST_DEALS = 20
_EXACT = 1e-6  # stress up to which all distances are kept
_PURPOSE = 150  # of the random numbers of that
_PAIRED = ((2_000, None), (5_000, 400), (20_000, 100))  # rows, and those whose distances in feature space are computed
_FEW_PAIRED = 40


def faults_in(judged: Judged) -> Faults | None:
    """The faults of the map; None where rows are too few for them. Of every row up to 20,000, else of those drawn."""
    return judged.once(_faults)


def _faults(judged: Judged) -> Faults | None:
    if judged.n < FEWEST:
        return None
    try:
        return faults_of(judged, every_row=judged.n <= EVERY_ROW)
    except InputError:  # neighbours are more than a third of the rows
        return None


def verdict_in(subject: Subject) -> Verdict:
    """The verdict on the map of a subject whose rows are known."""
    judged = subject.judged
    assert judged is not None
    return verdict_of(judged, subject.model, faults_in(judged), subject.names or None)


@dataclass(frozen=True)
class Beside:
    """Measures of the map, of that of PCA, and by chance."""

    own: Mapping[str, Measure]
    plain: Mapping[str, Measure]
    chance: Mapping[str, float]
    plain_name: str  # PCA, or what stands for it
    deals: int  # of places to rows, whose mean is that of chance
    reasons: Mapping[str, str]  # why a measure of the map is not defined
    turned: int = 0  # columns of the data that PCA only turns, since the map has as many dimensions; 0: it loses some


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a subject."""

    subject: Subject

    @cached_property
    def verdict(self) -> Verdict | None:
        """None where rows and map cannot be compared."""
        return None if self.subject.judged is None else verdict_in(self.subject)

    @cached_property
    def faults(self) -> Faults | None:
        """None where they are not known."""
        return None if self.subject.judged is None else faults_in(self.subject.judged)

    @property
    def judged(self) -> Judged:
        """Rows and map; an error says why they cannot be compared."""
        if self.subject.judged is None:
            raise MissingPartError(self.subject.unjudged or "Rows and map cannot be compared.")
        return self.subject.judged

    @cached_property
    def measured(self) -> Judged:
        """Rows and map, by which measures are computed: of many rows some, drawn and compared among themselves."""
        return self.judged if self.judged.n <= EVERY_ROW else self.judged.fewer(_MEASURED)

    @cached_property
    def beside(self) -> Beside:
        """Only where rows and map are compared."""
        judged = self.measured
        own, reasons = _measures(judged)
        plain, _ = _measures(plain_map(judged))
        deals = [_measures(one)[0] for one in dealt_maps(judged)]
        chance = {name: float(np.mean([deal[name].value for deal in deals])) for name in deals[0]}
        turned = _turned(judged, plain)
        return Beside(own, plain, chance, plain_name(judged), len(deals), reasons, turned)

    @cached_property
    def distances(self) -> FeatureDistances:
        """In feature space, in the data and on the map; an error says why they are not known."""
        if self.subject.model is None:
            raise MissingPartError("The map was not made by gramfold, so that its kernel is not known.")
        if not isinstance(self.subject.model, Embedding):
            raise MissingPartError(f"{type(self.subject.model).__name__} has no feature space of its own.")
        n = len(self.subject.Y)
        sample = next((sample for most, sample in _PAIRED if n <= most), _FEW_PAIRED)
        return feature_distances(self.subject.model, sample=sample, random_state=self.subject.seed)

    @cached_property
    def by_rows(self) -> FeatureDistances:
        """In the data and on the map alone."""
        try:
            found = self.distances
        except GramfoldError:
            found = None
        if found is not None and not np.isnan(found.everywhere.input).all():
            return found
        if self.subject.judged is None:
            raise MissingPartError(self.subject.unjudged or "The rows are not known.")
        return judged_distances(self.subject.judged)


def plain_map(judged: Judged) -> Judged:
    """PCA's map of the same rows, or that of classical scaling for other metrics, with as many dimensions."""
    return judged.with_map(_whole(judged, judged.once_of_data(plain_places, int(judged.map.rows.shape[1]))))


def plain_name(judged: Judged) -> str:
    """How that map is made."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    euclidean = isinstance(table, Rows) and table.metric.name == "euclidean"
    return "PCA" if euclidean else "classical scaling"


def _turned(judged: Judged, plain: Mapping[str, Measure]) -> int:
    """How many columns PCA only turns; 0 where it does more."""
    table = judged.data.table if isinstance(judged.data, Remembered) else judged.data
    p = int(judged.map.rows.shape[1])
    columns = int(table.rows.shape[1]) if isinstance(table, Rows) and plain_name(judged) == "PCA" else 0
    return columns if 0 < columns <= p and plain["stress"].value < _EXACT else 0


def dealt_maps(judged: Judged) -> list[Judged]:
    """The places of the map, dealt to the rows at random."""
    random = judged.generator(_PURPOSE)
    count = int(np.clip(-(-_DEALT // judged.n), 1, _MOST_DEALS))
    return [judged.with_map(_whole(judged, judged.map.rows[random.permutation(judged.n)])) for _ in range(count)]


def _whole(judged: Judged, places: Floats) -> Floats:
    """With a line for each row that was given."""
    found = np.full((judged.n_given, places.shape[1]), np.nan)
    found[judged.kept] = places
    return found


def _measures(judged: Judged) -> tuple[dict[str, Measure], dict[str, str]]:
    """By name, and why some are not defined."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = measures(judged)
    texts = (str(one.message).split(" is NaN: ", 1) for one in told)
    return found, {text[0]: text[1] for text in texts if len(text) == 2}
