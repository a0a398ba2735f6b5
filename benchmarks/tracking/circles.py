"""Circles through singularities: where joint speeds stay within bounds the arm follows, beside pink and mink."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple import gauntlet
from supple.frame import Array
from supple.gauntlet.arms import arm_of
from supple.gauntlet.singular import Place, places, rank

from . import arms, motion
from .arms import Arm
from .report import Asked, Row

sys.path.insert(0, str(Path(__file__).parent.parent))
import peers  # noqa: E402

ARMS = ("panda", "ur5", "puma560", "iiwa14", "kinova", "xarm7", "z1", "tiago", "tiago_pro", "ur3", "centauro", "pr2")
QUICK = ("ur5", "kinova", "xarm7")
SPEEDS = (0.05, 0.2, 0.5)  # m/s
RATE = 300
RADIUS = 0.1  # of the reach
MISSES = (0.0, 0.005, 0.02)  # m by which a circle misses the singular place
PEERS = {"pink": "pink example", "mink": "mink example"}
FOLLOWED = 1.0  # mm; a circle whose joint speeds and accelerations are within bounds must be followed to this
KINDS = ("shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class Circle:
    """A circle, travelled once at constant orientation from a start at rest."""

    kind: str
    start: Array
    frames: Array
    """(N, 4, 4), one for each tick."""
    need: float
    """Greatest part of a joint's speed or acceleration bound that the exact motion needs."""
    words: str


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: for each speed, the worst error on circles within bounds, and on the others."""
    arm = arms.get(name)
    # one number of a trial is one place of each kind
    circles = [c for number in asked.trials(6, 2) for c in made(arm, number)]
    rows = []
    for speed in SPEEDS:
        for within in (True, False):
            some = [c for c in circles if c.words.startswith(f"{100 * speed:g} cm/s") and (c.need <= 0.95) == within]
            if not some:
                continue
            found = [(_error(arm, c, asked), c) for c in some]
            (worst, circle) = max(found, key=lambda pair: pair[0])
            others = "; ".join(f"{p} {_of_peer(arm, some, p):.3g}" for p in PEERS if p in asked.peers and _has(p))
            what = f"{100 * speed:g} cm/s, {'within' if within else 'beyond'} bounds, worst of {len(some)}"
            note = f"{circle.words}; need {circle.need:.2f}; worst mm of peers: {others or 'not run'}"
            rows.append(Row("circles", name, what, worst, "mm", FOLLOWED if within else None, note))
    return rows


def made(arm: Arm, number: int) -> list[Circle]:
    """Circles of one trial: one of each kind of singularity that the arm has, at each speed and miss."""
    known = arm_of(arm.linkage, arm.link)
    full = rank(known)
    rng = motion.random_of(arm, "circles", number)
    starts = np.array([motion.inside(arm, rng, 0.7) for _ in range(60)])
    found: dict[str, list[Place]] = {}
    for place in places(known, full, starts):
        if (np.minimum(place.q - arm.low, arm.high - place.q) > 0.1).all():
            found.setdefault(_kind(arm, known, place, full), []).append(place)
    out = []
    for kind in KINDS:
        for miss in MISSES:
            for place in found.get(kind, [])[:8]:
                some = [_circle(arm, place, kind, miss, speed, rng) for speed in SPEEDS]
                if all(some):
                    out += [c for c in some if c]
                    break
    return [Circle(c.kind, c.start, c.frames, c.need, f"{c.words}, trial {number}") for c in out]


def _kind(arm: Arm, known: Any, place: Place, full: int) -> str:
    """Wrist: a turn is lost. Elbow: the way out from the first joint is lost. Shoulder: another way is lost."""
    left = np.linalg.svd(known.weights[:, None] * arm.linkage.jacobian(place.q, arm.link))[0][:, full - 1]
    if np.linalg.norm(left[3:]) > 0.7:
        return "wrist"
    out = arm.frames(place.q)[0, :3, 3]
    way = left[:3] / np.linalg.norm(left[:3])
    return "elbow" if abs(way @ out) > 0.7 * np.linalg.norm(out) else "shoulder"


def _circle(arm: Arm, place: Place, kind: str, miss: float, speed: float, rng: np.random.Generator) -> Circle | None:
    """A circle past a place, if the exact motion stays within joint limits; None otherwise."""
    here, radius = arm.frames(place.q)[0], RADIUS * arm.reach()
    out = np.random.default_rng(int(1e6 * abs(place.q[0]))).normal(size=3)
    if kind == "elbow":  # inside the sphere of full reach, touching it
        out = -here[:3, 3] + 0.1 * out
    out /= np.linalg.norm(out)
    side = np.cross(out, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side)
    centre = here[:3, 3] + (radius + miss) * out
    lap = 2 * np.pi * radius / speed
    time = np.arange(round((lap + 1.0) * RATE)) / RATE
    angle = np.pi + np.cumsum(motion.smooth(time)) / RATE * speed / radius  # a second of speeding up
    way = centre + radius * (-out * np.cos(angle)[:, None] + side * np.sin(angle)[:, None]) - here[:3, 3]
    frames = motion.moved(here[None], way, np.zeros(3))
    start = _led(arm, place.q, here, frames[0])
    if start is None:
        return None
    need = _needed(arm, start, frames)
    words = f"{100 * speed:g} cm/s {kind}, misses by {1e3 * miss:g} mm"
    return None if need is None else Circle(kind, start, frames, need, words)


def _led(arm: Arm, q: Array, here: Array, there: Array) -> Array | None:
    """Joint values at a frame, reached from q in small damped steps; None if it is not reached within limits."""
    path = motion.towards(here, there, np.linspace(0, 1, 100)[1:])
    for frame in [*path, *[path[-1]] * 100]:
        q = q + _step(arm, q, frame, 1e-3)
    inside = ((q > arm.low + 0.02) & (q < arm.high - 0.02)).all()
    arrived = np.linalg.norm(gauntlet.arms.difference(there, arm.frames(q)[0])) < 1e-4
    return q if inside and arrived else None


def _step(arm: Arm, q: Array, frame: Array, damping: float) -> Array:
    error = gauntlet.arms.difference(frame, arm.frames(q)[0])
    jacobian = arm.linkage.jacobian(q, arm.link)
    return np.asarray(jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping**2 * np.eye(6), error))


def _needed(arm: Arm, start: Array, frames: Array) -> float | None:
    """Greatest part of speed (and of 15 rad/s2) that the exact motion takes; None if it leaves the limits."""
    q, rows = start, [start, start]
    for frame in frames:
        q = q + np.clip(_step(arm, q, frame, 1e-5), -0.5, 0.5)
        rows.append(q)
    path = np.array(rows)
    if ((path < arm.low) | (path > arm.high)).any():
        return None
    velocity = np.diff(path, axis=0) * RATE
    acceleration = np.abs(np.diff(velocity, axis=0)).max() * RATE / 15.0
    return float(max((np.abs(velocity) / arm.linkage.speed).max(), acceleration))


def _error(arm: Arm, circle: Circle, asked: Asked) -> float:
    """Largest error in millimetres."""
    follow = motion.tracker(arm, circle.start, {"acceleration": 15.0} | asked.options)
    q, _ = follow.replay(circle.frames[:, None], 1 / RATE)
    return float(1e3 * motion.far(arm, q, circle.frames[:, None]).max())


def _has(peer: str) -> bool:
    return not peers.missing(PEERS[peer])


def _of_peer(arm: Arm, circles: list[Circle], peer: str) -> float:
    """The worst error of a peer in millimetres; its steps are clipped to the joint limits and speeds."""
    known, worst = arm_of(arm.linkage, arm.link), 0.0
    for circle in circles:
        loop: Any = peers.CONTROLLERS[PEERS[peer]](known, 1 / RATE)
        loop.reset(circle.start.copy())
        q, most, rows = circle.start.copy(), arm.linkage.speed / RATE, []
        goals = loop.prepare(circle.frames) if hasattr(loop, "prepare") else circle.frames
        for goal in goals:
            try:
                change = np.asarray(loop.step(q.copy(), goal, 1 / RATE)) - q
            except Exception:  # a peer that finds no answer stands still
                change = np.zeros_like(q)
            q = np.clip(q + np.clip(change, -most, most), arm.linkage.lower, arm.linkage.upper)
            rows.append(q)
        worst = max(worst, float(1e3 * motion.far(arm, np.array(rows), circle.frames[:, None]).max()))
    return worst
