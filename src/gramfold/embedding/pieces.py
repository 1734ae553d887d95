"""The parts of a map: one for connected data, several where a graph in pieces is embedded apart."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramfold.types import Floats

# Pieces are laid along the first axis with this gap, relative to the widest of them: a new row may lie somewhat outside
# of its piece, and should not seem to lie in the next.
_GAP = 0.5


@dataclass(frozen=True)
class Piece:
    """One connected part of the data with its kernel and its part of the map."""

    source: Any  # the Graph, or the training rows
    kernel: Any  # its Kernel; None for a single point
    spectrum: Any  # its Spectrum; None for a single point
    coordinates: Floats  # (n_vertices, p), in its own frame
    offset: Floats  # (p,) of its frame on the map


def side_by_side(pieces: list[Piece]) -> list[Piece]:
    """Pieces moved apart along the first axis."""
    if len(pieces) == 1:
        return pieces
    widths = [float(np.ptp(piece.coordinates[:, 0])) for piece in pieces]
    gap = _GAP * max(widths) or 1.0
    laid, edge = [], 0.0
    for piece, width in zip(pieces, widths, strict=True):
        offset = np.zeros_like(piece.offset)
        offset[0] = edge - piece.coordinates[:, 0].min()
        laid.append(replace(piece, offset=offset))
        edge += width + gap
    return laid
