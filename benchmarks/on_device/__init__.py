"""Parts of the benchmark of a GPU."""
