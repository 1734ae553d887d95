"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.measure import Measure
from gramfold.diagnostics.short_circuits import ShortCircuits, short_circuits

__all__ = ["Measure", "ShortCircuits", "short_circuits"]
