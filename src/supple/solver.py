"""Solver: how to go about it; and `solve`, which does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _damping_native, _plan, damping, method, prefer
from supple.damping import Asked, Damping
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal
from supple.linkage import Linkage
from supple.method import Method
from supple.prefer import Preference
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple.tracker import Tracker

_CHOOSY = ("pseudoinverse", "damped", "pulled")  # the methods whose step leaves room for a preference
_DAMPED = ("damped", "pulled")  # the methods that damp


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


@dataclass(frozen=True)
class Solver:
    """How to bring end effectors to their goals: a frozen value, complete when constructed.

    Each iteration takes an explicit Euler step, q + dq, as the chapter does.
    """

    method: Method = field(default_factory=method.damped)
    """How a step is chosen; see `supple.method`."""
    damping: float | Damping | Asked = 1e-4
    """alpha in J J' + alpha I, in the units of the weighted error; only damped methods use it. Or a scheme of
    `supple.damping`, or a function f(q, e, J, dt), which become a `Damping`.

    With a scheme each step is the paper's, weighted and damped [D17, D18], and an iteration counts as 1/300 s; all
    else is as before: with ``keep_limits`` a joint that presses against its limit still takes no part, a solve that is
    stuck still tries the other side and still settles as near as it gets."""
    prefer: Preference = prefer.nothing
    """Which of many ways; see `supple.prefer`."""
    iterations: int = 200
    """Most steps to take."""
    tolerance: Tolerance = Tolerance()
    """When it has arrived."""
    longest: float = 1.0
    """The most that any joint may change in a step, in radians or metres; longer steps are scaled down whole."""
    shorten: float = 1.0
    """A factor on every step, above 0 and at most 1."""
    halvings: int = 0
    """How often a step may be halved while it raises the error; a step that still does is not taken."""
    escapes: int = 3
    """How often, when stuck, the joints that press against their limits are sent to the other side of their range."""
    keep_limits: bool = True
    """Whether joints are kept within their position limits."""
    patience: int = 15
    """Iterations without progress (1 % of the squared error) after which it is stuck."""

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise BadInput(f"method must be a value of supple.method, such as method.damped(), got {self.method!r}")
        if not isinstance(self.prefer, Preference):
            raise BadInput(f"prefer must be a value of supple.prefer, such as prefer.centre(), got {self.prefer!r}")
        if self.prefer.wishes and self.method.name not in _CHOOSY:
            raise BadInput(f"{self.method!r} takes no preference; these methods do: {', '.join(_CHOOSY)}")
        object.__setattr__(self, "damping", damping.given(self.damping))
        if isinstance(self.damping, Damping) and self.method.name not in _DAMPED:
            raise BadInput(f"{self.method!r} takes no damping scheme; these methods do: {', '.join(_DAMPED)}")
        if not isinstance(self.tolerance, Tolerance):
            raise BadInput(f"tolerance must be a Tolerance, such as Tolerance(position=1e-3), got {self.tolerance!r}")
        if not (_is_number(self.longest) and self.longest > 0):
            raise BadInput(f"longest must be positive, got {self.longest!r}")
        if not (_is_number(self.shorten) and 0 < self.shorten <= 1):
            raise BadInput(f"shorten must be above 0 and at most 1, got {self.shorten!r}")
        if not isinstance(self.keep_limits, bool):
            raise BadInput(f"keep_limits must be True or False, got {self.keep_limits!r}")
        for name, least in (("iterations", 0), ("halvings", 0), ("escapes", 0), ("patience", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"{name} must be a whole number of at least {least}, got {value!r}")

    def solve(self, linkage: Linkage, goals: Goal | Sequence[Goal], start: ArrayLike | None = None) -> Solution:
        """Joint values that bring the linkage's end effectors to their goals.

        Args:
            linkage: what moves.
            goals: one goal or several at once; their leading axes broadcast and mean many problems.
            start: joint values (..., dof) to begin from; the linkage's rest by default.
        """
        wanted = listed(goals)
        plan = _plan.compiled(linkage, wanted, self)
        begin = started(linkage, start)
        try:
            shape = np.broadcast_shapes(begin.shape[:-1], *(goal.shape for goal in wanted))
        except ValueError as error:
            raise BadInput(f"the leading axes of goals and start must broadcast: {error}") from None
        numbers = np.stack([goal.numbers(shape) for goal in wanted], axis=-2).reshape(-1, len(wanted), 12)
        begin = np.ascontiguousarray(np.broadcast_to(begin, (*shape, linkage.dof))).reshape(-1, linkage.dof)
        good = np.isfinite(numbers).all(axis=(1, 2))
        if not shape and not good.all():
            raise BadInput("a goal must be finite")
        q = begin.copy()
        report = np.zeros((len(begin), 4))
        report[:, 0] = Outcome.INVALID.value
        q[good], report[good] = plan.solve(numbers[good], begin[good], *self._asked())
        return Solution._of(linkage, wanted, shape, q, report)

    def step(self, linkage: Linkage, goals: Goal | Sequence[Goal], q: ArrayLike) -> Array:
        """Joint values (dof,) after a single step from q (dof,), whether it arrives or not.

        Raises `BadInput` where the method finds no step: a singular Jacobian, for the inverse.
        """
        wanted = listed(goals)
        if any(goal.shape for goal in wanted):
            raise BadInput("a single step takes single goals")
        plan = _plan.compiled(linkage, wanted, self)
        start = started(linkage, q)
        if start.ndim != 1:
            raise BadInput(f"a single step takes one q of shape ({linkage.dof},), not {start.shape}")
        numbers = np.stack([goal.numbers(()) for goal in wanted])
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
        a damping scheme, such as ``damping.paper(...)``, or another method it takes that step each tick, inside the
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
        damps = _damping_native.asking(self.damping) if isinstance(self.damping, Damping) else None
        return (self._wish(),) if damps is None else (self._wish(), damps)

    def __repr__(self) -> str:
        plain = Solver()
        said = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__dataclass_fields__
            if getattr(self, name) != getattr(plain, name)
        ]
        return f"Solver({', '.join(said)})"


def solve(linkage: Linkage, goals: Goal | Sequence[Goal], start: ArrayLike | None = None, **options: Any) -> Solution:
    """Inverse kinematics, in one line: ``supple.solve(arm, Goal("hand", frame))``.

    ``options`` are those of `Solver`, such as ``iterations=50``; see `Solver.solve` for the arguments.
    """
    return (replace(_DEFAULT, **options) if options else _DEFAULT).solve(linkage, goals, start)


_DEFAULT = Solver()


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


def started(linkage: Linkage, start: ArrayLike | None) -> Array:
    """Joint values (..., dof) to begin from: those given, or rest."""
    if start is None:
        return linkage.rest
    try:
        array = np.array(start, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"start must be numbers of shape (..., {linkage.dof}): {error}") from None
    if array.shape[-1:] != (linkage.dof,):
        raise BadInput(f"start must have shape (..., {linkage.dof}), not {array.shape}")
    if not np.isfinite(array).all():
        raise BadInput("start must be finite")
    return array
