"""X -> Neighbors: exact, approximate, precomputed."""
