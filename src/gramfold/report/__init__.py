"""The report: one HTML file that shows a map and whether to believe it, and opens without a network."""

from gramfold.report.provenance import digest_of
from gramfold.report.writing import write_report

__all__ = ["digest_of", "write_report"]
