"""Measures of the tracker on arms that it was not tuned on: one module for each law."""
