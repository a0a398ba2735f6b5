"""The text of a goal: the call that makes it, with short numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple._solve.goal_rows import ZERO
from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.goal import Goal


def call_text(goal: Goal) -> str:
    """``Goal(...)``, with the arguments that differ from their defaults."""
    parts = [] if goal.is_center_of_mass else [repr(goal.link)]
    for name in ("position", "axis", "direction", "look_at", "line", "pole"):
        value = getattr(goal, name)
        if value is not None:
            parts.append(f"{name}={_brief(value)}")
    if goal.distance is not None:
        parts.append(f"distance={goal.distance:.6g}")
    if goal.orientation is not None:
        many = goal.orientation.shape[:-2]
        turn = f" of shape {many}" if many else f"={Frame.at(np.zeros(3), goal.orientation)!r}"
        parts.append(f"orientation{turn}")
    if goal.limb is not None:
        parts.append(f"limb={goal.limb}")
    if goal.point.any():
        parts.append(f"point={_brief(goal.point)}")
    if goal.relative_to is not None:
        parts.append(f"relative_to={goal.relative_to!r}")
    if goal.weight is not None:
        parts.append(f"weight={goal.weight}")
    if goal.turn_weight != (1.0, 1.0, 1.0):
        parts.append(f"turn_weight={goal.turn_weight}")
    if goal.slack != ZERO:
        parts.append(f"slack={goal.slack}")
    if goal.turn_slack != ZERO:
        parts.append(f"turn_slack={goal.turn_slack[0] if goal.orientation is None else goal.turn_slack}")
    if goal.priority:
        parts.append(f"priority={goal.priority}")
    return f"Goal{'.center_of_mass' if goal.is_center_of_mass else ''}({', '.join(parts)})"


def _brief(a: Array) -> str:
    if a.ndim > 1:
        return f"<{a.shape}>"
    return "(" + ", ".join(f"{x:.6g}" for x in a) + ")"
