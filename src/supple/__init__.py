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

from supple import stock, view
from supple.errors import BadInput, BadLinkage, MissingExtra, SuppleError, UnknownName
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Sphere
from supple.linkage import Axes, Frames, Linkage
from supple.read import DH, dh, load

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
    "Joint",
    "Kind",
    "Link",
    "Linkage",
    "Mesh",
    "Mimic",
    "MissingExtra",
    "Sphere",
    "SuppleError",
    "UnknownName",
    "dh",
    "load",
    "stock",
    "view",
]
