"""What the methods of a kernel function share: its values, the rows that carry it, and the inverse of the Gaussian."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from gramfold.embedding.fit import Fit
from gramfold.embedding.model import Model
from gramfold.embedding.parameters import attribute, method, parameter
from gramfold.embedding.solving import Choose, Whole, judged
from gramfold.extension.extrapolation import EUCLIDEAN, Ball
from gramfold.extension.function_placement import FunctionInverse, check_fixed_point
from gramfold.extension.placement import Built
from gramfold.extension.table_source import TableSource
from gramfold.kernels.functions import NAMES, SYNONYMS, KernelFunction
from gramfold.kernels.landmarks import Sampling
from gramfold.kernels.nystrom import function_spectrum
from gramfold.kernels.values import (
    CarriedValues,
    FunctionMemory,
    KernelSettings,
    KernelValues,
    kernel_unit,
    map_degree,
)


@method
class KernelFunctions:
    """A kernel as a function of two rows, and the rows that carry it."""

    kernel: KernelFunction = parameter(
        default="rbf",
        allowed=[StrOptions({*NAMES, *SYNONYMS, "precomputed"}), callable],
        words="""Kernel: "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed" or a function of two rows.
        "gaussian" and "polynomial" are synonyms of "rbf" and "poly".""",
    )
    gamma: float | None = parameter(
        default=None,
        allowed=[Interval(Real, 0, None, closed="neither"), None],
        words="""Coefficient γ of the Gaussian kernel exp(−γ|x−y|²), the polynomial kernel (γ⟨x,y⟩ + coef0)^degree and
        the sigmoid kernel. None: 1/(2σ²) with σ² the total variance of the rows (Gaussian), or 1/n_features (the
        others).""",
    )
    degree: float = parameter(
        default=3, allowed=[Interval(Real, 0, None, closed="neither")], words="Degree of the polynomial kernel."
    )
    coef0: float = parameter(
        default=1.0,
        allowed=[Interval(Real, None, None, closed="neither")],
        words="Constant term of the polynomial and sigmoid kernels.",
    )
    kernel_params: Mapping[str, Any] | None = parameter(
        default=None, allowed=[dict, None], words="Keyword arguments of a kernel that is a function."
    )
    landmarks: Any = parameter(
        default=None,
        allowed=[Interval(Integral, 2, None, closed="left"), "array-like", None],
        words="""Number of landmarks, or the indices of the rows that are landmarks. None: all rows, with an n × n
        matrix. Where indices are given, a precomputed kernel may have one column per landmark instead of all
        columns.""",
    )
    landmark_choice: Sampling = parameter(
        default="random",
        allowed=[StrOptions({"random", "kmeans", "leverage"})],
        words="""Landmark selection. "random": rows drawn at random; "kmeans": the rows nearest the centres of k-means;
        "leverage": rows drawn with probabilities proportional to their ridge leverage scores.""",
    )

    gamma_ = attribute("float or None", "The γ used.")
    width_ = attribute("float or None", "σ of the Gaussian, γ = 1/(2σ²).")
    landmarks_ = attribute(
        "ndarray of int or None",
        """Row indices of the landmarks; None if all rows are used. After a fit on rows in partitions they are indices
        of `sample_`.""",
    )
    error_ = attribute(
        "float or None",
        """Relative error of the Nyström approximation: the trace of K − C A† Cᵀ divided by that of K. None without
        landmarks, or where only some columns of the kernel are given.""",
    )
    centered_error_ = attribute(
        "float or None",
        "Upper bound of the same error for the centred kernel, which is the one that is embedded.",
    )


def function_map(
    fit: Fit,
    settings: KernelSettings,
    build: Callable[[CarriedValues, Whole, Fit], Built],
    choose: Choose = function_spectrum,
    streams: bool | None = None,
) -> Model:
    """The map of a kernel function: `build` makes the kernel of its values, `choose` finds its eigenpairs.

    `streams` is whether the values of all rows are computed for each product; None where that is no choice.
    """
    if settings.inverse == "fixed-point":
        check_fixed_point(settings.kernel)
    memory, degree = FunctionMemory(settings, fit.reads.precomputed, streams), map_degree(settings.kernel)
    fit.check_components(fit.X.shape[0])
    fit.forecast(memory, partial(memory.advice, fit.X.shape[0], fit.X.dtype.itemsize))
    unit = kernel_unit(settings.kernel, fit.X)
    rows = unit.inward(fit.X)
    values, landmarks = KernelValues.of(settings, rows, unit, fit.sample_weight), None
    if settings.landmarks is not None:
        with fit.stages("landmarks"):
            landmarks = values.carriers(settings, rows, fit.rng)
    known = None if fit.reads.precomputed else rows
    source = TableSource(unit, known, *((None, None) if known is None else (EUCLIDEAN, Ball.of(known))))
    found = {"gamma_": values.gamma, "width_": values.width, "landmarks_": landmarks}
    kernel = partial(build, CarriedValues(values, rows, landmarks, fit.sample_weight))
    model = fit.solve_whole(source, kernel, degree=degree or 0.0, choose=choose, found=found)
    # of the kernels only the Gaussian looks at what is near in the columns
    remedy, near = "another gamma" if values.gamma is not None else "", values.width is not None
    own = FunctionInverse(settings.kernel, values.gamma, landmarks)
    return judged(fit, replace(model, own=own), remedy=remedy, keeps_neighbors=near)
