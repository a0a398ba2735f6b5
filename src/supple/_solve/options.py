"""The options of a solver: their types and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from numpy.typing import ArrayLike

from supple import _check
from supple._solve.arguments import hashable_weights
from supple._solve.scheme import DampingFunction
from supple._solve.tolerance import Tolerance
from supple.damping import Damping, from_option
from supple.errors import BadInput
from supple.method import Method
from supple.prefer import Preference

if TYPE_CHECKING:
    from supple.solver import Solver

JointWeights: TypeAlias = ArrayLike | Mapping[str, float] | None
TAKE_DAMPING = ("damped", "alternative_jacobian")
_TAKE_PREFERENCE = ("search", "pseudoinverse", "damped", "alternative_jacobian")
_NOT_OF_SEARCH = ("damping", "step_scale", "halvings", "limit_escapes", "patience")


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


def checked(solver: Solver) -> dict[str, Any]:
    """The options of a solver that are kept in another form than they were given in; `BadInput` for wrong ones."""
    _check_types(solver)
    converted: dict[str, Any] = {}
    if solver.damping is not None:
        converted["damping"] = from_option(solver.damping)
    if not (_check.is_number(solver.max_step) and solver.max_step > 0):
        raise BadInput(f"max_step must be positive, got {solver.max_step!r}")
    _check.fraction(solver.step_scale, "step_scale")
    _check.flag(solver.keep_limits, "keep_limits")
    for name, least in (("max_iterations", 0), ("halvings", 0), ("limit_escapes", 0), ("patience", 1)):
        value = getattr(solver, name)
        if name == "max_iterations" and value is None:
            continue
        if _check.whole(value, name, least) >= 1 << 31:  # the core counts in 32 bits
            raise BadInput(f"{name} must be below 2^31, got {value!r}")
    if solver.timeout is not None and not (_check.is_number(solver.timeout) and 0 < solver.timeout < 1e6):
        raise BadInput(f"timeout must be a positive number of seconds, below 1e6, got {solver.timeout!r}")
    if solver.joint_weights is not None:
        converted["joint_weights"] = hashable_weights(solver.joint_weights)
    return converted


def _check_types(solver: Solver) -> None:
    if not isinstance(solver.method, Method):
        raise BadInput(f"method must be a value of supple.method, such as method.damped(), got {solver.method!r}")
    if not isinstance(solver.prefer, Preference):
        raise BadInput(f"prefer must be a value of supple.prefer, such as prefer.centre(), got {solver.prefer!r}")
    _check.instance(solver.tolerance, Tolerance, "tolerance", "Tolerance(position=1e-3)")


def check_method(solver: Solver) -> None:
    """Refuse options that the solver's method does not have, with the line to write."""
    chosen = solver.method
    if solver.prefer.terms and chosen.name not in _TAKE_PREFERENCE:
        raise BadInput(f"{chosen!r} takes no preference; these methods do: {', '.join(_TAKE_PREFERENCE)}")
    if chosen.name != "search":
        if isinstance(solver.damping, Damping) and chosen.name not in TAKE_DAMPING:
            raise BadInput(f"{chosen!r} takes no damping scheme; these methods do: {', '.join(TAKE_DAMPING)}")
        for name in ("timeout", "joint_weights"):
            if getattr(solver, name) is not None:
                raise BadInput(f"{chosen!r} takes no {name}; the search does")
        return
    options = [name for name in _NOT_OF_SEARCH if getattr(solver, name) != solver.__dataclass_fields__[name].default]
    if options:
        line = ", ".join(f"{name}={getattr(solver, name)!r}" for name in options)
        raise BadInput(f"method.search() takes no {options[0]}; write Solver(method=method.damped(), {line})")
