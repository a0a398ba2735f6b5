"""What an arm gives: its methods, its rate, its readings and its gripper; a wrong one is refused with the fix."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from supple import _check
from supple._linkage import degrees
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop.clock import checked_rate

FAR_ANGLE, FAR_SLIDE, FAR_SHARE = 0.5, 0.1, 0.25
"""A first reading is wrong if it is beyond a limit by more than so many rad or m, and more than this share of the
range: an arm that sags onto its stops is within, a wrong unit or offset is not."""
OPENING_SLACK = 0.05
"""An opening may be so far outside 0 to 1: a gripper that is pressed shut or stretched."""
_FARTHEST = 1e5  # rad or m; a joint value beyond it is an error of the reading


class Mistake(BadInput):
    """The arm, or the function that connects to it, is not what is asked of it: to try again would not help."""


def described(error: BaseException) -> str:
    """An error as text, whatever it is."""
    name = "BadInput" if isinstance(error, Mistake) else type(error).__name__
    try:
        return f"{name}: {error}"[:300]
    except Exception:  # an error that cannot be printed
        return name


def check_connect(connect: Any) -> None:
    """Refuses a function that connects if it cannot be called without arguments."""
    try:
        signature = inspect.signature(connect)
    except (TypeError, ValueError):  # of some functions that are not written in Python
        return
    try:
        signature.bind()
    except TypeError as error:
        name = getattr(connect, "__name__", "the function that connects")
        raise BadInput(f"{name}() is called without arguments to connect to the arm: {error}") from None


def check_arm(arm: Any, on_exit: str) -> None:
    """Refuses an arm whose optional parts are not what they should be."""
    if on_exit == "release" and not callable(getattr(arm, "release", None)):
        raise BadInput(f"on_exit='release' needs an arm with release(), got {_check.short(arm)}")
    gripper = getattr(arm, "gripper", None)
    if gripper is not None and not (hasattr(gripper, "read") and hasattr(gripper, "write")):
        raise BadInput(f"the gripper of an arm has read() and write(opening), got {_check.short(gripper)}")
    own_rate(arm)


def own_rate(arm: Any) -> float | None:
    """The rate of an arm that has one, else None; an arm that cannot tell it now has none."""
    try:
        rate = getattr(arm, "rate", None)
    except Exception:  # of a bus that is not connected
        return None
    return None if rate is None else checked_rate(rate, "rate of the arm")


def joint_values(value: Any, linkage: Linkage) -> Array:
    """The joint values (dof,) that an arm returned; `BadInput` for anything else, `Mistake` for what cannot pass.

    An empty reading, None and numbers that are not finite may be those of an arm that has none yet.
    """
    wanted = f"read() must return {linkage.dof} joint values ({', '.join(linkage.names)})"
    if isinstance(value, Mapping):
        raise Mistake(f"{wanted} in this order, not a dict: return [values[name] for name in {list(linkage.names)}]")
    if value is None:
        raise BadInput(f"{wanted}, got None: is a return missing?")
    try:
        q: Array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(f"{wanted}, got {_check.short(value)}") from None
    if q.shape != (linkage.dof,):
        raise (Mistake if q.size else BadInput)(f"{wanted}, got {_check.short(value)}")
    wrong = ~(np.abs(q) < _FARTHEST)
    if wrong.any():
        told = ", ".join(f"{q[k]:g} for {linkage.names[k]}" for k in np.flatnonzero(wrong))
        raise BadInput(f"{wanted}, got {told}")
    return q


def check_first(q: Array, linkage: Linkage) -> None:
    """Raises `Mistake` if a first reading q (dof,) cannot be where the arm is: in degrees, or far beyond its limits."""
    with np.errstate(invalid="ignore"):
        least = np.where([unit == "rad" for unit in linkage.units], FAR_ANGLE, FAR_SLIDE)
        span = linkage.upper - linkage.lower
        far = np.maximum(least, np.where(np.isfinite(span), FAR_SHARE * span, 0.0))
        beyond = np.maximum(linkage.lower - q, q - linkage.upper) > far
    if beyond.any():
        told = "; ".join(
            f"{linkage.names[k]} is {q[k]:.4g} {linkage.units[k]}, its limits are {linkage.lower[k]:.4g} to "
            f"{linkage.upper[k]:.4g}"
            for k in np.flatnonzero(beyond)
        )
        fits = " read() looks like degrees: return numpy.radians(values)." if degrees.noticed(linkage, q, "") else ""
        raise Mistake(
            f"the arm reads far beyond its limits, so it is not driven: {told}.{fits} Are the joint values in radians, "
            "and in the order of the linkage? For a servo bus: are unit (degrees or ticks), offset and sign of the "
            "calibration those of the bus?"
        )


def opening(value: Any) -> float:
    """How far the gripper of an arm is open, 0 to 1; nan if it does not know; raises `Mistake` for anything else."""
    if value is None:
        return math.nan
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise Mistake(f"gripper.read() must return one number, 0 closed to 1 open, got {_check.short(value)}") from None
    if math.isnan(found):
        return math.nan
    if not -OPENING_SLACK <= found <= 1 + OPENING_SLACK:
        hint = ": divide an opening from 0 to 100 by 100" if 1 < found <= 100 else ""
        raise Mistake(f"gripper.read() must be from 0 (closed) to 1 (open), got {found:g}{hint}")
    return min(max(found, 0.0), 1.0)
