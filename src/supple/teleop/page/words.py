"""What the panel says to an operator: the reasons of a tick in plain words, without vectors and changing seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from supple._linkage import reach as _reach
from supple.frame import Array
from supple.step import _SINGULAR_DIRECTION, Step, TrackingStatus
from supple.teleop.command import Tick
from supple.teleop.page.arm import Arm
from supple.teleop.robot import HOW_TO_GO_ON

STRETCHED = 0.93  # of its reach: an arm that is out this far and singular is stretched
FASTER = "the handle is faster than the arm: "
ANOTHER_WAY = ": move the handle another way"
FREE = 0.8  # joints of a smaller weight are those that line up
_REACH = re.compile(r"^(?P<link>.+) is out of reach.* by (?P<far>.+?) along .+$")
_LEFT = re.compile(r"^(?P<joint>.+) has (?P<way>.+) left to its (?P<side>\w+) limit, .+$")
_AT = re.compile(r"^(?P<what>.+) at (?:the margin of )?(?P<whose>its|their) (?P<bound>.+?)(?: or margins)?$")
_SAME = {
    "local minimum: no small joint motion reduces the error": (
        "this is as near as the arm gets: move the handle back, or around the other way"
    ),
    "the arm was in a local minimum: it moves to other joint values that reach the command": (
        "the arm was stuck: it moves by itself to another posture, from which it reaches the handle"
    ),
    "the measured arm does not follow its commanded joint values": (
        "the real arm does not follow: is it blocked, or its torque off?"
    ),
    "measured values that are not finite are not used": "a reading of the real arm is not a number, and is not used",
}
_PATTERNS = (
    (
        re.compile(r"^(?P<link>.+) is in place, but (?P<count>\d+) joints are too few for its orientation too$"),
        "{link} is in place, but cannot be turned this way: the arm has only {count} joints",
    ),
    (re.compile(r"^waits for the measured arm: (?P<joints>.+)$"), "waiting for the real arm: {joints} behind"),
    (re.compile(r"^dt of (?P<time>.+) counts as .+$"), "the loop stood still for {time}"),
)
"""Texts for programs, and what is said to an operator in their place."""


def reason(tick: Tick, arm: Arm) -> str:
    """Why the arm of a tick is not at its goal and what comes soon, for an operator.

    >>> from supple import models
    >>> from supple.teleop.page.arm import Arm
    >>> from supple.teleop.page.words import plain
    >>> plain("panda_hand_tcp is out of reach by 12 cm along (0.6, 0.8, 0)", Arm.of(models.panda()))
    'out of reach by 12 cm: move the handle back'
    """
    step = tick.step
    status = TrackingStatus.HELD if tick.held else step.status
    if status is TrackingStatus.HELD:
        return tick.why.replace(HOW_TO_GO_ON, "")  # the page has a button for that
    if status is TrackingStatus.FOLLOWING:
        turned = f" and {np.degrees(step.angle.max()):.1f}°" if all(arm.turns) else ""
        said = [f"{1e3 * step.distance.max():.1f} mm{turned} away"]
    elif " singular: " in tick.why:
        said = [singular(step, arm)]
    else:
        said = [plain(part, arm) for part in tick.why.split("; ")]
        said = [said[0], *(text.removeprefix(FASTER).removesuffix(ANOTHER_WAY) for text in said[1:])]
    return "; ".join([*said, *(plain(warning, arm) for warning in step.warnings)])


def plain(text: str, arm: Arm) -> str:
    """A reason or a warning of a step in the words of an operator; one that has none stays."""
    found = _REACH.match(text)
    if found:
        which = "" if len(arm.links) == 1 else f"{found['link']} "
        return f"{which}out of reach by {found['far']}: move the handle back"
    found = _LEFT.match(text)
    if found:
        return f"{found['joint']} is near its {found['side']} limit: {found['way']} left"
    found = _AT.match(text)
    if found and found["bound"] in ("upper limit", "lower limit", "limits"):
        verb = "is" if found["whose"] == "its" else "are"
        return f"{found['what']} {verb} at {found['whose']} {found['bound']}{ANOTHER_WAY}"
    if found and found["bound"] in ("speed limit", "acceleration limit", "limit of angular speed"):
        return f"{FASTER}{text}"
    for pattern, said in _PATTERNS:
        found = pattern.match(text)
        if found:
            return said.format(**found.groupdict())
    return _SAME.get(text, text)


def short_names(links: Sequence[str]) -> list[str]:
    """What tells links apart: their names without the words that all of them have; empty for a single link.

    >>> from supple.teleop.page.words import short_names
    >>> short_names(["left_gripper", "right_gripper"])
    ['left', 'right']
    """
    split = [re.split(r"[_\W]+", link) for link in links]
    common = set.intersection(*map(set, split)) if split else set()
    short = [" ".join(word for word in one if word not in common) for one in split]
    return short if len(links) < 2 or len({*short} - {""}) == len(links) else list(links)


def singular(step: Step, arm: Arm) -> str:
    """Which part of the arm lines up, and which motion is slow there."""
    first = step._tracker._numbers + _SINGULAR_DIRECTION
    direction = np.asarray(step._result[first : first + 6])
    base = _reach._measured(arm.linkage, arm.links[0])[1]
    far = float(np.linalg.norm(arm.linkage.frame(step.q, arm.links[0]).position - base))
    swinging = set(np.flatnonzero(np.asarray(step.joint_weights) < FREE))
    if len(arm.links) == 1 and far > STRETCHED * arm.size:
        what = "the arm is stretched"
    elif swinging and swinging <= set(arm.columns[-3:]):
        what = "the wrist is straight"
    else:
        what = "two joints line up"
    return f"{what}: {_slow(direction, step, arm)}"


def _slow(direction: Array, step: Step, arm: Arm) -> str:
    """Which motion is slow along a direction (6,): linear, then angular."""
    linear, angular = direction[:3], direction[3:]
    if not direction.any():
        return "moves in one direction are slow"
    if np.linalg.norm(linear) < np.linalg.norm(angular):
        return "turning the end effector in one direction is slow"
    hand = arm.linkage.frame(step.q, arm.links[0]).position
    outward = np.append(hand[:2], 0.0)
    outward /= max(float(np.linalg.norm(outward)), 1e-9)
    up = np.array([0.0, 0.0, 1.0])
    shares = np.abs(np.array([linear @ outward, linear @ np.cross(up, outward), linear @ up]))
    moves = ("moves in and out", "sideways moves", "moves up and down")
    return f"{moves[int(np.argmax(shares))]} are slow"
