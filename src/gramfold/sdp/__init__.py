"""Semidefinite programs over graphs with lengths: two solvers and a certificate."""
