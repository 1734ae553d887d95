"""Sparse direct factorisation: fill-reducing order, elimination tree, filled structure and factor."""
