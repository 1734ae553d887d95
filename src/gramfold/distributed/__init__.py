"""Rows in partitions: Dask collections, and files that are larger than memory."""

from gramfold.distributed.fitting import fit_partitions
from gramfold.distributed.opening import open_rows
from gramfold.distributed.partitions import Partitions
from gramfold.distributed.placing import place_partitions
from gramfold.distributed.scoring import drawn_score, score_sum
from gramfold.distributed.together import drawn_together

__all__ = [
    "Partitions",
    "drawn_score",
    "drawn_together",
    "fit_partitions",
    "open_rows",
    "place_partitions",
    "score_sum",
]
