"""Laws of Linkage: what is a tree and what is not, linkages made from linkages, steps, limits, and how it prints."""

import copy
import math
import pickle

import numpy as np
import pytest

from supple import models
from supple.errors import BadInput, BadLinkage, UnknownName
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Geometry, Link
from supple.linkage import Axes, Linkage

SEEDS = range(12)


def random_frame(rng):
    return Frame.at(rng.uniform(-1, 1, 3), Frame.rotvec(rng.uniform(-2, 2, 3)))


def random_tree(seed, n=25):
    """A linkage of n joints of every kind with every kind of limit, some of them mimics, also of mimics."""
    rng = np.random.default_rng(seed)
    kinds = [Kind.REVOLUTE] * 3 + list(Kind)
    joints, single = [], []
    for i in range(n):
        kind = kinds[rng.integers(len(kinds))] if i >= len(kinds) else kinds[i]
        place = (f"j{i}", f"l{rng.integers(max(0, i - 4), i + 1)}", f"l{i + 1}")
        given = {"at": random_frame(rng), "axis": rng.normal(size=3)}
        low, high = -rng.uniform(0.1, 2, 3), rng.uniform(0.1, 2, 3)
        if kind in (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC):
            if single and rng.random() < 0.4:
                source = single[rng.integers(len(single))]
                given["mimic"] = Mimic(source, rng.choice([-1.5, 0.5, 2.0]), rng.uniform(-1, 1))
            if kind is not Kind.CONTINUOUS:
                given |= {"lower": low[0], "upper": high[0]}
            single.append(place[0])
            joint = getattr(Joint, kind.value)(*place, **given)
        elif kind is Kind.BALL:
            joint = Joint.ball(*place, swing=rng.uniform(0.2, 3), twist=(low[0], high[0]), **given)
        elif kind is Kind.PLANAR:
            joint = Joint.planar(*place, lower=low, upper=high, **given)
        elif kind is Kind.FLOATING:
            joint = Joint.floating(*place, at=given["at"], lower=low, upper=high)
        else:
            joint = Joint.fixed(*place, at=given["at"])
        joints.append(joint)
    return Linkage(f"tree{seed}", joints, base=random_frame(rng))


def arm(**more):
    return Linkage(
        "arm",
        [
            Joint.revolute("shoulder", "base", "upper", lower=-2, upper=2, **more),
            Joint.revolute("elbow", "upper", "fore", at=Frame.at([15, 0, 0])),
            Joint.fixed("wrist", "fore", "hand", at=Frame.at([10, 0, 0])),
        ],
    )


def hand():
    return Linkage(
        "hand",
        [
            Joint.prismatic("finger", "palm", "left", lower=0, upper=0.04, axis=[0, 1, 0], rest=0.01),
            Joint.prismatic("thumb", "palm", "right", lower=0, upper=0.04, axis=[0, -1, 0], mimic=Mimic("finger")),
        ],
    )


def worst(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max(initial=0)


def gather(source, target, q):
    """The values of q for the joints that another linkage has too, by name."""
    return q[..., [source.names.index(name) for name in target.names]]


def assert_same_frames(a, qa, b, qb, links, prefix="", tolerance=1e-12):
    fa, fb = a.frames(qa), b.frames(qb)
    for link in links:
        assert worst(fa[link].matrix, fb[prefix + link].matrix) < tolerance, link


# -- what is a tree ---------------------------------------------------------------------------------------------

R = Joint.revolute
NOT_TREES = {
    "nothing": ([], [], "a linkage needs at least one link"),
    "a circle": ([R("j", "a", "b"), R("k", "b", "a")], [], "the joints form a circle: every link has a parent"),
    "a circle beside": (
        [R("j", "a", "b"), R("hang", "x", "h"), R("k", "x", "y"), R("m", "y", "x")],
        [],
        "it is part of a circle of joints",
    ),
    "two roots": ([R("j", "a", "b"), R("k", "c", "d")], [], "but 'c' has no parent either, like 'a'"),
    "a loose link": ([R("j", "a", "b")], [Link("a"), Link("b"), Link("c")], "but 'c' has no parent either, like 'a'"),
    "two parents": (
        [R("j", "a", "b"), R("k", "a", "c"), R("m", "c", "b")],
        [],
        "joint 'm': link 'b' has two parents: it is also the child of joint 'j'",
    ),
    "two joints of a name": ([R("j", "a", "b"), R("j", "b", "c")], [], "joint 'j': two joints have this name"),
    "two links of a name": ([], [Link("a"), Link("a")], "link 'a': two links have this name"),
    "unknown parent": ([R("j", "z", "b")], [Link("a"), Link("b")], "joint 'j': its parent link 'z' does not exist"),
    "unknown child": ([R("j", "a", "z")], [Link("a"), Link("b")], "joint 'j': its child link 'z' does not exist"),
    "mimic of nothing": ([R("j", "a", "b", mimic=Mimic("k"))], [], "joint 'j': it mimics 'k', which does not exist"),
    "mimic of itself": ([R("j", "a", "b", mimic=Mimic("j"))], [], "joint 'j': it mimics itself"),
    "mimics in a circle": (
        [R("j", "a", "b", mimic=Mimic("k")), R("k", "b", "c", mimic=Mimic("m")), R("m", "c", "d", mimic=Mimic("k"))],
        [],
        "joint 'k': it mimics in a circle: 'k', 'm', 'k'",
    ),
    "mimic of a fixed joint": (
        [R("j", "a", "b", mimic=Mimic("k")), Joint.fixed("k", "b", "c")],
        [],
        "joint 'j': it mimics 'k', a fixed joint; only joints of one degree of freedom can be mimicked",
    ),
    "mimic of a ball": (
        [R("j", "a", "b", mimic=Mimic("k")), R("k", "b", "c", mimic=Mimic("m")), Joint.ball("m", "c", "d")],
        [],
        "joint 'k': it mimics 'm', a ball joint; only joints of one degree of freedom can be mimicked",
    ),
    "mimics beyond all numbers": (
        [R("j", "a", "b"), R("k", "b", "c", mimic=Mimic("j", 1e7)), R("m", "c", "d", mimic=Mimic("k", 1e7))],
        [],
        "joint 'm': gain and offset of a chain of mimics, multiplied, must be within 1e+12",
    ),
    "three joints unspread": (
        [Joint.ball_from_revolutes("j", "a", "b")],
        [],
        "expected a Joint, got tuple; put a * before it",
    ),
    "not a joint": (["j"], [], "expected a Joint, got str"),
    "not a link": ([], ["a"], "expected a Link, got str"),
}


@pytest.mark.parametrize("what", NOT_TREES)
def test_what_is_no_tree_is_refused_with_the_reason(what):
    joints, links, message = NOT_TREES[what]
    with pytest.raises(BadLinkage) as caught:
        Linkage("bad", joints, links)
    assert message in str(caught.value)


def test_a_circle_names_a_link_of_the_circle():
    joints, links, _ = NOT_TREES["a circle beside"]
    with pytest.raises(BadLinkage) as caught:
        Linkage("bad", joints, links)
    assert caught.value.element in ("link 'x'", "link 'y'")


def test_names_and_bases_of_the_wrong_kind_are_refused():
    with pytest.raises(BadLinkage, match="the name of a linkage must be a string, got 3"):
        Linkage(3, links=[Link("a")])
    with pytest.raises(BadInput, match="base must be a single Frame"):
        Linkage("a", links=[Link("a")], base=np.eye(4))


def test_joints_may_come_in_any_order():
    tree = random_tree(3)
    shuffled = list(tree.joints)
    np.random.default_rng(0).shuffle(shuffled)
    again = Linkage(tree.name, shuffled, base=tree.base)
    assert set(again.joints) == set(tree.joints)
    place = {link.name: i for i, link in enumerate(again.links)}
    assert all(place[joint.parent] < place[joint.child] for joint in again.joints)
    q = tree.random(5, seed=1)
    assert_same_frames(tree, q, again, gather(tree, again, q), place)


def test_a_single_link_is_a_linkage():
    rock = Linkage("rock", links=[Link("stone")], base=Frame.at([1, 2, 3]))
    assert (rock.dof, rock.root, rock.tips, rock.names) == (0, "stone", ("stone",), ())
    assert rock.frame([], "stone") == Frame.at([1, 2, 3])
    assert rock.inside([])
    assert rock.random(4).shape == (4, 0)
    assert str(rock).splitlines() == ["rock: 0 degrees of freedom, 1 link, tip stone", "stone"]


def test_mimics_follow_also_other_mimics():
    tree = Linkage(
        "m",
        [R("c", "a", "b", mimic=Mimic("b", 2, 1)), R("b", "b", "c", mimic=Mimic("a", 3, -1)), R("a", "c", "d")],
    )
    assert tree.dof == 1
    angles = [2 * (3 * 0.3 - 1) + 1, 3 * 0.3 - 1, 0.3]
    assert worst(tree.frame([0.3], "d").matrix, Frame.turn([0, 0, 1], sum(angles)).matrix) < 1e-14


# -- names and numbers ------------------------------------------------------------------------------------------


def test_every_value_has_a_name():
    tree = Linkage(
        "t",
        [
            Joint.planar("cart", "w", "a"),
            Joint.ball("hip", "a", "b"),
            Joint.revolute("knee", "b", "c"),
            Joint.floating("away", "c", "d"),
        ],
    )
    assert tree.names == (
        *("cart.x", "cart.y", "cart.angle", "hip.rx", "hip.ry", "hip.rz", "knee"),
        *("away.x", "away.y", "away.z", "away.rx", "away.ry", "away.rz"),
    )
    assert len(tree.names) == tree.dof == len(tree.lower) == len(tree.rest)


def test_q_takes_values_by_name_and_leaves_the_others_at_rest():
    tree = Linkage("t", [Joint.revolute("a b", "x", "y", rest=0.5), Joint.ball("hip", "y", "z", rest=[1, 2, 3])])
    assert tree.q().tolist() == [0.5, 1, 2, 3]
    assert tree.q({"a b": 0.1}, hip=[4, 5, 6]).tolist() == [0.1, 4, 5, 6]
    assert tree.q(hip=0).tolist() == [0.5, 0, 0, 0]
    tree.q()[0] = 9
    assert tree.rest[0] == 0.5


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda a: a.q(elbo=1), UnknownName, "no joint named 'elbo'; did you mean 'elbow'?"),
        (lambda a: a.q(wrist=1), BadInput, "joint 'wrist' has no value of its own: it is fixed"),
        (lambda a: models.human().q(left_shoulder=0.5), BadInput, "joint 'left_shoulder' takes 3 values, got 0.5"),
        (lambda a: a.q(elbow=[1, 2]), BadInput, "joint 'elbow' takes one value, got [1, 2]"),
        (lambda a: a.q(elbow=math.nan), BadInput, "the value of joint 'elbow' must be finite, got nan"),
        (lambda a: a.joint("wrst"), UnknownName, "no joint named 'wrst'; did you mean 'wrist'?"),
        (lambda a: a.link("hnd"), UnknownName, "no link named 'hnd'; did you mean 'hand'?"),
        (lambda a: a.frame(a.rest, "hnd"), UnknownName, "no link named 'hnd'; did you mean 'hand'?"),
        (lambda a: a.frames(a.rest)["hnd"], UnknownName, "no link named 'hnd'; did you mean 'hand'?"),
        (lambda a: a.frame([1, 2, 3], "hand"), BadInput, "q must have shape (..., 2), not (3,)"),
        (lambda a: a.frame([1, math.nan], "hand"), BadInput, "finite"),
        (lambda a: a.jacobian(a.rest, "hand", axes="world"), BadInput, "axes must be Axes.WORLD or Axes.LINK"),
        (
            lambda a: a.manipulability(a.rest, "hand", position=False, orientation=False),
            BadInput,
            "manipulability needs position, orientation or both",
        ),
        (lambda a: a.inside([0]), BadInput, "q must have shape (..., 2), not (1,)"),
        (lambda a: a.inside(0.5), BadInput, "q must have shape (..., 2), not ()"),
        (lambda a: a.clamp([0, math.inf]), BadInput, "q must be finite"),
        (lambda a: a.clamp(["a", "b"]), BadInput, "q must be numbers of shape (..., 2)"),
        (lambda a: a.random(-1), BadInput, "shape must be whole numbers that are not negative"),
        (lambda a: a.random((3, 4)), BadInput, "such as random(100, 7); got ((3, 4),)"),
        (lambda a: a.part("hnd"), UnknownName, "no link named 'hnd'; did you mean 'hand'?"),
        (lambda a: a.part("base", "hnd"), UnknownName, "no link named 'hnd'; did you mean 'hand'?"),
        (lambda a: a.part("fore", "upper"), BadInput, "link 'upper' is not below 'fore'"),
        (lambda a: a.with_tool("hnd", Frame()), UnknownName, "did you mean 'hand'?"),
        (lambda a: a.with_tool("hand", np.eye(4)), BadInput, "frame must be a single Frame"),
        (
            lambda a: a.with_tool("hand", Frame(), "fore"),
            BadInput,
            "'arm' already has link 'fore'; choose another name for the tool",
        ),
        (
            lambda a: a.attach("hand", a),
            BadInput,
            "'arm' already has links 'base', 'upper', 'fore', 'hand' and joints 'shoulder', 'elbow', 'wrist'; "
            "give a prefix, such as prefix='arm_'",
        ),
        (lambda a: a.attach("hnd", hand()), UnknownName, "did you mean 'hand'?"),
        (lambda a: a.attach("hand", "hand"), BadInput, "attach needs another Linkage, got str"),
        (lambda a: a.attach("hand", hand(), prefix=3), BadInput, "prefix must be a string, got 3"),
        (lambda a: a.attach("hand", hand(), at=[0, 0, 1]), BadInput, "at must be a single Frame"),
        (lambda a: a.locked(["elbo"]), UnknownName, "no joint named 'elbo'; did you mean 'elbow'?"),
        (lambda a: a.locked({"elbow": math.inf}), BadInput, "the value of joint 'elbow' must be finite, got inf"),
        (lambda a: a.locked({"elbow": "bent"}), BadInput, "joint 'elbow' takes one value, got 'bent'"),
        (lambda a: a.locked(["wrist"]), BadInput, "joint 'wrist' has no value of its own: it is fixed"),
        (lambda _: hand().locked(["thumb"]), BadInput, "joint 'thumb' has no value of its own: it mimics 'finger'"),
    ],
)
def test_mistakes_are_named_before_any_work(call, kind, message):
    with pytest.raises(kind) as caught:
        call(arm())
    assert message in str(caught.value)


# -- a value ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_linkages_survive_copying_and_pickling(seed):
    tree = random_tree(seed)
    tree.frame(tree.rest, tree.tips[0])  # the native tree is made, and must not get in the way
    for again in (copy.copy(tree), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
        assert again == tree
        assert hash(again) == hash(tree)
        assert np.array_equal(again.frames(tree.rest).matrix, tree.frames(tree.rest).matrix)
    assert tree != tree.at(Frame.at([9, 9, 9]))
    assert tree != random_tree(seed + 100)


def test_linkages_do_not_change():
    tree = arm()
    for change in (lambda: setattr(tree, "name", "x"), lambda: delattr(tree, "joints")):
        with pytest.raises(AttributeError, match="a Linkage does not change; make another"):
            change()
    for row in (tree.lower, tree.upper, tree.speed, tree.acceleration, tree.rest):
        with pytest.raises(ValueError):
            row[0] = 1
    with pytest.raises(ValueError):
        tree.frame(tree.rest, "hand").matrix[0, 3] = 1


# -- linkages made from linkages --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_moves_as_it_does_in_the_whole(seed):
    tree = random_tree(seed)
    q = tree.random(20, seed=seed)
    rng = np.random.default_rng(seed)
    parent = {joint.child: joint.parent for joint in tree.joints}
    for tip in rng.choice([link.name for link in tree.links[1:]], 6):
        root = tip
        for _ in range(rng.integers(6)):
            root = parent.get(root, root)
        for piece in (tree.part(root, tip), tree.part(root)):
            assert piece.root == root
            assert piece.base == Frame()
            row = np.empty((20, piece.dof))
            for name in piece.names:  # a mimic set free has the value it had in the whole
                source = tree._sources[name.split(".")[0]]
                column = tree.names.index(name) if name in tree.names else source.first
                row[:, piece.names.index(name)] = source.gain * q[:, column] + source.offset
            seen = tree.frames(q)
            for link in piece.links:
                whole = seen[root].inverse() @ seen[link.name]
                assert worst(piece.frame(row, link.name).matrix, whole.matrix) < 1e-12
    assert tree.part(tree.root).at(tree.base) == tree


def test_a_part_keeps_only_the_way_to_its_tips():
    tree = Linkage(
        "y", [R("a", "root", "l"), R("b", "l", "m"), R("c", "l", "n"), R("d", "n", "o"), R("e", "root", "p")]
    )
    assert [j.name for j in tree.part("root", "m").joints] == ["a", "b"]
    assert [j.name for j in tree.part("root", "m", "n").joints] == ["a", "b", "c"]
    assert [j.name for j in tree.part("l").joints] == ["b", "c", "d"]
    assert [link.name for link in tree.part("m").links] == ["m"]
    assert tree.part("l", "l").dof == 0


def test_followers_of_a_lost_source_go_on_together():
    tree = Linkage(
        "m",
        [
            R("lost", "w", "x", rest=0.2),
            R("still", "w", "a", mimic=Mimic("lost", 0, 0.7)),
            R("first", "a", "b", mimic=Mimic("lost", 2, 0.5), lower=-1, upper=1),
            R("second", "b", "c", mimic=Mimic("lost", -3, 0.25)),
            R("third", "c", "d", mimic=Mimic("second", 4, 1)),
            R("fourth", "d", "e", mimic=Mimic("gone", 1, 1)),
            R("gone", "w", "y", mimic=Mimic("lost", 5, 5)),
        ],
    )
    piece = tree.part("a", "e")
    assert piece.names == ("first",)
    assert (piece.lower, piece.upper, piece.rest) == (-1, 1, pytest.approx(0.9))
    for value in np.linspace(-1, 1, 7):
        whole = tree.frames([value])
        for link in "abcde":
            wanted = whole["a"].inverse() @ whole[link]
            assert worst(piece.frame([2 * value + 0.5], link).matrix, wanted.matrix) < 1e-14
    kept = tree.part("w", "x", "e")  # the source stays, only the mimic between is gone
    assert kept.names == ("lost",)
    assert worst(kept.frame([0.3], "e").matrix, tree.frame([0.3], "e").matrix) < 1e-14
    assert tree.part("w", "a").joint("still").kind is Kind.FIXED
    assert worst(tree.part("w", "a").frame([], "a").matrix, tree.frame([0.3], "a").matrix) < 1e-14


@pytest.mark.parametrize("seed", SEEDS)
def test_a_locked_linkage_stands_where_the_free_one_does_at_those_values(seed):
    tree = random_tree(seed)
    rng = np.random.default_rng(seed)
    q = tree.random(20, seed=seed)
    free = [joint for joint in tree.joints if joint.dof]
    chosen = [free[i] for i in rng.permutation(len(free))[: len(free) // 2]]
    values, first = {}, dict(tree._sources)
    for joint in chosen:
        columns = slice(first[joint.name].first, first[joint.name].first + joint.dof)
        values[joint.name] = q[0, columns]
        q[:, columns] = q[0, columns]
    held = tree.locked(values)
    assert held.dof == tree.dof - sum(joint.dof for joint in chosen)
    assert_same_frames(tree, q, held, gather(tree, held, q), [link.name for link in tree.links])
    at_rest = tree.locked(joint.name for joint in free)
    assert at_rest.dof == 0
    assert_same_frames(tree, tree.rest, at_rest, np.empty(0), [link.name for link in tree.links])
    assert tree.locked([]) == tree.locked({}) == tree


def test_one_name_locks_one_joint():
    assert arm().locked("elbow").names == ("shoulder",)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_attached_linkage_rides_on_its_link(seed):
    rng = np.random.default_rng(seed)
    body, rider, at = random_tree(seed), random_tree(seed + 50, 18), random_frame(rng)
    link = f"l{rng.integers(10)}"
    both = body.attach(link, rider, at=at, prefix="rider/")
    assert both.dof == body.dof + rider.dof
    assert both.joint(f"rider/{rider.name}_mount").kind is Kind.FIXED
    q = both.random(10, seed=seed)
    own = q[:, [both.names.index(name) for name in body.names]]
    other = q[:, [both.names.index("rider/" + name) for name in rider.names]]
    assert_same_frames(body, own, both, q, [link.name for link in body.links])
    seat = body.frame(own, link) @ at
    for name, frame in rider.frames(other).items():
        assert worst((seat @ frame).matrix, both.frame(q, "rider/" + name).matrix) < 1e-12


def test_attaching_twice_needs_two_prefixes():
    two = arm().attach("fore", hand(), prefix="left_").attach("fore", hand(), prefix="right_")
    assert two.joint("right_thumb").mimic == Mimic("right_finger")
    with pytest.raises(BadInput, match="'arm' already has links 'left_palm', 'left_left', 'left_right' and joints"):
        two.attach("fore", hand(), prefix="left_")


def test_a_mount_finds_a_name_of_its_own():
    other = Linkage("grip", [Joint.fixed("grip_mount", "a", "b")])
    assert arm().attach("hand", other).joint("grip_mount_").child == "a"


def test_a_tool_sits_on_its_link_and_changes_no_value():
    tree, tip = random_tree(5), random_frame(np.random.default_rng(0))
    shape = Geometry(Box((1, 1, 1)))
    tooled = tree.with_tool("l7", tip, "drill", [shape])
    assert tooled.names == tree.names
    assert tooled.link("drill").geometry == (shape,)
    q = tree.random(10, seed=0)
    assert worst(tooled.frame(q, "drill").matrix, (tree.frame(q, "l7") @ tip).matrix) < 1e-12
    assert_same_frames(tree, q, tooled, q, [link.name for link in tree.links])
    assert tooled.part(tree.root, *tree.tips, "l7").at(tree.base) == tree


def test_moving_the_root_moves_everything():
    tree, base = random_tree(6), random_frame(np.random.default_rng(1))
    q = tree.random(10, seed=0)
    moved, seen = tree.at(base @ tree.base).frames(q), tree.frames(q)
    for link in tree.links:
        assert worst(moved[link.name].matrix, (base @ seen[link.name]).matrix) < 1e-12


# -- steps ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_difference_is_the_step_from_one_to_the_other(seed):
    tree = random_tree(seed)
    a, b = tree.random(300, seed=seed), tree.random(300, seed=seed + 1)
    step = tree.difference(a, b)
    there = tree.integrate(a, step)
    assert worst(tree.frames(there).matrix, tree.frames(b).matrix) < 1e-12
    assert worst(tree.difference(a, a), 0) < 1e-13
    assert worst(tree.integrate(a, np.zeros_like(a)), a) < 1e-13
    assert worst(tree.difference(a, tree.integrate(a, step * 0.3)), step * 0.3) < 1e-12


def test_steps_broadcast():
    tree = random_tree(0)
    a, b = tree.random(5, 1, seed=0), tree.random(4, seed=1)
    step = tree.difference(a, b)
    assert step.shape == tree.integrate(a, b).shape == (5, 4, tree.dof)
    assert np.array_equal(step[2, 3], tree.difference(a[2, 0], b[3]))
    assert np.array_equal(tree.integrate(b[0], step)[1, 2], tree.integrate(b[0], step[1, 2]))
    with pytest.raises(BadInput):
        tree.integrate(a[:, :, 1:], b)


def test_balls_turn_on_the_group_about_their_own_axes():
    ball = Linkage("b", [Joint.ball("j", "a", "b")])
    rng = np.random.default_rng(0)
    q, step = rng.uniform(-1.7, 1.7, (500, 3)), rng.uniform(-1.7, 1.7, (500, 3))
    wanted = Frame.rotvec(q) @ Frame.rotvec(step)
    assert worst(ball.frame(ball.integrate(q, step), "b").matrix, wanted.matrix) < 1e-13
    assert np.linalg.norm(ball.integrate(q, step), axis=1).max() <= math.pi + 1e-12


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_jacobians_tell_where_a_small_step_leads(seed):
    tree = random_tree(seed)
    q, h = tree.random(8, seed=seed), 1e-6
    for tip in tree.tips:
        jacobian, frame = tree.jacobian(q, tip), tree.frame(q, tip)
        own = tree.jacobian(q, tip, axes=Axes.LINK)
        r = np.swapaxes(frame.rotation, -1, -2)
        assert worst(own[..., :3, :], r @ jacobian[..., :3, :]) < 1e-12
        assert worst(own[..., 3:, :], r @ jacobian[..., 3:, :]) < 1e-12
        for i in range(tree.dof):
            step = np.tile(h * np.eye(tree.dof)[i], (8, 1))
            ahead, behind = (tree.frame(tree.integrate(q, s), tip) for s in (step, -step))
            turn = (ahead @ behind.inverse()).to_rotvec() / (2 * h)
            assert worst(jacobian[..., :3, i], (ahead.position - behind.position) / (2 * h)) < 1e-6
            assert worst(jacobian[..., 3:, i], turn) < 1e-6


# -- limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_random_values_are_inside_and_clamping_leaves_them(seed):
    tree = random_tree(seed)
    q = tree.random(500, 2, seed=seed)
    assert q.shape == (500, 2, tree.dof)
    assert tree.inside(q).shape == (500, 2)
    assert tree.inside(q).all()
    assert worst(tree.clamp(q), q) < 1e-12
    assert tree.inside(tree.rest) is True
    assert np.array_equal(q, tree.random(500, 2, seed=seed))
    assert not np.array_equal(q, tree.random(500, 2, seed=seed + 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_clamping_brings_anything_inside_and_does_so_once(seed):
    tree = random_tree(seed)
    wild = np.random.default_rng(seed).uniform(-4, 4, (500, tree.dof))
    q = tree.clamp(wild)
    assert not tree.inside(wild).any()
    assert tree.inside(q).all()
    assert worst(tree.frames(tree.clamp(q)).matrix, tree.frames(q).matrix) < 1e-12
    plain = np.isfinite(tree.lower)
    assert np.array_equal(q[:, plain], np.clip(wild, tree.lower, tree.upper)[:, plain])


def test_a_ball_is_held_by_its_cone_and_its_range():
    axis = np.array([0.6, 0.0, 0.8])
    ball = Linkage("b", [Joint.ball("j", "a", "b", axis=axis, swing=0.5, twist=(-0.2, 0.4))])
    q = ball.clamp(np.random.default_rng(0).uniform(-3, 3, (2000, 3)))
    lean = np.arccos(np.clip(Frame.rotvec(q).apply(axis) @ axis, -1, 1))
    assert 0.5 - 1e-9 < lean.max() < 0.5 + 1e-9
    for twist, swing, good in [(0.39, 0.49, True), (0.41, 0.49, False), (0.39, 0.51, False), (-0.21, 0, False)]:
        turned = Frame.turn([0, 1, 0], swing) @ Frame.turn(axis, twist)
        assert ball.inside(turned.to_rotvec()) is good
    over = Frame.turn([0, 1, 0], 0.9) @ Frame.turn(axis, 0.7)
    edge = Frame.turn([0, 1, 0], 0.5) @ Frame.turn(axis, 0.4)
    assert worst(Frame.rotvec(ball.clamp(over.to_rotvec())).matrix, edge.matrix) < 1e-14


def test_random_turns_of_a_ball_are_spread_evenly():
    axis = np.array([0.0, 0.6, 0.8])
    ball = Linkage("b", [Joint.ball("j", "a", "b", axis=axis, swing=1.2, twist=(-1, 2))])
    seen = Frame.rotvec(ball.random(40_000, seed=0)).apply(axis) @ axis
    share = np.mean(seen > (1 + math.cos(1.2)) / 2)  # area of a cap grows with its height
    assert abs(share - 0.5) < 0.02
    free = Linkage("b", [Joint.ball("j", "a", "b")]).random(40_000, seed=0)
    mean = Frame.rotvec(free).rotation.mean(axis=0)
    assert worst(mean, 0) < 0.02  # no direction is favoured
    assert np.linalg.norm(free, axis=1).max() <= math.pi


def test_values_without_limits_are_drawn_from_a_turn_or_two_metres():
    tree = Linkage(
        "t",
        [
            Joint.continuous("a", "r", "s"),
            Joint.prismatic("b", "s", "t"),
            Joint.prismatic("c", "t", "u", lower=3),
            Joint.revolute("d", "u", "v", upper=-3),
            Joint.revolute("e", "v", "w", lower=-1e12, upper=0.9e12),
        ],
    )
    q = tree.random(4000, seed=0)
    low, high = [-math.pi, -1, 3, -3 - 2 * math.pi, -1e12], [math.pi, 1, 5, -3, 0.9e12]
    assert (q >= low).all()
    assert (q <= high).all()
    assert (np.ptp(q, axis=0) > 0.99 * (np.array(high) - np.array(low))).all()


def test_a_mimics_own_limits_do_not_hold_its_source():
    tree = Linkage("m", [R("a", "x", "y"), R("b", "y", "z", lower=0, upper=0.1, mimic=Mimic("a"))])
    assert tree.inside([5.0])
    assert tree.clamp([5.0]) == [5.0]


def test_inside_has_a_tolerance():
    assert arm().inside([2 + 1e-13, 0])
    assert not arm().inside([2 + 1e-9, 0])
    assert arm().inside([2 + 1e-9, 0], tolerance=1e-8)
    assert arm().inside(np.zeros((3, 0, 2))).shape == (3, 0)


# -- print ------------------------------------------------------------------------------------------------------


def test_a_linkage_prints_as_its_tree():
    tree = Linkage(
        "toy",
        [
            Joint.revolute("pan", "base", "mast", lower=-1, upper=2, speed=0.5),
            Joint.prismatic("lift", "mast", "fork", axis=[0, -1, 0], lower=0),
            Joint.revolute("tilt", "fork", "tine", axis=[1, 1, 0], mimic=Mimic("pan", -0.5, -0.1)),
            Joint.ball("neck", "mast", "head", swing=0.5, twist=(-1, 1)),
            Joint.planar("feet", "base", "floor", speed=[1, 1, 2]),
        ],
    )
    assert str(tree).splitlines() == [
        "toy: 8 degrees of freedom, 6 links, tips tine, head, floor",
        "link        joint  kind       axis           limits                               speed",
        "base",
        "├ mast      pan    revolute   z              -1 to 2 rad                          0.5 rad/s",
        "│ ├ fork    lift   prismatic  -y             from 0 m",
        "│ │ └ tine  tilt   revolute   0.707 0.707 0  = -0.5 × pan - 0.1",
        "│ └ head    neck   ball       z              swing to 0.5 rad, twist -1 to 1 rad",
        "└ floor     feet   planar     z              free                                 1 m/s, 1 m/s, 2 rad/s",
    ]
    assert repr(tree) == "<Linkage 'toy': 8 degrees of freedom, 6 links>"


@pytest.mark.parametrize("seed", SEEDS)
def test_every_link_and_joint_is_printed_once(seed):
    tree = random_tree(seed)
    lines = str(tree).splitlines()[2:]
    assert [line.split("  ")[0].rstrip() for line in lines[:1]] == [tree.root]
    assert len(lines) == len(tree.links)
    for joint, line in zip(tree.joints, lines[1:], strict=True):
        assert f" {joint.child} " in line
        assert f" {joint.name} " in line
        assert joint.kind.value in line


def test_long_chains_and_wide_stars_print_in_bounded_width():
    chain = Linkage("chain", [R(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(5000)])
    star = Linkage("star", [R(f"j{i}", "hub", f"l{i}") for i in range(5000)])
    for tree in (chain, star):
        lines = str(tree).splitlines()
        assert len(lines) == 5003
        assert max(map(len, lines)) < 160
    assert "⋯5000 l5000" in str(chain).splitlines()[-1]
    assert "and 4994 more" in str(star).splitlines()[0]


# -- for newcomers and notebooks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["frame", "jacobian", "frame_and_jacobian", "manipulability", "condition"])
def test_swapped_arguments_are_answered_with_the_right_order(method):
    arm = models.ur5()
    with pytest.raises(BadInput, match=rf"q comes before the name of the link: write arm\.{method}\(q, 'tool0'\)"):
        getattr(arm, method)("tool0", arm.rest)
    with pytest.raises(BadInput, match=rf"q comes before the name of the link: write arm\.{method}\(q, link\)"):
        getattr(arm, method)("tool", arm.rest)


def test_an_array_in_place_of_a_link_is_not_printed():
    arm = models.ur5()
    with pytest.raises(BadInput, match=r"link must be the name of a link, got an array of shape \(6,\)"):
        arm.frame(arm.rest, arm.rest)


def test_units_follow_the_names():
    joints = [
        Joint.planar("drive", "world", "cart"),
        Joint.prismatic("lift", "cart", "mast"),
        Joint.revolute("follower", "mast", "flag", mimic=Mimic("lift")),
        Joint.ball("neck", "mast", "head"),
    ]
    linkage = Linkage("cart", joints)
    assert linkage.units == ("m", "m", "rad", "m", "rad", "rad", "rad")
    assert len(linkage.units) == len(linkage.names) == linkage.dof


def test_a_notebook_shows_a_linkage_as_a_table():
    linkage = Linkage("<b>&", [Joint.revolute("a<", "base", "tip", lower=-1, upper=1)])
    shown = linkage._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "a&lt;" in shown
    assert "<b>" not in shown
    assert shown.count("<tr>") == 3  # the heading, the root and the joint


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: models.planar2().q([1, 2]), r"q takes joint values by name, such as q\(joint1=0.5\)"),
        (lambda: models.planar2().random(seed="a"), "seed must be a whole number"),
        (
            lambda: models.planar2().attach(models.planar2(), "tip"),
            r"the link comes first: write attach\('tip', other\)",
        ),
        (lambda: Frame.at(1, 2, 3), r"write Frame.at\(\[x, y, z\]\)"),
        (lambda: Frame.rpy([1, 2, 3]), r"write Frame.rpy\(roll, pitch, yaw\)"),
        (lambda: Joint.revolute("a", "b", "c", mimic="k"), r"such as Mimic\('k'\)"),
        (lambda: Joint.revolute("a", "b", "c", min=1), r"did you mean lower\?"),
    ],
)
def test_a_mistake_is_answered_with_what_to_write(call, said):
    with pytest.raises((BadInput, BadLinkage), match=said):
        call()


def test_links_may_be_given_for_some_joints_only():
    joints = [R("j1", "base", "upper"), R("j2", "upper", "fore")]
    arm = Linkage("arm", joints, [Link("upper", mass=2.0)])
    assert [link.name for link in arm.links] == ["base", "upper", "fore"]
    assert arm.mass == 2.0
    assert Linkage("arm", joints, [Link("fore"), Link("base")]).links[0].name == "base"
    with pytest.raises(BadLinkage, match="'nose'"):
        Linkage("arm", joints, [Link("nose", mass=1.0)])
