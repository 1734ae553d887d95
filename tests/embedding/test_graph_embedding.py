"""A graph of some rows, on whose map the others are placed."""

import numpy as np
import pytest

from gramfold import LaplacianEigenmaps
from gramfold.errors import DisconnectedGraphWarning
from tests.methods.maps import s_curve

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

X = s_curve()
SOME = np.sort(np.random.default_rng(0).choice(len(X), 300, replace=False))
OTHERS = np.setdiff1d(np.arange(len(X)), SOME)


class OfSome(LaplacianEigenmaps):
    """Laplacian eigenmaps whose graph has only some of the rows."""

    def _subset(self, X):
        return SOME


def test_the_map_is_that_of_the_subset_and_its_new_points():
    model, plain = OfSome().fit(X), LaplacianEigenmaps().fit(X[SOME])
    np.testing.assert_array_equal(model.embedding_[SOME], plain.embedding_)
    np.testing.assert_array_equal(model.embedding_[OTHERS], plain.transform(X[OTHERS]))
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.kernel_.dense(), plain.kernel_.dense())
    assert model.spectrum_.eigenvectors.shape == (300, 2)


def test_copies_and_pieces_keep_their_rows():
    rows = np.vstack([X, X[SOME[:5]]])  # copies of rows of the subset that are not in it
    rows[OTHERS[:3]] = rows[SOME[7]]
    rows[SOME[280:]] += 1000.0  # a piece of its own
    with pytest.warns(DisconnectedGraphWarning, match="2 pieces of 280, 20 points"):
        model = OfSome(on_disconnected="largest").fit(rows)
    assert np.isnan(model.embedding_[SOME[280:]]).all()
    assert model.kept_.sum() == len(rows) - 20
    assert set(model.graph_.rows) == set(SOME[:280])
    np.testing.assert_array_equal(model.embedding_[-5:], model.embedding_[SOME[:5]])
    np.testing.assert_array_equal(model.embedding_[OTHERS[:3]], np.tile(model.embedding_[SOME[7]], (3, 1)))
