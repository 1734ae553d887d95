"""Several methods on the same rows: one neighbour search for all fits, one of the data for all judgements.

No single number decides. Trustworthiness alone crowns maps that collapsed, and measures of all distances see the large
shape only: a map is best for a purpose, by a margin, and the margin has an error (diagnostics/noise.py).
"""

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from gramfold.comparison.entrants import Entrant, read_entrants
from gramfold.comparison.judging import Judgement, judge_map
from gramfold.comparison.running import Run, run, sentence_of
from gramfold.comparison.table import ComparedMap, Comparison
from gramfold.diagnostics import Judged
from gramfold.diagnostics import stability as measured_stability
from gramfold.diagnostics.labels import coded
from gramfold.diagnostics.refits import check_whole
from gramfold.embedding.sharing import SharedSearch, shared_nothing, shared_search
from gramfold.errors import GramfoldError, InputError
from gramfold.neighbors.columns import as_table, require_one_order
from gramfold.neighbors.metrics import MetricName
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Progress, Stages

_NEIGHBORS = 10  # by which maps are judged, as everywhere in diagnostics; a third of few rows
_HALF = 0.5  # of the rows, which a map must have to be compared
_NOT_ASKED = "it was not asked for: pass stability=5 for five refits"
_FINISHED = "a finished map cannot be fitted again: pass the estimator that made it"


def compare(
    X: Any,
    methods: Any = None,
    *,
    labels: Any = None,
    n_components: int = 2,
    n_neighbors: int | None = None,
    metric: MetricName = "euclidean",
    judged_neighbors: int | None = None,
    sample: int | None = None,
    random_state: int = 0,
    stability: int = 0,
    keep_models: bool = True,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Fit several methods on the same rows, and judge their maps alike.

    Methods of gramfold share one neighbour search, and all maps are judged by one search of the data. A method that
    fails is a row of the table with the reason.

    Parameters
    ----------
    X : {array-like, sparse matrix, DataFrame} of shape (n_rows, n_columns)
        The rows; with ``metric="precomputed"`` the matrix of all distances.
    methods : list or dict, default=None
        What is compared: names of methods as on the command line (``"isomap"``), classes, estimators (which are cloned,
        with their own parameters), and estimators of other packages with `fit_transform`. A dict gives them names, and
        may hold finished maps: ``{"my umap": Y, "isomap": Isomap(n_neighbors=8)}``. Rows of a finished map that is a
        DataFrame are matched by its index, where X is one too. None: PCA, Isomap, Laplacian eigenmaps, a diffusion map
        and modified LLE, or what stands for them where rows are many or are given by their distances.
    labels : array-like of shape (n_rows,), default=None
        The label of each row, to compare how maps keep labels together. Methods do not see them.
    n_components : int, default=2
        Dimensions of the maps of methods that are given by name or class.
    n_neighbors : int, default=None
        Number of neighbours for these methods. None: their own default.
    metric : str or callable, default="euclidean"
        Distance in the data, by which maps are judged; also for these methods, where they have one.
    judged_neighbors : int, default=None
        Number of neighbours by which maps are judged. None: 10, or a third of the rows if that is fewer.
    sample : int, default=None
        Number of rows whose distances from all others are computed, as for `gramfold.diagnostics.Judged`.
    random_state : int, default=0
        Seed of methods that are given by name or class, and of the rows drawn.
    stability : int, default=0
        Number of refits of each method on 80% of the rows (`gramfold.diagnostics.stability`). 0: it is not measured.
    keep_models : bool, default=True
        Whether fitted estimators are kept in `models`. Those of all distances are large.
    n_jobs : int, default=None
        Threads of these methods and of judging.
    verbose : int, default=0
        Report progress on standard error.
    progress : callable, default=None
        Function that is called as ``progress(stage, done, total)``, as that of an estimator is; an error that it raises
        ends the work.

    Returns
    -------
    comparison : Comparison
        Printed, it is a table. `best_for("local")` names the best map for a purpose, and says whether its margin is
        larger than noise; `maps`, `models` and `to_pandas()` have the rest; `figure()` draws all maps.

    Notes
    -----
    Maps that lack some rows (NaN) are compared on the rows that all have; one that has less than half of them is not
    compared.

    Examples
    --------
    >>> from gramfold import Isomap, compare
    >>> from gramfold.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(600, random_state=0)
    >>> found = compare(roll.points, {"pca": "pca", "isomap": Isomap(n_neighbors=10), "the sheet": roll.truth})
    >>> best = found.best_for("local")
    >>> best.winner, best.decided
    ('the sheet', True)
    >>> bool(found["isomap"].measures["r_nx"].value > found["pca"].measures["r_nx"].value)
    True
    """
    refits = check_whole(stability, "stability", 0)
    if refits == 1:
        raise InputError("stability=1 is one refit, from which no spread is known: pass at least 2, or 0 for none.")
    table = as_table(X)
    if len(getattr(table, "shape", ())) != 2:
        raise InputError(f"X is a {type(X).__name__}, which is no table: pass rows as an array of two dimensions.")
    n = int(table.shape[0])
    options: dict[str, Any] = {"metric": metric, "sample": sample, "random_state": random_state, "n_jobs": n_jobs}
    options["n_neighbors"] = max(1, min(_NEIGHBORS, n // 3)) if judged_neighbors is None else judged_neighbors
    # what cannot be judged is refused before any fit: any map will do
    first = Judged(X, np.arange(n, dtype=np.float64)[:, None], **options)
    if 3 * first.n_neighbors > n:
        raise InputError(
            f"judged_neighbors={first.n_neighbors} is more than a third of the {n} rows, so no neighbour can be a "
            f"stranger: use judged_neighbors <= {n // 3}, or more rows."
        )
    if labels is not None:
        require_one_order(X, labels, ("X", "labels"))
        coded(labels, first)
    settings = {
        "n_components": n_components,
        "n_neighbors": n_neighbors,
        "metric": metric,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    entrants = read_entrants(methods, X, n, settings)
    written = {one.name: one.written for one in entrants}  # before guests are fitted, which may change them
    stages = Stages(verbose, "compare", progress)
    runs, searching = _all_runs(entrants, X, n, metric, stages)
    _require_one(runs)
    placed = _common_rows(runs, n)
    _require_one(runs)
    started = time.perf_counter()
    if not placed.all():
        first = Judged(X, np.where(placed, np.arange(n, dtype=np.float64), np.nan)[:, None], **options)
    judgements = {}
    for one in runs:
        if not one.failure:
            with stages(f"judging {one.name}"):
                judgements[one.name] = _judged(one, first, labels)
    _require_one(runs)
    judging = time.perf_counter() - started
    rows = []
    for one, entrant in zip(runs, entrants, strict=True):
        with stages(f"refits of {one.name}") if refits else nullcontext():
            row = _row(one, judgements.get(one.name, Judgement()), keep_models, written[one.name])
            rows.append(_refitted(row, one, entrant, X, refits, random_state))
    return Comparison(
        tuple(rows),
        n,
        first.n,
        len(first.rows),
        first.n_neighbors,
        *searching,
        judging,
        None if labels is None else np.asarray(labels),
        {name: one for name, one in judgements.items() if one.measures},
        {
            "metric": metric,
            "judged_neighbors": judged_neighbors,
            "sample": sample,
            "random_state": random_state,
            "stability": stability,
        },
        X,
    )


def _require_one(runs: list[Run]) -> None:
    if all(one.failure for one in runs):
        raise InputError(f"every method failed, the first ({runs[0].name}) with: {runs[0].failure.removesuffix('.')}.")


def _all_runs(
    entrants: list[Entrant], X: Any, n: int, metric: Any, stages: Stages
) -> tuple[list[Run], tuple[int, float]]:
    """All fits, the number of neighbour searches that they shared, and their seconds."""
    asked = [k for one in entrants if (k := one.n_neighbors) is not None]
    runs, seconds = [], 0.0
    with shared_search(max(asked, default=1), optional=True) as search:
        for entrant in entrants:
            with stages(entrant.name), _outside(entrant):
                before = search.searches
                found = run(entrant, X, n, metric)
                seconds += _take_search(found, search, before)
            runs.append(found)
    return runs, (search.searches, seconds)


def _outside(entrant: Entrant) -> Any:
    """Where a fit takes its neighbours elsewhere, it has no part in the shared search."""
    return nullcontext() if entrant.n_neighbors is not None else shared_nothing()


def _take_search(found: Run, search: SharedSearch, before: int) -> float:
    """Seconds of a search that was made in this fit for all, which are taken off its own."""
    if search.searches == before:
        return 0.0
    spent = float(getattr(found.model, "timings_", {}).get("neighbors", 0.0))
    found.seconds -= spent
    return spent


def _common_rows(runs: list[Run], n: int) -> Any:
    """Rows (n,) that all maps have; maps that would leave less than half of them fail."""
    maps = [(one, ~np.isnan(one.places).any(axis=1)) for one in runs if one.places is not None]
    common = np.ones(n, dtype=bool)
    for one, has in sorted(maps, key=lambda pair: -int(pair[1].sum())):
        both = common & has
        if has.sum() < _HALF * n:
            one.failure = (
                f"its map has coordinates for {int(has.sum()):,} of {counted(n, 'row')}, which is less than half: pass "
                "a map of more of these rows, or compare on those that it has."
            )
        elif both.sum() < _HALF * n:
            one.failure = (
                f"its map has coordinates for {int(has.sum()):,} of {counted(n, 'row')}, and less than half of them "
                "could be compared with the others: compare it by itself."
            )
        else:
            common = both
    return common


def _judged(found: Run, first: Judged, labels: Any) -> Judgement:
    """What is said of a map; one that cannot be judged fails."""
    try:
        with found.told.hearing():
            return judge_map(first.with_map(found.places), labels)
    except GramfoldError as error:
        found.failure = f"its map cannot be judged: {error}"
        return Judgement()


def _row(found: Run, judgement: Judgement, keep: bool, made: str) -> ComparedMap:
    return ComparedMap(
        found.name,
        found.places,
        found.model if keep else None,
        judgement.measures,
        judgement.faults,
        seconds=found.seconds,
        megabytes=found.megabytes,
        n_rows=0 if found.places is None else int((~np.isnan(found.places).any(axis=1)).sum()),
        warned=found.told.by_category,
        examples=found.told.examples,
        failure=found.failure,
        made=made,
    )


def _refitted(row: ComparedMap, found: Run, entrant: Entrant, X: Any, refits: int, seed: int) -> ComparedMap:
    """The same with its stability, or why that was not measured."""
    if found.places is None:
        return replace(row, not_measured="the fit failed")
    if entrant.model is None:
        return replace(row, not_measured=_FINISHED)
    if not refits:
        return replace(row, not_measured=_NOT_ASKED)
    try:
        with found.told.hearing():
            moved = measured_stability(entrant.model, X, refits=refits, random_state=seed)
    except Exception as error:  # noqa: BLE001 - whatever a guest raises is its own
        return replace(row, not_measured=sentence_of(error))
    return replace(row, stability=moved, warned=found.told.by_category, examples=found.told.examples)
