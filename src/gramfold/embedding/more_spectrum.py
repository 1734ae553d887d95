"""What more of a kernel's spectrum a fitted model can tell, computed when it is asked for: the fit needs only a few."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from gramfold.errors import InputError
from gramfold.kernels.gram import GramKernel
from gramfold.kernels.linear import LinearGram
from gramfold.kernels.mercer import RepairedGram
from gramfold.kernels.nystrom import NystromGram, function_spectrum
from gramfold.kernels.penalty import PenaltyKernel, leading_penalties
from gramfold.kernels.semidefinite import FactorKernel, factored_spectrum_of
from gramfold.kernels.transformational import TransformationalKernel
from gramfold.spectral.negative import negative_part
from gramfold.spectral.policy import gram_rounding, leading_spectrum
from gramfold.types import Floats, Kernel, NegativePart, Spectrum


@dataclass(frozen=True)
class Kernelled:
    """A fitted kernel and its leading eigenpairs, over its vertices."""

    name: str  # of the estimator
    kernel: Kernel
    spectrum: Spectrum


def leading_eigenvalues_of(fitted: Kernelled, count: Any) -> Floats:
    """The `count` leading eigenvalues of the kernel, descending."""
    kernel = fitted.kernel
    most = int((kernel.mass > 0).sum()) - kernel.null.shape[1]
    if isinstance(count, bool) or not isinstance(count, Integral) or not 1 <= int(count) <= most:
        raise InputError(
            f"leading_eigenvalues({count!r}): the kernel of {fitted.name} has {most} eigenvalues beyond its known null "
            f"space: pass an integer from 1 to {most}."
        )
    if isinstance(kernel, TransformationalKernel):
        return kernel.eigenvalues()[:count]
    if isinstance(kernel, LinearGram) and (values := kernel.eigenvalues()) is not None:
        values = np.where(values > gram_rounding(kernel), values, 0.0)
        return np.asarray(np.pad(values, (0, max(0, int(count) - len(values))))[:count])
    if isinstance(kernel, PenaltyKernel):
        return leading_penalties(kernel, int(count)).eigenvalues
    find = factored_spectrum_of if isinstance(kernel, FactorKernel) else function_spectrum
    return find(kernel, int(count)).eigenvalues


def negative_part_of(fitted: Kernelled, before_repair: bool) -> NegativePart:
    """Of the kernel, or of what it was before its repair; kernels of other kinds have none, by construction."""
    kernel, spectrum = fitted.kernel, fitted.spectrum
    if isinstance(kernel, NystromGram) and before_repair:
        return kernel.white.negative
    if isinstance(kernel, RepairedGram) and before_repair:
        kernel = kernel.unrepaired()
        spectrum = leading_spectrum(kernel, len(spectrum), start=spectrum.eigenvectors)  # a constant turns the axes
    if isinstance(kernel, GramKernel):
        return negative_part(kernel, spectrum)
    return NegativePart(0.0, 0.0, (0.0, 0.0), np.nan if spectrum.total is None else spectrum.total)


def shares_of(fitted: Kernelled) -> Floats:
    """Share of each eigenvalue of the map in the sum of the positive ones."""
    spectrum = fitted.spectrum
    if spectrum.total is None and fitted.kernel.kind == "gram":
        raise InputError(
            f"the kernel of {fitted.name} has no directions beside those of the map, so shares of it would say nothing "
            "of the data: use PCA().fit(X).shares(), or compare leading_eigenvalues() with one another."
        )
    if spectrum.total is None:
        raise InputError(
            f"the trace of the kernel of {fitted.name}, which is a function of a sparse matrix, is not computed, so "
            "shares of it are not known: compare leading_eigenvalues() with one another, or the penalties of spectrum_."
        )
    positive = negative_part_of(fitted, before_repair=False).positive_total
    values = np.maximum(spectrum.eigenvalues, 0.0)
    return np.asarray(values / positive if positive > 0 else np.zeros_like(values))
