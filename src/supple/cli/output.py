"""What the command line says: linkages and frames as text and as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import typer

from supple.frame import Frame
from supple.joint import Joint
from supple.linkage import Linkage

_PLAIN = str.maketrans(
    {"├": "|", "└": "`", "│": "|", "─": "-", "⋯": "~", "×": "x", "°": "deg", "π": "pi", "∞": "inf", "→": ">", "…": "~"}
)


def say(text: str) -> None:
    """Print, in plainer signs where the console's encoding lacks the ones wanted; never fails for a sign."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN).encode(encoding, errors="replace").decode(encoding)
    typer.echo(text)


def say_json(value: Any) -> None:
    """Print JSON in ASCII, with null for what is not finite."""
    typer.echo(json.dumps(_plain(value), indent=2, allow_nan=False))


def linkage_data(linkage: Linkage) -> dict[str, Any]:
    """A linkage as plain data; metres and radians, infinite limits not yet null."""
    return {
        "name": linkage.name,
        "dof": linkage.dof,
        "q": list(linkage.names),
        "root": linkage.root,
        "tips": list(linkage.tips),
        "links": [{"name": link.name, "shapes": len(link.geometry)} for link in linkage.links],
        "joints": [_joint_data(joint) for joint in linkage.joints],
    }


def _joint_data(joint: Joint) -> dict[str, Any]:
    mimic, location = joint.mimic, joint.location
    data: dict[str, Any] = {
        "name": joint.name,
        "kind": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "position": location.position,
        "quaternion": location.to_quaternion(),
        "axis": joint.axis,
        "units": joint.units,
        "lower": joint.lower,
        "upper": joint.upper,
        "speed": joint.speed,
        "acceleration": joint.acceleration,
        "rest": joint.rest,
        "mimic": mimic and {"joint": mimic.joint, "gain": mimic.gain, "offset": mimic.offset},
    }
    if joint.kind.value == "ball":
        data |= {"swing": joint.swing, "twist": joint.twist}
    return data


def frame_data(frame: Frame, degrees: bool) -> dict[str, Any]:
    """A frame as plain data: position, quaternion with w first, roll, pitch and yaw, and the 4x4 matrix by rows."""
    rpy = frame.to_fixed("xyz")
    return {
        "position": frame.position,
        "quaternion": frame.to_quaternion(),
        "rpy": np.degrees(rpy) if degrees else rpy,
        "matrix": frame.matrix,
    }


def frame_text(link: str, frame: Frame, degrees: bool) -> str:
    """A frame as four lines of text."""
    data = frame_data(frame, degrees)
    rows = (
        ("position", data["position"], "m"),
        ("quaternion", data["quaternion"], "w first"),
        ("rpy", data["rpy"], "deg" if degrees else "rad"),
    )
    return "\n".join([link, *(f"  {what:10} {_columns(values)}  {unit}" for what, values, unit in rows)])


def _columns(values: Iterable[float]) -> str:
    return " ".join(f"{round(float(value), 6) + 0.0:11.6f}" for value in values)


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists, whole and broken numbers as Python's, what is not finite as None."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value
