"""Ordinal multidimensional scaling, in its own package: the method, and what only it uses."""

from gramfold.methods.ordinal_mds.ordinal_mds import OrdinalMDS

__all__ = ["OrdinalMDS"]
