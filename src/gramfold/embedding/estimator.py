"""The base class of all estimators: parameters, `fit`, and scikit-learn's protocol."""

import os
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from gramfold.embedding.fit import Fit
from gramfold.embedding.groups import Neighborhood
from gramfold.embedding.made import MADE, made_verdict
from gramfold.embedding.mixed_rows import refuse_vectors
from gramfold.embedding.model import Fitted
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import Reads, read_new
from gramfold.neighbors.loud import warn_of_loud_columns
from gramfold.neighbors.metrics import reads_mixed
from gramfold.neighbors.partitioned import is_partitioned
from gramfold.runtime.progress import Stages
from gramfold.runtime.threads import at_work, thread_count
from gramfold.runtime.warning import remembered_warnings

if TYPE_CHECKING:
    from gramfold.diagnostics import Verdict
    from gramfold.embedding.summary import Summary


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
    progress: Callable[[str, int, int | None], Any] | None = parameter(
        default=None,
        allowed=[callable, None],
        words="""Function that is called as ``progress(stage, done, total)`` at the start of each stage, in between at
        most ten times a second, and at its end, where `done` equals `total`; `total` is None while it is not known. It
        is called by the thread that called `fit`, and an error that it raises ends the fit. Pickles leave it out.""",
        last=True,
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
        if is_partitioned(X):
            from gramfold.distributed import fit_partitions

            self.model_ = fit_partitions(self, X, y, extras)
            return self
        if reads.mixed:
            refuse_vectors(self)
        # the one thing that a fit changes, when all is done: one that fails or is interrupted leaves all as it was
        with at_work(self.n_jobs), remembered_warnings() as warned:
            fit = Fit.of(self, X, y, reads, extras)
            warn_of_loud_columns(self, fit.X, fit.columns.shown, given_graph=extras.get("affinity") is not None)
            model = self._build(fit)
        self.model_ = replace(model, warned=tuple(dict.fromkeys(warned))) if warned else model
        return self

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Write the fitted model to a file, which `gramfold.load` reads.

        Parameters
        ----------
        path : str or path-like
            File to write or replace, at once; the usual ending is .gramfold.
        compact : bool, default=False
            Whether to keep only what out-of-sample coordinates need; the rest then raises an error.

        See Also
        --------
        gramfold.save : The same for a pipeline with transformers of scikit-learn.
        """
        from gramfold.io.model_file import save

        save(self, path, compact=compact)

    def summary(self) -> "Summary":
        """Say what the fitted model is: data, parameters, graph, solver, warnings, time and memory.

        It is read from what the fit left, and takes no time. Parameters are those that the estimator has now. The
        verdict is among it only if `verdict()` was called since the fit.

        Returns
        -------
        summary : Summary
            Print it; all that it says is an attribute too: `rows`, `columns`, `parameters`, `graph`, `stages` …

        Examples
        --------
        >>> from gramfold import PCA
        >>> from gramfold.datasets import make_s_curve
        >>> model = PCA(whiten=True).fit(make_s_curve(300, random_state=0).points)
        >>> print(model.summary())  # doctest: +ELLIPSIS
        PCA
          data         300 rows of 3 columns, to 2 dimensions
          parameters   whiten=True
          solver       ...
          eigenvalues  ...
          variance     ...
          time         ...
          memory       ...
        """
        from gramfold.embedding.summary import summary_of

        return summary_of(self, self._model())

    def verdict(self, *, n_neighbors: int = 10, sample: int | None = None, random_state: int = 0) -> "Verdict":
        """Say in plain words what shape the data have, how far the embedding shows it, and what to try next.

        Parameters
        ----------
        n_neighbors, sample, random_state
            As for `gramfold.diagnostics.verdict`. With the defaults it is computed once after a fit, and kept.

        Returns
        -------
        verdict : Verdict
            Print it. It has `kind`, the shape of the training rows, `faults` of the embedding, and `sentences` with the
            number and the test behind each. A method that keeps no rows (`OrdinalMDS`), and a clusterer, has none: an
            error says what to call.
        """
        from gramfold.diagnostics import verdict

        def made() -> "Verdict":
            return verdict(self, n_neighbors=n_neighbors, sample=sample, random_state=random_state)

        found: Verdict = made_verdict(self, self._model(), (n_neighbors, sample, random_state), made)
        return found

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        rows: Any = None,
        table: Any = None,
        color: Any = None,
        label: Any = None,
        pictures: Any = None,
        title: str | None = None,
        stability: bool = False,
        dimension: bool = True,
        most: int = 200_000,
        verbose: int | None = None,
        progress: Callable[[str, int, int | None], Any] | None = None,
    ) -> Path:
        """Write one HTML file that shows the map and whether to believe it; it opens from disk, without a network.

        Parameters
        ----------
        path : str or path-like
            File to write or replace, at once; it ends in .html.
        rows, table, color, label, pictures, title, stability, dimension, most, progress
            As for `gramfold.report.write_report`: what is shown of each row, what colours the map, what is computed.
        verbose : int, optional
            Report each stage on standard error. By default as the model was told to.

        Returns
        -------
        path : Path
            The file.

        See Also
        --------
        gramfold.report.write_report : The same for a pipeline, and for any map of any rows.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from gramfold import PCA
        >>> from gramfold.datasets import make_s_curve
        >>> curve = make_s_curve(200, random_state=0)
        >>> model = PCA().fit(curve.points)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = model.report(Path(folder) / "curve.html", color=curve.truth[:, 0])
        ...     page.name
        'curve.html'
        """
        from gramfold.report import write_report

        return write_report(
            path,
            self,
            rows=rows,
            table=table,
            color=color,
            label=label,
            pictures=pictures,
            title=title,
            stability=stability,
            dimension=dimension,
            most=most,
            verbose=self.verbose if verbose is None else verbose,
            progress=self.progress if progress is None else progress,
        )

    def _model(self) -> Any:
        """What the fit left."""
        check_is_fitted(self)
        thread_count(self.n_jobs)  # which may have been changed since: refused where it is no number of threads
        return self.model_

    def _read(self, X: Any) -> tuple[Any, Any]:
        """The model, and new rows as it reads them; a fit in another thread reaches neither."""
        model = self._model()
        return model, read_new(model.name, X, model.reads, model.columns)

    # scikit-learn's `_repr_html_` calls this one, unless set_config(display="text")
    def _repr_html_inner(self) -> str:
        """The picture of the map and what is known of the fit; without a map, scikit-learn's diagram."""
        from gramfold.notebook import html_card

        model = vars(self).get("model_")
        drawn = model is not None and model.remains is None and hasattr(self, "embedding_")
        return html_card(self) if drawn else str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows, and its plain text elsewhere."""
        bundle = {"text/plain": repr(self)}
        return bundle | {"text/html": self._repr_html_inner()} if get_config()["display"] == "diagram" else bundle

    def _stage(self, name: str) -> AbstractContextManager[None]:
        """Work of a fitted model that may take long, and is told as the stages of a fit are."""
        return Stages(self.verbose, type(self).__name__, self.progress)(name)

    def __getstate__(self) -> dict[str, Any]:
        # a callback belongs to the session that it tells, and often holds what cannot be pickled: a bar, a widget
        state = {**super().__getstate__(), "progress": None}
        state.pop(MADE, None)
        return state

    def __sklearn_clone__(self) -> Self:
        clone: Self = super(Estimator, copy(self)).__sklearn_clone__()  # of a copy, which has no callback
        clone.progress = self.progress  # shared: a copy of a bar or a widget would show nothing
        return clone

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)  # scikit-learn would walk through all attributes, while others make inverses

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        reads = self._reads()
        tags.input_tags.pairwise = reads.precomputed
        tags.input_tags.sparse = reads.sparse
        tags.input_tags.allow_nan = reads.missing or reads.gaps
        return tags
