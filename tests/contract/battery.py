"""Tables of real rows, one fit of an estimator on each, and what must hold of it.

`test_real_rows.py` runs the checks on every estimator that places new rows, `test_battery_bites.py` on estimators
broken on purpose. All that a check compares with is plain NumPy, written here.
"""

import re
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from gramfold.errors import (
    DegenerateMapWarning,
    DisconnectedGraphWarning,
    ExtrapolationWarning,
    GramfoldWarning,
    RankWarning,
    RepeatedDirectionWarning,
    ScaleWarning,
)
from gramfold.extension.graph_source import GraphSource

SHARED = Path(__file__).parents[3] / "shared" / "data"  # beside the checkout; most is not to be redistributed

_K = 5  # neighbours that vote on a label
_OVERLAP = 10  # neighbours that a map should keep


# --- tables


@dataclass(frozen=True)
class Table:
    """Rows with labels, and which of them are held out of a fit."""

    name: str
    rows: np.ndarray
    labels: np.ndarray
    held: np.ndarray  # of bool

    @classmethod
    def of(cls, name: str, rows: np.ndarray, labels: np.ndarray, most: int = 500, held: float = 0.25) -> "Table":
        """At most so many of these rows, chosen and split once and for all."""
        order = np.random.default_rng(0).permutation(len(rows))[:most]
        rows, labels = np.asarray(rows, dtype=np.float64)[order], np.unique(labels, return_inverse=True)[1][order]
        return cls(name, rows, labels, np.arange(len(rows)) < held * len(rows))

    def first(self, n: int) -> "Table":
        """The same with fewer rows, as many of them held out."""
        taken = np.concatenate([np.flatnonzero(self.held)[: n // 4], np.flatnonzero(~self.held)[: n - n // 4]])
        return Table(self.name, self.rows[taken], self.labels[taken], self.held[taken])


def standardized(rows: np.ndarray) -> np.ndarray:
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)


def digits() -> Table:
    from sklearn.datasets import load_digits

    return Table.of("digits", *load_digits(return_X_y=True))


def wine() -> Table:
    from sklearn.datasets import load_wine

    return Table.of("wine", *load_wine(return_X_y=True))


def wine_scaled() -> Table:
    from sklearn.datasets import load_wine

    rows, labels = load_wine(return_X_y=True)
    return Table.of("wine scaled", standardized(rows), labels)


def breast_cancer() -> Table:
    from sklearn.datasets import load_breast_cancer

    rows, labels = load_breast_cancer(return_X_y=True)
    return Table.of("breast cancer", standardized(rows), labels)


def breast_cancer_raw() -> Table:
    from sklearn.datasets import load_breast_cancer

    return Table.of("breast cancer raw", *load_breast_cancer(return_X_y=True))


def mixture(groups: int, apart: float, sizes: tuple[float, float] = (1.0, 1.0), n: int = 400) -> Table:
    """Gaussian groups in 50 columns, their centres so far from the origin."""
    rng = np.random.default_rng(groups)
    centers = rng.standard_normal((groups, 50))
    centers *= apart / np.linalg.norm(centers, axis=1, keepdims=True)
    labels = rng.integers(0, groups, n)
    spread = rng.uniform(*sizes, groups)[labels][:, None]
    name = f"{groups} groups {apart:g} apart"
    return Table.of(name, centers[labels] + spread * rng.standard_normal((n, 50)), labels)


BUNDLED: dict[str, Callable[[], Table]] = {
    "digits": digits,
    "wine": wine,
    "wine-scaled": wine_scaled,
    "breast-cancer": breast_cancer,
    "breast-cancer-raw": breast_cancer_raw,
    "near-groups": lambda: mixture(10, 6.0),
    "far-groups": lambda: mixture(5, 12.0, (0.3, 2.0)),
}


def all_digits() -> Table:
    from sklearn.datasets import load_digits

    return Table.of("all digits", *load_digits(return_X_y=True), most=1797)


def usps() -> Table:
    data = np.load(SHARED / "usps.npz")
    return Table.of("USPS", data["X"], data["y"], most=2000)


def olivetti() -> Table:
    data = np.load(SHARED / "olivetti.npz")
    return Table.of("Olivetti", data["X"].reshape(400, -1) / 255.0, data["y"])


def embryo() -> Table:
    data = np.load(SHARED / "guo_embryo_qpcr.npz")
    return Table.of("embryo", data["X_norm"], data["num_cells"])


def blood() -> Table:
    """Blood cells in their 30 leading directions; the labels are groups of k-means in ten of them."""
    from sklearn.cluster import KMeans

    data = np.load(SHARED / "pbmc3k.npz")
    counts = csr_matrix((data["data"].astype(float), data["indices"].astype("int32"), data["indptr"]), data["shape"])
    counts = counts.multiply(1e4 / counts.sum(axis=1)).tocsr()
    counts.data = np.log1p(counts.data)
    mean = np.asarray(counts.mean(axis=0)).ravel()
    variance = np.asarray(counts.power(2).mean(axis=0)).ravel() - mean**2
    genes = np.clip(standardized(counts[:, np.argsort(-variance)[:1500]].toarray()), -10, 10)
    U, s, _ = np.linalg.svd(genes, full_matrices=False)
    cells = U[:, :30] * s[:30]
    return Table.of("blood", cells, KMeans(7, n_init=3, random_state=0).fit_predict(cells[:, :10]), most=2700)


LONG: dict[str, tuple[Callable[[], Table], str | None]] = {
    "all-digits": (all_digits, None),
    "usps": (usps, "usps.npz"),
    "olivetti": (olivetti, "olivetti.npz"),
    "embryo": (embryo, "guo_embryo_qpcr.npz"),
    "blood": (blood, "pbmc3k.npz"),
}


# --- plain references


def nearest(left: np.ndarray, right: np.ndarray, k: int, *, same: bool = False) -> np.ndarray:
    """The k nearest of the right rows to each left one, itself excepted where both are the same; all distances."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * left @ right.T
    if left.shape[1] <= 10:  # few columns: from differences, so that crowded maps are not decided by rounding
        squares = ((left[:, None, :] - right[None, :, :]) ** 2).sum(axis=2)
    if same:
        np.fill_diagonal(squares, np.inf)
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


def voted(labels: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """The commonest label in each list, the smallest at a tie."""
    return np.array([np.bincount(labels[one]).argmax() for one in lists])


def neighbors_of(model: Any) -> int:
    """As many as a model was asked for, or chose."""
    return int(getattr(model, "n_neighbors_", getattr(model, "n_neighbors", 8)))


def plain_mean(known: np.ndarray, places: np.ndarray, fresh: np.ndarray, k: int) -> np.ndarray:
    """New rows at the mean place of the k known rows nearest to them."""
    return places[nearest(fresh, known, k)].mean(axis=1)


def plain_pca(rows: np.ndarray, dimensions: int) -> np.ndarray:
    U, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return U[:, :dimensions] * s[:dimensions]


def overlap(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Share of each list that is in the other one too."""
    return np.array([np.isin(one, other).mean() for one, other in zip(left, right, strict=True)])


def strangers(rows: np.ndarray, places: np.ndarray) -> float:
    """Share of the 5 nearest on the map that are not among the nearest third in the data."""
    n = len(rows)
    rank = np.empty((n, n), dtype=int)
    np.put_along_axis(rank, nearest(rows, rows, n, same=True), np.arange(n)[None, :], axis=1)
    return float((np.take_along_axis(rank, nearest(places, places, _K, same=True), axis=1) >= n / 3).mean())


def inner_share(places: np.ndarray) -> float:
    """The least share of an axis' length in which the middle 98% of the rows lie."""
    inner = np.quantile(places, [0.01, 0.99], axis=0)
    length = np.ptp(places, axis=0)
    return float((np.diff(inner, axis=0)[0][length > 0] / length[length > 0]).min(initial=1.0))


def own_places(places: np.ndarray) -> float:
    """Share of the rows that are alone in a cell of a grid 1,000 cells wide, one of several counted as alone."""
    inner = np.quantile(places, [0.01, 0.99], axis=0)
    return len(np.unique(np.floor(places / (1e-3 * np.diff(inner, axis=0).max())), axis=0)) / len(places)


# --- one fit


@dataclass(frozen=True)
class Trial:
    """An estimator fitted on a table's known rows, and where it put the others."""

    table: Table
    model: Any
    told: list[warnings.WarningMessage]  # in fit
    placed: np.ndarray  # held-out rows
    told_of_rows: list[warnings.WarningMessage]  # in transform

    @classmethod
    def of(cls, estimator: type, table: Table) -> "Trial":
        known, fresh = table.rows[~table.held], table.rows[table.held]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = estimator().fit(known)
        with warnings.catch_warnings(record=True) as told_of_rows:
            warnings.simplefilter("always")
            placed = model.transform(fresh)
        return cls(table, model, told, placed, told_of_rows)

    @property
    def known(self) -> np.ndarray:
        return self.table.rows[~self.table.held]

    @property
    def fresh(self) -> np.ndarray:
        return self.table.rows[self.table.held]

    @property
    def places(self) -> np.ndarray:
        return np.asarray(self.model.embedding_)

    @cached_property
    def plain(self) -> np.ndarray:
        return plain_mean(self.known, self.places, self.fresh, neighbors_of(self.model))

    @cached_property
    def pca(self) -> np.ndarray:
        return plain_pca(self.known, self.places.shape[1])

    def right(self, places: np.ndarray) -> np.ndarray:
        """Whether the label of each held-out row is that of the training rows around this place."""
        labels = self.table.labels
        return voted(labels[~self.table.held], nearest(places, self.places, _K)) == labels[self.table.held]

    def right_on(self, places: np.ndarray) -> np.ndarray:
        """The same of training rows on a map, without themselves."""
        labels = self.table.labels[~self.table.held]
        return voted(labels, nearest(places, places, _K, same=True)) == labels

    def kept(self, places: np.ndarray) -> np.ndarray:
        """Share of the training rows nearest to each held-out row that are nearest on the map too."""
        lists = nearest(self.fresh, self.known, _OVERLAP)
        return overlap(nearest(places, self.places, _OVERLAP), lists)

    def kept_on(self, places: np.ndarray) -> np.ndarray:
        lists = nearest(self.known, self.known, _OVERLAP, same=True)
        return overlap(nearest(places, places, _OVERLAP, same=True), lists)

    def was_told(self, *categories: type) -> bool:
        return any(issubclass(one.category, categories) for one in self.told)

    def summary(self) -> str:
        """The figures in one line."""
        shares = [self.right_on(self.places), self.right(self.placed), self.right(self.plain), self.right_on(self.pca)]
        names = {one.category.__name__.removesuffix("Warning") for one in [*self.told, *self.told_of_rows]}
        return " ".join([*(f"{share.mean():.2f}" for share in shares), *sorted(names)])


def error(difference: np.ndarray) -> float:
    """Standard error of the mean of a difference between paired values."""
    return float(difference.astype(float).std() / np.sqrt(len(difference)))


# --- what must hold

_MARGIN = 0.05  # beyond chance, of which two standard errors are allowed


def fitted_to_chance(trial: Trial) -> bool:
    """Whether there are fewer rows than columns and the map is said to be fitted to them: new rows do not follow."""
    return len(trial.known) < trial.known.shape[1] and trial.was_told(RankWarning)


def held_out_rows_find_their_labels(trial: Trial) -> None:
    """By the training rows around their places, as at the plain mean of their neighbours, or as training rows do."""
    if fitted_to_chance(trial):
        return
    placed, plain = trial.right(trial.placed), trial.right(trial.plain)
    own = trial.right_on(trial.places).mean()
    chance = error(placed.astype(float) - plain)
    assert placed.mean() >= min(plain.mean(), own) - _MARGIN - 2 * chance


def held_out_rows_find_their_neighbours(trial: Trial) -> None:
    """Of the nearest in the data as many are nearest on the map as at the plain mean, or as for training rows."""
    if fitted_to_chance(trial):
        return
    placed, plain = trial.kept(trial.placed), trial.kept(trial.plain)
    own = trial.kept_on(trial.places).mean()
    assert placed.mean() >= min(plain.mean(), own) - _MARGIN - 2 * error(placed - plain)


def held_out_rows_stay_on_the_map(trial: Trial) -> None:
    """None lands farther outside of the map than the map is wide."""
    low, high = trial.places.min(axis=0), trial.places.max(axis=0)
    away = np.maximum(low - trial.placed, trial.placed - high) / (high - low).max()
    assert away.max() < 1


def new_rows_meet_few(trial: Trial) -> None:
    """A new row of a graph meets about as many rows as the rows of the graph do."""
    source = trial.model.model_.source
    if isinstance(source, GraphSource):  # a map that is a function of the rows' columns meets nobody
        met = silently(source.met, source.unit.inward(trial.fresh))
        degree = np.mean([graph.neighbors.counts.mean() for graph in source.components.graphs])
        assert met.counts.mean() <= 2 * degree


def memory_of_transform_is_linear(trial: Trial) -> None:
    """Twice as many new rows need at most twice the memory: what is done for each does not depend on how many come.

    A row that was met with many others, or with all, would need a matrix for which this holds too, and larger ones:
    beyond the rows and places themselves a row may take as much as its distances to all training rows, a few times.
    """
    model, fresh = trial.model, trial.fresh
    many = np.concatenate([fresh + 1e-3 * i * fresh.std(axis=0) for i in range(8)])  # no two are equal
    silently(model.transform, many[:10])  # whatever is made at the first call
    half, whole = (peak_bytes(model.transform, rows) for rows in (many[: len(many) // 2], many))
    assert whole <= 2.2 * half + 1e5
    per_row = 8 * (8 * len(trial.known) + 20 * fresh.shape[1])
    assert whole <= 5e6 + per_row * len(many)


def bad_maps_are_told(trial: Trial) -> None:
    """A map on which labels are found 0.1 less often than on that of PCA, or that is degenerate, has a warning."""
    seen, plain = trial.right_on(trial.places), trial.right_on(trial.pca)
    worse = seen.mean() < plain.mean() - 0.1 - 2 * error(seen.astype(float) - plain)
    taken = inner_share(trial.places) < 0.08 < 0.3 < inner_share(trial.pca)
    crowded = own_places(trial.places) < 0.2 < 0.8 < own_places(trial.pca)
    if worse or taken or crowded:
        assert trial.was_told(DegenerateMapWarning, DisconnectedGraphWarning)


def no_map_is_called_bad_that_is_not(trial: Trial) -> None:
    if not trial.was_told(DegenerateMapWarning):
        return
    seen, plain = trial.right_on(trial.places), trial.right_on(trial.pca)
    fewer_labels = seen.mean() < plain.mean() - 0.05
    fewer_neighbours = strangers(trial.known, trial.places) > strangers(trial.known, trial.pca) + 0.03
    taken = inner_share(trial.places) < 0.2
    crowded = own_places(trial.places) < 0.6
    assert fewer_labels or fewer_neighbours or taken or crowded


def no_coordinate_is_called_a_repeat_that_is_not(trial: Trial) -> None:
    """One by which labels are found that the others do not find is a direction of its own."""
    for one in trial.told:
        if issubclass(one.category, RepeatedDirectionWarning):
            for number in re.findall(r"coordinate (\d+)", str(one.message)):
                others = np.delete(trial.places, int(number) - 1, axis=1)
                seen, without = trial.right_on(trial.places), trial.right_on(others)
                assert seen.mean() < without.mean() + 0.1 + 2 * error(seen.astype(float) - without)


def few_held_out_rows_are_outside(trial: Trial) -> None:
    """Rows of the same source as the training rows are seldom called far outside, and then it is true."""
    told = [one for one in trial.told_of_rows if issubclass(one.category, ExtrapolationWarning)]
    outside = trial.model.extrapolation(trial.fresh) > 3
    assert outside.mean() <= 0.04
    assert outside.any() or not told


def pieces_are_pieces(trial: Trial) -> None:
    """A graph is only said to be in pieces where the plain graph of the same neighbours is."""
    if trial.was_told(DisconnectedGraphWarning):
        n, k = len(trial.known), neighbors_of(trial.model)
        lists = nearest(trial.known, trial.known, k, same=True)
        graph = csr_matrix((np.ones(n * k), (np.repeat(np.arange(n), k), lists.ravel())), shape=(n, n))
        assert connected_components(graph, directed=False)[0] > 1


def nothing_else_is_said(trial: Trial) -> None:
    """Ordinary rows meet no warning of another kind, and none of another's."""
    in_fit = [DegenerateMapWarning, DisconnectedGraphWarning, RepeatedDirectionWarning]
    if fitted_to_chance(trial):
        in_fit.append(RankWarning)
    variances = np.sort(trial.known.var(axis=0))
    if variances[-2:].sum() > 0.9 * variances.sum():
        in_fit.append(ScaleWarning)
    assert all(issubclass(one.category, tuple(in_fit)) for one in trial.told), trial.told
    assert all(issubclass(one.category, ExtrapolationWarning) for one in trial.told_of_rows), trial.told_of_rows


CHECKS = [
    held_out_rows_find_their_labels,
    held_out_rows_find_their_neighbours,
    held_out_rows_stay_on_the_map,
    new_rows_meet_few,
    memory_of_transform_is_linear,
    bad_maps_are_told,
    no_map_is_called_bad_that_is_not,
    no_coordinate_is_called_a_repeat_that_is_not,
    few_held_out_rows_are_outside,
    pieces_are_pieces,
    nothing_else_is_said,
]


def silently(call: Callable[[Any], Any], rows: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramfoldWarning)
        return call(rows)


def peak_bytes(call: Callable[[Any], Any], rows: np.ndarray) -> int:
    """The most memory that a call held at one time."""
    tracemalloc.start()
    try:
        silently(call, rows)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
