"""The intrinsic dimension of rows: on how many coordinates they depend. One estimator to a file."""
