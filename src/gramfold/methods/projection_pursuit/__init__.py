"""Projection pursuit."""

from gramfold.methods.projection_pursuit.projection_pursuit import ProjectionPursuit

__all__ = ["ProjectionPursuit"]
