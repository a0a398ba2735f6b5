"""Arguments that several entry points share: goals, start values, joint weights, preferred steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage import degrees
from supple._linkage.argument import checked_linkage
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage

_FLOAT64 = np.dtype(np.float64)


def goal_list(linkage: Linkage, goals: Goal | Sequence[Goal], call: str = "solve(linkage, goals)") -> list[Goal]:
    """One goal or several, as a list; a frame or the name of a link is answered with the line to write."""
    if not isinstance(linkage, Linkage):
        checked_linkage(linkage, call)
    if isinstance(goals, Goal):
        return [goals]
    if isinstance(goals, Frame | str | np.ndarray):
        _not_a_goal(linkage, goals)
    try:
        several = list(goals)
    except _check.NOT_CONVERTED:
        raise BadInput(f"goals must be a Goal or several, got {_check.short(goals)}") from None
    if not several:
        raise BadInput("at least one goal is needed")
    for goal in several:
        if not isinstance(goal, Goal):
            _not_a_goal(linkage, goal)
    return several


def _not_a_goal(linkage: Linkage, value: object) -> NoReturn:
    tips = ", ".join(map(repr, linkage.tips))
    if isinstance(value, str) and value in linkage._link_named:
        raise BadInput(f"goals must be Goal values, not the name of a link; write Goal({value!r}, frame)")
    if isinstance(value, str):
        raise BadInput(
            f"goals must be Goal values, got {_check.short(value)}; write Goal({linkage.tips[0]!r}, frame). "
            f"The tips of {linkage.name!r} are {tips}"
        )
    if isinstance(value, Frame) or (isinstance(value, np.ndarray) and value.shape[-2:] == (4, 4)):
        raise BadInput(
            f"a goal names a link and its frame; write Goal({linkage.tips[0]!r}, frame). "
            f"The tips of {linkage.name!r} are {tips}"
        )
    raise BadInput(f"goals must be Goal values, such as Goal({linkage.tips[0]!r}, frame), got {_check.short(value)}")


def start_values(linkage: Linkage, start: ArrayLike | None, *, rows: bool = False) -> Array:
    """Joint values (..., dof) to start from: those given, or rest. With ``rows``, some of many may be not finite."""
    if start is None:
        return linkage.rest
    # the copy of what is float64 already: the conversion takes a fifth of a solve
    plain = type(start) is np.ndarray and start.dtype is _FLOAT64 and start.ndim <= _check.MOST_AXES
    array = np.array(start if plain else _check.numbers(start, "start", linkage.dof))
    if array.shape[-1:] != (linkage.dof,):
        hint = "; a goal's frame belongs to the goal: write Goal(link, frame)" if array.shape[-2:] == (4, 4) else ""
        raise BadInput(f"start must have shape (..., {linkage.dof}), not {array.shape}{hint}")
    if not np.vdot(array, array) <= (array.size // max(1, linkage.dof)) * linkage._largest_square:
        if not (rows and array.ndim > 1) and not np.isfinite(array).all():
            raise BadInput("start must be finite")
        degrees.warn(linkage, array, "start")
    return array


def hashable_weights(weights: Any) -> tuple[Any, ...]:
    """Joint weights as a value that can be a key: numbers, or pairs of a joint's name and a number."""
    pairs = list(weights.items()) if isinstance(weights, Mapping) else weights
    named = isinstance(pairs, list | tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs)
    if named and not all(isinstance(name, str) for name, _ in pairs):
        raise BadInput(f"joint_weights are by the names of joints, got {_check.short(weights)}")
    found = _check.numbers_or_none([weight for _, weight in pairs] if named else pairs)
    if found is None or found.ndim > 1:
        wanted = "numbers, one, one for each of dof, or by the joint's name"
        raise BadInput(f"joint_weights must be {wanted}; got {_check.short(weights)}")
    numbers = found.ravel()
    if not len(numbers) or not (np.isfinite(numbers) & (numbers >= 0)).all() or not (named or numbers.any()):
        raise BadInput(f"joint_weights must be finite, not negative and not all zero, got {_check.short(weights)}")
    if (numbers > _check.LARGEST).any():
        raise BadInput(f"joint_weights must be at most {_check.LARGEST:g}, got {_check.short(weights)}")
    if named:
        return tuple(sorted((str(name), number) for (name, _), number in zip(pairs, numbers.tolist(), strict=True)))
    return tuple(numbers.tolist())


def preferred_step(functions: Sequence[Callable[[Array], ArrayLike]]) -> Callable[[Array], Array] | None:
    """The sum of the steps (dof,) that preferences by function return at q (dof,); None without such preferences."""
    if not functions:
        return None
    return lambda q: np.sum([_checked_step(function, q) for function in functions], axis=0)


def _checked_step(function: Callable[[Array], ArrayLike], q: Array) -> Array:
    """The step that a preference by function returns at q. Exceptions of the function pass through."""
    returned = function(q)
    step = _check.numbers_or_none(returned)
    if step is None or step.shape != q.shape or not np.isfinite(step).all():
        raise BadInput(f"a preference by function must return {len(q)} finite numbers, got {_check.short(returned)}")
    return step
