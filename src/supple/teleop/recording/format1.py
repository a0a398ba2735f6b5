"""Format 1 of a recording's metadata, converted to the current format.

It held the solver as the text of its repr, without options that had their default value, and with names that have
changed since. The defaults of that time are written here, so that a change of a default does not change an old replay.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from supple import _renamed, damping, method, prefer
from supple._linkage import serialization
from supple.errors import SuppleError
from supple.solver import Solver, Tolerance

_MAX_TEXT = 10_000  # characters; a solver with every option has some hundreds
_LOCAL_OPTIONS = ("damping", "step_scale", "halvings", "limit_escapes", "patience")
_DEFAULTS: dict[str, dict[str, Any]] = {
    "Solver": {
        "prefer": prefer.nothing,
        "tolerance": Tolerance(1e-6, 1e-6),
        "max_step": 1.0,
        "step_scale": 1.0,
        "halvings": 0,
        "limit_escapes": 3,
        "keep_limits": True,
        "patience": 15,
    },
    "Tolerance": {"position": 1e-6, "angle": 1e-6},
    "damping.mayorga": {"alpha0": 0.01, "above": 1e5, "as_printed": False},
    "damping.chan_lawrence": {"alpha0": 0.02},
    "damping.kelmar_khosla": {"alpha0": 0.01, "below": 0.98, "as_printed": False},
    "damping.nakamura_hanafusa": {"alpha0": 0.01, "below": None, "as_printed": False},
    "damping.limits": {
        "alpha0": 0.01,
        "region": 0.2,
        "weight": 0.01,
        "rate": 6.0,
        "slide_region": None,
        "tiny": None,
        "as_printed": False,
    },
    "damping.singularities": {"alpha0": 0.01, "region": 0.05, "as_printed": False},
    "damping.Singularity.bend": {"at": 0.0, "region": 0.3, "joints": (), "weight": 0.1},
    "damping.Singularity.sine": {"at": 0.0, "region": 0.3, "joints": (), "weight": 0.1},
    "damping.Singularity.off_axis": {"point": (0, 0, 0), "radius": 0.0, "joints": (), "weight": 0.1},
    "method.transpose": {"scale": None},
    "method.coordinate_descent": {"rank": method.Rank.OUTERMOST},
    "prefer.rest": {"gain": 0.1},
    "prefer.centre": {"gain": 0.1},
    "prefer.away": {"gain": 0.1, "width": 1.0},
    "prefer.dexterity": {"gain": 0.1},
}
_POSITIONAL = {
    "Tolerance": ("position", "angle"),
    "damping.constant": ("alpha0",),
    "damping.condition_bound": ("kappa",),
    "damping.mayorga": ("alpha0", "above"),
    "damping.chan_lawrence": ("alpha0",),
    "damping.kelmar_khosla": ("alpha0", "below"),
    "damping.nakamura_hanafusa": ("alpha0", "below"),
    "damping.limits": ("alpha0", "region", "weight", "rate"),
    "damping.Singularity.bend": ("joint", "at"),
    "damping.Singularity.sine": ("joint", "at"),
    "damping.Singularity.off_axis": ("joint", "link", "point", "radius"),
    "method.transpose": ("scale",),
    "method.coordinate_descent": ("rank",),
    "prefer.rest": ("values", "gain"),
    "prefer.centre": ("gain",),
    "prefer.away": ("values", "gain", "width"),
    "prefer.dexterity": ("gain",),
}
"""Names of positional arguments; `damping.singularities` takes any number of them."""
_ITERATIONS = {True: 40_000, False: 200}  # default for the search, and for other methods
_DAMPING = 1e-4  # default of damped methods
_VALUES: dict[str, Any] = {
    "inf": math.inf,
    "damping.none": damping.none,
    "prefer.nothing": prefer.nothing,
    **{f"method.{rank}": rank for rank in method.Rank},
}
_FUNCTIONS: dict[str, Any] = {
    "Tolerance": Tolerance,
    **{f"method.{name}": getattr(method, name) for name in method.names()},
    **{f"prefer.{name}": getattr(prefer, name) for name in ("rest", "centre", "away", "dexterity")},
    **{
        f"damping.{name}": getattr(damping, name) for name in ("constant", "condition_bound", "singularities", "limits")
    },
    **{f"damping.{name}": getattr(damping, name) for name in _renamed.DAMPING.values()},
    **{f"damping.Singularity.{name}": getattr(damping.Singularity, name) for name in ("bend", "sine", "off_axis")},
}


def upgrade(data: Any) -> dict[str, Any]:
    """Metadata of format 1 in the current format; raises KeyError, TypeError or ValueError for anything else."""
    linkage = data["linkage"]
    return {
        **data,
        "tracker": upgrade_tracker(data["tracker"]),
        "linkage": {
            "format": serialization.FORMAT,
            "version": 1,
            "name": linkage["name"],
            "base": linkage["base"],
            "links": [{"name": name, "geometry": []} for name in linkage["links"]],
            "joints": linkage["joints"],
        },
    }


def upgrade_tracker(data: Any) -> dict[str, Any]:
    """The data of a tracker in the current format."""
    text = data["solver"]
    position, angle = data["tolerance"]
    solver = solver_to_dict(text)
    shown = text if solver is None else repr(Solver.from_dict(solver))
    return {
        **data,
        "solver": solver,
        "solver_text": shown,
        "tolerance": {"position": position, "angle": angle},
    }


def solver_to_dict(text: str) -> dict[str, Any] | None:
    """The solver with this repr, as `Solver.to_dict` writes it; None if the text is not that of a solver.

    The text of a solver with a Python function in it is not. Nothing is run but the functions listed here.
    """
    try:
        tree = ast.parse(text if len(text) <= _MAX_TEXT else "", mode="eval").body
        if not (isinstance(tree, ast.Call) and ast.unparse(tree.func) == "Solver") or tree.args:
            return None
        options = {str(word.arg): _value(word.value) for word in tree.keywords}
        return _solver(options)
    except (SuppleError, SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return None


def _solver(options: dict[str, Any]) -> dict[str, Any]:
    if "microseconds" in options:
        options["microseconds"] /= 1e6
    options = {_renamed.OPTIONS.get(name, name): value for name, value in options.items()}
    if "method" not in options:  # at that time an option that the search does not take chose the damped method
        local = any(name in options for name in _LOCAL_OPTIONS)
        options["method"] = method.damped() if local else method.search()
    searches = options["method"].name == "search"
    defaults = {name: x for name, x in _DEFAULTS["Solver"].items() if not (searches and name in _LOCAL_OPTIONS)}
    solver = Solver(**{**defaults, **options})
    data = solver.to_dict()
    if solver.max_iterations is None:
        data["max_iterations"] = {"default": _ITERATIONS[searches]}
    if isinstance(data["damping"], dict) and "default" in data["damping"]:
        data["damping"] = {"default": _DAMPING}
    return data


def _value(node: ast.expr) -> Any:
    """The value of an expression of known names, constants, tuples, lists, ``-``, ``|``, ``+`` and known calls."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        values = [_value(each) for each in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _value(node.left) | _value(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _value(node.left) + _value(node.right)
    if isinstance(node, ast.Call):
        return _call(_current_name(node.func), node)
    return _VALUES[_current_name(node)]


def _call(name: str, node: ast.Call) -> Any:
    values = [_value(each) for each in node.args]
    options = {str(word.arg): _value(word.value) for word in node.keywords}
    if name != "damping.singularities":
        options |= dict(zip(_POSITIONAL.get(name, ())[: len(values)], values, strict=True))
        values = []
    return _FUNCTIONS[name](*values, **{**_DEFAULTS.get(name, {}), **options})


def _current_name(node: ast.expr) -> str:
    """The dotted name of a function or value, with the name it has now."""
    module, _, name = ast.unparse(node).partition(".")
    renamed = {"method": _renamed.METHODS, "damping": _renamed.DAMPING}.get(module, {})
    return f"{module}.{renamed.get(name, name)}" if name else module
