"""Laws of GoalPath and solve_path: constant speed, circles that are round, hands that stay on their lines."""

import copy
import math
import pickle

import numpy as np
import pytest

from supple import Goal, Outcome, Solver, method, models, prefer
from supple.errors import BadInput, UnknownName
from supple.frame import Frame
from supple.joint import Joint
from supple.linkage import Linkage
from supple.motion import Motion
from supple.path import GoalPath
from supple.path_solution import solve_path

START = (math.pi / 8, math.pi / 4, math.pi / 4)
CHAPTER = {"keep_limits": False, "max_step": 1e9, "limit_escapes": 0}
BALL = Linkage(
    "figure",
    [
        Joint.ball("shoulder", "torso", "upper", axis=[1, 0, 0]),
        Joint.revolute("elbow", "upper", "fore", at=Frame.at([0.3, 0, 0]), lower=-2.5, upper=-0.1, rest=-1),
        Joint.ball("wrist", "fore", "hand", at=Frame.at([0.3, 0, 0])),
    ],
)


def places(rng, n):
    return Frame.at(rng.uniform(-1, 1, (n, 3)), Frame.rotvec(rng.uniform(-1.7, 1.7, (n, 3))))


def paths(count=14):
    """Paths of every kind, through random frames and through positions alone."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        frames = places(rng, max(n, 3))
        for p in (frames, frames.position):
            yield GoalPath.line(*p[:n])
            yield GoalPath.spline(*p[:n])
            yield GoalPath.arc(*p[:3])
            yield GoalPath.circle(p[0], rng.uniform(-1, 1, 3), rng.normal(size=3), rng.uniform(-9, 9))


def turn_between(a, b):
    return np.linalg.norm((a.inverse() @ b).to_rotvec(), axis=-1)


# -- paths ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_path_goes_at_constant_speed():
    for path in paths():
        chords = np.linalg.norm(np.diff(path.sampled(3001).position, axis=0), axis=1)
        whole = chords.sum()
        assert whole == pytest.approx(path.length, rel=1e-3)
        # a chord over a corner is shorter; none is longer
        assert chords.max() <= path.length / 3000 * (1 + 1e-7)
        assert np.median(chords) == pytest.approx(path.length / 3000, rel=1e-5)


def test_the_length_of_a_spline_is_that_of_its_finest_chords():
    rng = np.random.default_rng(3)
    for n in (3, 5, 9):
        path = GoalPath.spline(*rng.uniform(-1, 1, (n, 3)))
        chords = [np.linalg.norm(np.diff(path.sampled(k).position, axis=0), axis=1).sum() for k in (4001, 8001)]
        # chords miss a part that shrinks with the square of their number
        assert path.length == pytest.approx(chords[1] + (chords[1] - chords[0]) / 3, rel=1e-7)


def test_lines_and_splines_go_through_their_places_in_order():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        frames = places(rng, int(rng.integers(2, 9)))
        for make in (GoalPath.line, GoalPath.spline):
            path = make(*frames)
            found = path.at(path._stops)
            assert np.abs(found.matrix - frames.matrix).max() < 1e-11
            assert np.all(np.diff(path._stops) > 0)
            assert np.abs(path.at([0, 1]).matrix - frames.matrix[[0, -1]]).max() < 1e-12
            assert path.at(-5) == path.at(0)
            assert path.at(7) == path.at(1)


def test_a_line_is_straight_and_turns_evenly():
    rng = np.random.default_rng(4)
    for _ in range(50):
        a, b = places(rng, 2)
        path = GoalPath.line(a, b)
        s = np.linspace(0, 1, 11)
        assert np.abs(path.at(s).position - (a.position + s[:, None] * (b.position - a.position))).max() < 1e-14
        steps = turn_between(path.at(s[:-1]), path.at(s[1:]))
        assert np.abs(steps - turn_between(a, b) / 10).max() < 1e-12


def test_a_spline_has_no_corner_and_no_jump_of_curvature():
    rng = np.random.default_rng(5)
    for _ in range(30):
        path = GoalPath.spline(*rng.uniform(-1, 1, (6, 3)))
        h = 1e-3 / path.length
        for stop in path._stops[1:-1]:
            p = path.at(stop + h * np.arange(-2, 3)).position
            before, after = p[2] - p[1], p[3] - p[2]
            bend = np.linalg.norm(after - before) / 1e-6
            assert np.linalg.norm(after - before) < 1e-3 * (1 + bend) * 2e-3
            curve = np.array([p[0] - 2 * p[1] + p[2], p[2] - 2 * p[3] + p[4]]) / 1e-6
            assert np.linalg.norm(curve[1] - curve[0]) < 0.05 * (1 + np.linalg.norm(curve[0])) ** 2


def test_a_spline_of_two_places_or_of_places_on_a_line_is_that_line():
    a, b = np.array([1.0, 2, 3]), np.array([-1.0, 0, 5])
    s = np.linspace(0, 1, 21)
    for spline in (GoalPath.spline(a, b), GoalPath.spline(*(a + k * (b - a) for k in (0, 0.1, 0.7, 1)))):
        assert np.abs(spline.at(s).position - GoalPath.line(a, b).at(s).position).max() < 1e-13


def test_an_arc_stays_on_its_circle_and_passes_its_middle():
    rng = np.random.default_rng(6)
    for _ in range(200):
        frames = places(rng, 3)
        path = GoalPath.arc(*frames)
        a, b, c = frames.position
        p = path.sampled(101).position
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        assert np.abs((p - a) @ normal).max() < 1e-12 * (1 + path.length)
        centre = path._curve.centre
        radius = np.linalg.norm(a - centre)
        assert np.abs(np.linalg.norm(p - centre, axis=1) - radius).max() < 1e-12 * (1 + radius)
        assert np.abs(path.at(path._stops).matrix - frames.matrix).max() < 1e-9 * (1 + radius)
        assert path.length < 2 * math.pi * radius


def test_a_circle_goes_around_its_axis_and_takes_the_hand_along():
    hand = Frame.at([1, 0, 0.2], Frame.turn([0, 1, 0], 0.3))
    door = GoalPath.circle(hand, [0, 0, 0], [0, 0, 3], math.pi / 2)
    assert door.length == pytest.approx(math.pi / 2)
    for s in (0, 0.3, 1):
        opened = Frame.turn([0, 0, 1], s * math.pi / 2) @ hand
        assert np.abs(door.at(s).matrix - opened.matrix).max() < 1e-14
    back = GoalPath.circle(hand, [0, 0, 9], [0, 0, 1], -7 * math.pi)  # many turns, the other way
    assert np.abs(back.at(0.5).matrix - (Frame.turn([0, 0, 1], -3.5 * math.pi) @ hand).matrix).max() < 1e-13


def test_facing_replaces_the_orientation():
    a, b = Frame.turn([1, 0, 0], 0.4), Frame.turn([0, 1, 0], 1.0)
    path = GoalPath.arc([0, 0, 0], [1, 1, 0], [2, 0, 0])
    assert not path.turns
    assert np.abs(path.facing(a).sampled(9).rotation - a.rotation).max() < 1e-15
    turned = path.facing(a, b.rotation)
    assert turned.turns
    assert np.abs(turn_between(turned.at([0, 0.25]), a) - [0, turn_between(a, b) / 4]).max() < 1e-12
    assert np.array_equal(turned.sampled(9).position, path.sampled(9).position)


def test_a_path_that_only_turns_goes_by_the_turn():
    at = Frame.at([1, 2, 3])
    path = GoalPath.line(at, at @ Frame.turn([0, 0, 1], 0.5), at @ Frame.turn([0, 0, 1], 2.0))
    assert path.length == 0
    assert np.abs(turn_between(path.at(np.linspace(0, 1, 5)), at) - np.linspace(0, 2, 5)).max() < 1e-14
    assert np.array_equal(path.sampled(4).position, np.tile([1.0, 2, 3], (4, 1)))
    assert GoalPath.line(at, at).at([0, 0.5, 1]).position.tolist() == [[1, 2, 3]] * 3


def test_parts_broadcast_over_any_axes():
    for path in paths(2):
        s = np.random.default_rng(0).random((2, 3, 4))
        assert path.at(s).shape == (2, 3, 4)
        assert np.abs(path.at(s)[1, 2, 3].matrix - path.at(s[1, 2, 3]).matrix).max() < 1e-15


def test_paths_are_values():
    all_paths = list(paths(2))
    for path in all_paths:
        again = pickle.loads(pickle.dumps(path))
        assert again == path == copy.deepcopy(path)
        assert hash(again) == hash(path)
        assert again.at(0.3) == path.at(0.3)
        with pytest.raises(AttributeError):
            path.kind = "a wish"
    assert len(set(all_paths)) == len(all_paths)
    with pytest.raises(TypeError, match=r"made by GoalPath\.line"):
        GoalPath()


def test_a_path_says_what_it_is():
    assert str(GoalPath.line([0, 0, 0], [0, 3, 4])) == "a line 5 m long, of positions"
    assert str(GoalPath.circle(Frame.at([1, 0, 0]), [0, 0, 0])) == "an arc 6.283 m long, turning 6.283 rad"
    assert repr(GoalPath.spline([0, 0, 0], [1, 0, 0])) == "<GoalPath: a spline 1 m long, of positions>"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: GoalPath.line([0, 0, 0]), "a path needs 2 waypoints or more, got 1"),
        (lambda: GoalPath.line([0, 0], [1, 1]), "a position must have shape (3,), not (2,)"),
        (lambda: GoalPath.line([0, 0, 0], [1, 1, math.nan]), "a position must be finite, got [1.0, 1.0, nan]"),
        (lambda: GoalPath.line([0, 0, 0], "abc"), "a position must be numbers of shape (3,)"),
        (lambda: GoalPath.line([0, 0, 0], [1, [2], 3]), "a position must be numbers of shape (3,)"),
        (lambda: GoalPath.line([0, 0, 0], Frame()), "must all be frames, or all be positions"),
        (lambda: GoalPath.line(Frame(np.stack([np.eye(4)] * 2)), Frame()), "give many one by one"),
        (lambda: GoalPath.line([0, 0, 0], [1, 0, 0], [1, 0, 0]), "waypoints 1 and 2 are at the same position"),
        (lambda: GoalPath.spline(Frame(), Frame()), "waypoints 0 and 1 are at the same position"),
        (lambda: GoalPath.arc([0, 0, 0], [1, 0, 0], [2, 0, 0]), "no arc through waypoints on one line"),
        (lambda: GoalPath.arc([0, 0, 0], [1, 0, 0], [0, 0, 0]), "no arc through waypoints on one line"),
        (lambda: GoalPath.circle([1, 0, 0], [0, 0, 0], [0, 0, 0]), "axis must not be zero"),
        (lambda: GoalPath.circle([0, 0, 5], [0, 0, 0]), "must not be on its axis"),
        (lambda: GoalPath.circle([1, 0, 0], [0, 0, 0], angle=0), "angle must be a finite number that is not 0"),
        (lambda: GoalPath.line([0, 0, 0], [1, 0, 0]).sampled(1), "frames must be a whole number of at least 2"),
        (lambda: GoalPath.line([0, 0, 0], [1, 0, 0]).at([0, math.nan]), "s must be finite"),
        (lambda: GoalPath.line([0, 0, 0], [1, 0, 0]).at("half"), "s must be numbers"),
        (
            lambda: GoalPath.line([0, 0, 0], [1, 0, 0]).facing(np.stack([np.eye(3)] * 2)),
            "an orientation must be a single",
        ),
    ],
)
def test_what_cannot_be_a_path_is_refused(make, said):
    with pytest.raises(BadInput) as caught:
        make()
    assert said in str(caught.value)


# -- following --------------------------------------------------------------------------------------------------


def off_line(points, a, b):
    """Distance of points (n, 3) from the line through a and b."""
    along = (b - a) / np.linalg.norm(b - a)
    return np.linalg.norm(np.cross(points - a, along), axis=-1)


@pytest.mark.parametrize(
    ("name", "link"),
    [("panda", "panda_hand_tcp"), ("ur5", "tool0"), ("iiwa14", None), ("kraft", None), ("puma560", None)],
)
def test_a_hand_stays_on_its_line_at_every_frame(name, link):
    arm = models.get(name)
    link = link or arm.tips[0]
    here = arm.frame(arm.rest, link)
    there = arm.frame(arm.clamp(arm.rest + 0.15), link)
    done = solve_path(arm, GoalPath.line(here, there).goal(link, 41), duration=2)
    assert done.arrived
    assert done.left is None
    assert done.distance.max() <= 1e-6
    assert done.angle.max() <= 1e-6
    hands = arm.frame(done.motion.q, link)
    assert off_line(hands.position, here.position, there.position).max() <= 1e-6
    assert done.motion.times == pytest.approx(np.linspace(0, 2, 41))
    assert done.motion.within_limits()
    assert done.change.max() < 0.1  # no leap from one way of reaching to another


def test_ball_joints_follow_too():
    here = BALL.frame(BALL.rest, "hand")
    there = Frame.at([0.2, 0.3, -0.2], Frame.turn([1, 1, 0], 1.2))
    done = solve_path(BALL, GoalPath.line(here, there).goal("hand", 31))
    assert done.arrived
    assert off_line(BALL.frame(done.motion.q, "hand").position, here.position, there.position).max() <= 1e-6
    # between its frames a motion is linear in q, so it leaves the line, but only by the square of a step
    between = done.motion.frame(np.linspace(0, 1, 301), "hand").position
    assert off_line(between, here.position, there.position).max() < 2e-3


def test_following_keeps_to_the_path_where_interpolating_does_not():
    arm = models.planar3()
    here, there = arm.frame(START, "tip").position, np.array([-20.0, 5, 0])
    done = solve_path(arm, GoalPath.line(here, there).goal("tip", 101), START)
    direct = Motion(arm, [0, 1], done.motion.q[[0, -1]])
    t = np.linspace(0, 1, 1001)
    assert off_line(done.motion.frame(t, "tip").position, here, there).max() < 0.01
    assert off_line(direct.frame(t, "tip").position, here, there).max() > 5


def test_frames_are_followed_as_given():
    arm = models.planar3()
    frames = arm.frame(arm.random(12, seed=1) * 0.1 + START, "tip")
    done = solve_path(
        arm,
        Goal("tip", position=frames.position),
        START,
        solver=Solver(method=method.damped(), limit_escapes=0, damping=1e-6),
    )
    assert done.arrived
    assert np.abs(arm.frame(done.motion.q, "tip").position - frames.position).max() < 1e-6


def test_several_goals_go_along_together_and_some_hold_still():
    arm = models.panda()
    hand, elbow = "panda_hand_tcp", "panda_link4"
    here = arm.frame(arm.rest, hand)
    still = Goal(elbow, position=arm.frame(arm.rest, elbow).position)
    moving = GoalPath.line(here.position, here.apply([0.05, 0.05, 0])).goal(hand, 21)
    done = solve_path(arm, [moving, still])
    assert done.arrived
    assert done.distance.shape == (21, 2)
    assert np.abs(arm.frame(done.motion.q, elbow).position - still.position).max() <= 1e-6


def test_it_says_where_it_left_the_path():
    arm = models.planar3()
    here = arm.frame(START, "tip").position
    done = solve_path(arm, GoalPath.line(here, [-45, 5, 0]).goal("tip", 31), START, duration=3)
    wanted = GoalPath.line(here, [-45, 5, 0]).sampled(31).position
    beyond = np.linalg.norm(wanted, axis=1) > 30
    assert done.left == np.argmax(beyond)
    assert np.array_equal(~done.solution.arrived, beyond)
    assert set(done.solution.outcomes[beyond]) <= {Outcome.STUCK.value, Outcome.OUT_OF_BUDGET.value}
    assert (
        np.abs(np.linalg.norm(wanted - arm.frame(done.motion.q, "tip").position, axis=1) - done.distance[:, 0]).max()
        < 1e-9
    )
    assert f"left the path at frame {done.left} ({done.left / 10:g} s), {beyond.sum()} of 31 not arrived" in str(done)
    assert "tip is out of reach by 15.3 m" in str(done)
    assert done.why.startswith(f"frames {done.left} to 30 ({done.left / 10:g} to 3 s): ")
    assert repr(done) == f"<PathSolution: {done}>"


def test_without_times_it_says_none():
    arm = models.planar3()
    here = arm.frame(START, "tip").position
    done = solve_path(arm, GoalPath.line(here, [-45, 5, 0]).goal("tip", 31), START)
    assert f"left the path at frame {done.left}, " in str(done)
    assert done.why.startswith(f"frames {done.left} to 30: ")
    assert " s)" not in f"{done} {done.why}"


def test_a_path_solution_prints_whether_it_arrived():
    arm = models.planar3()
    here = arm.frame(START, "tip").position
    done = solve_path(arm, GoalPath.line(here, here - 0.1 * here).goal("tip", 11), START)
    assert str(done).startswith("followed all 11 frames within tolerance; largest change ")
    assert "largest change from frame to frame 0." in str(done)
    assert str(done)[:-1].endswith(" rad, of joint")


# -- the chapter's sequences: lengths 15, 10 and 5, a goal in 20 equal moves, one step a frame -------------------------


def sequence(goal, **options):
    arm = models.planar3()
    path = GoalPath.line(arm.frame(START, "tip").position, [*goal, 0])
    return solve_path(arm, path.goal("tip", 21, weight=(1, 1, 0)), START, solver=Solver(**CHAPTER, **options), steps=1)


@pytest.mark.parametrize(
    ("goal", "options", "ends", "largest"),
    [
        ((-20, 5), {"method": method.pseudoinverse()}, 0.095, None),
        ((-20, 5), {"method": method.damped(), "damping": 25}, 0.439, None),
        ((-20, 5), {"method": method.alternative_jacobian(), "damping": 0}, 0.216, None),
        ((-35, 5), {"method": method.pseudoinverse()}, None, 1.359),
        ((-35, 5), {"method": method.damped(), "damping": 25}, None, 0.304),
    ],
    ids=["5.20a", "5.20b", "5.23", "5.21a", "5.21b"],
)
def test_the_sequences_of_the_chapter_end_where_they_should(goal, options, ends, largest):
    done = sequence(goal, **options)
    assert len(done.motion) == 21
    assert np.array_equal(done.motion.q[0], START)
    assert done.distance[0, 0] < 1e-12
    assert (done.solution.iterations == [0] + [1] * 20).all()
    if ends:
        assert done.distance[-1, 0] == pytest.approx(ends, abs=6e-4)
    if largest:
        assert done.change.max() == pytest.approx(largest, abs=6e-4)


@pytest.mark.parametrize(
    ("gains", "ends"), [([0.1, 0.5, 0.1], (0.97, 1.43)), ([0.1, 0.1, 0.5], (1.62, 0.04)), (None, (1.371, 0.659))]
)
def test_a_stiffer_joint_stays_straighter(gains, ends):
    wish = prefer.rest([0, 0, 0], gains) if gains else prefer.nothing
    done = sequence((-20, 5), method=method.pseudoinverse(), prefer=wish)
    assert np.array_equal(done.motion.q[0], START)  # no step, and so no wish, before the goal first moves
    assert done.motion.q[-1, 1:] == pytest.approx(ends, abs=6e-3)


def test_more_steps_a_frame_come_nearer_and_stop_when_they_arrive():
    arm = models.planar3()
    goal = GoalPath.line(arm.frame(START, "tip").position, [-20, 5, 0]).goal("tip", 21, weight=(1, 1, 0))
    how = Solver(method=method.pseudoinverse(), **CHAPTER)
    one, two, many = (solve_path(arm, goal, START, solver=how, steps=k) for k in (1, 2, 50))
    assert two.distance.max() < 0.1 * one.distance.max()
    assert many.arrived
    assert many.solution.iterations.max() < 10


def test_a_place_without_a_step_is_stuck_not_an_error():
    arm = models.planar2()  # stretched out, the Jacobian is singular
    goal = GoalPath.line([25, 0, 0], [20, 0, 0]).goal("tip", 5, weight=(1, 1, 0))
    done = solve_path(arm, goal, [0, 0], solver=Solver(method=method.inverse(), **CHAPTER), steps=1)
    assert done.solution[0].outcome is Outcome.ARRIVED
    assert set(done.solution.outcomes[1:]) == {Outcome.STUCK.value}
    assert not done.motion.q.any()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goals": Goal("tip", position=[1, 1, 0])}, "goals along a path need one leading axis"),
        ({"goals": [Goal("tip", position=[1, y, 0]) for y in (0, 1)]}, "write one Goal with all frames"),
        ({"goals": Goal("tip", position=np.ones((1, 3)))}, "with two frames or more"),
        ({"times": [0, 1], "rate": 30}, "give times, rate or duration, not times and rate"),
        ({"times": [0, 1, 2]}, "5 frames need times of shape (5,), not (3,)"),
        ({"times": [0, 1, 1, 2, 3]}, "times must increase: 1.0 s is followed by 1.0 s"),
        ({"prefer": prefer.rest([0, 0, 0])}, "prefer.centre() or prefer.dexterity() alone"),
        ({"end": [0, 0]}, "end must have shape"),
        ({"closed": 2}, "closed must be"),
        ({"goals": [Goal("tip", position=np.ones((n, 3))) for n in (3, 4)]}, "the same number of frames"),
        ({"goals": Goal("tip", position=[[1, 1, 0], [1, math.nan, 0]])}, "that of frame 1 is not"),
        ({"goals": []}, "at least one goal is needed"),
        ({"goals": "tip"}, "goals must be Goal values"),
        ({"start": [0, 0]}, "start must have shape"),
        ({"start": np.zeros((2, 3))}, "start must have shape (3,)"),
        ({"start": [0, 0, math.inf]}, "start must be finite"),
        ({"solver": "damped"}, "solver must be a Solver"),
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"duration": 0}, "duration must be a positive number"),
        ({"duration": math.nan}, "duration must be a positive number"),
        ({"solver": Solver(method=method.inverse())}, "the inverse needs a square Jacobian"),
    ],
)
def test_what_cannot_be_followed_is_refused_before_any_work(change, said):
    good = {"goals": GoalPath.line([25, 5, 0], [20, 5, 0]).goal("tip", 5, weight=(1, 1, 0)), "start": START}
    with pytest.raises(BadInput) as caught:
        solve_path(models.planar3(), **good | change)
    assert said in str(caught.value)


def test_an_unknown_link_is_named():
    with pytest.raises(UnknownName, match="did you mean 'tip'"):
        solve_path(models.planar3(), GoalPath.line([1, 0, 0], [2, 0, 0]).goal("tipp", 5))


def test_the_goals_of_a_path_take_the_options_of_a_goal():
    path = GoalPath.line([1, 0, 0], [2, 0, 0])
    assert path.goal("tip", 3) == Goal("tip", position=[[1, 0, 0], [1.5, 0, 0], [2, 0, 0]])
    assert path.goal("tip", 3, weight=2, point=(0, 0, 1)).point.tolist() == [0, 0, 1]
    turned = path.facing(Frame()).goal("tip", 3, turn_weight=0.5)
    assert turned.orientation.shape == (3, 3, 3)
