"""Spectrum + unseen points -> coordinates, and back."""
