"""All of the report that is text, tables and charts: whether to believe the map."""

from gramfold.report.sections.believing import believed

__all__ = ["believed"]
