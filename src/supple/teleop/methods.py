"""Methods: the four tracking methods that the page and a replay compare, each a solver."""

from __future__ import annotations

from dataclasses import replace

from supple import damping, method
from supple.errors import UnknownName
from supple.solver import Solver

SUPPLE = "supple"
METHODS: dict[str, Solver] = {
    SUPPLE: Solver(),
    "the paper": Solver(method=method.damped(), damping=damping.schinstock()),
    "damped": Solver(method=method.damped(), damping=damping.constant(1e-2)),
    "pseudo-inverse": Solver(method=method.pseudoinverse()),
}
"""Solvers by the name that the page shows. All keep the same limits of position, speed and acceleration, as the drives
of a real arm would; they differ in the motion they request."""
DESCRIPTIONS = {
    SUPPLE: "the tracking law of this library",
    "the paper": "damped near singularities and limits, with dynamic joint weights",
    "damped": "least squares with constant damping, as in textbooks",
    "pseudo-inverse": "least squares without damping: exact, except near singularities",
}
"""One line on each method."""


def full_name(name: str) -> str:
    """The name of a method in `METHODS`, from that name or its short form: "paper", "pseudoinverse"."""
    for known in METHODS:
        if name in (known, _short(known)):
            return known
    raise UnknownName(f"no method named {name!r}; the methods are {', '.join(map(_short, METHODS))}")


def _short(name: str) -> str:
    """The short form of a name in `METHODS`, for the command line."""
    return name.removeprefix("the ").replace("-", "")


def named(name: str) -> Solver:
    """The solver of a method: "supple", "paper", "damped" or "pseudoinverse"."""
    return METHODS[full_name(name)]


def name_of(solver: str) -> str:
    """The name of the method whose solver prints as this text, with ", raw" without limits; else the text itself."""
    for name, known in METHODS.items():
        for same, called in ((known, name), (replace(known, keep_limits=False), f"{name}, raw")):
            if repr(same) == solver:
                return called
    return solver
