"""Neighbors -> Graph: symmetrise, connect, affinity, Laplacian, geodesics."""
