"""Limits of mimic joints, as limits of the joint that they follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from supple.joint import Joint, Kind


def narrowed(joints: Sequence[Joint]) -> list[Joint]:
    """The same joints, where the limits of each mimic also hold for the joint that it follows.

    A mimic has no value of its own, so a linkage has no use for its limits. Its value is gain x + offset: positions
    within its limits and speeds below its own are those of x within a narrower range. A range of no length stands for
    limits that are not given. Limits that leave no range contradict each other, and those of the mimic are dropped.
    """
    by_name = {joint.name: joint for joint in joints}
    sources = _sources(by_name)
    for joint in joints:
        source, gain, offset = sources[joint.name]
        if source != joint.name and gain != 0:
            by_name[source] = _within(by_name[source], joint, gain, offset)
    return list(by_name.values())


def _sources(joints: dict[str, Joint]) -> dict[str, tuple[str, float, float]]:
    """For each joint the one that has its value x, with gain and offset: its own value is gain x + offset."""
    found: dict[str, tuple[str, float, float]] = {}
    for name in joints:
        chain: list[str] = []
        pending: set[str] = set()
        while name not in found:
            mimic = joints[name].mimic
            if mimic is None or mimic.joint not in joints or name in pending:  # a cycle is refused later
                found[name] = name, 1.0, 0.0
                break
            chain.append(name)
            pending.add(name)
            name = mimic.joint
        for follower in reversed(chain):
            mimic = joints[follower].mimic
            if mimic is not None and follower not in found:
                source, gain, offset = found[mimic.joint]
                found[follower] = source, mimic.gain * gain, mimic.gain * offset + mimic.offset
    return found


def _within(source: Joint, mimic: Joint, gain: float, offset: float) -> Joint:
    """The source of a mimic whose value is gain x + offset, within the mimic's limits too."""
    if not source.dof or not mimic.speed:
        return source
    speed = (min(source.speed[0], mimic.speed[0] / abs(gain)),)
    low, high = sorted((limit - offset) / gain for limit in (mimic.lower[0], mimic.upper[0]))
    lower, upper = max(source.lower[0], low), min(source.upper[0], high)
    if source.kind is Kind.CONTINUOUS or not low < high or not lower < upper:
        return dataclasses.replace(source, speed=speed)
    rest = source.rest if lower <= source.rest[0] <= upper else ()
    return dataclasses.replace(source, lower=(lower,), upper=(upper,), speed=speed, rest=rest)
