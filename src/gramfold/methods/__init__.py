"""One short file per method: formula and reference, class, its kernel, how it meets new points."""
