"""Laws of the mapping from hand to goal, on random thousands."""

from __future__ import annotations

import math

import numpy as np
import pytest

from supple import BadInput, Frame, UnknownName
from supple.teleop import Mapping, OneEuro

CASES = 1000
NEAR = 1e-12  # m and entries of a rotation: rounding, for hands within metres


def a_frame(rng, reach=1.0):
    return Frame.at(rng.uniform(-reach, reach, 3), Frame.rotvec(rng.normal(size=3) * rng.choice([1e-9, 0.1, 2])))


def a_mapping(rng, **settings):
    return Mapping(
        scale=float(10 ** rng.uniform(-2, 1)),
        axes=str(rng.choice(["world", "tool", "view"])),
        calibration=a_frame(rng),
        view=a_frame(rng),
        **settings,
    )


def away(a, b):
    return np.abs(a.matrix - b.matrix).max()


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def test_the_goal_does_not_jump_when_engaged(rng):
    for _ in range(CASES):
        mapping, hand, goal = a_mapping(rng), a_frame(rng), a_frame(rng)
        mapping.engage(hand, goal)
        assert away(mapping.goal(hand), goal) < NEAR


def test_a_hand_that_comes_back_brings_the_goal_back(rng):
    for _ in range(CASES):
        mapping, hand, goal = a_mapping(rng), a_frame(rng), a_frame(rng)
        mapping.engage(hand, goal)
        for _ in range(3):
            mapping.goal(a_frame(rng))
        assert away(mapping.goal(hand), goal) < NEAR


def test_two_moves_are_as_one_also_when_engaged_again_between(rng):
    for _ in range(CASES):
        mapping, goal = a_mapping(rng), a_frame(rng)
        first, second, third = (a_frame(rng) for _ in range(3))
        mapping.engage(first, goal)
        at_once = mapping.goal(third)
        between = mapping.goal(second)
        assert away(mapping.goal(third), at_once) < NEAR
        mapping.engage(second, between)
        assert away(mapping.goal(third), at_once) < 20 * NEAR  # a scale of 10 carries rounding ten times as far


def test_a_hand_let_go_moves_nothing_and_takes_hold_where_it_is(rng):
    for _ in range(CASES):
        mapping, hand = a_mapping(rng), a_frame(rng)
        mapping.engage(hand, a_frame(rng))
        left = mapping.goal(a_frame(rng))
        mapping.release()
        assert not mapping.engaged
        with pytest.raises(BadInput, match="engage"):
            mapping.goal(hand)
        mapping.engage(hand, left)
        assert away(mapping.goal(hand), left) < NEAR


def test_scale_never_touches_rotation_and_multiplies_translation(rng):
    for _ in range(CASES):
        mapping, first, second, goal = a_mapping(rng), a_frame(rng), a_frame(rng), a_frame(rng)
        mapping.engage(first, goal)
        moved = mapping.goal(second)
        plain = Mapping(1.0, mapping.axes, mapping.calibration, mapping.view)
        plain.engage(first, goal)
        unscaled = plain.goal(second)
        assert np.abs(moved.rotation - unscaled.rotation).max() < NEAR
        way = mapping.scale * (unscaled.position - goal.position)
        assert np.abs(moved.position - goal.position - way).max() < 20 * NEAR


def test_the_goal_turns_as_far_as_the_hand_and_goes_scale_times_as_far(rng):
    for _ in range(CASES):
        mapping, first, second, goal = a_mapping(rng), a_frame(rng), a_frame(rng), a_frame(rng)
        mapping.engage(first, goal)
        moved = mapping.goal(second)
        turned = [np.linalg.norm(Frame.at([0, 0, 0], b.rotation @ a.rotation.T).to_rotvec()) for a, b in
                  ((first, second), (goal, moved))]  # fmt: skip
        assert abs(turned[0] - turned[1]) < 1e-6  # an angle near pi is known to the root of rounding
        far = [np.linalg.norm(b.position - a.position) for a, b in ((first, second), (goal, moved))]
        assert abs(mapping.scale * far[0] - far[1]) < 20 * NEAR


def test_world_tool_and_view_axes_mean_what_they_say():
    calibration = Frame.turn([0, 0, 1], math.pi / 2)  # the operator looks along y: his x is our y
    hand, goal = Frame.turn([0, 1, 0], 0.3), Frame.at([1, 2, 3], Frame.turn([1, 0, 0], 0.7))
    world = Mapping(2.0, "world", calibration)
    world.engage(hand, goal)
    assert np.allclose(world.goal(Frame.at([0.1, 0, 0]) @ hand).position, [1, 2.2, 3])
    turned = world.goal(Frame.turn([1, 0, 0], 0.2) @ hand)
    assert np.allclose(turned.rotation, (Frame.turn([0, 1, 0], 0.2) @ goal).rotation)
    tool = Mapping(1.0, "tool")
    tool.engage(hand, goal)
    own = Frame.exp([0.1, 0.02, 0, 0, 0.3, -0.2])
    assert away(tool.goal(hand @ own), goal @ own) < NEAR
    eye = Frame.fixed("xyz", [math.pi / 2, 0, 0])  # looks along y: right is x, up is z
    view = Mapping(1.0, "view", view=eye)
    view.engage(hand, goal)
    assert np.allclose(view.goal(Frame.at([0, 0.1, 0]) @ hand).position, [1, 2, 3.1])


def test_no_setting_changed_while_engaged_makes_the_goal_jump(rng):
    for _ in range(CASES):
        mapping, hand = a_mapping(rng, box=([-1.5, -1.5, -1.5], [1.5, 1.5, 1.5])), a_frame(rng)
        mapping.engage(a_frame(rng), a_frame(rng))
        before = mapping.goal(hand)
        other = a_mapping(rng)
        mapping.scale, mapping.axes = other.scale, other.axes
        mapping.calibration, mapping.view = other.calibration, other.view
        assert away(mapping.goal(hand), before) < NEAR
        small = Frame.at([1e-3, 0, 0]) @ hand
        assert np.linalg.norm(mapping.goal(small).position - before.position) < 1.001e-3 * other.scale + NEAR


def test_a_goal_in_the_box_stays_in_it(rng):
    for _ in range(CASES):
        low = rng.uniform(-1, 0, 3)
        high = low + rng.uniform(0, 1, 3)
        mapping = a_mapping(rng, box=(low, high))
        inside = Frame.at(rng.uniform(low, high), a_frame(rng))
        mapping.engage(hand := a_frame(rng), inside)
        for _ in range(3):
            position = mapping.goal(a_frame(rng, 5)).position
            assert (position >= low).all()
            assert (position <= high).all()
        assert away(mapping.goal(hand), inside) < NEAR  # and the way back is the way out


def test_a_goal_outside_the_box_is_not_moved_by_it_and_only_comes_nearer(rng):
    low, high = np.array([-0.5, -0.5, -0.5]), np.array([0.5, 0.5, 0.5])
    for _ in range(CASES):
        mapping, hand, goal = a_mapping(rng, box=(low, high)), a_frame(rng), a_frame(rng, 2)
        mapping.engage(hand, goal)
        assert away(mapping.goal(hand), goal) < NEAR
        out = np.maximum(np.maximum(low - goal.position, goal.position - high), 0)
        for _ in range(5):
            p = mapping.goal(a_frame(rng)).position
            farther = np.maximum(np.maximum(low - p, p - high), 0)
            assert (farther <= out + NEAR).all()
            out = farther


def test_engaging_ten_thousand_times_leaves_a_rotation_a_rotation(rng):
    mapping = a_mapping(rng)
    goal, hand = a_frame(rng), a_frame(rng)
    rough = np.array(hand.matrix)
    rough[:3, :3] += 3e-7 * rng.normal(size=(3, 3))  # as near to a rotation as a command must be
    for k in range(10_000):
        mapping.engage(Frame._trusted(rough) if k % 2 else hand, goal)
        goal = mapping.goal(hand)
    assert np.abs(goal.rotation @ goal.rotation.T - np.eye(3)).max() < 1e-9


@pytest.mark.parametrize("rate", [60, 300, 1000])
@pytest.mark.parametrize("twist", [[0.3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0, 0], [0.1, 0.2, 0, 0, 0, 0.5], [0] * 6])
def test_the_filter_is_as_late_as_it_says(rate, twist):
    smooth, twist = OneEuro(cutoff=1.5, gain=10), np.array(twist, dtype=float)
    speed = np.linalg.norm(twist[:3]) + 0.2 * np.linalg.norm(twist[3:])
    start = Frame.turn([0, 1, 0], 0.4)
    smooth.begin(start, 0.0)

    def hand(t):
        return Frame.at(twist[:3] * t, Frame.rotvec(twist[3:] * t) @ start)

    for k in range(1, 6 * rate):
        out = smooth.smooth(hand(k / rate), k / rate)
    assert away(out, hand((6 * rate - 1) / rate - smooth.lag(speed))) < 1e-9
    assert smooth.lag() == pytest.approx(1 / (2 * math.pi * 1.5))


def test_the_filter_takes_tremor_out_of_a_hand_at_rest(rng):
    smooth = OneEuro()
    mapping, hand = Mapping(filter=smooth), Frame.at([0.1, 0.2, 0.3])
    mapping.engage(hand, Frame(), 0.0)
    raw, out = [], []
    for k in range(1, 3000):
        shaken = Frame.at(1e-3 * rng.normal(size=3)) @ hand
        raw.append(shaken.position - hand.position)
        out.append(mapping.goal(shaken, k / 300).position)
    assert np.std(out[300:]) < 0.25 * np.std(raw)


def test_the_filter_does_not_jump_when_engaged_nor_for_a_clock_that_stands(rng):
    for _ in range(200):
        mapping, goal = a_mapping(rng, filter=OneEuro()), a_frame(rng)
        mapping.engage(a_frame(rng), a_frame(rng), 0.0)
        for k in range(5):
            mapping.goal(a_frame(rng), 0.1 * k)
        mapping.engage(hand := a_frame(rng), goal, 1.0)
        assert away(mapping.goal(hand, 1.01), goal) < NEAR
        before = mapping.goal(hand, 1.02)
        for t in (1.02, 0.5):
            assert away(mapping.goal(a_frame(rng), t), before) < NEAR


def test_bad_settings_are_named_before_any_work():
    for scale in (0, -1, math.nan, math.inf, "2"):
        with pytest.raises(BadInput, match="scale"):
            Mapping(scale)
    with pytest.raises(UnknownName, match="'tool'"):
        Mapping(axes="tools")
    with pytest.raises(BadInput, match="calibration"):
        Mapping(calibration=np.eye(4))
    for box in (([0, 0, 0], [1, -1, 1]), ([0, 0], [1, 1]), ([0, 0, 0], [1, math.nan, 1])):
        with pytest.raises(BadInput, match="box"):
            Mapping(box=box)
    for cutoff in (0, -1, math.nan):
        with pytest.raises(BadInput, match="cutoff"):
            OneEuro(cutoff)
    mapping = Mapping()
    with pytest.raises(BadInput, match="scale"):
        mapping.scale = -1
    assert mapping.scale == 1
