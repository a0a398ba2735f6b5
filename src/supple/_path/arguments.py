"""The arguments of `solve_path`, and the plan of many paths from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check
from supple._path import planner, timing
from supple._solve import compilation
from supple._solve.arguments import start_values
from supple._solve.preference_term import TermKind
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage
from supple.solution import Solution

if TYPE_CHECKING:
    from supple.solver import Solver

_COMPARED = 8
"""Number of candidates of a redundant linkage that are smoothed; the one with the least motion is taken."""
_CANDIDATES = 32
"""Number of solutions of a frame that are continued at first."""
_SAME_GOAL = 1e-4
"""The largest difference of the first and the last goal of a closed path, in metres and entries of rotations."""
_TERMS = {TermKind.TOWARDS: "centred", TermKind.DEXTERITY: "conditioning"}


def solver(given: Any, default: Solver, steps: object, preference_type: type, prefer: object) -> Solver:
    """The solver of a path, and a check of the arguments that go with it."""
    chosen = default if given is None else given
    _check.instance(chosen, type(default), "solver")
    if steps is not None:
        _check.whole(steps, "steps", 1)
    if not isinstance(prefer, preference_type):
        _check.one_of(prefer, "prefer", tuple(planner.PREFERENCES))  # type: ignore[arg-type]
    found: Solver = chosen
    return found


def preference(given: Any, of_solver: Any) -> str:
    """The name of a preference of the planner: from its name, or from a value of `supple.prefer`."""
    if isinstance(given, str) and not of_solver.terms:
        return given
    terms = of_solver.terms if isinstance(given, str) else given.terms
    names = {_TERMS.get(term.kind) if term.values is None else None for term in terms}
    name = names.pop() if len(names) == 1 else None if names else "least motion"
    if name is None:
        known = ", ".join(map(repr, planner.PREFERENCES))
        raise BadInput(f"a path prefers one of {known}, or prefer.centre() or prefer.dexterity() alone")
    return name


def shape_of(goals: list[Goal]) -> tuple[int, ...]:
    """The leading axes of the goals of a path (frames, paths...)."""
    try:
        shape = np.broadcast_shapes(*(goal.shape for goal in goals))
    except ValueError:
        raise BadInput(f"goals must have the same number of frames, got {[goal.shape for goal in goals]}") from None
    if not shape and len(goals) > 1 and len({goal.link for goal in goals}) == 1:
        raise BadInput(
            "goals along a path have a leading axis: write one Goal with all frames, such as "
            f"Goal({goals[0].link!r}, position=positions), positions (n, 3). A list is for several links"
        )
    if not shape or shape[0] < 2:
        raise BadInput(
            f"goals along a path need one leading axis, with two frames or more, "
            f"or (frames, paths...) for many paths; theirs is {shape}"
        )
    return shape


def check_flags(closed: object, retime: object, progress: object) -> None:
    """Refuse what is neither True nor False; ``progress`` may be None."""
    for name, value in (("closed", closed), ("retime", retime), ("progress", progress)):
        if name != "progress" or value is not None:
            _check.flag(value, name)  # type: ignore[arg-type]


def check_finite(goals: list[Goal], shape: tuple[int, ...]) -> None:
    """Refuse goals that are not finite, with the first frame where they are not."""
    lost = np.zeros(shape, np.bool_)
    for goal in goals:
        for part, axes in ((goal._place, 1), (goal.orientation, 2), (goal.direction, 1)):
            if part is not None:
                lost |= ~np.isfinite(part).all(axis=tuple(range(-axes, 0)))
    if lost.any():
        frame, *path = (int(i) for i in np.unravel_index(int(lost.argmax()), shape))
        of = f" of path {path[0] if len(path) == 1 else tuple(path)}" if path else ""
        raise BadInput(f"goals must be finite; that of frame {frame}{of} is not")


def check_closed(goals: list[Goal], shape: tuple[int, ...]) -> None:
    """Refuse closed paths whose last goals are not equal to the first: no joint values meet both."""
    for goal in goals:
        if not goal.shape:
            continue
        between = [0.0]
        if goal.position is not None and goal.distance is None:
            weight = np.ones(3) if goal.weight is None else np.asarray(goal.weight)
            change = np.abs(goal.position[-1] - goal.position[0]) - np.asarray(goal.slack)
            between.append(np.where(weight > 0, change, 0.0).max())
        if goal.orientation is not None and min(goal.turn_weight) > 0 and not any(goal.turn_slack):
            between.append(np.abs(goal.orientation[-1] - goal.orientation[0]).max())
        if goal.direction is not None and not any(goal.turn_slack):
            between.append(np.abs(goal.direction[-1] - goal.direction[0]).max())
        if max(between) > _SAME_GOAL:
            raise BadInput(
                f"a closed path ends with its first goal, but that of {goal.link} at frame {shape[0] - 1} is another "
                "than at frame 0; append the first frame, or leave out closed"
            )


def values(linkage: Linkage, given: ArrayLike, what: str) -> Array:
    """Joint values (..., dof)."""
    try:
        return start_values(linkage, given)
    except BadInput as error:
        raise BadInput(str(error).replace("start", what, 1)) from None


def plan(
    linkage: Linkage,
    goals: list[Goal],
    shape: tuple[int, ...],
    chosen: Solver,
    times: Array,
    timed: bool,
    retime: bool,
    start: Array | None,
    end: Array | None,
    closed: bool,
    prefer: str,
    progress: bool | None,
) -> tuple[Solution, Array, NDArray[np.bool_]]:
    """The solution of all frames (frames, paths...), their times and their jumps.

    With ``retime``, exceeding a speed limit is not a jump. If a path has a jump or must be stretched, all paths are
    planned again without speed limits, and the better plan of each is taken; see `timing.least_stretched`.
    """
    frames, paths = shape[0], math.prod(shape[1:])
    order = np.arange(frames * paths).reshape(frames, paths).T.ravel()  # one path after another
    rows = goals if paths == 1 and len(shape) == 1 else [_rows(goal, shape, order) for goal in goals]
    even = np.diff(times)
    offsets = np.arange(paths + 1) * frames
    ends = (_ends(linkage, start, shape, "start"), _ends(linkage, end, shape, "end"))

    def planned(timed: bool) -> planner.Rows:
        is_even = np.allclose(even, even[0], rtol=1e-9, atol=0)
        return planner.solve_many(
            linkage,
            rows,
            offsets,
            chosen,
            dt=float(even[0]) if timed and is_even else None,
            times=np.tile(times, paths) if timed and not is_even else None,
            start=ends[0],
            end=ends[1],
            closed=closed,
            prefer=prefer,
            smoothed=_COMPARED,
            candidates=_CANDIDATES,
            untimed_dt=float(even.mean()),
            progress=progress,
        )

    found = planned(timed)
    if timed and retime:
        found = timing.least_stretched(linkage, goals, times, found, lambda: planned(False))

    def back(array: Any) -> Any:
        return np.ascontiguousarray(np.moveaxis(array.reshape(paths, frames, *array.shape[1:]), 0, 1)).reshape(
            *shape, *array.shape[1:]
        )

    outcome = back(found.outcome).astype(np.int64)
    report = np.stack([outcome.ravel(), np.zeros(outcome.size, np.int64), np.ones(outcome.size, np.int64)])
    q = back(found.q).reshape(-1, linkage.dof)
    solution = Solution._from_rows(linkage, goals, shape, (), q, report, chosen)
    whole = np.broadcast_to(times.reshape(frames, *[1] * (len(shape) - 1)), shape).copy()
    return solution, whole, back(found.reconfigured)


def _rows(goal: Goal, shape: tuple[int, ...], order: Any) -> Goal:
    return take_rows(goal, shape, order) if goal.shape else goal


def _ends(linkage: Linkage, given: Array | None, shape: tuple[int, ...], what: str) -> Array | None:
    """First or last joint values (paths, dof)."""
    if given is None:
        return None
    if len(shape) == 1 and given.ndim != 1:
        raise BadInput(f"{what} must have shape ({linkage.dof},), not {given.shape}")
    try:
        whole = np.broadcast_to(given, (*shape[1:], linkage.dof))
    except ValueError:
        raise BadInput(f"{what} must have shape {(*shape[1:], linkage.dof)}, not {given.shape}") from None
    return np.ascontiguousarray(whole).reshape(-1, linkage.dof)


def last_values(found: Solution, end: Array | None, closed: bool) -> Array | None:
    """The joint values (paths..., dof) at which paths should end; None if any will do. Joints without a goal stay."""
    if end is None:
        return found.q[0] if closed else None
    columns = list(compilation.compiled(found.linkage, found.goals, found.solver).columns)
    last: Array = found.q[-1].copy()
    last[..., columns] = np.broadcast_to(end, last.shape)[..., columns]
    return last


def jumps(found: Solution, times: Array, timed: bool) -> NDArray[np.bool_]:
    """Whether the step to each frame (frames,) is a jump."""
    steps = np.abs(found.linkage.difference(found.q[:-1], found.q[1:]))
    most = planner.longest_steps(found.linkage, found.goals, np.diff(times), timed)
    marks: NDArray[np.bool_] = np.append(False, (steps > (1 + 1e-9) * most).any(axis=-1))
    return marks
