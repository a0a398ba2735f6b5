"""pink, mink and placo on several end effectors at once, with the tunings that peers.py states for one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.frame import Array

from .arms import Arm

sys.path.insert(0, str(Path(__file__).parent.parent))
import peers


@dataclass(frozen=True)
class Loop:
    """A peer at work."""

    tick: Callable[[Any], Any]
    """One tick, for frames (links, 4, 4)."""
    values: Callable[[], Array]
    """Where it is: joint values (dof,) in the order of our linkage. Pinocchio's order is another one."""


def pink_of(arm: Arm, start: Array, dt: float) -> Loop:
    """A tick of pink for frames (links, 4, 4)."""
    import pink
    import pinocchio as pin
    from pink.tasks import FrameTask, PostureTask

    model = pin.buildModelFromXML(peers.urdf(arm))  # type: ignore[arg-type]
    places = [model.joints[model.getJointId(f"j{i + 1}")].idx_q for i in range(arm.linkage.dof)]
    begin = np.empty(model.nq)
    begin[places] = start
    at = pink.Configuration(model, model.createData(), begin)
    tasks = [
        FrameTask(link, position_cost=math.pi / arm.reach(k), orientation_cost=1.0, lm_damping=1.0)
        for k, link in enumerate(arm.links)
    ]
    rest = PostureTask(cost=1e-3)
    rest.set_target(begin)

    def tick(frames: Array) -> None:
        for task, frame in zip(tasks, frames, strict=True):
            task.set_target(pin.SE3(frame[:3, :3], frame[:3, 3]))
        velocity = pink.solve_ik(at, [*tasks, rest], dt, solver="daqp", damping=1e-12)
        q = np.clip(at.integrate(velocity, dt), model.lowerPositionLimit, model.upperPositionLimit)
        at.update(q)

    return Loop(tick, lambda: np.asarray(at.q)[places])


def mink_of(arm: Arm, start: Array, dt: float) -> Loop:
    """A tick of mink."""
    import mink
    import mujoco

    model = mujoco.MjModel.from_xml_string(peers.urdf(arm))  # type: ignore[arg-type]
    at = mink.Configuration(model)
    at.update(start)
    tasks = [
        mink.FrameTask(link, "body", position_cost=math.pi / arm.reach(k), orientation_cost=1.0, lm_damping=1.0)
        for k, link in enumerate(arm.links)
    ]
    speeds = {f"j{i + 1}": min(v, peers.FAR) for i, v in enumerate(arm.linkage.speed)}
    limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)]

    def tick(frames: Array) -> None:
        for task, frame in zip(tasks, frames, strict=True):
            turn = mink.SO3.from_matrix(frame[:3, :3])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, frame[:3, 3]))
        at.update(at.integrate(mink.solve_ik(at, tasks, dt, "daqp", 1e-3, limits=limits), dt))

    return Loop(tick, lambda: np.asarray(at.q))


def placo_of(arm: Arm, start: Array, dt: float) -> Loop:
    """A tick of placo."""
    import placo

    with peers.urdf_file(arm) as path:  # type: ignore[arg-type]
        robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    tasks = []
    for k, link in enumerate(arm.links):
        task = solver.add_frame_task(link, np.eye(4))
        task.configure(link, "soft", (math.pi / arm.reach(k)) ** 2, 1.0)
        tasks.append(task)
    solver.enable_velocity_limits(True)
    solver.enable_joint_limits(True)
    solver.dt = dt
    names = [f"j{i + 1}" for i in range(arm.linkage.dof)]
    for name, value in zip(names, start, strict=True):
        robot.set_joint(name, value)

    def tick(frames: Array) -> None:
        robot.update_kinematics()
        for task, frame in zip(tasks, frames, strict=True):
            task.T_world_frame = frame
        solver.solve(True)

    return Loop(tick, lambda: np.array([robot.get_joint(name) for name in names]))


PEERS: dict[str, Callable[[Arm, Array, float], Loop]] = {"pink": pink_of, "mink": mink_of, "placo": placo_of}
