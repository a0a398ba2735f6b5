"""Arrays of other libraries (torch, JAX, CuPy, anything with DLPack): taken as they are, and results given back so."""
