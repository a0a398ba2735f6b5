"""Methods: the search, and the ways to choose a step that the chapter lists, each a value for `Solver`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from supple import _renamed
from supple.errors import BadInput, UnknownName, unknown


class Rank(Enum):
    """Which joint `coordinate_descent` moves next."""

    OUTERMOST = 0
    """Each once, from the outermost inward: cyclic coordinate descent."""
    MOST_USEFUL = 1
    """The one that brings the end effectors nearest."""
    LEAST_RECENT = 2
    """Of those that help, the one that has rested longest."""
    MOST_ROOM = 3
    """Of those that help, the one farthest from its limits."""


@dataclass(frozen=True)
class Method:
    """A way to choose a step; made by the functions of `supple.method`."""

    name: str
    way: int
    rank: Rank = Rank.OUTERMOST
    pull: bool = False
    scale: float = 0.0

    def __repr__(self) -> str:
        inside = ""
        if self.scale:
            inside = f"{self.scale!r}"
        elif self.rank is not Rank.OUTERMOST:
            inside = f"method.{self.rank}"
        return f"method.{self.name}({inside})"


def search() -> Method:
    """Many starts, each a damped descent that is abandoned when it stalls, until one arrives; the default."""
    return Method("search", 2)


def inverse() -> Method:
    """Solve J dq = e for a square Jacobian [K5.19]; refused for any other."""
    return Method("inverse", 0)


def pseudoinverse() -> Method:
    """The smallest step that does what is asked, J'(J J')^-1 e, by a linear solve [K5.20-5.23]."""
    return Method("pseudoinverse", 1)


def damped() -> Method:
    """Damped least squares, J'(J J' + alpha)^-1 e [K5.24]: ``Solver.damping`` is alpha (a book's lambda squared)."""
    return Method("damped", 2)


def alternative_jacobian() -> Method:
    """Damped least squares with the alternative Jacobian, which pulls the goal to the end effector."""
    return Method("alternative_jacobian", 2, pull=True)


def transpose(scale: float | None = None) -> Method:
    """A multiple of J'e: ``scale`` times, or by default as much as brings J dq nearest to e."""
    if scale is not None and not (isinstance(scale, int | float) and 0 < scale < float("inf")):
        raise BadInput(f"scale must be a positive number, got {scale!r}")
    return Method("transpose", 3, scale=float(scale or 0.0))


def coordinate_descent(rank: Rank = Rank.OUTERMOST) -> Method:
    """Coordinate descent: one joint at a time takes the value that best brings the end effectors to their goals.

    One iteration is as many moves as there are joints. Limits are respected joint by joint.
    """
    if not isinstance(rank, Rank):
        raise BadInput(f"rank must be a method.Rank, got {rank!r}")
    return Method("coordinate_descent", 4, rank=rank)


def selectively_damped() -> Method:
    """Selectively damped least squares (Buss and Kim): each singular direction is held back by its own measure."""
    return Method("selectively_damped", 5)


def names() -> tuple[str, ...]:
    """The names of all methods, as the command line knows them."""
    return tuple(_ALL)


def get(name: str) -> Method:
    """The method of that name, with its defaults."""
    if name in _renamed.METHODS:
        raise UnknownName(f"method {name!r} is now {_renamed.METHODS[name]!r}")
    if name not in _ALL:
        raise unknown("method", name, _ALL)
    return _ALL[name]()


_ALL = {
    f.__name__: f
    for f in (
        search,
        inverse,
        pseudoinverse,
        damped,
        alternative_jacobian,
        transpose,
        coordinate_descent,
        selectively_damped,
    )
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.method", name)
