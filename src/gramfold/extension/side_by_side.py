"""Components that are embedded apart lie beside each other on one map."""

from dataclasses import replace

import numpy as np

from gramfold.extension.placement import Part

# They are laid along the first axis with this gap, relative to the widest of them: a new row may lie somewhat outside
# of its component, and should not seem to lie in the next.
_GAP = 0.5


def side_by_side(parts: list[Part]) -> list[Part]:
    """Parts moved apart along the first axis."""
    if len(parts) == 1:
        return parts
    widths = [float(np.ptp(part.coordinates[:, 0])) for part in parts]
    gap = _GAP * max(widths) or 1.0
    laid, edge = [], 0.0
    for part, width in zip(parts, widths, strict=True):
        offset = np.zeros_like(part.offset)
        offset[0] = edge - part.coordinates[:, 0].min()
        laid.append(replace(part, offset=offset))
        edge += width + gap
    return laid
