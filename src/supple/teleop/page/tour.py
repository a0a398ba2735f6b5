"""Tour: five hazards for any arm, each a motion of the goal that begins and ends at the rest pose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from supple._linkage import reach as _reach
from supple.frame import Array, Frame
from supple.solver import Solver
from supple.teleop.methods import SUPPLE
from supple.teleop.page.arm import Arm
from supple.teleop.page.handles import Script

RATE = 300.0
"""Frames per second."""
CLEARANCE = 0.02
"""Distance at which the tour passes a singularity, in radians, or that fraction of the reach / pi."""


@dataclass(frozen=True)
class Hazard:
    """A motion of the goal that a controller may fail at."""

    name: str
    """One word, for a button."""
    title: str
    text: str
    """What to look for with the method of this library."""
    compare: str
    """What to look for with another method."""
    frames: Callable[[Arm], Array | None]
    """Frames (n, 4, 4) of the first end effector, `RATE` a second; None if the arm has no such hazard."""

    def note(self, method: str) -> str:
        """What to look for with a method of `METHODS`."""
        return self.text if method == SUPPLE else f"{self.compare} The method is {method}."

    def script(self, arm: Arm) -> Script | None:
        """The hazard as a script for an arm at rest."""
        frames = self.frames(arm)
        if frames is None:
            return None
        others = np.full((len(frames), len(arm.links) - 1, 4, 4), np.nan)
        return Script(np.concatenate([frames[:, None], others], axis=1), np.arange(len(frames)) / RATE)


def _past_reach(arm: Arm) -> Array:
    home, outward, _ = _directions(arm)
    base = _reach._measured(arm.linkage, arm.links[0])[1]
    from_base = home.position - base
    far = 1.3 * arm.size - float(from_base @ outward)
    out = Frame.at(far * outward) @ home
    return _join(_line(home, out, 2.5), _hold(out, 1.2), _line(out, home, 2.2), _hold(home, 1.0))


def _through_wrist(arm: Arm) -> Array | None:
    """Past the most singular q that one of the last four joints can reach, displaced in the lost direction."""
    linkage, link, rest = arm.linkage, arm.links[0], arm.linkage.rest
    lower, upper = np.maximum(linkage.lower, -np.pi), np.minimum(linkage.upper, np.pi)
    worst, path, lost = np.inf, None, np.zeros(6)
    for i in map(int, Arm(linkage, (link,)).columns[-4:]):
        margin = min(0.7, 0.25 * float(upper[i] - lower[i]))
        turned = np.repeat(rest[None], 121, axis=0)
        turned[:, i] = np.linspace(lower[i] + margin, upper[i] - margin, 121)
        least, directions = _least_singular_value(arm, turned)
        k = int(np.argmin(least + 1e-3 * np.abs(turned[:, i] - rest[i])))  # of several equal ones the nearest
        if least[k] < worst - 1e-6:
            side = 1.0 if rest[i] >= turned[k, i] else -1.0
            worst, lost = float(least[k]), directions[k]
            path = np.repeat(rest[None], int(RATE * 2), axis=0)
            path[:, i] = turned[k, i] + side * margin * (1 - 2 * _ease(len(path)))
    if path is None:
        return None
    frames = linkage.frame(path, link)
    near = Frame.at(
        frames.position + CLEARANCE * lost[:3] * arm.size / np.pi, Frame.rotvec(CLEARANCE * lost[3:]) @ frames
    )
    there, home = near.matrix, linkage.frame(rest, link)
    to, back = _line(home, Frame(there[0]), 2.0), _line(Frame(there[0]), home, 2.0)
    return _join(to, there, there[::-1], back, _hold(home, 1.0))


def _into_limit(arm: Arm) -> Array | None:
    """Where a joint without its limit would move the end effector: of the nearest limit that the others cannot avoid.

    Motions that stay away from the base are preferred: there the hand would be inside it.
    """
    linkage, rest, link = arm.linkage, arm.linkage.rest, arm.links[0]
    base = _reach._measured(linkage, link)[1]
    paths: list[tuple[int, float, Array]] = []
    for i in map(int, Arm(linkage, (link,)).columns):
        for limit, sign in ((linkage.lower[i], -1.0), (linkage.upper[i], 1.0)):
            far = abs(float(limit) - float(rest[i]))
            if np.isfinite(far):
                turned = np.repeat(rest[None], int(RATE * 3), axis=0)
                turned[:, i] += sign * _ease(len(turned)) * (far + 0.35 * min(far, 1.0) + 0.15)
                there = linkage.frame(turned, link).matrix
                away = np.linalg.norm((there[:, :3, 3] - base)[:, :2], axis=-1).min()
                paths.append((-int(min(away / arm.size, 0.3) / 0.1), far, there))
    if not paths:
        return None
    paths.sort(key=lambda path: path[:2])
    there = next((path[2] for path in paths if _meets_limit(arm, path[2])), paths[0][2])
    return _join(there, _hold(Frame(there[-1]), 1.2), there[::-1], _hold(Frame(there[0]), 1.0))


def _meets_limit(arm: Arm, frames: Array) -> bool:
    """Whether a joint reaches its limit when the first end effector follows frames (n, 4, 4)."""
    tracker = Solver().track(arm.linkage, list(arm.goals))
    others = list(arm.frames(arm.linkage.rest)[1:])
    return any((np.abs(tracker.step([frame, *others], 1 / RATE).sides) == 1).any() for frame in frames)


def _too_fast(arm: Arm) -> Array:
    home, _, aside = _directions(arm)
    t = np.arange(int(RATE * 4.5)) / RATE
    swing = 0.2 * arm.size * np.sin(2 * np.pi * (0.4 * t + 0.15 * t * t)) * np.minimum(1, (4.5 - t) / 0.5)
    frames = np.repeat(home.matrix[None], len(t), axis=0)
    frames[:, :3, 3] += swing[:, None] * aside
    return _join(frames, _hold(home, 1.5))


def _jump(arm: Arm) -> Array:
    home, outward, aside = _directions(arm)
    there = Frame.at(0.3 * arm.size * (aside - 0.2 * outward)) @ home
    return _join(_hold(home, 0.8), _hold(there, 1.8), _hold(home, 1.8))


HAZARDS = (
    Hazard(
        "reach",
        "push past reach",
        "The handle moves out of reach. The arm stretches towards it, stops, shows the remaining distance, and returns "
        "along the same path.",
        "The handle moves out of reach. Does the arm stretch without shaking, and come back the same way?",
        _past_reach,
    ),
    Hazard(
        "wrist",
        "through the wrist singularity",
        "Two joint axes line up, and the end effector cannot move in one direction. The arm does not try to, and the "
        "joints stay slow.",
        "Two joint axes line up, and the end effector cannot move in one direction. Do joints turn fast here?",
        _through_wrist,
    ),
    Hazard(
        "limit",
        "into a joint limit",
        "A joint reaches its limit and is shown in violet. The other joints go on as well as they can.",
        "A joint reaches its limit and is shown in violet. Do the others go on, and does it leave the limit again?",
        _into_limit,
    ),
    Hazard(
        "speed",
        "faster than it can",
        "The handle moves faster than the joints may. The arm lags, keeps all limits, and catches up.",
        "The handle moves faster than the joints may. Does the arm keep to the path, and catch up?",
        _too_fast,
    ),
    Hazard(
        "jump",
        "a jump and back",
        "The goal jumps, and jumps back. The arm follows as fast as its limits allow, without overshoot.",
        "The goal jumps, and jumps back. Does the arm overshoot?",
        _jump,
    ),
)
"""In the order of the tour."""


def _directions(arm: Arm) -> tuple[Frame, Array, Array]:
    """The end effector at rest, the horizontal direction (3,) from the base to it, and the one across.

    For a planar arm both lie in its plane.
    """
    home = arm.linkage.frame(arm.linkage.rest, arm.links[0])
    flat = (home.position - _reach._measured(arm.linkage, arm.links[0])[1]) * arm.axes[0]
    if arm.axes[0][0] or arm.axes[0][1]:
        flat[2] = 0.0
    length = float(np.linalg.norm(flat))
    outward = flat / length if length > 1e-6 * arm.size else np.eye(3)[int(np.argmax(arm.axes[0]))]
    aside = np.cross([0.0, 0.0, 1.0], outward) * arm.axes[0]
    return home, outward, aside if np.linalg.norm(aside) > 0.5 else outward


def _least_singular_value(arm: Arm, q: Array) -> tuple[Array, Array]:
    """Least singular value (n,) of the first end effector's Jacobian at q (n, dof), and its direction (n, 6).

    Lengths are divided by reach / pi, to compare them with angles.
    """
    rows = arm.linkage.jacobian(q, arm.links[0]) / np.repeat([arm.size / np.pi, 1.0], 3)[:, None]
    used = np.flatnonzero([*arm.axes[0], *[arm.turns[0]] * 3])
    u, values, _ = np.linalg.svd(rows[:, used], full_matrices=False)
    directions = np.zeros((len(q), 6))
    directions[:, used] = u[..., -1]
    return values[:, -1], directions


def _ease(count: int) -> Array:
    u = np.linspace(0.0, 1.0, count)
    eased: Array = u * u * u * (10 - 15 * u + 6 * u * u)
    return eased


def _line(start: Frame, end: Frame, seconds: float) -> Array:
    """A straight motion from one frame to another, smooth at both ends."""
    u = _ease(int(RATE * seconds))[:, None]
    turn = (start.inverse() @ end).to_rotvec()
    return (Frame.at(start.position + u * (end.position - start.position), start) @ Frame.rotvec(u * turn)).matrix


def _hold(frame: Frame, seconds: float) -> Array:
    return np.repeat(frame.matrix[None], int(RATE * seconds), axis=0)


def _join(*parts: Array) -> Array:
    return np.concatenate(parts)
