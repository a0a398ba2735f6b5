"""A solver as plain data for JSON, and back: every field explicit, with a version."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from supple import _check
from supple._solve import compilation, fields, search
from supple._solve.options import TAKE_DAMPING
from supple._solve.tolerance import Tolerance
from supple.damping import Damping
from supple.errors import BadInput
from supple.method import Method
from supple.prefer import Preference

if TYPE_CHECKING:
    from supple.solver import Solver

FORMAT = "supple.solver"
VERSION = 1


def to_dict(solver: Solver) -> dict[str, Any]:
    """See `Solver.to_dict`."""
    scheme = solver.damping.to_dict() if isinstance(solver.damping, Damping) else solver.damping
    weights: Any = solver.joint_weights
    margin: Any = solver.margin
    if weights is not None:
        weights = dict(weights) if isinstance(weights[0], tuple) else list(weights)
    iterations = {"default": _default_iterations(solver.method)} if solver.max_iterations is None else None
    return {
        "format": FORMAT,
        "version": VERSION,
        "method": solver.method.to_dict(),
        "damping": _default_damping(solver.method) if scheme is None else scheme,
        "prefer": solver.prefer.to_dict(),
        "joint_weights": weights,
        "max_iterations": iterations or solver.max_iterations,
        "timeout": None if solver.timeout is None else float(solver.timeout),
        "tolerance": {"position": float(solver.tolerance.position), "angle": float(solver.tolerance.angle)},
        "max_step": float(solver.max_step) if math.isfinite(solver.max_step) else None,
        "step_scale": float(solver.step_scale),
        "halvings": int(solver.halvings),
        "limit_escapes": int(solver.limit_escapes),
        "keep_limits": bool(solver.keep_limits),
        "patience": int(solver.patience),
        "margin": list(margin),
        "device": str(solver.device),
    }


def from_dict(cls: type[Solver], data: Mapping[str, Any]) -> Solver:
    """See `Solver.from_dict`."""
    written = data.get("format") if isinstance(data, Mapping) else None
    if not isinstance(written, str) or written != FORMAT:
        raise BadInput(f"expected a dict made by Solver.to_dict(), with 'format': {FORMAT!r}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        version = _check.short(data.get("version"))
        raise BadInput(f"version {version} of the data is not known; this supple reads {VERSION}")
    data = {"margin": [0.0], "device": "cpu", **data}  # older data have none
    values = fields.checked(data, "the data of a solver", ("format", "version", *cls.__dataclass_fields__))
    del values["format"], values["version"]
    values["method"] = chosen = Method.from_dict(values["method"])
    scheme = values["damping"]
    if scheme is None or (isinstance(scheme, dict) and _is_default(scheme, chosen)):
        values["damping"] = None
    elif isinstance(scheme, Mapping) and "default" in scheme:
        values["damping"] = fields.checked(scheme, "damping", ("default",))["default"]
    elif isinstance(scheme, Mapping):
        values["damping"] = Damping.from_dict(dict(scheme))
    if isinstance(values["max_iterations"], Mapping):
        count = fields.checked(values["max_iterations"], "max_iterations", ("default",))["default"]
        count = _check.whole(count, "max_iterations", 0)
        values["max_iterations"] = None if count == _default_iterations(chosen) else count
    values["prefer"] = Preference.from_dict(values["prefer"])
    values["tolerance"] = Tolerance(**fields.checked(values["tolerance"], "tolerance", ("position", "angle")))
    values["max_step"] = math.inf if values["max_step"] is None else values["max_step"]
    return cls(**values)


def _is_default(scheme: dict[str, Any], chosen: Method) -> bool:
    """Whether this damping is what the method has by default."""
    default = _default_damping(chosen)
    return default is not None and list(scheme) == ["default"] and _check.real(scheme["default"]) == default["default"]


def _default_iterations(chosen: Method) -> int:
    return search.ITERATIONS if chosen.name == "search" else compilation.ITERATIONS


def _default_damping(chosen: Method) -> dict[str, float] | None:
    return {"default": compilation.DAMPING} if chosen.name in TAKE_DAMPING else None
