"""`supple.torch`: values, gradients of first and second order, batches, and what is refused."""

import numpy as np
import pytest

import supple
from random_trees import random_q, random_tree
from supple import Solver, Tolerance, models
from supple.errors import BadInput, UnknownName

torch = pytest.importorskip("torch", reason="supple.torch needs torch")
HAND = "panda_hand_tcp"


def trees(count, most=7):
    for seed in range(count):
        tree = random_tree(seed, count=1 + seed % most)
        if tree.dof:
            yield tree, tree.links[-1].name, torch.tensor(random_q(tree, seed, 2), requires_grad=True)


def test_values_are_those_of_the_linkage_in_the_precision_that_came():
    for tree, link, q in trees(12):
        rows = q.detach().numpy()
        assert np.array_equal(supple.torch.frame(tree, q, link).detach().numpy(), tree.frame(rows, link).matrix)
        assert np.abs(supple.torch.jacobian(tree, q, link).detach().numpy() - tree.jacobian(rows, link)).max() < 1e-14
        single = supple.torch.frame(tree, q[0].float(), link)
        assert (single.dtype, single.shape) == (torch.float32, (4, 4))


@pytest.mark.slow
def test_gradients_of_first_and_second_order_pass_torchs_own_check():
    for tree, link, q in trees(9, 4):
        assert torch.autograd.gradcheck(lambda q: supple.torch.frame(tree, q, link), q)  # noqa: B023
        assert torch.autograd.gradcheck(lambda q: supple.torch.jacobian(tree, q, link), q)  # noqa: B023
        assert torch.autograd.gradgradcheck(lambda q: supple.torch.frame(tree, q, link), q[0])  # noqa: B023
        assert torch.autograd.gradgradcheck(lambda q: supple.torch.jacobian(tree, q, link), q[0])  # noqa: B023


def test_transformations_of_functions_agree_with_each_other():
    func = torch.func
    for tree, link, q in trees(6):
        rows, weight = q.detach(), torch.randn(4, 4, dtype=torch.float64)

        def score(q):
            return (supple.torch.frame(tree, q, link) * weight).sum()  # noqa: B023

        (plain,) = torch.autograd.grad(sum(map(score, q)), q)
        assert torch.allclose(func.vmap(func.grad(score))(rows), plain, atol=1e-12)
        backward = torch.stack([torch.autograd.functional.hessian(score, row) for row in rows])
        assert torch.allclose(func.vmap(func.hessian(score))(rows), backward, atol=1e-11)
        ahead = func.vmap(func.jacfwd(lambda q: supple.torch.jacobian(tree, q, link)))(rows)  # noqa: B023
        assert torch.allclose(ahead, func.vmap(func.jacrev(lambda q: supple.torch.jacobian(tree, q, link)))(rows))  # noqa: B023


def test_vmap_over_another_axis_and_over_many_gradients():
    arm = models.panda()
    q = torch.tensor(arm.random(2, 3, seed=0), requires_grad=True)
    whole = supple.torch.frame(arm, q, HAND)
    apart = torch.func.vmap(lambda q: supple.torch.frame(arm, q, HAND), in_dims=1, out_dims=1)(q)
    assert torch.equal(whole, apart)
    _, pull = torch.func.vjp(lambda q: supple.torch.frame(arm, q, HAND), q.detach())
    weights = torch.randn(5, 2, 3, 4, 4, dtype=torch.float64)
    (many,) = torch.func.vmap(pull)(weights)
    assert torch.allclose(many[3], pull(weights[3])[0])


# -- inverse kinematics -----------------------------------------------------------------------------------------


def test_solve_gives_the_gradient_of_goal_and_start():
    arm = models.panda()
    q = torch.tensor(arm.random(20, seed=1))
    goal = torch.tensor(arm.frame(q.numpy(), HAND).matrix, requires_grad=True)
    start = q.clone().requires_grad_(True)
    found = supple.torch.solve(arm, goal, HAND, start, Solver(tolerance=Tolerance(1e-10, 1e-10)))
    assert (found - q).abs().max() < 1e-8
    (supple.torch.frame(arm, found, HAND)[..., :3, 3] * torch.arange(3.0)).sum().backward()
    # the position of the end effector is that of the goal, wherever the start is
    assert torch.allclose(goal.grad[..., :3, 3].median(0).values, torch.arange(3.0).double(), atol=1e-6)
    assert goal.grad[..., 3, :].abs().max() == 0
    assert start.grad.abs().median() < 1e-6


def test_one_goal_broadcasts_to_many_starts_and_vmap_agrees():
    arm = models.ur5()
    start = torch.tensor(arm.random(4, seed=2) * 0.3)
    goal = torch.tensor(arm.frame(start[0].numpy(), "tool0").matrix)
    rows = supple.torch.solve(arm, goal, "tool0", start)
    assert rows.shape == (4, 6)
    mapped = torch.func.vmap(lambda start: supple.torch.solve(arm, goal, "tool0", start))(start)
    assert torch.allclose(rows, mapped)
    jacobian = torch.func.jacrev(lambda goal: supple.torch.solve(arm, goal, "tool0", start[1]))(goal)
    assert jacobian.shape == (6, 4, 4)
    assert supple.torch.solve(arm, goal.float(), "tool0").dtype == torch.float32


def test_the_gradient_of_solve_has_no_gradient():
    arm = models.ur5()
    goal = torch.tensor(arm.frame(arm.rest, "tool0").matrix, requires_grad=True)
    found = supple.torch.solve(arm, goal, "tool0")
    (gradient,) = torch.autograd.grad(found.sum(), goal, create_graph=True)
    with pytest.raises(NotImplementedError, match="differentiable once"):
        gradient.sum().backward()


# -- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.0] * 8, r"q must be a torch.Tensor of shape \(..., 8\)"),
        (torch.zeros(7), r"q must have shape \(..., 8\), not \(7,\)"),
        (torch.zeros(8, dtype=torch.int64), "q must be of float32 or float64"),
        (torch.zeros(8, device="meta"), r"q is on meta; tensors of the CPU and of CUDA are taken: write q\.cpu\(\)"),
        (torch.full((2, 8), float("nan")), "q must be finite"),
    ],
)
def test_bad_tensors_are_refused(q, message):
    with pytest.raises(BadInput, match=message):
        supple.torch.frame(models.panda(), q, HAND)


def test_other_bad_arguments_are_refused():
    arm, q = models.panda(), torch.zeros(8)
    with pytest.raises(UnknownName, match=HAND):
        supple.torch.jacobian(arm, q, "panda_hand_tpc")
    with pytest.raises(BadInput, match="linkage must be a Linkage"):
        supple.torch.frame("panda", q, HAND)
    with pytest.raises(BadInput, match=r"goal_frames must have shape \(..., 4, 4\)"):
        supple.torch.solve(arm, q, HAND)
    with pytest.raises(BadInput, match="solver must be a Solver"):
        supple.torch.solve(arm, torch.eye(4), HAND, solver=q)
    with pytest.raises(BadInput, match=r"supple\.torch\.frame"):
        arm.frame(q.requires_grad_(True), HAND)


def test_single_precision_solutions_are_within_limits():
    arm = models.panda()
    q = arm.random(100, seed=3)
    q[:50, :7] = np.where(np.arange(50)[:, None] % 2, arm.lower, arm.upper)[:, :7]
    goal = torch.tensor(arm.frame(q, HAND).matrix, dtype=torch.float32)
    found = supple.torch.solve(arm, goal, HAND, torch.tensor(q, dtype=torch.float32))
    assert found.dtype == torch.float32
    assert arm.inside(found.double().numpy(), 0).all()
