"""The unit that rows are measured in does not matter: the map keeps its shape, or one sentence refuses them."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.base import ClusterMixin

from gramfold.errors import InputError
from tests.contract.checks import sheet
from tests.contract.discovery import exported

ROWS = sheet(60, seed=3)
# powers of two round nothing; squares of these leave the range of the dtype, or come near its ends
SCALES = [("float64", 480), ("float64", -480), ("float32", 90), ("float32", -60)]


def shape_of(model, X):
    """What the unit must not change: labels, or distances on the map relative to the largest."""
    if isinstance(model, ClusterMixin):
        return model.fit_predict(X)
    distances = pdist(model.fit_transform(X).astype(np.float64))
    return distances / distances.max()


@pytest.mark.filterwarnings("ignore::gramfold.errors.RepeatedDirectionWarning")  # of the sheet, at any scale
@pytest.mark.parametrize("cls", exported(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(("dtype", "power"), SCALES)
def test_the_map_keeps_its_shape(cls, dtype, power):
    X = ROWS.astype(dtype)
    try:
        found = shape_of(cls(), np.ldexp(X, power))
    except InputError as error:
        if power > 0 and "divide X by a constant" in str(error):
            return
        raise
    np.testing.assert_allclose(found, shape_of(cls(), X), atol=1e-6 if dtype == "float64" else 1e-3)
