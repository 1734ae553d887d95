"""A graph of some rows, on whose map the others are placed."""

import numpy as np
import pytest

from gramfold import LaplacianEigenmaps
from gramfold.errors import DisconnectedGraphWarning
from tests.methods.maps import s_curve

pytestmark = pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")

X = s_curve()


@pytest.mark.parametrize("choice", ["random", "kmeans"])
def test_the_map_is_that_of_the_subset_and_its_new_points(choice):
    model = LaplacianEigenmaps(landmarks=300, landmark_choice=choice).fit(X)
    some = model.landmarks_
    others = np.setdiff1d(np.arange(len(X)), some)
    plain = LaplacianEigenmaps().fit(X[some])
    np.testing.assert_array_equal(model.embedding_[some], plain.embedding_)
    np.testing.assert_array_equal(model.embedding_[others], plain.transform(X[others]))
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.kernel_.dense(), plain.kernel_.dense())
    assert model.spectrum_.eigenvectors.shape == (len(some), 2)


def test_copies_and_components_keep_their_rows():
    # which rows are drawn depends on how many there are, and on nothing else
    some = LaplacianEigenmaps(landmarks=300).fit(X).landmarks_
    others = np.setdiff1d(np.arange(len(X)), some)
    rows = X.copy()
    rows[others[:3]] = rows[some[7]]  # copies of rows of the subset that are not in it
    rows[others[-5:]] = rows[some[:5]]
    rows[some[280:]] += 1000.0  # a component of its own
    with pytest.warns(DisconnectedGraphWarning, match="2 connected components of 280, 20 rows"):
        model = LaplacianEigenmaps(landmarks=300, on_disconnected="largest").fit(rows)
    np.testing.assert_array_equal(model.landmarks_, some)
    assert np.isnan(model.embedding_[some[280:]]).all()
    assert model.kept_.sum() == len(rows) - 20
    assert set(model.graph_.rows) == {-1, *some[:280]}
    np.testing.assert_array_equal(model.embedding_[others[-5:]], model.embedding_[some[:5]])
    np.testing.assert_array_equal(model.embedding_[others[:3]], np.tile(model.embedding_[some[7]], (3, 1)))
