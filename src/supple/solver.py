"""Solver: the method and options of inverse kinematics; and `solve`, which uses it in one call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed, method, prefer
from supple._arrays.given import PLAIN
from supple._arrays.solve import is_foreign
from supple._linkage.argument import checked_linkage
from supple._solve import batch, compilation, damping_schemes, foreign, margins, options, search, serialization
from supple._solve.arguments import goal_list, preferred_step, start_values
from supple._solve.compiled_solver import CompiledSolver
from supple._solve.options import JointWeights, SolverOptions, not_of_solve
from supple._solve.tolerance import Tolerance
from supple.damping import Damping, DampingFunction
from supple.errors import BadInput, unknown_option
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Method
from supple.prefer import Preference
from supple.solution import Solution

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack
if TYPE_CHECKING:
    from supple.tracker import Recover, Tracker

_TOLERANCE = Tolerance()

__all__ = ["JointWeights", "Solver", "SolverOptions", "Tolerance", "solve"]


@_renamed.answers_old_names
@dataclass(frozen=True)
class Solver(metaclass=_renamed.HidesOldNames):
    """The method and options of inverse kinematics. A frozen value, which threads may share.

    The default method is a search from many seeds. The other methods of `supple.method` iterate from the start value:
    each iteration is an explicit Euler step q + dq, as in the chapter. The options damping, step_scale, halvings,
    limit_escapes and patience are only for these methods; the search refuses them.

    >>> from supple import Goal, Solver, method, models
    >>> arm = models.planar3()
    >>> goal = Goal("tip", position=[12, 6, 0])
    >>> Solver().solve(arm, goal).outcome.name
    'ARRIVED'
    >>> Solver(method=method.damped(), damping=1e-2).solve(arm, goal).outcome.name
    'ARRIVED'
    """

    method: Method = field(default_factory=method.search)
    """See `supple.method`."""
    damping: float | Damping | DampingFunction | None = None
    """alpha in J J' + alpha I, in the units of the weighted error squared, for damped methods; 1e-4 if None. Or a
    scheme of `supple.damping`, or a function f(q, e, J, dt), which becomes a `Damping`.

    With a scheme each step is the weighted and damped one of the paper [D17, D18], and an iteration counts as 1/300 s.
    Limits, escapes and convergence are as without a scheme."""
    prefer: Preference = prefer.nothing
    """What to do with freedom that the goals leave; see `supple.prefer`. The search moves its result that way as far as
    the goals allow."""
    joint_weights: JointWeights = None
    """For the search: how freely each joint moves, as one number, (dof,), or by the joint's name. The default is 1; 0
    locks a joint at its start value."""
    max_iterations: int | None = None
    """Largest number of iterations. The default is 200; for the search it is 40,000, counted over all seeds."""
    timeout: float | None = None
    """Time limit for one solve by the search, in seconds. Without it results are the same to the bit on every run."""
    tolerance: Tolerance = _TOLERANCE
    """When a goal counts as reached."""
    max_step: float = 1.0
    """The largest change of a joint in one step, in radians or metres; a longer step is scaled down as a whole. (The
    search scales metres so that the end effector moves by the same fraction of its reach.)"""
    step_scale: float = 1.0
    """A factor on every step, above 0 and at most 1."""
    halvings: int = 0
    """How often a step is halved while it raises the error; a step that still raises it is not taken."""
    limit_escapes: int = 3
    """How often a solve that is stuck moves joints at a limit to the other side of their range."""
    keep_limits: bool = True
    """Whether joints stay within their position limits."""
    patience: int = 15
    """After so many iterations without progress (1 % of the squared error) a solve is stuck."""
    margin: ArrayLike = 0.0
    """How far joints stay from their position limits, in radians or metres: one number, or one for each value of q. One
    number takes at most a quarter of a joint's range from each end. A start may be outside."""
    device: str = "cpu"
    """Where many NumPy goals are solved: "cpu", "cuda", or "cuda:1" for a GPU by its number. A single goal is always
    solved by the CPU, and goals that are arrays of a GPU on that GPU."""

    if not TYPE_CHECKING:

        def __new__(cls, *values: Any, **given: Any) -> Solver:
            """A solver; an unknown option is answered with near matches."""
            for name in given:
                if name not in cls.__dataclass_fields__:
                    raise unknown_option("Solver", name, cls.__dataclass_fields__, _renamed.OPTIONS)
            return object.__new__(cls)

    def __post_init__(self) -> None:
        for name, value in options.checked(self).items():
            object.__setattr__(self, name, value)
        options.check_method(self)

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(tuple(getattr(self, name) for name in self.__dataclass_fields__))
            self.__dict__["_hash"] = known
        return known

    @property
    def searches(self) -> bool:
        """Whether the method is `method.search`.

        >>> from supple import Solver
        >>> Solver().searches
        True
        """
        return self.method.name == "search"

    def solve(
        self,
        linkage: Linkage,
        goals: Goal | Sequence[Goal],
        start: ArrayLike | None = None,
        *,
        solutions: int | None = None,
        out: Array | None = None,
        progress: bool | None = None,
        **unknown: NoReturn,
    ) -> Solution:
        """Joint values that bring the end effectors to their goals.

        Args:
            linkage: the linkage to solve for.
            goals: one goal, or several to meet at the same time; leading axes broadcast and mean many problems.
            start: joint values (..., dof) to start from. With a start the search returns the solution nearest to it
                among those it finds; without one, the first it finds. Other methods start from rest by default.
            solutions: the number of distinct solutions to look for, nearest to the start (or to the middle of the
                limits) first. For a single goal the result has one leading axis, with the solutions found; for many
                goals it has one more axis (..., solutions), whose rows beyond those found repeat the first, as
                NO_MORE.
            out: an array (..., dof) of float64 to write q to.
            progress: whether to show a bar on stderr; by default on a terminal, after one second.

        Many problems are shared among all cores. Ctrl-C raises `Interrupted`, whose ``found`` has the rows done.
        Goals and starts that are arrays of torch, JAX or CuPy give a solution with such arrays; those on a GPU are
        solved there.

        >>> from supple import Goal, Solver, models
        >>> arm = models.panda()
        >>> goal = Goal("panda_hand_tcp", arm.frame(arm.random(5, seed=1), "panda_hand_tcp"))
        >>> found = Solver().solve(arm, goal)
        >>> found.q.shape, bool(found.arrived.all())
        ((5, 8), True)
        """
        if unknown:
            raise not_of_solve("Solver.solve", next(iter(unknown)))
        if not isinstance(linkage, Linkage):
            checked_linkage(linkage, "solve(linkage, goals)")
        bare = start is None and solutions is None and out is None and progress is None
        if bare and self.searches and not self.prefer.terms and type(goals) is Goal and goals._frame is not None:
            return search.solve_frame(self, linkage, goals)
        if bare and type(goals) is Goal and goals._frame is None and goals._frames is not None:
            from supple._solve import on_gpu

            return on_gpu.solve_frames(self, linkage, goals)
        unknown_arrays = type(goals) is not Goal or (goals._frame is None and goals._given is not None)
        if (unknown_arrays or type(start) not in PLAIN) and is_foreign(goals, start):
            if out is not None:
                raise BadInput("out is for NumPy arrays; leave it out, and q is an array of the goals' library")

            def run(goals: list[Goal], start: Any) -> Solution:
                return self.solve(linkage, goals, start, solutions=solutions, progress=progress)

            return foreign.solve(self, linkage, goal_list(linkage, goals), start, solutions, run)
        begin = None if start is None else start_values(linkage, start, rows=True)
        if progress is not None:
            _check.flag(progress, "progress")
        plain = self.searches and solutions is None and out is None and progress is None and not self.prefer.terms
        if plain and isinstance(goals, Goal) and not goals.shape and (begin is None or begin.ndim == 1):
            return search.solve_one(self, linkage, goals, begin)
        several = goal_list(linkage, goals)
        shapes = [goal.shape for goal in several] + ([] if begin is None else [begin.shape[:-1]])
        shape = _check.leading_axes(*shapes, what="goals and start")
        request = batch.Request(linkage, several, begin, shape, solutions, out, progress)
        if shape and self.device != "cpu":
            from supple._solve import on_gpu

            return on_gpu.solve_chunks(self, request)
        if self.searches:
            return search.solve(self, request)
        if solutions is not None:
            raise BadInput(f"{self.method!r} finds one solution; the search finds several")
        local_solver, callbacks = compilation.compiled(linkage, several, self), self._callbacks()
        prefer, damp = (*callbacks, None)[:2]
        return batch.solve_rows(request, lambda numbers, begin: local_solver.solve(numbers, begin, prefer, damp), self)

    def compile(self, linkage: Linkage, links: str | Goal | Sequence[str | Goal]) -> CompiledSolver:
        """The search compiled for a linkage and its goals, to be called with frames; see `CompiledSolver`.

        Args:
            linkage: the linkage to solve for.
            links: the end effectors, by name; or goals, whose components and weights are used.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> find = Solver().compile(arm, "panda_hand_tcp")
        >>> find(arm.frame(arm.rest, "panda_hand_tcp")).shape
        (8,)
        """
        if not self.searches or self.prefer.terms:
            raise BadInput("compile needs method.search(), without preferences")
        return CompiledSolver(self, linkage, links)

    def step(self, linkage: Linkage, goals: Goal | Sequence[Goal], q: ArrayLike) -> Array:
        """Joint values (dof,) after one step from q (dof,), whether or not it arrives.

        Raises `BadInput` where the method has no step: at a singular Jacobian, for the inverse.

        >>> from supple import Goal, Solver, method, models
        >>> arm = models.planar3()
        >>> Solver(method=method.damped()).step(arm, Goal("tip", position=[12, 6, 0]), arm.rest).shape
        (3,)
        """
        moved = self._stepped(linkage, goals, q)
        if moved is None:
            raise BadInput("the Jacobian is singular at this q, so method.inverse() has no step; use method.damped()")
        return moved

    def _stepped(self, linkage: Linkage, goals: Goal | Sequence[Goal], q: ArrayLike) -> Array | None:
        """See `step`; None where the method has no step."""
        several = goal_list(linkage, goals)
        if any(goal.shape for goal in several):
            raise BadInput("a single step takes single goals")
        local_solver = compilation.compiled(linkage, several, self)
        start = start_values(linkage, q)
        if start.ndim != 1:
            raise BadInput(f"a single step takes one q of shape ({linkage.dof},), not {start.shape}")
        numbers = np.stack([goal._encoded(()) for goal in several])
        change = local_solver.step(start, numbers, *self._callbacks())
        if change is None:
            return None
        moved = linkage.integrate(start, change)
        return margins.clamp(linkage, moved, self.margin) if self.keep_limits else moved

    @_check.known_options(SolverOptions.__annotations__, "Solver({}=...).track(...)")
    def track(
        self,
        linkage: Linkage,
        links: str | Goal | Sequence[str | Goal],
        start: ArrayLike | None = None,
        *,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        tolerance: Tolerance | None = None,
        smooth: float = 0.0,
        predict: float = 0.0,
        recover: Recover = "slow",
        speed: ArrayLike | None = None,
        turn_speed: ArrayLike | None = None,
        speed_scale: float | None = None,
        margin: ArrayLike | None = None,
    ) -> Tracker:
        """A `Tracker`, which follows commands tick by tick.

        With the default method it uses the tracking law: exact where that is possible, the best feasible motion
        elsewhere. With another method, or a damping scheme such as ``damping.schinstock()``, each tick takes the step
        of that method within the same bounds; with ``keep_limits=False`` it takes the step as it is, without any bound
        of position, speed, acceleration or jerk.

        Args:
            linkage: the linkage that moves.
            links: the end effectors, by name; or goals, whose components and weights are used.
            start: joint values (dof,) to start from, at rest, or (arms, dof) for many arms; rest by default.
            acceleration: bound for each joint, per second squared: one number or (dof,). By default that of the
                linkage; if it has none, 15 rad/s^2 (and 15 reach/pi m/s^2, at most 10 m/s^2, for prismatic joints).
            jerk: bound for each joint, per second cubed; by default it allows that acceleration after 6 ms. It yields
                to the other bounds. A jerk below acceleration / 40 ms lowers the acceleration in use.
            tolerance: within it the status is FOLLOWING; 1 mm and half a degree by default.
            smooth: delay of a low-pass of the commands, in seconds from 0 to 1: critically damped, second order, with
                its corner at 1 / (pi smooth) Hz. `Step.lag` includes it. 0, the default, is no low-pass.
            predict: time by which a moving command is predicted, in seconds from 0 to 0.1. It is moved on along its
                motion, but never by more than 3 % of the reach and 6 degrees, and less where it slows down, stops or
                turns. `Step.lag` is smaller by the time that is predicted, and negative beyond the newest sample. Only
                commands with stamps from a slow device are predicted. 0, the default, is off.
            recover: what a stuck arm does. It is stuck if it stands still and other joint values would reach its
                command. "off": it stays. "slow": once the command has rested for a second, the arm goes to those joint
                values at a low speed. No joint turns by more than 200 degrees for that, and the end effector stays near
                the command. The status is RETURNING from a quarter of a second before. "free": it goes at once, as fast
                as the bounds allow and by any way.
            speed: largest speed of the end effectors, in m/s: one number or (goals,). No tick exceeds it. For a goal
                relative to another link it is the speed as that link sees it. A centre of mass takes only ``math.inf``.
            turn_speed: largest angular speed of the end effectors, in rad/s: one number or (goals,).
            speed_scale: a factor on the speed limits of all joints, above 0 and at most 1.
            margin: as `Solver.margin`, which it replaces.

        `Tracker.limits` changes the last four between ticks.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp")
        >>> tracker.step(arm.frame(arm.rest, "panda_hand_tcp"), dt=0.01).status.name
        'FOLLOWING'
        """
        from supple.tracker import make_tracker

        limits = {"speed": speed, "turn_speed": turn_speed, "speed_scale": speed_scale, "margin": margin}
        return make_tracker(
            self, linkage, links, start, acceleration, jerk, tolerance, smooth, predict, recover, limits
        )

    def to_dict(self) -> dict[str, Any]:
        """The solver as plain data for JSON: every field, with a version. Python functions are refused.

        An option left to its default is written as ``{"default": value}``, so that a change of a default does not
        change what this data means. A null ``max_step`` stands for no bound.

        >>> from supple import Solver
        >>> data = Solver().to_dict()
        >>> data["format"], data["version"], data["method"], data["max_iterations"]
        ('supple.solver', 1, {'name': 'search'}, {'default': 40000})
        """
        return serialization.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Solver:
        """The solver that `to_dict` wrote. Raises `BadInput` for anything else.

        >>> from supple import Solver
        >>> Solver.from_dict(Solver(timeout=1e-3).to_dict())
        Solver(timeout=0.001)
        """
        return serialization.from_dict(cls, data)

    def _preferred_step(self) -> Callable[[Array], Array] | None:
        """The step that the preferences by function return together; None without such preferences."""
        return preferred_step([term.function for term in self.prefer.terms if term.function])

    def _callbacks(self) -> tuple[Callable[..., Any] | None, ...]:
        """The Python functions that the core calls: for preferences, then for damping schemes."""
        schemes = damping_schemes.callback(self.damping) if isinstance(self.damping, Damping) else None
        return (self._preferred_step(),) if schemes is None else (self._preferred_step(), schemes)

    def __repr__(self) -> str:
        default = Solver()
        changed = [name for name in self.__dataclass_fields__ if getattr(self, name) != getattr(default, name)]
        return f"Solver({', '.join(f'{name}={getattr(self, name)!r}' for name in changed)})"


def solve(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    start: ArrayLike | None = None,
    *,
    solutions: int | None = None,
    out: Array | None = None,
    progress: bool | None = None,
    **options: Unpack[SolverOptions],
) -> Solution:
    """Inverse kinematics in one call: joint values that bring end effectors to their goals.

    ``options`` are those of `Solver`, such as ``max_iterations=50``; the other arguments are those of
    `Solver.solve`.

    >>> import supple
    >>> arm = supple.models.panda()
    >>> found = supple.solve(arm, supple.Goal("panda_hand_tcp", position=[0.4, 0, 0.5]))
    >>> bool(found), found.q.shape
    (True, (8,))
    """
    bare = start is None and solutions is None and out is None and progress is None
    if bare and not options and type(goals) is Goal and goals._frame is not None and isinstance(linkage, Linkage):
        return search.solve_frame(_DEFAULT, linkage, goals)  # the everyday call, by the shortest way
    for name in options:
        if name not in _DEFAULT.__dataclass_fields__:
            raise not_of_solve("solve", name)
    solver = replace(_DEFAULT, **options) if options else _DEFAULT
    if bare:
        return solver.solve(linkage, goals)
    return solver.solve(linkage, goals, start, solutions=solutions, out=out, progress=progress)


_DEFAULT = Solver()
