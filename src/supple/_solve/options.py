"""The options of a solver: their types and their checks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from numpy.typing import ArrayLike

from supple import _check, _renamed, method
from supple._solve.arguments import hashable_weights
from supple._solve.margins import checked_margin
from supple._solve.scheme import DampingFunction
from supple._solve.tolerance import Tolerance
from supple.damping import Damping, from_option
from supple.errors import SYNONYMS, BadInput, UnknownOption, near_matches, unknown_option
from supple.method import Method
from supple.prefer import Preference

if TYPE_CHECKING:
    from supple.solver import Solver

JointWeights: TypeAlias = ArrayLike | Mapping[str, float] | None
TAKE_DAMPING = ("damped", "alternative_jacobian")
OF_SOLVE = ("start", "solutions", "out", "progress")
"""The options of `solve` and `Solver.solve` themselves."""
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
    margin: ArrayLike
    device: str


def not_of_solve(owner: str, name: str) -> UnknownOption:
    """The error for a keyword that `solve` or `Solver.solve`, its ``owner``, does not have."""
    names = tuple(SolverOptions.__annotations__)
    if name == "solver":
        return unknown_option(owner, name, (), belongs="write solver.solve(arm, goal)")
    if SYNONYMS.get(name) in OF_SOLVE:
        belongs = f"write {SYNONYMS[name]}=... for the joint values to start from"
        return unknown_option(owner, name, (), belongs=f"{belongs}. Its own options are {', '.join(OF_SOLVE)}")
    if owner == "solve":
        if name in _renamed.OPTIONS:
            return unknown_option("Solver", name, (), _renamed.OPTIONS)
        return unknown_option(owner, name, (*OF_SOLVE, *names), _renamed.OPTIONS)
    if name in names:
        return unknown_option(owner, name, (), belongs=f"it belongs to the solver: write Solver({name}=...).solve(...)")
    return unknown_option(owner, name, OF_SOLVE)


def checked(solver: Solver) -> dict[str, Any]:
    """The options of a solver in another form than they were given in; `BadInput` for wrong ones."""
    _check_types(solver)
    converted: dict[str, Any] = {}
    if solver.damping is not None:
        converted["damping"] = from_option(solver.damping)
    max_step = _check.real(solver.max_step)
    if not max_step > 0:
        raise BadInput(f"max_step must be positive, got {_check.short(solver.max_step)}")
    if type(solver.max_step) not in (int, float) or solver.max_step > 1 << 53:
        converted["max_step"] = max_step
    _check.fraction(solver.step_scale, "step_scale")
    converted["keep_limits"] = _check.flag(solver.keep_limits, "keep_limits")
    for name, least in (("max_iterations", 0), ("halvings", 0), ("limit_escapes", 0), ("patience", 1)):
        value = getattr(solver, name)
        if name == "max_iterations" and value is None:
            continue
        if _check.whole(value, name, least) >= 1 << 31:  # the core counts in 32 bits
            raise BadInput(f"{name} must be below 2^31, got {_check.short(value)}")
    if solver.timeout is not None and not 0 < _check.real(solver.timeout) < 1e6:
        raise BadInput(f"timeout must be a positive number of seconds, below 1e6, got {_check.short(solver.timeout)}")
    if solver.joint_weights is not None:
        converted["joint_weights"] = hashable_weights(solver.joint_weights)
    converted["margin"] = checked_margin(solver.margin)
    if any(converted["margin"]) and not solver.keep_limits:
        raise BadInput("a margin needs limits: keep_limits must be True")
    if not isinstance(solver.device, str) or not re.fullmatch(r"cpu|cuda(:\d{1,3})?", solver.device):
        wanted = '"cpu", "cuda", or a GPU by its number, such as "cuda:1"'
        raise BadInput(f"device must be {wanted}; got {_check.short(solver.device)}")
    return converted


def _check_types(solver: Solver) -> None:
    if not isinstance(solver.method, Method):
        raise _not_made(solver.method, "method", "method.damped()")
    if not isinstance(solver.prefer, Preference):
        raise _not_made(solver.prefer, "prefer", "prefer.centre()")
    _check.instance(solver.tolerance, Tolerance, "tolerance", "Tolerance(position=1e-3)")


def _not_made(value: object, option: str, example: str) -> BadInput:
    """The error for an option that is not a value of its module; its functions are to be called."""
    module = f"supple.{option}"
    if option == "method" and isinstance(value, str):
        known = _renamed.OTHER_WORDS_FOR_METHODS.get(value.lower(), value)
        near = [known] if known in method.names() else near_matches(known, method.names())
        if near:
            return BadInput(f"method must be a value of {module}; write {' or '.join(f'method.{n}()' for n in near)}")
    if callable(value) and getattr(value, "__module__", "") == module:
        return BadInput(f"{option} must be a value of {module}; write {option}.{getattr(value, '__name__', '')}()")
    return BadInput(f"{option} must be a value of {module}, such as {example}, got {_check.short(value)}")


def check_method(solver: Solver) -> None:
    """Refuse options that the solver's method does not have, with the line to write."""
    chosen = solver.method
    if solver.prefer.terms and chosen.name not in _TAKE_PREFERENCE:
        raise BadInput(f"{chosen!r} takes no preference; these methods do: {', '.join(_TAKE_PREFERENCE)}")
    if chosen.name != "search":
        if solver.damping is not None and chosen.name not in TAKE_DAMPING:
            raise BadInput(
                f"{chosen!r} takes no damping; write Solver(method=method.damped(), damping={solver.damping!r})"
            )
        if solver.device != "cpu":
            raise BadInput(f"{chosen!r} runs on the CPU; the search can run on a GPU")
        for name in ("timeout", "joint_weights"):
            if getattr(solver, name) is not None:
                raise BadInput(f"{chosen!r} takes no {name}; the search does")
        return
    options = [name for name in _NOT_OF_SEARCH if getattr(solver, name) != solver.__dataclass_fields__[name].default]
    if options:
        line = ", ".join(f"{name}={getattr(solver, name)!r}" for name in options)
        raise BadInput(f"method.search() takes no {options[0]}; write Solver(method=method.damped(), {line})")
    if solver.device != "cpu" and (solver.timeout is not None or solver.prefer.terms):
        raise BadInput("on a GPU a solve has no timeout and no preferences")
