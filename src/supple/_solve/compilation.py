"""Compilation: linkage, goals and solver become one object of the core, in which names are indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from supple import _core
from supple._linkage import limits
from supple._linkage.argument import checked_linkage
from supple._solve import damping_schemes, encoding, margins
from supple._solve.preference_term import Term, TermKind
from supple.damping import Damping
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage

if TYPE_CHECKING:
    from supple.solver import Solver

_Made = TypeVar("_Made")
DAMPING = 1e-4
"""alpha of damped methods if `Solver.damping` is None."""
ITERATIONS = 200
"""Most iterations of a method other than the search if `Solver.max_iterations` is None."""
_STEP_RULES = {
    "inverse": 0,
    "pseudoinverse": 1,
    "damped": 2,
    "alternative_jacobian": 2,
    "search": 2,
    "transpose": 3,
    "coordinate_descent": 4,
    "selectively_damped": 5,
}
"""How the core numbers the methods; a step of the search outside of a search is one of damped least squares."""


def compiled(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.LocalSolver:
    """The iteration of the core, from the linkage's cache; `BadInput` or `UnknownName` if they do not fit together."""
    return cached(linkage, goals, solver, "local", _compile)


def cached(
    linkage: Linkage,
    goals: Sequence[Goal],
    solver: Solver,
    what: str,
    make: Callable[[Linkage, Sequence[Goal], Solver], _Made],
) -> _Made:
    """What ``make`` returns for goals of this kind; stored with the linkage."""
    if not isinstance(linkage, Linkage):
        checked_linkage(linkage)
    plans: dict[Any, _Made] = linkage.__dict__.setdefault("_plans", {})
    key = (what, solver, *[goal._kind for goal in goals])
    made = plans.get(key)
    if made is None:
        made = make(linkage, goals, solver)
        if len(plans) > 64:  # a bound on memory for goals whose weights change with every solve
            plans.clear()
        plans[key] = made
    return made


def _compile(linkage: Linkage, goals: Sequence[Goal], solver: Solver) -> _core.LocalSolver:
    targets, chosen = encoding.targets(linkage, goals), solver.method
    _check_kinds(linkage, goals, chosen.name)
    schemes = solver.damping if isinstance(solver.damping, Damping) else None
    method = (
        _STEP_RULES[chosen.name],
        chosen.rank.value,
        chosen.name == "alternative_jacobian",
        solver.keep_limits,
        DAMPING if solver.damping is None else 0.0 if schemes is not None else float(solver.damping),  # type: ignore[arg-type]
        chosen.scale,
        solver.max_step,
        solver.step_scale,
        solver.halvings,
        solver.limit_escapes,
        schemes is not None and schemes.as_printed,
    )
    stop = (
        ITERATIONS if solver.max_iterations is None else solver.max_iterations,
        solver.patience,
        solver.tolerance.position,
        solver.tolerance.angle,
    )
    lower, upper, balls = margins.narrowed(linkage, solver.margin)
    far = limits.turning(linkage)  # their limits count as none where they have too few digits
    lower = np.where(far & (lower < -limits.LARGEST_ANGLE), -math.inf, lower)
    upper = np.where(far & (upper > limits.LARGEST_ANGLE), math.inf, upper)
    preferences = [_term(linkage, term) for term in solver.prefer.terms if term.function is None]
    parts = (
        linkage._native,
        list(targets),
        lower,
        upper,
        balls,
        method,
        preferences,
        stop,
    )
    local_solver = _core.LocalSolver(*parts)
    if not local_solver.columns:
        raise BadInput("no joint moves any of the links of the goals")
    if chosen.name == "inverse" and local_solver.rows != len(local_solver.columns):
        raise BadInput(
            f"the inverse needs a square Jacobian, but the goals have {local_solver.rows} rows and "
            f"{len(local_solver.columns)} joint values move them; use method.pseudoinverse()"
        )
    return (
        local_solver
        if schemes is None
        else _core.LocalSolver(*parts, damping_schemes.numbers(schemes, linkage, local_solver))
    )


def _check_kinds(linkage: Linkage, goals: Sequence[Goal], method: str) -> None:
    """Refuse kinds of goals that a method has no formula for."""
    if method not in ("alternative_jacobian", "coordinate_descent"):
        return
    for goal in goals:
        kind = "a centre of mass" if goal.is_center_of_mass else goal._special_kind
        if not kind and goal.relative_to is not None and method == "coordinate_descent" and encoding.balls(linkage):
            kind = "relative_to and ball joints"
        if kind:
            raise BadInput(f"method.{method}() takes no goals with {kind}; use method.search() or method.damped()")


def _term(linkage: Linkage, term: Term) -> tuple[int, Array, Array, float, str | None, tuple[float, ...] | None]:
    """A term of a preference as the core reads it: kind, gain (dof,), joint values (dof,), width, link, wanted (3,)."""
    if len(term.gain) not in (1, linkage.dof):
        raise BadInput(f"a preference needs one gain or {linkage.dof}, got {len(term.gain)}")
    gain = np.broadcast_to(np.array(term.gain), (linkage.dof,)).copy()
    if term.values is not None:
        if len(term.values) != linkage.dof:
            raise BadInput(f"a preference for joint values needs {linkage.dof} of them, got {len(term.values)}")
        return int(term.kind), gain, np.array(term.values), term.width, None, None
    if term.link is not None:
        reach = _reach(linkage, term.link)
        unit = np.where(np.array(linkage.units) == "m", reach, 1.0)  # of each value, so that the step has its units
        return int(term.kind), gain * unit**2 / reach, np.zeros(linkage.dof), reach, term.link, term.wanted
    bounded = np.isfinite(linkage.lower) & np.isfinite(linkage.upper)
    middle = np.where(bounded, 0.5 * (np.where(bounded, linkage.lower, 0) + np.where(bounded, linkage.upper, 0)), 0.0)
    if term.kind is TermKind.TOWARDS:
        gain[~bounded] = 0.0
    return int(term.kind), gain, middle, term.width, None, None


def _reach(linkage: Linkage, link: str) -> float:
    """The unit of length of a preference for a link: its reach, or a metre where it has none or an infinite one."""
    linkage.link(link)
    reach = linkage.reach(link)
    return reach if 1e-6 < reach < math.inf else 1.0
