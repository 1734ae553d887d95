"""Places of labels at the tips of arrows: over no other label, arrow or line, and within the axes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.floating]  # (2,) in points
Box = NDArray[np.floating]  # (4,) left, bottom, right, top

_GAP = 3.0  # points between a tip and its label
_TURNS = (0, 20, -20, 40, -40, 65, -65, 90, -90, 120, -120, 150, -150)  # degrees by which a label leaves its arrow
_STEPS = (0.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 90.0)  # points by which it is moved on
_ASIDE = (0.0, 0.5, -0.5, 0.95, -0.95)  # of half its width, by which a label above or below its tip is moved
# cost of a label over another or with a line through it, over an arrow, of two lines that cross, of a point outside
_COVERED, _OVER_ARROW, _CROSSED, _OUTSIDE = 2000.0, 300.0, 100.0, 1000.0
_FAR = 0.5  # of a point of a step
_SWEEPS = 3  # times that labels are placed anew among the others


@dataclass(frozen=True, eq=False)
class Label:
    """A label for the tip of an arrow."""

    start: Point
    tip: Point
    size: Point

    def box(self, offset: Point) -> Box:
        """Where it lies with its middle so far from the tip."""
        half = 0.5 * self.size + 1.0
        return np.concatenate([self.tip + offset - half, self.tip + offset + half])

    def edge(self, offset: Point) -> Point:
        """Where the line from the tip ends, relative to it."""
        return np.asarray(offset - np.clip(offset, -0.5 * self.size, 0.5 * self.size))


@dataclass(frozen=True, eq=False)
class _Others:
    """What a label must not cover."""

    boxes: list[Box]
    lines: list[tuple[Point, Point]]  # from other tips to their labels
    arrows: list[tuple[Point, Point]]


def offsets_of(labels: list[Label], frame: Box) -> list[Point]:
    """The middle of each label relative to its tip, the first label first; then each again among all others."""
    offsets: dict[int, Point] = {}
    arrows = [(one.start, one.tip) for one in labels]
    for _ in range(_SWEEPS):
        before = dict(offsets)
        for number, label in enumerate(labels):
            placed = [(labels[other], offset) for other, offset in offsets.items() if other != number]
            others = _Others(
                [one.box(offset) for one, offset in placed],
                [(one.tip, one.tip + one.edge(offset)) for one, offset in placed],
                arrows,
            )
            offsets[number] = _best(label, others, frame)
        if before and all(np.array_equal(before[number], offsets[number]) for number in offsets):
            break
    return [offsets[number] for number in range(len(labels))]


def _best(label: Label, others: _Others, frame: Box) -> Point:
    """The first of some places that covers least."""
    along = label.tip - label.start
    angle = np.arctan2(along[1], along[0])
    best, least = np.zeros(2), np.inf
    for step in _STEPS:
        if least <= _FAR * step:
            break
        for turn in np.radians(_TURNS):
            toward = np.array([np.cos(angle + turn), np.sin(angle + turn)])
            # so far that the box just leaves the tip
            reach = float(np.min(0.5 * label.size / np.maximum(np.abs(toward), 1e-9)))
            middle = toward * (reach + _GAP + step)
            above = abs(middle[1]) > 0.5 * label.size[1]
            for aside in _ASIDE if above else (0.0,):
                offset = middle + (0.5 * aside * label.size[0], 0.0)
                if abs(offset[0]) > 0.5 * label.size[0] + step + _GAP:
                    continue  # farther from the tip than the step
                cost = _cost(label, offset, others, frame) + _FAR * step
                if cost < least - 1e-9:
                    best, least = offset, cost
    return best


def _cost(label: Label, offset: Point, others: _Others, frame: Box) -> float:
    box, end = label.box(offset), label.tip + label.edge(offset)
    outside = np.maximum(frame[:2] - box[:2], 0).sum() + np.maximum(box[2:] - frame[2:], 0).sum()
    areas = [_overlap(box, other) for other in others.boxes]
    covered = sum(area > 0 for area in areas) + sum(_crosses(other, label.tip, end) for other in others.boxes)
    covered += sum(_crosses(box, *line) for line in others.lines)
    over = sum(_crosses(box, *arrow) for arrow in others.arrows)
    crossed = sum(_meet(label.tip, end, *line) for line in (*others.lines, *others.arrows))
    return float(sum(areas) + _COVERED * covered + _OVER_ARROW * over + _CROSSED * crossed + _OUTSIDE * outside)


def _overlap(a: Box, b: Box) -> float:
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    return float(np.prod(np.maximum(sides, 0.0)))


def _meet(a: Point, b: Point, start: Point, end: Point) -> bool:
    """Whether the line from a tip to its label crosses another line."""
    if np.array_equal(a, end):
        return False
    sides = [np.sign(_area(start, end, a)), np.sign(_area(start, end, b))]
    ends = [np.sign(_area(a, b, start)), np.sign(_area(a, b, end))]
    return bool(sides[0] != sides[1] and ends[0] != ends[1])


def _area(a: Point, b: Point, c: Point) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _crosses(box: Box, start: Point, end: Point) -> bool:
    """Whether a line goes through a box: the part of it between the sides is not empty (Liang and Barsky)."""
    first, last = 0.0, 1.0
    for low, high, at, to in zip(box[:2], box[2:], start, end, strict=True):
        step = to - at
        if step == 0:
            if not low < at < high:
                return False
            continue
        near, far = sorted(((low - at) / step, (high - at) / step))
        first, last = max(first, near), min(last, far)
    return bool(first < last)
