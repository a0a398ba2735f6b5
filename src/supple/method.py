"""Methods: the search, and the methods of the textbook chapter; each is a value for `Solver`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from supple import _check, _renamed
from supple._solve import fields
from supple.errors import BadInput, UnknownName, UnknownOption, unknown

__all__ = [
    "Method",
    "Rank",
    "alternative_jacobian",
    "coordinate_descent",
    "damped",
    "get",
    "inverse",
    "names",
    "pseudoinverse",
    "search",
    "selectively_damped",
    "transpose",
]
_Maker = TypeVar("_Maker", bound=Callable[..., Any])


class Rank(Enum):
    """Which joint `coordinate_descent` moves next.

    >>> from supple import method
    >>> method.coordinate_descent(method.Rank.MOST_ROOM)
    method.coordinate_descent(method.Rank.MOST_ROOM)
    """

    OUTERMOST = 0
    """Each joint once, from the end effector to the base: cyclic coordinate descent."""
    MOST_USEFUL = 1
    """The joint that reduces the error most."""
    LEAST_RECENT = 2
    """Of the joints that reduce the error, the one that was moved longest ago."""
    MOST_ROOM = 3
    """Of the joints that reduce the error, the one farthest from its limits."""


@dataclass(frozen=True)
class Method:
    """A method by name, with its parameters; made by the functions of `supple.method`. A frozen value.

    >>> from supple import method
    >>> method.damped().name
    'damped'
    """

    name: str
    rank: Rank = Rank.OUTERMOST
    """For `coordinate_descent`."""
    scale: float = 0.0
    """For `transpose`: the factor on J'e; 0 for the factor that brings J dq nearest to e."""
    nearest: bool = True
    """For `search`: whether a solve with a start looks for the nearest of all solutions."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in _MAKERS:
            raise unknown("method", self.name, _MAKERS)
        _check.instance(self.rank, Rank, "rank", "method.Rank.OUTERMOST")
        _check.flag(self.nearest, "nearest")
        object.__setattr__(self, "scale", _check.positive(self.scale, "scale", zero=True))

    def to_dict(self) -> dict[str, Any]:
        """The method as plain data with explicit fields.

        >>> from supple import method
        >>> method.damped().to_dict()
        {'name': 'damped'}
        """
        data: dict[str, Any] = {"name": self.name}
        if self.name == "coordinate_descent":
            data["rank"] = self.rank.name
        if self.name == "transpose":
            data["scale"] = self.scale or None
        if self.name == "search" and not self.nearest:
            data["nearest"] = False
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Method:
        """The method that `to_dict` wrote.

        >>> from supple import method
        >>> method.Method.from_dict({"name": "transpose", "scale": 0.1})
        method.transpose(0.1)
        """
        name = fields.one_of(data, "method", "name", names())
        if name == "coordinate_descent":
            fields.checked(data, name, ("name", "rank"))
            return coordinate_descent(Rank[fields.one_of(data, name, "rank", Rank.__members__)])
        if name == "transpose":
            return transpose(fields.checked(data, name, ("name", "scale"))["scale"])
        if name == "search" and "nearest" in data:
            return search(nearest=fields.checked(data, name, ("name", "nearest"))["nearest"])
        fields.checked(data, name, ("name",))
        return get(name)

    def __repr__(self) -> str:
        argument = "" if self.nearest else "nearest=False"
        if self.scale:
            argument = f"{self.scale!r}"
        elif self.rank is not Rank.OUTERMOST:
            argument = f"method.{self.rank}"
        return f"method.{self.name}({argument})"


def _without_options(maker: _Maker) -> _Maker:
    """Decorator for a method without arguments: an argument raises an error that says to give it to the solver."""

    @functools.wraps(maker)
    def checked(*values: object, **options: object) -> Any:
        if values or options:
            name = next(iter(options), "damping")
            own = f"method.{maker.__name__}()"
            raise UnknownOption(f"{own} has no options; they belong to the solver: Solver(method={own}, {name}=...)")
        return maker()

    return checked  # type: ignore[return-value]


@_check.known_options()
def search(*, nearest: bool = True) -> Method:
    """Damped descent from many seeds, each dropped when it stalls, until one arrives; the default.

    With a start, the solution is the nearest to it among all within limits: the smallest root of the sum of squared
    joint changes, each divided by its joint weight and, for a prismatic joint, by its natural size. Whole turns within
    limits count. It is found in 99 of 100 solves on the arms that were measured. Goals near the start take about as
    long as with ``nearest=False``; goals anywhere take 4 to 20 times as long: 20 to 30 us for six joints, 50 to 140 us
    for seven, up to 0.8 ms for two end effectors. ``nearest=False`` returns the nearest solution of the first eight
    seeds, and does not move the solution of a redundant arm towards the start. Without a start both are the same.

    >>> from supple import Solver, method
    >>> Solver().method == method.search()
    True
    >>> method.search(nearest=False)
    method.search(nearest=False)
    """
    return Method("search", nearest=_check.flag(nearest, "nearest"))


@_without_options
def inverse() -> Method:
    """Solve J dq = e for a square Jacobian [K5.19]; other Jacobians are refused.

    >>> from supple import method
    >>> method.inverse()
    method.inverse()
    """
    return Method("inverse")


@_without_options
def pseudoinverse() -> Method:
    """The smallest step with J dq = e, J'(J J')^-1 e, by a linear solve [K5.20-5.23].

    >>> from supple import method
    >>> method.pseudoinverse()
    method.pseudoinverse()
    """
    return Method("pseudoinverse")


@_without_options
def damped() -> Method:
    """Damped least squares, J'(J J' + alpha)^-1 e [K5.24]; ``Solver.damping`` is alpha (lambda squared in textbooks).

    >>> from supple import Solver, method
    >>> Solver(method=method.damped(), damping=1e-2)
    Solver(method=method.damped(), damping=0.01)
    """
    return Method("damped")


@_without_options
def alternative_jacobian() -> Method:
    """Damped least squares with the alternative Jacobian: its columns use the goal in place of the end effector.

    >>> from supple import method
    >>> method.alternative_jacobian()
    method.alternative_jacobian()
    """
    return Method("alternative_jacobian")


@_check.known_options()
def transpose(scale: float | None = None) -> Method:
    """A multiple of J'e: ``scale`` J'e, or by default the multiple that brings J dq nearest to e.

    >>> from supple import method
    >>> method.transpose(0.1)
    method.transpose(0.1)
    """
    return Method("transpose", scale=0.0 if scale is None else _check.positive(scale, "scale"))


@_check.known_options()
def coordinate_descent(rank: Rank = Rank.OUTERMOST) -> Method:
    """One joint at a time takes the value that minimises the error.

    One iteration is as many moves as there are joints. Each joint stays within its limits.

    >>> from supple import method
    >>> method.coordinate_descent()
    method.coordinate_descent()
    """
    if not isinstance(rank, Rank):
        raise BadInput(f"rank must be a method.Rank, got {_check.short(rank)}")
    return Method("coordinate_descent", rank=rank)


@_without_options
def selectively_damped() -> Method:
    """Selectively damped least squares (Buss and Kim): each singular direction has its own damping.

    >>> from supple import method
    >>> method.selectively_damped()
    method.selectively_damped()
    """
    return Method("selectively_damped")


def names() -> tuple[str, ...]:
    """The names of all methods, as `get` and the command line take them.

    >>> from supple import method
    >>> method.names()[:3]
    ('search', 'inverse', 'pseudoinverse')
    """
    return tuple(_MAKERS)


def get(name: str) -> Method:
    """The method of that name, with default parameters.

    >>> from supple import method
    >>> method.get("damped")
    method.damped()
    """
    if isinstance(name, str) and name in _renamed.METHODS:
        raise UnknownName(f"method {name!r} is now {_renamed.METHODS[name]!r}")
    if isinstance(name, str) and name.lower() in _renamed.OTHER_WORDS_FOR_METHODS:
        raise UnknownName(f"no method named {name!r}; it is {_renamed.OTHER_WORDS_FOR_METHODS[name.lower()]!r} here")
    if not isinstance(name, str) or name not in _MAKERS:
        raise unknown("method", name, _MAKERS)
    return _MAKERS[name]()


_MAKERS = {
    maker.__name__: maker
    for maker in (
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


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.method", name)
