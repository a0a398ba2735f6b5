"""The measured poses that followers share with a teleoperator in the same process, by the follower's id."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple


class Pose(NamedTuple):
    """What a follower measured."""

    t: float
    """When, in seconds of the monotonic clock."""
    motors: dict[str, float]
    """The number of each motor by its name, as LeRobot has it: degrees, and 0 to 100 for the gripper."""


_lock = threading.Lock()
_poses: dict[str, Pose] = {}


def share(follower: str | None, observation: Mapping[str, Any]) -> None:
    """Stores the values of the motors in an observation, those named ``*.pos``."""
    motors = {name.removesuffix(".pos"): float(value) for name, value in observation.items() if name.endswith(".pos")}
    with _lock:
        _poses[str(follower)] = Pose(time.monotonic(), motors)


def withdraw(follower: str | None) -> None:
    """Forgets a follower that has been disconnected."""
    with _lock:
        _poses.pop(str(follower), None)


def newest(follower: str | None) -> Pose | None:
    """The newest pose of a follower; without an id, of the only one that shares. None if there is none, or several."""
    with _lock:
        if follower is not None:
            return _poses.get(follower)
        return next(iter(_poses.values())) if len(_poses) == 1 else None


def followers() -> list[str]:
    """The ids of the followers that share their pose."""
    with _lock:
        return sorted(_poses)
