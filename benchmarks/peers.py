"""The controllers that are compared in the gauntlet: supple, other libraries with their tunings, and two references.

Every peer has the same weights (pi / reach per metre, 1 per radian), the same joint and speed limits, and receives the
commands in its own type; the conversion is not timed. None of them takes an acceleration limit.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import math
import os
import tempfile
from typing import Any

import numpy as np

from supple import Goal, Solver, damping, method
from supple._solve import compilation
from supple.frame import Array, Frame
from supple.gauntlet import Arm, Factory, hazards, tracked
from supple.gauntlet.nearest_pose import nearest
from supple.joint import Kind

FAR = 300.0  # rad; used as a limit where a file must have one and the joint has none


def urdf(arm: Arm) -> str:
    """The arm as a URDF for all peers: no meshes, some mass for each link, joints j1, j2, ... in order."""
    linkage, count = arm.linkage, 0
    lines = [f'<robot name="{arm.name}"><mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>']
    lines.append(f'<link name="{linkage.root}"/>')
    for joint in linkage.joints:
        count += joint.dof
        kind = "prismatic" if joint.kind is Kind.PRISMATIC else "revolute" if joint.dof else "fixed"
        name = f"j{count}" if joint.dof else f"fixed_{joint.name}"
        xyz, rpy = _row(joint.location.position), _row(joint.location.to_fixed("xyz"))
        lines += [f'<link name="{joint.child}">{_MASS}</link>', f'<joint name="{name}" type="{kind}">']
        lines.append(f'<parent link="{joint.parent}"/><child link="{joint.child}"/><origin xyz="{xyz}" rpy="{rpy}"/>')
        if joint.dof:
            low, high, speed = max(joint.lower[0], -FAR), min(joint.upper[0], FAR), min(joint.speed[0], FAR)
            lines.append(f'<axis xyz="{_row(joint.axis)}"/><limit lower="{low!r}" upper="{high!r}"')
            lines.append(f'velocity="{speed!r}" effort="100"/>')
        lines.append("</joint>")
    return "\n".join([*lines, "</robot>"])


_MASS = """<inertial><origin xyz="0 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""


def _row(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


class Peer:
    """Base of the controllers: an arm and a tick, no state."""

    def __init__(self, arm: Arm, dt: float) -> None:
        self.arm, self.dt = arm, dt

    def reset(self, q: Array) -> None:
        pass

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        raise NotImplementedError


class Oracle(Peer):
    """Reference: the smallest weighted error within the speed and joint limits of each tick; it need not be smooth."""

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        arm, most = self.arm, self.arm.speed * dt
        low, high = np.maximum(arm.lower, q - most), np.minimum(arm.upper, q + most)
        return nearest(arm, q, command, low, high, iterations=6, curved=False)[0]


class Pseudoinverse(Peer):
    """Reference: the whole error in one step of the pseudo-inverse; no limits."""

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        return q + np.linalg.pinv(self.arm.linkage.jacobian(q, self.arm.link)) @ self.arm.error(q, command)


_NEAR = damping.Singularity
NAMED = {
    "ur5": (
        _NEAR.sine("j5", joints=("j2", "j3", "j4", "j6")),
        _NEAR.sine("j3", joints=("j2", "j3", "j4")),
        _NEAR.off_axis("j1", "l6", radius=0.10915, region=0.12, joints=("j1",)),
    ),
    "puma560": (
        _NEAR.bend("j5", joints=("j4", "j6")),
        _NEAR.bend("j3", 1.61768, joints=("j2", "j3")),
        _NEAR.off_axis("j1", "l5", radius=0.14909, region=0.12, joints=("j1",)),
    ),
}
"""Singularities of wrist and elbow, and the cylinder around the base axis."""


class Paper(Peer):
    """`damping.schinstock` as printed, without limits: damped least squares with dynamic weighting [D13-D17, D22-D30].

    Singularities are named for UR5 and Puma. For other arms equation [D19] is used, as the paper suggests.
    """

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        scheme = damping.schinstock(NAMED.get(arm.name, ()), as_printed=True)
        if arm.name not in NAMED:
            jacobian = arm.evaluate(hazards(arm, ["s1"])[0].start, np.eye(4))[1]
            below = 0.3 * float(np.prod(np.linalg.svd(jacobian, compute_uv=False)))
            scheme = damping.nakamura_hanafusa(below=below, as_printed=True) | damping.limits(as_printed=True)
        goal = Goal(arm.link, np.eye(4), weight=math.pi / arm.reach)
        solver = Solver(method=method.damped(), damping=scheme, keep_limits=False)
        self.compiled = compilation.compiled(arm.linkage, [goal], solver)
        self.memory = self.compiled.memory()

    def reset(self, q: Array) -> None:
        self.memory.reset()

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        numbers = np.concatenate([command[:3, :3].ravel(), command[:3, 3]])[None]
        return q + self.compiled.tick(q, numbers, dt, self.memory)[0]


class Pink(Peer):
    """pink's solve_ik with a FrameTask, as its documentation has it."""

    damped, posture = 0.0, 0.0

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        import pink
        import pinocchio as pin
        from pink.tasks import FrameTask, PostureTask

        logging.getLogger("pink").setLevel(logging.ERROR)
        self.pin, self.pink = pin, pink
        self.model = pin.buildModelFromXML(urdf(arm))
        self.data = self.model.createData()
        self.task = FrameTask(arm.link, position_cost=math.pi / arm.reach, orientation_cost=1.0, lm_damping=self.damped)
        self.tasks = [self.task]
        if self.posture:
            self.rest = PostureTask(cost=self.posture)
            self.tasks.append(self.rest)

    def prepare(self, frames: Array) -> list[Any]:
        return [self.pin.SE3(frame[:3, :3], frame[:3, 3]) for frame in frames]

    def reset(self, q: Array) -> None:
        self.at = self.pink.Configuration(self.model, self.data, q)
        if self.posture:
            self.rest.set_target(q)

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        self.at.update(q)
        self.task.set_target(command)
        return self.at.integrate(self.pink.solve_ik(self.at, self.tasks, dt, solver="daqp", damping=1e-12), dt)


class PinkExample(Pink):
    """pink with its example's tuning: lm_damping 1, posture 1e-3."""

    damped, posture = 1.0, 1e-3


class Mink(Peer):
    """mink with its example's tuning: lm_damping 1, damping 1e-3."""

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        import mink
        import mujoco

        self.mink = mink
        model = mujoco.MjModel.from_xml_string(urdf(arm))
        self.at = mink.Configuration(model)
        self.task = mink.FrameTask(
            arm.link, "body", position_cost=math.pi / arm.reach, orientation_cost=1.0, lm_damping=1.0
        )
        speeds = {f"j{i + 1}": min(v, FAR) for i, v in enumerate(arm.speed)}
        self.limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, speeds)]

    def prepare(self, frames: Array) -> list[Any]:
        turn, whole = self.mink.SO3.from_matrix, self.mink.SE3.from_rotation_and_translation
        return [whole(turn(frame[:3, :3]), frame[:3, 3]) for frame in frames]

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        self.at.update(q)
        self.task.set_target(command)
        velocity = self.mink.solve_ik(self.at, [self.task], dt, "daqp", 1e-3, limits=self.limits)
        return np.asarray(self.at.integrate(velocity, dt))


@contextlib.contextmanager
def urdf_file(arm: Arm) -> Any:
    """The arm as a file, for peers that do not read text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "arm.urdf")
        with open(path, "w") as file:
            file.write(urdf(arm))
        yield path


class Placo(Peer):
    """placo's KinematicsSolver with one soft frame task, speed and joint limits on."""

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        import placo

        with urdf_file(arm) as path:
            self.robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(True)
        self.task = self.solver.add_frame_task(arm.link, np.eye(4))
        self.task.configure(arm.link, "soft", (math.pi / arm.reach) ** 2, 1.0)  # its weights apply to squared errors
        self.solver.enable_velocity_limits(True)
        self.solver.enable_joint_limits(True)
        self.solver.dt = dt
        self.base = self.robot.state.q[:7].copy()

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        self.robot.state.q = np.concatenate([self.base, q])
        self.robot.update_kinematics()
        self.task.T_world_frame = command
        self.solver.solve(True)
        return np.array(self.robot.state.q[7:])


class Drake(Peer):
    """drake's DoDifferentialInverseKinematics, which keeps the direction of the end effector's velocity."""

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        from pydrake.multibody import inverse_kinematics as ik

        self.ik = ik
        self.parameters = ik.DifferentialInverseKinematicsParameters(arm.dof, arm.dof)
        self.parameters.set_time_step(dt)
        speed = np.minimum(arm.speed, FAR)
        self.parameters.set_joint_velocity_limits((-speed, speed))
        self.parameters.set_joint_position_limits((np.maximum(arm.lower, -FAR), np.minimum(arm.upper, FAR)))

    def reset(self, q: Array) -> None:
        self.velocity = np.zeros(self.arm.dof)

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        arm = self.arm
        self.parameters.set_nominal_joint_position(q)
        jacobian = arm.linkage.jacobian(q, arm.link)
        wanted = arm.error(q, command) / dt
        result = self.ik.DoDifferentialInverseKinematics(q, self.velocity, wanted, jacobian, self.parameters)
        if result.status == self.ik.DifferentialInverseKinematicsStatus.kNoSolutionFound:
            raise RuntimeError("no solution found")
        self.velocity = np.asarray(result.joint_velocities)
        return q + self.velocity * dt


class Ssik(Peer):
    """ssik's Tracker with the speed limits of the arm: continues one branch of the closed form, holds where it ends."""

    def __init__(self, arm: Arm, dt: float) -> None:
        super().__init__(arm, dt)
        import ssik

        self.ssik = ssik
        places, axes, here = [], [], arm.linkage.base
        for joint in arm.linkage.joints:
            here = here @ joint.location
            if joint.dof:
                places.append(here.matrix)
                axes.append(joint.axis)
                here = Frame()
        limits = np.clip(np.stack([arm.lower, arm.upper], axis=1), -FAR, FAR)
        self.made = ssik.Manipulator.from_transforms(np.stack([*places, here.matrix]), axes, limits=limits)

    def reset(self, q: Array) -> None:
        self.tick = 0
        self.tracker = self.ssik.Tracker(self.made, q, max_joint_speed=np.minimum(self.arm.speed, FAR), t0=0.0)

    def step(self, q: Array, command: Any, dt: float, stamp: float | None = None) -> Array:
        self.tick += 1
        return np.asarray(self.tracker.update(command, self.tick * dt).q)


NEEDS = {
    "pink": "pink",
    "pink example": "pink",
    "mink example": "mink",
    "placo": "placo",
    "drake": "pydrake",
    "ssik": "ssik",
}
"""The module that each controller needs."""
CONTROLLERS: dict[str, Factory] = {
    "supple": tracked(),
    "supple, no jerk bound": tracked(jerk=1e9),
    "paper": Paper,
    "pink": Pink,
    "pink example": PinkExample,
    "mink example": Mink,
    "placo": Placo,
    "drake": Drake,
    "ssik": Ssik,
    "clik-pinv": Pseudoinverse,
    "oracle": Oracle,
}
REFERENCES = ("clik-pinv", "oracle", "supple, no jerk bound")
"""Controllers that are only for reference."""


def missing(name: str) -> str:
    """The module that a controller needs and that cannot be imported; "" if it can run."""
    module = NEEDS.get(name)
    try:
        if module:
            importlib.import_module(module)
    except ImportError:
        return module or ""
    return ""
