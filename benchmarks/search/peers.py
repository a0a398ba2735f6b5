"""The other solvers, each with its settings.

All have the same limits and a tolerance of 1e-6 m and 1e-6 rad, or the nearest that their own criterion allows. Goals
and starts are converted before time is measured. None takes an axis goal; on such an arm they get the whole frame.
"""

from __future__ import annotations

import importlib
import logging
import os
import tempfile
from math import inf, pi
from typing import Any

import numpy as np

from supple import Frame

from .arms import Arm
from .closed_form import Eaik, Ssik
from .judge import Array
from .peer import Call, Peer, bounded, description

STEPS = 200
"""Largest number of steps of a solver without restarts."""


class TracIK(Peer):
    """TRAC-IK, its binding called directly."""

    name, module = "TRAC-IK", "pytracik"
    settings = "pytracik, Speed, timeout 5 ms (its default), epsilon 5.7e-7 a component"

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        import pytracik

        kind = pytracik.SolveType.Speed
        self.robot = pytracik.TRAC_IK(arm.linkage.root, arm.link, description(arm), 0.005, 5.7e-7, kind)
        self.ask = pytracik.ik

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        turns = Frame(frames).to_quaternion()  # w x y z
        return [
            (self.robot, start, *map(float, (*frame[:3, 3], *turn[1:], turn[0])))
            for frame, start, turn in zip(frames, starts, turns, strict=True)
        ]

    def solve(self, *call: Any) -> Any:
        return self.ask(*call)

    def q(self, answer: Any) -> Array | None:
        return super().q(answer[1:]) if answer[0] >= 0 else None


class Toolbox(Peer):
    """Robotics Toolbox: ik_LM, its C++."""

    name, module = "ik_LM", "roboticstoolbox"
    settings = "Robotics Toolbox ETS.ik_LM, chan, k 1, ilimit 30, slimit 100 (its defaults), tol 5e-13"

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        from roboticstoolbox.ets.ET import ET
        from roboticstoolbox.ets.ETS import ETS

        parts, here = [], arm.linkage.base
        for joint in arm.linkage.joints:
            here = here @ joint.location
            if not joint.dof:
                continue
            aligned = Frame.at([0, 0, 0], _to(joint.axis))
            parts.append(ET.SE3(np.array((here @ aligned).matrix)))
            made = ET.tz if joint.units == ("m",) else ET.Rz
            parts.append(made(qlim=np.array(_range(joint.lower[0], joint.upper[0]))))
            here = aligned.inverse()
        parts.append(ET.SE3(np.array(here.matrix)))
        self.robot = ETS(parts)

    def solve(self, frame: Array, start: Array) -> Any:
        return self.robot.ik_LM(frame, q0=start, tol=5e-13)

    def q(self, answer: Any) -> Array | None:
        return super().q(answer.q) if answer.success else None


def _to(axis: tuple[float, float, float]) -> Array:
    """A rotation (3, 3) of z to a unit vector."""
    z = np.array(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _range(low: float, high: float) -> tuple[float, float]:
    """Joint limits; a whole turn for a joint without limits."""
    return (-pi, pi) if low == -inf else (low, high)


class Pink(Peer):
    """pink, from one start: steps of its solve_ik, as in its examples, until the error is below tolerance."""

    name, module, most = "pink", "pink", 200
    settings = "FrameTask, lm_damping 1e-3, dt 1, daqp, joint limits, at most 200 steps, no restarts"

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        import pink
        import pinocchio as pin
        from pink.limits import ConfigurationLimit
        from pink.tasks import FrameTask

        logging.getLogger("pink").setLevel(logging.ERROR)
        self.pin, self.pink = pin, pink
        model = pin.buildModelFromXML(bounded(arm))
        self.at = pink.Configuration(model, model.createData(), np.array(arm.linkage.rest))
        self.task = FrameTask(
            arm.link, position_cost=pi / arm.linkage.reach(arm.link), orientation_cost=1.0, lm_damping=1e-3
        )
        self.limits = [ConfigurationLimit(model)]

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        return [(self.pin.SE3(f[:3, :3], f[:3, 3]), q) for f, q in zip(frames, starts, strict=True)]

    def solve(self, frame: Any, start: Array) -> Any:
        at, task = self.at, self.task
        task.set_target(frame)
        at.update(start)
        for _ in range(STEPS):
            velocity = self.pink.solve_ik(at, [task], 1.0, solver="daqp", limits=self.limits)
            at.integrate_inplace(velocity, 1.0)
            if np.linalg.norm(task.compute_error(at)) < 1e-6:
                return np.array(at.q)
        return None


class Placo(Peer):
    """placo, from one start: steps of its KinematicsSolver until the error is below tolerance."""

    name, module, most = "placo", "placo", 200
    settings = "one soft frame task, joint limits, at most 200 steps, no restarts"

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        import placo

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.urdf")
            with open(path, "w") as file:
                file.write(bounded(arm))
            self.robot = placo.RobotWrapper(path, placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(True)
        self.task = self.solver.add_frame_task(arm.link, np.eye(4))
        self.task.configure(arm.link, "soft", (pi / arm.linkage.reach(arm.link)) ** 2, 1.0)  # weights of squares
        self.solver.enable_joint_limits(True)
        self.base = self.robot.state.q[:7].copy()

    def solve(self, frame: Array, start: Array) -> Any:
        robot, task = self.robot, self.task
        robot.state.q = np.concatenate([self.base, start])
        robot.update_kinematics()
        task.T_world_frame = frame
        for _ in range(STEPS):
            self.solver.solve(True)
            robot.update_kinematics()
            if task.position().error_norm() < 1e-6 and task.orientation().error_norm() < 1e-6:
                return np.array(robot.state.q[7:])
        return None


PEERS: dict[str, type[Peer]] = {peer.name: peer for peer in (TracIK, Toolbox, Eaik, Ssik, Pink, Placo)}
"""All peers, by name."""


def missing(name: str) -> str:
    """The module that a peer needs and that cannot be imported; "" if it can run."""
    module = PEERS[name].module
    try:
        importlib.import_module(module)
    except ImportError:
        return module
    return ""
