"""Inverse kinematics along whole paths of goals, and its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check
from supple import prefer as preferences
from supple._arrays.given import warn_of_copy
from supple._arrays.result import exchanged
from supple._arrays.solve import given_to_solve, is_foreign
from supple._linkage.argument import checked_linkage
from supple._linkage.text import value_rows
from supple._path import arguments, follower, measures, planner, reasons, timing
from supple._solve.arguments import goal_list, start_values
from supple._solve.foreign import own_goals, rounded
from supple._table import html_table
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, take_rows
from supple.linkage import Linkage
from supple.motion import Motion
from supple.path import GoalPath
from supple.prefer import Preference
from supple.solution import Solution
from supple.solver import Solver, SolverOptions

Prefer = Literal["least motion", "centred", "conditioning"]


class WorstStep(NamedTuple):
    """The step between two frames that is longest compared with what its joint may move in that time."""

    frame: int
    """Index of the frame at the end of the step."""
    joint: str
    """Name of the joint value, as in `Linkage.names`."""
    change: float
    """Change of the joint value, in radians or metres."""
    part: float
    """The change divided by the longest step that is not a jump; above 1 the step is a jump."""


@dataclass(frozen=True, eq=False)
class PathSolution:
    """The result of `solve_path`, of one path or many. A frozen value.

    Arrays have the leading axes of the goals: (frames,) for one path, (frames, paths...) for many. ``done[i]`` is one
    path of many. ``motion``, ``worst_step``, ``why`` and the text are for one path.

    >>> from supple import GoalPath, models, solve_path
    >>> arm = models.planar3()
    >>> path = GoalPath.line([12, 6, 0], [10, 8, 0])
    >>> done = solve_path(arm, path.goal("tip", 11), duration=2.0)
    >>> done.arrived, len(done.motion), done.left is None, done.continuous
    (True, 11, True, True)
    """

    solution: Solution
    """The outcome and the error of each frame (frames, paths...)."""
    times: Array
    """Times of the frames (frames, paths...), in seconds; later than those given where `retime` stretched them."""
    reconfigured: NDArray[np.bool_]
    """Whether the step to each frame (frames, paths...) is a jump.

    A step of a joint is a jump if it is longer than its speed limit allows, or longer than 0.3 rad; where frames are
    more than 1/20 s apart, longer than 6 rad/s allow. Speed limits do not count without times, rate or duration, and
    not with `retime`, where the times before the stretch count."""
    stretch: Array
    """Duration of each path (paths...) relative to the one given; 1 without `retime`."""
    _timed: bool
    _last: Array | None = None  # the q (paths..., dof) at which each path should end
    _given: Array | None = None  # times (frames, paths...) before `retime` stretched them; None: as they are

    # -- one or many --------------------------------------------------------------------------------------------

    @property
    def linkage(self) -> Linkage:
        """The linkage that moves."""
        return self.solution.linkage

    @property
    def q(self) -> Array:
        """Joint values (frames, paths..., dof), in radians or metres."""
        return self.solution.q

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of the paths: () for one path."""
        return self.times.shape[1:]

    def __getitem__(self, index: Any) -> PathSolution:
        """One path of many, or some; NumPy's rules for an index of the axes of the paths."""
        if not self.shape:
            raise IndexError("a single path cannot be indexed; its frames are in done.q and done.solution")
        key = (slice(None), *(index if isinstance(index, tuple) else (index,)))
        try:
            stretch = self.stretch[_check.index(index)]
        except IndexError:
            raise _check.no_such_index(index, self.shape, "paths") from None
        last = None if self._last is None else self._last[index]
        given = None if self._given is None else self._given[key]
        return PathSolution(
            self.solution[key], self.times[key], self.reconfigured[key], stretch, self._timed, last, given
        )

    @property
    def _timing(self) -> reasons.Timing:
        given = self.times if self._given is None else self._given
        return reasons.Timing(self.times, given, self._timed or self._given is not None)

    def _only(self, what: str) -> None:
        if self.shape:
            raise ValueError(f"many paths have many {what}; use done[i]")

    @property
    def arrived(self) -> Any:
        """Whether every frame is within tolerance: a bool, or (paths...) for many."""
        reached = self.solution.arrived.all(axis=0)
        return reached if self.shape else bool(reached)

    @property
    def continuous(self) -> Any:
        """Whether no step is a jump: a bool, or (paths...) for many."""
        smooth = ~self.reconfigured.any(axis=0)
        return smooth if self.shape else bool(smooth)

    @property
    def gap(self) -> Array:
        """The wanted last joint values minus the actual ones (paths..., dof), in radians or metres.

        With ``closed=True`` the first joint values are wanted, with ``end`` those of ``end``. Without either it is 0.
        """
        return np.zeros_like(self.q[-1]) if self._last is None else self.linkage.difference(self.q[-1], self._last)

    @property
    def ended(self) -> Any:
        """Whether no joint has a `gap` of more than 1e-6: a bool, or (paths...) for many."""
        near = (np.abs(self.gap) <= reasons.LARGEST_GAP).all(axis=-1)
        return near if self.shape else bool(near)

    def __bool__(self) -> bool:
        return bool(np.all(self.arrived) and np.all(self.continuous) and np.all(self.ended))

    @property
    def distance(self) -> Array:
        """Distance of the positions from their goals (frames, paths..., goals), in metres."""
        return self.solution.distance

    @property
    def angle(self) -> Array:
        """Angle of the orientations from their goals (frames, paths..., goals), in radians."""
        return self.solution.angle

    @property
    def steps(self) -> Array:
        """Change of each joint from frame to frame (frames - 1, paths..., dof), in radians or metres."""
        return self.linkage.difference(self.q[:-1], self.q[1:])

    @property
    def change(self) -> Array:
        """The largest change of a joint between adjacent frames (frames - 1, paths...), in radians or metres."""
        change: Array = np.abs(self.steps).max(axis=-1)
        return change

    @property
    def length(self) -> Any:
        """Length of the path in joint space: a number, or (paths...); the sum of the norms of `steps`."""
        length = np.linalg.norm(self.steps, axis=-1).sum(axis=0)
        return length if self.shape else float(length)

    @property
    def limit_margin(self) -> Array:
        """Distance to the nearest position limit of a joint (frames, paths...), in radians or metres.

        For a ball joint, the distance to its cone or to the end of its twist range, whichever is nearer. Negative
        outside. Joints that move no end effector of a goal do not count.
        """
        return measures.limit_margin(self.linkage, self.solution.goals, self.solution.solver, self.q)

    @cached_property
    def singularity_margin(self) -> Array:
        """Smallest singular value of the weighted Jacobian of the goals (frames, paths...); 0 at a singularity."""
        shape = self.solution.outcomes.shape
        rows = np.arange(math.prod(shape))
        goals = [take_rows(goal, shape, rows) for goal in self.solution.goals]
        q = self.q.reshape(-1, self.linkage.dof)
        return measures.smallest_singular_value(self.linkage, goals, self.solution.solver, q).reshape(shape)

    # -- one path -----------------------------------------------------------------------------------------------

    @cached_property
    def motion(self) -> Motion:
        """Joint values over time: one key for each frame, linear between them; in one second if no times were given."""
        self._only("motions")
        return Motion(self.linkage, self.times, self.q)

    @property
    def left(self) -> int | None:
        """The first frame that is not within tolerance, None if all are."""
        self._only("frames")
        return None if self.arrived else int(np.argmin(self.solution.arrived))

    @property
    def reconfigurations(self) -> NDArray[np.int64]:
        """The frames to which the arm jumps."""
        self._only("reconfigurations")
        return np.flatnonzero(self.reconfigured)

    @cached_property
    def worst_step(self) -> WorstStep:
        """The step that is longest compared with what its joint may move in that time."""
        self._only("worst steps")
        steps, timing = np.abs(self.steps), self._timing
        most = planner.longest_steps(self.linkage, self.solution.goals, np.diff(timing.given), False)
        if timing.is_known:
            most = np.minimum(most, self.linkage.speed * np.diff(timing.times)[:, None])
        part = steps / most
        frame, joint = (int(i) for i in np.unravel_index(int(part.argmax()), part.shape))
        return WorstStep(frame + 1, self.linkage.names[joint], float(steps[frame, joint]), float(part[frame, joint]))

    @cached_property
    def why(self) -> str:
        """Why frames are not reached, or why the motion jumps, in words; empty if all is well.

        >>> from supple import GoalPath, models, solve_path
        >>> solve_path(models.planar3(), GoalPath.line([25, 5, 0], [45, 5, 0]).goal("tip", 21)).why
        'frames 5 to 20: tip is out of reach by up to 15.3 m along +x'
        """
        self._only("reasons")
        jumps = reasons.reasons(self.solution, self._timing, self.reconfigured)
        return "; ".join([*jumps, *reasons.open_end(self.linkage, self.gap)])

    def __str__(self) -> str:
        if self.shape:
            count = math.prod(self.shape)
            good, smooth = int(np.sum(self.arrived)), int(np.sum(self.continuous))
            text = f"{count:,} paths of {len(self.times):,} frames: {good:,} arrived everywhere, {smooth:,} continuous"
            return text if np.all(self.ended) else f"{text}, {count - int(np.sum(self.ended)):,} with a gap at the end"
        text = reasons.text(self.solution, self._timing, self.reconfigured, float(self.stretch))
        return "; ".join([text, *reasons.open_end(self.linkage, self.gap)])

    def __repr__(self) -> str:
        return f"<PathSolution: {self}>"

    def _repr_html_(self) -> str:
        """For a notebook: the joint values at the ends of one path, or the counts of many."""
        if not self.shape:
            ends = value_rows(self.linkage, {"first": self.q[0], "last": self.q[-1]})
            return html_table(str(self), ends, "<<>>")
        counts = {"arrived everywhere": self.arrived, "continuous": self.continuous, "ended as wanted": self.ended}
        rows = [(word, f"{int(np.sum(good)):,}") for word, good in counts.items()]
        return html_table(str(self), [("outcome", "paths"), *rows], "<>")


@_check.known_options(SolverOptions.__annotations__, "solver=Solver({}=...)")
def solve_path(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    start: ArrayLike | None = None,
    *,
    times: ArrayLike | None = None,
    rate: float | None = None,
    duration: float | None = None,
    end: ArrayLike | None = None,
    closed: bool = False,
    prefer: Prefer | Preference = "least motion",
    retime: bool = False,
    solver: Solver | None = None,
    steps: int | None = None,
    progress: bool | None = None,
) -> PathSolution:
    """Joint values along whole paths of goals: continuous, within limits and speeds, with little joint motion.

    Many solutions of one frame are continued through all other frames, and joined where they meet. Where no continuous
    motion is found, the path has few reconfigurations, each marked. The result is the same for any number of threads,
    and for one path or many.

    Args:
        linkage: the linkage that moves.
        goals: goals with a leading axis (frames,), such as ``path.goal("hand", 101)`` or ``Goal("hand", frames)``; with
            more axes (frames, paths...), many paths. Several goals are met together; a goal without a leading axis
            stays the same in all frames.
        start: first joint values (dof,), or (paths..., dof). If they do not meet the first goals, the path begins at
            the solution nearest to them. By default the planner chooses.
        times: times of the frames (frames,), in seconds, increasing; or
        rate: frames per second; or
        duration: time from the first frame to the last, in seconds. Without any of them it is one second, and speed
            limits do not count.
        end: last joint values (dof,), or (paths..., dof), as ``start``.
        closed: whether the last joint values should equal the first ones. The last goals must equal the first ones. If
            no such motion is found, the path has a `gap`, which is reported.
        prefer: "least motion"; "centred", away from limits; or "conditioning", away from singularities. `prefer.centre`
            and `prefer.dexterity` mean the last two.
        retime: whether to stretch the time, as little as possible, so that joint speeds and accelerations keep to
            their limits.
        solver: a search, whose tolerance, margin and joint weights are used; or another method, which solves frame by
            frame, each from the one before.
        steps: the largest number of steps of the solver for each frame, as in the sequences of the chapter. The first
            frame is then the start itself.
        progress: whether to show a bar on stderr; by default on a terminal, after one second.

    >>> from supple import GoalPath, models, solve_path
    >>> arm = models.planar3()
    >>> done = solve_path(arm, GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 11))
    >>> done.motion.q.shape
    (11, 3)
    """
    if is_foreign(goals, start) or is_foreign((), end):
        several = goal_list(linkage, goals, "solve_path(linkage, goals)")
        arrays = given_to_solve(several, {"start": start, "end": end})
        if arrays is None:
            raise BadInput("goals, start and end must be numbers")
        warn_of_copy(arrays, "solve_path")
        own: PathSolution = solve_path(
            linkage,
            own_goals(several),
            arrays.host(start),
            times=times,
            rate=rate,
            duration=duration,
            end=arrays.host(end),
            closed=closed,
            prefer=prefer,
            retime=retime,
            solver=solver,
            steps=steps,
            progress=progress,
        )
        return exchanged(replace(own, solution=rounded(own.solution, arrays)), arrays)
    chosen = arguments.solver(solver, Solver(), steps, preferences.Preference, prefer)
    if isinstance(goals, GoalPath):
        raise BadInput(
            "solve_path takes goals of a link, not a GoalPath; "
            f"write solve_path(arm, path.goal({checked_linkage(linkage).tips[0]!r}, 101))"
        )
    wanted = goal_list(linkage, goals, "solve_path(linkage, goals)")
    shape = arguments.shape_of(wanted)
    when, timed = timing.frame_times(shape[0], times, rate, duration)
    arguments.check_flags(closed, retime, progress)
    arguments.check_finite(wanted, shape)
    first = None if start is None else start_values(linkage, start)
    last = None if end is None else arguments.values(linkage, end, "end")
    if steps is not None or not chosen.searches:
        found = _follow(linkage, wanted, shape, chosen, first, steps, (closed, retime, last is not None))
        marks = arguments.jumps(found, when, timed)
        return PathSolution(found, when, marks, np.ones(()), timed)
    if closed and end is None:
        arguments.check_closed(wanted, shape)
    how = arguments.preference(prefer, chosen.prefer)
    plain = replace(chosen, prefer=preferences.nothing)
    done = arguments.plan(linkage, wanted, shape, plain, when, timed, retime, first, last, closed, how, progress)
    ends = arguments.last_values(done[0], last, closed)
    result = PathSolution(*done, np.ones(shape[1:]), timed, ends)
    return _retimed(result) if retime else result


def _follow(
    linkage: Linkage,
    goals: list[Goal],
    shape: tuple[int, ...],
    solver: Solver,
    start: Array | None,
    steps: int | None,
    others: tuple[bool, ...],
) -> Solution:
    """The solution frame by frame."""
    if len(shape) > 1 or any(others):
        raise BadInput(
            "steps= and methods other than the search follow one path, without end, closed and retime; "
            "leave out steps= and solver=, or write solver=Solver(tolerance=...)"
        )
    begin = linkage.rest if start is None else start
    if begin.ndim != 1:
        raise BadInput(f"start must have shape ({linkage.dof},), not {begin.shape}")
    return follower.follow(linkage, goals, shape[0], solver, begin, steps)


def _retimed(done: PathSolution) -> PathSolution:
    """The same joint values at later times, where speeds and accelerations need them."""
    count = math.prod(done.shape)
    given = done.times.reshape(len(done.times), count)
    q = done.q.reshape(len(given), count, -1)
    later = np.stack([timing.retimed(done.linkage, given[:, i], q[:, i]) for i in range(count)], axis=1)
    stretch = (later[-1] - later[0]) / (given[-1] - given[0])
    return replace(done, times=later.reshape(done.times.shape), stretch=stretch.reshape(done.shape), _given=done.times)
