"""The report: one HTML file that shows a map and whether to believe it, and opens without a network."""

from gramfold.report.provenance import digest_of

__all__ = ["digest_of"]
