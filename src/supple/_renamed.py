"""Names that were changed, old to new: for error messages, and for reading recordings made before."""

from __future__ import annotations

METHODS = {
    "pulled": "alternative_jacobian",
    "descent": "coordinate_descent",
    "selective": "selectively_damped",
}
"""Functions of `supple.method`, and the names that the command line knows."""
DAMPING = {
    "manipulability": "nakamura_hanafusa",
    "falling": "kelmar_khosla",
    "conditioning": "mayorga",
    "error": "chan_lawrence",
    "paper": "schinstock",
}
"""Functions of `supple.damping`."""
OPTIONS = {
    "longest": "max_step",
    "shorten": "step_scale",
    "escapes": "limit_escapes",
    "microseconds": "timeout",
    "iterations": "max_iterations",
    "weights": "joint_weights",
}
"""Options of `Solver`; `timeout` is in seconds."""
