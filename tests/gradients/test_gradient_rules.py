"""The formulas of `supple._gradients` in numpy, against differences of a second forward kinematics."""

import numpy as np
import pytest

import oracle
from random_trees import random_q, random_tree
from supple import Joint, Kind, Linkage, Mimic, Solver, Tolerance, models
from supple._gradients import inverse, rules
from supple._gradients.chain import chain_of
from supple.errors import BadInput

STENCIL = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
SEEDS = range(60)


def difference(function, at, along, h=2e-3):
    """The derivative of a function along a direction, by central differences of order 6."""
    return sum(c * (function(at + k * h * along) - function(at - k * h * along)) for k, c in STENCIL) / h


def cases():
    for seed in SEEDS:
        tree = random_tree(seed, count=1 + seed % 9)
        link = tree.links[seed % len(tree.links)].name
        q = random_q(tree, seed, 3)
        if seed % 3 == 0:
            q *= 1e-3  # rotation vectors near 0
        yield tree, chain_of(tree, link), q, np.random.default_rng(seed)


def values_of(chain, q):
    return chain.gain * q[..., chain.columns] + chain.offset


def test_the_frame_and_its_change_are_those_of_the_oracle():
    for tree, chain, q, rng in cases():
        values, change = values_of(chain, q), rng.normal(size=q.shape)
        frame, movers = chain.evaluated(values)
        of_values = change @ chain.spread.T
        got, _ = rules.push(np, chain, values, frame, movers, of_values)
        there = lambda at: oracle.traverse(tree, at)[0][chain.link]  # noqa: B023, E731
        assert np.abs(frame - there(q)).max() < 1e-12
        assert np.abs(got - difference(there, q, change)).max() < 1e-9
        assert np.abs(movers @ chain.spread - oracle.jacobian(tree, q, chain.link)).max(initial=0) < 1e-12


def test_the_change_of_the_jacobian_is_that_of_the_oracle():
    for tree, chain, q, rng in cases():
        values, change = values_of(chain, q), rng.normal(size=q.shape)
        frame, movers = chain.evaluated(values)
        _, got = rules.push(np, chain, values, frame, movers, change @ chain.spread.T)
        wanted = difference(lambda at: oracle.jacobian(tree, at, chain.link), q, change)  # noqa: B023
        assert np.abs(got @ chain.spread - wanted).max(initial=0) < 1e-9


def test_pull_is_the_transpose_of_push():
    for _, chain, q, rng in cases():
        values = values_of(chain, q)
        frame, movers = chain.evaluated(values)
        change, of_frame, of_movers = (rng.normal(size=each.shape) for each in (values, frame, movers))
        frame_change, movers_change = rules.push(np, chain, values, frame, movers, change)
        there = (of_frame * frame_change).sum((-1, -2)) + (of_movers * movers_change).sum((-1, -2))
        back = (rules.pull(np, chain, values, frame, movers, of_frame, of_movers) * change).sum(-1)
        assert np.abs(there - back).max() < 1e-11


def test_the_gradient_of_the_core_is_that_of_the_rules():
    for _, chain, q, rng in cases():
        values, of_frame = values_of(chain, q), rng.normal(size=(3, 4, 4))
        frame, movers = chain.evaluated(values)
        wanted = rules.pull(np, chain, values, frame, movers, of_frame, None) @ chain.spread
        assert np.abs(rules.pull_frame(chain, q, of_frame) - wanted).max(initial=0) < 1e-12
        for row in range(3):
            assert np.abs(rules.pull_frame(chain, q[row], of_frame[row]) - wanted[row]).max(initial=0) < 1e-12
    many = models.panda().random(1003, seed=0)
    chain, of_frame = chain_of(models.panda(), "panda_hand_tcp"), np.random.default_rng(0).normal(size=(1003, 4, 4))
    values = values_of(chain, many)
    wanted = rules.pull(np, chain, values, *chain.evaluated(values), of_frame, None) @ chain.spread
    assert np.abs(rules.pull_frame(chain, many, of_frame) - wanted).max() < 1e-12
    with pytest.raises(BadInput, match="differ in their leading axes"):
        rules.pull_frame(chain, many, of_frame[:5])


def test_the_factors_of_the_right_jacobian_meet_where_the_series_ends():
    bound = rules._SMALL
    below, above = (rules._factors(np, np.array([bound * (1 + sign * 1e-15)])) for sign in (-1, 1))
    assert np.abs(np.subtract(below, above)).max() < 1e-15
    assert np.allclose(np.ravel(rules._factors(np, np.zeros(1))), [1 / 2, 1 / 6], rtol=1e-15)


def test_a_chain_of_no_joints_and_one_of_a_mimic_alone():
    tree = Linkage(
        "y",
        [
            Joint("a", Kind.REVOLUTE, "base", "left"),
            Joint("b", Kind.PRISMATIC, "base", "right", mimic=Mimic("a", 2.0, 0.5)),
        ],
    )
    assert chain_of(tree, "base").count == 0
    chain = chain_of(tree, "right")
    assert (chain.spread.tolist(), chain.offset.tolist(), chain.is_q) == ([[2.0]], [0.5], False)


# -- inverse kinematics -----------------------------------------------------------------------------------------


def test_the_transposed_inverse_is_the_pseudoinverse_of_regular_matrices():
    rng = np.random.default_rng(0)
    for dof in (3, 6, 9):
        jacobian, gradient = rng.normal(size=(500, 6, dof)), rng.normal(size=(500, dof))
        wanted = np.einsum("nij,ni->nj", np.linalg.pinv(jacobian), gradient)
        regular = np.linalg.svd(jacobian, compute_uv=False).min(-1) > 0.02
        assert regular.sum() > 400
        assert np.abs(inverse.transposed_inverse(jacobian, gradient) - wanted)[regular].max() < 1e-8


def test_the_transposed_inverse_is_bounded_and_continuous_near_singularities():
    rng = np.random.default_rng(1)
    u, v = (np.linalg.qr(rng.normal(size=(400, 6, 6)))[0] for _ in range(2))
    s = np.ones((400, 6))
    s[:, 5] = np.geomspace(1e-14, 1, 400)
    found = inverse.transposed_inverse(u * s[:, None, :] @ v.transpose(0, 2, 1), v[:, :, 5])
    gain = np.einsum("ni,ni->n", found, u[:, :, 5])
    assert np.abs(gain * inverse.DAMPED_BELOW).max() < 1 + 1e-6
    assert np.allclose(gain, s[:, 5] / np.maximum(s[:, 5], inverse.DAMPED_BELOW) ** 2, rtol=1e-6, atol=1e-8)


def test_the_gradient_of_solve_takes_the_end_effector_where_the_goal_goes():
    arm = models.panda()
    solved = inverse.Inverse(chain_of(arm, "panda_hand_tcp"), Solver())
    q = arm.random(300, seed=2)
    columns = np.stack([solved.pulled(q, np.eye(8)[k])[0] for k in range(8)], axis=1)  # dq / dgoal, (n, 8, 6)
    regular = np.linalg.svd(solved.jacobian(q), compute_uv=False).min(-1) > 0.05
    assert regular.sum() > 100
    assert np.abs(solved.jacobian(q)[regular] @ columns[regular] - np.eye(6)).max() < 1e-8


def test_the_gradient_by_the_start_does_not_move_the_end_effector():
    arm = models.iiwa14()
    link = "tool0"
    solved = inverse.Inverse(chain_of(arm, link), Solver())
    q = arm.random(300, seed=3)
    rows = np.stack([solved.pulled(q, np.eye(7)[k])[1] for k in range(7)], axis=1)  # dq / dstart
    regular = np.linalg.svd(solved.jacobian(q), compute_uv=False).min(-1) > 0.05
    assert regular.sum() > 100
    assert np.abs(solved.jacobian(q)[regular] @ rows[regular]).max() < 1e-8
    assert np.allclose(np.trace(rows[regular], axis1=1, axis2=2), 1)


def test_joints_at_a_limit_have_no_gradient_unless_limits_are_off():
    arm = models.panda()
    q = arm.random(1, seed=5)
    q[:, 1] = arm.upper[1]
    gradient = np.eye(8)[1][None]
    held = inverse.Inverse(chain_of(arm, "panda_hand_tcp"), Solver()).pulled(q, gradient)
    assert not any(np.any(each) for each in held)
    free = inverse.Inverse(chain_of(arm, "panda_hand_tcp"), Solver(keep_limits=False)).pulled(q, gradient)
    assert all(np.any(each) for each in free)


def test_a_ball_on_its_cone_counts_as_at_a_limit():
    arm = Linkage("ball", [Joint.ball("a", "base", "tip", swing=0.5), Joint.ball("b", "tip", "end")])
    solved = inverse.Inverse(chain_of(arm, "end"), Solver())
    q = np.array([[0.5, 0, 0, 0.1, 0, 0], [0.4, 0, 0, 0.1, 0, 0]])
    assert solved.free(q).tolist() == [[0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1]]


def test_the_gradient_by_the_goal_is_the_difference_of_two_solves():
    arm, rng = models.ur5(), np.random.default_rng(7)
    solved = inverse.Inverse(chain_of(arm, "tool0"), Solver(tolerance=Tolerance(1e-13, 1e-13)))
    q = rng.uniform(-2, 2, (400, 6))
    q = q[np.linalg.svd(solved.jacobian(q), compute_uv=False).min(-1) > 0.1]
    assert len(q) > 100
    goal, twist, gradient = arm.frame(q, "tool0").matrix, rng.normal(size=(len(q), 6)), rng.normal(size=q.shape)

    def found(size):
        moved = goal.copy()
        moved[:, :3, 3] += size[:, None] * twist[:, :3]
        moved[:, :3, :3] = oracle.exp_rotation(size[:, None] * twist[:, 3:]) @ goal[:, :3, :3]
        return (solved.solved(moved, q) * gradient).sum(-1)

    wanted = difference(found, np.zeros(len(q)), np.ones(len(q)), 2e-3)
    wrench, _ = solved.pulled(q, gradient)
    assert np.abs(solved.solved(goal, q) - q).max() < 1e-9
    assert np.median(np.abs((wrench * twist).sum(-1) - wanted)) < 1e-9
    assert np.abs((wrench * twist).sum(-1) - wanted).max() < 1e-5


class Differentiated:
    """What torch makes of a tensor that needs a gradient: numpy cannot read it."""

    requires_grad = True

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def test_a_tensor_with_gradients_given_to_the_linkage_names_the_module_to_use():
    with pytest.raises(BadInput, match=r"supple\.torch\.frame"):
        models.planar2().frame(Differentiated(), "tip")


def test_the_gradient_of_solve_for_any_library_is_that_for_numpy():
    for _, chain, q, rng in cases():
        of_inverse = inverse.Inverse(chain, Solver())
        if of_inverse.balls:
            continue
        gradient = rng.normal(size=q.shape)
        expected = of_inverse.pulled(q, gradient)
        for got, wanted in zip(
            of_inverse.pulled_in(np, q, gradient, of_inverse.chain.evaluated), expected, strict=True
        ):
            assert np.abs(got - wanted).max(initial=0) <= 1e-7 * (1 + np.abs(wanted).max(initial=0))
