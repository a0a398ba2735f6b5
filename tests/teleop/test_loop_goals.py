"""Goals of all kinds in a loop, and arms that cannot turn freely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drives import Simulated
from supple import Frame, Goal, Solver, TrackingStatus, damping, method, models
from supple.teleop import Command, Loop, Mapping, Recorder, Tick, replay, tee
from supple.teleop.page.arm import Arm
from supple.teleop.reachable import turning_freedom

RATE = 300.0
UR5, SO101 = models.ur5(), models.so101()
JAW = "gripper_frame_link"
KINDS = {
    "axis": Goal("tool0", position=[0, 0, 0], axis=[0, 0, 1], direction=[0, 0, 1]),
    "direction alone": Goal("tool0", axis=[0, 1, 0], direction=[0, 0, 1]),
    "look at": Goal("tool0", axis=[0, 0, 1], look_at=[0.8, 0, 0]),
    "position": Goal("tool0", position=[0, 0, 0]),
    "distance": Goal("tool0", position=[0, 0, 0.2], distance=0.5),
    "orientation": Goal("tool0", orientation=np.eye(3)),
}
SOLVERS = [Solver(), Solver(method=method.damped(), damping=damping.constant(1e-2))]


def run(tracker: Any, say: Any, count: int, *sinks: Any, mappings: int = 1) -> list[Tick]:
    ticks: list[Tick] = []
    hands = (say(k / RATE) for k in range(count))
    Loop(hands, [Mapping() for _ in range(mappings)], tracker, tee(ticks.append, *sinks), RATE, clock=Simulated()).run()
    return [tick for tick in ticks if tick.held != "stopping"]


@pytest.mark.parametrize("solver", SOLVERS, ids=["supple", "damped"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_hand_drives_every_kind_of_goal_is_held_and_replayed(kind: str, solver: Solver, tmp_path: Path) -> None:
    def say(t: float) -> Command | None:
        if 0.5 < t < 0.9:
            return None  # silence: held
        swing = Frame.at([0, 0.05 * np.sin(2 * t), 0.03 * t], Frame.turn([1, 2, 3], 0.3 * np.sin(t)))
        return Command(swing, stamp=t)

    tracker = solver.track(UR5, KINDS[kind])
    recorder = Recorder(tmp_path / "drive.csv", tracker, RATE)
    ticks = run(tracker, say, 500, recorder)
    recorder.close()
    q = np.array([tick.step.q for tick in ticks])
    assert np.abs(q[1] - q[0]).max() < 1e-3  # it begins where the arm is
    assert np.abs(q[-1] - q[0]).max() > 0.01  # and goes with the hand
    assert any(tick.held.startswith("silent") and tick.step.status is TrackingStatus.HELD for tick in ticks)
    velocity = np.diff(q, axis=0) * RATE
    assert (np.abs(velocity) <= UR5.speed + 1e-6).all()
    assert replay(tmp_path / "drive.csv").identical


def test_the_axis_follows_the_turn_of_the_hand() -> None:
    tracker = Solver().track(UR5, KINDS["axis"])
    before = UR5.frame(UR5.rest, "tool0").rotation[:, 2]
    turn = Frame.turn([1, 0, 0], 0.4)
    ticks = run(tracker, lambda t: Command(Frame.turn([1, 0, 0], 0.4 * min(t, 1.0)), stamp=t), 700)
    after = UR5.frame(ticks[-1].step.q, "tool0").rotation[:, 2]
    assert np.allclose(after, turn.rotation @ before, atol=1e-2)
    assert ticks[-1].step.status is TrackingStatus.FOLLOWING


def test_two_goals_of_different_kinds_are_driven_together() -> None:
    baxter = models.baxter()
    goals = [
        Goal("left_gripper", Frame()),
        Goal("right_gripper", position=[0, 0, 0], axis=[0, 0, 1], direction=[1, 0, 0]),
    ]
    up = Frame.at([0, 0, 0.03])
    ticks = run(
        Solver().track(baxter, goals),
        lambda t: Command(hands=[Frame(), Frame()] if t < 0.1 else [up, up], stamp=t),
        600,
        mappings=2,
    )
    for link in ("left_gripper", "right_gripper"):
        moved = baxter.frame(ticks[-1].step.q, link).position - baxter.frame(baxter.rest, link).position
        assert np.allclose(moved, [0, 0, 0.03], atol=2e-3)


def test_how_freely_an_arm_turns() -> None:
    assert turning_freedom(UR5, "tool0") == 3
    assert turning_freedom(SO101, JAW) == 2
    assert turning_freedom(models.planar3(), "tip") == 1
    assert turning_freedom(models.planar2(), "tip") == 0
    assert Arm.of(SO101).turns == (True,)
    assert Arm.of(models.planar2()).turns == (False,)
    assert Arm.of(models.planar3()).turn_axes == ((False, False, True),)


@pytest.mark.parametrize("axis", [(0, 1, 0), (0, 0, 1)], ids=["pitch", "roll"])
def test_the_operator_of_a_five_joint_arm_pitches_and_rolls_in_place(axis: tuple[int, int, int]) -> None:
    start = SO101.frame(SO101.rest, JAW)
    world = start.rotation @ np.array(axis, dtype=float)
    angle = -0.4 if axis == (0, 1, 0) else 0.5
    tracker = Solver().track(SO101, list(Arm.of(SO101).goals))
    ticks = run(tracker, lambda t: Command(Frame.turn(world, angle * min(t, 1.0)), stamp=t), 600)
    end = SO101.frame(ticks[-1].step.q, JAW)
    assert np.linalg.norm(end.position - start.position) < 1e-3
    turned = (end @ start.inverse()).to_rotvec()
    assert abs(float(turned @ world) - angle) < 0.1
    assert ticks[-1].step.status is TrackingStatus.FOLLOWING


def test_what_a_five_joint_arm_cannot_turn_does_not_make_it_yield_or_leave_its_place() -> None:
    rng = np.random.default_rng(0)
    start = SO101.frame(SO101.rest, JAW)
    following = 0
    for _ in range(12):
        way, turn = rng.uniform(-0.04, 0.04, 3), rng.uniform(-0.3, 0.3, 3)

        def say(t: float, way: Any = way, turn: Any = turn) -> Command:
            u = min(t / 1.5, 1.0)
            return Command(Frame.at(u * way, Frame.rotvec(u * turn)), stamp=t)

        ticks = run(Solver().track(SO101, list(Arm.of(SO101).goals)), say, 800)
        last = ticks[-1]
        wanted = start.position + way
        reached = SO101.frame(last.step.q, JAW).position
        free = not (np.abs(last.step.sides) == 1).any()
        assert np.linalg.norm(reached - wanted) < 2e-3 or not free
        following += last.step.status is TrackingStatus.FOLLOWING
        q = np.array([tick.step.q for tick in ticks])
        velocity = np.diff(q, axis=0) * RATE
        assert (np.abs(np.diff(velocity, axis=0)) * RATE <= 15 * (1 + 1e-6) + 1e-6).all()
        assert np.abs(velocity[-30:]).max() < 1e-3  # it comes to rest
    assert following >= 10


def test_a_hand_that_was_rounded_is_mended_and_a_bad_one_is_named() -> None:
    turned = Frame.turn([1, 2, 3], 0.7)
    for decimals in range(3, 8):
        command = Command(turned.matrix.round(decimals))
        assert command.flaw == ""
        assert command.hand is not None
        r = command.hand.rotation
        assert np.abs(r @ r.T - np.eye(3)).max() < 1e-11
        assert np.abs(r - turned.rotation).max() < 10.0**-decimals
    assert "rotation of hand 0" in Command(np.diag([1.1, 1, 1, 1])).flaw
    assert "position of hand 0" in Command(np.full((4, 4), np.nan)).flaw
