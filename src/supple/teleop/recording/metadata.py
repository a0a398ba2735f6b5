"""What a recording says of its linkage, goals and tracker: plain JSON, that reads back to the last bit."""

from __future__ import annotations

import ast
import json
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from supple import _renamed, damping, method, prefer
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Joint, Kind, Mimic
from supple.link import Link
from supple.linkage import Linkage
from supple.solver import Solver, Tolerance

if TYPE_CHECKING:
    from supple.tracker import Tracker

_LONGEST = 10_000  # letters of a solver's text; one with every option has some hundreds
_ROWS = ("lower", "upper", "speed", "acceleration", "rest")
_OPTIONS = tuple(
    sorted({*Goal.__slots__} - {"link", "position", "orientation", "axis", "direction"})
)  # weights and such
_MADE: dict[str, Any] = {
    "Solver": Solver,
    "Tolerance": Tolerance,
    "inf": math.inf,
    **{f"method.{name}": getattr(method, name) for name in method.names()},
    **{f"method.{rank}": rank for rank in method.Rank},
    **{f"prefer.{name}": getattr(prefer, name) for name in ("nothing", "rest", "centre", "away", "dexterity")},
    **{
        f"damping.{name}": getattr(damping, name)
        for name in damping.__all__
        if name[0].islower() and name != "function"
    },
    **{f"damping.Singularity.{name}": getattr(damping.Singularity, name) for name in ("bend", "sine", "off_axis")},
}


# -- linkage ----------------------------------------------------------------------------------------------------------


def linkage_data(linkage: Linkage) -> dict[str, Any]:
    """A linkage without its shapes, as plain data; null stands for what has no limit."""
    return {
        "name": linkage.name,
        "base": _frame_data(linkage.base),
        "links": [link.name for link in linkage.links],
        "joints": [_joint_data(joint) for joint in linkage.joints],
    }


def linkage_from(data: Any) -> Linkage:
    """The linkage that `linkage_data` wrote; raises `SuppleError`, KeyError, TypeError or ValueError for any other."""
    joints = [_joint_from(each) for each in data["joints"]]
    return Linkage(data["name"], joints, [Link(name) for name in data["links"]], _frame_from(data["base"]))


def _joint_data(joint: Joint) -> dict[str, Any]:
    data: dict[str, Any] = {"name": joint.name, "kind": joint.kind.value}
    data |= {"parent": joint.parent, "child": joint.child}
    data["location"], data["axis"] = _frame_data(joint.location), list(joint.axis)
    data |= {field: [x if math.isfinite(x) else None for x in getattr(joint, field)] for field in _ROWS}
    mimic = joint.mimic
    data["mimic"] = mimic and {"joint": mimic.joint, "gain": mimic.gain, "offset": mimic.offset}
    return data | {"swing": joint.swing, "twist": list(joint.twist)}


def _joint_from(data: Any) -> Joint:
    none = {field: -math.inf if field == "lower" else math.inf for field in _ROWS}
    rows = {field: tuple(none[field] if x is None else x for x in data[field]) for field in _ROWS}
    joint = Joint(
        data["name"],
        Kind(data["kind"]),
        data["parent"],
        data["child"],
        _frame_from(data["location"]),
        tuple(data["axis"]),
        mimic=data["mimic"] and Mimic(**data["mimic"]),
        swing=data["swing"],
        twist=tuple(data["twist"]),
        **rows,
    )
    return _exact(joint, "axis", tuple(map(float, data["axis"])))


def _exact(joint: Joint, field: str, value: tuple[float, ...]) -> Joint:
    """The joint with the very numbers of its unit axis, which making it scaled to length once more."""
    if max(abs(a - b) for a, b in zip(getattr(joint, field), value, strict=True)) > 1e-12:
        raise BadInput(f"joint {joint.name!r}: {field} must have length 1, got {value}")
    object.__setattr__(joint, field, value)
    return joint


def _frame_data(frame: Frame) -> list[list[float]]:
    rows: list[list[float]] = frame.matrix.tolist()
    return rows


def _frame_from(rows: Any) -> Frame:
    """The very numbers, once they are seen to be a frame, which would straighten them in the last bits."""
    Frame(rows)
    matrix = np.array(rows, dtype=float)
    matrix.flags.writeable = False
    return Frame._trusted(matrix)


# -- tracker ----------------------------------------------------------------------------------------------------------


def tracker_data(tracker: Tracker) -> dict[str, Any]:
    """How a tracker was made, as plain data: solver, bounds, tolerance and goals."""
    return {
        "solver": repr(tracker.solver),
        "acceleration": tracker.acceleration.tolist(),
        "jerk": tracker.jerk.tolist(),
        "tolerance": [tracker.tolerance.position, tracker.tolerance.angle],
        "goals": [_goal_data(goal) for goal in tracker.goals],
    }


def tracker_from(data: Any, linkage: Linkage, start: Array, solver: Solver | None = None) -> Tracker:
    """The tracker that `tracker_data` wrote, or one like it by another solver, at joint values (dof,), at rest."""
    goals = [_goal_from(each) for each in data["goals"]]
    near = Tolerance(*data["tolerance"])
    chosen = solver_from(data["solver"]) if solver is None else solver
    bounds = {what: np.array(data[what], dtype=float) for what in ("acceleration", "jerk")}
    return chosen.track(linkage, goals, start, tolerance=near, **bounds)


def _goal_data(goal: Goal) -> dict[str, Any]:
    data = {"link": goal.link, "position": goal.position is not None, "orientation": goal.orientation is not None}
    return data | {name: _plain(getattr(goal, name)) for name in _OPTIONS}


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist() if isinstance(value, np.ndarray | tuple) else value


def _goal_from(data: Any) -> Goal:
    wanted: dict[str, Any] = {}
    if data["position"]:
        wanted["position"] = (0.0, 0.0, 0.0)
    if data["orientation"]:
        wanted["orientation"] = np.eye(3)
    return Goal(data["link"], **wanted, **{name: data[name] for name in _OPTIONS})


# -- solver -----------------------------------------------------------------------------------------------------------


def solver_from(text: str) -> Solver:
    """The solver whose repr this is, or was before names changed; nothing is run but the makers of a solver's values.

    Raises `BadInput` for one with a Python function in it, which no text can hold.
    """
    try:
        names = _NewNames()
        tree = names.visit(ast.parse(text if len(text) <= _LONGEST else "", mode="eval")).body
        made = _value(tree)
        same = repr(made) == text or (names.changed and _parts(tree) == _parts(repr(made)))
        same = same and isinstance(made, Solver)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        same = False
    if not same:
        raise BadInput(f"this solver cannot be made again from its text, so give one: {text[:200]}")
    return cast(Solver, made)


_OF_DAMPED_METHOD = {"damping", "step_scale", "halvings", "limit_escapes", "patience"}
"""Options that meant `method.damped()` without a method, in texts written before the search refused them."""


class _NewNames(ast.NodeTransformer):
    """Replaces names that were changed; `microseconds` becomes `timeout`, in seconds."""

    changed = False

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        names = {"method": _renamed.METHODS, "damping": _renamed.DAMPING}
        new = names.get(node.value.id, {}).get(node.attr) if isinstance(node.value, ast.Name) else None
        if new is not None:
            node.attr, self.changed = new, True
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Name) and node.func.id == "Solver":
            given = {_renamed.OPTIONS.get(option.arg or "", option.arg) for option in node.keywords}
            if "method" not in given and given & _OF_DAMPED_METHOD:
                damped = ast.parse("method.damped()", mode="eval").body
                node.keywords.append(ast.keyword("method", damped))
                self.changed = True
            for option in node.keywords:
                if option.arg == "microseconds":
                    option.value = ast.Constant(_value(option.value) / 1e6)
                if option.arg in _renamed.OPTIONS:
                    option.arg, self.changed = _renamed.OPTIONS[option.arg], True
        self.generic_visit(node)
        return node


def _parts(tree: ast.expr | str) -> list[str]:
    """What a text says, in no order: merged damping schemes are printed in the order of their names."""
    tree = ast.parse(tree, mode="eval").body if isinstance(tree, str) else tree
    return sorted(
        ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.Name | ast.Attribute)
    )


def _value(node: ast.expr) -> Any:
    """What an expression of known names, numbers, texts, rows, ``|`` and ``+`` means."""
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
        options = {str(word.arg): _value(word.value) for word in node.keywords}
        return _MADE[ast.unparse(node.func)](*map(_value, node.args), **options)
    return _MADE[ast.unparse(node)]


def text(data: Any) -> str:
    """Plain data as one line of JSON; floats as repr writes them."""
    return json.dumps(data, separators=(",", ":"))
