"""The kernels and their launches, run by this machine's processor: the laws of the search and of forward kinematics."""

import numpy as np
import pytest
from search.arms import ARMS

from host_device import HostArray, stand_in
from random_trees import random_tree
from supple import Frame, Goal, Solver, models
from supple._cuda import arm_search, blocks, forward, general_search, search
from supple._solve import search as core_search

ARRIVED, INVALID, NO_MORE = 0, 3, 4


@pytest.fixture(autouse=True)
def host_device(monkeypatch):
    stand_in(monkeypatch)


def device_solver(linkage, goals, **options):
    return search.DeviceSolver(core_search.compiled(linkage, goals, Solver(**options)), 0)


def reachable(linkage, link, count, seed):
    return np.array(linkage.frame(linkage.random(count, seed=seed), link).matrix)


def angle_between(a, b):
    skew = a @ np.swapaxes(b, -1, -2)
    skew = skew - np.swapaxes(skew, -1, -2)
    return np.linalg.norm(skew[..., (2, 0, 1), (1, 2, 0)], axis=-1) / 2


def check_laws(linkage, link, frames, found, least_success, single=False):
    """Arrivals are confirmed by the forward kinematics of the processor; no limit is exceeded, by nothing at all."""
    q, arrived = found.q.numpy(), found.outcome.numpy() == ARRIVED
    assert arrived.mean() >= least_success
    tip = linkage.frame(q.astype(float), link).matrix
    far = np.linalg.norm(tip[:, :3, 3] - frames[:, :3, 3], axis=1)
    turn = angle_between(tip[:, :3, :3], frames[:, :3, :3])
    assert far[arrived].max() <= 1e-6
    assert turn[arrived].max() <= 1e-6
    assert np.abs(far - found.position_error.numpy()).max() <= (1e-6 if single else 1e-12)
    assert (q >= linkage.lower).all()
    assert (q <= linkage.upper).all()


ONE_ARM = [pytest.param("panda", marks=pytest.mark.slow)]
OTHERS = [pytest.param(name, marks=pytest.mark.gate) for name in ("ur5", "iiwa14", "torso", "kinova", "puma560")]


@pytest.mark.parametrize("name", ONE_ARM + OTHERS)
def test_many_reachable_goals_of_an_arm_are_met_within_limits(name, monkeypatch):
    monkeypatch.setattr(arm_search, "FEW_ROWS", 0)
    monkeypatch.setattr(search, "CHUNK", 4096)
    arm, count = ARMS[name](), 10_000
    frames = reachable(arm.linkage, arm.link, count, 5)
    solver = device_solver(arm.linkage, [Goal(arm.link, frames)])
    assert solver.has_arm
    found = solver.solve([blocks.frame_goal(HostArray(frames))], count, 0)
    check_laws(arm.linkage, arm.link, frames, found, 0.9999)


@pytest.mark.slow
def test_few_goals_are_met_by_lanes():
    arm = ARMS["panda"]()
    frames = reachable(arm.linkage, arm.link, 300, 6)
    solver = device_solver(arm.linkage, [Goal(arm.link, frames)])
    found = solver.solve([blocks.frame_goal(HostArray(frames))], 300, 0)
    check_laws(arm.linkage, arm.link, frames, found, 1)


@pytest.mark.slow
def test_single_precision_keeps_limits_and_says_what_it_returns(monkeypatch):
    arm = ARMS["panda"]()
    frames = reachable(arm.linkage, arm.link, 300, 7).astype(np.float32)
    solver = device_solver(arm.linkage, [Goal(arm.link, frames.astype(float))])
    found = solver.solve([blocks.frame_goal(HostArray(frames))], 300, 0, dtype=np.float32)
    assert found.q.dtype == np.float32
    check_laws(arm.linkage, arm.link, frames.astype(float), found, 0.9999, single=True)


@pytest.mark.slow
@pytest.mark.parametrize("few", [True, False])
def test_goals_out_of_reach_get_the_nearest_solution_of_the_processor(few, monkeypatch):
    monkeypatch.setattr(arm_search, "FEW_ROWS", 100 if few else 0)
    arm = ARMS["ur5"]()
    frames = reachable(arm.linkage, arm.link, 12, 8)
    frames[:6, :3, 3] *= 3  # beyond reach
    frames[6:9, :3, 3] *= 0.02  # inside the base
    goal = Goal(arm.link, frames)
    solver = device_solver(arm.linkage, [goal])
    found = solver.solve([blocks.frame_goal(HostArray(frames))], 12, 0)
    ours = Solver().solve(arm.linkage, goal)
    assert (found.outcome.numpy() == ours.outcomes).all()
    assert (found.outcome.numpy()[9:] == ARRIVED).all()
    missed = found.outcome.numpy() != ARRIVED
    assert missed.sum() >= 4

    def weighted(q):
        """The squared error that the search makes least, with metres as pi / reach."""
        tip = arm.linkage.frame(q, arm.link).matrix
        far = np.linalg.norm(tip[:, :3, 3] - frames[:, :3, 3], axis=1)
        turned = Frame.at(np.zeros(3), tip[:, :3, :3] @ np.swapaxes(frames[:, :3, :3], 1, 2))
        turn = np.linalg.norm(turned.to_rotvec(), axis=1)
        return (np.pi / arm.linkage.reach(arm.link) * far) ** 2 + turn**2

    assert (weighted(found.q.numpy())[missed] <= 1.01 * weighted(ours.q)[missed] + 1e-9).all()


@pytest.mark.slow
def test_a_row_that_is_no_frame_is_invalid_and_the_others_are_solved():
    arm = ARMS["panda"]()
    frames = reachable(arm.linkage, arm.link, 20, 9)
    frames[3, 0, 3] = np.nan
    frames[7, :3, :3] *= 2
    solver = device_solver(arm.linkage, [Goal(arm.link, frames[0])])
    found = solver.solve([blocks.frame_goal(HostArray(frames))], 20, 0)
    outcome = found.outcome.numpy()
    assert set(np.flatnonzero(outcome == INVALID)) == {3, 7}
    assert (np.delete(outcome, [3, 7]) == ARRIVED).all()
    assert np.isfinite(found.q.numpy()).all()


@pytest.mark.slow
def test_the_solution_nearest_to_a_start_is_that_of_the_processor():
    arm = ARMS["ur5"]()
    frames, starts = reachable(arm.linkage, arm.link, 10, 10), arm.linkage.random(10, seed=11)
    goal = Goal(arm.link, frames)
    solver = device_solver(arm.linkage, [goal])
    parts = [blocks.frame_goal(HostArray(frames))]
    found = solver.solve(parts, 10, 0, starts=HostArray(starts))
    ours = Solver().solve(arm.linkage, goal, starts)
    assert (found.outcome.numpy() == ARRIVED).all()
    assert np.abs(found.q.numpy() - ours.q).max() < 1e-6


@pytest.mark.slow
def test_several_solutions_differ_and_are_met():
    arm = ARMS["ur5"]()
    frames = reachable(arm.linkage, arm.link, 10, 10)
    solver = device_solver(arm.linkage, [Goal(arm.link, frames)])
    found = solver.solve([blocks.frame_goal(HostArray(frames))], 10, 0, wanted=3)
    q, met = found.q.numpy(), found.outcome.numpy() == ARRIVED
    assert met[:, 0].all()
    assert met.mean() > 0.9
    assert set(np.unique(found.outcome.numpy())) <= {ARRIVED, NO_MORE}
    tip = arm.linkage.frame(q, arm.link).matrix
    assert np.linalg.norm(tip[..., :3, 3] - frames[:, None, :3, 3], axis=-1).max() <= 1e-6
    for i, k in ((0, 1), (0, 2), (1, 2)):
        assert (np.abs(q[:, i] - q[:, k]).max(axis=1)[met[:, i] & met[:, k]] > 0.01).all()


@pytest.mark.slow
def test_several_goals_of_a_tree_are_met():
    links = ("left_gripper", "right_gripper")
    linkage = models.baxter().part("base", *links)
    q = linkage.random(20, seed=12)
    frames = [np.array(linkage.frame(q, link).matrix) for link in links]
    solver = device_solver(linkage, [Goal(link, each) for link, each in zip(links, frames, strict=True)])
    assert not solver.has_arm
    found = solver.solve([blocks.frame_goal(HostArray(each)) for each in frames], 20, 0)
    for link, each in zip(links, frames, strict=True):
        met = np.linalg.norm(linkage.frame(found.q.numpy(), link).position - each[:, :3, 3], axis=1)
        assert met.max() <= 1e-6
    assert (found.outcome.numpy() == ARRIVED).all()
    assert (found.q.numpy() >= linkage.lower).all()
    assert (found.q.numpy() <= linkage.upper).all()


@pytest.mark.slow
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("kind", ["axis", "position"])
def test_goals_of_other_kinds_are_met(few, kind, monkeypatch):
    monkeypatch.setattr(arm_search, "FEW_ROWS", 1000 if few else 0)
    arm, count = ARMS["so101"](), 400
    frames = reachable(arm.linkage, arm.link, count, 14)
    position, direction = np.ascontiguousarray(frames[:, :3, 3]), np.ascontiguousarray(frames[:, :3, 2])
    along = {"axis": (0, 0, 1), "direction": direction} if kind == "axis" else {}
    solver = device_solver(arm.linkage, [Goal(arm.link, position=position, **along)])
    assert solver.has_arm
    given = blocks.numbers(HostArray(direction), 1) if along else blocks.NONE
    found = solver.solve([(blocks.numbers(HostArray(position), 1), blocks.NONE, given)], count, 0)
    q, met = found.q.numpy(), found.outcome.numpy() == ARRIVED
    assert met.mean() >= 0.9975
    tip = arm.linkage.frame(q, arm.link).matrix
    assert np.linalg.norm(tip[met, :3, 3] - position[met], axis=1).max() <= 1e-6
    if along:
        assert np.linalg.norm(np.cross(tip[met, :3, 2], direction[met]), axis=1).max() <= 1e-6
    else:
        assert not found.angle_error.numpy().any()
    assert (q >= arm.linkage.lower).all()
    assert (q <= arm.linkage.upper).all()


@pytest.mark.gate
def test_many_goals_of_the_general_search_are_met_in_threads_and_then_in_warps(monkeypatch):
    monkeypatch.setattr(general_search, "FEW_ROWS", 0)
    arm, count = ARMS["so101"](), 200
    frames = reachable(arm.linkage, arm.link, count, 15)
    position = np.ascontiguousarray(frames[:, :3, 3])
    solver = device_solver(arm.linkage, [Goal(arm.link, position=position, slack=1e-4)])
    assert not solver.has_arm
    found = solver.solve([(blocks.numbers(HostArray(position), 1), blocks.NONE, blocks.NONE)], count, 0)
    assert (found.outcome.numpy() == ARRIVED).all()
    tip = arm.linkage.frame(found.q.numpy(), arm.link).matrix
    assert np.abs(tip[:, :3, 3] - position).max() <= 1.01e-4


def check_forward(linkage, kind, links):
    q = linkage.random(150, seed=13).astype(kind)
    by_name = linkage.frames(q.astype(float))
    names = list(by_name)
    whole = np.stack([by_name[name].matrix for name in names], axis=1)
    size = max(1.0, np.abs(whole).max())
    allowed = size * (1e-5 if kind == np.float32 else 1e-13)
    for link in links:
        chain = forward.DeviceChain(linkage._native, link, linkage.dof, 0)
        frames, jacobians = chain.frame_and_jacobian(HostArray(q), 0)
        expected, J = linkage.frame_and_jacobian(q.astype(float), link)
        assert frames.dtype == jacobians.dtype == kind
        assert np.abs(frames.numpy() - expected.matrix).max() <= allowed
        assert np.abs(jacobians.numpy() - J).max() <= allowed
    tree = forward.DeviceTree(linkage._native, names, linkage.dof, 0)
    assert np.abs(tree.frames(HostArray(q), 0).numpy() - whole).max() <= allowed


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_frames_and_jacobians_of_an_arm_are_those_of_the_processor(kind):
    check_forward(models.panda(), kind, ["panda_hand_tcp", "panda_link4"])


@pytest.mark.gate
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_frames_and_jacobians_of_all_kinds_of_joints_are_those_of_the_processor(seed):
    linkage = random_tree(seed, 12)
    check_forward(linkage, np.float64, [linkage.links[-1].name])
