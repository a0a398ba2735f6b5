"""Random pushes: their starts, their size, and whether the arm returns."""

from __future__ import annotations

import numpy as np
import pytest

from gauntlet_runs import recorded
from supple import BadInput, gauntlet
from supple.frame import Frame


def test_pushes_start_within_limits_and_have_the_stated_size() -> None:
    for name in gauntlet.names():
        arm = gauntlet.known_arm(name)
        many = gauntlet.pushes(name, 20, seed=1)
        q = np.array([one.start for one in many])
        assert np.minimum(arm.upper - q, q - arm.lower).min() > 0.1
        for one in many:
            a, b = one.hand(np.array([0.0, 3.0]))
            far = float(np.linalg.norm(b[:3, 3] - a[:3, 3])) / arm.reach
            assert 0.2 <= far <= 0.8
            assert np.linalg.norm((Frame(a).inverse() @ Frame(b)).to_rotvec()) <= np.radians(70) + 1e-9
            assert np.array_equal(one.hand(np.array([one.duration]))[0], a)


def test_a_shorter_list_of_pushes_begins_a_longer_one() -> None:
    few, more = gauntlet.pushes("ur5", 3), gauntlet.pushes("ur5", 6)
    assert [one.title for one in few] == [one.title for one in more[:3]]
    with pytest.raises(BadInput, match="count"):
        gauntlet.pushes("ur5", 0)


def test_an_arm_that_drifts_away_has_not_returned() -> None:
    one = gauntlet.pushes("ur5", 1)[0]
    still = np.tile(one.start, (len(one.times(300.0)) + 1, 1))
    away = still + np.linspace(0, 0.5, len(still))[:, None]
    rows = [gauntlet.pushed(recorded(q, one)) for q in (still, away)]
    assert [row["back"] for row in rows] == [True, False]
    assert [row["same_branch"] for row in rows] == [True, False]
    assert gauntlet.summarize_pushes(rows)["lost"] == 1
    assert gauntlet.summarize_pushes(rows)["lost_which"] == [1]


def test_a_whole_turn_of_a_joint_without_limits_is_the_same_branch() -> None:
    one = gauntlet.pushes("kraft", 1)[0]
    q = np.tile(one.start, (len(one.times(300.0)) + 1, 1))
    q[:, 5] += np.linspace(0, 2 * np.pi, len(q))
    assert gauntlet.pushed(recorded(q, one))["same_branch"]
    q[:, 4] += np.linspace(0, 0.01, len(q))
    assert not gauntlet.pushed(recorded(q, one))["same_branch"]
