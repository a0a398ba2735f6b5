"""Laws of Frame: a group with an exponential, angles at its border, and the manners of a value."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import supple
from supple import Box, Geometry, Goal, GoalPath, Joint, Linkage, models
from supple.errors import BadInput, UnknownName
from supple.frame import Frame
from supple.teleop.mapping import Mapping

ORDERS = [a + b + c for a, b, c in itertools.product("xyz", repeat=3) if a != b and b != c]
AXES = dict(zip("xyz", np.eye(3), strict=True))


def turns(n=2000, seed=0):
    """Rotation vectors (3 n and some, 3): everywhere, near none, near a half turn, just there, and none."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    small = 10.0 ** rng.uniform(-17, -1, (n, 1))
    everywhere = rng.uniform(0, math.pi, (n, 1))
    main = np.vstack([np.eye(3), -np.eye(3)]) * math.pi
    return np.vstack(
        [axis * everywhere, axis * small, axis * (math.pi - small), main, main * (1 - 1e-8), main / 2, np.zeros((1, 3))]
    )


def frames(n=2000, seed=0):
    vectors = turns(n, seed)
    return Frame.at(np.random.default_rng(seed + 1).uniform(-2, 2, vectors.shape), Frame.rotvec(vectors))


def rodrigues(vector):
    """The rotation matrix (3, 3) of a rotation vector, by the series of the exponential: an independent way."""
    x, y, z = vector / 64
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    term, total = np.eye(3), np.eye(3)
    for i in range(1, 18):
        term = term @ k / i
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


def worst(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max()


# -- the group --------------------------------------------------------------------------------------------------


def test_a_frame_and_its_inverse_make_nothing():
    f = frames()
    assert worst((f @ f.inverse()).matrix, np.eye(4)) < 1e-14
    assert worst((f.inverse() @ f).matrix, np.eye(4)) < 1e-14


def test_frames_associate():
    a, b, c = frames(seed=1), frames(seed=2), frames(seed=3)
    assert worst(((a @ b) @ c).matrix, (a @ (b @ c)).matrix) < 1e-14


def test_every_turn_is_a_rotation():
    r = Frame.rotvec(turns()).rotation
    assert worst(r @ np.swapaxes(r, -1, -2), np.eye(3)) < 1e-14
    assert worst(np.linalg.det(r), 1) < 1e-14


def test_rotation_vectors_agree_with_the_exponential_series():
    vectors = turns(200)
    assert worst(Frame.rotvec(vectors).rotation, [rodrigues(v) for v in vectors]) < 1e-13


def test_log_undoes_exp_of_a_turn():
    vectors = turns()
    back = Frame.rotvec(vectors).to_rotvec()
    length = np.linalg.norm(vectors, axis=1)
    unique = length < math.pi - 1e-7  # at half a turn the vector and its opposite are the same turn
    assert worst(back[unique], vectors[unique]) < 1e-14 * 100
    assert worst(Frame.rotvec(back).matrix, Frame.rotvec(vectors).matrix) < 1e-14
    assert np.linalg.norm(back, axis=1).max() <= math.pi + 1e-15


def test_small_turns_keep_their_digits():
    small = 10.0 ** np.arange(-300, -2, 7.0)[:, None] * [0.6, 0.0, -0.8]
    back = Frame.rotvec(small).to_rotvec()
    assert (np.abs(back - small) <= 1e-13 * np.linalg.norm(small, axis=1, keepdims=True)).all()


def test_a_turn_of_more_than_half_comes_back_the_short_way():
    back = Frame.turn([0, 0, 1], 1.5 * math.pi).to_rotvec()
    assert worst(back, [0, 0, -math.pi / 2]) < 1e-14


def test_log_undoes_exp_of_a_twist():
    rng = np.random.default_rng(4)
    angular = turns()
    angular = angular[np.linalg.norm(angular, axis=1) < math.pi - 1e-6]
    twist = np.hstack([rng.uniform(-2, 2, angular.shape), angular])
    f = Frame.exp(twist)
    assert worst(f.log()[:, 3:], angular) < 1e-13
    assert worst(f.log()[:, :3], twist[:, :3]) < 1e-12
    assert worst(f.rotation, Frame.rotvec(angular).rotation) < 1e-15


def test_exp_undoes_log_of_a_frame():
    f = frames()
    assert worst(Frame.exp(f.log()).matrix, f.matrix) < 1e-12


def test_a_twist_is_many_small_ones():
    rng = np.random.default_rng(5)
    twist = rng.uniform(-1.5, 1.5, (500, 6))
    small = Frame.exp(twist / 1024)
    for _ in range(10):
        small = small @ small
    assert worst(small.matrix, Frame.exp(twist).matrix) < 1e-11


def test_a_twist_agrees_with_the_exponential_series():
    rng = np.random.default_rng(6)
    for size in (1e-9, 1e-4, 9e-4, 1.1e-3, 2e-3, 1e-2, 0.1, 1.0, 3.0):
        x = rng.uniform(-1, 1, (500, 6))
        x[:, 3:] *= size / np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
        k = np.zeros((500, 4, 4))
        k[:, 0, 1], k[:, 0, 2], k[:, 1, 2] = -x[:, 5], x[:, 4], -x[:, 3]
        k[:, :3, :3] -= np.swapaxes(k[:, :3, :3], 1, 2)
        k[:, :3, 3] = x[:, :3]
        term, total = np.eye(4), np.eye(4)
        for i in range(1, 40):
            term = term @ k / i
            total = total + term
        assert worst(Frame.exp(x).matrix, total) < 1e-13, size


# -- quaternions and angles -------------------------------------------------------------------------------------


def test_quaternions_round_trip_with_w_first_and_not_negative():
    f = Frame.rotvec(turns())
    q = f.to_quaternion()
    assert worst(Frame.quaternion(q).matrix, f.matrix) < 1e-14
    assert worst(np.linalg.norm(q, axis=1), 1) < 1e-15 * 4
    assert (q[:, 0] >= 0).all()
    assert worst(Frame.turn([1, 0, 0], 1.0).to_quaternion(), [math.cos(0.5), math.sin(0.5), 0, 0]) < 1e-15


def test_quaternions_have_their_order_by_name():
    f = frames(200)
    q = f.to_quaternion()
    assert np.array_equal(f.to_quaternion(order="xyzw"), q[:, [1, 2, 3, 0]])
    assert np.array_equal(Frame.quaternion(q[:, [1, 2, 3, 0]], order="xyzw").matrix, Frame.quaternion(q).matrix)
    for call in (lambda: Frame.quaternion([1, 0, 0, 0], order="wxzy"), lambda: f.to_quaternion(order="wxzy")):
        with pytest.raises(UnknownName, match="no order named 'wxzy'; did you mean 'wxyz'"):
            call()


def test_roll_pitch_and_yaw_are_fixed_angles_about_x_y_and_z():
    rpy = np.random.default_rng(3).uniform(-1.5, 1.5, (500, 3))
    made = Frame.rpy(*rpy.T)
    assert np.array_equal(made.matrix, Frame.fixed("xyz", rpy).matrix)
    assert worst(made.to_rpy(), rpy) < 1e-13
    assert Frame.rpy(0.1, np.zeros((4, 1)), np.zeros(3)).shape == (4, 3)
    with pytest.raises(BadInput, match="yaw must be finite"):
        Frame.rpy(0, 0, math.nan)
    with pytest.raises(BadInput, match="roll, pitch and yaw must broadcast"):
        Frame.rpy(np.zeros(2), np.zeros(3), 0)


@pytest.mark.parametrize("size", [1e-11, 1.0, 1e5, 1e200])
def test_a_quaternion_of_any_length_means_the_same_turn(size):
    q = np.array([0.5, -0.5, 0.1, 0.7])
    assert worst(Frame.quaternion(q * size).matrix, Frame.quaternion(-q).matrix) < 1e-15


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200])
def test_an_axis_of_any_length_means_the_same_turn(size):
    turned = Frame.turn(np.array([0.0, 3.0, 0.0]) * size, 0.3)
    assert worst(turned.matrix, Frame.rotvec([0, 0.3, 0]).matrix) < 1e-15


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_turns_about_moved_axes(order):
    values = np.random.default_rng(7).uniform(-4, 4, (300, 3))
    wanted = [
        rodrigues(AXES[order[0]] * a) @ rodrigues(AXES[order[1]] * b) @ rodrigues(AXES[order[2]] * c)
        for a, b, c in values
    ]
    assert worst(Frame.euler(order, values).rotation, wanted) < 1e-13


@pytest.mark.parametrize("order", ORDERS)
def test_fixed_angles_are_turns_about_axes_that_stay(order):
    values = np.random.default_rng(8).uniform(-4, 4, (300, 3))
    wanted = [
        rodrigues(AXES[order[2]] * c) @ rodrigues(AXES[order[1]] * b) @ rodrigues(AXES[order[0]] * a)
        for a, b, c in values
    ]
    assert worst(Frame.fixed(order, values).rotation, wanted) < 1e-13


@pytest.mark.parametrize("order", ORDERS)
def test_angles_round_trip_for_every_turn(order):
    f = Frame.rotvec(turns(500))
    assert worst(Frame.euler(order, f.to_euler(order)).matrix, f.matrix) < 3e-14
    assert worst(Frame.fixed(order, f.to_fixed(order)).matrix, f.matrix) < 3e-14


@pytest.mark.parametrize("order", ORDERS)
def test_angles_within_their_range_come_back_themselves(order):
    rng = np.random.default_rng(9)
    middle = (0.01, math.pi - 0.01) if order[0] == order[2] else (-math.pi / 2 + 0.01, math.pi / 2 - 0.01)
    values = np.stack([rng.uniform(-3.1, 3.1, 500), rng.uniform(*middle, 500), rng.uniform(-3.1, 3.1, 500)], axis=-1)
    assert worst(Frame.euler(order, values).to_euler(order), values) < 1e-12
    assert worst(Frame.fixed(order, values).to_fixed(order), values) < 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_where_angles_lock_up_one_is_zero_and_the_turn_is_kept(order):
    rng = np.random.default_rng(10)
    locks = (0.0, math.pi) if order[0] == order[2] else (-math.pi / 2, math.pi / 2)
    for lock in locks:
        values = np.stack([rng.uniform(-3, 3, 200), np.full(200, lock), rng.uniform(-3, 3, 200)], axis=-1)
        moved, still = Frame.euler(order, values), Frame.fixed(order, values)
        assert (moved.to_euler(order)[:, 2] == 0).all()
        assert (still.to_fixed(order)[:, 0] == 0).all()
        assert worst(Frame.euler(order, moved.to_euler(order)).matrix, moved.matrix) < 1e-14
        assert worst(Frame.fixed(order, still.to_fixed(order)).matrix, still.matrix) < 1e-14


@pytest.mark.parametrize("order", ORDERS)
def test_angles_round_trip_however_near_they_lock_up(order):
    rng = np.random.default_rng(11)
    locks = (0.0, math.pi) if order[0] == order[2] else (-math.pi / 2, math.pi / 2)
    for lock in locks:
        near = lock + rng.choice([-1, 1], 600) * 10.0 ** rng.uniform(-16, -3, 600)
        values = np.stack([rng.uniform(-3, 3, 600), near, rng.uniform(-3, 3, 600)], axis=-1)
        f = Frame.euler(order, values)
        assert worst(Frame.euler(order, f.to_euler(order)).matrix, f.matrix) < 3e-14


def test_urdf_rpy_is_fixed_xyz():
    r, p, y = 0.3, -0.4, 0.5
    wanted = rodrigues(np.array([0, 0, y])) @ rodrigues(np.array([0, p, 0])) @ rodrigues(np.array([r, 0, 0]))
    assert worst(Frame.fixed("xyz", [r, p, y]).rotation, wanted) < 1e-14


# -- one and many -----------------------------------------------------------------------------------------------


def test_leading_axes_broadcast():
    many = Frame.at(np.ones((5, 1, 3)), Frame.turn([0, 0, 1], np.linspace(0, 1, 4)))
    assert many.shape == (5, 4)
    assert (many @ Frame()).shape == (5, 4)
    assert (Frame() @ many).shape == (5, 4)
    assert (many @ Frame.at(np.zeros((4, 3)))).shape == (5, 4)
    assert many.inverse().shape == many[:, :].shape == (5, 4)
    assert many.to_rotvec().shape == many.to_euler("zyx").shape == many.to_fixed("zyz").shape == (5, 4, 3)
    assert many.to_quaternion().shape == (5, 4, 4)
    assert many.log().shape == (5, 4, 6)
    assert Frame.exp(many.log()).shape == (5, 4)
    assert Frame.turn([[1, 0, 0], [0, 1, 0]], [0.1, 0.2]).shape == (2,)
    assert Frame.rotvec(np.zeros((0, 3))).shape == Frame.at(np.zeros((0, 3))).inverse().shape == (0,)


def test_many_frames_are_the_same_as_one_by_one():
    f, g = frames(20), frames(20, seed=5)
    for i in range(0, len(f), 7):
        assert worst((f @ g)[i].matrix, (f[i] @ g[i]).matrix) < 1e-15
        assert f.inverse()[i] == f[i].inverse()
        assert np.array_equal(f.to_rotvec()[i], f[i].to_rotvec())
        assert np.array_equal(f.to_euler("xyx")[i], f[i].to_euler("xyx"))


def test_points_are_carried_as_by_the_matrix():
    f = frames(50)
    p = np.random.default_rng(12).normal(size=(len(f), 3))
    wanted = (f.matrix @ np.hstack([p, np.ones((len(f), 1))])[..., None])[..., :3, 0]
    assert worst(f.apply(p), wanted) < 1e-15
    assert worst(f.inverse().apply(f.apply(p)), p) < 1e-14
    assert f[0].apply(p).shape == p.shape
    assert f.apply([1, 2, 3]).shape == p.shape


@pytest.mark.parametrize("n", [3, 4, 16])
def test_indexing_picks_frames_whatever_their_number(n):
    f = Frame.at(np.arange(3.0 * n).reshape(n, 3))
    assert f[1] == Frame.at([3, 4, 5])
    assert f[-1].shape == f[..., -1].shape == ()
    assert f[..., 1] == f[1]
    assert f[None].shape == (1, n)
    assert f[1:].shape == (n - 1,)
    assert f[f.position[:, 0] > 2].shape == (n - 1,)
    assert f[[2, 0]] == Frame.at([[6, 7, 8], [0, 1, 2]])
    assert [x.position[0] for x in f] == list(range(0, 3 * n, 3))
    assert len(f) == n
    for wrong in (n, (0, 0), "x"):
        with pytest.raises(IndexError, match=f"there are {n} frames"):
            f[wrong]


def test_arrays_stand_on_either_side_of_a_product():
    f, g = Frame.at([1, 2, 3], Frame.turn([1, 2, 3], 1)), Frame.turn([0, 1, 0], 0.5)
    assert f @ g.matrix == f.matrix @ g == f @ g
    assert isinstance(f.matrix @ g, Frame)
    with pytest.raises((TypeError, ValueError)):
        f @ np.eye(3)
    with pytest.raises(TypeError):
        f @ "frame"


# -- a value ----------------------------------------------------------------------------------------------------


def test_equal_frames_are_equal_and_hash_alike():
    f = Frame.at([0.0, 1, 2], Frame.turn([0, 0, 1], 0.1))
    same = Frame(f.matrix.copy())
    assert f == same
    assert hash(f) == hash(same)
    assert f != Frame.at([0.0, 1, 2.5], f)
    assert f != f.matrix[None]
    assert f != "frame"
    assert Frame.at([0.0, 0, 0]) == Frame.at([-0.0, 0, 0])
    assert hash(Frame.at([0.0, 0, 0])) == hash(Frame.at([-0.0, 0, 0]))
    assert Frame.at([[0, 0, 0]]) != Frame.at([0, 0, 0])


@pytest.mark.parametrize("f", [Frame(), Frame.at([1, 2, 3], Frame.rotvec([0.1, 0.2, 0.3])), frames(3)])
def test_frames_survive_copying_and_pickling(f):
    for again in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), Frame(f)):
        assert again == f
        assert not again.matrix.flags.writeable


def test_frames_do_not_change():
    given = np.eye(4)
    f = Frame(given)
    given[0, 3] = 7
    assert f == Frame()
    assert given.flags.writeable
    made = [
        f,
        f @ f,
        f.inverse(),
        Frame.at([1, 2, 3]),
        Frame.turn([0, 0, 1], 1),
        Frame.quaternion([1, 0, 0, 0]),
        Frame.euler("xyz", [0, 0, 0]),
        Frame.fixed("xyz", [0, 0, 0]),
        Frame.exp(np.zeros(6)),
        Frame.at(np.zeros((3, 3)))[1],
        Frame.at(np.zeros((3, 3)))[[0, 2]],
    ]
    for frame in made:
        with pytest.raises(ValueError):
            frame.matrix[..., 0, 0] = 2
        with pytest.raises(ValueError):
            frame.position[...] = 2
    with pytest.raises(AttributeError, match="a Frame does not change; make another"):
        f.matrix = np.eye(4)
    with pytest.raises(AttributeError, match="a Frame does not change; make another"):
        del f.matrix


def test_frames_are_arrays_to_numpy():
    f = Frame.at([1, 2, 3])
    assert np.asarray(f).shape == (4, 4)
    assert np.array(f).flags.writeable
    assert np.asarray(f, dtype=np.float32).dtype == np.float32
    assert worst(np.stack([f, f]), f.matrix) == 0


def test_frames_print_where_they_are():
    assert repr(Frame()) == "Frame at (0, 0, 0)"
    assert repr(Frame.at([1, -0.0, 1e-15])) == "Frame at (1, 0, 0)"
    turned = Frame.at([1, 2, 3]) @ Frame.turn([0, 0, 1], 0.5)
    assert repr(turned) == "Frame at (1, 2, 3), turned 0.5 rad about (0, 0, 1)"
    assert repr(Frame.at(np.zeros((2, 5, 3)))) == "Frame of shape (2, 5)"


# -- bad input --------------------------------------------------------------------------------------------------

BAD = {
    "three by three": (lambda: Frame(np.eye(3)), "a frame must have shape (..., 4, 4), not (3, 3)"),
    "a word": (lambda: Frame("here"), "a frame must be numbers of shape (..., 4, 4)"),
    "ragged": (lambda: Frame([[1, 2], [3]]), "a frame must be numbers of shape (..., 4, 4)"),
    "nan": (lambda: Frame(np.full((4, 4), np.nan)), "a frame must be finite"),
    "stretched": (lambda: Frame(np.diag([1, 1, 1.5, 1])), "must be orthonormal; this one is off by 1.25"),
    "mirrored": (lambda: Frame(np.diag([1, 1, -1, 1])), "must not mirror; its determinant is -1"),
    "projective": (lambda: Frame(np.eye(4) + np.eye(4)[::-1] * [[0], [0], [0], [0.5]]), "last row of a frame"),
    "one bad of many": (lambda: Frame(np.stack([np.eye(4), np.eye(4) * 2])), "must be orthonormal"),
    "position of two": (lambda: Frame.at([1, 2]), "position must have shape (..., 3), not (2,)"),
    "a number": (lambda: Frame.at(3), "position must have shape (..., 3), not ()"),
    "position nan": (lambda: Frame.at([1, 2, np.nan]), "position must be finite"),
    "position None": (lambda: Frame.at(None), "position must"),
    "position words": (lambda: Frame.at(["a", "b", "c"]), "position must be numbers of shape (..., 3)"),
    "rotation 2x2": (lambda: Frame.at([0, 0, 0], np.eye(2)), "rotation must have shape (..., 3, 3), not (2, 2)"),
    "rotation words": (lambda: Frame.at([0, 0, 0], "up"), "rotation must be numbers of shape (..., 3, 3)"),
    "rotation nan": (lambda: Frame.at([0, 0, 0], np.full((3, 3), np.nan)), "a frame must be finite"),
    "zero axis": (lambda: Frame.turn([0, 0, 0], 1), "axis must not be zero"),
    "zero axis of many": (lambda: Frame.turn([[0, 0, 1], [0, 0, 0]], 1), "axis must not be zero"),
    "axis of four": (lambda: Frame.turn([0, 0, 0, 1], 1), "axis must have shape (..., 3), not (4,)"),
    "angle nan": (lambda: Frame.turn([0, 0, 1], np.nan), "angle must be finite"),
    "angle word": (lambda: Frame.turn([0, 0, 1], "half"), "angle must be numbers"),
    "rotvec inf": (lambda: Frame.rotvec([np.inf, 0, 0]), "rotation vector must be finite"),
    "zero quaternion": (lambda: Frame.quaternion([0, 0, 0, 0]), "quaternion must not be zero"),
    "quaternion of three": (lambda: Frame.quaternion([0, 0, 1]), "quaternion must have shape (..., 4), not (3,)"),
    "order xxy": (lambda: Frame.euler("xxy", [0, 0, 0]), "no two neighbours equal, such as 'xyz'; got 'xxy'"),
    "order XYZ": (lambda: Frame.euler("XYZ", [0, 0, 0]), "got 'XYZ'"),
    "order of two": (lambda: Frame().to_euler("xy"), "got 'xy'"),
    "order None": (lambda: Frame().to_euler(None), "got None"),
    "fixed order xyy": (lambda: Frame.fixed("xyy", [0, 0, 0]), "got 'xyy'"),
    "fixed order None": (lambda: Frame.fixed(None, [0, 0, 0]), "got None"),
    "to fixed abc": (lambda: Frame().to_fixed("abc"), "got 'abc'"),
    "angles of two": (lambda: Frame.euler("xyz", [0, 0]), "angles must have shape (..., 3), not (2,)"),
    "fixed angles nan": (lambda: Frame.fixed("xyz", [0, 0, np.nan]), "angles must be finite"),
    "twist of three": (lambda: Frame.exp([0, 0, 1]), "twist must have shape (..., 6), not (3,)"),
    "points of two": (lambda: Frame().apply([1, 2]), "points must have shape (..., 3), not (2,)"),
    "index of one": (lambda: Frame()[0], "a single frame cannot be indexed; its array is .matrix"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_frames_are_refused_with_the_reason(what):
    call, message = BAD[what]
    with pytest.raises(BadInput) as caught:
        call()
    assert message in str(caught.value)


def test_a_single_frame_has_no_length():
    with pytest.raises(TypeError, match="a single frame has no length"):
        len(Frame())


def test_turns_of_any_finite_angle_are_rotations():
    angles = np.array([0.0, 1e-300, 1.0, 999.0, 1001.0, 1e6, 1e15, 1e22, 1e155, 1e300, 1.7e308])
    angles = np.concatenate([angles, -angles])
    frames = Frame.turn([0, 0, 3], angles)
    assert np.allclose(frames.rotation[:, 0, 0], np.cos(angles), rtol=0, atol=1e-12)
    assert np.allclose(frames.rotation[:, 1, 0], np.sin(angles), rtol=0, atol=1e-12)
    long = Frame.rotvec(np.random.default_rng(0).normal(size=(50, 3)) * np.logspace(100, 307, 50)[:, None]).rotation
    assert np.allclose(long @ np.swapaxes(long, -1, -2), np.eye(3), rtol=0, atol=1e-12)


ARM = models.planar3()
KEEPERS = {
    "Frame": lambda frame: Frame(frame).matrix,
    "copy": lambda frame: copy.copy(frame).matrix,
    "deepcopy": lambda frame: copy.deepcopy(frame).matrix,
    "goal's position": lambda frame: Goal("tip", frame).position,
    "goal's orientation": lambda frame: Goal("tip", orientation=frame).orientation,
    "joint": lambda frame: Joint.fixed("mount", "a", "b", at=frame).location.matrix,
    "linkage": lambda frame: Linkage("arm", ARM.joints, base=frame).base.matrix,
    "shape": lambda frame: Geometry(Box((1, 1, 1)), frame).frame.matrix,
    "path": lambda frame: GoalPath.line(frame, [[1, 0, 0, 9], [0, 1, 0, 9], [0, 0, 1, 9], [0, 0, 0, 1]]).at(0).matrix,
    "mapping": lambda frame: Mapping(view=frame).view.matrix,
}


@pytest.mark.parametrize("kept", KEEPERS.values(), ids=KEEPERS)
@pytest.mark.parametrize("many", [False, True])
def test_what_keeps_a_frame_does_not_change_with_the_memory_of_out(kept, many):
    memory = np.zeros((2, 4, 4) if many else (4, 4))
    frame = ARM.frame(np.full((2, 3) if many else 3, 0.2), "tip", out=memory)
    array = kept(frame[0] if many else frame)
    before = array.copy()
    ARM.frame(np.full((2, 3) if many else 3, 0.9), "tip", out=memory)
    np.testing.assert_array_equal(array, before)
    assert not np.array_equal(frame.matrix, Frame().matrix)


def test_a_frame_that_owns_its_memory_is_not_copied():
    frame = ARM.frame([0.2, 0.2, 0.2], "tip")
    assert copy.copy(frame) is frame
    assert Joint.fixed("mount", "a", "b", at=frame).location is frame


@pytest.mark.parametrize("axes", [25, 32, 40, 60])
def test_too_many_axes_are_refused(axes):
    many = np.zeros((*(1,) * (axes - 1), 3))
    matrices = np.broadcast_to(np.eye(4), (*(1,) * (axes - 2), 4, 4))
    calls = [
        lambda: Frame.at(many),
        lambda: Frame.rotvec(many),
        lambda: Frame(matrices),
        lambda: Frame() @ matrices,
        lambda: matrices @ Frame(),
        lambda: Goal("tip", matrices),
        lambda: Goal("tip", position=many),
        lambda: supple.solve(ARM, Goal("tip", position=[1, 2, 0]), many),
    ]
    for call in calls:
        with pytest.raises(BadInput, match="axes"):
            call()


def test_frames_of_too_many_axes_are_not_multiplied():
    huge = Frame._trusted(np.broadcast_to(np.eye(4), (*(1,) * 40, 4, 4)))
    for call in (lambda: huge @ Frame(), lambda: Frame() @ huge, lambda: Goal("tip", huge)):
        with pytest.raises(BadInput, match="axes"):
            call()
    with pytest.raises(BadInput, match=r"must broadcast.*\(2,\) and \(3,\)"):
        Frame.at(np.zeros((2, 3))) @ Frame.at(np.zeros((3, 3)))


# -- rows some of which are bad ---------------------------------------------------------------------------------------


def spoiled(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, quaternions, and which rows are good; a tenth is bad in one of several ways."""
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(-2, 2, (rows, 3)), rng.normal(size=(rows, 4)) * 10.0 ** rng.uniform(-3, 3, (rows, 1))
    good = rng.random(rows) > 0.1
    for row in np.flatnonzero(~good):
        way = rng.integers(3)
        if way == 0:
            p[row, rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf])
        elif way == 1:
            q[row, rng.integers(4)] = rng.choice([np.nan, np.inf])
        else:
            q[row] = 0
    return p, q, good


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_masked_rows_are_the_frames_of_the_good_ones_and_the_identity_elsewhere(order):
    p, q, good = spoiled(5000, 3)
    frames, mask = Frame.masked(position=p, quaternion=q, order=order)
    assert (mask == good).all()
    assert np.array_equal(frames[good].matrix, Frame.at(p[good], Frame.quaternion(q[good], order)).matrix)
    assert (frames[~good].matrix == np.eye(4)).all()


def test_masked_matrices_are_good_where_a_frame_takes_them():
    p, q, _ = spoiled(2000, 4)
    matrix = np.array(Frame.masked(position=p, quaternion=q)[0].matrix)
    rng = np.random.default_rng(5)
    for row in rng.choice(2000, 100, replace=False):
        matrix[row, rng.integers(4), rng.integers(4)] += rng.choice([0.001, 0.5, np.nan, -3])
    frames, mask = Frame.masked(matrix)
    for row in range(2000):
        try:
            wanted, is_good = Frame(matrix[row]), True
        except BadInput:
            wanted, is_good = Frame(), False
        assert mask[row] == is_good
        assert np.array_equal(frames[row].matrix, wanted.matrix)
    assert 0 < np.count_nonzero(~mask) < 100


def test_masked_takes_one_frame_no_rows_and_leading_axes():
    frame, good = Frame.masked(position=[1, 2, 3])
    assert (frame, bool(good)) == (Frame.at([1, 2, 3]), True)
    frames, good = Frame.masked(position=np.zeros((0, 3)), quaternion=np.zeros((0, 4)))
    assert (frames.shape, good.shape) == ((0,), (0,))
    frames, good = Frame.masked(position=np.zeros((5, 1, 3)), quaternion=[[1, 0, 0, 0], [np.nan, 0, 0, 0]])
    assert (frames.shape, good.tolist()) == ((5, 2), [[True, False]] * 5)
    assert not Frame.masked(np.full((4, 4), np.nan))[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, q, m: Frame.at(p), "position must be finite; wrong are rows 3 and 70"),
        (lambda p, q, m: Frame.quaternion(q), "quaternion must be finite; wrong is row 5"),
        (lambda p, q, m: Frame.quaternion(np.zeros((5, 4))), "must not be zero; wrong are rows 0, 1, 2 and 2 more"),
        (lambda p, q, m: Frame(m), "must be orthonormal.*; wrong is row 9"),
        (lambda p, q, m: Frame(m.reshape(20, 5, 4, 4)), r"wrong is row \(1, 4\)"),
        (lambda p, q, m: Frame.masked(), "give matrix, or position and quaternion"),
        (lambda p, q, m: Frame.masked(m, position=p), "give matrix, or position and quaternion"),
    ],
)
def test_an_error_about_many_frames_names_the_rows(call, message):
    rng = np.random.default_rng(0)
    p, q = rng.random((100, 3)), rng.random((100, 4))
    m = np.array(Frame.at(p, Frame.quaternion(q)).matrix)
    p[3, 1], p[70, 0], q[5, 2] = np.nan, np.inf, np.nan
    m[9, 0, 0] += 1
    with pytest.raises(BadInput, match=message):
        call(p, q, m)


def test_frames_and_points_whose_axes_do_not_broadcast_are_refused_in_words():
    with pytest.raises(BadInput, match=r"frame and points have leading axes \(2,\) and \(3,\)"):
        Frame(np.tile(np.eye(4), (2, 1, 1))).apply(np.zeros((3, 3)))
