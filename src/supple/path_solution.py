"""Inverse kinematics along a path of goals, frame by frame, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, method
from supple._linkage.argument import checked_linkage
from supple._solve import compilation
from supple._solve.arguments import goal_list, start_values
from supple._solve.text import angle_text, length_text
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage
from supple.motion import Motion
from supple.path import GoalPath
from supple.solution import Outcome, Solution
from supple.solver import Solver, SolverOptions


@dataclass(frozen=True)
class PathSolution:
    """The result of `solve_path`: a motion, and the error of each of its frames. A frozen value.

    >>> from supple import GoalPath, models, solve_path
    >>> arm = models.planar3()
    >>> path = GoalPath.line([12, 6, 0], [10, 8, 0])
    >>> done = solve_path(arm, path.goal("tip", 11), duration=2.0)
    >>> done.arrived, len(done.motion), done.left is None
    (True, 11, True)
    """

    motion: Motion
    """Joint values over time: one key for each frame, linear between them."""
    solution: Solution
    """The outcome and the error of each frame; its leading axis is (frames,)."""

    @property
    def arrived(self) -> bool:
        """Whether every frame is within tolerance."""
        return bool(self.solution.arrived.all())

    def __bool__(self) -> bool:
        return self.arrived

    @property
    def left(self) -> int | None:
        """The first frame that is not within tolerance, None if all are."""
        return None if self.arrived else int(np.argmin(self.solution.arrived))

    @property
    def distance(self) -> Array:
        """Distance of the positions from their goals (frames, goals), in metres."""
        return self.solution.distance

    @property
    def angle(self) -> Array:
        """Angle of the orientations from their goals (frames, goals), in radians."""
        return self.solution.angle

    @property
    def change(self) -> Array:
        """The largest change of a joint between adjacent frames (frames - 1,), in radians or metres."""
        q = self.motion.q
        change: Array = np.abs(self.motion.linkage.difference(q[:-1], q[1:])).max(axis=-1)
        return change

    def __str__(self) -> str:
        n, found = len(self.motion), self.solution
        away = self.distance if any(goal.position is not None for goal in found.goals) else self.angle
        worst, goal = (int(i) for i in np.unravel_index(int(away.argmax()), away.shape))
        wanted = found.goals[goal]
        parts = [length_text(float(self.distance[worst, goal]))] if wanted.position is not None else []
        if wanted.orientation is not None or wanted.axis is not None or wanted.pole is not None:
            parts.append(angle_text(float(self.angle[worst, goal])))
        far = f"{wanted.link} at most {' and '.join(parts)} away, at frame {worst}"
        jump = f"largest change from frame to frame {_largest(self.motion)}"
        if self.arrived:
            return f"followed all {n} frames within tolerance; {jump}"
        count, when = int((~found.arrived).sum()), self.motion.times[self.left]
        stuck = found.outcomes[worst] == Outcome.STUCK.value
        why = f" ({found[worst].why})" if stuck else ""
        return f"left the path at frame {self.left} ({when:.4g} s), {count} of {n} not arrived: {far}{why}; {jump}"

    def __repr__(self) -> str:
        return f"<PathSolution: {self}>"


@_check.known_options(SolverOptions.__annotations__, "solver=Solver({}=...)")
def solve_path(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    start: ArrayLike | None = None,
    *,
    duration: float = 1.0,
    solver: Solver | None = None,
    steps: int | None = None,
) -> PathSolution:
    """Inverse kinematics along paths of goals, frame by frame; each frame starts from the result of the one before.

    Args:
        linkage: the linkage that moves.
        goals: goals with one leading axis (frames,), such as ``path.goal("hand", 101)`` or ``Goal("hand", frames)``.
            Several goals are met together; a goal without a leading axis stays the same in all frames.
        start: joint values (dof,) to start from; the linkage's rest by default.
        duration: time from the first frame to the last, in seconds.
        solver: solves each frame; by default damped least squares with ``limit_escapes=0``, which stays on one branch.
        steps: None to solve each frame to tolerance; else the most steps between frames, one in the chapter. The first
            frame is then the start itself.

    >>> from supple import GoalPath, models, solve_path
    >>> arm = models.planar3()
    >>> done = solve_path(arm, GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 11))
    >>> done.motion.q.shape
    (11, 3)
    """
    chosen = Solver(method=method.damped(), limit_escapes=0) if solver is None else solver
    _check.instance(chosen, Solver, "solver")
    if steps is not None:
        _check.whole(steps, "steps", 1)
    duration = _check.positive(duration, "duration", "seconds")
    if isinstance(goals, GoalPath):
        raise BadInput(
            "solve_path takes goals of a link, not a GoalPath; "
            f"write solve_path(arm, path.goal({checked_linkage(linkage).tips[0]!r}, 101))"
        )
    wanted = goal_list(linkage, goals, "solve_path(linkage, goals)")
    try:
        shape = np.broadcast_shapes(*(goal.shape for goal in wanted))
    except ValueError:
        raise BadInput(f"goals must have the same number of frames, got {[goal.shape for goal in wanted]}") from None
    if len(shape) != 1 or shape[0] < 2:
        raise BadInput(f"goals along a path need one leading axis, with two frames or more; theirs is {shape}")
    lost = ~np.isfinite(np.stack([goal._encoded(shape) for goal in wanted], axis=1)).all(axis=(1, 2))
    if lost.any():
        raise BadInput(f"goals must be finite; that of frame {int(lost.argmax())} is not")
    compilation.compiled(linkage, wanted, chosen)
    q = start_values(linkage, start)
    if q.ndim != 1:
        raise BadInput(f"start must have shape ({linkage.dof},), not {q.shape}")
    rows, report = np.zeros((*shape, linkage.dof)), np.zeros((*shape, 3 if chosen.searches else 4))
    for i in range(shape[0]):
        now = [take_rows(goal, shape, i) for goal in wanted]
        if steps is None:
            found = chosen.solve(linkage, now, q)
            report[i] = (
                found.outcomes,
                found.iterations,
                *((found.starts,) if chosen.searches else (found.largest_step, found.path)),
            )
            q = found.q
        else:
            q, (outcome, taken, *way) = _stepped(linkage, now, chosen, q, steps if i else 0)
            report[i] = (outcome, taken, 1) if chosen.searches else (outcome, taken, *way)
        rows[i] = q
    motion = Motion(linkage, np.linspace(0, duration, shape[0]), rows)
    return PathSolution(motion, Solution._from_rows(linkage, wanted, shape, (), rows, report.T, chosen))


def _largest(motion: Motion) -> str:
    """The largest change between adjacent keys, in words."""
    linkage = motion.linkage
    change = np.abs(linkage.difference(motion.q[:-1], motion.q[1:])).max(axis=0)
    i = int(change.argmax())
    units = [unit for joint in linkage.joints if joint.dof for unit in joint.units]
    return f"{change[i]:.3g} {units[i]}, of {linkage.names[i]}"


def _stepped(linkage: Linkage, goals: list[Goal], solver: Solver, q: Array, steps: int) -> tuple[Array, list[float]]:
    """Joint values after at most so many steps; then outcome, steps taken, largest step and length of the path."""
    outcome, taken, largest, length = Outcome.OUT_OF_BUDGET, 0, 0.0, 0.0
    for _ in range(steps):
        moved = solver._stepped(linkage, goals, q)
        if moved is None:  # the method has no step at a singular place
            moved = q
        if np.array_equal(moved, q) or not np.isfinite(moved).all():
            outcome = Outcome.STUCK
            break
        change = linkage.difference(q, moved)
        q, taken = moved, taken + 1
        largest, length = max(largest, float(np.abs(change).max())), length + float(np.linalg.norm(change))
        if taken < steps and _near(linkage, goals, solver, q):
            break
    if _near(linkage, goals, solver, q):
        outcome = Outcome.ARRIVED
    return q, [outcome.value, taken, largest, length]


def _near(linkage: Linkage, goals: list[Goal], solver: Solver, q: Array) -> bool:
    at = Solution._from_rows(linkage, goals, (), (), q[None], np.zeros((3 if solver.searches else 4, 1)), solver)
    return bool((at.distance <= solver.tolerance.position).all() and (at.angle <= solver.tolerance.angle).all())
