"""Reader of timelines: key poses and key goals in a JSON file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from supple import _check
from supple.animate.goal_track import GoalKey, GoalTrack
from supple.animate.pose_limits import check_pose
from supple.animate.timeline import PoseKey, Timeline
from supple.errors import BadInput, SuppleError
from supple.frame import Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.read import bounded

EXAMPLE = """{
  "figure": "human",
  "poses": [
    {"time": 0, "joints": {}},
    {"time": 1.5, "joints": {"left_elbow": 80, "left_shoulder": [0, 0, 60]}},
    {"time": 3, "joints": {}}
  ],
  "goals": [
    {"time": 1, "link": "right_hand", "position": [0.45, -0.2, 1.3], "base": "chest"},
    {"time": 2, "link": "right_hand", "position": [0.45, 0.1, 1.4], "base": "chest"}
  ]
}
"""
"""A file with all that one needs; angles are in degrees."""
_MAX_BYTES = 50_000_000
_ARGUMENTS = ("position", "axis", "direction", "look_at", "pole", "limb", "point")
"""Arguments of `Goal` that a file gives as they are."""
_POSE = {"time", "joints", "ease"}
_GOAL = {
    "time",
    "link",
    "position",
    "rpy",
    "axis",
    "direction",
    "look_at",
    "pole",
    "limb",
    "point",
    "base",
    "ease",
    "blend",
}


def read(path: str | os.PathLike[str], find: Callable[[str], Linkage]) -> Timeline:
    """The timeline in a JSON file; ``find`` gives the linkage of the name in ``figure``.

    ``poses`` are objects with ``time`` in seconds and ``joints``: values by the names of joints, in degrees and metres,
    three for a ball joint (a rotation vector). Joints that no pose names stay at rest. ``goals`` have ``time``,
    ``link`` and the arguments of `Goal`: ``position``, ``rpy`` in degrees, ``axis`` and ``direction`` or ``look_at``,
    or ``pole``; and those of `Timeline.goal`. Raises `BadInput` with the file and the entry.
    """
    name, data = _loaded(path)
    extra = set(data) - {"figure", "poses", "goals"}
    if extra:
        raise BadInput(f'{name}: a timeline has "figure", "poses" and "goals", not {sorted(extra)[0]!r}')
    line = Timeline(find(data["figure"]))
    for kind, add in (("poses", _with_pose), ("goals", _with_goal)):
        entries = data.get(kind, [])
        if not isinstance(entries, list):
            raise BadInput(f'{name}: "{kind}" must be a list')
        names = {key for one in entries if isinstance(one, Mapping) for key in _names(one)}
        named = sorted(names & set(line.linkage._joint_named))  # others are refused where they stand
        for i, entry in enumerate(entries):
            line = _added(line, add, entry, named, f"{name}: {kind}[{i}]")
    return line


def figure_name(path: str | os.PathLike[str]) -> str:
    """What a JSON file of keys calls its figure: a file or the name of a model."""
    return str(_loaded(path)[1]["figure"])


def _loaded(path: str | os.PathLike[str]) -> tuple[str, Mapping[str, Any]]:
    """The name of a JSON file of keys, and the object in it, whose ``figure`` is text."""
    name = _check.file_name(path)
    try:
        with bounded.open_binary(name, _MAX_BYTES) as opened:
            data = json.loads(opened.read(_MAX_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise BadInput(f"no file {name!r}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{name}: cannot read the timeline: {error}") from None
    if not isinstance(data, Mapping) or not isinstance(data.get("figure"), str):
        raise BadInput(f'{name}: a timeline is an object with "figure", a file or the name of a model, and keys')
    return name, data


def _added(line: Timeline, add: Any, entry: object, named: list[str], place: str) -> Timeline:
    """The timeline with one more key; errors name the place in the file."""
    try:
        added: Timeline = add(line, entry, named)
    except SuppleError as error:
        raise BadInput(f"{place}: {error}") from None
    return added


def _names(entry: Mapping[str, Any]) -> list[str]:
    joints = entry.get("joints", {})
    return [key for key in joints if isinstance(key, str)] if isinstance(joints, Mapping) else []


def _entry(entry: object, known: set[str], needed: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise BadInput(f"a key is an object, got {_check.short(entry)}")
    for name in needed:
        if name not in entry:
            raise BadInput(f"a key needs {name!r}")
    extra = set(entry) - known
    if extra:
        raise BadInput(f"{sorted(map(str, extra))[0]!r} is not one of {', '.join(sorted(known))}")
    return entry


def _with_pose(line: Timeline, entry: object, named: list[str]) -> Timeline:
    key = _entry(entry, _POSE, ("time", "joints"))
    if not isinstance(key["joints"], Mapping):
        raise BadInput("joints must be an object: values by the names of joints")
    values: dict[str, Any] = {}
    for name, value in key["joints"].items():
        joint = line.linkage.joint(name)
        row = np.atleast_1d(_check.numbers(value, f"joint {name!r}"))
        if row.shape != (joint.dof,):
            takes = "one number" if joint.dof == 1 else f"a list of {joint.dof} numbers"
            raise BadInput(f"joint {name!r} takes {takes}, got {_check.short(value)}")
        units = np.array([unit == "rad" for unit in joint.units])
        values[name] = np.where(units, np.radians(row), row)
    q = line.linkage.q(values)
    check_pose(line.linkage, q, named or None, degrees=True)
    return line.pose(key["time"], q, joints=named or None, ease=_check.flag(key.get("ease", True), "ease"))


def _with_goal(line: Timeline, entry: object, named: list[str]) -> Timeline:
    key = _entry(entry, _GOAL, ("time", "link"))
    options = {name: key[name] for name in _ARGUMENTS if name in key}
    if "rpy" in key:
        turn = _check.numbers(key["rpy"], "rpy")
        if turn.shape != (3,):
            raise BadInput(f"rpy must be three angles in degrees, got {_check.short(key['rpy'])}")
        options["orientation"] = Frame.rpy(*(math.radians(x) for x in turn.tolist()))
    settings = {name: key[name] for name in ("base", "blend") if name in key}
    return line.goal(
        key["time"], Goal(key["link"], **options), ease=_check.flag(key.get("ease", True), "ease"), **settings
    )


def written(line: Timeline, figure: str) -> str:
    """A timeline as the text of a file that `read` reads; ``figure`` is the file or the name of the linkage.

    Raises `BadInput` for goals that a file cannot hold: those relative to a link, and those for the centre of mass.
    """
    poses = [_pose_entry(line.linkage, key) for key in sorted(line.poses, key=lambda key: key.time)]
    goals = [_goal_entry(key, track) for track in line.tracks for key in track.keys]
    lists = {"poses": poses, "goals": goals}
    rows = [f'  "figure": {json.dumps(figure)}']
    for name, entries in lists.items():
        if entries:
            inside = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
            rows.append(f'  "{name}": [\n{inside}\n  ]')
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _pose_entry(linkage: Linkage, key: PoseKey) -> dict[str, Any]:
    """A key pose as an entry of a file, with angles in degrees."""
    values: dict[str, Any] = {}
    for joint in linkage.joints:
        if joint.dof and joint.mimic is None and (key.joints is None or joint.name in key.joints):
            first = linkage._sources[joint.name].first
            row = key.q[first : first + joint.dof]
            shown = [_digits(math.degrees(x) if unit == "rad" else x) for x, unit in zip(row, joint.units, strict=True)]
            values[joint.name] = shown[0] if joint.dof == 1 else shown
    return {"time": key.time, "joints": values, **({} if key.ease else {"ease": False})}


def _goal_entry(key: GoalKey, track: GoalTrack) -> dict[str, Any]:
    """A key goal as an entry of a file."""
    goal = key.goal
    if goal.relative_to is not None or goal.is_center_of_mass:
        raise BadInput("a file of keys has goals in the world of one link; one is relative, or for the centre of mass")
    entry: dict[str, Any] = {"time": key.time, "link": goal.link}
    for name in _ARGUMENTS:
        value = getattr(goal, name)
        if name == "limb" and value is not None:
            entry[name] = list(value)
        elif value is not None and not (name == "point" and not np.any(value)):
            entry[name] = [_digits(float(x)) for x in value]
    if goal.orientation is not None:
        turn = Frame.at([0, 0, 0], goal.orientation).to_rpy()
        entry["rpy"] = [_digits(math.degrees(x)) for x in turn]
    if track.base is not None:
        entry["base"] = track.base
    return {**entry, "blend": track.blend, **({} if key.ease else {"ease": False})}


def _digits(value: float) -> float:
    return round(float(value), 9) + 0.0
