"""Laws of forward kinematics: frames and Jacobians, on scalars, on lanes of every instruction set, and on threads."""

import math
import os
import subprocess
import sys
from functools import cache

import numpy as np
import oracle
import pytest
from random_trees import random_q, random_tree

from supple import _core, stock
from supple.errors import BadInput, UnknownName
from supple.frame import Frame
from supple.joint import Joint, Mimic
from supple.link import Box, Geometry, Link, Sphere
from supple.linkage import Axes, Linkage

ROWS = (1, 2, 3, 7, 8, 9, 17, 64, 65)


@pytest.fixture(params=_core.instruction_sets())
def lanes(request):
    """Everything in the test runs on one instruction set; the best is back in use afterwards."""
    _core.use(request.param)
    assert _core.instruction_set() == request.param
    yield request.param
    _core.use(None)


def worst(a, b):
    return np.abs(np.asarray(a) - np.asarray(b)).max(initial=0)


@cache
def case(seed):
    """A tree with geometry, 65 rows of q, and what the oracle says of them."""
    tree = random_tree(seed, geometry=True)
    q = random_q(tree, seed, 65)
    frames, readied, _ = oracle.traverse(tree, q)
    size = max(1, max(np.abs(m[..., :3, 3]).max() for m in frames.values()))
    return tree, q, frames, readied, size


def parts(n):
    """Single rows (None) and batches of every size that fills lanes exactly, not at all, or in part."""
    yield from ((None, np.s_[i]) for i in (0, n // 2, n - 1))
    yield from ((k, np.s_[n - k :]) for k in ROWS)


# -- against the chapter ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_frames_are_those_of_a_matrix_stack(seed, lanes):
    tree, q, frames, _, size = case(seed)
    for _, rows in parts(len(q)):
        seen = tree.frames(q[rows])
        assert list(seen) == [link.name for link in tree.links]
        for link in tree.links:
            wanted = frames[link.name][rows]
            assert seen[link.name].matrix.shape == wanted.shape
            assert worst(seen[link.name].matrix, wanted) < 1e-13 * size
            assert worst(tree.frame(q[rows], link.name).matrix, wanted) < 1e-13 * size


@pytest.mark.parametrize("seed", range(40))
def test_jacobians_are_made_of_axes_and_ways_to_them(seed, lanes):
    tree, q, *_, size = case(seed)
    rng = np.random.default_rng(seed)
    for link in rng.choice([link.name for link in tree.links], 2):
        point = rng.uniform(-1, 1, 3)
        wanted, moved = oracle.jacobian(tree, q, link), oracle.jacobian(tree, q, link, point)
        for _, rows in parts(len(q)):
            assert worst(tree.jacobian(q[rows], link), wanted[rows]) < 1e-12 * size
            assert worst(tree.jacobian(q[rows], link, point=point), moved[rows]) < 1e-12 * size


@pytest.mark.parametrize("block", range(10))
def test_jacobians_agree_with_finite_differences(block):
    h = 3e-6
    for seed in range(1000 * block, 1000 * (block + 1)):
        tree = random_tree(seed)
        n, q, link = tree.dof, random_q(tree, seed), tree.tips[seed % len(tree.tips)]
        steps = h * np.concatenate([np.eye(n), -np.eye(n)])
        rows = tree.integrate(q, steps)
        for instructions in _core.instruction_sets():
            _core.use(instructions)
            ahead, behind = np.split(tree.frame(rows, link).matrix, 2)
            slope = (ahead - behind) / (2 * h)
            spin = slope[:, :3, :3] @ tree.frame(q, link).rotation.T  # the cross matrix of the angular velocity
            wanted = [slope[:, 0, 3], slope[:, 1, 3], slope[:, 2, 3], spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]]
            one, many = tree.jacobian(q, link), tree.jacobian(np.stack([q, q, q]), link)
            assert worst(one, wanted) < 1e-6, (seed, instructions)
            assert worst(many, wanted) < 1e-6, (seed, instructions)
    _core.use(None)


def test_random_trees_have_all_there_is():
    trees = [random_tree(seed) for seed in range(300)]
    assert {len(tree.joints) for tree in trees} == set(range(1, 41))
    joints = [joint for tree in trees for joint in tree.joints]
    assert len({joint.kind for joint in joints}) == 7
    named = {(tree.name, joint.name): joint for tree in trees for joint in tree.joints}
    sources = [named[tree.name, j.mimic.joint] for tree in trees for j in tree.joints if j.mimic]
    assert sum(joint.mimic is None for joint in sources) > 100
    assert sum(joint.mimic is not None for joint in sources) > 100
    assert any(tree.dof == 0 for tree in trees)
    assert random_tree(7) == random_tree(7) != random_tree(8)


def test_very_many_rows_on_threads_are_the_same_as_few(lanes):
    tree, (name, *_) = random_tree(3, 40), random_tree(3, 40).tips
    q = random_q(tree, 0, 20_011)
    some = np.r_[0:70, 9_990:10_060, 19_990:20_011]
    frames, jacobians = tree.look(q, name)
    wanted, _, _ = oracle.traverse(tree, q[some])
    size = max(1, np.abs(wanted[name][:, :3, 3]).max())
    assert worst(frames.matrix[some], wanted[name]) < 1e-13 * size
    assert worst(jacobians[some], oracle.jacobian(tree, q[some], name)) < 1e-12 * size
    whole = tree.frames(q[:6_001])
    assert worst(whole[name].matrix, frames.matrix[:6_001]) < 1e-13 * size
    assert np.isfinite(frames.matrix).all()
    assert np.isfinite(jacobians).all()


HASHES = """
import hashlib
import sys
sys.path.insert(0, sys.argv[1])
from random_trees import random_q, random_tree
from supple import _core
for name in _core.instruction_sets():
    _core.use(name)
    for seed in (3, 11):
        tree = random_tree(seed, 40)
        for rows in (5_761, 7_777):  # cut in 2, 3 or 5, the first leaves a single row over
            q = random_q(tree, 1, rows)
            frame, jacobian = tree.look(q, tree.tips[0])
            made = (frame.matrix, jacobian, tree.frames(q).matrix, tree.manipulability(q, tree.tips[0]))
            print(*(hashlib.sha256(array.tobytes()).hexdigest()[:16] for array in made))
"""


def test_any_number_of_threads_gives_the_same_bits():
    seen = set()
    for threads in ("1", "2", "3", "5"):
        ran = subprocess.run(
            [sys.executable, "-c", HASHES, os.path.dirname(__file__)],
            env={**os.environ, "SUPPLE_THREADS": threads},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        seen.add(ran.stdout)
    assert len(seen) == 1, "\n".join(seen)


# -- what is asked for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_links_own_axes_only_turn_the_rows(seed, lanes):
    tree, q, *_, size = case(seed)
    for link in tree.tips[:3]:
        turn = np.swapaxes(tree.frame(q, link).rotation, -1, -2)
        for given in ({}, {"point": [0.3, -0.2, 0.9]}):
            world, own = tree.jacobian(q, link, **given), tree.jacobian(q, link, axes=Axes.LINK, **given)
            assert worst(own[:, :3], turn @ world[:, :3]) < 1e-14 * size
            assert worst(own[:, 3:], turn @ world[:, 3:]) < 1e-14 * size
            assert worst(tree.jacobian(q[0], link, axes=Axes.LINK, **given), own[0]) < 1e-14 * size


@pytest.mark.parametrize("seed", range(10))
def test_a_point_moves_as_a_tool_there_would(seed, lanes):
    tree, q, *_, size = case(seed)
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (len(q), 3))
    for link in tree.tips[:2]:
        tooled = tree.with_tool(link, Frame.at(points[0], Frame.rotvec([0.3, 0.2, 0.1])), "tool")
        assert worst(tooled.jacobian(q, "tool"), tree.jacobian(q, link, point=points[0])) < 1e-13 * size
        each = tree.jacobian(q, link, point=points)
        for i in (0, 1, 40, 64):
            assert worst(each[i], tree.jacobian(q[i], link, point=points[i])) < 1e-13 * size


@pytest.mark.parametrize("seed", range(10))
def test_a_look_is_the_frame_and_the_jacobian(seed, lanes):
    tree, q, *_ = case(seed)
    for rows in (q, q[0], q[:0]):
        frame, jacobian = tree.look(rows, tree.tips[-1])
        assert frame == tree.frame(rows, tree.tips[-1])
        assert np.array_equal(jacobian, tree.jacobian(rows, tree.tips[-1]))


@pytest.mark.parametrize("seed", range(20))
def test_manipulability_is_the_product_of_singular_values(seed, lanes):
    tree, q, *_ = case(seed)
    for link in tree.tips[:3]:
        jacobian = tree.jacobian(q, link)
        moving = np.abs(jacobian).max(axis=(0, 1), initial=0) > 0  # columns on the way to the link
        for rows, given in ((np.s_[:], {}), (np.s_[:3], {"orientation": False}), (np.s_[3:], {"position": False})):
            some = jacobian[:, rows][..., moving]
            got = tree.manipulability(q, link, **given)
            assert got.shape == (65,)
            if not moving.any():
                assert not got.any()
                continue
            wanted = np.prod(np.linalg.svd(some, compute_uv=False), axis=-1)
            # the square is a determinant, off by rounding of the volume of a box with such edges
            edges = np.linalg.norm(some, axis=-1 if some.shape[-2] <= some.shape[-1] else -2)
            assert (np.abs(got**2 - wanted**2) <= 1e-13 * np.prod(edges, axis=-1) ** 2).all()
            assert tree.manipulability(q[3], link, **given).shape == ()
            assert tree.manipulability(q[3], link, **given) == pytest.approx(got[3], rel=1e-6, abs=1e-7)


def test_manipulability_knows_the_rank_an_arm_can_have():
    arm = stock.planar3()
    assert arm.manipulability([0.3, 0.5, 0.7], "tip") > 0  # three columns, six rows
    assert arm.manipulability([0.3, 0, 0], "tip") == pytest.approx(0, abs=1e-5)
    assert arm.manipulability([0.3, 0.5, 0.7], "base") == 0
    with pytest.raises(BadInput, match="position, orientation or both"):
        arm.manipulability([0.3, 0.5, 0.7], "tip", position=False, orientation=False)


@pytest.mark.parametrize("seed", range(10))
def test_points_are_carried_from_link_to_link_and_to_the_world(seed, lanes):
    tree, q, frames, _, size = case(seed)
    rng = np.random.default_rng(seed)
    point = rng.uniform(-1, 1, 3)
    here, there = (str(name) for name in rng.choice([link.name for link in tree.links], 2))
    world = (frames[here] @ [*point, 1])[..., :3]  # [K5.5]
    assert worst(tree.carry(q, point, here), world) < 1e-13 * size
    seen = np.linalg.solve(frames[there], np.concatenate([world, np.ones((65, 1))], -1)[..., None])[..., :3, 0]
    assert worst(tree.carry(q, point, here, there), seen) < 1e-12 * size
    assert worst(tree.carry(q, point, here, here), point) < 1e-12 * size
    assert worst(tree.carry(q[0], [point, point], here), world[0]) < 1e-13 * size


def test_vertices_reach_the_world_as_the_chapter_says():
    t0, t1, t11 = Frame.at([1, 2, 3], Frame.rotvec([0, 0, 0.5])), Frame.at([0, 0, 1]), Frame.at([1, 0, 0])
    arm = Linkage("k", [Joint.revolute("a", "l0", "l1", at=t1), Joint.revolute("b", "l1", "l11", at=t11)], base=t0)
    v, r = [0.1, 0.2, 0.3], [Frame.turn([0, 0, 1], angle) for angle in (0.7, -0.4)]
    assert worst(arm.carry([0.7, -0.4], v, "l0"), t0.apply(v)) < 1e-15  # [K5.1]
    assert worst(arm.carry([0, 0], v, "l1"), (t0 @ t1).apply(v)) < 1e-15  # [K5.2]
    assert worst(arm.carry([0, 0], v, "l11"), (t0 @ t1 @ t11).apply(v)) < 1e-14  # [K5.3]
    assert worst(arm.carry([0.7, -0.4], v, "l1"), (t0 @ t1 @ r[0]).apply(v)) < 1e-15  # [K5.4]
    assert worst(arm.carry([0.7, -0.4], v, "l11"), (t0 @ t1 @ r[0] @ t11 @ r[1]).apply(v)) < 1e-14  # [K5.5]


@pytest.mark.parametrize("seed", range(10))
def test_geometry_is_readied_and_articulated(seed, lanes):
    tree, q, _, readied, size = case(seed)
    placed = list(tree.placed(q))
    assert [(link, geometry) for link, geometry, _ in placed] == [(k.name, g) for k in tree.links for g in k.geometry]
    wanted = [matrix for link in tree.links for matrix in readied[link.name]]
    for (_, _, frame), matrix in zip(placed, wanted, strict=True):
        assert worst(frame.matrix, matrix) < 1e-13 * size


# -- shapes of arrays -------------------------------------------------------------------------------------------


def test_leading_axes_broadcast(lanes):
    tree, q, *_ = case(4)
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
    assert tree.carry(q, [1, 2, 3], link).shape == (2, 3, 4, 3)
    with pytest.raises((BadInput, ValueError)):
        tree.jacobian(q, link, point=np.zeros((3, 3, 3)))


def test_no_rows_give_no_rows(lanes):
    tree, q, *_ = case(4)
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
def test_how_q_lies_in_memory_changes_no_bit(layout):
    tree, q, *_ = case(4)
    given = LAYOUTS[layout](q)
    assert tree.frame(given, tree.tips[0]) == tree.frame(q, tree.tips[0])
    assert np.array_equal(tree.frames(given).matrix, tree.frames(q).matrix)
    assert np.array_equal(tree.jacobian(given, tree.tips[0]), tree.jacobian(q, tree.tips[0]))
    assert np.array_equal(tree.integrate(given, given), tree.integrate(q, q))


def test_q_may_be_whole_numbers_or_of_less_precision():
    arm = stock.planar3()
    assert arm.frame([1, 0, 2], "tip") == arm.frame([1.0, 0.0, 2.0], "tip")
    assert arm.frame(np.array([True, False, True]), "tip") == arm.frame([1.0, 0.0, 1.0], "tip")
    single = np.array([0.1, 0.2, 0.3], np.float32)
    assert arm.frame(single, "tip") == arm.frame(single.astype(float), "tip")


def test_q_is_never_changed(lanes):
    tree, q, *_ = case(4)
    kept = q.copy()
    tree.look(q, tree.tips[0])
    tree.frames(q)
    tree.integrate(q, q)
    assert np.array_equal(q, kept)


def test_results_can_be_written_to_memory_of_ones_own(lanes):
    tree, q, *_ = case(4)
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
        seen, same = tree.look(rows, link, out=(frames, jacobians))
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
    arm = stock.planar3()
    message = r"^out must be a writable, C-contiguous float64 array of shape \(8, 4, 4\)$"
    with pytest.raises(BadInput, match=message):
        arm.frame(np.zeros((8, 3)), "tip", out=BAD_OUT[what](3))
    with pytest.raises(BadInput, match=message):
        arm.look(np.zeros((8, 3)), "tip", out=(BAD_OUT[what](3), np.empty((8, 6, 3))))
    with pytest.raises(BadInput, match=r"of shape \(8, 6, 3\)$"):
        arm.jacobian(np.zeros((8, 3)), "tip", out=BAD_OUT[what](3))


# -- mistakes ---------------------------------------------------------------------------------------------------

VERBS = {
    "frame": lambda arm, q: arm.frame(q, "tip"),
    "frames": lambda arm, q: arm.frames(q),
    "jacobian": lambda arm, q: arm.jacobian(q, "tip"),
    "look": lambda arm, q: arm.look(q, "tip"),
    "manipulability": lambda arm, q: arm.manipulability(q, "tip"),
    "carry": lambda arm, q: arm.carry(q, [0, 0, 0], "tip"),
    "placed": lambda arm, q: list(arm.placed(q)),
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
        VERBS[verb](stock.planar3(), q)


def test_a_value_that_moves_nothing_must_be_finite_too():
    fork = Linkage("fork", [Joint.revolute("a", "w", "x"), Joint.revolute("b", "w", "y")])
    with pytest.raises(BadInput, match="value 1 is nan"):
        fork.frame([0, math.nan], "x")


@pytest.mark.parametrize("link", ["tipp", "Tip", "", None, 3, ["tip"], b"tip"])
def test_unknown_links_are_refused_with_what_is_near(link):
    arm, q = stock.planar3(), np.zeros(3)
    for ask in (arm.frame, arm.jacobian, arm.look, arm.manipulability):
        with pytest.raises(UnknownName, match="no link named"):
            ask(q, link)
    with pytest.raises(UnknownName, match="no link named"):
        arm.carry(q, [0, 0, 0], "tip", "nowhere" if link is None else link)
    if link == "tipp":
        with pytest.raises(UnknownName, match="no link named 'tipp'; did you mean 'tip'"):
            arm.frame(q, link)
        with pytest.raises(UnknownName, match="did you mean 'tip'"):
            arm.frames(q)["tipp"]


@pytest.mark.parametrize("point", [[0, 0], [[0, 0, 0]] * 3, [0, 0, math.nan], "abc", 1.0, [None, 1, 2]])
def test_bad_points_are_refused(point):
    with pytest.raises(BadInput, match="point"):
        stock.planar3().jacobian(np.zeros((2, 3)), "tip", point=point)


def test_bad_axes_are_refused():
    with pytest.raises(BadInput, match=r"axes must be Axes\.WORLD or Axes\.LINK, got 'link'"):
        stock.planar3().jacobian([0, 0, 0], "tip", axes="link")


# -- great and small --------------------------------------------------------------------------------------------


def test_five_thousand_joints_in_a_row_are_no_trouble(lanes):
    n, step = 5000, Frame.at([0.01, 0, 0])
    chain = Linkage("snake", [Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", at=step) for i in range(n)])
    q = np.random.default_rng(0).uniform(-0.1, 0.1, (9, n))
    angle = np.cumsum(np.concatenate([np.zeros((9, 1)), q], axis=1), axis=1)
    x, y = np.cumsum(0.01 * np.cos(angle[:, :-1]), axis=1), np.cumsum(0.01 * np.sin(angle[:, :-1]), axis=1)
    for rows in (np.s_[:], np.s_[4]):
        frame, jacobian = chain.look(q[rows], f"l{n}")
        assert worst(frame.position[..., 0], x[rows][..., -1]) < 1e-11
        assert worst(frame.position[..., 1], y[rows][..., -1]) < 1e-11
        assert worst(jacobian[..., 0, :], y[rows] - y[rows][..., -1:]) < 1e-11
        assert worst(jacobian[..., 1, :], x[rows][..., -1:] - x[rows]) < 1e-11
        assert (jacobian[..., 5, :] == 1).all()
        all_of_them = chain.frames(q[rows]).matrix
        assert worst(all_of_them[..., 1:, 0, 3], x[rows]) < 1e-11
        assert worst(all_of_them[..., 1:, 1, 3], y[rows]) < 1e-11


def test_a_linkage_that_cannot_move_has_frames_all_the_same(lanes):
    base = Frame.at([1, 2, 3], Frame.rotvec([0.1, 0.2, 0.3]))
    for still in (
        Linkage("one", links=[Link("l1")], base=base),
        Linkage("two", [Joint.fixed("j", "l0", "l1", at=Frame.at([1, 0, 0]))], base=base),
    ):
        wanted = base if still.name == "one" else base @ Frame.at([1, 0, 0])
        for q in (np.zeros(0), [], np.zeros((5, 0)), np.zeros((2, 3, 0)), np.zeros((0, 0))):
            lead = np.shape(q)[:-1]
            assert still.frame(q, "l1").matrix.shape == (*lead, 4, 4)
            assert worst(still.frame(q, "l1").matrix, wanted.matrix) == 0
            assert worst(still.frames(q)["l1"].matrix, wanted.matrix) == 0
            assert still.jacobian(q, "l1").shape == (*lead, 6, 0)
            assert still.manipulability(q, "l1").shape == lead
            assert not still.manipulability(q, "l1").any()
            assert still.integrate(q, q).shape == (*lead, 0)


@pytest.mark.parametrize("turns", [0, 1e3, 1e6, 1e9])
def test_many_whole_turns_come_to_the_same_place(turns, lanes):
    tree = random_tree(21, 12)
    q = random_q(tree, 0, 9)
    away = q + 2 * math.pi * np.round(turns * np.sin(np.arange(tree.dof)))
    wanted, _, _ = oracle.traverse(tree, away)
    size = max(1, max(np.abs(m[..., :3, 3]).max() for m in wanted.values()))
    off = 1e-13 + 16 * np.spacing(np.abs(away).max())  # what q itself can say
    for link, frame in tree.frames(away).items():
        assert worst(frame.matrix, wanted[link]) < off * size * len(tree.joints)
        assert worst(tree.frame(away[4], link).matrix, wanted[link][4]) < off * size * len(tree.joints)


def test_instruction_sets_can_be_chosen_by_name():
    assert _core.instruction_sets()[0] == "baseline"
    assert _core.instruction_set() == _core.instruction_sets()[-1]
    with pytest.raises(BadInput, match="no instruction set 'abacus'"):
        _core.use("abacus")
    assert _core.instruction_set() == _core.instruction_sets()[-1]


# -- reach ------------------------------------------------------------------------------------------------------


def base_point(arm, link):
    """The point of the first axis that is nearest to the second, for arms whose first joints are turns."""
    _, _, seats = oracle.traverse(arm, np.zeros(arm.dof))
    first, second = [joint for joint in arm.part(arm.root, link).joints if joint.dof][:2]
    (a, p), (b, r) = ((seats[j.name][:3, :3] @ j.axis, seats[j.name][:3, 3]) for j in (first, second))
    if np.linalg.norm(np.cross(a, b)) < 1e-9:
        return p + a * (a @ (r - p))
    along = np.linalg.lstsq(np.stack([a, -b], -1), r - p, rcond=None)[0]
    return p + along[0] * a


@pytest.mark.parametrize(
    ("name", "link", "wanted"),
    [
        ("panda", "panda_hand_tcp", 0.94742),
        ("ur5", "tool0", 0.94993),
        ("puma560", "tool", 1.03435),
        ("planar3", "tip", 30),
        ("planar2", "tip", 25),
    ],
)
def test_reach_is_the_greatest_distance_with_every_turn_free(name, link, wanted):
    arm = stock.get(name)
    assert arm.reach(link) == pytest.approx(wanted, abs=6e-6)
    free = np.random.default_rng(0).uniform(-math.pi, math.pi, (10_000, arm.dof))
    away = np.linalg.norm(arm.frame(free, link).position - base_point(arm, link), axis=1)
    assert away.max() <= arm.reach(link) * (1 + 1e-12)
    assert away.max() > 0.8 * arm.reach(link)


def test_reach_does_not_depend_on_where_the_arm_stands():
    moved = stock.panda().at(Frame.at([5, 6, 7], Frame.rotvec([1, 2, 3])))
    assert moved.reach("panda_hand_tcp") == pytest.approx(stock.panda().reach("panda_hand_tcp"), rel=1e-9)


def test_slides_reach_as_far_as_their_limits():
    def crane(**limits):
        boom = Joint.prismatic("boom", "mast", "hook", at=Frame.at([1, 0, 0]), axis=[1, 0, 0], **limits)
        return Linkage("crane", [Joint.revolute("slew", "ground", "mast"), boom])

    assert crane(lower=-0.5, upper=2).reach("hook") == pytest.approx(3)
    assert crane(lower=-9, upper=2).reach("hook") == pytest.approx(8)
    assert crane(upper=2).reach("hook") == crane(lower=2).reach("hook") == crane().reach("hook") == math.inf
    assert crane().reach("mast") == pytest.approx(0, abs=1e-15)
    assert crane().reach("ground") == 0


def test_nothing_holds_what_floats():
    for joint in (Joint.floating("f", "w", "b"), Joint.planar("f", "w", "b")):
        free = Linkage("free", [joint, Joint.revolute("j", "b", "c", at=Frame.at([1, 0, 0]))])
        assert free.reach("c") == math.inf
        assert free.part("b").reach("c") == pytest.approx(0, abs=1e-15)


def test_a_ball_and_a_mimic_reach_like_free_turns():
    def arm(elbow):
        tip = Joint.fixed("t", "fore", "tip", at=Frame.at([1, 0, 0]))
        return Linkage("arm", [Joint.ball("ball", "base", "upper"), elbow, tip])

    place = Frame.at([2, 0, 0])
    assert arm(Joint.revolute("e", "upper", "fore", at=place)).reach("tip") == pytest.approx(3)
    bent = Joint.revolute("e", "upper", "fore", at=place, mimic=Mimic("other", -1))
    both = Linkage("both", [Joint.revolute("other", "base", "upper"), bent, Joint.fixed("t", "fore", "tip", at=place)])
    assert both.reach("tip") == pytest.approx(4)


def test_every_shape_is_carried():
    box, ball = Geometry(Box((1, 1, 1)), Frame.at([0, 0, 1])), Geometry(Sphere(0.5))
    arm = Linkage("arm", [Joint.revolute("j", "a", "b", at=Frame.at([1, 0, 0]))], [Link("a", [ball]), Link("b", [box])])
    (first, _, at), (second, _, there) = arm.placed([math.pi])
    assert (first, second) == ("a", "b")
    assert worst(at.position, [0, 0, 0]) == 0
    assert worst(there.position, [1, 0, 1]) < 1e-15
