"""Solver: how to go about it; and `solve`, which does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _renamed, damping, method, prefer
from supple._solve import batch, compilation, damping_schemes
from supple._solve import search as _search
from supple._solve.compiled_solver import CompiledSolver
from supple.damping import Asked, Damping
from supple.errors import BadInput, unknown_option
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Method
from supple.prefer import Preference
from supple.solution import Solution

if TYPE_CHECKING:
    from supple.tracker import Tracker

_CHOOSY = ("search", "pseudoinverse", "damped", "alternative_jacobian")  # the methods that leave room for a preference
_LOCAL = ("damping", "step_scale", "halvings", "limit_escapes", "patience")  # options that the search does not have
_DAMPED = ("damped", "alternative_jacobian")  # the methods that damp


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class Tolerance:
    """How near is near enough: every goal within both."""

    position: float = 1e-6
    """Metres."""
    angle: float = 1e-6
    """Radians."""

    def __post_init__(self) -> None:
        for name in ("position", "angle"):
            if not (_is_number(getattr(self, name)) and getattr(self, name) > 0):
                raise BadInput(f"tolerance: {name} must be positive, got {getattr(self, name)!r}")


@_renamed.answers_old_names
@dataclass(frozen=True)
class Solver:
    """How to bring end effectors to their goals: a frozen value, complete when constructed.

    By default it searches. The other methods of `supple.method` go one way from the start, each iteration an explicit
    Euler step, q + dq, as the chapter does. An option that only they have (damping, step_scale, halvings,
    limit_escapes, patience) turns the default into ``method.damped()``.
    """

    method: Method = field(default_factory=method.search)
    """How to go about it; see `supple.method`."""
    damping: float | Damping | Asked | None = None
    """alpha in J J' + alpha I, in the units of the weighted error, for damped methods; 1e-4 if not given. Or a scheme
    of `supple.damping`, or a function f(q, e, J, dt), which become a `Damping`.

    With a scheme each step is the paper's, weighted and damped [D17, D18], and an iteration counts as 1/300 s; all
    else is as before: with ``keep_limits`` a joint that presses against its limit still takes no part, a solve that is
    stuck still tries the other side and still settles as near as it gets."""
    prefer: Preference = prefer.nothing
    """Which of many ways; see `supple.prefer`. A search's answer is moved that way as far as the goals allow."""
    joint_weights: Any = None
    """How freely each joint moves, for the search: one number, or (dof,), or by the joint's name. 1 is usual, and 0
    locks a joint where the start has it."""
    max_iterations: int | None = None
    """Most steps to take: by default 200, and for the search, which counts those of all its starts, 40,000."""
    timeout: float | None = None
    """Most time for one solve by the search, in seconds; without it only iterations count and the bits never differ."""
    tolerance: Tolerance = Tolerance()
    """When it has arrived."""
    max_step: float = 1.0
    """The most that any joint may change in a step, in radians or metres; longer steps are scaled down whole. (The
    search means radians, and as much in metres as moves the end effector by the same part of its reach.)"""
    step_scale: float = 1.0
    """A factor on every step, above 0 and at most 1."""
    halvings: int = 0
    """How often a step may be halved while it raises the error; a step that still does is not taken."""
    limit_escapes: int = 3
    """How often, when stuck, the joints that press against their limits are sent to the other side of their range."""
    keep_limits: bool = True
    """Whether joints are kept within their position limits."""
    patience: int = 15
    """Iterations without progress (1 % of the squared error) after which it is stuck."""

    if not TYPE_CHECKING:

        def __new__(cls, *values: Any, **options: Any) -> Solver:
            """A solver, if there are such options."""
            for name in options:
                if name not in cls.__dataclass_fields__:
                    raise unknown_option("Solver", name, cls.__dataclass_fields__, _renamed.OPTIONS)
            return object.__new__(cls)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise BadInput(f"method must be a value of supple.method, such as method.damped(), got {self.method!r}")
        if not isinstance(self.prefer, Preference):
            raise BadInput(f"prefer must be a value of supple.prefer, such as prefer.centre(), got {self.prefer!r}")
        if self.method.name == "search" and self._local:
            object.__setattr__(self, "method", method.damped())
        if self.prefer.wishes and self.method.name not in _CHOOSY:
            raise BadInput(f"{self.method!r} takes no preference; these methods do: {', '.join(_CHOOSY)}")
        if self.damping is not None:
            object.__setattr__(self, "damping", damping.given(self.damping))
        if isinstance(self.damping, Damping) and self.method.name not in _DAMPED:
            raise BadInput(f"{self.method!r} takes no damping scheme; these methods do: {', '.join(_DAMPED)}")
        if not isinstance(self.tolerance, Tolerance):
            raise BadInput(f"tolerance must be a Tolerance, such as Tolerance(position=1e-3), got {self.tolerance!r}")
        if not (_is_number(self.max_step) and self.max_step > 0):
            raise BadInput(f"max_step must be positive, got {self.max_step!r}")
        if not (_is_number(self.step_scale) and 0 < self.step_scale <= 1):
            raise BadInput(f"step_scale must be above 0 and at most 1, got {self.step_scale!r}")
        if not isinstance(self.keep_limits, bool):
            raise BadInput(f"keep_limits must be True or False, got {self.keep_limits!r}")
        for name, least in (("max_iterations", 0), ("halvings", 0), ("limit_escapes", 0), ("patience", 1)):
            value = getattr(self, name)
            if name == "max_iterations" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"{name} must be a whole number of at least {least}, got {value!r}")
            if value >= 1 << 31:  # the core counts in 32 bits
                raise BadInput(f"{name} must be below 2^31, got {value!r}")
        if self.timeout is not None and not (_is_number(self.timeout) and 0 < self.timeout < 1e6):
            raise BadInput(f"timeout must be a positive number of seconds, below 1e6, got {self.timeout!r}")
        if self.joint_weights is not None:
            object.__setattr__(self, "joint_weights", _weighted(self.joint_weights))
        for name in ("timeout", "joint_weights"):
            if getattr(self, name) is not None and not self.searches:
                raise BadInput(f"{self.method!r} takes no {name}; the search does")

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(tuple(getattr(self, name) for name in self.__dataclass_fields__))
            self.__dict__["_hash"] = known
        return known

    def solve(
        self,
        linkage: Linkage,
        goals: Goal | Sequence[Goal],
        start: ArrayLike | None = None,
        *,
        solutions: int | None = None,
        out: Array | None = None,
        progress: bool | None = None,
    ) -> Solution:
        """Joint values that bring the linkage's end effectors to their goals.

        Args:
            linkage: what moves.
            goals: one goal or several at once; their leading axes broadcast and mean many problems.
            start: joint values (..., dof) to begin from. The search then answers with the nearest to them among those
                it finds; without a start, with the first. Other methods begin from the linkage's rest by default.
            solutions: up to so many distinct answers for each goal, nearest to the start (or to the middle of the
                limits) first. For a single goal the solution has one leading axis, of those that were found; for
                many it has one more axis (..., solutions), where rows beyond those found repeat the first,
                as OUT_OF_BUDGET.
            out: an array (..., dof) of float64 to write q into.
            progress: whether to show a bar on stderr; by default on a terminal, for work of more than a second.

        Many problems are shared out to all cores. Ctrl-C raises `Interrupted`, whose ``found`` has what was done.
        """
        if not isinstance(linkage, Linkage):
            raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
        begin = None if start is None else started(linkage, start, rows=True)
        plain = self.searches and solutions is None and out is None and progress is None and not self.prefer.wishes
        if plain and isinstance(goals, Goal) and not goals.shape and (begin is None or begin.ndim == 1):
            return _search.single(self, linkage, goals, begin)
        wanted = listed(goals)
        shapes = [goal.shape for goal in wanted] + ([] if begin is None else [begin.shape[:-1]])
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError as error:
            raise BadInput(f"the leading axes of goals and start must broadcast: {error}") from None
        asked = batch.Asked(linkage, wanted, begin, shape, solutions, out, progress)
        if self.searches:
            return _search.solved(self, asked)
        if solutions is not None:
            raise BadInput(f"{self.method!r} finds one answer; the search finds several")
        plan, functions = compilation.compiled(linkage, wanted, self), self._asked()
        return batch.by_rows(asked, lambda numbers, begin: plan.solve(numbers, begin, *functions), self)

    @property
    def _local(self) -> bool:
        """Whether an option is given that only methods have that go one way."""
        return any(getattr(self, name) != self.__dataclass_fields__[name].default for name in _LOCAL)

    @property
    def searches(self) -> bool:
        """Whether it searches, rather than going one way from the start."""
        return self.method.name == "search"

    def compile(self, linkage: Linkage, links: str | Goal | Sequence[str | Goal]) -> CompiledSolver:
        """The fast door: linkage and goals compiled once, then called with frames; see `CompiledSolver`.

        Args:
            linkage: what moves.
            links: the end effectors, by name; or goals, whose rows and weights then count.
        """
        if not self.searches or self.prefer.wishes:
            raise BadInput("the fast door is the search's, without preferences")
        return CompiledSolver(self, linkage, links)

    def step(self, linkage: Linkage, goals: Goal | Sequence[Goal], q: ArrayLike) -> Array:
        """Joint values (dof,) after a single step from q (dof,), whether it arrives or not.

        Raises `BadInput` where the method finds no step: a singular Jacobian, for the inverse.
        """
        wanted = listed(goals)
        if any(goal.shape for goal in wanted):
            raise BadInput("a single step takes single goals")
        plan = compilation.compiled(linkage, wanted, self)
        start = started(linkage, q)
        if start.ndim != 1:
            raise BadInput(f"a single step takes one q of shape ({linkage.dof},), not {start.shape}")
        numbers = np.stack([goal._numbers(()) for goal in wanted])
        change = plan.step(start, numbers, *self._asked())
        if change is None:
            raise BadInput("the Jacobian is singular here: the inverse has no step; damping has one")
        moved = linkage.integrate(start, change)
        return linkage.clamp(moved) if self.keep_limits else moved

    def track(
        self,
        linkage: Linkage,
        links: str | Goal | Sequence[str | Goal],
        start: ArrayLike | None = None,
        *,
        acceleration: ArrayLike | None = None,
        jerk: ArrayLike | None = None,
        tolerance: Tolerance | None = None,
    ) -> Tracker:
        """A `Tracker` that follows commands tick by tick: ``follow = Solver().track(arm, "hand")``.

        By default it moves by the tracking law: exact where exact is possible, the best feasible motion elsewhere. With
        a damping scheme, such as ``damping.schinstock()``, or another method it takes that step each tick, inside the
        same bounds; with ``keep_limits=False`` outside them too.

        Args:
            linkage: what moves.
            links: the end effectors, by name; or goals, whose rows and weights then count.
            start: joint values (dof,) to begin from, at rest, or (arms, dof) for many arms; rest by default.
            acceleration: most for each joint, per second squared: one number or (dof,). By default the linkage's own,
                or else 15 rad/s^2 (and 15 reach/pi m/s^2 for slides).
            jerk: most for each joint, per second cubed; by default what reaches that acceleration in 6 ms.
            tolerance: within it the tracker says that it follows; 1 mm and half a degree by default.
        """
        from supple.tracker import made

        return made(self, linkage, links, start, acceleration, jerk, tolerance)

    def _wish(self) -> Callable[[Array], Array] | None:
        """What the preferences by function wish together, if there are any."""
        functions = [wish.function for wish in self.prefer.wishes if wish.function]
        if not functions:
            return None
        return lambda q: np.sum([_wished(function, q) for function in functions], axis=0)

    def _asked(self) -> tuple[Callable[..., Any] | None, ...]:
        """The Python functions that the native loop asks: what is wished, and what schemes by function say."""
        damps = damping_schemes.asking(self.damping) if isinstance(self.damping, Damping) else None
        return (self._wish(),) if damps is None else (self._wish(), damps)

    def __repr__(self) -> str:
        plain = Solver()
        said = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__dataclass_fields__
            if getattr(self, name) != getattr(plain, name)
            and not (name == "method" and self.method == method.damped() and self._local)  # it goes without saying
        ]
        return f"Solver({', '.join(said)})"


def solve(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    start: ArrayLike | None = None,
    *,
    solutions: int | None = None,
    out: Array | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Solution:
    """Inverse kinematics, in one line: ``supple.solve(arm, Goal("hand", frame))``.

    ``options`` are those of `Solver`, such as ``max_iterations=50``; see `Solver.solve` for the arguments.
    """
    solver = replace(_DEFAULT, **options) if options else _DEFAULT
    return solver.solve(linkage, goals, start, solutions=solutions, out=out, progress=progress)


_DEFAULT = Solver()


def _weighted(weights: Any) -> Any:
    """Joint weights as a value that can be a key: numbers, or pairs of a joint's name and a number."""
    try:
        pairs = sorted(weights.items()) if isinstance(weights, Mapping) else weights
        named = isinstance(pairs, list | tuple) and all(isinstance(pair, tuple) for pair in pairs)
        numbers = np.ravel(np.asarray([weight for _, weight in pairs] if named else pairs, dtype=float))
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"joint_weights must be numbers, one, one for each of dof, or by the joint's name: {error}"
        ) from None
    if not len(numbers) or not (np.isfinite(numbers) & (numbers >= 0)).all() or not (named or numbers.any()):
        raise BadInput(f"joint_weights must be finite, not negative and not all zero, got {weights!r}")
    return (
        tuple(zip((str(name) for name, _ in pairs), numbers.tolist(), strict=True))
        if named
        else tuple(numbers.tolist())
    )


def _wished(function: Callable[[Array], ArrayLike], q: Array) -> Array:
    """What a preference by function wishes at q; its own exceptions pass."""
    said = function(q)
    try:
        wish = np.asarray(said, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"a preference by function must return {len(q)} numbers: {error}") from None
    if wish.shape != q.shape or not np.isfinite(wish).all():
        raise BadInput(f"a preference by function must return {len(q)} finite numbers, got {said!r}")
    return wish


def listed(goals: Goal | Sequence[Goal]) -> list[Goal]:
    """One goal or several, as a list."""
    try:
        wanted = [goals] if isinstance(goals, Goal) else list(goals)
    except TypeError:
        raise BadInput(f"goals must be a Goal or several, got {goals!r}") from None
    if not wanted:
        raise BadInput("at least one goal is needed")
    for goal in wanted:
        if not isinstance(goal, Goal):
            raise BadInput(f"goals must be Goal values, such as Goal('hand', frame), got {goal!r}")
    return wanted


def started(linkage: Linkage, start: ArrayLike | None, rows: bool = False) -> Array:
    """Joint values (..., dof) to begin from: those given, or rest; ``rows`` that are not finite may be among many."""
    if start is None:
        return linkage.rest
    try:
        array = np.array(start, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"start must be numbers of shape (..., {linkage.dof}): {error}") from None
    if array.shape[-1:] != (linkage.dof,):
        raise BadInput(f"start must have shape (..., {linkage.dof}), not {array.shape}")
    if not (rows and array.ndim > 1) and not np.isfinite(array).all():
        raise BadInput("start must be finite")
    return array
