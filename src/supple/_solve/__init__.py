"""Private parts of the solver: compilation, search, batches, reasons, damping schemes."""
