"""Laws of Joint, Link and the names of values: what can be built, what is refused and why."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

from supple.errors import BadInput, BadLinkage
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Sphere
from supple.linkage import Linkage

INF, NAN = math.inf, math.nan


def one_of_each():
    return [
        Joint.fixed("f", "a", "b"),
        Joint.revolute("r", "a", "b", axis=[0, 1, 1], lower=-1, upper=2, speed=3, acceleration=4, rest=0.5),
        Joint.continuous("c", "a", "b", at=Frame.at([1, 2, 3])),
        Joint.prismatic("p", "a", "b", lower=0.1, upper=0.2, mimic=Mimic("r", 0.5, 0.1)),
        Joint.planar("pl", "a", "b", lower=[-1, -2, -3], upper=[1, 2, 3]),
        Joint.ball("ba", "a", "b", swing=1.0, twist=(-0.5, 0.25)),
        Joint.floating("fl", "a", "b", lower=-1, upper=1),
    ]


@pytest.mark.parametrize("joint", one_of_each(), ids=lambda joint: joint.kind.value)
def test_joints_are_values(joint):
    for again in (
        copy.copy(joint),
        copy.deepcopy(joint),
        pickle.loads(pickle.dumps(joint)),
        dataclasses.replace(joint),
    ):
        assert again == joint
        assert hash(again) == hash(joint)
    assert dataclasses.replace(joint, name="other") != joint
    assert dataclasses.replace(joint, location=Frame.at([0, 0, 9])) != joint
    with pytest.raises(dataclasses.FrozenInstanceError):
        joint.name = "x"


@pytest.mark.parametrize("joint", one_of_each(), ids=lambda joint: joint.kind.value)
def test_each_row_has_a_number_for_each_degree_of_freedom(joint):
    for row in (joint.lower, joint.upper, joint.speed, joint.acceleration, joint.rest, joint.units):
        assert len(row) == joint.kind.dof
    assert joint.dof == (0 if joint.mimic else joint.kind.dof)


@pytest.mark.parametrize("size", [1e-300, 0.1, 1.0, 7, 1e300])
def test_axes_of_any_length_become_unit(size):
    joint = Joint.revolute("j", "a", "b", axis=np.array([3, 0, -4]) * size)
    assert joint.axis == pytest.approx((0.6, 0, -0.8), abs=1e-15)


@pytest.mark.parametrize(
    ("joint", "rest"),
    [
        (Joint.revolute("j", "a", "b"), [0]),
        (Joint.revolute("j", "a", "b", lower=1, upper=2), [1.5]),
        (Joint.revolute("j", "a", "b", lower=1), [1]),
        (Joint.revolute("j", "a", "b", upper=-1), [-1]),
        (Joint.revolute("j", "a", "b", lower=0.7, upper=0.7), [0.7]),
        (Joint.prismatic("j", "a", "b", lower=-1e12, upper=-1.5e11), [-5.75e11]),
        (Joint.prismatic("j", "a", "b", lower=-1.7e308, upper=-1), [-1]),
        (Joint.planar("j", "a", "b", lower=[1, -1, -1], upper=[2, 1, 1]), [1.5, 0, 0]),
        (Joint.floating("j", "a", "b", lower=[1, -1, -1], upper=[2, 1, 1]), [1.5, 0, 0, 0, 0, 0]),
        (Joint.ball("j", "a", "b", twist=(0.5, 1.5), axis=[0, 2, 0]), [0, 1, 0]),
        (Joint.ball("j", "a", "b", swing=0), [0, 0, 0]),
        (Joint.revolute("j", "a", "b", rest=0.25), [0.25]),
        (Joint.planar("j", "a", "b", rest=[1, 2, 3]), [1, 2, 3]),
        (Joint.ball("j", "a", "b", rest=0.1), [0.1, 0.1, 0.1]),
    ],
)
def test_rest_is_what_is_given_else_zero_or_else_the_middle_of_the_limits(joint, rest):
    assert joint.rest == pytest.approx(rest, rel=1e-12, abs=1e-15)
    assert Linkage("one", [joint]).inside(joint.rest)


@pytest.mark.parametrize("order", ["xyz", "zyx", "zyz", "xzx", "yxz"])
def test_a_ball_as_three_turns_has_euler_angles_for_values(order):
    at = Frame.at([0.1, 0.2, 0.3], Frame.turn([1, 2, 3], 0.4))
    arm = Linkage("b", Joint.ball_from_revolutes("hip", "pelvis", "thigh", order=order, at=at))
    assert arm.dof == 3
    q = np.random.default_rng(0).uniform(-3, 3, (500, 3))
    assert np.abs(arm.frame(q, "thigh").matrix - (at @ Frame.euler(order, q)).matrix).max() < 1e-14
    assert len(set(arm.names)) == 3
    ball = Linkage("b", [Joint.ball("hip", "pelvis", "thigh", at=at)])
    same = ball.frame(Frame.euler(order, q).to_rotvec(), "thigh")
    assert np.abs(arm.frame(q, "thigh").matrix - same.matrix).max() < 1e-13


def test_three_turns_carry_their_limits():
    x, y, z = Joint.ball_from_revolutes("hip", "a", "b", lower=[-1, -2, -3], upper=4, speed=[5, 6, 7])
    assert (x.name, y.name, z.name) == ("hip_x", "hip_y", "hip_z")
    assert (x.lower, y.lower, z.lower) == ((-1,), (-2,), (-3,))
    assert x.upper == y.upper == z.upper == (4,)
    assert (x.speed, y.speed, z.speed) == ((5,), (6,), (7,))


BAD = {
    "no name": (lambda: Joint.revolute("", "a", "b"), "joint '': name must be a name, got ''"),
    "name of the wrong type": (lambda: Joint.revolute(3, "a", "b"), "name must be a name, got 3"),
    "no parent": (lambda: Joint.revolute("j", None, "b"), "joint 'j': parent must be a name, got None"),
    "its own parent": (lambda: Joint.fixed("j", "a", "a"), "joint 'j': a link cannot be its own parent: 'a'"),
    "kind a word": (lambda: Joint("j", "hinge", "a", "b"), "joint 'j': kind must be a Kind, got 'hinge'"),
    "at an array": (lambda: Joint.fixed("j", "a", "b", at=np.eye(4)), "at must be a single Frame"),
    "many locations": (lambda: Joint.fixed("j", "a", "b", at=Frame.at(np.zeros((2, 3)))), "must be a single Frame"),
    "zero axis": (
        lambda: Joint.revolute("j", "a", "b", axis=[0, 0, 0]),
        "joint 'j': axis of a revolute joint must not be zero",
    ),
    "zero slide": (
        lambda: Joint.prismatic("j", "a", "b", axis=[0, 0, 0]),
        "axis of a prismatic joint must not be zero",
    ),
    "zero normal": (lambda: Joint.planar("j", "a", "b", axis=[0, 0, 0]), "axis of a planar joint must not be zero"),
    "zero twist axis": (lambda: Joint.ball("j", "a", "b", axis=[0, 0, 0]), "axis of a ball joint must not be zero"),
    "axis nan": (lambda: Joint.revolute("j", "a", "b", axis=[0, NAN, 0]), "axis must be three finite numbers"),
    "axis inf": (lambda: Joint.revolute("j", "a", "b", axis=[0, INF, 0]), "axis must be three finite numbers"),
    "axis of words": (lambda: Joint("j", Kind.REVOLUTE, "a", "b", axis=("x", "y", "z")), "axis must be numbers"),
    "lower above upper": (
        lambda: Joint.revolute("j", "a", "b", lower=1, upper=-1),
        "joint 'j': lower limit 1 is above upper limit -1",
    ),
    "one of three above": (
        lambda: Joint.planar("j", "a", "b", lower=[0, 3, 0], upper=[1, 2, 1]),
        "lower limit 3 is above",
    ),
    "lower nan": (lambda: Joint.revolute("j", "a", "b", lower=NAN), "joint 'j': lower must be a number, got nan"),
    "upper nan": (lambda: Joint.planar("j", "a", "b", upper=[0, NAN, 0]), "upper must be a number, got nan"),
    "no room": (
        lambda: Joint.revolute("j", "a", "b", lower=INF, upper=INF),
        "no value lies between the limits inf and inf",
    ),
    "lower None": (lambda: Joint.revolute("j", "a", "b", lower=None), "joint 'j': lower must be numbers, got (None,)"),
    "upper a word": (
        lambda: Joint.prismatic("j", "a", "b", upper="far"),
        "joint 'j': upper must be numbers, got ('far',)",
    ),
    "speed negative": (
        lambda: Joint.revolute("j", "a", "b", speed=-1),
        "speed limit must not be negative, got (-1.0,)",
    ),
    "speed nan": (lambda: Joint.revolute("j", "a", "b", speed=NAN), "speed must be a number, got nan"),
    "acceleration negative": (
        lambda: Joint.revolute("j", "a", "b", acceleration=-1),
        "acceleration limit must not be negative",
    ),
    "rest nan": (lambda: Joint.revolute("j", "a", "b", rest=NAN), "rest must be a number, got nan"),
    "rest inf": (lambda: Joint.revolute("j", "a", "b", rest=INF), "rest must be finite, got (inf,)"),
    "rest a number, not a row": (
        lambda: Joint("j", Kind.REVOLUTE, "a", "b", rest=0.5),
        "rest must be numbers, got 0.5",
    ),
    "too many": (
        lambda: Joint("j", Kind.REVOLUTE, "a", "b", lower=(1, 2)),
        "lower needs 1 values for a revolute joint, got 2",
    ),
    "too few": (lambda: Joint("j", Kind.BALL, "a", "b", rest=(1, 2)), "rest needs 3 values for a ball joint, got 2"),
    "a limited continuous": (
        lambda: Joint("j", Kind.CONTINUOUS, "a", "b", lower=(0,)),
        "a continuous joint has no position limits; use a revolute one",
    ),
    "a ball with a range": (
        lambda: Joint("j", Kind.BALL, "a", "b", lower=(0, 0, 0)),
        "a ball joint is limited by swing and twist, not by lower and upper",
    ),
    "swing too wide": (lambda: Joint.ball("j", "a", "b", swing=4), "swing must be between 0 and pi, got 4"),
    "swing nan": (lambda: Joint.ball("j", "a", "b", swing=NAN), "swing must be between 0 and pi, got nan"),
    "swing a word": (lambda: Joint.ball("j", "a", "b", swing="wide"), "swing and twist must be numbers"),
    "twist too wide": (lambda: Joint.ball("j", "a", "b", twist=(-4, 4)), "twist must be a range within -pi and pi"),
    "twist turned round": (lambda: Joint.ball("j", "a", "b", twist=(1, -1)), "twist must be a range within -pi and pi"),
    "twist of three": (lambda: Joint.ball("j", "a", "b", twist=(-1, 0, 1)), "twist must be two numbers"),
    "a limited turn of a floating joint": (
        lambda: Joint.floating("j", "a", "b", upper=[1, 1, 1, 1, 1, 1]),
        "only the position of a floating joint can be limited, not its rotation",
    ),
    "a fixed mimic": (
        lambda: Joint("j", Kind.FIXED, "a", "b", mimic=Mimic("k")),
        "only joints of one degree of freedom can mimic, not a fixed joint",
    ),
    "a ball mimic": (lambda: Joint("j", Kind.BALL, "a", "b", mimic=Mimic("k")), "can mimic, not a ball joint"),
    "mimic gain nan": (
        lambda: Joint.revolute("j", "a", "b", mimic=Mimic("k", NAN)),
        "gain and offset of a mimic must be finite, got nan, 0.0",
    ),
    "mimic gain a word": (
        lambda: Joint.revolute("j", "a", "b", mimic=Mimic("k", "half")),
        "gain and offset must be numbers",
    ),
    "link without a name": (lambda: Link(""), "a link needs a name, got ''"),
    "link of the wrong type": (lambda: Link(7), "a link needs a name, got 7"),
}


@pytest.mark.parametrize("what", BAD)
def test_joints_that_cannot_be_are_refused_with_the_reason(what):
    make, message = BAD[what]
    with pytest.raises(BadLinkage) as caught:
        make()
    assert message in str(caught.value)


BAD_ARGUMENTS = {
    "axis of two": (lambda: Joint.revolute("j", "a", "b", axis=[0, 1]), "axis must be three numbers, got [0, 1]"),
    "two of three": (lambda: Joint.planar("j", "a", "b", lower=[0, 1]), "lower must be one number or 3, got [0, 1]"),
    "words": (lambda: Joint.floating("j", "a", "b", rest="here"), "rest must be one number or 6, got 'here'"),
    "order xxy": (lambda: Joint.ball_from_revolutes("j", "a", "b", order="xxy"), "with no two neighbours equal"),
    "order None": (
        lambda: Joint.ball_from_revolutes("j", "a", "b", order=None),
        "order must be three of 'x', 'y', 'z'",
    ),
}


@pytest.mark.parametrize("what", BAD_ARGUMENTS)
def test_arguments_of_the_wrong_shape_are_refused(what):
    make, message = BAD_ARGUMENTS[what]
    with pytest.raises(BadInput) as caught:
        make()
    assert message in str(caught.value)


def test_limits_that_meet_are_allowed():
    joint = Joint.revolute("j", "a", "b", lower=0.5, upper=0.5, speed=0)
    assert joint.lower == joint.upper == joint.rest == (0.5,)


def test_links_and_geometry_are_values():
    shapes = [Box((1, 2, 3)), Sphere(1), Cylinder(1, 2), Capsule(1, 2), Mesh("a.stl", (1, 1, 1), found=False)]
    link = Link("hand", [Geometry(shape, Frame.at([0, 0, 1]), (1, 0, 0, 1)) for shape in shapes])
    assert isinstance(link.geometry, tuple)
    again = pickle.loads(pickle.dumps(link))
    assert again == link
    assert hash(again) == hash(link)


def test_errors_travel_between_processes():
    error = BadLinkage("is bad", element="joint 'j'", file="arm.urdf", line=7)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "arm.urdf:7: joint 'j': is bad"
    assert (again.reason, again.element, again.file, again.line) == ("is bad", "joint 'j'", "arm.urdf", 7)
