"""Peers that solve in closed form: EAIK and ssik."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from peers import FAR

from supple import Frame

from .arms import Arm
from .judge import ROUGH, Array, wrapped
from .peer import Call, Peer


class Eaik(Peer):
    """EAIK, closed form: all branches in one call; the first inside limits counts."""

    name, module, starts = "EAIK", "eaik", False
    settings = "closed form, all branches in one IK() call"

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        from eaik.IK_HP import HPRobot

        axes, places, here = [], [], arm.linkage.base
        for joint in arm.linkage.joints:
            here = here @ joint.location
            if joint.dof:
                axes.append(here.rotation @ joint.axis)
                places.append(here.position)
        places.append(here.position)
        self.robot = HPRobot(np.array(axes), np.diff(places, axis=0, prepend=np.zeros((1, 3))))
        if not self.robot.hasKnownDecomposition():
            raise ValueError("EAIK knows no decomposition of this arm")
        self.turn = here.rotation  # of the tool at zero, which EAIK leaves out

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        moved = frames.copy()
        moved[:, :3, :3] = frames[:, :3, :3] @ self.turn.T
        return [(frame,) for frame in moved]

    def solve(self, frame: Array) -> Any:
        return self.robot.IK(frame)

    def branches(self, answer: Any) -> Array:
        """All exact answers (n, dof) inside limits by whole turns."""
        exact = [row for row, least in zip(answer.Q, answer.is_LS, strict=True) if not least]
        rows = wrapped(self.linkage, np.array(exact).reshape(-1, self.linkage.dof))
        inside = (rows >= self.linkage.lower - ROUGH) & (rows <= self.linkage.upper + ROUGH)
        return rows[inside.all(axis=1)]

    def q(self, answer: Any) -> Array | None:
        rows = self.branches(answer)
        return rows[0] if len(rows) else None


class Ssik(Peer):
    """ssik: the solver it ships for the arm if there is one, else the one it makes from the joints."""

    name, module, most = "ssik", "ssik", 300
    settings = "solve(max_solutions=1), nearest to the start where there is one; its shipped solver where it has one"
    shipped: ClassVar[dict[str, str]] = {"panda": "franka_panda_ik", "ur5": "ur5_ik"}

    def __init__(self, arm: Arm) -> None:
        super().__init__(arm)
        import ssik

        warnings.filterwarnings("ignore", module="ssik")
        self.tool = np.eye(4)  # what is ours beyond theirs
        name = arm.linkage.name
        if name in self.shipped:
            self.robot = ssik.Manipulator.from_prebuilt(self.shipped[name])
            at = arm.linkage.rest
            self.tool = np.linalg.inv(self.robot.fk(at)) @ arm.linkage.frame(at, arm.link).matrix
            return
        if name in ("baxter", "kinova"):
            raise ValueError("ssik takes seconds a goal from the joints of this arm")
        places, axes, here = [], [], arm.linkage.base
        for joint in arm.linkage.joints:
            here = here @ joint.location
            if joint.dof:
                places.append(here.matrix)
                axes.append(joint.axis)
                here = Frame()
        limits = np.clip(np.stack([arm.linkage.lower, arm.linkage.upper], axis=1), -FAR, FAR)
        self.robot = ssik.Manipulator.from_transforms(np.stack([*places, here.matrix]), axes, limits=limits)

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        return list(zip(frames @ np.linalg.inv(self.tool), starts, strict=True))

    def solve(self, frame: Array, start: Array) -> Any:
        return self.robot.solve(frame, max_solutions=1, q_seed=start)

    def q(self, answer: Any) -> Array | None:
        return super().q(answer[0].q) if answer else None
