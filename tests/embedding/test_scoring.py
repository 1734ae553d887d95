"""Trustworthiness as the score of a map."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.manifold import trustworthiness
from sklearn.model_selection import GridSearchCV

from gramfold import PCA, Isomap
from tests.contract.checks import sheet

TABLE = pd.DataFrame(sheet(120), columns=["length", "height", "depth"])


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_rows_with_names_are_scored_without_a_warning(output):
    model = PCA().set_output(transform=output).fit(TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = model.score(TABLE)
    assert score == trustworthiness(TABLE.to_numpy(), np.asarray(model.transform(TABLE)), n_neighbors=10)


def test_a_search_over_a_table_with_names_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(Isomap(), {"n_neighbors": [6, 9]}, cv=3).fit(TABLE)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
