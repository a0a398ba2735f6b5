"""Joint sliders and up to eight handles of a page, without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple import models
from supple.errors import BadInput
from supple.teleop import SimulatedArm
from supple.teleop.page import serve
from supple.teleop.page import session as page_session
from supple.teleop.page.arm import MAX_HANDLES, Arm
from supple.teleop.page.session import JOGGING, Session

MEASURED = 5e-3  # rad: noise and friction of the simulated arm
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ages")]  # threads in real time


def until(happened: Callable[[], Any], seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def driven(page: Any) -> Any:
    """The session of a page that a browser drives, and all its ticks."""
    page._actions.set_present(True, lambda now: True)
    session, ticks = page.session, []
    write = session.write
    session.write = lambda tick: (ticks.append(tick), write(tick))[1]
    assert until(lambda: len(ticks) > 3 and session.newest.held == "")
    return session, ticks


@pytest.mark.parametrize("real", [False, True])
def test_a_joint_is_moved_alone_within_its_bounds_and_the_last_target_counts(real: bool, tmp_path: Path) -> None:
    linkage = models.so101()
    robot = SimulatedArm(linkage) if real else None
    with serve(linkage, port=0, folder=tmp_path, arm=robot) as page:
        session, ticks = driven(page)
        ticks.clear()  # while a real arm's first readings come, the page shows its own start
        start = session.q
        for value in np.linspace(0.0, 0.7, 8):  # a slider that is dragged
            session.jog(0, start[0] + value)
            time.sleep(0.04)
        session.jog(2, 99.0)  # beyond its limit
        assert until(lambda: session.newest.held == "" and abs(session.q[2] - linkage.upper[2]) < 1e-9)
        assert session.q[0] == pytest.approx(start[0] + 0.7)
        others = [1, 3, 4]
        taken = list(ticks)  # the loop goes on
        q = np.array([tick.step.q for tick in taken])
        dt = np.array([tick.dt for tick in taken])[1:, None]
        assert np.abs(q[:, others] - start[others]).max() < 1e-9
        assert (np.abs(np.diff(q, axis=0) / dt) <= (0.25 if real else 1.0) * linkage.speed + 1e-9).all()
        assert any(tick.held == JOGGING for tick in ticks)
        (handle,) = session.source.handles  # the goal is where the arm is: nothing pulls it back
        assert handle.frame.position == pytest.approx(session.arm.frames(session.q)[0].position)
        assert session.jogged is None


def test_a_stop_ends_the_motion_of_a_joint_and_re_arming_does_not_go_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_session, "REAL_SPEED", 0.02)  # so slow that the stop comes in the middle
    arm = SimulatedArm(models.so101())
    with serve(models.so101(), port=0, folder=tmp_path, arm=arm) as page:
        session, _ = driven(page)
        start = session.q
        session.jog(0, start[0] + 1.5)
        assert until(lambda: abs(session.q[0] - start[0]) > 0.05)
        page._actions.stop_arm()
        assert until(lambda: arm.state == "held" and np.abs(arm._velocity).max() < 1e-4)
        stood = arm.q
        assert abs(stood[0] - start[0]) < 1.4
        assert until(lambda: page._actions.can_rearm)
        page._actions.rearm()
        assert until(lambda: session.newest.held == "")
        time.sleep(0.3)
        assert np.abs(session.q - stood)[:5].max() < MEASURED  # taken over where it was measured
        session.jog(1, stood[1] + 0.1)  # and only that joint moves now
        assert until(lambda: abs(session.q[1] - stood[1] - 0.1) < MEASURED and session.newest.held == "")
        assert abs(session.q[0] - stood[0]) < MEASURED


def test_a_reset_ends_the_motion_of_a_joint_and_is_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "_move_speed", 0.05)  # so slow that the reset comes before the first target
    with serve(models.ur5(), port=0, folder=tmp_path) as page:
        session, ticks = driven(page)
        rest = session.q
        for value in (1.0, 1.5, 2.0):
            session.jog(0, rest[0] + value)
            time.sleep(0.03)
        page._actions.reset()
        assert until(lambda: session.newest.held == "" and np.abs(session.q - rest).max() < 1e-9)
        time.sleep(0.2)
        assert np.abs(session.q - rest).max() < 1e-9
        assert max(tick.step.q[0] for tick in ticks) < rest[0] + 0.9  # it turned back before the first target


def test_hands_feet_and_head_can_have_handles() -> None:
    assert set(Arm.of(models.g1()).candidates) == {
        *("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link", "head_link"),
    }
    assert {"left_foot", "right_foot", "head"} < set(Arm.of(models.human()).candidates)
    assert len(Arm.of(models.human()).links) == len(Arm.of(models.g1()).links) == 2
    for name in models.names():
        arm = Arm.of(models.get(name))
        assert set(arm.links) <= set(arm.candidates)
        assert len(arm.candidates) <= MAX_HANDLES
    assert Arm.of(models.panda()).candidates == ("panda_hand_tcp",)  # no fingers, and not its base


def test_more_handles_are_chosen_where_the_arm_is_and_all_of_them_move_it(tmp_path: Path) -> None:
    links = ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "head_link")
    with serve(models.g1(), port=0, folder=tmp_path) as page:
        session, _ = driven(page)
        elbow = session.arm.linkage.names.index("left_elbow_joint")
        session.jog(elbow, 0.5)
        assert until(lambda: session.newest.held == "" and abs(session.q[elbow] - 0.5) < 1e-9)
        before = session.q
        page._actions.choose_links(links)
        session, ticks = driven(page)
        assert session.arm.links == links
        assert np.abs(np.array([tick.step.q for tick in ticks]) - before).max() < 1e-9  # it did not jump
        foot = session.source.handles[2]
        page._actions.handles.drag(2, "start", foot.frame.position, foot.frame.to_quaternion())
        wanted = foot.frame.position + np.array([0, 0, 0.05])
        page._actions.handles.drag(2, "update", wanted, foot.frame.to_quaternion())
        page._actions.handles.drag(2, "end", wanted, foot.frame.to_quaternion())
        assert until(lambda: np.linalg.norm(session.arm.frames(session.q)[2].position - wanted) < 1e-3)
        page._actions.choose_links(())  # none is no choice
        page._actions.choose_links(("nothing",))
        assert page.session.arm.links == links


def test_nine_handles_are_refused() -> None:
    links = [link.name for link in models.human().links][-9:]
    with pytest.raises(BadInput, match="at most 8 end effectors can be driven, got 9"):
        serve(models.human(), links, port=0)
