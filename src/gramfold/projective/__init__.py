"""Projective methods, one file each: y(x) = (x − mean) · directions."""
