"""A neighbourhood is a number of rows or a radius."""

import numpy as np
import pytest

from gramfold import LLE, LPP, SDE, Isomap, SpectralClustering
from gramfold.errors import InputError
from tests.methods.maps import s_curve

X = s_curve()[:120]
METHODS = [Isomap, LLE, LPP, SDE, SpectralClustering]


@pytest.mark.parametrize("method", METHODS)
def test_a_number_and_a_radius_are_not_taken_together(method):
    default = method().n_neighbors
    with pytest.raises(InputError, match=rf"n_neighbors=11 and radius=1.5 .* its default \({default}\)"):
        method(n_neighbors=11, radius=1.5).fit(X)
    changed = method(radius=1.5).set_params(n_neighbors=5)
    with pytest.raises(InputError, match=r"n_neighbors=5 and radius=1\.5"):
        changed.fit(X)


@pytest.mark.parametrize("method", [Isomap, LPP, SpectralClustering])
def test_a_radius_alone_takes_all_rows_within(method):
    model = method(radius=1.5).fit(X)
    near = np.linalg.norm(X[:, None] - X[None], axis=2) <= 1.5
    assert model.graph_.n_edges == (near.sum() - len(X)) // 2
    again = method(n_neighbors=method().n_neighbors, radius=1.5).fit(X)  # the default in so many words
    assert again.graph_.n_edges == model.graph_.n_edges
