"""Locality preserving projections, and the graphs of classes that they may be made of."""

from gramfold.methods.lpp.lpp import LPP

__all__ = ["LPP"]
