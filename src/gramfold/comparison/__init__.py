"""Several maps of the same rows, judged alike: which is best for what, and whether that is more than noise."""

from gramfold.comparison.best import Best
from gramfold.comparison.table import ComparedMap, Comparison
from gramfold.comparison.together import compare

__all__ = ["Best", "ComparedMap", "Comparison", "compare"]
