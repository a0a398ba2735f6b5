"""Names become indices: linkage, goals and solver compiled together into a native plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple import _core, _reach, prefer
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver


def compiled(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.Plan:
    """The native plan, from the linkage's own cache; raises `BadInput` or `UnknownName` if the three do not fit."""
    if not isinstance(linkage, Linkage):
        raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
    targets = []
    for goal in goals:
        if goal.link not in linkage._link_named:
            raise unknown("link", goal.link, linkage._link_named)
        components, weights = goal.rows(_reach.reach(linkage, goal.link))
        axis = (0.0, 0.0, 0.0) if goal.axis is None else tuple(goal.axis.tolist())
        targets.append((goal.link, tuple(components), tuple(weights), tuple(goal.point.tolist()), axis))
    key = (tuple(targets), solver)
    plans = linkage.__dict__.setdefault("_plans", {})
    if key not in plans:
        if len(plans) > 64:  # goals whose weights change all the time must not fill the memory
            plans.clear()
        plans[key] = _compile(linkage, targets, solver)
    plan: _core.Plan = plans[key]
    return plan


def _compile(linkage: Linkage, targets: Sequence[tuple[object, ...]], solver: Solver) -> _core.Plan:
    balls = []
    for joint in linkage.joints:
        if joint.kind is Kind.BALL:
            balls.append((linkage._sources[joint.name].first, joint.axis, joint.swing, *joint.twist))
        elif joint.kind is Kind.FLOATING:
            free = (joint.axis, math.pi, -math.pi, math.pi)
            balls.append((linkage._sources[joint.name].first + 3, *free))
    how = solver.method
    method = (
        how.way,
        how.rank.value,
        how.pull,
        solver.keep_limits,
        float(solver.damping),
        how.scale,
        solver.longest,
        solver.shorten,
        solver.halvings,
        solver.escapes,
    )
    stop = (solver.iterations, solver.patience, solver.tolerance.position, solver.tolerance.angle)
    wishes = [_wish(linkage, wish) for wish in solver.prefer.wishes if wish.function is None]
    plan = _core.Plan(linkage._native, list(targets), linkage.lower, linkage.upper, balls, method, wishes, stop)
    if not plan.columns:
        raise BadInput("no joint moves any of the links that the goals speak of")
    if how.name == "inverse" and plan.rows != len(plan.columns):
        raise BadInput(
            f"the inverse needs a square Jacobian, but the goals have {plan.rows} rows and {len(plan.columns)} "
            "joint values move them; use method.pseudoinverse()"
        )
    return plan


def _wish(linkage: Linkage, wish: prefer.Wish) -> tuple[int, Array, Array, float]:
    if len(wish.gain) not in (1, linkage.dof):
        raise BadInput(f"a preference needs one gain or {linkage.dof}, got {len(wish.gain)}")
    gain = np.broadcast_to(np.array(wish.gain), (linkage.dof,)).copy()
    if wish.value is not None:
        if len(wish.value) != linkage.dof:
            raise BadInput(f"a preference for joint values needs {linkage.dof} of them, got {len(wish.value)}")
        return wish.kind, gain, np.array(wish.value), wish.width
    bounded = np.isfinite(linkage.lower) & np.isfinite(linkage.upper)
    middle = np.where(bounded, 0.5 * (np.where(bounded, linkage.lower, 0) + np.where(bounded, linkage.upper, 0)), 0.0)
    if wish.kind == prefer._TOWARDS:
        gain[~bounded] = 0.0
    return wish.kind, gain, middle, wish.width
