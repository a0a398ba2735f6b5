"""Tracker: follows commands tick by tick, with the joints' state from tick to tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check
from supple._arrays.given import given, warn_of_copy
from supple._arrays.result import exchanged
from supple._linkage.argument import checked_linkage
from supple._solve.foreign import in_precision
from supple._solve.limits_in_use import LimitsInUse, unlimited
from supple._solve.margins import narrowed
from supple._solve.tracker_arguments import seconds, tracker_start
from supple._track.goal_reader import GoalReader, not_numbers
from supple._track.other_method import OtherMethod
from supple._track.setup import native_tracker, set_up
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.step import Step

if TYPE_CHECKING:
    from supple.solver import Solver, Tolerance

Recover: TypeAlias = Literal["off", "slow", "free"]
_RECOVER = get_args(Recover)
_NAN = math.nan
_MAX_DELAY = 1.0  # s
_MAX_PREDICTION = 0.1  # s
_NOT_A_FRAME = (Goal, list, tuple)  # a union type would be built at every tick, which takes as long as the rest of it


class Tracker:
    """Follows commands tick by tick: `step` for a goal, `push` for a twist. Made by `Solver.track`.

    It moves one arm, or many in one call if ``start`` has a leading axis. Joints stay within their limits of position,
    speed and acceleration; the jerk limit yields to these. A command that is not finite or out of reach does not raise:
    the `Step` says why.

    Threads: a tracker changes with every tick, so only one thread may use it.

    >>> from supple import Frame, Solver, models
    >>> arm = models.panda()
    >>> tracker = Solver().track(arm, "panda_hand_tcp")
    >>> command = Frame.at([0, 0, -0.01]) @ arm.frame(arm.rest, "panda_hand_tcp")
    >>> for _ in range(100):
    ...     step = tracker.step(command, dt=0.01)
    >>> step.status.name
    'FOLLOWING'
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    """The goals: their components and weights are used; the frames come with each step."""
    solver: Solver
    """The solver that made it."""
    tolerance: Tolerance
    """Within it the status is FOLLOWING."""
    acceleration: Array
    """Bound for each joint (dof,), in radians or metres per second squared."""
    jerk: Array
    """Bound for each joint (dof,), in radians or metres per second cubed."""
    recover: Recover
    """What an arm that is stuck does: "off", "slow" or "free"."""
    smooth: float
    """Delay of the low-pass of commands, in seconds; 0 for none."""
    predict: float
    """How far stamped commands are predicted, in seconds; 0 for not at all."""

    def __init__(
        self,
        linkage: Linkage,
        goals: Sequence[Goal],
        solver: Solver,
        start: Array,
        acceleration: ArrayLike | None,
        jerk: ArrayLike | None,
        tolerance: Tolerance,
        smooth: float,
        predict: float,
        recover: Recover,
        limits: LimitsInUse,
    ) -> None:
        made = set_up(linkage, goals, solver, acceleration, jerk)
        self.linkage = linkage
        self.goals = tuple(goals)
        self.solver, self.tolerance = solver, tolerance
        self.acceleration, self.jerk, self.smooth, self.predict = made.acceleration, made.jerk, smooth, predict
        self.recover: Recover = recover
        self._dof = linkage.dof
        self._single = start.ndim == 1
        self._jerk_is_given = jerk is not None
        self._moved = made.moved
        self._numbers = 4 * self._dof + 18 * len(goals)
        tracking_law = solver.searches
        if not tracking_law and start.ndim > 1:
            raise BadInput("the tracking law takes many arms; another method or a damping scheme takes one")
        self._preferring = made.local_solver if tracking_law and solver.prefer.terms else None
        if self._preferring is not None and start.ndim > 1:
            raise BadInput("preferences take a single arm; track each arm, or none")
        # which goals the core reads without help: one frame, or a list of frames
        plain = self._preferring is None and tracking_law
        of_frames = all(goal.pole is None and goal.axis is None for goal in goals)
        self._plain = len(goals) == 1 and goals[0].position is not None and goals[0].orientation is not None
        self._quick = plain and self._plain
        self._quick_frames = plain and len(goals) > 1 and of_frames
        recovery = _RECOVER.index(recover)
        self._track = native_tracker(linkage, goals, made, start, tolerance, recovery, smooth, predict)
        weights, shape = [list(target[2]) for target in made.targets], start.shape[:-1]
        self._reader = GoalReader(self.goals, made.reaches, weights, shape, self._track)
        self._other_method = None if tracking_law else OtherMethod(made.local_solver, solver)
        self._limits = limits
        if not limits.are_the_linkages:
            self._use(limits)

    def step(
        self,
        goal: Frame | Goal | ArrayLike | Sequence[Any],
        dt: float,
        stamp: float | None = None,
        measured: ArrayLike | None = None,
    ) -> Step:
        """One tick towards a goal: the next joint values.

        Args:
            goal: a Frame or an array (4, 4); for several end effectors a list of them; for many arms (arms, 4, 4). A
                `Goal` is taken too, and may change the weights; its priority is that of `Solver.track`. A command that
                is not finite holds the arm.
            dt: time since the last tick, in seconds. A tick longer than 4 ms is divided into pieces of at most 1 ms, or
                2 ms where more than ten joint values move. In them the command moves smoothly from the last to this
                one. One longer than 0.25 s counts as 0.25 s; in one shorter than 1 us nothing moves, and 1e9 s or
                longer holds the arm.
            stamp: when the command was made, in seconds on any clock; slow or irregular commands are then smoothed.
            measured: joint values (dof,) measured on the real arm. The tracker continues from its own values, but waits
                for an arm that falls far behind, and the step has the error of the real arm. Values that are not finite
                are not used, with a warning in the step.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp")
        >>> tracker.step(arm.frame(arm.rest, "panda_hand_tcp"), dt=0.01).q.shape
        (8,)
        """
        if self._other_method is not None:
            return self._other_step(self._other_method, goal, _check.finite_or_not(dt, "dt"), measured)
        if self._preferring is not None:
            self._prefer()
        try:
            if self._quick and measured is None and stamp is None and not isinstance(goal, _NOT_A_FRAME):
                return Step(self._track.tick(goal, dt), self, dt)
            if self._quick_frames and measured is None and stamp is None:
                result = self._track.frames(goal, dt)
                if result is not None:
                    return Step(result, self, dt)
            when = _NAN if stamp is None else stamp
            if self._plain and not isinstance(goal, _NOT_A_FRAME):
                return Step(self._track.frame(goal, dt, when, measured), self, dt, _is_blind(measured))
            return Step(self._track.goals(self._reader.read(goal), dt, when, measured), self, dt, _is_blind(measured))
        except _check.ForeignArray:
            pass
        except (TypeError, BadInput) as error:
            self._reader.check_count(goal)
            if isinstance(error, BadInput):
                raise
            raise not_numbers(dt=dt, stamp=0.0 if stamp is None else stamp) from None
        return self._foreign_step(goal, dt, stamp, measured)

    def _foreign_step(self, goal: Any, dt: float, stamp: float | None, measured: Any) -> Step:
        """A tick towards a goal that is an array of another library."""
        arrays = given({"goal": goal, "measured": measured})
        if arrays is None:
            raise BadInput(f"goal must be a frame, got {_check.short(goal)}")
        warn_of_copy(arrays, "a tracker")
        made = self.step(arrays.host(goal), dt, stamp, arrays.host(measured))
        result, dof = made._result.copy(), self._dof
        single = replace(self.solver, margin=self._limits.margin)
        result[..., :dof] = in_precision(self.linkage, result[..., :dof], single, arrays)
        return exchanged(Step(result, self, dt), arrays)

    def _prefer(self) -> None:
        """Give the core the step that the preferences ask here."""
        anywhere = np.tile([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], (len(self.goals), 1))
        if self._preferring is not None:
            self._track.prefer(self._preferring.preferred(self._track.q, anywhere, self.solver._preferred_step()))

    def _other_step(self, method: OtherMethod, goal: Any, dt: float, measured: ArrayLike | None) -> Step:
        """A tick with the step of another method or of a damping scheme."""
        numbers = self._reader.read(goal)
        if measured is not None:
            measured = _check.numbers(measured, "measured")
        taken = method.step(self._track.q, numbers, dt, self._reader.weights)
        return Step(self._track.steer(numbers, dt, measured, *taken, self.solver.keep_limits), self, dt)

    def push(self, twist: ArrayLike, dt: float, measured: ArrayLike | None = None) -> Step:
        """One tick of resolved-rate control [D2]: the end effector moves with a velocity, such as that of a SpaceMouse.

        Args:
            twist: linear (m/s) and angular (rad/s) velocity in world axes (6,); (goals, 6) for several end effectors,
                with a leading axis for many arms. A twist that is not finite holds the arm.
            dt: time since the last tick, in seconds.
            measured: as in `step`.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp")
        >>> tracker.push([0, 0, 0.1, 0, 0, 0], dt=0.01).q.shape
        (8,)
        """
        if self._other_method is not None:
            raise BadInput("push needs the tracking law; with another method or a damping scheme, use step")
        for k, goal in enumerate(self.goals):
            if goal._special_kind:
                kind = goal._special_kind
                raise BadInput(f"push moves frames, positions and directions; goal {k} has {kind}: use step")
        rows = _check.numbers(twist, "twist")
        if rows.shape[-1:] == (6,) and len(self.goals) == 1 and rows.ndim == (1 if self._single else 2):
            rows = rows[..., None, :]
        if self._preferring is not None:
            self._prefer()
        try:
            return Step(self._track.push(rows, dt, measured), self, dt, _is_blind(measured))
        except TypeError:
            raise not_numbers(dt=dt) from None

    @property
    def q(self) -> Array:
        """Joint values (dof,), or (arms, dof) for many arms, after the last tick."""
        return self._track.q

    @property
    def speed(self) -> Array:
        """Speed limit of each end effector (goals,), in m/s; inf for none. `limits` changes it."""
        return np.array(self._limits.speed)

    @property
    def turn_speed(self) -> Array:
        """Limit of the angular speed of each end effector (goals,), in rad/s; inf for none. `limits` changes it."""
        return np.array(self._limits.turn_speed)

    @property
    def speed_scale(self) -> float:
        """The factor on the speed limits of all joints. `limits` changes it."""
        return self._limits.speed_scale

    @property
    def lower(self) -> Array:
        """Lower position limits in use (dof,): those of the linkage with the margin."""
        return np.array(narrowed(self.linkage, self._limits.margin)[0])

    @property
    def upper(self) -> Array:
        """Upper position limits in use (dof,): those of the linkage with the margin."""
        return np.array(narrowed(self.linkage, self._limits.margin)[1])

    @_check.known_options()
    def limits(
        self,
        *,
        speed: ArrayLike | None = None,
        turn_speed: ArrayLike | None = None,
        speed_scale: float | None = None,
        margin: ArrayLike | None = None,
    ) -> None:
        """Change limits between two ticks; those that are not given stay. The options are those of `Solver.track`.

        An arm that is faster than a new limit brakes by its acceleration limits; a joint within a new margin is brought
        back. ``math.inf`` removes a speed limit.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp", speed=0.5)
        >>> tracker.limits(speed=0.1, speed_scale=0.5)
        >>> tracker.speed, tracker.speed_scale
        (array([0.1]), 0.5)
        """
        given = {"speed": speed, "turn_speed": turn_speed, "speed_scale": speed_scale, "margin": margin}
        self._use(self._limits.changed(self.linkage, **given))

    def _use(self, limits: LimitsInUse) -> None:
        if not self.solver.keep_limits and not limits.are_the_linkages:
            raise BadInput("with keep_limits=False a tracker has no limits: give no speed, speed_scale or margin")
        for k, goal in enumerate(self.goals):
            special = "the centre of mass" if goal.is_center_of_mass else "a pole" if goal.pole is not None else ""
            if special and min(limits.speed[k], limits.turn_speed[k]) < math.inf:
                raise BadInput(
                    f"speed and turn_speed limit links, and goal {k} is for {special}: give one for each "
                    "goal, with math.inf for that one"
                )
        limits.apply(self._track, self.linkage)
        self._limits = limits

    def reset(self, q: ArrayLike) -> None:
        """Start again from joint values q, shaped like ``start``, at rest and without history.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp")
        >>> tracker.reset(arm.rest)
        """
        self._track.reset(np.ascontiguousarray(tracker_start(self.linkage, q)))
        if self._other_method is not None:
            self._other_method.reset()

    def replay(
        self, commands: ArrayLike, dt: float, stamps: ArrayLike | None = None
    ) -> tuple[Array, NDArray[np.int64]]:
        """All ticks of a recorded command in one call, for one arm; the same as `step` for each.

        Args:
            commands: frames (ticks, 4, 4), or (ticks, goals, 4, 4) for several end effectors.
            dt: time of a tick, in seconds.
            stamps: when each command was made (ticks,), in seconds.

        Returns:
            q (ticks, dof), and the value of each tick's `TrackingStatus` (ticks,).

        >>> import numpy as np
        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> commands = np.stack([arm.frame(arm.rest, "panda_hand_tcp").matrix] * 50)
        >>> q, statuses = Solver().track(arm, "panda_hand_tcp").replay(commands, dt=0.01)
        >>> q.shape, statuses.shape
        ((50, 8), (50,))
        """
        frames = _check.numbers(commands, "commands")
        if frames.ndim == 3:
            frames = frames[:, None]
        if frames.shape[1:] != (len(self.goals), 4, 4):
            raise BadInput(f"commands must have shape (ticks, {len(self.goals)}, 4, 4), not {frames.shape}")
        numbers = np.concatenate([frames[..., :3, :3].reshape(*frames.shape[:2], 9), frames[..., :3, 3]], axis=-1)
        dt = _check.finite_or_not(dt, "dt")
        when = None if stamps is None else _check.numbers(stamps, "stamps")
        if when is not None and when.shape != frames.shape[:1]:
            raise BadInput(f"stamps must have shape ({len(frames)},), not {when.shape}")
        if self._preferring is not None:
            return self._replay_preferring(np.ascontiguousarray(numbers), dt, when)
        q, statuses = self._track.replay(np.ascontiguousarray(numbers), dt, when)
        return q, statuses.astype(np.int64)

    def _replay_preferring(self, numbers: Array, dt: float, when: Array | None) -> tuple[Array, NDArray[np.int64]]:
        """`replay` where each tick has its own preferred step."""
        rows, statuses = [], []
        for k in range(len(numbers)):
            self._prefer()
            q, status = self._track.replay(numbers[k : k + 1], dt, None if when is None else when[k : k + 1])
            rows.append(q)
            statuses.append(status)
        if not rows:
            return np.empty((0, self._dof)), np.empty(0, dtype=np.int64)
        return np.concatenate(rows), np.concatenate(statuses).astype(np.int64)

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle or copy a 'Tracker' object: it has a state; make another with Solver.track")

    def __len__(self) -> int:
        if self._single:
            raise TypeError("the tracker of a single arm has no length")
        return self._track.arms

    def __repr__(self) -> str:
        links = ", ".join(repr(goal.link) for goal in self.goals)
        return f"<Tracker of {self.linkage.name}: {links}>"


def make_tracker(
    solver: Solver,
    linkage: Linkage,
    links: str | Goal | Sequence[str | Goal],
    start: ArrayLike | None,
    acceleration: ArrayLike | None,
    jerk: ArrayLike | None,
    tolerance: Tolerance | None,
    smooth: float,
    predict: float,
    recover: Recover,
    limits: dict[str, Any],
) -> Tracker:
    """The tracker of a solver; see `Solver.track`."""
    from supple.solver import Tolerance

    checked_linkage(linkage, "track(linkage, links)")
    try:
        given = [links] if isinstance(links, str | Goal) else list(links)
    except TypeError:
        raise BadInput(f"links must be names or goals, got {_check.short(links)}") from None
    if tolerance is not None:
        _check.instance(tolerance, Tolerance, "tolerance", "Tolerance(position=1e-3)")
    if not given:
        raise BadInput("at least one link is needed")
    goals = [one if isinstance(one, Goal) else Goal(one, Frame()) for one in given]
    if any(goal.shape for goal in goals):
        raise BadInput("a tracker takes single goals; many arms come with start of shape (arms, dof)")
    begin = tracker_start(linkage, start)
    if begin.ndim > 2:
        raise BadInput(f"start must have shape (dof,) or (arms, dof), not {begin.shape}")
    near = Tolerance(1e-3, math.radians(0.5)) if tolerance is None else tolerance
    if not isinstance(recover, str) or recover not in _RECOVER:
        raise BadInput(f"recover must be 'off', 'slow' or 'free', got {_check.short(recover)}")
    in_use = unlimited(len(goals), solver.margin).changed(linkage, **limits)
    delay = seconds(smooth, "smooth", _MAX_DELAY, solver.searches)
    ahead = seconds(predict, "predict", _MAX_PREDICTION, solver.searches)
    return Tracker(linkage, goals, solver, begin, acceleration, jerk, near, delay, ahead, recover, in_use)


def _is_blind(measured: ArrayLike | None) -> bool:
    """Whether some measured values are not finite; the core has taken them as numbers already."""
    return measured is not None and not np.isfinite(np.asarray(measured, dtype=float)).all()
