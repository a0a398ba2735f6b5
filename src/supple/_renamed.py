"""Old names and their new ones: for error messages, and for recordings that have the old names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NoReturn, TypeVar

from supple.errors import near_matches

METHODS = {
    "pulled": "alternative_jacobian",
    "descent": "coordinate_descent",
    "selective": "selectively_damped",
}
"""Functions of `supple.method`, and the names that the command line knows."""
OTHER_WORDS_FOR_METHODS = {
    "ccd": "coordinate_descent",
    "cyclic_coordinate_descent": "coordinate_descent",
    "damped_least_squares": "damped",
    "dls": "damped",
    "jacobian_transpose": "transpose",
    "levenberg_marquardt": "damped",
    "lm": "damped",
    "moore_penrose": "pseudoinverse",
    "newton": "pseudoinverse",
    "pinv": "pseudoinverse",
    "sdls": "selectively_damped",
}
"""Words of other libraries for functions of `supple.method`."""
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
_NAMES = {
    "supple": {
        "Between": "Interpolation",
        "Followed": "PathSolution",
        "Path": "GoalPath",
        "Plan": "CompiledSolver",
        "State": "TrackingStatus",
        "follow": "solve_path",
        "stock": "models",
        **{name: f"analysis.{name}" for name in ("Annulus", "Constraint", "Elbows", "TwoLink", "constraint")},
    },
    "supple.teleop": {"follow": "drive", "Recorded": "Playback"},
    "supple.method": METHODS,
    "supple.damping": DAMPING,
    "Command": {"grip": "engaged"},
    "Mapping": {"grip": "engage", "gripped": "engaged"},
    "Joint": {"three": "ball_from_revolutes"},
    "Linkage": {"look": "frame_and_jacobian", "carry": "transform_points", "placed": "world_geometry"},
    "Solver": {"plan": "compile", **OPTIONS},
    "Step": {"outcome": "status", "weights": "joint_weights"},
}


_Class = TypeVar("_Class", bound=type)


def no_attribute(module: str, name: str) -> Exception:
    """The exception for an attribute that a module does not have; an old name is answered with the new one.

    It is an ImportError in ``from supple import name``, which would replace the text of an AttributeError.
    """
    new = _NAMES.get(module, {}).get(name)
    if new is None:
        known: list[str] = [] if name.startswith("_") else sys.modules[module].__all__
        other_word = OTHER_WORDS_FOR_METHODS.get(name.lower()) if module == "supple.method" else None
        near = [other_word] if other_word in known else near_matches(name, known)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
    message = f"`{module}.{name}` is now `{module}.{new}`"
    importing = sys._getframe(2).f_globals.get("__name__") == "importlib._bootstrap"
    return ImportError(message) if importing else AttributeError(message)


def answers_old_names(cls: _Class) -> _Class:
    """Class decorator: old names raise an AttributeError with the new ones. (A `__getattr__` would slow all others.)"""
    for old, new in _NAMES[cls.__name__].items():
        setattr(cls, old, _OldName(f"`{cls.__name__}.{old}` is now `{cls.__name__}.{new}`"))
    type.__setattr__(cls, "__dir__", lambda self: _without_old_names(type(self), object.__dir__(self)))
    return cls


class HidesOldNames(type):
    """Metaclass of classes with `answers_old_names`: `dir` of the class does not list the old names."""

    def __dir__(cls) -> list[str]:
        return _without_old_names(cls, type.__dir__(cls))


def _without_old_names(cls: type, names: Iterable[str]) -> list[str]:
    old = {name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, _OldName)}
    return [name for name in names if name not in old]


class _OldName:
    def __init__(self, message: str) -> None:
        self._message = message

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(self._message)
