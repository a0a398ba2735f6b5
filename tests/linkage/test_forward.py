"""Laws of forward kinematics: frames and Jacobians, on scalars, on lanes of every instruction set, and on threads."""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import oracle
from quick import first_is_quick
from random_trees import random_q, random_tree
from supple import _core, models
from supple.errors import BadInput
from supple.frame import Frame
from supple.joint import Joint
from supple.link import Box, Geometry, Link, Sphere
from supple.linkage import Axes, Linkage

ROWS = (1, 2, 3, 7, 8, 9, 17, 64, 65)


@pytest.fixture(params=_core.instruction_sets())
def lanes(request):
    """Everything in the test runs on one instruction set."""
    _core.use(request.param)
    assert _core.instruction_set() == request.param
    return request.param


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


@pytest.mark.parametrize("block", first_is_quick(range(10)))
def test_jacobians_agree_with_finite_differences(block):
    h = 3e-6
    for seed in range(400 * block, 400 * (block + 1)):
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


def test_random_trees_cover_every_joint_kind_size_and_mimic():
    trees = [random_tree(seed) for seed in range(300)]
    assert {len(tree.joints) for tree in trees} == set(range(1, 41))
    joints = [joint for tree in trees for joint in tree.joints]
    assert len({joint.kind for joint in joints}) == 7
    named = {(tree.name, joint.name): joint for tree in trees for joint in tree.joints}
    sources = [named[tree.name, j.mimic.joint] for tree in trees for j in tree.joints if j.mimic]
    assert sum(joint.mimic is None for joint in sources) > 100
    assert sum(joint.mimic is not None for joint in sources) > 100
    assert random_tree(7) == random_tree(7) != random_tree(8)


def test_very_many_rows_on_threads_are_the_same_as_few(lanes):
    tree, (name, *_) = random_tree(3, 40), random_tree(3, 40).tips
    q = random_q(tree, 0, 20_011)
    some = np.r_[0:70, 9_990:10_060, 19_990:20_011]
    frames, jacobians = tree.frame_and_jacobian(q, name)
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
from random_trees import axes, places, random_q, random_tree
from supple import _core
for name in _core.instruction_sets():
    _core.use(name)
    for seed in (3, 11):
        tree = random_tree(seed, 40)
        for rows in (5_761, 7_777):  # cut in 2, 3 or 5, the first leaves a single row over
            q = random_q(tree, 1, rows)
            frame, jacobian = tree.frame_and_jacobian(q, tree.tips[0])
            made = (frame.matrix, jacobian, tree.frames(q).matrix, tree.manipulability(q, tree.tips[0]))
            print(*(hashlib.sha256(array.tobytes()).hexdigest()[:16] for array in made))
"""


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits():
    seen = set()
    for threads in ("1", "2", "3", "5"):
        ran = subprocess.run(
            [sys.executable, "-c", HASHES, str(Path(__file__).parents[1] / "support")],
            env={**os.environ, "SUPPLE_THREADS": threads},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        seen.add(ran.stdout)
    assert len(seen) == 1, "\n".join(seen)


def test_callers_on_many_threads_do_not_disturb_each_other(lanes):
    tree, serial = random_tree(5, 40), random_tree(5, 40)
    q = random_q(tree, 0, 3000)
    links = [link.name for link in tree.links[::4]]
    wanted = [serial.frame_and_jacobian(q, link) for link in links]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            seen = pool.map(lambda link: tree.frame_and_jacobian(q, link), links)
            for (frame, jacobian), (known, same) in zip(seen, wanted, strict=True):
                assert frame == known
                assert np.array_equal(jacobian, same)


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
        frame, jacobian = tree.frame_and_jacobian(rows, tree.tips[-1])
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
    arm = models.planar3()
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
    assert worst(tree.transform_points(q, point, here), world) < 1e-13 * size
    seen = np.linalg.solve(frames[there], np.concatenate([world, np.ones((65, 1))], -1)[..., None])[..., :3, 0]
    assert worst(tree.transform_points(q, point, here, there), seen) < 1e-12 * size
    assert worst(tree.transform_points(q, point, here, here), point) < 1e-12 * size
    assert worst(tree.transform_points(q[0], [point, point], here), world[0]) < 1e-13 * size


def test_vertices_reach_the_world_as_the_chapter_says():
    t0, t1, t11 = Frame.at([1, 2, 3], Frame.rotvec([0, 0, 0.5])), Frame.at([0, 0, 1]), Frame.at([1, 0, 0])
    arm = Linkage("k", [Joint.revolute("a", "l0", "l1", at=t1), Joint.revolute("b", "l1", "l11", at=t11)], base=t0)
    v, r = [0.1, 0.2, 0.3], [Frame.turn([0, 0, 1], angle) for angle in (0.7, -0.4)]
    assert worst(arm.transform_points([0.7, -0.4], v, "l0"), t0.apply(v)) < 1e-15  # [K5.1]
    assert worst(arm.transform_points([0, 0], v, "l1"), (t0 @ t1).apply(v)) < 1e-15  # [K5.2]
    assert worst(arm.transform_points([0, 0], v, "l11"), (t0 @ t1 @ t11).apply(v)) < 1e-14  # [K5.3]
    assert worst(arm.transform_points([0.7, -0.4], v, "l1"), (t0 @ t1 @ r[0]).apply(v)) < 1e-15  # [K5.4]
    assert worst(arm.transform_points([0.7, -0.4], v, "l11"), (t0 @ t1 @ r[0] @ t11 @ r[1]).apply(v)) < 1e-14  # [K5.5]


@pytest.mark.parametrize("seed", range(10))
def test_geometry_is_readied_and_articulated(seed, lanes):
    tree, q, _, readied, size = case(seed)
    placed = list(tree.world_geometry(q))
    assert [(link, geometry) for link, geometry, _ in placed] == [(k.name, g) for k in tree.links for g in k.geometry]
    wanted = [matrix for link in tree.links for matrix in readied[link.name]]
    for (_, _, frame), matrix in zip(placed, wanted, strict=True):
        assert worst(frame.matrix, matrix) < 1e-13 * size


def test_every_shape_is_carried():
    box, ball = Geometry(Box((1, 1, 1)), Frame.at([0, 0, 1])), Geometry(Sphere(0.5))
    arm = Linkage("arm", [Joint.revolute("j", "a", "b", at=Frame.at([1, 0, 0]))], [Link("a", [ball]), Link("b", [box])])
    (first, _, at), (second, _, there) = arm.world_geometry([math.pi])
    assert (first, second) == ("a", "b")
    assert worst(at.position, [0, 0, 0]) == 0
    assert worst(there.position, [1, 0, 1]) < 1e-15


# -- great and small --------------------------------------------------------------------------------------------


def test_a_chain_of_five_thousand_joints_is_computed(lanes):
    n, step = 5000, Frame.at([0.01, 0, 0])
    chain = Linkage("snake", [Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", at=step) for i in range(n)])
    q = np.random.default_rng(0).uniform(-0.1, 0.1, (9, n))
    angle = np.cumsum(np.concatenate([np.zeros((9, 1)), q], axis=1), axis=1)
    x, y = np.cumsum(0.01 * np.cos(angle[:, :-1]), axis=1), np.cumsum(0.01 * np.sin(angle[:, :-1]), axis=1)
    for rows in (np.s_[:], np.s_[4]):
        frame, jacobian = chain.frame_and_jacobian(q[rows], f"l{n}")
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
    chosen = os.environ.get("SUPPLE_ISA") or _core.instruction_sets()[-1]
    assert _core.instruction_set() == chosen
    with pytest.raises(BadInput, match="no instruction set 'abacus'"):
        _core.use("abacus")
    assert _core.instruction_set() == chosen
