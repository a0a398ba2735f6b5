"""The slow twin of the box least squares: every way to lie at bounds or between them is tried, the best one kept."""

from itertools import product

import numpy as np


def nearest_in_box(M, wanted, low, high):
    """The x (n,) with low <= x <= high that makes (x - wanted)' M (x - wanted) least, for M (n, n) symmetric, positive.

    Of 3^n guesses which values are at their lower bound, at their upper bound or free, the best that is in the box.
    """
    n = len(wanted)
    sides = np.array(list(product((-1, 0, 1), repeat=n)))  # (guesses, n)
    at = np.where(sides < 0, low, np.where(sides > 0, high, 0.0))
    sides, at = (rows[(np.abs(at) < 1e299).all(axis=1)] for rows in (sides, at))  # nobody lies at a bound that is none
    free = sides == 0
    # free rows say that the slope is zero, the others that x is at its bound
    A = np.where(free[:, :, None], M, np.eye(n))
    b = np.where(free, M @ wanted, at)
    x = np.linalg.solve(A, b[..., None])[..., 0]
    margin = 1e-9 * (np.abs(wanted).max() + np.abs(x).max(axis=1, keepdims=True))
    x = np.where(free, x, at)
    good = ((x >= low - margin) & (x <= high + margin)).all(axis=1)
    x = np.clip(x[good], low, high)
    costs = np.einsum("gi,ij,gj->g", x - wanted, M, x - wanted)
    return x[np.argmin(costs)]


def cost(M, wanted, x):
    """(x - wanted)' M (x - wanted)."""
    return (x - wanted) @ M @ (x - wanted)
