"""The calls to supple that corpus.py and speed.py make: the one place to edit when a public name changes.

Each name is looked up under the names it has had, newest first, so that these tools run on trees from before and
after a rename.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import Frame, Goal, Joint, Linkage, Solver, damping, method, prefer

__all__ = ["Frame", "Goal", "Joint", "Linkage", "prefer"]


def first(owner: Any, *names: str) -> Any:
    """The attribute of an object under the first of these names that it has."""
    for name in names:
        if hasattr(owner, name):
            return getattr(owner, name)
    raise AttributeError(f"{owner!r} has none of {', '.join(names)}")


def module(*names: str) -> Any:
    """The first of these modules of supple that exists."""
    home = Path(supple.__file__).parent
    for name in names:
        place = home.joinpath(*name.split("."))
        if place.is_dir() or place.with_suffix(".py").exists():
            return import_module(f"supple.{name}")
    raise ModuleNotFoundError(f"supple has none of {', '.join(names)}")


models = module("models", "stock")
chapter = module("textbook.chapter", "view.chapter")
paper_figure = module("textbook.paper", "view.paper")
analysis = module("analysis")
gauntlet = module("gauntlet")
BadInput = supple.BadInput
Tolerance = supple.Tolerance
Singularity = damping.Singularity
GoalPath = first(supple, "GoalPath", "Path")
Interpolation = first(supple, "Interpolation", "Between")
Motion = supple.Motion
solve = supple.solve
solve_path = first(supple, "solve_path", "follow")

OPTIONS = {
    "max_step": "longest",
    "step_scale": "shorten",
    "limit_escapes": "escapes",
    "max_iterations": "iterations",
    "joint_weights": "weights",
}
METHODS = {
    "search": (),
    "inverse": (),
    "pseudoinverse": (),
    "damped": (),
    "alternative_jacobian": ("pulled",),
    "transpose": (),
    "coordinate_descent": ("descent",),
    "selectively_damped": ("selective",),
}
SCHEMES = {
    "none": (),
    "constant": (),
    "condition_bound": (),
    "nakamura_hanafusa": ("manipulability",),
    "kelmar_khosla": ("falling",),
    "mayorga": ("conditioning",),
    "chan_lawrence": ("error",),
    "singularities": (),
    "limits": (),
    "function": (),
    "schinstock": ("paper",),
}


def way(name: str, *arguments: Any) -> Any:
    """A method by its name of today."""
    return first(method, name, *METHODS[name])(*arguments)


def ranks() -> list[Any]:
    """The orders in which coordinate descent takes its joints."""
    return list(method.Rank)


def scheme(name: str, *arguments: Any, **options: Any) -> Any:
    """A damping scheme by its name of today; ``none`` is a value, the others are functions."""
    found = first(damping, name, *SCHEMES[name])
    return found if name == "none" else found(*arguments, **options)


def solver(chosen: str = "search", *arguments: Any, **options: Any) -> Solver:
    """A solver with a method, and options by their names of today."""
    known = Solver.__dataclass_fields__
    named = {name if name in known else OPTIONS[name]: value for name, value in options.items()}
    return Solver(method=way(chosen, *arguments), **named)


def compiled(how: Solver, linkage: Linkage, links: Any) -> Any:
    """A compiled solver: ``find(frame, start, out)``."""
    return first(how, "compile", "plan")(linkage, links)


def axis_goal(link: str, axis: Any, direction: Any, **more: Any) -> Goal:
    """A goal for an axis of a link that points along a direction."""
    try:
        return Goal(link, axis=axis, direction=direction, **more)
    except TypeError:
        return Goal(link, axis=axis, along=direction, **more)


def frame_and_jacobian(linkage: Linkage, q: Any, link: str, **more: Any) -> tuple[Any, Any]:
    """Frame and Jacobian of a link, together."""
    return first(linkage, "frame_and_jacobian", "look")(q, link, **more)


def forward_call(linkage: Linkage) -> Any:
    """The bound function that gives frame and Jacobian, for timing."""
    return first(linkage, "frame_and_jacobian", "look")


def points(linkage: Linkage, q: Any, given: Any, link: str) -> Any:
    """Points of a link in the world."""
    return first(linkage, "transform_points", "carry")(q, given, link)


def reachable(*arguments: Any, **options: Any) -> Any:
    """The reachable workspace."""
    return supple.reachable(*arguments, **options, progress=False)


def dexterous(*arguments: Any, **options: Any) -> Any:
    """The dexterous workspace."""
    return supple.dexterous(*arguments, **options, progress=False)


def status(step: Any) -> Any:
    """The status of a tick, as a number for each arm."""
    if hasattr(step, "statuses"):
        return np.array(step.statuses)
    return np.vectorize(lambda each: each.value, otypes=[int])(step.outcome)


def step_parts(step: Any) -> dict[str, Any]:
    """All that a tick tells, as arrays."""
    names = ("q", "velocity", "sides", "error", "goal", "damping", "lag")
    parts = {name: np.array(getattr(step, name)) for name in names}
    return parts | {"weights": np.array(first(step, "joint_weights", "weights")), "status": status(step)}


def solution_parts(found: Any) -> dict[str, Any]:
    """All that a solve tells, as arrays."""
    parts = {name: getattr(found, name) for name in ("q", "iterations", "starts", "largest_step", "path", "error")}
    return parts | {"outcome": found.outcomes}


def paper_parts(run: Any) -> dict[str, Any]:
    """What a run of the paper's figure tells, as arrays."""
    weights = first(run, "joint_weights", "weights")
    return {"damping": run.damping, "weights": weights, "stray": first(run, "deviation", "stray")}
