"""The sections of the report of one map, in their order."""

from collections.abc import Callable

from gramfold.embedding.summary import PRECOMPUTED
from gramfold.errors import GramfoldError
from gramfold.report.markup import named, not_shown, reason_of, section
from gramfold.report.sections.dimension import dimension_section
from gramfold.report.sections.distances import distances_section
from gramfold.report.sections.faults import faults_section
from gramfold.report.sections.found import Found
from gramfold.report.sections.made import made_section
from gramfold.report.sections.quality import quality_section
from gramfold.report.sections.spectrum import spectrum_section
from gramfold.report.sections.stability import stability_section
from gramfold.report.sections.verdict import verdict_section
from gramfold.report.sections.warned import warnings_section
from gramfold.report.subject import Sections, Subject
from gramfold.runtime.counting import counted
from gramfold.runtime.progress import Stages

_PARTS: tuple[tuple[str, str, Callable[[Found], str]], ...] = (
    ("faults", "The four faults", faults_section),
    ("quality", "Quality", quality_section),
    ("distances", "Distances", distances_section),
    ("spectrum", "Spectrum", spectrum_section),
    ("dimension", "Dimension of the data", dimension_section),
    ("stability", "Stability", stability_section),
    ("warnings", "Warnings of the fit", warnings_section),
    ("made", "How it was made", made_section),
)


def believed(subject: Subject, stages: Stages | None = None) -> Sections:
    """The sections of a report on one map; `stages` tell how many of them are made."""
    found = Found(subject)
    parts = (stages or Stages()).bar(_PARTS, len(_PARTS), "sections")
    verdict = _made("verdict", "Verdict", verdict_section, found)
    below = "\n".join(_made(key, title, make, found) for key, title, make in parts)
    return Sections(head_of(subject), verdict, below)


def _made(key: str, title: str, make: Callable[[Found], str], found: Found) -> str:
    """A section, or why it cannot be made."""
    try:
        return make(found)
    except GramfoldError as error:
        return section(key, title, "", not_shown(reason_of(error)))


def head_of(subject: Subject) -> str:
    """Title, and one line: method, rows, columns, dimensions."""
    known = subject.method or ("a map made elsewhere" if subject.model is None else type(subject.model).__name__)
    sizes = f"{counted(len(subject.Y), 'row')}{_columns(subject)} → {counted(int(subject.Y.shape[1]), 'dimension')}"
    return f'<h1>{named(subject.title)}</h1><p class="facts">{named(known)} · {sizes}{_metric(subject)}</p>'


def _metric(subject: Subject) -> str:
    """Named where it is not the usual one; distances that were given are told of already."""
    if subject.precomputed:
        return ""
    metric = subject.metric
    name = str(getattr(metric, "__name__", type(metric).__name__)) if callable(metric) else str(metric)
    return "" if name == "euclidean" else f" · metric {named(name)}"


def _columns(subject: Subject) -> str:
    fitted = None if subject.model is None else vars(subject.model).get("model_")
    if subject.precomputed or (fitted is not None and fitted.reads.precomputed):
        return f" ({PRECOMPUTED})"
    if fitted is not None:
        return f" × {counted(int(fitted.columns.count), 'column')}"
    shape: tuple[int, ...] = getattr(subject.X, "shape", ())
    return f" × {counted(int(shape[1]), 'column')}" if len(shape) > 1 else ""
