"""Summary lines of `judge` and `embed`: the verdict in words."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gramfold.diagnostics import Faults, Judged, Verdict


def verdict_lines(judged: "Judged", found: "Faults | None", model: Any = None, names: Any = None) -> list[str]:
    """The sentences of the verdict, one in a line."""
    from gramfold.diagnostics.plain_words import verdict_of

    return lines_of(verdict_of(judged, model, found, names))


def lines_of(said: "Verdict") -> list[str]:
    """The sentences of a verdict, one in a line."""
    return [f"{'verdict' if place == 0 else '':<9} {one.text}" for place, one in enumerate(said.sentences)]
