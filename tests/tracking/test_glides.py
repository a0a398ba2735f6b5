"""A steady glide is followed without lag, and an arm that stands does not start again by itself."""

import numpy as np
import pytest

from supple import Frame, Solver, TrackingStatus, models

ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0", "ur10": "tool0", "iiwa14": None, "puma560": None}


def glides(name, count, seed):
    """Starts, rates and commands (ticks, 4, 4): straight lines at 10 to 60 mm/s with a smooth beginning."""
    arm = models.get(name)
    link = ARMS[name] or arm.tips[0]
    random = np.random.default_rng(seed)
    for start in arm.random(count, seed=seed):
        rate = float(random.choice([125, 300, 1000]))
        part = np.minimum(np.arange(int(3 * rate)) / rate / 0.5, 1)
        way = np.cumsum(random.uniform(0.01, 0.06) * part * part * (3 - 2 * part)) / rate
        direction = random.normal(size=3)
        commands = np.tile(np.array(arm.frame(start, link).matrix), (len(way), 1, 1))
        commands[:, :3, 3] += way[:, None] * direction / np.linalg.norm(direction)
        yield arm, link, start, rate, commands


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_an_arm_that_follows_a_steady_glide_is_where_it_says(name):
    """Rounding of the command's acceleration, which turns at random, was taken for tremor: 2 to 15 mm of lag."""
    for arm, link, start, rate, commands in glides(name, 60, seed=8):
        q, statuses = Solver().track(arm, link, start=start).replay(commands, 1 / rate)
        away = np.linalg.norm(arm.frame(q, link).position - commands[:, :3, 3], axis=1)
        assert away[statuses == TrackingStatus.FOLLOWING.value].max(initial=0) < 1.1e-3


def test_an_arm_that_stands_stays_while_the_command_rests():
    """The longer the command rests the more must be gained; that let an old gain of a later level count again."""
    arm, link = models.so101(), "gripper_frame_link"
    random = np.random.default_rng(3)
    for start in arm.random(40, seed=3):
        options = {"acceleration": 10 ** random.uniform(0.5, 1), "margin": random.uniform(0, 0.1), "recover": "off"}
        tracker = Solver().track(arm, link, start=start, **options)
        goal = Frame.at(random.normal(size=3) * 0.05) @ Frame.turn(random.normal(size=3), 0.8) @ arm.frame(start, link)
        standing, moved = 0, 0.0
        for _ in range(6 * 125):
            step = tracker.step(goal, dt=1 / 125)
            speed = float(np.abs(step.velocity).max())
            if standing > 25:
                moved = max(moved, speed)
            else:
                standing = standing + 1 if speed == 0 else 0
        assert moved == 0
