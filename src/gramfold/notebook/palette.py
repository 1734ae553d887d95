"""The colours of every picture: of plain dots, of dots with a missing value, of categories, and how crowds are shaded.

Categories have the colours of Okabe and Ito, which people with colour vision deficiencies tell apart.
"""

import numpy as np

from gramfold.types import Floats, Integers

PLAIN = "#3b6ea5"
ABSENT = "#b8b8b8"  # points with a missing value
# Okabe, Ito (2008), in an order in which neighbours differ most and yellow, the faintest on white, comes last
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442")
# the same hues as they are, darker and lighter: mixed with black (0) or white (1), and how much of it
_SHADES = ((0.0, 0.0), (0.0, 0.45), (1.0, 0.45))
_FAINTEST = 0.3  # opacity of a cell with one point
_FULL = 0.99  # share of the cells that are not the darkest


def rgb(color: str) -> Floats:
    """Red, green and blue from 0 to 1 of a colour written as #rrggbb, (3,)."""
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255


def hue_of_category(j: int) -> Floats:
    """Colour of a category by its number, (3,); after eight come darker ones, then lighter ones, then these again."""
    turn, hue = divmod(j, len(OKABE_ITO))
    towards, share = _SHADES[turn % len(_SHADES)]
    # black has no darker shade
    base = rgb(OKABE_ITO[hue] if towards or turn == 0 or OKABE_ITO[hue] != "#000000" else "#999999")
    return np.asarray((1 - share) * base + share * towards)


def opacity(counts: Integers) -> Floats:
    """Of cells with so many points: from faint where there is one point to 1 where there are most."""
    most = max(float(np.quantile(counts, _FULL)), 2.0)
    return np.asarray(_FAINTEST + (1 - _FAINTEST) * np.clip(np.log(counts) / np.log(most), 0.0, 1.0))
