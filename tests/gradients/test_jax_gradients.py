"""`supple.jax` against automatic derivatives of another forward kinematics in JAX, in double precision."""

import inspect

import numpy as np
import pytest

import supple
from random_trees import random_q, random_tree
from supple import Solver, Tolerance, models
from supple.errors import BadInput

jax = pytest.importorskip("jax", reason="supple.jax needs jax")
oracle_jax = pytest.importorskip("oracle_jax")
jnp = jax.numpy
HAND = "panda_hand_tcp"
BOUND = 1e-9


@pytest.fixture(autouse=True)
def double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def trees(count, most=4):
    for seed in range(count):
        tree = random_tree(seed, count=1 + seed % most)
        if tree.dof:
            yield tree, tree.links[-1].name, jnp.array(random_q(tree, seed, 2))


def agree(ours, theirs):
    assert ours.shape == theirs.shape
    assert np.abs(np.asarray(ours) - np.asarray(theirs)).max(initial=0) < BOUND


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.gate)])
def test_derivatives_of_first_and_second_order_are_those_of_jax(count):
    for tree, link, q in trees(count):
        weight = np.random.default_rng(0).normal(size=(4, 4))

        def ours(q):
            return (supple.jax.frame(tree, q, link) * weight).sum()  # noqa: B023

        def theirs(q):
            return (oracle_jax.frame(tree, q, link) * weight).sum()  # noqa: B023

        agree(jax.jit(jax.vmap(jax.grad(ours)))(q), jax.jit(jax.vmap(jax.grad(theirs)))(q))
        agree(jax.vmap(jax.hessian(ours))(q), jax.jit(jax.vmap(jax.hessian(theirs)))(q))


@pytest.mark.gate  # JAX compiles its third derivatives for many seconds
def test_the_derivative_of_the_jacobian_is_the_second_one_of_the_frame():
    """Where no joint is a ball, the linear rows of the Jacobian are the gradient of the position."""
    checked = 0
    for tree, link, q in trees(10):
        if any(joint.kind.name in ("BALL", "FLOATING") for joint in tree.joints):
            continue
        ours = jax.jacrev(jax.jacfwd(lambda q: supple.jax.jacobian(tree, q, link)[:3]))  # noqa: B023
        theirs = jax.jacfwd(jax.jacfwd(jax.jacfwd(lambda q: oracle_jax.frame(tree, q, link)[:3, 3])))  # noqa: B023
        agree(ours(q[0]), jax.jit(theirs)(q[0]))
        checked += 1
    assert checked >= 2


def test_values_are_those_of_the_linkage_in_the_precision_that_came():
    arm = models.panda()
    q = arm.random(2, 3, seed=0)
    frames = jax.jit(lambda q: supple.jax.frame(arm, q, HAND))(jnp.array(q))
    assert np.array_equal(frames, arm.frame(q, HAND).matrix)
    assert np.allclose(supple.jax.jacobian(arm, jnp.array(q), HAND), arm.jacobian(q, HAND), atol=1e-14)
    assert supple.jax.frame(arm, jnp.array(q, jnp.float32), HAND).dtype == jnp.float32


def test_solve_has_gradients_under_jit_and_vmap():
    arm, solver = models.panda(), Solver(tolerance=Tolerance(1e-10, 1e-10))
    q = jnp.array(arm.random(20, seed=1))
    goals = jnp.array(arm.frame(np.asarray(q), HAND).matrix)

    def height(goal, start):
        return supple.jax.frame(arm, supple.jax.solve(arm, goal, HAND, start, solver), HAND)[2, 3]

    of_goal, of_start = jax.jit(jax.vmap(jax.grad(height, argnums=(0, 1))))(goals, q)
    assert np.allclose(np.median(of_goal[:, :3, 3], axis=0), [0, 0, 1], atol=1e-6)
    assert np.median(np.abs(of_start)) < 1e-6
    alone = jax.grad(lambda goal: supple.jax.solve(arm, goal, HAND).sum())(goals[0])
    assert alone.shape == (4, 4)
    assert np.isfinite(alone).all()


def test_one_goal_broadcasts_to_many_starts():
    arm = models.ur5()
    start = jnp.array(0.3 * arm.random(4, seed=2))
    goal = jnp.array(arm.frame(np.asarray(start[0]), "tool0").matrix)
    assert supple.jax.solve(arm, goal, "tool0", start).shape == (4, 6)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.0] * 8, r"q must be a JAX array of shape \(..., 8\)"),
        (np.zeros(7), r"q must have shape \(..., 8\), not \(7,\)"),
        (np.zeros(8, int), "q must be of float32 or float64"),
    ],
)
def test_bad_arrays_are_refused(q, message):
    with pytest.raises(BadInput, match=message):
        supple.jax.frame(models.panda(), q, HAND)


def test_a_traced_array_given_to_the_linkage_names_the_module_to_use():
    arm = models.panda()
    with pytest.raises(BadInput, match=r"supple\.jax\.frame"):
        jax.grad(lambda q: arm.frame(q, HAND).position[0])(jnp.zeros(8))
    assert arm.frame(jnp.zeros(8), HAND).shape == (4, 4)


def test_torch_and_jax_have_the_same_functions():
    pytest.importorskip("torch", reason="supple.torch needs torch")
    for name in supple.jax.__all__:
        ours, other = (inspect.signature(getattr(module, name)).parameters for module in (supple.jax, supple.torch))
        assert list(ours) == list(other)
