"""A retargeting loop with mink: the same tasks, a quadratic program for each frame."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from supple import Linkage, Motion
from supple.animate import Retarget
from supple.animate.body import SIDES
from supple.animate.pose_targets import PoseTargets
from supple.frame import Array, Frame
from supple.joint import Joint, Kind


def mjcf(linkage: Linkage) -> str:
    """A linkage as MJCF: bodies and joints, with small masses; limits of hinges alone."""
    children: dict[str, list[Joint]] = {}
    for joint in linkage.joints:
        children.setdefault(joint.parent, []).append(joint)

    def numbers(row: Any) -> str:
        return " ".join(f"{float(x):.17g}" for x in row)

    def body(joint: Joint) -> str:
        at = joint.location
        text = f'<body name="{joint.child}" pos="{numbers(at.position)}" quat="{numbers(at.to_quaternion())}">'
        text += '<inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>'
        if joint.kind is Kind.FLOATING:
            text += f'<freejoint name="{joint.name}"/>'
        elif joint.kind is Kind.BALL:
            text += f'<joint name="{joint.name}" type="ball"/>'
        elif joint.dof:
            limits = f'limited="true" range="{joint.lower[0]} {joint.upper[0]}"'
            text += f'<joint name="{joint.name}" type="hinge" axis="{numbers(joint.axis)}" {limits}/>'
        return text + "".join(map(body, children.get(joint.child, ()))) + "</body>"

    inside = "".join(map(body, children.get(linkage.root, ())))
    return f'<mujoco><compiler angle="radian"/><worldbody>{inside}</worldbody></mujoco>'


class MinkLoop:
    """mink's quadratic program for the tasks of a `Retarget`."""

    def __init__(self, retarget: Retarget, targets: PoseTargets, ours: Motion, dt: float, steps: int) -> None:
        """The loop, with at most ``steps`` programs a frame, until the tasks' errors change by less than 1e-3.

        Where a hand and an elbow shall be is taken from the shoulders of our own motion.
        """
        import mink
        import mujoco

        self.mink, self.linkage, self.dt, self.steps = mink, retarget.target, dt, steps
        self.model = mujoco.MjModel.from_xml_string(mjcf(self.linkage))
        self.configuration = mink.Configuration(self.model)
        self.tasks: list[Any] = []
        self.frames: list[Array] = []
        self._add_tasks(retarget, targets, ours)
        rest = mink.PostureTask(self.model, cost=1e-2)
        rest.set_target(self.values_to_mujoco(ours.q[0]))
        self.rest = rest
        velocities = {
            joint.name: np.array(joint.speed)
            for joint in self.linkage.joints
            if joint.dof == 1 and math.isfinite(joint.speed[0])
        }
        self.limits = [mink.ConfigurationLimit(self.model), mink.VelocityLimit(self.model, velocities)]
        self.configuration.update(self.values_to_mujoco(ours.q[0]))

    def _add_tasks(self, retarget: Retarget, targets: PoseTargets, ours: Motion) -> None:
        body = retarget._body
        frames = self.linkage.frames(ours.q)
        chest = frames[body.links["chest"]].matrix
        self._add("pelvis", body, targets.pelvis, 10.0, 1.0)
        self._add("chest", body, _frames(targets.chest, chest[:, :3, 3]), 0.0, 1.0)
        if targets.head is not None and retarget._limbs.neck is not None and retarget._limbs.neck.linkage.dof:
            self._add("head", body, _frames(targets.head, chest[:, :3, 3]), 0.0, 1.0)
        for side in SIDES:
            self._add(f"{side}_foot", body, targets.feet[side], 100.0, 10.0)
            shoulder = frames[body.links[f"{side}_upper_arm"]].position
            upper, fore = targets.arms[side]
            elbow = shoulder + upper
            self._add(f"{side}_forearm", body, _frames(targets.hands[side], elbow), 5.0, 0.0)
            self._add(f"{side}_hand", body, _frames(targets.hands[side], elbow + fore), 5.0, 0.15)

    def _add(self, part: str, body: Any, frames: Array, position: float, orientation: float) -> None:
        task = self.mink.FrameTask(body.links[part], "body", position, orientation, lm_damping=1e-2)
        self.tasks.append(task)
        self.frames.append(frames)

    def run(self, frames: int) -> tuple[Array, float]:
        """Joint values (frames, dof) of the first frames, and frames a second of process time."""
        mink, out = self.mink, np.empty((frames, self.linkage.dof))
        places = [
            [mink.SE3.from_matrix(np.ascontiguousarray(frame)) for frame in rows[:frames]] for rows in self.frames
        ]
        begin = time.process_time()
        for i in range(frames):
            for task, rows in zip(self.tasks, places, strict=True):
                task.set_target(rows[i])
            error = math.inf
            for _ in range(self.steps):
                velocity = mink.solve_ik(
                    self.configuration, [*self.tasks, self.rest], self.dt, "daqp", damping=1e-6, limits=self.limits
                )
                self.configuration.integrate_inplace(velocity, self.dt)
                if self.steps > 1:
                    now = sum(float(np.linalg.norm(task.compute_error(self.configuration))) for task in self.tasks)
                    if abs(error - now) < 1e-3:
                        break
                    error = now
            out[i] = self.values_from_mujoco(self.configuration.q)
        return out, frames / (time.process_time() - begin)

    def values_to_mujoco(self, q: Array) -> Array:
        """Joint values (dof,) as MuJoCo has them: quaternions for rotation vectors."""
        out = []
        for joint in self.linkage.joints:
            if not joint.dof:
                continue
            first = self.linkage._sources[joint.name].first
            values = q[first : first + joint.dof]
            if joint.kind is Kind.FLOATING:
                out += [*values[:3], *Frame.rotvec(values[3:]).to_quaternion()]
            elif joint.kind is Kind.BALL:
                out += [*Frame.rotvec(values).to_quaternion()]
            else:
                out += [*values]
        return np.array(out)

    def values_from_mujoco(self, values: Array) -> Array:
        """The reverse."""
        out, at = [], 0
        for joint in self.linkage.joints:
            if not joint.dof:
                continue
            if joint.kind is Kind.FLOATING:
                out += [*values[at : at + 3], *Frame.quaternion(values[at + 3 : at + 7]).to_rotvec()]
                at += 7
            elif joint.kind is Kind.BALL:
                out += [*Frame.quaternion(values[at : at + 4]).to_rotvec()]
                at += 4
            else:
                out.append(values[at])
                at += 1
        return np.array(out)


def _frames(rotations: Array, positions: Array) -> Array:
    whole = np.zeros((len(rotations), 4, 4))
    whole[:, :3, :3], whole[:, :3, 3], whole[:, 3, 3] = rotations, positions, 1.0
    return whole
