"""Parts of benchmarks/figures.py."""
