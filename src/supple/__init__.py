"""Forward and inverse kinematics of linkages: robots and animated figures.

Units are metres, radians and seconds. Quaternions are wxyz, twists are linear before angular, and Jacobians are in
world axes. Leading axes of arrays broadcast: the same call solves one problem or many.

    >>> import supple
    >>> arm = supple.models.panda()
    >>> found = supple.solve(arm, supple.Goal("panda_hand_tcp", position=[0.4, 0, 0.5]))
    >>> bool(found)
    True

Threads may share linkages, goals, solvers and solutions: they are frozen values. A `Tracker` belongs to one thread; see
also `CompiledSolver`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

try:
    from supple import _core as _core
except ModuleNotFoundError as _error:  # there is no slower implementation to fall back to
    raise ImportError(
        f"supple's native core could not be loaded ({_error}); build it with 'pip install .' in the source tree "
        "(Python and a C++17 compiler are all it needs), or install a wheel"
    ) from _error

from supple import _renamed, damping, errors, method, prefer
from supple._solve.compiled_solver import CompiledSolver
from supple.errors import BadInput, BadLinkage, DeviceError, Interrupted, MissingExtra, SuppleError, UnknownName
from supple.frame import Frame
from supple.goal import Goal
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Sphere
from supple.linkage import Axes, Frames, Linkage
from supple.solution import Outcome, Solution
from supple.solver import Solver, Tolerance, solve

if TYPE_CHECKING:
    from supple import analysis, animate, gauntlet, jobs, models, read, teleop, textbook, view, workspace, write
    from supple import jax as jax
    from supple import torch as torch
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
    "DeviceError",
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
    "analysis",
    "animate",
    "damping",
    "dexterous",
    "dh",
    "errors",
    "gauntlet",
    "jobs",
    "load",
    "method",
    "models",
    "prefer",
    "reachable",
    "read",
    "solve",
    "solve_path",
    "teleop",
    "textbook",
    "view",
    "workspace",
    "write",
]

# Loaded when first used, so that `import supple` takes little longer than `import numpy`.
_MODULES = (
    "analysis",
    "animate",
    "gauntlet",
    "jax",
    "jobs",
    "models",
    "motion",
    "path",
    "path_solution",
    "read",
    "step",
    "teleop",
    "textbook",
    "torch",
    "tracker",
    "view",
    "workspace",
    "write",
)
_MODULE_OF = {
    "DH": "read",
    "GoalPath": "path",
    "Interpolation": "_motion.interpolation",
    "Motion": "motion",
    "PathSolution": "path_solution",
    "Step": "step",
    "Tracker": "tracker",
    "TrackingStatus": "step",
    "Workspace": "workspace",
    "dexterous": "workspace",
    "dh": "read",
    "load": "read",
    "reachable": "workspace",
    "solve_path": "path_solution",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"supple.{name}")
    if name not in _MODULE_OF:
        raise _renamed.no_attribute("supple", name)
    value = getattr(import_module(f"supple.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
