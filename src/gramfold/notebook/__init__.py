"""What a notebook shows of a fitted model: a small picture of its map and a few lines, within a blink.

Nothing here needs matplotlib, whose import alone takes longer than the whole picture.
"""

from gramfold.notebook.card import html_card

__all__ = ["html_card"]
