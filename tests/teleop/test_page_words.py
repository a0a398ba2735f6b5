"""What the page says to an operator: names of grippers, and a card that fits what the arm does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("viser", reason="the teleop extra is not installed")

from browser import PATIENCE
from patience import until
from supple import models
from supple.step import TrackingStatus
from supple.teleop import SimulatedArm
from supple.teleop.page import serve
from supple.teleop.page.arm import Arm
from supple.teleop.page.controls import Controls
from supple.teleop.page.handles import TOO_SLOW, HandleSource
from supple.teleop.page.words import plain, reason, short_names
from supple.teleop.watchdog import Silent


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (["tool0"], [""]),
        (["left_gripper", "right_gripper"], ["left", "right"]),
        (["left_hand", "right_hand", "left_foot"], ["left hand", "right hand", "left foot"]),
        (["tool", "tool_left"], ["tool", "tool_left"]),  # one would have no word of its own
        ([], []),
    ],
)
def test_links_are_told_apart_by_the_words_that_not_all_of_them_have(links: list[str], expected: list[str]) -> None:
    assert short_names(links) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "the arm was in a local minimum: it moves to other joint values that reach the command",
            "the arm was stuck: it moves by itself to another posture, from which it reaches the handle",
        ),
        (
            "gripper_frame_link is in place, but 5 joints are too few for its orientation too",
            "gripper_frame_link is in place, but cannot be turned this way: the arm has only 5 joints",
        ),
        (
            "waits for the measured arm: panda_joint1, panda_joint2",
            "waiting for the real arm: panda_joint1, panda_joint2 behind",
        ),
        (
            "the measured arm does not follow its commanded joint values",
            "the real arm does not follow: is it blocked, or its torque off?",
        ),
        ("dt of 0.4 s counts as 0.25 s", "the loop stood still for 0.4 s"),
        (
            "panda_joint4 at the margin of its upper limit",
            "panda_joint4 is at its upper limit: move the handle another way",
        ),
        ("6 joints at their limits or margins", "6 joints are at their limits: move the handle another way"),
        ("panda_joint1 at its speed limit", "the handle is faster than the arm: panda_joint1 at its speed limit"),
        ("catching up", "catching up"),
    ],
)
def test_reasons_are_said_in_the_words_of_an_operator(text: str, said: str) -> None:
    assert plain(text, Arm.of(models.panda())) == said


def test_advice_is_given_once() -> None:
    arm = Arm.of(models.panda())
    step = SimpleNamespace(status=TrackingStatus.YIELDING, warnings=())
    tick: Any = SimpleNamespace(held="", step=step, why="joint1 at its upper limit; joint2 at its lower limit")
    said = reason(tick, arm)
    assert said == "joint1 is at its upper limit: move the handle another way; joint2 is at its lower limit"


def test_each_gripper_of_two_is_named_by_its_side_and_a_single_one_is_not() -> None:
    sliders: list[Any] = [SimpleNamespace(label="gripper") for _ in range(8)]
    controls: Any = SimpleNamespace(_grippers=sliders)
    Controls._name_grippers(controls, Arm.of(models.baxter()))
    assert {slider.label for slider in sliders[:2]} == {"gripper left", "gripper right"}
    Controls._name_grippers(controls, Arm.of(models.panda()))
    assert sliders[0].label == "gripper"


def test_the_card_fits_an_arm_that_nobody_drives_or_that_is_stopped(tmp_path: Path) -> None:
    linkage = models.so101()
    with serve(linkage, port=0, folder=tmp_path, arm=SimulatedArm(linkage)) as page:
        actions = page._actions
        assert "nobody drives" in actions._current_note()
        actions.set_present(True, lambda now: True)
        assert "drag the handle" in actions._current_note()
        actions.stop_arm()
        assert "presses re-arm" in actions._current_note()
        assert "drag the handle" not in actions._current_note()
        actions.rearm()  # a hand in a hurry presses more than once
        assert not actions.session.loop._ticker._rearming >= 0
        end = time.monotonic() + PATIENCE
        while not actions.can_rearm and time.monotonic() < end:
            time.sleep(0.01)
        actions.rearm()
        while page.session.loop.stopped and time.monotonic() < end:  # it waits for the arm's readings
            time.sleep(0.01)
        assert "drag the handle" in actions._current_note()


def test_a_lost_arm_is_told_once_and_without_what_a_program_would_call(
    tmp_path: Path, ages: Callable[..., None]
) -> None:
    ages(True, latched=True)
    linkage = models.so101()
    arm = SimulatedArm(linkage)
    with serve(linkage, port=0, folder=tmp_path, arm=arm) as page:
        session = page.session
        assert until(lambda: session.robot is not None and session.robot.starts)
        arm.unplug()
        assert until(lambda: session.loop.stopped.startswith("the arm was lost"))
        assert until(lambda: session.newest is not None and "it does not answer yet" in session.newest.held)
        assert session.newest is not None
        said = reason(session.newest, session.arm)
        assert said == "the arm was lost: OSError: the arm is unplugged; it does not answer yet"
        arm.plug()
        assert until(lambda: session.newest is not None and "answer" not in session.newest.held)


def test_a_slow_browser_is_told_what_helps() -> None:
    source = HandleSource(Arm.of(models.panda()).frames(models.panda().rest))
    source.alive, source.answers = True, lambda now: not math.isfinite(now)
    with pytest.raises(Silent, match="a smaller window helps"):
        source.read()
    assert "0.25 s" in TOO_SLOW
