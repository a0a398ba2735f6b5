"""Four cases in which the tracker misbehaved once, each exactly as it was found."""

from __future__ import annotations

import numpy as np

import supple
from supple import Frame, Solver
from supple.frame import Array

from . import arms, motion
from .report import Asked, Row

ARMS = ("panda", "ur5", "g1_2")
QUICK = ARMS
AT_REST = 1e-6  # rad/s
PANDA = [-1.706777654298727, -0.8150674981264724, -2.1553409950651226, -1.697490933974408]
PANDA += [1.054185105645407, 1.1240977791337259, 2.2208968339887836]
OUT_OF_REACH = np.array(
    [
        [0.963411128036448, 0.25743604176483864, 0.07460350377824478, -0.8723125833089249],
        [-0.1716099215201761, 0.37865672305129433, 0.9094883841610589, 0.3915230225631471],
        [0.2058859713807071, -0.8890139315491673, 0.4089806796171611, 0.48991242985416467],
        [0, 0, 0, 1],
    ]
)
UR5 = {"shoulder_pan_joint": 0.0, "shoulder_lift_joint": -1.2, "elbow_joint": 1.5}
UR5 |= {"wrist_1_joint": -1.2, "wrist_2_joint": -1.4, "wrist_3_joint": 0.3}
G1 = {"left_elbow_joint": 0.8, "right_elbow_joint": 0.8, "left_shoulder_roll_joint": 0.3}
G1 |= {"right_shoulder_roll_joint": -0.3}


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm."""
    return {"panda": _never_rests, "ur5": _swings_and_trembles, "g1_2": _flails}[name](asked)


def _fastest(q: Array, rate: int) -> float:
    return float(np.abs(np.diff(q, axis=0)).max() * rate)


def _never_rests(asked: Asked) -> list[Row]:
    """01: one jump out of reach, then rest; with and without the finger."""
    whole, link = supple.models.panda(), "panda_hand_tcp"
    worst = (0.0, "")
    for chain in (whole.part(whole.root, link), whole):
        start = np.zeros(chain.dof)
        start[:7] = PANDA
        for rate in (125, 200, 250, 300, 500, 1000):
            follow = Solver().track(chain, link, start=start, **motion.known(asked.options))
            motion.hold(follow, chain.frame(start, link).matrix[None], 0.2, rate)
            q, _ = motion.hold(follow, OUT_OF_REACH[None], 12, rate)
            worst = max(worst, (_fastest(q[-2 * rate :], rate), f"{rate} Hz, {chain.dof} joints"))
    return [Row("cases", "panda", "01 never rests: joint speed 10 s later", worst[0], "rad/s", AT_REST, worst[1])]


def _swings_and_trembles(asked: Asked) -> list[Row]:
    """02: 3 degrees past the limit of the base. 03: tremor at every tick."""
    arm, rate = arms.get("ur5"), 300
    start = arm.linkage.q(UR5)
    here = arm.frames(start)
    angles = np.minimum(0.3 / rate * np.arange(1, 24 * rate + 1), arm.linkage.upper[0] + np.radians(3))
    commands = Frame.turn([0, 0, 1], angles).matrix[:, None] @ here
    q, status = motion.tracker(arm, start, asked.options).replay(commands, 1 / rate)
    distance = 1e3 * motion.far(arm, q, commands)[status != motion.RETURNING].max()
    rows = [Row("cases", "ur5", "02 swings round by itself: distance", float(distance), "mm", 50.0, "24 s at 300 Hz")]
    rng = np.random.default_rng(0)
    frequency, phase = rng.uniform(7, 12, (6, 3)), rng.uniform(0, 6.28, (6, 3))
    for rate in (300, 1000):
        time = np.arange(10 * rate) / rate
        wave = np.sin(2 * np.pi * frequency * time[:, None, None] + phase).mean(2) * np.clip(time, 0, 1)[:, None]
        commands = motion.moved(here[None], 5e-4 * wave[:, None, :3], np.radians(0.2) * wave[:, None, 3:])
        for bound in (3, 5, 8, 15, 50):
            follow = motion.tracker(arm, start, asked.options | {"acceleration": bound})
            q, _ = follow.replay(commands, 1 / rate)
            own, hand = arm.frames(q)[2 * rate :, 0, :3, 3], commands[2 * rate :, 0, :3, 3]
            ratio = np.linalg.norm(np.ptp(own, axis=0)) / np.linalg.norm(np.ptp(hand, axis=0))
            what = f"03 tremor, {rate} Hz, {bound} rad/s2: arm / command"
            rows.append(Row("cases", "ur5", what, float(ratio), "", 1.02))
    return rows


def _flails(asked: Asked) -> list[Row]:
    """04: the right command goes away in 2 s and rests; three of the moves that never ended."""
    g1, links = supple.models.g1(), ["left_rubber_hand", "right_rubber_hand"]
    start, rng, worst = g1.q(G1), np.random.default_rng(0), (0.0, "")
    left, right = (g1.frame(start, link).matrix for link in links)
    for number in range(14):
        way = rng.normal(size=3)
        way *= rng.uniform(0.2, 0.9) / np.linalg.norm(way)
        turn = rng.normal(size=3) * 0.4
        if number not in (3, 8, 13):
            continue
        for rate in (300, 1000):
            u = motion.smooth(np.arange(2 * rate + 1) / (2 * rate))[:, None]
            moved = motion.moved(right[None], u * np.round(way, 3), u * np.round(turn, 3))
            commands = np.stack([np.broadcast_to(left, moved.shape), moved], axis=1)
            follow = Solver().track(g1, links, start=start, **motion.known(asked.options))
            follow.replay(commands, 1 / rate)
            q, _ = motion.hold(follow, commands[-1], 12, rate)
            worst = max(worst, (_fastest(q[-2 * rate :], rate), f"{rate} Hz, move {number}"))
    return [Row("cases", "g1_2", "04 flails: joint speed 10 s later", worst[0], "rad/s", AT_REST, worst[1])]
