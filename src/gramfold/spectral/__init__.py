"""Kernel -> Spectrum: a policy over dense, Krylov and shift-invert solvers, with residuals always."""
