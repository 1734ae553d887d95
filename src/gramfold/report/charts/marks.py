"""What stands within axes: dots, cells of a density, lines, contours. Each is one element or a few, in pixels.

Many dots are drawn as one path of points with round ends, and very many as cells: a page with eight charts stays small.
"""

from collections.abc import Iterable
from html import escape

import numpy as np

from gramfold.types import Floats, Integers

SHADES = 6  # of a density
RAMP = 8  # colours of values
_MOST_DOTS = 1_500
_FEW_DOTS = 150  # which are drawn larger
_CELL = 4  # pixels, a side


def path(points: Floats, kind: str) -> str:
    """A line through points (m, 2)."""
    if len(points) < 2:
        return ""
    return f'<path class="{escape(kind)}" d="M{_listed(points, "L")}"/>'


def rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{escape(kind)}" x1="{_at(x1)}" y1="{_at(y1)}" x2="{_at(x2)}" y2="{_at(y2)}"/>'


def dots(points: Floats, kind: str = "dots") -> str:
    """A dot at each of the points (m, 2): its size is the width of a line without length."""
    if not len(points):
        return ""
    unique = np.unique(np.round(points, 1), axis=0)
    kind = f"{kind} few" if kind == "dots" and len(points) <= _FEW_DOTS else kind
    return f'<path class="{escape(kind)}" d="{"".join(f"M{_at(x)} {_at(y)}h0" for x, y in unique)}"/>'


def dots_by_value(points: Floats, values: Floats) -> str:
    """Dots in the colours of a ramp, from the least value to the largest."""
    low, high = float(values.min()), float(values.max())
    shares = (values - low) / (high - low) if high > low else np.zeros(len(values))
    steps = np.minimum((shares * RAMP).astype(int), RAMP - 1)
    few = " few" if len(points) <= _FEW_DOTS else " many"
    return "".join(dots(points[steps == j], f"dots{few} ramp-{j}") for j in range(RAMP))


def cells(points: Floats, left: float, top: float, width: float, height: float) -> str:
    """Points (m, 2) as they are where they are few, else squares that are the darker the more points they hold."""
    if len(points) <= _MOST_DOTS:
        return dots(points)
    columns, lines = int(np.ceil(width / _CELL)), int(np.ceil(height / _CELL))
    across = np.clip(((points[:, 0] - left) / _CELL).astype(int), 0, columns - 1)
    down = np.clip(((points[:, 1] - top) / _CELL).astype(int), 0, lines - 1)
    counts = np.bincount(down * columns + across, minlength=lines * columns).reshape(lines, columns)
    return "".join(
        f'<path class="shade-{shade}" d="{_strips(shades == shade, left, top)}"/>'
        for shades in [_shades(counts)]
        for shade in range(SHADES)
        if (shades == shade).any()
    )


def _shades(counts: Integers) -> Integers:
    """From −1 where there is none to the darkest, by the logarithm."""
    found = np.full(counts.shape, -1)
    there = counts > 0
    most = max(float(np.quantile(counts[there], 0.99)), 2.0)
    shares = np.clip(np.log(counts[there]) / np.log(most), 0.0, 1.0)
    found[there] = np.minimum((shares * SHADES).astype(int), SHADES - 1)
    return found


def _strips(chosen: Integers, left: float, top: float) -> str:
    """Cells beside each other as one rectangle."""
    parts = []
    for line, cells_of_it in enumerate(chosen):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], cells_of_it.astype(int), [0]])))
        parts += [
            f"M{_at(left + _CELL * start)} {_at(top + _CELL * line)}h{_CELL * (end - start)}v{_CELL}"
            f"h-{_CELL * (end - start)}z"
            for start, end in edges.reshape(-1, 2).tolist()
        ]
    return "".join(parts)


def stems(points: Floats, bottom: float, kind: str = "stem") -> str:
    """Lines from each of the points (m, 2) down to a level."""
    return f'<path class="{escape(kind)}" d="{"".join(f"M{_at(x)} {_at(y)}V{_at(bottom)}" for x, y in points)}"/>'


def cross(x: float, y: float, size: float = 5.0) -> str:
    """A cross, with a pale edge, so that it is seen on dots."""
    there, back = _at(2 * size), _at(-2 * size)
    drawn = f"M{_at(x - size)} {_at(y - size)}l{there} {there}m0 {back}l{back} {there}"
    return f'<path class="cross-edge" d="{drawn}"/><path class="cross" d="{drawn}"/>'


def contour(x: Floats, y: Floats, values: Floats, level: float, kind: str = "contour") -> str:
    """Where values on a grid (h, w) cross a level; x (w,) and y (h,) in pixels. Not in cells with an unknown corner."""
    drawn = "".join(f"M{_listed(line, 'L')}" for line in _joined(_segments(x, y, values, level)))
    return f'<path class="{escape(kind)}" d="{drawn}"/>' if drawn else ""


def _segments(x: Floats, y: Floats, values: Floats, level: float) -> Floats:
    """Straight pieces (m, 2, 2), by marching squares; both of a saddle that its mean separates."""
    corners = np.stack([values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]])  # around each cell
    known = np.isfinite(corners).all(axis=0)
    above = corners > level
    mixed = known & above.any(axis=0) & ~above.all(axis=0)
    lines, columns = np.nonzero(mixed)
    pieces: list[Floats] = []
    for i, j in zip(lines.tolist(), columns.tolist(), strict=True):
        around = np.array([[x[j], y[i]], [x[j + 1], y[i]], [x[j + 1], y[i + 1]], [x[j], y[i + 1]]])
        heights, up = corners[:, i, j], above[:, i, j]
        crossed = [side for side in range(4) if up[side] != up[(side + 1) % 4]]
        ends = {}
        for side in crossed:
            a, b = heights[side], heights[(side + 1) % 4]
            ends[side] = around[side] + (level - a) / (b - a) * (around[(side + 1) % 4] - around[side])
        if len(crossed) == 2:
            pairs = [(crossed[0], crossed[1])]
        else:  # a saddle: corners 0 and 2 are on one side; its middle says whether they are joined
            pairs = [(0, 1), (2, 3)] if (heights.mean() > level) == bool(up[0]) else [(3, 0), (1, 2)]
        pieces += [np.stack([ends[a], ends[b]]) for a, b in pairs]
    return np.array(pieces) if pieces else np.empty((0, 2, 2))


def _joined(segments: Floats) -> Iterable[Floats]:
    """Lines of as many pieces as meet."""
    ends: dict[tuple[float, float], list[int]] = {}
    keys = [[(round(float(u), 4), round(float(v), 4)) for u, v in one] for one in segments]
    for j, (a, b) in enumerate(keys):
        ends.setdefault(a, []).append(j)
        ends.setdefault(b, []).append(j)
    used = np.array([a == b for a, b in keys], dtype=bool)  # a level that a corner has leaves pieces without a length

    def onward(at: tuple[float, float]) -> Iterable[tuple[float, float]]:
        while True:
            free = [j for j in ends[at] if not used[j]]
            if not free:
                return
            used[free[0]] = True
            a, b = keys[free[0]]
            at = b if a == at else a
            yield at

    for j in range(len(segments)):
        if used[j]:
            continue
        used[j] = True
        a, b = keys[j]
        yield np.array([*reversed([*onward(a)]), a, b, *onward(b)])


def _listed(points: Floats, between: str) -> str:
    return between.join(f"{_at(x)} {_at(y)}" for x, y in points)


def _at(value: float) -> str:
    """A pixel, to a tenth."""
    return f"{value:.1f}".rstrip("0").rstrip(".") if abs(value) >= 0.05 else "0"
