"""What forward kinematics takes and refuses: shapes and layouts of arrays, memory of the caller's own, mistakes."""

import math

import numpy as np
import pytest

from random_trees import random_q, random_tree
from supple import models
from supple.errors import BadInput, UnknownName
from supple.joint import Joint
from supple.linkage import Linkage


@pytest.fixture
def case():
    """A tree of all kinds and 65 rows of q."""
    tree = random_tree(4)
    return tree, random_q(tree, 4, 65)


def worst(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max(initial=0)


# -- shapes of arrays -------------------------------------------------------------------------------------------


def test_leading_axes_broadcast(case):
    tree, q = case
    link, q = tree.tips[0], q[:24].reshape(2, 3, 4, -1)
    assert tree.frame(q, link).shape == tree.manipulability(q, link).shape == (2, 3, 4)
    assert tree.frames(q).matrix.shape == (2, 3, 4, len(tree.links), 4, 4)
    assert tree.frames(q)[link].shape == (2, 3, 4)
    assert tree.jacobian(q, link).shape == (2, 3, 4, 6, tree.dof)
    assert tree.frame(q, link)[1, 2, 3] == tree.frame(q.reshape(24, -1), link)[23]
    points = np.random.default_rng(0).uniform(-1, 1, (5, 1, 1, 1, 3))
    spread = tree.jacobian(q, link, point=points)
    assert spread.shape == (5, 2, 3, 4, 6, tree.dof)
    assert worst(spread[4, 1, 0, 2], tree.jacobian(q[1, 0, 2], link, point=points[4, 0, 0, 0])) < 1e-12
    assert tree.jacobian(q[0, 0, 0], link, point=points[:, 0, 0, 0]).shape == (5, 6, tree.dof)
    assert tree.transform_points(q, [1, 2, 3], link).shape == (2, 3, 4, 3)
    with pytest.raises(BadInput, match="point"):
        tree.jacobian(q, link, point=np.zeros((3, 3, 3)))


def test_no_rows_give_no_rows(case):
    tree, _ = case
    for lead in ((0,), (3, 0), (0, 3)):
        none = np.zeros((*lead, tree.dof))
        assert tree.frame(none, tree.tips[0]).matrix.shape == (*lead, 4, 4)
        assert tree.frames(none).matrix.shape == (*lead, len(tree.links), 4, 4)
        assert tree.jacobian(none, tree.tips[0]).shape == (*lead, 6, tree.dof)
        assert tree.manipulability(none, tree.tips[0]).shape == lead
        assert tree.integrate(none, none).shape == (*lead, tree.dof)


def unaligned(q):
    memory = np.zeros(q.nbytes + 1, np.uint8)
    view = memory[1:].view(np.float64).reshape(q.shape)
    view[...] = q
    return view


LAYOUTS = {
    "lists": lambda q: q.tolist(),
    "a tuple of rows": lambda q: tuple(q),
    "Fortran order": np.asfortranarray,
    "every other": lambda q: np.repeat(q, 2, axis=0)[::2],
    "backwards": lambda q: q[::-1].copy()[::-1],
    "columns of more": lambda q: np.concatenate([q, q], axis=1)[:, : q.shape[1]],
    "read-only": lambda q: np.frombuffer(q.tobytes()).reshape(q.shape),
    "the other byte order": lambda q: q.astype(q.dtype.newbyteorder()),
    "unaligned": unaligned,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_how_q_lies_in_memory_changes_no_bit(layout, case):
    tree, q = case
    given = LAYOUTS[layout](q)
    assert tree.frame(given, tree.tips[0]) == tree.frame(q, tree.tips[0])
    assert np.array_equal(tree.frames(given).matrix, tree.frames(q).matrix)
    assert np.array_equal(tree.jacobian(given, tree.tips[0]), tree.jacobian(q, tree.tips[0]))
    assert np.array_equal(tree.integrate(given, given), tree.integrate(q, q))


def test_q_may_be_whole_numbers_or_of_less_precision():
    arm = models.planar3()
    assert arm.frame([1, 0, 2], "tip") == arm.frame([1.0, 0.0, 2.0], "tip")
    assert arm.frame(np.array([True, False, True]), "tip") == arm.frame([1.0, 0.0, 1.0], "tip")
    single = np.array([0.1, 0.2, 0.3], np.float32)
    assert arm.frame(single, "tip") == arm.frame(single.astype(float), "tip")


def test_q_is_never_changed(case):
    tree, q = case
    kept = q.copy()
    tree.frame_and_jacobian(q, tree.tips[0])
    tree.frames(q)
    tree.integrate(q, q)
    assert np.array_equal(q, kept)


def test_results_can_be_written_to_memory_of_ones_own(case):
    tree, q = case
    link = tree.tips[0]
    for rows in (q, q[5], q[:0], q[:24].reshape(2, 12, -1)):
        lead = rows.shape[:-1]
        frames, jacobians = np.full((*lead, 4, 4), np.nan), np.full((*lead, 6, tree.dof), np.nan)
        frame = tree.frame(rows, link, out=frames)
        assert frame == tree.frame(rows, link)
        assert np.shares_memory(frame.matrix, frames) or not frames.size
        assert frames.flags.writeable
        assert not frame.matrix.flags.writeable
        assert tree.jacobian(rows, link, out=jacobians) is jacobians
        assert np.array_equal(jacobians, tree.jacobian(rows, link))
        frames[...], jacobians[...] = np.nan, np.nan
        seen, same = tree.frame_and_jacobian(rows, link, out=(frames, jacobians))
        assert same is jacobians
        assert seen == frame == tree.frame(rows, link)
        assert not seen.matrix.flags.writeable
        assert np.array_equal(jacobians, tree.jacobian(rows, link))
    assert not tree.frame(q, link).matrix.flags.writeable
    assert not tree.frames(q).matrix.flags.writeable
    assert tree.jacobian(q, link).flags.writeable


def read_only(shape):
    array = np.empty(shape)
    array.flags.writeable = False
    return array


BAD_OUT = {
    "another shape": lambda n: np.empty((8, 4, 3)),
    "fewer rows": lambda n: np.empty((7, 4, 4)),
    "an axis less": lambda n: np.empty((4, 4)),
    "an axis more": lambda n: np.empty((1, 8, 4, 4)),
    "float32": lambda n: np.empty((8, 4, 4), np.float32),
    "the other byte order": lambda n: np.empty((8, 4, 4), np.dtype(float).newbyteorder()),
    "read-only": lambda n: read_only((8, 4, 4)),
    "Fortran order": lambda n: np.empty((8, 4, 4), order="F"),
    "strided": lambda n: np.empty((16, 4, 4))[::2],
    "a list": lambda n: [[[0.0] * 4] * 4] * 8,
}


@pytest.mark.parametrize("what", BAD_OUT)
def test_memory_that_does_not_fit_is_refused(what):
    arm = models.planar3()
    message = r"^out must be a writable, C-contiguous float64 array of shape \(8, 4, 4\)$"
    with pytest.raises(BadInput, match=message):
        arm.frame(np.zeros((8, 3)), "tip", out=BAD_OUT[what](3))
    with pytest.raises(BadInput, match=message):
        arm.frame_and_jacobian(np.zeros((8, 3)), "tip", out=(BAD_OUT[what](3), np.empty((8, 6, 3))))
    with pytest.raises(BadInput, match=r"of shape \(8, 6, 3\)$"):
        arm.jacobian(np.zeros((8, 3)), "tip", out=BAD_OUT[what](3))


# -- mistakes ---------------------------------------------------------------------------------------------------

VERBS = {
    "frame": lambda arm, q: arm.frame(q, "tip"),
    "frames": lambda arm, q: arm.frames(q),
    "jacobian": lambda arm, q: arm.jacobian(q, "tip"),
    "frame_and_jacobian": lambda arm, q: arm.frame_and_jacobian(q, "tip"),
    "manipulability": lambda arm, q: arm.manipulability(q, "tip"),
    "transform_points": lambda arm, q: arm.transform_points(q, [0, 0, 0], "tip"),
    "world_geometry": lambda arm, q: list(arm.world_geometry(q)),
    "integrate": lambda arm, q: arm.integrate(q, q),
    "difference": lambda arm, q: arm.difference(q, q),
}
BAD_Q = [
    (np.zeros(4), r"must have shape \(\.\.\., 3\), not \(4,\)"),
    (np.zeros((3, 2)), r"must have shape \(\.\.\., 3\), not \(3, 2\)"),
    (np.zeros(0), r"must have shape \(\.\.\., 3\), not \(0,\)"),
    (0.5, r"must have shape \(\.\.\., 3\), not \(\)"),
    (None, r"must have shape \(\.\.\., 3\), not \(\)|must be numbers"),
    ("abc", "must be numbers"),
    ([0, "x", 0], "must be numbers"),
    ([[0, 0, 0], [0, 0]], "must be numbers"),
    ({"joint1": 0}, "must be numbers"),
    (np.zeros(3, complex), "must be numbers"),
    ([0, math.nan, 0], r"must be finite; value 1 is nan"),
    ([0, 0, math.inf], r"must be finite; value 2 is inf"),
    ([-math.inf, 0, 0], r"must be finite; value 0 is -inf"),
    ([[0, 0, 0], [0, 0, math.nan]], r"must be finite; value 2 of row 1 is nan"),
    (np.where(np.arange(6000).reshape(-1, 3) == 4567, np.nan, 0), r"must be finite; value 1 of row 1522 is nan"),
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("q", "message"), BAD_Q, ids=[message for _, message in BAD_Q])
def test_bad_joint_values_are_refused_with_what_and_where(verb, q, message):
    with pytest.raises(BadInput, match=message):
        VERBS[verb](models.planar3(), q)


@pytest.mark.parametrize("verb", ["integrate", "difference"])
def test_steps_whose_leading_axes_do_not_fit_are_refused(verb):
    arm = models.planar3()
    for a, b in (((2, 3), (3, 3)), ((3,), (2,)), ((4, 2, 3), (3, 3)), ((3,), ()), ((), (3,))):
        with pytest.raises(BadInput):
            getattr(arm, verb)(np.zeros(a), np.zeros(b))


def test_a_value_that_moves_nothing_must_be_finite_too():
    fork = Linkage("fork", [Joint.revolute("a", "w", "x"), Joint.revolute("b", "w", "y")])
    with pytest.raises(BadInput, match="value 1 is nan"):
        fork.frame([0, math.nan], "x")


@pytest.mark.parametrize("link", ["tipp", "Tip", "", None, 3, ["tip"], b"tip"])
def test_unknown_links_are_refused_with_what_is_near(link):
    arm, q = models.planar3(), np.zeros(3)
    for ask in (arm.frame, arm.jacobian, arm.frame_and_jacobian, arm.manipulability):
        with pytest.raises(UnknownName, match="no link named"):
            ask(q, link)
    with pytest.raises(UnknownName, match="no link named"):
        arm.transform_points(q, [0, 0, 0], "tip", "nowhere" if link is None else link)
    if link == "tipp":
        with pytest.raises(UnknownName, match="no link named 'tipp'; did you mean 'tip'"):
            arm.frame(q, link)
        with pytest.raises(UnknownName, match="did you mean 'tip'"):
            arm.frames(q)["tipp"]


@pytest.mark.parametrize("point", [[0, 0], [[0, 0, 0]] * 3, [0, 0, math.nan], "abc", 1.0, [None, 1, 2]])
def test_bad_points_are_refused(point):
    with pytest.raises(BadInput, match="point"):
        models.planar3().jacobian(np.zeros((2, 3)), "tip", point=point)


def test_bad_axes_are_refused():
    with pytest.raises(BadInput, match=r"axes must be Axes\.WORLD or Axes\.LINK, got 'link'"):
        models.planar3().jacobian([0, 0, 0], "tip", axes="link")


@pytest.mark.parametrize("shift", range(8))
def test_what_no_cache_holds_is_written_like_the_rest(shift: int) -> None:
    arm = models.panda()
    rows = 60_001
    q = arm.random(rows, seed=shift)
    memory = np.full(rows * (16 + 6 * arm.dof) + 16, np.nan)  # 31 MB, at any place within a line
    frames = memory[shift : shift + 16 * rows].reshape(rows, 4, 4)
    jacobians = memory[shift + 16 * rows : shift + 16 * rows + 6 * arm.dof * rows].reshape(rows, 6, arm.dof)
    arm.frame_and_jacobian(q, "panda_hand_tcp", out=(frames, jacobians))
    for part in (slice(0, 500), slice(rows // 2 - 50, rows // 2 + 50), slice(rows - 500, rows)):
        frame, jacobian = arm.frame_and_jacobian(q[part], "panda_hand_tcp")
        assert np.array_equal(frames[part], frame.matrix)
        assert np.array_equal(jacobians[part], jacobian)
    assert not np.isnan(memory[shift : shift + rows * (16 + 6 * arm.dof)]).any()
    assert np.isnan(memory[:shift]).all()
    assert np.isnan(memory[shift + rows * (16 + 6 * arm.dof) :]).all()
