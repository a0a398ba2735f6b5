"""Names become indices: linkage, goals and solver compiled together into a native plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from supple import _core, prefer
from supple._solve import damping_schemes, encoding
from supple.damping import Damping
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

_Made = TypeVar("_Made")
_DAMPING = 1e-4  # alpha where none is given
_ITERATIONS = 200


def compiled(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.Plan:
    """The native plan, from the linkage's own cache; raises `BadInput` or `UnknownName` if the three do not fit."""
    return cached(linkage, goals, solver, "plan", _compile)


def cached(
    linkage: Linkage,
    goals: Sequence[Goal],
    solver: Solver,
    what: str,
    make: Callable[[Linkage, Sequence[Goal], Solver], _Made],
) -> _Made:
    """What was made for goals of this kind before, or is made now; the linkage keeps it."""
    if not isinstance(linkage, Linkage):
        raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
    plans: dict[Any, _Made] = linkage.__dict__.setdefault("_plans", {})
    key = (what, solver, *[goal._kind for goal in goals])
    made = plans.get(key)
    if made is None:
        made = make(linkage, goals, solver)
        if len(plans) > 64:  # goals whose weights change all the time must not fill the memory
            plans.clear()
        plans[key] = made
    return made


def _compile(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.Plan:
    targets, how = encoding.targets(linkage, goals), solver.method
    schemes = solver.damping if isinstance(solver.damping, Damping) else None
    method = (
        how.way,
        how.rank.value,
        how.pull,
        solver.keep_limits,
        _DAMPING if solver.damping is None else 0.0 if schemes is not None else float(solver.damping),  # type: ignore[arg-type]
        how.scale,
        solver.max_step,
        solver.step_scale,
        solver.halvings,
        solver.limit_escapes,
        schemes is not None and schemes.as_printed,
    )
    stop = (
        _ITERATIONS if solver.max_iterations is None else solver.max_iterations,
        solver.patience,
        solver.tolerance.position,
        solver.tolerance.angle,
    )
    wishes = [_wish(linkage, wish) for wish in solver.prefer.wishes if wish.function is None]
    parts = (
        linkage._native,
        list(targets),
        linkage.lower,
        linkage.upper,
        encoding.balls(linkage),
        method,
        wishes,
        stop,
    )
    plan = _core.Plan(*parts)
    if not plan.columns:
        raise BadInput("no joint moves any of the links that the goals speak of")
    if how.name == "inverse" and plan.rows != len(plan.columns):
        raise BadInput(
            f"the inverse needs a square Jacobian, but the goals have {plan.rows} rows and {len(plan.columns)} "
            "joint values move them; use method.pseudoinverse()"
        )
    return plan if schemes is None else _core.Plan(*parts, damping_schemes.numbers(schemes, linkage, plan))


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
