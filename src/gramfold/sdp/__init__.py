"""Semidefinite programs over graphs with lengths: max tr K, K ⪰ 0 centred, kept distances. Two solvers and a certificate."""
