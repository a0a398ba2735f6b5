"""Metadata of a recording: linkage, tracker and rate as JSON, with every field written and a format number."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import supple
from supple import _check, _core
from supple._solve import limits_in_use
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.goal import CENTER_OF_MASS, Goal
from supple.linkage import Linkage
from supple.solver import Solver, Tolerance
from supple.teleop.recording import format1

if TYPE_CHECKING:
    from supple.tracker import Tracker

FORMAT = 3
"""Format that is written. Format 2 had no columns for grippers; format 1 also held the solver as the text of its repr,
see `format1`."""
_READ = (1, 2, FORMAT)
MAX_DRIVEN = 1000
"""Greatest number of driven links of a recording."""
_GOAL_OPTIONS = (
    "axis",
    "distance",
    "line",
    "limb",
    "point",
    "relative_to",
    "weight",
    "turn_weight",
    "slack",
    "turn_slack",
    "priority",
)


@dataclass(frozen=True, eq=False)
class Metadata:
    """What a recording is of."""

    linkage: Linkage
    """The linkage, without its geometry."""
    links: tuple[str, ...]
    """The driven end effectors."""
    rate: float
    """Requested ticks per second."""
    start: Array
    """Joint values (dof,) when the recorder was made."""
    tracker: dict[str, Any]
    """The tracker it began with, as plain data; see `tracker_to_dict`."""
    version: str
    """Version of supple that recorded it."""
    instructions: str
    """Instruction set it was computed with."""
    format: int = FORMAT

    @classmethod
    def of(cls, tracker: Tracker, rate: float) -> Metadata:
        """Metadata of a recording that begins now."""
        return cls(
            linkage=tracker.linkage,
            links=tuple(goal.link for goal in tracker.goals),
            rate=rate,
            start=tracker.q,
            tracker=tracker_to_dict(tracker),
            version=supple.__version__,
            instructions=_core.instruction_set(),
        )

    @property
    def has_grippers(self) -> bool:
        """Whether the recording has columns for grippers."""
        return self.format > 2

    def to_json(self) -> str:
        """One line of JSON. Python writes floats so that they read back exactly."""
        return to_json(
            {
                "format": FORMAT,
                "version": self.version,
                "instructions": self.instructions,
                "name": self.linkage.name,
                "names": list(self.linkage.names),
                "links": list(self.links),
                "rate": self.rate,
                "start": self.start.tolist(),
                "tracker": self.tracker,
                "linkage": self.linkage.to_dict(geometry=False),
            }
        )

    @classmethod
    def from_dict(cls, data: Any) -> Metadata:
        """Metadata of format 1 to 3, as read from JSON; raises `BadInput` for anything else."""
        try:
            format = data["format"]
            if format == 1:
                data = format1.upgrade(data)
            elif format not in _READ or type(format) is not int:
                raise BadInput(f"its format is {_check.short(format)}; this version of supple reads 1 to {FORMAT}")
            linkage, tracker = Linkage.from_dict(data["linkage"]), data["tracker"]
            start = np.array(data["start"], dtype=float)
            links = _links(data["links"], linkage)
            if list(linkage.names) != data["names"] or start.shape != (linkage.dof,):
                raise BadInput("its names and its start do not fit its linkage")
            if not np.isfinite(start).all():
                raise BadInput("its start is not finite")
            _plain(tracker["solver_text"], "the text of its solver")
            np.array(tracker["acceleration"], dtype=float)
            rate = _check.positive(data["rate"], "its rate")
            version, instructions = (_plain(data[name], f"its {name}") for name in ("version", "instructions"))
            return cls(linkage, links, rate, start, tracker, version, instructions, format)
        except (SuppleError, KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"there is no {error}" if type(error) is KeyError else str(error)
            raise BadInput(f"not a recording: {reason}") from None


def _links(given: Any, linkage: Linkage) -> tuple[str, ...]:
    """The driven links: at least one, all of them links of the linkage or its centre of mass."""
    if not isinstance(given, list) or not given:
        raise BadInput("it has no links")
    if len(given) > MAX_DRIVEN:
        raise BadInput(f"it drives {len(given):,} links; at most {MAX_DRIVEN:,}")
    known = {link.name for link in linkage.links} | {CENTER_OF_MASS}
    for link in given:
        if not isinstance(link, str) or link not in known:
            raise BadInput(f"its linkage has no link {_check.short(link)}")
    return tuple(given)


def _plain(text: Any, what: str) -> str:
    """A text without control characters, which would reach the terminal; lines and tabs are allowed."""
    if not isinstance(text, str):
        raise BadInput(f"{what} is not a text")
    if any(unicodedata.category(character) == "Cc" and character not in "\n\t" for character in text):
        raise BadInput(f"{what} has control characters in it")
    return text


def to_json(data: Any) -> str:
    """Plain data as one line of JSON."""
    return json.dumps(data, separators=(",", ":"))


def tracker_to_dict(tracker: Tracker) -> dict[str, Any]:
    """A tracker as plain data: solver, bounds, tolerance and goals, with every field."""
    return {
        "solver": _solver_to_dict(tracker.solver),
        "solver_text": repr(tracker.solver),
        "acceleration": tracker.acceleration.tolist(),
        "jerk": tracker.jerk.tolist(),
        "jerk_is_given": tracker._jerk_is_given,
        "tolerance": {"position": tracker.tolerance.position, "angle": tracker.tolerance.angle},
        "smooth": tracker.smooth,
        "predict": tracker.predict,
        "recover": tracker.recover,
        "limits": tracker._limits.to_dict(),
        "goals": [_goal_to_dict(goal) for goal in tracker.goals],
    }


def tracker_from_dict(data: Any, linkage: Linkage, start: Array, solver: Solver | None = None) -> Tracker:
    """The tracker that `tracker_to_dict` wrote, at joint values (dof,), at rest; with another solver, where given.

    Raises `SuppleError`, KeyError, TypeError or ValueError for other data.
    """
    if solver is None:
        if data["solver"] is None:
            text = str(data["solver_text"])[:200]
            raise BadInput(f"a recording does not hold the Python functions of a solver, so give one: {text}")
        solver = Solver.from_dict(data["solver"])
    jerk = np.array(data["jerk"], dtype=float)
    default = np.array_equal(jerk, np.array(data["acceleration"], dtype=float) / 6e-3)  # of older data
    return solver.track(
        linkage,
        [_goal_from_dict(goal) for goal in data["goals"]],
        start,
        acceleration=np.array(data["acceleration"], dtype=float),
        jerk=jerk if data.get("jerk_is_given", not default) else None,
        tolerance=Tolerance(**data["tolerance"]),
        smooth=data.get("smooth", 0.0),  # older data have neither these nor limits
        predict=data.get("predict", 0.0),
        recover=data.get("recover", "free"),
        **limits_in_use.options(data.get("limits", {})),
    )


def tracker_from_json(text: str, format: int) -> dict[str, Any]:
    """The data of a tracker that took over during a recording; raises KeyError, TypeError or ValueError."""
    data = json.loads(text)
    return format1.upgrade_tracker(data) if format == 1 else data


def _solver_to_dict(solver: Solver) -> dict[str, Any] | None:
    """A solver as plain data; None if it has a Python function in it, which cannot be written."""
    try:
        return solver.to_dict()
    except BadInput:
        return None


def _goal_to_dict(goal: Goal) -> dict[str, Any]:
    """The settings of a goal; the position and orientation themselves are given in each tick."""
    options = {name: getattr(goal, name) for name in _GOAL_OPTIONS}
    return {
        "link": goal.link,
        "is_center_of_mass": goal.is_center_of_mass,
        "position": goal.position is not None,
        "orientation": goal.orientation is not None,
        "look_at": goal.look_at is not None,
        "pole": goal.pole is not None,
        **{name: np.asarray(x).tolist() if isinstance(x, np.ndarray | tuple) else x for name, x in options.items()},
    }


def _goal_from_dict(data: Any) -> Goal:
    wanted: dict[str, Any] = {}
    if data["position"]:
        wanted["position"] = (0.0, 0.0, 0.0)
    if data["orientation"]:
        wanted["orientation"] = np.eye(3)
    options = {name: data[name] for name in _GOAL_OPTIONS if name in data}
    if data.get("is_center_of_mass"):
        kept = ("distance", "line", "weight", "slack", "priority")
        return Goal.center_of_mass((0.0, 0.0, 0.0), **{name: options[name] for name in kept})
    if data.get("pole"):
        wanted["pole"] = (0.0, 0.0, 0.0)
        options["turn_slack"] = options["turn_slack"][0]
    if options.get("axis") is not None:
        wanted["look_at" if data.get("look_at") else "direction"] = (0.0, 0.0, 1.0)
        options["turn_slack"] = options["turn_slack"][0]
    return Goal(data["link"], **wanted, **options)
