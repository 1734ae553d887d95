"""Advice before a fit: what a table holds, and which columns, scaling, metric and method suit it."""

from gramfold.advice.advising import advise
from gramfold.advice.filling import FillByPPCA
from gramfold.advice.leave_out import LeaveOut
from gramfold.advice.plan import Advice, Item

__all__ = ["Advice", "FillByPPCA", "Item", "LeaveOut", "advise"]
