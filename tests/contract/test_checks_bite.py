"""Each item of the contract, broken on purpose: its check must notice."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from gramfold import Isomap, LaplacianEigenmaps, ProbabilisticPCA, SpectralClustering
from gramfold.embedding import Fit
from gramfold.errors import ScaleWarning
from gramfold.runtime import memory
from tests.contract import checks

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")


def with_vectors(model, vectors):
    """The same model with other eigenvectors."""
    spoiled = replace(model.parts[0].spectrum, eigenvectors=vectors)
    return replace(model, parts=(replace(model.parts[0], spectrum=spoiled),))


def with_found(model, **found):
    """The same model, that has found other things."""
    return replace(model, found={**model.found, **found})


class NoNames(Isomap):
    def get_feature_names_out(self, input_features=None):
        return np.array(["one", "one"])


class Scrambles(Isomap):
    """New rows land where others should."""

    def transform(self, X):
        places = super().transform(X)
        return places[np.random.default_rng(0).permutation(len(places))]


class LikesFewDimensions(ProbabilisticPCA):
    def score(self, X, y=None):
        return super().score(X) - 100 * self.n_components


class Remembers(Isomap):
    def transform(self, X):
        self.last_ = X
        return super().transform(X)


class CannotTravel(Isomap):
    def __getstate__(self):
        state = super().__getstate__()
        if "model_" not in state:
            return state
        model = state["model_"]
        components = model.source.components
        turned = replace(components, number=components.number[::-1])
        return {**state, "model_": replace(model, source=replace(model.source, components=turned))}


class OffByATenth(Isomap):
    def transform(self, X):
        return 1.1 * super().transform(X)


class Nowhere:
    def place(self, new, part, n_jobs):
        return np.zeros((len(new.met), len(part.offset)))


class LooksUp(Isomap):
    """Training rows from a table, all others at the origin."""

    def _build(self, fit):
        model = super()._build(fit)
        return replace(model, parts=tuple(replace(part, placement=Nowhere()) for part in model.parts))


class DependsOnTheBatch(Isomap):
    def transform(self, X):
        places = super().transform(X)
        return places - places.mean(axis=0)


class BoastsOfItsInverse(Isomap):
    def inverse_error(self):
        return 1e-9


class RebuildsAnew(Isomap):
    """Each call is another way back."""

    def inverse_transform(self, Y):
        self._drawn = getattr(self, "_drawn", 0) + 1
        return super().inverse_transform(Y) + self._drawn


class SeesNoEnd(Isomap):
    def extrapolation(self, points, *, of="auto"):
        return 0 * super().extrapolation(points, of=of)


class StaysSilent(Isomap):
    def transform(self, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().transform(X)


class InvertsAnything(Isomap):
    def inverse_transform(self, Y):
        return np.zeros((len(Y), 3))


class WidensFloats(Isomap):
    def transform(self, X):
        return super().transform(X).astype(np.float64)


class StoresWide(Isomap):
    def _build(self, fit):
        model = super()._build(fit)
        wide = replace(model.kernel, array=model.kernel.array.astype(np.float64))
        return replace(model, parts=(replace(model.parts[0], kernel=wide),))


class NarrowsIntegers(Isomap):
    def fit(self, X, y=None):
        super().fit(X)
        self.model_ = replace(self.model_, embedding=self.embedding_.astype(np.float32))
        return self


class Jitters(Isomap):
    def fit(self, X, y=None):
        super().fit(X)
        jittered = self.embedding_ * (1 + 1e-12 * np.random.default_rng().random())
        self.model_ = replace(self.model_, embedding=jittered)
        return self


class ThreadsMatter(Isomap):
    def fit(self, X, y=None):
        super().fit(X)
        self.embedding_[0] *= 1 + 1e-2 * (self.n_jobs or 0)
        return self


class AnySign(Isomap):
    def fit(self, X, y=None):
        super().fit(X)
        self.model_ = with_vectors(self.model_, -self.spectrum_.eigenvectors)
        return self


class LikesTheAxes(Isomap):
    def fit(self, X, y=None):
        return super().fit(X * [1.0, 1.0, 1.5])


class LikesTheFirstRow(Isomap):
    def fit(self, X, y=None):
        super().fit(X)
        self.embedding_[0] += 0.1
        return self


class CountsOnce(Fit):
    """A fit in which copies of a row count as one."""

    def solve(self, source, build, **settings):
        def once(part, fit):
            return build(replace(part, graph=replace(part.graph, multiplicity=np.ones(len(part)))), fit)

        return super().solve(source, once, **settings)


class ForgetsCopies(Isomap):
    def _build(self, fit):
        return super()._build(CountsOnce(**vars(fit)))


class Careless(Fit):
    """A fit that takes whatever memory there is."""

    def forecast(self, *asked):
        pass


class AsksForNothing(Isomap):
    def _build(self, fit):
        return super()._build(Careless(**vars(fit)))


class WrongVector(LaplacianEigenmaps):
    def fit(self, X, y=None):
        super().fit(X)
        vectors = self.spectrum_.eigenvectors + 1e-3 * np.random.default_rng(0).standard_normal((len(X), 2))
        self.model_ = with_vectors(self.model_, vectors)
        return self


class SkipsANumber(SpectralClustering):
    def fit(self, X, y=None):
        super().fit(X)
        self.model_ = with_found(self.model_, labels_=np.where(self.labels_ == 1, 7, self.labels_))
        return self


class OneForAll(SpectralClustering):
    def fit(self, X, y=None):
        super().fit(X)
        self.model_ = with_found(self.model_, labels_=np.zeros_like(self.labels_))
        return self


class RemembersRows(SpectralClustering):
    def predict(self, X):
        self.last_ = X
        return super().predict(X)


class PraisesItself(SpectralClustering):
    def score(self, X, y=None):
        return 1.0


class LooksLabelsUp(SpectralClustering):
    """Training rows from a table, all others in the first cluster."""

    def fit(self, X, y=None):
        self.table_ = {row.tobytes(): label for row, label in zip(X, super().fit(X).labels_, strict=True)}
        return self

    def predict(self, X):
        return np.array([self.table_.get(row.tobytes(), 0) for row in np.asarray(X)])


class LabelsByBatch(SpectralClustering):
    def predict(self, X):
        return np.unique(super().predict(X), return_inverse=True)[1]


class CountsItsThreads(SpectralClustering):
    def fit(self, X, y=None):
        super().fit(X)
        self.labels_[0] = (self.labels_[0] + (self.n_jobs or 0)) % 3
        return self


class LikesTheSecondColumn(SpectralClustering):
    def fit(self, X, y=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScaleWarning)
            return super().fit(X * [1.0, 40.0, 1.0])


class ForgetsCopiesOfRows(SpectralClustering):
    def fit(self, X, y=None):
        super().fit(X)
        self.labels_[466:] = (self.labels_[466:] + 1) % 3  # the copies that the check appends
        return self


class WrongAxis(SpectralClustering):
    def fit(self, X, y=None):
        super().fit(X)
        noise = 1e-3 * np.random.default_rng(0).standard_normal((len(X), 3))
        self.model_ = with_found(self.model_, embedding_=self.embedding_ * (1 + noise))
        return self


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (checks.fits_into_scikit_learn, NoNames),
        (checks.fits_into_scikit_learn, Scrambles),
        (checks.fits_into_scikit_learn, LikesFewDimensions),
        (checks.transform_stores_nothing, Remembers),
        (checks.survives_pickling, CannotTravel),
        (checks.training_rows_return, OffByATenth),
        (checks.neighbours_of_training_rows_land_beside_them, LooksUp),
        (checks.new_rows_land_among_their_neighbours, LooksUp),
        (checks.a_batch_is_its_rows, DependsOnTheBatch),
        (checks.inverse_reports_its_error, BoastsOfItsInverse),
        (checks.transform_stores_nothing, RebuildsAnew),
        (checks.way_back_does_not_depend_on_when_it_is_made, RebuildsAnew),
        (checks.far_rows_and_places_are_told, SeesNoEnd),
        (checks.far_rows_and_places_are_told, StaysSilent),
        (checks.float32_stays_float32, WidensFloats),
        (checks.float32_stays_float32, StoresWide),
        (checks.integers_become_float64, NarrowsIntegers),
        (checks.runs_repeat_bit_for_bit, Jitters),
        (checks.signs_are_canonical, AnySign),
        (checks.moved_rows_give_the_same_map, LikesTheAxes),
        (checks.order_of_rows_does_not_matter, LikesTheFirstRow),
        (checks.duplicates_share_a_place, ForgetsCopies),
        (checks.spectrum_is_proved, WrongVector),
        (checks.clusters_fit_into_scikit_learn, SkipsANumber),
        (checks.grid_search_judges_clusters, PraisesItself),
        (checks.planted_clusters_are_found, OneForAll),
        (checks.predict_stores_nothing, RemembersRows),
        (checks.training_rows_keep_their_label, LooksLabelsUp),
        (checks.new_rows_join_their_group, LooksLabelsUp),
        (checks.a_batch_has_the_labels_of_its_rows, LabelsByBatch),
        (checks.clusters_do_not_depend_on_precision_or_threads, CountsItsThreads),
        (checks.clusters_are_invariant, LikesTheSecondColumn),
        (checks.copies_share_a_cluster, ForgetsCopiesOfRows),
        (checks.eigenvectors_of_clusters_are_proved, WrongAxis),
    ],
    ids=lambda value: value.__name__,
)
def test_broken_is_noticed(check, broken):
    with pytest.raises(AssertionError):
        checks.quietly(check, broken)


def test_an_invented_inverse_is_noticed():
    with pytest.raises(AssertionError, match="no error"):
        checks.inverse_of_precomputed_is_refused(InvertsAnything, {"metric": "precomputed"})


def test_threads_that_matter_are_noticed():
    with pytest.raises(AssertionError):
        checks.thread_counts_agree(ThreadsMatter, np.float64)


def test_a_missing_forecast_is_noticed(monkeypatch):
    with pytest.raises(AssertionError, match="no error"):
        checks.what_does_not_fit_is_refused(
            AsksForNothing, lambda free: monkeypatch.setattr(memory, "available_memory", lambda: free)
        )
