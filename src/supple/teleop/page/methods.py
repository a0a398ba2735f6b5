"""Methods: the four ways of stepping that a page compares, each a solver."""

from __future__ import annotations

from supple import damping, method
from supple.errors import unknown
from supple.solver import Solver

SUPPLE = "supple"
METHODS: dict[str, Solver] = {
    SUPPLE: Solver(),
    "the paper": Solver(method=method.damped(), damping=damping.schinstock()),
    "damped": Solver(method=method.damped(), damping=damping.constant(1e-2)),
    "pseudo-inverse": Solver(method=method.pseudoinverse()),
}
"""By the name a page shows. All move inside the same bounds of position, speed and acceleration, as a real arm's
drives would keep them; what differs is what they ask for."""
ABOUT = {
    SUPPLE: "the tracking law of this library",
    "the paper": "damping near singularities and limits, the joints that swing spared",
    "damped": "least squares with one damping everywhere, as in textbooks",
    "pseudo-inverse": "least squares with none: exact, until it is not",
}
"""A line on each."""


def named(word: str) -> str:
    """The name of a method, as given or as a command line writes it: "paper", "pseudoinverse"."""
    for name in METHODS:
        if word in (name, name.removeprefix("the ").replace("-", "")):
            return name
    raise unknown("method", word, METHODS)
