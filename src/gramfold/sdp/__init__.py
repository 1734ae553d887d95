"""Semidefinite programs over graphs with lengths: solvers and certificates."""
