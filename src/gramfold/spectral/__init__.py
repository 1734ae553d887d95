"""Kernel -> Spectrum: dense, Krylov and shift-invert eigensolvers, chosen by cost, with checked residuals."""
