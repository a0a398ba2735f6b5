"""Kinematic linkages, forward and backward: robots and animated figures. Bends, never breaks.

Metres, radians and seconds; quaternions with w first; linear before angular; Jacobians in world axes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from supple import _core as _core
except ModuleNotFoundError as _error:  # one implementation, no quiet fallback
    raise ImportError(
        f"supple's native core could not be loaded ({_error}); build it with 'pip install .' in the source tree "
        "(Python and a C++17 compiler are all it needs), or install a wheel"
    ) from _error

from supple import damping, method, prefer
from supple._solve.compiled_solver import Plan
from supple.errors import BadInput, BadLinkage, Interrupted, MissingExtra, SuppleError, UnknownName
from supple.frame import Frame
from supple.goal import Goal
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Sphere
from supple.linkage import Axes, Frames, Linkage
from supple.solution import Outcome, Solution
from supple.solver import Solver, Tolerance, solve

if TYPE_CHECKING:
    from supple import gauntlet, models, teleop, view
    from supple._motion.interpolation import Between
    from supple.analysis import Annulus, Constraint, Elbows, TwoLink, constraint
    from supple.motion import Motion
    from supple.path import Path
    from supple.path_solution import Followed, follow
    from supple.read import DH, dh, load
    from supple.step import State, Step
    from supple.tracker import Tracker
    from supple.workspace import Workspace, dexterous, reachable

__version__ = "0.1.0"

__all__ = [
    "DH",
    "Annulus",
    "Axes",
    "BadInput",
    "BadLinkage",
    "Between",
    "Box",
    "Capsule",
    "Constraint",
    "Cylinder",
    "Elbows",
    "Followed",
    "Frame",
    "Frames",
    "Geometry",
    "Goal",
    "Interrupted",
    "Joint",
    "Kind",
    "Link",
    "Linkage",
    "Mesh",
    "Mimic",
    "MissingExtra",
    "Motion",
    "Outcome",
    "Path",
    "Plan",
    "Solution",
    "Solver",
    "Sphere",
    "State",
    "Step",
    "SuppleError",
    "Tolerance",
    "Tracker",
    "TwoLink",
    "UnknownName",
    "Workspace",
    "constraint",
    "damping",
    "dexterous",
    "dh",
    "follow",
    "gauntlet",
    "load",
    "method",
    "models",
    "prefer",
    "reachable",
    "solve",
    "teleop",
    "view",
]

# rooms that are entered when first asked for, so that importing supple costs little more than importing numpy
_LATER = {
    "_motion.interpolation": ("Between",),
    "analysis": ("Annulus", "Constraint", "Elbows", "TwoLink", "constraint"),
    "gauntlet": (),
    "models": (),
    "motion": ("Motion",),
    "path": ("Path",),
    "path_solution": ("Followed", "follow"),
    "read": ("DH", "dh", "load"),
    "step": ("State", "Step"),
    "teleop": (),
    "tracker": ("Tracker",),
    "view": (),
    "workspace": ("Workspace", "dexterous", "reachable"),
}
_ROOM = {name: room for room, names in _LATER.items() for name in names or (room,)}


def __getattr__(name: str) -> object:
    if name not in _ROOM:
        raise AttributeError(f"module 'supple' has no attribute {name!r}")
    room = import_module(f"supple.{_ROOM[name]}")
    value = room if name == _ROOM[name] else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
