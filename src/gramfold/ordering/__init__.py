"""Fill-reducing order, elimination tree and filled structure: shared by geodesics and sparse factorisations."""
