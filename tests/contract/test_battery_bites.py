"""Each check of the battery, broken on purpose: it must notice."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from gramfold import LLE, PCA, Isomap, LaplacianEigenmaps
from gramfold.errors import (
    DegenerateMapWarning,
    DisconnectedGraphWarning,
    ExtrapolationWarning,
    RankWarning,
    RepeatedDirectionWarning,
)
from gramfold.extension.graph_source import GraphSource
from tests.contract import battery
from tests.contract.test_real_rows import bundled


class GoesAstray(LaplacianEigenmaps):
    """New rows meet half of all others, and land amid them."""

    def transform(self, X):
        return 0.02 * super().transform(X) + 0.98 * self.embedding_.mean(axis=0)


class Crowd(GraphSource):
    def met(self, X):
        return self.components.net.index.nearest(X, len(self.rows) // 2)


class MeetsEverybody(LaplacianEigenmaps):
    def _build(self, fit):
        model = super()._build(fit)
        return replace(model, source=Crowd(**vars(model.source)))


class FliesOff(LLE):
    def transform(self, X):
        places = super().transform(X)
        places[0] += 3 * np.ptp(self.embedding_)
        return places


class ComparesAllPairs(PCA):
    def transform(self, X):
        X = np.asarray(X)
        apart = np.square(X[:, None, :] - X[None, :, :]).sum(axis=2)  # of new rows: it grows with their square
        return super().transform(X + 0 * apart.mean())


class HoldsCubes(PCA):
    def transform(self, X):
        held = np.zeros((len(X), 40, self.n_features_in_, 8))
        return super().transform(X + held[:, 0, :, 0])


class Silent(Isomap):
    """A map that becomes another one, and not a word of it."""

    def fit(self, X, y=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            super().fit(X)
        self.model_ = replace(self.model_, embedding=self.spoiled(self.embedding_.copy()))
        return self


class ForgetsTheRows(Silent):
    """A map of other rows."""

    def spoiled(self, places):
        return places[np.random.default_rng(0).permutation(len(places))]


class TakenByOne(Silent):
    def spoiled(self, places):
        places[0, 1] = 1e3 * np.abs(places).max()
        return places


class OnFewPlaces(Silent):
    def spoiled(self, places):
        return np.round(places / (0.2 * np.ptp(places))) * np.ptp(places)


class CriesWolf(Isomap):
    category, sentence = DegenerateMapWarning, "the map is bad"

    def fit(self, X, y=None):
        super().fit(X)
        warnings.warn(self.sentence, self.category, stacklevel=2)
        return self


class SeesRepeats(CriesWolf):
    category, sentence = RepeatedDirectionWarning, "coordinate 2 (100%) of the map repeats directions"


class SeesPieces(CriesWolf):
    category, sentence = DisconnectedGraphWarning, "the graph is in 7 pieces"


class MuttersOfRank(CriesWolf):
    category, sentence = RankWarning, "there are few directions"


class FearsNewRows(Isomap):
    def extrapolation(self, points, *, of="auto"):
        return 10 + super().extrapolation(points, of=of)


class WarnsOfNothing(Isomap):
    def transform(self, X):
        warnings.warn("9 of 9 rows lie far outside", ExtrapolationWarning, stacklevel=2)
        return super().transform(X)


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (battery.held_out_rows_find_their_labels, GoesAstray),
        (battery.held_out_rows_find_their_neighbours, GoesAstray),
        (battery.held_out_rows_stay_on_the_map, FliesOff),
        (battery.new_rows_meet_few, MeetsEverybody),
        (battery.memory_of_transform_is_linear, ComparesAllPairs),
        (battery.memory_of_transform_is_linear, HoldsCubes),
        (battery.bad_maps_are_told, ForgetsTheRows),
        (battery.bad_maps_are_told, TakenByOne),
        (battery.bad_maps_are_told, OnFewPlaces),
        (battery.no_map_is_called_bad_that_is_not, CriesWolf),
        (battery.no_coordinate_is_called_a_repeat_that_is_not, SeesRepeats),
        (battery.few_held_out_rows_are_outside, FearsNewRows),
        (battery.few_held_out_rows_are_outside, WarnsOfNothing),
        (battery.pieces_are_pieces, SeesPieces),
        (battery.nothing_else_is_said, MuttersOfRank),
    ],
    ids=lambda value: value.__name__,
)
def test_broken_is_noticed(check, broken):
    trial = battery.Trial.of(broken, bundled("digits"))
    with pytest.raises(AssertionError):
        check(trial)


def test_every_check_is_tried():
    (mark,) = [mark for mark in test_broken_is_noticed.pytestmark if mark.name == "parametrize"]
    assert {check for check, _ in mark.args[1]} == set(battery.CHECKS)


def test_references_are_what_they_say():
    """On rows by hand: a line of five, the last far out."""
    line = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    np.testing.assert_array_equal(battery.nearest(line, line, 2, same=True), [[1, 2], [0, 2], [1, 3], [2, 1], [3, 2]])
    np.testing.assert_array_equal(battery.nearest(np.array([[1.4]]), line, 2), [[1, 2]])
    np.testing.assert_allclose(battery.plain_mean(line, line**2, np.array([[1.4]]), 2), [[2.5]])
    np.testing.assert_array_equal(
        battery.voted(np.array([0, 1, 1, 0]), np.array([[0, 1, 2], [0, 3, 1], [0, 1, 3]])), [1, 0, 0]
    )
    assert battery.strangers(np.arange(30.0)[:, None], np.arange(30.0)[:, None]) == 0
    ring = np.exp(2j * np.pi * np.arange(100) / 100).view(float).reshape(-1, 2)
    assert battery.inner_share(ring) > 0.99
    assert battery.inner_share(np.vstack([ring, [[100.0, 0.0]]])) < 0.03
    assert battery.own_places(ring) == 1
    assert battery.own_places(np.repeat(ring[:10], 10, axis=0)) == pytest.approx(0.1)
    places = battery.plain_pca(ring * [3, 1], 1)
    np.testing.assert_allclose(np.abs(places[:, 0]), np.abs(3 * ring[:, 0]), atol=1e-12)
