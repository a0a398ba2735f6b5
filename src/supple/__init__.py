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

from supple import _renamed, damping, method, prefer
from supple._solve.compiled_solver import CompiledSolver
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
    from supple._motion.interpolation import Interpolation
    from supple.motion import Motion
    from supple.path import GoalPath
    from supple.path_solution import PathSolution, solve_path
    from supple.read import DH, dh, load
    from supple.step import Step, TrackingStatus
    from supple.tracker import Tracker
    from supple.workspace import Workspace, dexterous, reachable

__version__ = "0.1.0"

__all__ = [
    "DH",
    "Axes",
    "BadInput",
    "BadLinkage",
    "Box",
    "Capsule",
    "CompiledSolver",
    "Cylinder",
    "Frame",
    "Frames",
    "Geometry",
    "Goal",
    "GoalPath",
    "Interpolation",
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
    "PathSolution",
    "Solution",
    "Solver",
    "Sphere",
    "Step",
    "SuppleError",
    "Tolerance",
    "Tracker",
    "TrackingStatus",
    "UnknownName",
    "Workspace",
    "damping",
    "dexterous",
    "dh",
    "gauntlet",
    "load",
    "method",
    "models",
    "prefer",
    "reachable",
    "solve",
    "solve_path",
    "teleop",
    "view",
]

# rooms that are entered when first asked for, so that importing supple costs little more than importing numpy
_LATER = {
    "_motion.interpolation": ("Interpolation",),
    "analysis": (),
    "path_solution": ("PathSolution", "solve_path"),
    "gauntlet": (),
    "models": (),
    "motion": ("Motion",),
    "path": ("GoalPath",),
    "read": ("DH", "dh", "load"),
    "step": ("TrackingStatus", "Step"),
    "teleop": (),
    "tracker": ("Tracker",),
    "view": (),
    "workspace": ("Workspace", "dexterous", "reachable"),
}
_ROOM = {name: room for room, names in _LATER.items() for name in names or (room,)}


def __getattr__(name: str) -> object:
    if name not in _ROOM:
        raise _renamed.no_attribute("supple", name)
    room = import_module(f"supple.{_ROOM[name]}")
    value = room if name == _ROOM[name] else getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
