"""Smooth a trajectory with JAX: gradients of forward kinematics under jit, along all frames at once."""

import jax
import jax.numpy as jnp
import numpy as np

import supple.jax
from supple import Goal, models, solve

jax.config.update("jax_enable_x64", True)
arm, hand = models.panda(), "panda_hand_tcp"
points = np.linspace([0.45, -0.3, 0.4], [0.45, 0.3, 0.5], 41)  # metres: a straight line
rough = solve(arm, Goal(hand, position=points), start=arm.rest).q  # each point by itself
rough = jnp.asarray(rough + 0.05 * np.random.default_rng(0).normal(size=rough.shape))


def miss(q: jax.Array) -> jax.Array:
    """Distances (frames,) of the hand from its points, in metres, for q (frames, dof)."""
    return jnp.linalg.norm(supple.jax.frame(arm, q, hand)[:, :3, 3] - points, axis=-1)


def cost(q: jax.Array) -> jax.Array:
    """Accelerations, and the distance from the line."""
    return jnp.sum(jnp.diff(q, 2, axis=0) ** 2) + 1e3 * jnp.sum(miss(q) ** 2)


@jax.jit
def stepped(q: jax.Array, speed: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A step of gradient descent with momentum, within the limits."""
    speed = 0.95 * speed - 3e-4 * jax.grad(cost)(q)
    return jnp.clip(q + speed, arm.lower, arm.upper), speed


q, speed = rough, jnp.zeros_like(rough)
for _ in range(600):
    q, speed = stepped(q, speed)
for name, rows in (("rough", rough), ("smooth", q)):
    bend = float(jnp.abs(jnp.diff(rows, 2, axis=0)).max())
    print(f"{name}: the hand is within {1e3 * float(miss(rows).max()):.1f} mm, steps differ by up to {bend:.4f} rad")
