"""Charts as SVG, without matplotlib: their colours are classes of page/sections.css, for light, dark and paper."""

from gramfold.report.charts.axes import Axes, Frame
from gramfold.report.charts.bars import Span, range_bar, stage_bar, value_bar
from gramfold.report.charts.marks import cells, contour, cross, dots, dots_by_value, path, rule, stems
from gramfold.report.charts.scales import Linear, Log, Scale, linear_over, log_over, number, round_ticks

__all__ = [
    "Axes",
    "Frame",
    "Linear",
    "Log",
    "Scale",
    "Span",
    "cells",
    "contour",
    "cross",
    "dots",
    "dots_by_value",
    "linear_over",
    "log_over",
    "number",
    "path",
    "range_bar",
    "round_ticks",
    "rule",
    "stage_bar",
    "stems",
    "value_bar",
]
