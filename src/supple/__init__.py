"""Kinematic linkages, forward and backward: robots and animated figures. Bends, never breaks.

Metres, radians and seconds; quaternions with w first; linear before angular; Jacobians in world axes.
"""

try:
    from supple import _core as _core
except ModuleNotFoundError as _error:  # one implementation, no quiet fallback
    raise ImportError(
        f"supple's native core could not be loaded ({_error}); build it with 'pip install .' in the source tree "
        "(Python and a C++17 compiler are all it needs), or install a wheel"
    ) from _error

from supple import method, prefer, stock, view
from supple.errors import BadInput, BadLinkage, MissingExtra, SuppleError, UnknownName
from supple.frame import Frame
from supple.goal import Goal
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Sphere
from supple.linkage import Axes, Frames, Linkage
from supple.read import DH, dh, load
from supple.solution import Outcome, Solution
from supple.solver import Solver, Tolerance, solve

__version__ = "0.1.0"

__all__ = [
    "DH",
    "Axes",
    "BadInput",
    "BadLinkage",
    "Box",
    "Capsule",
    "Cylinder",
    "Frame",
    "Frames",
    "Geometry",
    "Goal",
    "Joint",
    "Kind",
    "Link",
    "Linkage",
    "Mesh",
    "Mimic",
    "MissingExtra",
    "Outcome",
    "Solution",
    "Solver",
    "Sphere",
    "SuppleError",
    "Tolerance",
    "UnknownName",
    "dh",
    "load",
    "method",
    "prefer",
    "solve",
    "stock",
    "view",
]
