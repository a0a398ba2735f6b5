"""Circles through singularities: where joint speeds stay within bounds the arm follows, beside pink and mink."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple import gauntlet
from supple.frame import Array
from supple.gauntlet.arms import arm_from_linkage
from supple.gauntlet.singularities import SingularPose, find_singular_poses, task_rank

from . import arms, motion
from .arms import Arm
from .report import Asked, Row

sys.path.insert(0, str(Path(__file__).parent.parent))
import peers

ARMS = ("panda", "ur5", "puma560", "iiwa14", "kinova", "xarm7", "z1", "tiago", "tiago_pro", "ur3", "centauro", "pr2")
QUICK = ("ur5", "kinova", "xarm7")
SPEEDS = (0.05, 0.2, 0.5)  # m/s
RATE = 300
STEPS = 720  # of a lap, to find what the exact motion needs
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
    circles = [c for number in asked.trials(6, 1) for c in made(arm, number)]
    rows = []
    for speed in SPEEDS:
        for within in (True, False):
            some = [c for c in circles if c.words.startswith(f"{100 * speed:g} cm/s") and (c.need <= 0.95) == within]
            if not some:
                continue
            found = [(_error(arm, c, asked), c) for c in some]
            (worst, circle) = max(found, key=lambda pair: pair[0])
            asking = [p for p in PEERS if (within or not asked.quick) and p in asked.peers and _has(p)]
            others = "; ".join(f"{p} {_of_peer(arm, some, p):.3g}" for p in asking)
            what = f"{100 * speed:g} cm/s, {'within' if within else 'beyond'} bounds, worst of {len(some)}"
            note = f"{circle.words}; need {circle.need:.2f}; worst mm of peers: {others or 'not run'}"
            rows.append(Row("circles", name, what, worst, "mm", FOLLOWED if within else None, note))
    return rows


def made(arm: Arm, number: int) -> list[Circle]:
    """Circles of one trial: one of each kind of singularity that the arm has, at each speed and miss."""
    known = arm_from_linkage(arm.linkage, arm.link)
    full = task_rank(known)
    rng = motion.random_of(arm, "circles", number)
    starts = np.array([motion.inside(arm, rng, 0.7) for _ in range(60)])
    found: dict[str, list[SingularPose]] = {}
    for place in find_singular_poses(known, full, starts):
        if (np.minimum(place.q - arm.low, arm.high - place.q) > 0.1).all():
            found.setdefault(_kind(arm, known, place, full), []).append(place)
    out = []
    for kind in KINDS:
        for miss in MISSES:
            for place in found.get(kind, [])[:4]:
                some = _circles(arm, place, kind, miss)
                out += some
                if some:
                    break
    return [Circle(c.kind, c.start, c.frames, c.need, f"{c.words}, trial {number}") for c in out]


def _kind(arm: Arm, known: Any, place: SingularPose, full: int) -> str:
    """Wrist: a turn is lost. Elbow: the way out from the first joint is lost. Shoulder: another way is lost."""
    left = np.linalg.svd(known.weights[:, None] * arm.linkage.jacobian(place.q, arm.link))[0][:, full - 1]
    if np.linalg.norm(left[3:]) > 0.7:
        return "wrist"
    out = arm.frames(place.q)[0, :3, 3]
    way = left[:3] / np.linalg.norm(left[:3])
    return "elbow" if abs(way @ out) > 0.7 * np.linalg.norm(out) else "shoulder"


def _circles(arm: Arm, place: SingularPose, kind: str, miss: float) -> list[Circle]:
    """Circles past a place, one for each speed; none if the exact motion leaves the joint limits."""
    here, radius = arm.frames(place.q)[0], RADIUS * arm.reach()
    out = np.random.default_rng(int(1e6 * abs(place.q[0]))).normal(size=3)
    if kind == "elbow":  # inside the sphere of full reach, touching it
        out = -here[:3, 3] + 0.1 * out
    out /= np.linalg.norm(out)
    side = np.cross(out, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side)
    centre = here[:3, 3] + (radius + miss) * out

    def at(angle: Array) -> Array:
        way = centre + radius * (-out * np.cos(angle)[:, None] + side * np.sin(angle)[:, None]) - here[:3, 3]
        return motion.moved(here[None], way, np.zeros(3))

    start = _led(arm, place.q, here, at(np.array([np.pi]))[0])
    exact = None if start is None else _exact(arm, start, at(np.pi + np.linspace(0, 2 * np.pi, STEPS)))
    if start is None or exact is None:
        return []
    made = []
    for speed in SPEEDS:
        time = np.arange(round((2 * np.pi * radius / speed + 1.0) * RATE)) / RATE
        angle = np.pi + np.cumsum(motion.smooth(time)) / RATE * speed / radius  # a second of speeding up
        words = f"{100 * speed:g} cm/s {kind}, misses by {1e3 * miss:g} mm"
        made.append(Circle(kind, start, at(angle), _need(arm, exact, speed / radius), words))
    return made


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


def _exact(arm: Arm, q: Array, frames: Array) -> Array | None:
    """Joint values (N, dof) that are exactly at frames; None if they leave the limits."""
    rows = []
    for frame in frames:
        q = q + np.clip(_step(arm, q, frame, 1e-5), -0.5, 0.5)
        rows.append(q)
    path = np.array(rows)
    return None if ((path < arm.low) | (path > arm.high)).any() else path


def _need(arm: Arm, path: Array, turn: float) -> float:
    """Greatest part of joint speed and of 15 rad/s2 that a path takes at `turn` radians a second round the circle."""
    step = 2 * np.pi / (STEPS - 1) / turn
    speed = np.abs(np.diff(path, axis=0)) / step / arm.linkage.speed
    return float(max(speed.max(), np.abs(np.diff(path, n=2, axis=0)).max() / step**2 / 15.0))


def _error(arm: Arm, circle: Circle, asked: Asked) -> float:
    """Largest error in millimetres."""
    follow = motion.tracker(arm, circle.start, {"acceleration": 15.0} | asked.options)
    q, _ = follow.replay(circle.frames[:, None], 1 / RATE)
    return float(1e3 * motion.far(arm, q, circle.frames[:, None]).max())


def _has(peer: str) -> bool:
    return not peers.missing(PEERS[peer])


def _of_peer(arm: Arm, circles: list[Circle], peer: str) -> float:
    """The worst error of a peer in millimetres; its steps are clipped to the joint limits and speeds."""
    known, worst = arm_from_linkage(arm.linkage, arm.link), 0.0
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
