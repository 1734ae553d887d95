"""Neighbour search: exact, approximate and precomputed."""
