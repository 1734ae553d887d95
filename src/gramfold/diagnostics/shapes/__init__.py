"""The shape of data, found from the data alone: groups, curves, surfaces, or nothing but noise."""
