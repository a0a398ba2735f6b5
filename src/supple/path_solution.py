"""Following: an end effector goes along a path of goals, frame by frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple import method
from supple._solve import compilation
from supple._solve.arguments import goal_list, start_values
from supple._solve.explanation import said_angle, said_length
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, picked
from supple.linkage import Linkage
from supple.motion import Motion
from supple.solution import Outcome, Solution
from supple.solver import Solver


@dataclass(frozen=True)
class PathSolution:
    """What came of following: a motion, and how near each of its frames is to what was wanted."""

    motion: Motion
    """Joint values in time: a key for each frame, with linear in-betweens."""
    solution: Solution
    """The outcome and the error of each frame; its leading axis is the frames, as the motion's keys are."""

    @property
    def arrived(self) -> bool:
        """Whether every frame is within tolerance."""
        return bool(self.solution.arrived.all())

    @property
    def left(self) -> int | None:
        """The first frame that is not within tolerance, None if all are."""
        return None if self.arrived else int(np.argmin(self.solution.arrived))

    @property
    def distance(self) -> Array:
        """How far the positions are from their goals (frames, goals), in metres."""
        return self.solution.distance

    @property
    def angle(self) -> Array:
        """How far the orientations are from their goals (frames, goals), in radians."""
        return self.solution.angle

    @property
    def change(self) -> Array:
        """The largest change of a joint from each frame to the next (frames - 1,), in radians or metres."""
        q = self.motion.q
        change: Array = np.abs(self.motion.linkage.difference(q[:-1], q[1:])).max(axis=-1)
        return change

    def __str__(self) -> str:
        n, found = len(self.motion), self.solution
        away = self.distance if any(goal.position is not None for goal in found.goals) else self.angle
        worst, goal = (int(i) for i in np.unravel_index(int(away.argmax()), away.shape))
        wanted = found.goals[goal]
        parts = [said_length(float(self.distance[worst, goal]))] if wanted.position is not None else []
        if wanted.orientation is not None or wanted.axis is not None:
            parts.append(said_angle(float(self.angle[worst, goal])))
        far = f"{wanted.link} at most {' and '.join(parts)} away, at frame {worst}"
        jump = f"largest change from frame to frame {_largest(self.motion)}"
        if self.arrived:
            return f"followed all {n} frames: {far}; {jump}"
        count, when = int((~found.arrived).sum()), self.motion.times[self.left]
        stuck = found.outcomes[worst] == Outcome.STUCK.value
        why = f" ({found[worst].why})" if stuck else ""
        return f"left the path at frame {self.left} ({when:.4g} s), {count} of {n} not arrived: {far}{why}; {jump}"

    def __repr__(self) -> str:
        return f"<PathSolution: {self}>"


def solve_path(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    start: ArrayLike | None = None,
    *,
    duration: float = 1.0,
    solver: Solver | None = None,
    steps: int | None = None,
) -> PathSolution:
    """Bring end effectors along paths of goals, frame by frame, each from where the one before ended.

    Args:
        linkage: what moves.
        goals: goals with one leading axis, one for each frame, such as ``path.goal("hand", 101)`` or
            ``Goal("hand", frames)``; several go along together, and one without a leading axis holds all the time.
        start: joint values (dof,) to begin from; the linkage's rest by default.
        duration: from the first frame to the last, in seconds.
        solver: how each frame is solved; by default a `Solver` that never leaps to the other side of a range.
        steps: None to solve each frame to tolerance; else the most steps to take from each frame to the next, as the
            chapter does with one: then the first frame is the start as it stands.
    """
    how = Solver(method=method.damped(), limit_escapes=0) if solver is None else solver
    if not isinstance(how, Solver):
        raise BadInput(f"solver must be a Solver, got {how!r}")
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise BadInput(f"steps must be None or a whole number of at least 1, got {steps!r}")
    if not (isinstance(duration, int | float | np.number) and 0 < duration < math.inf):
        raise BadInput(f"duration must be a positive number of seconds, got {duration!r}")
    wanted = goal_list(linkage, goals)
    try:
        shape = np.broadcast_shapes(*(goal.shape for goal in wanted))
    except ValueError:
        raise BadInput(f"goals must have as many frames each, got {[goal.shape for goal in wanted]}") from None
    if len(shape) != 1 or shape[0] < 2:
        raise BadInput(f"goals to follow need one leading axis, with two frames or more; theirs is {shape}")
    lost = ~np.isfinite(np.stack([goal._encoded(shape) for goal in wanted], axis=1)).all(axis=(1, 2))
    if lost.any():
        raise BadInput(f"goals must be finite; that of frame {int(lost.argmax())} is not")
    compilation.compiled(linkage, wanted, how)
    q = start_values(linkage, start)
    if q.ndim != 1:
        raise BadInput(f"start must have shape ({linkage.dof},), not {q.shape}")
    rows, report = np.zeros((*shape, linkage.dof)), np.zeros((*shape, 3 if how.searches and steps is None else 4))
    for i in range(shape[0]):
        now = [picked(goal, shape, i) for goal in wanted]
        if steps is None:
            found = how.solve(linkage, now, q)
            report[i] = (
                found.outcomes,
                found.iterations,
                *((found.starts,) if how.searches else (found.largest_step, found.path)),
            )
            q = found.q
        else:
            q, report[i] = _stepped(linkage, now, how, q, steps if i else 0)
        rows[i] = q
    motion = Motion(linkage, np.linspace(0, duration, shape[0]), rows)
    return PathSolution(motion, Solution._from_rows(linkage, wanted, shape, (), rows, report.T, how))


def _largest(motion: Motion) -> str:
    """The largest change from key to key, in words."""
    linkage = motion.linkage
    change = np.abs(linkage.difference(motion.q[:-1], motion.q[1:])).max(axis=0)
    i = int(change.argmax())
    units = [unit for joint in linkage.joints if joint.dof for unit in joint.units]
    return f"{change[i]:.3g} {units[i]}, of {linkage.names[i]}"


def _stepped(linkage: Linkage, goals: list[Goal], how: Solver, q: Array, steps: int) -> tuple[Array, list[float]]:
    """Joint values after so many steps, fewer if it arrives; and outcome, steps taken, the largest and their length."""
    outcome, taken, largest, length = Outcome.OUT_OF_BUDGET, 0, 0.0, 0.0
    for _ in range(steps):
        try:
            moved = how.step(linkage, goals, q)
        except BadInput:  # all else was checked: the method has no step at a singular place
            moved = q
        if np.array_equal(moved, q) or not np.isfinite(moved).all():
            outcome = Outcome.STUCK
            break
        change = linkage.difference(q, moved)
        q, taken = moved, taken + 1
        largest, length = max(largest, float(np.abs(change).max())), length + float(np.linalg.norm(change))
        if taken < steps and _near(linkage, goals, how, q):
            break
    if _near(linkage, goals, how, q):
        outcome = Outcome.ARRIVED
    return q, [outcome.value, taken, largest, length]


def _near(linkage: Linkage, goals: list[Goal], how: Solver, q: Array) -> bool:
    at = Solution._from_rows(linkage, goals, (), (), q[None], np.zeros((4, 1)), how)
    return bool((at.distance <= how.tolerance.position).all() and (at.angle <= how.tolerance.angle).all())
