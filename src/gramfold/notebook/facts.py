"""What is said beside the picture: only what is known of the fit already, nothing is computed for it."""

from collections.abc import Mapping
from reprlib import Repr
from typing import Any

import numpy as np

from gramfold.embedding.changed import changed_parameters, parameters_in_words
from gramfold.embedding.made import known_verdict
from gramfold.kernels.gram import GramKernel
from gramfold.notebook.numerals import percent
from gramfold.runtime.counting import counted

_LONGEST = 60  # letters of a value
_NAMED = 4  # columns
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _LONGEST


def facts_of(estimator: Any) -> dict[str, str]:
    """What is known, by a word that says what it is."""
    model = estimator.model_
    found = {
        "columns": _columns(model.columns.names),
        "parameters": parameters_in_words(changed_parameters(estimator)),
        "fit": _seconds(model.timings),
        "variance": _variance(estimator),
        "certificate": certified(estimator.certificate_) if hasattr(estimator, "certificate_") else "",
        "stress": f"{model.found['stress_']:.3g}" if "stress_" in model.found else "",
        "verdict": _verdict(estimator),
    }
    return {name: text for name, text in found.items() if text}


def size_of(estimator: Any) -> str:
    """From so many rows and columns to so many coordinates or clusters."""
    model, places, labels = estimator.model_, estimator.embedding_, getattr(estimator, "labels_", None)
    given = "precomputed" if model.reads.precomputed else counted(model.columns.count, "column")
    made = counted(places.shape[1], "coordinate") if labels is None else counted(estimator.n_clusters_, "cluster")
    return f"{counted(model.n_rows, 'row')} × {given} → {made}"


def certified(certificate: Any) -> str:
    """The proof of a semidefinite program in a sentence."""
    return f"within {certificate.gap:.1e} of the largest variance that is possible"


def _columns(names: tuple[str, ...] | None) -> str:
    if names is None:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(_SHORT.repr(name)[1:-1] for name in names[:_NAMED]) + more


def _seconds(timings: Mapping[str, float]) -> str:
    whole = sum(timings.values())
    if not timings:
        return ""
    stage, longest = max(timings.items(), key=lambda one: one[1])
    return _time(whole) + (f", of which {_time(longest)} for {stage}" if whole >= 1 else "")


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms" if seconds >= 1e-3 else "under 1 ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def _variance(estimator: Any) -> str:
    """The share of the map, where the fit found it."""
    found = estimator.model_.found
    if "explained_variance_ratio_" in found:
        return f"{percent(float(np.sum(found['explained_variance_ratio_'])))} explained"
    kernel, spectrum = getattr(estimator, "kernel_", None), getattr(estimator, "spectrum_", None)
    # a Gram matrix of distances may have negative eigenvalues, and their sum would have to be computed
    if kernel is None or spectrum is None or isinstance(kernel, GramKernel) or not spectrum.total:
        return ""
    return f"{percent(float(spectrum.eigenvalues.clip(min=0).sum() / spectrum.total))} of the kernel's"


def _verdict(estimator: Any) -> str:
    """The headline of a verdict that was asked for; none is computed here."""
    verdict = known_verdict(estimator)
    if verdict is None:
        return ""
    faults = f"; faults of the map: {', '.join(verdict.faults)}" if verdict.faults else "; no fault of the map found"
    return f"{verdict.kind} ({verdict.sure}){faults}"
