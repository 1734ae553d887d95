"""Numbers that say how far a map can be believed: of gramfold's maps and of anybody's."""

from gramfold.diagnostics.faults import Fault, Faults, faults
from gramfold.diagnostics.judged import Judged
from gramfold.diagnostics.measure import Measure

__all__ = ["Fault", "Faults", "Judged", "Measure", "faults"]
