"""An embedding as an estimator: out-of-sample coordinates and pre-images. Everything reads `model_` only."""

from numbers import Integral
from operator import attrgetter
from typing import Any, Literal, cast, get_args

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.by_partition import by_partition
from gramfold.embedding.estimator import Estimator
from gramfold.embedding.frame import Alignable
from gramfold.embedding.groups import SAMPLE
from gramfold.embedding.made import Way, made_error, made_inverse, made_surroundings
from gramfold.embedding.model import Model
from gramfold.embedding.more_spectrum import Kernelled, leading_eigenvalues_of, negative_part_of, shares_of
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.reading import read_places, rows_or_places
from gramfold.embedding.scoring import trustworthiness_of
from gramfold.embedding.sensitivity import SensitivityKind, kind_of, sensitivity_of
from gramfold.errors import InputError
from gramfold.extension.extrapolation import warn_if_outside
from gramfold.neighbors.partitioned import is_partitioned, outside_containers
from gramfold.runtime.threads import at_work
from gramfold.runtime.warning import is_heard
from gramfold.types import Floats, NegativePart


def _embedding(model: Model) -> Floats:
    return model.aligned


@method
class Embedding(Alignable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of all embeddings: kernel PCA; a subclass defines the kernel and its out-of-sample extension."""

    n_components: int = parameter(
        default=2,
        allowed=[Interval(Integral, 1, None, closed="left")],
        words="Number of dimensions of the embedding.",
        kw_only=False,
    )
    inverse: Way = parameter(
        default="auto",
        allowed=[StrOptions(set(get_args(Way)))],
        words="""How `inverse_transform` computes pre-images. "mixture": a mixture of local affine maps; "barycentric":
        the weighted mean of the nearest training rows, with the weights for which the weighted mean of their
        coordinates gives the requested coordinates; "ridge": kernel ridge regression; "fixed-point": Mika's iteration
        (Gaussian kernel PCA only); "auto": the method's own inverse if it has one (a linear map has its least-squares
        inverse), else "barycentric". The inverse is computed at the first call; the parameter can be changed without
        fitting again.""",
        last=True,
    )

    embedding_ = attribute(
        "ndarray of shape (n_samples, n_components)",
        "Coordinates of the training rows; after a fit on rows in partitions, of those in `sample_`.",
        _embedding,
    )
    sample_ = SAMPLE
    kernel_ = attribute(
        "Kernel",
        "The Gram matrix K, an object with matrix products, columns and feature-space distances.",
        attrgetter("kernel"),
    )
    spectrum_ = attribute(
        "Spectrum",
        """Leading eigenvalues and eigenvectors of the kernel, as many as the embedding has dimensions, their residuals,
        and the solver. `leading_eigenvalues`, `negative_part` and `shares` compute more of the spectrum.""",
        attrgetter("spectrum"),
    )
    kept_ = attribute(
        "ndarray of bool",
        "Mask of the rows that were embedded; the coordinates of the others are NaN.",
        attrgetter("kept"),
    )
    unit_ = attribute(
        "float",
        """Scale of the rows: the model is fitted to X / unit_, and `kernel_`, `spectrum_` and all attributes other than
        the embedding are for X / unit_, unless stated otherwise. It is 1, or a power of two if squares of the values
        would underflow or overflow.""",
        lambda model: model.source.unit.size,
    )

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Floats:
        """Fit the model to the rows of X and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,), default=None
            As for `fit`.
        **fit_params : dict
            Further arguments of `fit`, for the methods that have some.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        if is_partitioned(X):
            return self.fit(X, y, **fit_params).transform(X)
        return self.fit(X, y, **fit_params).embedding_.copy()  # the user's own, as the model's is

    def transform(self, X: Any) -> Floats:
        """Compute the coordinates of new rows (out-of-sample).

        Warns of rows far outside of the training rows (`extrapolation` above 3).

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New rows; with ``"precomputed"``, their values against the training rows.

        Returns
        -------
        coordinates : ndarray of shape (n_new, n_components)
            Their coordinates.
        """
        if is_partitioned(X):
            from gramfold.distributed import place_partitions

            return cast(Floats, place_partitions(self, "transform", X))
        model, rows = self._read(X)
        with at_work(self.n_jobs), self._stage("transform"):
            places: Floats = model.place(rows, self.n_jobs)
        return places

    def sensitivity(self, X: Any) -> Floats:
        """Compute the derivative of the map at given rows: how coordinates change as each column changes.

        It is that of `transform`, as `sensitivity_kind` says: "exact", the derivative of its formula, or "local
        regression", slopes of the coordinates of the 30 nearest training rows on their columns. At a training row it is
        the derivative of the formula around that row. The map of a graph method changes its formula where the nearest
        neighbours or shortest paths of a row change; there the derivative is that of one side.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            New rows, or training rows, without missing values.

        Returns
        -------
        derivatives : ndarray of shape (n_rows, n_components, n_features)
            The derivative of each coordinate by each column, in the units of the embedding and of X.

        See Also
        --------
        gramfold.diagnostics.loadings : The same in words, for the axes and for regions of the map.
        """
        model, rows = self._read(X)
        with at_work(self.n_jobs), self._stage("sensitivity"):
            return sensitivity_of(model, rows, self.n_jobs)

    @property
    def sensitivity_kind(self) -> SensitivityKind:
        """How `sensitivity` is computed with these parameters, fitted or not.

        "exact": the derivative of the out-of-sample formula; "local regression": slopes on the nearest training rows,
        because the formula is constant between changes of the neighbours (binary weights), or the derivative of its
        metric or kernel function is not known; "none": precomputed input, or rows with categories, have no columns to
        differentiate by, and `sensitivity` raises an error.
        """
        return kind_of(self)

    def leading_eigenvalues(self, count: int) -> Floats:
        """Compute more eigenvalues of the kernel than the embedding has dimensions, to read the dimension from them.

        Of the largest connected component. Nothing is fitted again.

        Parameters
        ----------
        count : int
            Number of eigenvalues.

        Returns
        -------
        eigenvalues : ndarray of shape (count,)
            The largest ones, descending; fewer if the kernel has a lower rank.
        """
        with at_work(self.n_jobs), self._stage("spectrum"):
            return leading_eigenvalues_of(self._kernelled(), count)

    def negative_part(self, *, before_repair: bool = False) -> NegativePart:
        """Compute how much of the spectrum of the kernel is negative, which no Euclidean embedding can show.

        Exactly up to 2,000 rows; above by stochastic Lanczos quadrature, with a confidence interval.

        Parameters
        ----------
        before_repair : bool, default=False
            Whether to answer for the kernel before its repair (`repair`, `KernelIsomap`, landmarks of an indefinite
            kernel). The same kernel where nothing was repaired.

        Returns
        -------
        negative : NegativePart
            `mass` Σ|λ<0| / Σ|λ|, its 95% `interval`, `most_negative` (above 2,000 rows a Ritz value, at most 0 and at
            least the smallest eigenvalue), `total` and `positive_total`.
        """
        with at_work(self.n_jobs), self._stage("spectrum"):
            return negative_part_of(self._kernelled(), before_repair)

    def shares(self) -> Floats:
        """Compute the share of each coordinate in the variance of the kernel: λ / Σ λ over its positive eigenvalues.

        Returns
        -------
        shares : ndarray of shape (n_components,)
            They add up to at most 1. Above 2,000 rows the sum of an indefinite kernel is an estimate, as
            `negative_part` is.
        """
        with at_work(self.n_jobs), self._stage("spectrum"):
            return shares_of(self._kernelled())

    def _kernelled(self) -> Kernelled:
        model: Model = self._model()
        return Kernelled(model.name, model.kernel, model.parts[0].spectrum)

    def score(self, X: Any, y: Any = None) -> float:
        """Trustworthiness of the embedding of X, between 0 and 1.

        How far neighbours in the embedding are neighbours in the data (Venna, Kaski 2001), among the rows of X as
        `transform` embeds them, for up to 10 neighbours. Of rows in partitions (Dask, files that are streamed), among
        10,000 that are drawn, by `gramfold.diagnostics.trustworthiness`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed, at least 4.
        y : ignored
            Not used, present for API consistency with scikit-learn.

        Returns
        -------
        trustworthiness : float
            1 if all neighbours in the embedding are neighbours in the data.
        """
        if is_partitioned(X):
            from gramfold.distributed import drawn_score

            return drawn_score(self, X)
        model, rows = self._read(X)
        return trustworthiness_of(model, rows, lambda: self.transform(X))

    @by_partition
    def inverse_transform(self, Y: Any) -> Any:
        """Compute data rows for coordinates of the embedding (pre-images).

        The parameter `inverse` selects the method; it is computed at the first call. `inverse_error()` is its
        cross-validated error. Warns of coordinates far outside of the embedding (`extrapolation` above 3).

        Parameters
        ----------
        Y : array-like of shape (n_points, n_components)
            Coordinates.

        Returns
        -------
        X : ndarray of shape (n_points, n_features)
            Data rows. An array as from every inverse of scikit-learn, whatever `set_output` asks of `transform`.
        """
        model: Model = self._model()
        inverse = made_inverse(self, model)
        places = model.inward(self._read_places(Y, model))
        with self._stage("inverse_transform"):
            if is_heard():
                outside = model.outside_map(places, self.inverse, lambda: made_surroundings(self, model))
                warn_if_outside(outside, "coordinates")
            return model.rebuild(inverse, places)

    def _read_places(self, Y: Any, model: Model) -> Floats:
        return read_places(Y, model.dimensions, [str(name) for name in self.get_feature_names_out()])

    def inverse_error(self) -> float | None:
        """Cross-validated error of `inverse_transform`, computed at the first call.

        Returns
        -------
        error : float or None
            Root mean square error of training rows that were left out, relative to their standard deviation. None for
            precomputed input.
        """
        model: Model = self._model()
        if model.rows is None:
            return None
        return made_error(self, model)

    @by_partition
    def extrapolation(self, points: Any, *, of: Literal["auto", "rows", "coordinates"] = "auto") -> Floats:
        """Measure how far given rows, or coordinates, lie outside of the training data.

        The distance to the nearest training row, divided by the neighbourhood radius of that row (its distance to its
        8th neighbour if the method has no graph). It is 0 at a training row, below 1 among them, and grows with the
        distance. `transform` and `inverse_transform` warn above 3; for linear and continuous maps only of rows that are
        farther from the mean than every training row.

        Parameters
        ----------
        points : array-like of shape (n_points, n_features) or (n_points, n_components)
            Rows as for `transform`, or coordinates as for `inverse_transform`.
        of : {"auto", "rows", "coordinates"}
            What `points` are. "auto" decides by the number of columns; an error if both have the same number.

        Returns
        -------
        extrapolation : ndarray of shape (n_points,)
            The extrapolation of each point.
        """
        model: Model = self._model()
        if of == "auto":
            of = rows_or_places(points, model.columns.count, model.dimensions)
        if of == "coordinates":
            return made_surroundings(self, model)(model.inward(self._read_places(points, model)))
        if of != "rows":
            raise InputError(f"of={of!r} is not valid: use 'rows', 'coordinates' or 'auto'.")
        model, rows = self._read(points)
        return model.source.outside(rows, self.n_jobs)

    @property
    def _n_features_out(self) -> int:
        return int(self._model().dimensions)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# scikit-learn wraps methods when their class is made: what goes around its wrapper can only be put on afterwards
Embedding.transform = outside_containers(Embedding.transform)  # type: ignore[method-assign]
Embedding.fit_transform = outside_containers(Embedding.fit_transform)  # type: ignore[method-assign]
