"""All estimators of the intrinsic dimension, on one search of neighbours."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gramfold.diagnostics.described import described
from gramfold.diagnostics.intrinsic.correlation import correlation_dimension
from gramfold.diagnostics.intrinsic.eigengap import measures_variance, spectral_gap
from gramfold.diagnostics.intrinsic.estimate import Estimate, check_level, shown
from gramfold.diagnostics.intrinsic.likelihood import local_inverses, maximum_likelihood
from gramfold.diagnostics.intrinsic.local_axes import local_pca
from gramfold.diagnostics.intrinsic.nearby import SAMPLE, Nearby
from gramfold.diagnostics.intrinsic.nearest_two import two_nn
from gramfold.diagnostics.intrinsic.scales import Scales, scales_of
from gramfold.diagnostics.intrinsic.tight_groups import TightGroups
from gramfold.diagnostics.intrinsic.words import Found, agreement, evenly_spaced, sentence_of
from gramfold.embedding import Estimator
from gramfold.embedding.reading import check_count
from gramfold.errors import InputError
from gramfold.neighbors.metrics import MetricName
from gramfold.neighbors.scales import LoudColumns
from gramfold.types import Floats

_MOST_NEIGHBORS = 64  # of the largest scale


@dataclass(frozen=True, eq=False, repr=False)
class Dimensions:
    """Estimates of the intrinsic dimension, and where they disagree.

    Attributes
    ----------
    two_nn, maximum_likelihood, correlation_dimension, local_pca : Estimate or None
        None where an estimator is not defined for these rows: `reasons` tells why.
    spectral_gap : Estimate or None
        Of a fitted model whose eigenvalues are variances; else None.
    scales : Scales
        The dimension from the smallest scale to neighbourhoods of up to 64 rows.
    per_point : ndarray of shape (n_rows,)
        Local dimension: that of maximum likelihood, averaged (inverses) over each row and its neighbours. NaN for rows
        that are not in the sample.
    n_rows, n_distinct, n_sampled : int
        Rows, those of them that differ, and those whose neighbours were searched.
    n_near : int
        Rows that differ from others by so little that they were taken for copies.
    tied : float
        Share of the rows whose two nearest neighbours are equally far.
    spacing : float
        How much the distances to the nearest neighbour vary, relative to random rows of the dimension between the
        neighbours 2 and 4: about 1 or above for these, well below for a grid or the frames of a film.
    tight : TightGroups or None
        Where rows come in tight pairs or groups, as repeated measurements do: `size` of a group, `share` of the rows.
    loud : LoudColumns or None
        Columns that hold nearly all of the variance, so that distances see little of the others.
    columns : tuple of str or None
        Names of the columns, where they are known.
    reasons : dict
        Why an estimator is not defined here, by its name.
    """

    two_nn: Estimate | None
    maximum_likelihood: Estimate | None
    correlation_dimension: Estimate | None
    local_pca: Estimate | None
    spectral_gap: Estimate | None
    scales: Scales
    per_point: Floats
    n_rows: int
    n_distinct: int
    n_sampled: int
    n_near: int
    tied: float
    spacing: float
    tight: TightGroups | None
    loud: LoudColumns | None
    columns: tuple[str, ...] | None
    reasons: Mapping[str, str]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Those that are defined, by name."""
        every = {name: getattr(self, name) for name in ESTIMATORS}
        return {name: one for name, one in every.items() if one is not None}

    @property
    def value(self) -> float:
        """The median of the estimates, each corrected where needed; without the spectral gap.

        Ratios of the distances to few neighbours read the spacing of rows on a grid, and how near rows are that were
        measured twice. Where rows are evenly spaced, or come in groups of up to four, it is the mean of `local_pca`, if
        that is defined, and of the dimension at the largest of the scales. Estimates that are beyond correction
        are left out; where all are, it is the largest of them, a lower bound.
        """
        if self._by_large_scales:
            by = [] if self.local_pca is None else [self.local_pca.best]
            return float(np.mean([*by, self.scales.corrected[-1]]))
        each = [one for name, one in self.estimates.items() if name != "spectral_gap"]
        known = [one.best for one in each if not one.beyond_correction]
        return float(np.median(known) if known else max(one.value for one in each))

    @property
    def _by_large_scales(self) -> bool:
        grouped = self.tight is not None and self.tight.small and bool(np.isfinite(self.scales.corrected[-1]))
        return grouped or self.evenly_spaced

    @property
    def evenly_spaced(self) -> bool:
        """Whether rows are spaced more evenly than random ones, as those on a grid are.

        Not where one column is nearly all that distances see, or rows come in tight groups: these look alike.
        """
        other = self.loud is not None or self.tight is not None or not np.isfinite(self.scales.corrected[-1])
        return not other and evenly_spaced(self.spacing, self.n_sampled)

    @property
    def agree(self) -> bool:
        """Whether all estimates are within 15%, or 0.5, of `value`, and none is beyond correction."""
        return not agreement(self.estimates, self.value)

    @property
    def sentence(self) -> str:
        """What the estimates say together, and why they disagree."""
        known = self.per_point[np.isfinite(self.per_point)]
        return sentence_of(
            Found(
                estimates=self.estimates,
                value=self.value,
                scales=self.scales,
                n_rows=self.n_rows,
                n_distinct=self.n_distinct,
                n_sampled=self.n_sampled,
                n_near=self.n_near,
                tied=self.tied,
                even=self.evenly_spaced,
                tight=self.tight,
                loud=None if self.loud is None else self.loud.words(self.columns),
                local=(float(np.quantile(known, 0.1)), float(np.quantile(known, 0.9))) if len(known) else None,
                reasons=self.reasons,
            )
        )

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        each = ", ".join(
            f"{name} {shown(one.value, one.value if one.corrected is None else one.corrected)}"
            for name, one in self.estimates.items()
        )
        return f"Dimensions({self.value:.3g}: {each})"

    def as_dict(self) -> dict[str, Any]:
        """Everything but `per_point` as numbers and strings, for JSON; what is infinite is None."""
        return {
            "value": _plain(self.value),
            "agree": self.agree,
            "sentence": self.sentence,
            "estimates": {
                name: {
                    "value": _plain(one.value),
                    "interval": _plain(one.interval),
                    "level": one.level,
                    "corrected": _plain(one.corrected),
                    "beyond_correction": one.beyond_correction,
                    "corrected_interval": _plain(one.corrected_interval),
                    "note": one.note,
                }
                for name, one in self.estimates.items()
            },
            "not_defined": dict(self.reasons),
            "scales": [
                {"n_neighbors": int(k), "radius": _plain(r), "value": _plain(v), "corrected": _plain(c)}
                for k, r, v, c in zip(
                    self.scales.n_neighbors, self.scales.radius, self.scales.value, self.scales.corrected, strict=True
                )
            ],
            "n_rows": self.n_rows,
            "n_distinct": self.n_distinct,
            "n_sampled": self.n_sampled,
            "n_near": self.n_near,
            "tied": self.tied,
            "spacing": _plain(self.spacing),
            "tight": None if self.tight is None else asdict(self.tight),
            "loud": None if self.loud is None else self.loud.words(self.columns),
        }


ESTIMATORS = ("two_nn", "maximum_likelihood", "correlation_dimension", "local_pca", "spectral_gap")


@described
def dimension(
    X: Any,
    *,
    n_neighbors: int = 20,
    metric: MetricName = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    sample: int | None = SAMPLE,
    level: float = 0.9,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Dimensions:
    """Estimate the intrinsic dimension by several estimators, on one search of neighbours.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features), or fitted model
        Rows; distances between all of them with ``metric="precomputed"``; or a fitted model of gramfold, for its rows
        and, where its eigenvalues are variances, its spectrum. Copies of a row count once.
    n_neighbors : int, default=20
        Neighbours of each row, at least 4, for all estimators but TwoNN.
    {search}

    Returns
    -------
    dimensions : Dimensions
        An `Estimate` of each estimator, the dimension of each row (`per_point`) and at each scale (`scales`), and
        `sentence`, which says where they disagree and why.

    Examples
    --------
    >>> from gramfold.datasets import make_swiss_roll
    >>> from gramfold.diagnostics import dimension
    >>> found = dimension(make_swiss_roll(2000, random_state=0).points)
    >>> found.agree, round(found.value)
    (True, 2)
    """
    check_level(level)
    k = check_count(n_neighbors, "n_neighbors")
    if k < 4:
        raise InputError(f"n_neighbors={k}, but local PCA needs at least 4 neighbours: use n_neighbors >= 4.")
    near = Nearby.of(
        X,
        k,
        widest=_MOST_NEIGHBORS,
        metric=metric,
        metric_params=metric_params,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    asked: dict[str, Callable[[], Estimate]] = {
        "two_nn": lambda: two_nn(near, level=level),
        "maximum_likelihood": lambda: maximum_likelihood(near, n_neighbors=k, level=level),
        "correlation_dimension": lambda: correlation_dimension(near, n_neighbors=k, level=level),
        "local_pca": lambda: local_pca(near, n_neighbors=k, level=level),
    }
    if isinstance(X, Estimator) and measures_variance(X):
        asked["spectral_gap"] = lambda: spectral_gap(X, level=level)
    found: dict[str, Estimate | None] = dict.fromkeys(ESTIMATORS)
    reasons = {}
    for name, estimate in asked.items():
        try:
            found[name] = estimate()
        except InputError as error:  # not defined for these rows, which the sentence tells of
            reasons[name] = str(error)
    if len(reasons) == len(asked):
        raise InputError(f"no estimate of the dimension is defined for these rows: {reasons['maximum_likelihood']}")
    with np.errstate(divide="ignore"):
        local = 1.0 / near.smoothed(local_inverses(near, k), k, n_jobs)
    scales = scales_of(near)
    return Dimensions(
        **found,
        scales=scales,
        per_point=near.over_rows(local),
        n_rows=near.n_rows,
        n_distinct=near.n_distinct,
        n_sampled=len(near.vertices),
        n_near=near.n_near,
        tied=near.tied,
        spacing=near.spacing(float(scales.value[1])),
        tight=near.tight,
        loud=near.loud,
        columns=near.columns,
        reasons=reasons,
    )


def _plain(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return float(value) if np.isfinite(value) else None
