"""Experiments of the papers, to run again: `python -m examples.distortion` and so on."""
