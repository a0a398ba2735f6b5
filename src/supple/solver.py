"""Solver: the method and options of inverse kinematics; and `solve`, which uses it in one call."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed, damping, method, prefer
from supple._solve import batch, compilation, damping_schemes, fields, search
from supple._solve.arguments import goal_list, hashable_weights, preferred_step, start_values
from supple._solve.compiled_solver import CompiledSolver
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
    from supple.tracker import Tracker

_TAKE_PREFERENCE = ("search", "pseudoinverse", "damped", "alternative_jacobian")
_TAKE_DAMPING = ("damped", "alternative_jacobian")
_NOT_OF_SEARCH = ("damping", "step_scale", "halvings", "limit_escapes", "patience")
_FORMAT, _VERSION = "supple.solver", 1

JointWeights: TypeAlias = ArrayLike | Mapping[str, float] | None


@dataclass(frozen=True)
class Tolerance:
    """When a goal counts as reached: position and angle are both within their bounds. A frozen value.

    >>> from supple import Solver, Tolerance
    >>> Solver(tolerance=Tolerance(position=1e-3))
    Solver(tolerance=Tolerance(position=0.001, angle=1e-06))
    """

    position: float = 1e-6
    """Metres."""
    angle: float = 1e-6
    """Radians."""

    def __post_init__(self) -> None:
        for name in ("position", "angle"):
            value = getattr(self, name)
            if not (_check.is_number(value) and value > 0):
                raise BadInput(f"tolerance: {name} must be positive, got {value!r}")


class SolverOptions(TypedDict, total=False):
    """The options of `Solver`, as keywords of `solve`."""

    method: Method
    damping: float | Damping | DampingFunction | None
    prefer: Preference
    joint_weights: JointWeights
    max_iterations: int | None
    timeout: float | None
    tolerance: Tolerance
    max_step: float
    step_scale: float
    halvings: int
    limit_escapes: int
    keep_limits: bool
    patience: int


@_renamed.answers_old_names
@dataclass(frozen=True)
class Solver:
    """The method and options of inverse kinematics. A frozen value, which threads may share.

    The default method is a search from many seeds. The other methods of `supple.method` iterate from the start value:
    each iteration is an explicit Euler step q + dq, as in the chapter. The options damping, step_scale, halvings,
    limit_escapes and patience are theirs; the search refuses them.

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
    """Most iterations. The default is 200; for the search it is 40,000, counted over all seeds."""
    timeout: float | None = None
    """Most time for one solve by the search, in seconds. Without it results are the same to the bit on every run."""
    tolerance: Tolerance = Tolerance()
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

    if not TYPE_CHECKING:

        def __new__(cls, *values: Any, **options: Any) -> Solver:
            """A solver; an unknown option is answered with near matches."""
            for name in options:
                if name not in cls.__dataclass_fields__:
                    raise unknown_option("Solver", name, cls.__dataclass_fields__, _renamed.OPTIONS)
            return object.__new__(cls)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise BadInput(f"method must be a value of supple.method, such as method.damped(), got {self.method!r}")
        if not isinstance(self.prefer, Preference):
            raise BadInput(f"prefer must be a value of supple.prefer, such as prefer.centre(), got {self.prefer!r}")
        if self.prefer.terms and self.method.name not in _TAKE_PREFERENCE:
            raise BadInput(f"{self.method!r} takes no preference; these methods do: {', '.join(_TAKE_PREFERENCE)}")
        if self.damping is not None:
            object.__setattr__(self, "damping", damping.from_option(self.damping))
        if isinstance(self.damping, Damping) and self.method.name not in (*_TAKE_DAMPING, "search"):
            raise BadInput(f"{self.method!r} takes no damping scheme; these methods do: {', '.join(_TAKE_DAMPING)}")
        _check.instance(self.tolerance, Tolerance, "tolerance", "Tolerance(position=1e-3)")
        if not (_check.is_number(self.max_step) and self.max_step > 0):
            raise BadInput(f"max_step must be positive, got {self.max_step!r}")
        _check.fraction(self.step_scale, "step_scale")
        _check.flag(self.keep_limits, "keep_limits")
        for name, least in (("max_iterations", 0), ("halvings", 0), ("limit_escapes", 0), ("patience", 1)):
            value = getattr(self, name)
            if name == "max_iterations" and value is None:
                continue
            if _check.whole(value, name, least) >= 1 << 31:  # the core counts in 32 bits
                raise BadInput(f"{name} must be below 2^31, got {value!r}")
        if self.timeout is not None and not (_check.is_number(self.timeout) and 0 < self.timeout < 1e6):
            raise BadInput(f"timeout must be a positive number of seconds, below 1e6, got {self.timeout!r}")
        if self.joint_weights is not None:
            object.__setattr__(self, "joint_weights", hashable_weights(self.joint_weights))
        self._refuse_options_of_other_methods()

    def _refuse_options_of_other_methods(self) -> None:
        if not self.searches:
            for name in ("timeout", "joint_weights"):
                if getattr(self, name) is not None:
                    raise BadInput(f"{self.method!r} takes no {name}; the search does")
            return
        options = [name for name in _NOT_OF_SEARCH if getattr(self, name) != self.__dataclass_fields__[name].default]
        if options:
            line = ", ".join(f"{name}={getattr(self, name)!r}" for name in options)
            raise BadInput(f"method.search() takes no {options[0]}; write Solver(method=method.damped(), {line})")

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
                OUT_OF_BUDGET.
            out: an array (..., dof) of float64 to write q to.
            progress: whether to show a bar on stderr; by default on a terminal, after one second.

        Many problems are shared among all cores. Ctrl-C raises `Interrupted`, whose ``found`` has the rows done.

        >>> from supple import Goal, Solver, models
        >>> arm = models.panda()
        >>> goal = Goal("panda_hand_tcp", arm.frame(arm.random(5, seed=1), "panda_hand_tcp"))
        >>> found = Solver().solve(arm, goal)
        >>> found.q.shape, bool(found.arrived.all())
        ((5, 8), True)
        """
        if not isinstance(linkage, Linkage):
            raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
        begin = None if start is None else start_values(linkage, start, rows=True)
        plain = self.searches and solutions is None and out is None and progress is None and not self.prefer.terms
        if plain and isinstance(goals, Goal) and not goals.shape and (begin is None or begin.ndim == 1):
            return search.solve_one(self, linkage, goals, begin)
        several = goal_list(linkage, goals)
        shapes = [goal.shape for goal in several] + ([] if begin is None else [begin.shape[:-1]])
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError as error:
            raise BadInput(f"the leading axes of goals and start must broadcast: {error}") from None
        request = batch.Request(linkage, several, begin, shape, solutions, out, progress)
        if self.searches:
            return search.solve(self, request)
        if solutions is not None:
            raise BadInput(f"{self.method!r} finds one solution; the search finds several")
        plan, callbacks = compilation.compiled(linkage, several, self), self._callbacks()
        return batch.solve_rows(request, lambda numbers, begin: plan.solve(numbers, begin, *callbacks), self)

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
        several = goal_list(linkage, goals)
        if any(goal.shape for goal in several):
            raise BadInput("a single step takes single goals")
        plan = compilation.compiled(linkage, several, self)
        start = start_values(linkage, q)
        if start.ndim != 1:
            raise BadInput(f"a single step takes one q of shape ({linkage.dof},), not {start.shape}")
        numbers = np.stack([goal._encoded(()) for goal in several])
        change = plan.step(start, numbers, *self._callbacks())
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
        """A `Tracker`, which follows commands tick by tick.

        With the default method it uses the tracking law: exact where that is possible, the best feasible motion
        elsewhere. With another method, or a damping scheme such as ``damping.schinstock()``, each tick takes the step
        of that method within the same bounds; with ``keep_limits=False``, without position limits.

        Args:
            linkage: the linkage that moves.
            links: the end effectors, by name; or goals, whose components and weights are used.
            start: joint values (dof,) to start from, at rest, or (arms, dof) for many arms; rest by default.
            acceleration: bound for each joint, per second squared: one number or (dof,). By default the linkage's own,
                or else 15 rad/s^2 (and 15 reach/pi m/s^2 for prismatic joints).
            jerk: bound for each joint, per second cubed; by default reaches that acceleration in 6 ms.
            tolerance: within it the status is FOLLOWING; 1 mm and half a degree by default.

        >>> from supple import Solver, models
        >>> arm = models.panda()
        >>> tracker = Solver().track(arm, "panda_hand_tcp")
        >>> tracker.step(arm.frame(arm.rest, "panda_hand_tcp"), dt=0.01).status.name
        'FOLLOWING'
        """
        from supple.tracker import make_tracker

        return make_tracker(self, linkage, links, start, acceleration, jerk, tolerance)

    def to_dict(self) -> dict[str, Any]:
        """The solver as plain data for JSON: every field, with a version. Python functions are refused.

        An option left to its default is written as ``{"default": value}``, so that a change of a default does not
        change what this data means. A null ``max_step`` stands for no bound.

        >>> from supple import Solver
        >>> data = Solver().to_dict()
        >>> data["format"], data["version"], data["method"], data["max_iterations"]
        ('supple.solver', 1, {'name': 'search'}, {'default': 40000})
        """
        scheme = self.damping.to_dict() if isinstance(self.damping, Damping) else self.damping
        weights: Any = self.joint_weights
        if weights is not None:
            weights = dict(weights) if isinstance(weights[0], tuple) else list(weights)
        iterations = {"default": _default_iterations(self.method)} if self.max_iterations is None else None
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "method": self.method.to_dict(),
            "damping": _default_damping(self.method) if scheme is None else scheme,
            "prefer": self.prefer.to_dict(),
            "joint_weights": weights,
            "max_iterations": iterations or self.max_iterations,
            "timeout": None if self.timeout is None else float(self.timeout),
            "tolerance": {"position": float(self.tolerance.position), "angle": float(self.tolerance.angle)},
            "max_step": float(self.max_step) if math.isfinite(self.max_step) else None,
            "step_scale": float(self.step_scale),
            "halvings": int(self.halvings),
            "limit_escapes": int(self.limit_escapes),
            "keep_limits": bool(self.keep_limits),
            "patience": int(self.patience),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Solver:
        """The solver that `to_dict` wrote. Raises `BadInput` for anything else.

        >>> from supple import Solver
        >>> Solver.from_dict(Solver(timeout=1e-3).to_dict())
        Solver(timeout=0.001)
        """
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
            raise BadInput(f"expected a dict made by Solver.to_dict(), with 'format': {_FORMAT!r}")
        if type(data.get("version")) is not int or data["version"] != _VERSION:
            raise BadInput(f"version {data.get('version')!r} of the data is not known; this supple reads {_VERSION}")
        values = fields.checked(data, "the data of a solver", ("format", "version", *cls.__dataclass_fields__))
        del values["format"], values["version"]
        values["method"] = chosen = Method.from_dict(values["method"])
        scheme = values["damping"]
        if scheme == _default_damping(chosen):
            values["damping"] = None
        elif isinstance(scheme, Mapping) and "default" in scheme:
            values["damping"] = fields.checked(scheme, "damping", ("default",))["default"]
        elif isinstance(scheme, Mapping):
            values["damping"] = Damping.from_dict(dict(scheme))
        if isinstance(values["max_iterations"], Mapping):
            count = fields.checked(values["max_iterations"], "max_iterations", ("default",))["default"]
            values["max_iterations"] = None if count == _default_iterations(chosen) else count
        values["prefer"] = Preference.from_dict(values["prefer"])
        values["tolerance"] = Tolerance(**fields.checked(values["tolerance"], "tolerance", ("position", "angle")))
        values["max_step"] = math.inf if values["max_step"] is None else values["max_step"]
        return cls(**values)

    def _preferred_step(self) -> Callable[[Array], Array] | None:
        """The step that the preferences by function return together; None without such preferences."""
        return preferred_step([term.function for term in self.prefer.terms if term.function])

    def _callbacks(self) -> tuple[Callable[..., Any] | None, ...]:
        """The Python functions that the core calls: for preferences, then for damping schemes."""
        schemes = damping_schemes.callback(self.damping) if isinstance(self.damping, Damping) else None
        return (self._preferred_step(),) if schemes is None else (self._preferred_step(), schemes)

    def __repr__(self) -> str:
        default = Solver()
        options = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__dataclass_fields__
            if getattr(self, name) != getattr(default, name)
        ]
        return f"Solver({', '.join(options)})"


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

    ``options`` are those of `Solver`, such as ``max_iterations=50``; the other arguments are those of `Solver.solve`.

    >>> import supple
    >>> arm = supple.models.panda()
    >>> found = supple.solve(arm, supple.Goal("panda_hand_tcp", position=[0.4, 0, 0.5]))
    >>> bool(found), found.q.shape
    (True, (8,))
    """
    solver = replace(_DEFAULT, **options) if options else _DEFAULT
    return solver.solve(linkage, goals, start, solutions=solutions, out=out, progress=progress)


_DEFAULT = Solver()


def _default_iterations(chosen: Method) -> int:
    return search.ITERATIONS if chosen.name == "search" else compilation.ITERATIONS


def _default_damping(chosen: Method) -> dict[str, float] | None:
    return {"default": compilation.DAMPING} if chosen.name in _TAKE_DAMPING else None
