"""RobotKinematics of supple and of LeRobot (placo) in LeRobot's own processor steps: an SO-101 at 30 Hz.

    python benchmarks/lerobot_kinematics.py            # Python 3.12 with lerobot 0.6 and placo; a few minutes

The steps are those of LeRobot's phone example: EEReferenceAndDelta, EEBoundsAndSafety, GripperVelocityToJoint and
InverseKinematicsEEToJoints. Each kinematics gets the same streams of 12 s and an arm that is where it was sent
("exact") or follows 60 ms late ("late"). Measured are the commanded joints:

    largest step      between two calls, in degrees
    reversals         a joint steps by more than 0.2 degrees one way and then the other
    error             of the position beyond the best that any joint values reach, largest and mean, in mm

placo runs as shipped and tuned: kinematics refreshed before each solve, speed limits on, and the best of a grid of
regularisations and orientation weights, with one solve a call and with four. "Best" is the smallest mean error out of
reach among those with at most 0.2 mm inside reach; the smallest largest error chooses the same. The grid uses streams
of other seeds than the table. supple runs with its defaults and with a higher acceleration limit.

The program ends with 1 if supple is not ahead of tuned placo out of reach (largest step, reversals, largest and mean
error), or inside reach has an error above 0.2 mm or more than 0.05 mm above that of placo.
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections.abc import Callable
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

import supple
from supple import Goal
from supple.integrations.lerobot import RobotKinematics
from supple.teleop import SimulatedArm

FPS, SECONDS, LINK = 30.0, 12.0, "gripper_frame_link"
JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll"]
MOTORS = [*JOINTS, "gripper"]
TUNING, JUDGING = range(4), range(100, 110)  # seeds
REVERSAL = 0.2  # degrees
LAG = 0.06  # s, of the late arm
ARM = supple.models.so101()


class Stream(NamedTuple):
    """Commands of an operator."""

    kind: str
    start: np.ndarray
    """Angles of the motors (6,), in degrees."""
    moved: np.ndarray
    """Position of the goal from that of the start (ticks, 3), in metres."""
    turned: np.ndarray
    """Rotation vector in the axes of the start (ticks, 3), in radians."""
    best: np.ndarray
    """Distance that is left at the best joint values (ticks,), in metres."""


class Result(NamedTuple):
    """Measures of a run."""

    step: float
    reversals: int
    error: float
    mean: float


# -- streams ----------------------------------------------------------------------------------------------------------


def wave(rng: np.random.Generator, sizes: tuple[float, ...], fastest: float = 0.4) -> np.ndarray:
    """A smooth random motion (ticks, n) that begins at 0: four sines each, of up to ``fastest`` Hz."""
    t = np.arange(round(SECONDS * FPS))[:, None] / FPS
    found = np.zeros((len(t), len(sizes)))
    for _ in range(4):
        frequency, phase = rng.uniform(0.05, fastest, len(sizes)), rng.uniform(0, 2 * np.pi, len(sizes))
        found += np.sin(2 * np.pi * frequency * t + phase) - np.sin(phase)
    return found * np.array(sizes) / 4 * smooth(t / 0.5)


def smooth(u: np.ndarray) -> np.ndarray:
    """From 0 to 1 while u goes from 0 to 1."""
    u = np.clip(u, 0, 1)
    return u * u * (3 - 2 * u)


def inside(rng: np.random.Generator, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return wave(rng, (0.06, 0.08, 0.06)), wave(rng, (0.2, 0.2, 0.2))


def wrist_turning(rng: np.random.Generator, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return wave(rng, (0.01, 0.01, 0.01)), wave(rng, (1.0, 1.0, 1.0))


def out_of_reach(rng: np.random.Generator, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twice straight out to 0.2 to 0.4 m beyond the reach, with some motion to the sides, and back."""
    t = np.arange(round(SECONDS * FPS)) / FPS
    out = sum(smooth((t - at) / 1.5) - smooth((t - at - 3.5) / 1.5) for at in (0.5, 6.5))
    way = start / np.linalg.norm(start) + [0, 0, rng.uniform(-0.2, 0.6)]
    length = ARM.reach(LINK) + rng.uniform(0.2, 0.4) - np.linalg.norm(start)
    return out[:, None] * way / np.linalg.norm(way) * length + wave(rng, (0.03, 0.1, 0.1)), wave(rng, (0.3, 0.3, 0.3))


def over_the_base(rng: np.random.Generator, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Back and forth past the axis of the shoulder, 0 to 4 cm beside it, 20 to 35 cm above the table."""
    t = np.arange(round(SECONDS * FPS)) / FPS
    there = smooth((t - 0.5) / 2.5) - smooth((t - 4.0) / 2.5) + smooth((t - 7.0) / 2.0) - smooth((t - 9.5) / 2.0)
    end = np.array([-rng.uniform(0.05, 0.15), rng.uniform(-0.04, 0.04), rng.uniform(0.2, 0.35)])
    return there[:, None] * (end - start) + wave(rng, (0.01, 0.01, 0.01)), wave(rng, (0.2, 0.2, 0.2))


KINDS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "inside reach": inside,
    "wrist turning": wrist_turning,
    "out of reach": out_of_reach,
    "over the base": over_the_base,
}


def make_stream(kind: str, seed: int) -> Stream:
    """The stream of a seed; inside reach, the first one whose commands are all reached with 1 cm to spare."""
    for again in itertools.count():
        rng = np.random.default_rng([sorted(KINDS).index(kind), seed, again])
        bent = dict(zip(JOINTS, rng.normal([0, -0.3, 0.6, 0.6, 0], [0.3, 0.2, 0.2, 0.2, 0.3]), strict=True))
        q = ARM.q(bent)
        begin = ARM.frame(q, LINK).position
        moved, turned = KINDS[kind](rng, begin)
        best = supple.solve(ARM, Goal(LINK, position=begin + moved)).distance[..., 0]
        if kind in ("inside reach", "wrist turning"):
            spare = supple.solve(ARM, Goal(LINK, position=(begin + moved) * (1 + 0.01 / np.linalg.norm(begin))))
            if max(best.max(), spare.distance.max()) > 1e-4:
                continue
        return Stream(kind, np.append(np.degrees(q[:5]), 40.0), moved, turned, best)
    raise AssertionError


# -- LeRobot ----------------------------------------------------------------------------------------------------------


def tuned_placo(path: str, regularisation: float, orientation: float, solves: int) -> Any:
    """LeRobot's class with kinematics refreshed before each solve, speed limits and regularisation."""
    from lerobot.model.kinematics import RobotKinematics as Shipped

    class Tuned(Shipped):
        def __init__(self) -> None:
            super().__init__(path, LINK, JOINTS)
            self.solver.dt = 1 / FPS / solves
            self.solver.enable_velocity_limits(True)
            self.solver.enable_joint_limits(True)
            if regularisation:
                self.solver.add_regularization_task(regularisation)

        def inverse_kinematics(self, current: Any, pose: Any, position_weight: float = 1.0, *_: Any, **__: Any) -> Any:
            for _ in range(solves):
                self.forward_kinematics(current)  # refreshes the kinematics at these joint values
                current = super().inverse_kinematics(current, pose, position_weight, orientation)
            return current

    return Tuned()


def pipeline(kinematics: Any) -> Any:
    """LeRobot's steps from an operator's motion to joint targets, as in its phone example."""
    from lerobot.processor import RobotProcessorPipeline
    from lerobot.processor.converters import robot_action_observation_to_transition, transition_to_robot_action
    from lerobot.robots.so_follower import robot_kinematic_processor as steps

    far = {"min": [-2.0] * 3, "max": [2.0] * 3}
    made = [
        steps.EEReferenceAndDelta(kinematics, {"x": 1.0, "y": 1.0, "z": 1.0}, MOTORS),
        steps.EEBoundsAndSafety(far, max_ee_step_m=0.2),
        steps.GripperVelocityToJoint(),
        steps.InverseKinematicsEEToJoints(kinematics, MOTORS),
    ]
    return RobotProcessorPipeline(
        steps=made, to_transition=robot_action_observation_to_transition, to_output=transition_to_robot_action
    )


def run(kinematics: Any, stream: Stream, late: bool) -> Result:
    """The measures of one kinematics on one stream."""
    steps, motors, sent, now = pipeline(kinematics), stream.start.copy(), [stream.start], 0.0
    arm = SimulatedArm(ARM, joint_values(motors), lag=LAG, clock=lambda: now)
    for moved, turned in zip(stream.moved, stream.turned, strict=True):
        names = ("target_x", "target_y", "target_z", "target_wx", "target_wy", "target_wz")
        action = {"enabled": 1.0, "gripper_vel": 0.0, **dict(zip(names, [*moved, *turned], strict=True))}
        observation = {f"{name}.pos": value for name, value in zip(MOTORS, motors, strict=True)}
        action = steps((action, observation))
        sent.append(np.array([action[f"{name}.pos"] for name in MOTORS]))
        motors = sent[-1].copy()
        if late:
            arm.write(ARM.clamp(joint_values(motors)))
            now += 1 / FPS
            motors[:5] = np.degrees(arm.read()[:5])
    return measured(stream, np.array(sent))


def joint_values(motors: np.ndarray) -> np.ndarray:
    """Joint values (..., 6) in radians for angles of the motors (..., 6) in degrees, with the gripper at rest."""
    q = np.radians(motors)
    q[..., 5] = ARM.rest[5]
    return q


def measured(stream: Stream, sent: np.ndarray) -> Result:
    """The measures of commanded angles (ticks + 1, 6), the first of which is the start."""
    steps = np.diff(sent[:, :5], axis=0)
    positions = ARM.frame(joint_values(sent), LINK).position
    distance = np.linalg.norm(positions[1:] - positions[0] - stream.moved, axis=1)
    beyond = 1e3 * np.maximum(distance - stream.best, 0)
    turns = (steps[1:] * steps[:-1] < 0) & (np.minimum(abs(steps[1:]), abs(steps[:-1])) > REVERSAL)
    return Result(float(abs(steps).max()), int(turns.sum()), float(beyond.max()), float(beyond.mean()))


def together(results: list[Result]) -> Result:
    """Largest step and error, mean reversals and mean error of several runs."""
    table = np.array(results)
    return Result(*(float(x) for x in (table[:, 0].max(), table[:, 1].mean(), table[:, 2].max(), table[:, 3].mean())))


# -- tuning and judging -----------------------------------------------------------------------------------------------


def tune(path: str, solves: int) -> dict[str, float]:
    """The tuning of placo with the smallest mean error out of reach, of those within 0.2 mm inside reach."""
    streams = {kind: [make_stream(kind, seed) for seed in TUNING] for kind in ("inside reach", "out of reach")}
    found = []
    for regularisation, orientation in itertools.product((0.0, 1e-5, 1e-4, 1e-3, 1e-2), (1e-5, 1e-4, 2e-4, 1e-3, 1e-2)):
        options = {"regularisation": regularisation, "orientation": orientation, "solves": solves}
        within, beyond = (
            together([run(tuned_placo(path, **options), stream, False) for stream in streams[kind]]) for kind in streams
        )
        found.append((within.error > 0.2, beyond.mean, options))
    return min(found, key=lambda one: one[:2])[2]


def main() -> int:
    logging.disable(logging.WARNING)
    from lerobot.model.kinematics import RobotKinematics as Shipped

    with resources.as_file(resources.files("supple") / "data" / "so101.urdf") as file:
        path = str(file)
        one, four = tune(path, 1), tune(path, 4)
        makers: dict[str, Callable[[], Any]] = {
            "placo, as shipped": lambda: Shipped(path, LINK, JOINTS),
            "placo, tuned": lambda: tuned_placo(path, **one),
            "placo, tuned, 4 solves": lambda: tuned_placo(path, **four),
            "supple": lambda: RobotKinematics(path, LINK, JOINTS),
            "supple, 100 rad/s^2": lambda: RobotKinematics(path, LINK, JOINTS, acceleration=100.0),
        }
        print(f"tuned: {one}\n4 solves: {four}")
        table = judge(makers)
    return report(table)


def judge(makers: dict[str, Callable[[], Any]]) -> dict[tuple[str, str, bool], Result]:
    """Measures by kind of stream, kinematics and whether the arm is late; prints them."""
    table = {}
    print(f"{'':14} {'':6} {'':24} {'step deg':>9} {'reversals':>9} {'error mm':>9} {'mean mm':>9}")
    for kind, late in itertools.product(KINDS, (False, True)):
        streams = [make_stream(kind, seed) for seed in JUDGING]
        for name, make in makers.items():
            found = table[kind, name, late] = together([run(make(), stream, late) for stream in streams])
            numbers = f"{found.step:9.1f} {found.reversals:9.1f} {found.error:9.3f} {found.mean:9.4f}"
            print(f"{kind:14} {'late' if late else 'exact':6} {name:24} {numbers}", flush=True)
    return table


def report(table: dict[tuple[str, str, bool], Result]) -> int:
    """Prints what is not as it must be; 1 if there is any."""
    wrong = []
    for late in (False, True):
        for kind in ("inside reach", "wrist turning"):
            ours, theirs = table[kind, "supple", late], table[kind, "placo, tuned", late]
            if ours.error > min(0.2, theirs.error + 0.05):
                wrong.append(f"{kind}, late={late}: {ours.error:.3f} mm, placo {theirs.error:.3f} mm")
        ours, theirs = table["out of reach", "supple", late], table["out of reach", "placo, tuned", late]
        behind = [
            name for name in ("step", "reversals", "error", "mean") if not getattr(ours, name) < getattr(theirs, name)
        ]
        wrong += [f"out of reach, late={late}: {name}" for name in behind]
    print("\n".join(wrong) or "ahead of tuned placo out of reach; as exact inside reach")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
