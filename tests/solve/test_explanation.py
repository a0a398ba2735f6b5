"""Laws of the reasons for goals that cannot be reached, on goals whose reason is known by construction."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from supple import Frame, Goal, method, models
from supple._solve import common_reasons, explanation, past_limits, step_reasons
from supple._solve.text import length_text
from supple.joint import Joint, Mimic
from supple.linkage import Linkage
from supple.solver import Solver

PANDA, HAND = models.panda(), "panda_hand_tcp"
UR5 = models.ur5()
SO101, JAW = models.so101(), "gripper_frame_link"


def chain(lengths, limits=math.inf):
    """A planar arm of hinges a, b, ... about z, each within +-limits, with a link `tip` at its end."""
    names, limits = "abcd"[: len(lengths)], np.broadcast_to(limits, len(lengths))
    ends = ["base", *(f"link {name}" for name in names)]
    joints = [
        Joint.revolute(name, ends[i], ends[i + 1], at=Frame.at([r, 0, 0]), lower=-limits[i], upper=limits[i])
        for i, (name, r) in enumerate(zip(names, [0, *lengths[:-1]], strict=True))
    ]
    return Linkage("chain", [*joints, Joint.fixed("end", ends[-1], "tip", at=Frame.at([lengths[-1], 0, 0]))])


def searching(arm):
    """What solves for the reasons: the search."""
    return lambda goals, start, keep_limits: Solver(keep_limits=keep_limits).solve(arm, goals, start)


def why(arm, *goals):
    solve = searching(arm)
    found = solve(goals, arm.rest, True)
    assert not found.arrived
    return explanation.unreachable(arm, goals, found.q, found.error, solve)


def amounts(said):
    """Joint, how far in radians or metres, and which limit, of each sentence that names one."""
    found = re.findall(r"(\w+) would have to be ([\d.e-]+) (m?rad|m) past its (\w+) limit", "; ".join(said))
    return {
        name: (float(x) * (1e-3 if unit == "mrad" else 1)) * (1 if side == "upper" else -1)
        for name, x, unit, side in found
    }


def wide(arm, past, share=1.02):
    """The same arm, with limits as much wider as the joints would have to be past them, and a little more."""
    joints = [
        replace(
            joint,
            lower=tuple(x + share * min(0, past.get(joint.name, 0)) for x in joint.lower),
            upper=tuple(x + share * max(0, past.get(joint.name, 0)) for x in joint.upper),
        )
        for joint in arm.joints
    ]
    return Linkage(arm.name, joints, base=arm.base)


# -- how far ----------------------------------------------------------------------------------------------------


def test_beyond_the_outer_reach_it_says_by_how_much_and_along_where():
    arm = chain([2, 1])
    assert why(arm, Goal("tip", position=[3.5, 0, 0])) == ["tip is out of reach by 500 mm along +x"]
    assert why(arm, Goal("tip", position=[3, 4, 0])) == ["tip is out of reach by 2 m along (0.60, 0.80, 0.00)"]
    far = Goal("tip", position=[0, 5, 9], weight=(1, 1, 0))  # what is free is never too far
    assert why(arm, far) == ["tip is out of reach by 2 m along +y"]
    assert why(arm, Goal("tip", position=[5, 0, 0], point=[1, 0, 0])) == ["tip is out of reach by 1 m along +x"]


def test_what_slack_allows_is_not_out_of_reach():
    arm = chain([2, 1])
    error = np.array([[0.25, 0, 0, 0, 0, 0]])
    goal = Goal("tip", position=[3.5, 0, 0], slack=(0.25, 0, 0))
    said = explanation.unreachable(arm, [goal], np.zeros(2), error, searching(arm))
    bounded = np.zeros(2, dtype=bool)
    assert said == ["tip is out of reach by 250 mm along +x"]
    assert explanation._too_far(arm, Goal("tip", position=[3.5, 0, 0], slack=(0.6, 0, 0)), error[0], bounded) == []


def test_too_near_the_base_is_said_where_the_arm_has_a_hole():
    rng = np.random.default_rng(0)
    arm = chain([2, 1])
    for r, angle in zip(rng.uniform(0.1, 0.9, 40), rng.uniform(-3, 3, 40), strict=True):
        (said,) = why(arm, Goal("tip", position=[r * np.cos(angle), r * np.sin(angle), 0]))
        assert re.fullmatch(rf"tip not found there: {length_text(1 - r)} short along .*, too near the base", said)


def test_off_the_plane_of_an_arm_is_short_along_its_normal():
    (said,) = why(chain([2, 1]), Goal("tip", position=[1.5, 1, -0.25]))
    assert said == "tip not found there: 250 mm short along -z"


# -- how turned -------------------------------------------------------------------------------------------------


def test_a_turn_that_is_impossible_at_that_place_is_short_by_the_angle_of_geometry():
    first, second, third = 3.0, 2.0, 1.0
    arm = chain([first, second, third])
    rng = np.random.default_rng(1)
    for d, theta, side in zip(rng.uniform(4.6, 5.4, 40), rng.uniform(-3, 3, 40), [1, -1] * 20, strict=True):
        # the wrist is within the reach of the first two links if the hand leans at most this far from outwards
        lean = math.acos((d**2 + third**2 - (first + second) ** 2) / (2 * d * third))
        asked = theta + side * (lean + 0.3)
        place = [d * np.cos(theta), d * np.sin(theta), 0]
        (said,) = why(arm, Goal("tip", Frame.at(place, Frame.turn([0, 0, 1], asked))))
        words = re.fullmatch(
            r"tip can be there, but was not found there in this orientation: ([\d.]+) rad short about ([+-])z", said
        )
        assert words, said
        assert float(words[1]) == pytest.approx(0.3, rel=0.01)
        assert words[2] == "+-"[side < 0]


@pytest.mark.parametrize(
    ("arm", "link", "place"), [(PANDA, HAND, [0.75, 0, 0.4]), (UR5, "tool0", [0.8, 0.1, 0.2])], ids=["panda", "ur5"]
)
def test_near_the_outer_reach_a_hand_cannot_look_back(arm, link, place):
    back = Frame.fixed("xyz", [0, -np.pi / 2, 0])
    turned = why(arm, Goal(link, Frame.at(place, back)))
    assert re.fullmatch(
        rf"{link} can be there, but was not found there in this orientation: [\d.]+ rad short about .*", turned[0]
    )
    pointed = why(arm, Goal(link, position=place, axis=[0, 0, 1], direction=[-1, 0, 0]))
    assert re.fullmatch(
        rf"{link} can be there, but was not found there pointing in this direction: [\d.]+ rad short about .*",
        pointed[0],
    )


def test_an_orientation_that_is_found_nowhere_is_named():
    arm = chain([2, 1])
    lying = Frame.turn([1, 0, 0], 0.4)  # an arm in a plane turns its tip about z alone
    assert why(arm, Goal("tip", orientation=lying))[0] == "tip not found in this orientation: 0.4 rad short about +x"
    assert why(arm, Goal("tip", axis=[0, 0, 1], direction=[0, np.sin(-0.4), np.cos(0.4)]))[0] == (
        "tip not found pointing in this direction: 0.4 rad short about +x"
    )
    both = Goal("tip", Frame.at([1.5, 1, 0], lying))
    assert why(arm, both) == ["tip can be there, but was found nowhere in this orientation: 0.4 rad short about +x"]
    neither = why(arm, Goal("tip", Frame.at([1.5, 1, -0.25], lying)))
    assert neither[0] == (
        "tip found neither there, 250 mm short along -z, nor in this orientation: 0.4 rad short about +x"
    )


def test_what_slack_allows_is_not_short():
    arm = chain([2, 1])
    lying = Goal("tip", orientation=Frame.turn([1, 0, 0], 0.4), turn_slack=(0.15, 0, 0))
    assert why(arm, lying)[0] == "tip not found in this orientation: 0.25 rad short about +x"
    cone = Goal("tip", axis=[0, 0, 1], direction=[0, -np.sin(0.4), np.cos(0.4)], turn_slack=0.15)
    assert why(arm, cone)[0] == "tip not found pointing in this direction: 0.25 rad short about +x"
    box = Goal("tip", position=[1.5, 1, -0.25], slack=(0, 0, 0.1))
    assert why(arm, box)[0] == "tip not found there: 150 mm short along -z"


def test_where_only_the_place_is_impossible_the_turn_is_granted():
    (said,) = why(chain([2, 1]), Goal("tip", Frame.at([0.4, 0, 0], Frame.turn([0, 0, 1], 1.0))))
    assert said == "tip can be in this orientation, but was not found there: 600 mm short along -x, too near the base"


def test_five_joints_cannot_meet_six_numbers():
    said = why(SO101, Goal(JAW, Frame.at([0.25, 0.1, 0.15], Frame.fixed("xyz", [1, 0.5, 0]))))
    assert said[0].startswith(f"{JAW} can be there, but was not found there in this orientation: ")
    assert said[1] == "5 joints are too few for both"
    turned = why(chain([2, 1]), Goal("tip", Frame.at([1.5, 1, 0], Frame.turn([0, 0, 1], 2.0))))
    assert turned[1] == "2 joints are too few for both"


# -- limits -----------------------------------------------------------------------------------------------------


def test_limits_that_forbid_it_are_named_with_the_least_that_is_past_them():
    first, second, most = 1.0, 0.8, np.array([1.0, 0.7])
    arm = chain([first, second], most)
    rng = np.random.default_rng(2)
    checked = 0
    while checked < 50:
        q = rng.uniform(-2, 2, 2)
        x, y, _ = arm.frame(q, "tip").position
        bend = math.acos((x * x + y * y - first**2 - second**2) / (2 * first * second))
        ways = []  # the two ways to be there, and how far each is past the limits
        for b in (bend, -bend):
            lean = math.atan2(second * math.sin(b), first + second * math.cos(b))
            a = math.remainder(math.atan2(y, x) - lean, math.tau)
            ways.append(np.array([a, b]) - np.clip([a, b], -most, most))
        least = min(np.abs(past).sum() for past in ways)
        if least < 0.05:
            continue
        checked += 1
        said = why(arm, Goal("tip", position=[x, y, 0]))
        assert said[0].startswith("tip not found there: ")
        named = [amounts(said[1:]).get(name, 0) for name in "ab"]
        assert np.abs(named).sum() == pytest.approx(least, rel=0.02)
        assert min(np.abs(past - named).max() for past in ways) < 0.01 * least


@pytest.mark.parametrize(("name", "link"), [("puma560", "tool"), ("panda", HAND)])
def test_a_goal_is_reached_where_limits_are_as_much_wider_as_is_said(name, link):
    arm = models.get(name)
    rng = np.random.default_rng(3)
    joints = [i for i, column in enumerate(arm.jacobian(arm.rest, link).T) if column.any()]
    far = []
    while len(far) < 30:
        q, k = arm.random(seed=rng), rng.choice(joints)
        q[k] = arm.upper[k] + 0.3
        goal = Goal(link, arm.frame(q, link))
        if searching(arm)([goal], arm.rest, True).arrived:
            continue
        past = amounts(why(arm, goal))
        assert past
        far.append(sum(map(abs, past.values())))
        wider = wide(arm, past)
        assert searching(wider)([goal], wider.rest, True).arrived
    assert np.quantile(far, 0.9) <= 0.3 * 1.01  # so much reaches each of them, and mostly it finds no farther way


def test_a_ball_that_would_have_to_leave_its_cone_is_named():
    arm = Linkage(
        "leg",
        [
            Joint.ball("hip", "base", "thigh", axis=[0, 0, 1], swing=0.5),
            Joint.fixed("end", "thigh", "foot", at=Frame.at([0, 0, 1])),
        ],
    )
    said = why(arm, Goal("foot", position=[np.sin(0.75), 0, np.cos(0.75)]))
    assert said[1:] == ["hip would have to be 0.25 rad past its limits"]


def test_slides_are_past_their_limits_by_lengths():
    arm = Linkage("crane", [Joint.prismatic("boom", "mast", "hook", axis=[1, 0, 0], lower=0.5, upper=2)])
    goal = Goal("hook", position=[0.2, 0, 0])
    assert why(arm, goal)[1:] == ["boom would have to be 300 mm past its lower limit"]


def test_a_short_slide_is_named_beside_a_large_angle():
    arm = Linkage(
        "small",
        [
            Joint.prismatic("slide", "base", "carriage", axis=[0, 0, 1], lower=0, upper=0.01),
            Joint.revolute("turn", "carriage", "arm", axis=[0, 0, 1], lower=-0.5, upper=0.5),
            Joint.fixed("end", "arm", "tip", at=Frame.at([0.03, 0, 0])),
        ],
    )
    goal = Goal("tip", Frame.at([0, 0, -0.003]) @ Frame.turn([0, 0, 1], 2.0) @ Frame.at([0.03, 0, 0]))
    said = why(arm, goal)
    assert "slide would have to be 3 mm past its lower limit" in said
    assert "turn would have to be 1.5 rad past its upper limit" in said


def test_a_hinge_that_is_a_whole_turn_away_is_not_past_its_limits():
    arm = chain([1, 1], 3)
    q = np.array([[7.0, -6.0], [-2.9 - 2 * math.pi, 2.9 + 4 * math.pi], [1, 1]])
    assert past_limits._unwrapped(arm, q) == pytest.approx(
        np.array([[7 - math.tau, -6 + math.tau], [-2.9, 2.9], [1, 1]])
    )
    free = models.planar2()  # what has no limits is as it is
    assert np.array_equal(past_limits._unwrapped(free, q), q)


def test_where_geometry_forbids_it_no_limit_is_blamed():
    arm = chain([2, 1], 1)
    said = why(arm, Goal("tip", position=[1.5, 1, -0.25]))
    assert not amounts(said)


# -- together ---------------------------------------------------------------------------------------------------


def test_goals_that_can_each_be_met_but_not_together_are_told_so():
    arm = chain([2, 1])
    elbow, tip = Goal("link b", position=[2, 0, 0]), Goal("tip", position=[0, 2, 0])
    assert why(arm, elbow, tip) == ["link b and tip can each be met, but were not found together"]
    there, so = Goal("tip", position=[3, 0, 0]), Goal("tip", axis=[1, 0, 0], direction=[0, 1, 0])
    assert why(arm, there, so) == ["the goals of tip can each be met, but were not found together"]


def test_of_several_goals_those_that_cannot_be_met_alone_are_blamed():
    arm = chain([2, 1])
    elbow, tip = Goal("link b", position=[2, 0, 0]), Goal("tip", position=[0.25, 0, 0])
    assert why(arm, elbow, tip) == ["tip not found there: 750 mm short along -x, too near the base"]


def test_limits_that_keep_goals_apart_are_named():
    arm = chain([1, 1, 1], [3, 3, 1])
    bend = math.acos(0.8)  # of the first two links, that the third may begin at 1.6 m; it would have to turn by 1.25
    tip = [1.6 + math.cos(bend + 1.25), math.sin(bend + 1.25), 0]
    said = why(arm, Goal("link c", position=[1.6, 0, 0]), Goal("tip", position=tip))
    assert said[0] == "link c and tip can each be met, but were not found together"
    assert amounts(said[1:]) == pytest.approx({"c": 0.25}, rel=1e-2)


def test_what_can_be_reached_after_all_is_said():
    arm = chain([2, 1])
    goal = Goal("tip", position=[1.5, 1, 0])
    error = np.array([[0.1, 0, 0, 0, 0, 0]])
    assert explanation.unreachable(arm, [goal], arm.rest, error, searching(arm)) == ["other joint values reach it"]


def lift():
    """A slide along z within 0 and 1 m, with an elbow of two turns."""
    joints = [
        Joint.prismatic("lift", "world", "a", lower=0, upper=1),
        Joint.revolute("e", "a", "b", axis=[0, 1, 0], at=Frame.at([0, 0, 0.1])),
        Joint.revolute("e2", "b", "c", axis=[1, 0, 0], at=Frame.at([0.3, 0, 0])),
        Joint.fixed("t", "c", "tip", at=Frame.at([0, 0.3, 0])),
    ]
    return Linkage("lift", joints)


def test_without_limits_a_slide_puts_nothing_out_of_reach():
    arm = lift()
    goal = Goal("tip", position=arm.frame([5, 0.9, 0.4], "tip").position)
    local = {"method": method.damped(), "max_iterations": 4}
    assert "out of reach" in Solver(**local).solve(arm, goal).why
    found = Solver(keep_limits=False, **local).solve(arm, goal)
    assert found.why == "stopped after 4 iterations; it can be reached"


def test_a_slide_that_is_locked_outside_its_limits_puts_nothing_out_of_reach():
    arm = lift()
    there = arm.frame([5, 0.9, 0.4], "tip").position
    locked, goal = Solver(joint_weights={"lift": 0}), Goal("tip", Frame.at(there, Frame.rpy(1, 1, 1)))
    assert "out of reach" not in locked.solve(arm, goal, [5, 0.2, 0.1]).why
    assert "out of reach" in locked.solve(arm, goal, [0.5, 0.2, 0.1]).why
    assert locked.solve(arm, Goal("tip", position=there), [5, 0.2, 0.1]).arrived


@pytest.mark.parametrize("kind", ["mimic", "relative", "planar"])
def test_any_slide_on_the_way_to_the_link_counts(kind):
    slide = Joint.prismatic("lift", "world", "a", lower=0, upper=1)
    if kind == "mimic":
        second = Joint.prismatic("second", "a", "b", mimic=Mimic("lift"))
        arm, goal, q = Linkage("arm", [slide, second]), Goal("b", position=[0, 0, 10]), [5.0]
    elif kind == "relative":
        other = Joint.revolute("turn", "world", "b")
        arm, goal, q = Linkage("arm", [slide, other]), Goal("b", position=[0, 0, -5], relative_to="a"), [5.0, 0]
    else:
        plane = Joint.planar("plane", "world", "a", lower=-1, upper=1)
        arm, goal, q = Linkage("arm", [plane]), Goal("a", position=[5, 0, 0]), [5.0, 0, 0]
    error, fixed = np.ones((1, 6)), np.zeros(arm.dof, dtype=bool)
    assert "out of reach" in explanation.unreachable(arm, [goal], np.array(q), error, searching(arm))[0]
    outside = common_reasons.may_be_outside(arm, np.array(q), True, ~fixed)
    assert not common_reasons.out_of_reach(arm, goal, goal.position, error[0, :3], outside)
    assert common_reasons.out_of_reach(arm, goal, goal.position, error[0, :3], fixed)


@pytest.mark.parametrize("keep_limits", [True, False])
def test_a_tracker_without_limits_has_no_reach_along_a_slide(keep_limits):
    arm = lift()
    tracker = Solver(method=method.damped(), keep_limits=keep_limits).track(arm, Goal("tip", position=[0, 0, 0]))
    row = np.zeros((4, 4))
    row[:3, :3], row[:3, 3], row[3, 3] = np.eye(3), [0.3, 0.3, 5], 1
    whys = [tracker.step(row, 0.01).why for _ in range(400)]
    assert any("out of reach" in why for why in whys) == keep_limits


def test_the_distance_out_of_reach_of_a_tracker_has_no_free_component():
    arm = models.ur5()
    goal = Goal("tool0", arm.frame(arm.rest, "tool0"), weight=(1, 1, 0))
    tracker = Solver().track(arm, goal)
    said = set()
    for height in (0.0, 3.0):
        tracker.reset(arm.rest)
        command = Frame.at([1.5, 0, height], arm.frame(arm.rest, "tool0"))
        for _ in range(600):
            step = tracker.step(command, 1 / 300)
        said.add(re.match(r"tool0 is out of reach by (\d+ mm) along \S+", step.why).group())
    assert len(said) == 1, said
    assert said == {Solver().solve(arm, Goal("tool0", command, weight=(1, 1, 0))).why}


def test_the_speed_of_a_relative_goal_is_the_relative_one():
    """A carriage takes the arm along: its tip is quick in the world, and slow relative to the carriage."""
    at = Frame.at([1, 0, 0])
    joints = [
        Joint.prismatic("carriage", "world", "cart", axis=[1, 0, 0], lower=-100, upper=100),
        Joint.prismatic("slide", "cart", "hand", axis=[1, 0, 0], at=at, lower=-1, upper=1),
    ]
    arm = Linkage("carried", joints)
    tracker = Solver().track(arm, Goal("hand", position=[1, 0, 0], relative_to="cart"))
    step = tracker.step(at, 0.01)
    speeds = np.array([0.1]), np.array([math.inf])
    for velocity, limited in (([1.0, 0.0], False), ([0.0, 0.1], True), ([-0.1, 0.1], True), ([0.1, 0.01], False)):
        step._result[arm.dof : 2 * arm.dof] = velocity
        said = step_reasons.effectors_too_slow(arm, tracker.goals, speeds, step)
        assert said == (["hand at its speed limit"] if limited else [])


def test_a_margin_is_called_a_margin_and_not_a_limit():
    arm = chain([1.0], [1.0])
    for solver in Solver(margin=0.1), Solver(method=method.damped(), margin=0.1):
        for angle, end in (0.95, "50 mrad inside the margin of its upper limit"), (1.2, "0.2 rad past its upper limit"):
            goal = Goal("tip", position=[math.cos(angle), math.sin(angle), 0], weight=(1, 1, 0))
            found = solver.solve(arm, goal)
            assert found.q[0] == pytest.approx(0.9)
            assert found.why.endswith(f"{arm.names[0]} would have to be {end}")
            assert found.why in str(found)
    ball = Linkage("ball", [Joint.ball("b", "base", "tip", swing=0.5)])
    tilted = Goal("tip", orientation=Frame.turn([1, 0, 0], 0.45).rotation)
    said = Solver(margin=0.1).solve(ball, tilted).why
    assert said.endswith("b would have to be 50 mrad past the margin of its limits")
    assert Solver().solve(ball, tilted).arrived


def test_a_tracker_counts_the_way_left_to_a_margin():
    arm = chain([1.0], [1.0])
    goal = Goal("tip", position=[1, 0, 0], weight=(1, 1, 0))
    for margin, words in (0.0, "its upper limit"), (0.1, "the margin of its upper limit"):
        tracker = Solver().track(arm, goal, margin=margin)
        said = set()
        for angle in 0.004 * np.arange(400):
            step = tracker.step(Frame.at([math.cos(angle), math.sin(angle), 0]), 0.01)
            said.update(step.warnings)
        name = arm.names[0]
        assert said
        assert all(text.startswith(f"{name} has ") for text in said)
        assert all(f" left to {words}, " in text for text in said)
        assert step.why == f"{name} at {words}"
