"""Axes with ticks and names around marks, as one SVG with a title and a description for those who do not see it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramfold.report.charts.scales import Scale
from gramfold.report.markup import clean
from gramfold.types import Floats

_LETTER = 7.0  # pixels: width of a digit of a label
_BELOW, _ABOVE, _RIGHT = 38, 10, 12  # pixels around the axes
_NAME = 16  # of the name of the vertical axis
_TICK = 4


@dataclass(frozen=True)
class Frame:
    """Size of a chart, in pixels: small, since letters are not to shrink on a narrow screen."""

    width: int = 340
    height: int = 240


@dataclass
class Axes:
    """Two scales, their names, and what is drawn between them."""

    key: str  # of the chart on its page
    title: str
    words: str  # what is seen, for those who do not see it
    x: Scale
    y: Scale
    x_name: str
    y_name: str
    frame: Frame = field(default_factory=Frame)
    marks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        widest = max((len(text) for _, text in self.y.ticks), default=1)
        self.left = _NAME + _LETTER * widest + 2 * _TICK
        self.top, self.right = float(_ABOVE), float(self.frame.width - _RIGHT)
        self.bottom = float(self.frame.height - _BELOW)

    def place(self, x: Any, y: Any) -> Floats:
        """Pixels (m, 2) of values."""
        across = self.left + self.x(x) * (self.right - self.left)
        down = self.bottom - self.y(y) * (self.bottom - self.top)
        return np.column_stack(np.broadcast_arrays(across, down))

    def add(self, *marks: str) -> None:
        """Draw these, in the order in which they come."""
        self.marks += marks

    def svg(self) -> str:
        """The chart."""
        width, height = self.frame.width, self.frame.height
        return (
            f'<svg class="plot" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-labelledby="{self.key}-title {self.key}-desc"><title id="{self.key}-title">{clean(self.title)}'
            f'</title><desc id="{self.key}-desc">{clean(self.words)}</desc>{self._across()}{self._down()}'
            f"{''.join(self.marks)}</svg>"
        )

    def _across(self) -> str:
        parts = [f'<line class="axis" x1="{self.left:.1f}" y1="{self.bottom}" x2="{self.right}" y2="{self.bottom}"/>']
        last = -np.inf  # the end of the label before
        for value, text in self.x.ticks:
            at = self.left + float(self.x(value)) * (self.right - self.left)
            wide = _LETTER * len(text)
            parts.append(
                f'<line class="axis" x1="{at:.1f}" y1="{self.bottom}" x2="{at:.1f}" y2="{self.bottom + _TICK}"/>'
            )
            if at - wide / 2 < last + _TICK or at + wide / 2 > self.frame.width:
                continue
            last = at + wide / 2
            parts.append(f'<text x="{at:.1f}" y="{self.bottom + 16}" text-anchor="middle">{clean(text)}</text>')
        middle = (self.left + self.right) / 2
        parts.append(
            f'<text class="name" x="{middle:.1f}" y="{self.frame.height - 4}" text-anchor="middle">'
            f"{clean(self.x_name)}</text>"
        )
        return "".join(parts)

    def _down(self) -> str:
        parts = []
        for value, text in self.y.ticks:
            at = self.bottom - float(self.y(value)) * (self.bottom - self.top)
            parts.append(
                f'<line class="grid" x1="{self.left:.1f}" y1="{at:.1f}" x2="{self.right}" y2="{at:.1f}"/>'
                f'<text x="{self.left - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{clean(text)}</text>'
            )
        middle = (self.top + self.bottom) / 2
        parts.append(
            f'<text class="name" transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle">'
            f"{clean(self.y_name)}</text>"
        )
        return "".join(parts)
