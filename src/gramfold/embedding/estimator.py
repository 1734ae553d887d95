"""The base class of all estimators: parameters, `fit`, and scikit-learn's protocol."""

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import Neighborhood
from gramfold.embedding.mixed_rows import refuse_vectors
from gramfold.embedding.model import Fitted
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import Reads, read_new
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.neighbors.metrics import reads_mixed
from gramfold.runtime.threads import at_work, thread_count


def _names(model: Fitted) -> Any:
    if model.columns.names is None:
        raise KeyError
    return np.array(model.columns.names, dtype=object)


@method
class Estimator(BaseEstimator):
    """Base class of all estimators: fits a model and stores it as `model_`; subclasses implement `_build`."""

    random_state: Any = parameter(
        default=0,
        allowed=["random_state"],
        words="""Seed of the random number generator, used for landmarks, k-means, starting points and the sample on
        which the recall of an approximate search is measured. The same seed gives the same result.""",
        last=True,
    )
    n_jobs: int | None = parameter(
        default=None, allowed=[Integral, None], words="Number of threads. None: one for every core.", last=True
    )
    verbose: int = parameter(
        default=0, allowed=["verbose"], words="Report each stage, with progress bars, on standard error.", last=True
    )

    # what may be sparse: nothing, rows, or for the methods of a graph its rows and itself
    _sparse: ClassVar[Literal["no", "rows", "graphs"]] = "graphs"

    # whether the map is the same in whatever units the columns are
    unit_free: ClassVar[bool] = False

    timings_ = attribute("dict", "Seconds spent in each stage of the fit.", lambda model: model.timings)
    n_features_in_ = attribute("int", "Number of columns of X.", lambda model: model.columns.count)
    feature_names_in_ = attribute(
        "ndarray of str", "Names of the columns of X, if it has names that are all strings.", _names
    )

    @abstractmethod
    def _build(self, fit: Fit) -> Fitted:
        """The model of a fit: neighbours, kernel, spectrum, and how new rows meet them."""

    def _reads(self) -> Reads:
        """What X may be; the rows of a neighbour graph, and the graph itself, may be sparse."""
        given = (getattr(self, name, None) for name in ("metric", "kernel", "weights"))
        precomputed = any(isinstance(one, str) and one == "precomputed" for one in given)
        if not precomputed and reads_mixed(getattr(self, "metric", None)):
            params = getattr(self, "metric_params", None) or {}
            columns = params.get("categorical") if isinstance(params, dict) else None  # the user may change it later
            columns = tuple(columns) if isinstance(columns, list | np.ndarray) else columns
            return Reads(missing=True, mixed=True, categorical=columns)
        sparse = {"no": False, "rows": not precomputed, "graphs": isinstance(self, Neighborhood)}
        return Reads(precomputed, sparse=sparse[self._sparse])

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows; with ``"precomputed"``, their square matrix of distances, weights or kernel values.
        y : array-like of shape (n_samples,), default=None
            Class labels, for the methods that use them; otherwise ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, positive numbers: a row of weight 2 counts as if it were given twice. None: every row
            has the weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _fit(self, X: Any, y: Any, **extras: Any) -> Self:
        reads = self._reads()
        self._validate_params()
        if reads.mixed:
            refuse_vectors(self)
        # the one thing that a fit changes, when all is done: one that fails or is interrupted leaves all as it was
        with at_work(self.n_jobs):
            fit = Fit.of(self, X, y, reads, extras)
            warn_of_loud_columns(self, fit.X, fit.columns.shown, given_graph=extras.get("affinity") is not None)
            model = self._build(fit)
        self.model_ = model
        return self

    def _model(self) -> Any:
        """What the fit left."""
        check_is_fitted(self)
        thread_count(self.n_jobs)  # which may have been changed since: refused where it is no number of threads
        return self.model_

    def _read(self, X: Any) -> tuple[Any, Any]:
        """The model, and new rows as it reads them; a fit in another thread reaches neither."""
        model = self._model()
        return model, read_new(model.name, X, model.reads, model.columns)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)  # scikit-learn would walk through all attributes, while others make inverses

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        reads = self._reads()
        tags.input_tags.pairwise = reads.precomputed
        tags.input_tags.sparse = reads.sparse
        tags.input_tags.allow_nan = reads.missing or reads.gaps
        return tags
