"""The report: one HTML file that shows a map and whether to believe it, and opens without a network."""

__all__: list[str] = []
