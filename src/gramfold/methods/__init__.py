"""One short file per method: formula and reference, class, kernel, out-of-sample extension."""
