"""How the map was made, so that it can be made again."""

from collections.abc import Mapping
from typing import Any

from gramfold.embedding.changed import changed_parameters, parameters_in_words
from gramfold.embedding.model import Fitted
from gramfold.embedding.summary import Summary, summary_of
from gramfold.notebook.numerals import percent
from gramfold.report.charts import stage_bar
from gramfold.report.markup import bullets, clean, code, details, named, pairs, paragraph, section, table, value
from gramfold.report.provenance import versions
from gramfold.report.sections.found import Found

_DIGEST = 16  # letters of it that are shown
_NAMED = 30  # columns that are listed


def made_section(found: Found) -> str:
    """Facts, call, steps and decisions, times."""
    subject = found.subject
    model = None if subject.model is None else vars(subject.model).get("model_")
    summary = summary_of(subject.model, model) if isinstance(model, Fitted) else None
    parts = [pairs(_facts(found, summary))]
    if subject.call:
        parts.append(
            f'<h3>To make it again</h3><pre class="copy" tabindex="0"><code>{clean(subject.call)}</code></pre>'
        )
    if subject.steps:
        parts.append(f"<h3>Steps before the method</h3>{bullets(map(code, subject.steps), 'steps')}")
    if subject.decisions:
        parts.append(f"<h3>Decisions</h3>{bullets(map(named, subject.decisions), 'decisions')}")
    seconds = subject.seconds or ({} if summary is None else summary.stages)
    if seconds:
        parts.append(f"<h3>Time</h3>{_times(seconds)}")
    parts.append(_columns(subject.names))
    lead = paragraph(_lead(subject.digest))
    return section("made", "How it was made", lead, "".join(parts))


def _lead(digest: str) -> str:
    if not digest:
        return "The same rows, call and versions make the same map again."
    return (
        "The same rows, call and versions make the same map again. The digest says whether rows are the same: "
        f"{code('gramfold.report.digest_of(X)')} gives it."
    )


def _facts(found: Found, summary: Summary | None) -> dict[str, str]:
    """Words and what they mean, as HTML."""
    subject = found.subject
    facts: dict[str, str] = {}
    if summary is None:
        facts["method"] = "not known: the map was made elsewhere"
    else:
        facts["method"] = clean(summary.name)
        facts["parameters"] = clean(parameters_in_words(changed_parameters(subject.model)) or "all at their defaults")
        facts["data"] = clean(dict(summary.lines())["data"])
        if summary.graph is not None:
            facts["neighbour graph"] = clean(str(summary.graph))
        if summary.solver is not None:
            facts["eigensolver"] = clean(summary.solver)
        if summary.residual is not None:
            shown = f"{summary.residual:.0e}".replace("-", "−")
            facts["largest residual"] = f"{value('made.residual', summary.residual, shown)} of its eigenvalue"
        facts |= {word: clean(text) for word, text in summary.found.items()}
        if summary.compact:
            facts["compact"] = "saved with compact=True: only what transform needs"
    judged = subject.judged
    if judged is not None:
        drawn = "all of them" if judged.exact else f"{len(judged.rows):,} of them drawn"
        facts["judged by"] = f"{judged.n:,} rows, {drawn}, {judged.n_neighbors} neighbours of each"
    if subject.digest:
        shown = value("made.digest", subject.digest, subject.digest[:_DIGEST])
        facts["digest of the rows"] = f"<code>{shown}</code>"
    facts["versions"] = clean(", ".join(f"{name} {one}" for name, one in versions().items()))
    facts["seed of the report"] = value("made.seed", str(subject.seed), str(subject.seed))
    return facts


def _times(seconds: Mapping[str, float]) -> str:
    """A bar for each stage, where it begins and ends within all of them."""
    whole = sum(seconds.values())
    rows, start = [], 0.0
    for stage, spent in seconds.items():
        share = spent / whole if whole > 0 else 0.0
        bar = stage_bar(start, share, f"{stage}: {spent:.2f} seconds, {percent(share)} of all")
        cells = [value(f"seconds.{stage}", float(spent), f"{spent:.2f} s"), percent(share), bar]
        rows.append((clean(stage), cells))
        start += share
    return table(
        f"Seconds of each stage, {whole:.2f} in all", ["Stage", "Time", "Share", "Drawn"], rows, kind="numbers"
    )


def _columns(names: tuple[Any, ...]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    listed = ", ".join(named(name) for name in names[:_NAMED]) + more
    return details(f"The {len(names):,} columns", paragraph(listed))
