"""Damping schemes again, in slow and plain numpy, from the paper [D] and its errata: what the core must agree with.

A scheme is an object with `weights(q)` (dof,), which may be asked once a tick, `part(seen)` and `after(P)`; `merge`
makes one tick of several. Those that look at matrices see only the columns of joints that move a goal.
"""

from dataclasses import dataclass, field

import numpy as np

from oracle import frame, traverse

RATE = 300.0  # iterations a second


@dataclass
class Seen:
    """One tick: W_x e, W_x J, the weighted J_w, the rank that goals and linkage can have together, and dt."""

    e: np.ndarray
    J: np.ndarray
    Jw: np.ndarray
    rank: int
    dt: float


def smooth(x):
    """0 to 1, level at both ends."""
    return 3 * x**2 - 2 * x**3


class Scheme:
    """What every scheme can do: nothing."""

    def weights(self, q, dt):
        return np.ones(len(q))

    def part(self, seen):
        return 0.0

    def after(self, P):
        pass

    def moved(self, dq):
        pass

    def alpha(self, seen):
        """alpha_0, or what keeps the condition number at a singularity [D10], times the part."""
        part = self.part(seen)
        if isinstance(self.alpha0, tuple):  # ("kappa", number)
            return part * np.linalg.svd(seen.Jw, compute_uv=False)[0] ** 2 / (self.alpha0[1] - 1)
        return part * self.alpha0


@dataclass
class Constant(Scheme):
    """[D8]."""

    alpha0: float

    def part(self, seen):
        return 1.0


@dataclass
class Error(Scheme):
    """[D21]."""

    alpha0: float

    def part(self, seen):
        return np.sum(seen.e**2)


def volume(seen, printed):
    """Yoshikawa's measure: sqrt(det(J J')), or the product of as many singular values as there can be."""
    if printed:
        return np.sqrt(max(np.linalg.det(seen.J @ seen.J.T), 0)) if seen.J.shape[0] <= seen.J.shape[1] else 0.0
    return np.prod(np.linalg.svd(seen.Jw, compute_uv=False)[: seen.rank])


@dataclass
class Manipulability(Scheme):
    """[D19], looking at J as printed, at J_w as mended."""

    alpha0: float
    w0: float
    printed: bool = False

    def part(self, seen):
        w = volume(seen, self.printed)
        return (1 - w / self.w0) ** 2 if w < self.w0 else 0.0


@dataclass
class Falling(Scheme):
    """Kelmar and Khosla: by the ratio of two successive measures, mended to be one of two that are 1/300 s apart."""

    alpha0: float
    below: float
    printed: bool = False
    last: float | None = None

    def part(self, seen):
        w, last = volume(seen, self.printed), self.last
        self.last = w
        ratio = w / last if last else 1.0
        if not self.printed:
            ratio = ratio ** (1 / (RATE * seen.dt))
        return 1 - ratio if ratio < self.below else 0.0


def factors_bound(A):
    """m zeta^4 d_g / d_s of A = L D L'."""
    L = np.linalg.cholesky(A)
    d = np.diag(L) ** 2
    zeta = np.abs(L / np.diag(L)).sum(axis=1).max()
    return len(A) * zeta**4 * d.max() / d.min()


@dataclass
class Conditioning(Scheme):
    """[D20]: as printed for the next iteration, mended for this one and from the undamped factors."""

    alpha0: float
    l0: float
    printed: bool = False
    next: float = 0.0

    def part(self, seen):
        if self.printed:
            return self.next
        m, n = seen.Jw.shape
        if seen.rank < min(m, n):
            sizes = np.linalg.svd(seen.Jw, compute_uv=False)
            bound = seen.rank * (sizes[0] / sizes[seen.rank - 1]) ** 2
        else:
            bound = factors_bound(seen.Jw @ seen.Jw.T if m <= n else seen.Jw.T @ seen.Jw)
        return (1 - self.l0 / bound) ** 2 if bound > self.l0 else 0.0

    def after(self, P):
        bound = factors_bound(P)
        self.next = (1 - bound / self.l0) ** 2 if bound > self.l0 else 0.0


@dataclass
class Named(Scheme):
    """[D22, D23] for a measure d(q), a region and some joints; mended without kinks."""

    alpha0: float
    measure: object
    region: float
    joints: list
    least: float
    printed: bool = False
    x: float = 1.0

    def weights(self, q, dt):
        self.x = min(max(self.measure(q), 0) / self.region, 1)
        w = np.ones(len(q))
        w[self.joints] = self.least + (1 - self.least) * (self.x if self.printed else smooth(self.x))
        return w

    def part(self, seen):
        return (1 - self.x**2) ** (1 if self.printed else 2)


@dataclass
class Weakest(Scheme):
    """No names: the smallest singular value of J_w against the largest."""

    alpha0: float
    region: float

    def part(self, seen):
        sizes = np.linalg.svd(seen.Jw, compute_uv=False)
        x = sizes[seen.rank - 1] / (self.region * sizes[0])
        return (1 - x**2) ** 2 if x < 1 else 0.0


@dataclass
class Limits(Scheme):
    """[D24-D27] for joints with a region (dof,), 0 for none."""

    alpha0: float
    low: np.ndarray
    high: np.ndarray
    region: np.ndarray
    least: float
    rate: float
    printed: bool = False
    u: np.ndarray = field(init=False)
    old: np.ndarray = field(init=False)
    way: np.ndarray = field(init=False)

    def __post_init__(self):
        self.u, self.old, self.way = np.ones(len(self.low)), np.zeros(len(self.low)), np.zeros(len(self.low))

    def weights(self, q, dt):
        w = np.ones(len(q))
        for i in np.flatnonzero(self.region):
            up, down = self.high[i] - q[i], q[i] - self.low[i]
            du = self.rate * dt
            if self.printed:
                d = up if self.old[i] >= 0 else down
                near = d < self.region[i]
                self.u[i] = max(self.u[i] - du, d / self.region[i]) if near else min(self.u[i] + du, 1)
                w[i] = self.least + (1 - self.least) * self.u[i]
            else:
                towards_high = self.way[i] > 0 if self.way[i] else up <= down
                d = up if towards_high else down
                wanted = min(max(d / self.region[i], 0), 1)
                self.u[i] = min(max(wanted, self.u[i] - du), self.u[i] + du)
                w[i] = self.least + (1 - self.least) * smooth(self.u[i])
        return w

    def part(self, seen):
        near = self.region > 0
        parts = (1 - self.u[near] ** 2) ** (1 if self.printed else 2)
        return max(parts.max(initial=0), 0)

    def moved(self, dq):
        self.old = dq
        self.way = np.where(np.abs(dq) > 1e-12, np.sign(dq), self.way)


@dataclass
class Asked(Scheme):
    """Any function f(q, e, J, dt) -> (alpha, weights); here only its weights and alpha as they are."""

    f: object
    said: tuple = (0.0, 1.0)

    def alpha(self, seen):
        return self.said[0]


def merge(schemes, q, e, J, used, rank, dt):
    """[D28, D29]: alpha, weights (dof,) and J_w in the columns that are used. Weights first."""
    w = np.ones(len(q))
    for scheme in schemes:
        if isinstance(scheme, Asked):
            scheme.said = scheme.f(q, e, J, dt)
            w = np.minimum(w, scheme.said[1])
        else:
            w = np.minimum(w, scheme.weights(q, dt))
    seen = Seen(e, J[:, used], (J * w)[:, used], rank, dt)
    alpha = max([0.0, *(scheme.alpha(seen) for scheme in schemes)])
    P = seen.Jw @ seen.Jw.T + alpha * np.eye(len(e))
    for scheme in schemes:
        if isinstance(scheme, Conditioning) and scheme.printed:
            scheme.after(P)
    return alpha, w, seen.Jw


def step(e, J, w, alpha, v=None, printed=False):
    """[D17], and with a null-space vector [D18]: corrected, v in weighted coordinates, or as printed."""
    Jw = J * w
    P = Jw @ Jw.T + alpha * np.eye(len(e))
    if v is None:
        return w * (Jw.T @ np.linalg.solve(P, e))
    if printed:
        return w * (Jw.T @ np.linalg.solve(P, e - J @ v)) + v
    return w * (Jw.T @ np.linalg.solve(P, e - Jw @ v) + v)


def cost(e, J, w, alpha, dq):
    """What [D16, its alpha not squared] minimises, for weights that are not zero."""
    return np.sum((e - J @ dq) ** 2) + alpha * np.sum((dq / w) ** 2)


def off_axis(linkage, joint, link, point, radius):
    """A measure: the distance of a point of a link beyond a cylinder about a joint's axis, along its tangent."""
    about = linkage.joint(joint)

    def measure(q):
        frames = traverse(linkage, q)[0]
        base, at = frames[about.child], (frames[link] @ frame(np.eye(3), np.array(point)))[:3, 3]
        axis = base[:3, :3] @ np.array(about.axis)
        away = at - base[:3, 3]
        far = np.linalg.norm(away - axis * (axis @ away))
        return np.sqrt(max(far**2 - radius**2, 0))

    return measure


def bend(column, values, turns=True, gain=1.0, offset=0.0):
    """A measure: how far a joint is from the nearest of some values, the shorter way round."""

    def measure(q):
        away = gain * q[column] + offset - np.array(values)
        return np.abs((away + np.pi) % (2 * np.pi) - np.pi).min() if turns else np.abs(away).min()

    return measure


def condition(J, alpha=0.0):
    """[D10]."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return (sizes[0] ** 2 + alpha) / (sizes[-1] ** 2 + alpha)


class Paper:
    """Section 6.3 read to the letter [D13-D17, D22-D30]: one loop, no objects; the controller of the paper.

    ``near(q)`` lists each singularity as (distance, region, joints); without it, [D19] below ``low`` stands in.
    """

    alpha0, w_q0s, w_q0l, d_0l, du = 1e-2, 0.1, 0.01, 0.2, 0.02

    def __init__(self, lower, upper, near=None, low=0.0):
        self.lower, self.upper, self.near, self.low = lower, upper, near, low
        self.old, self.u = np.zeros(len(lower)), np.ones(len(lower))

    def step(self, q, e, J, dt):
        alphas, w = [0.0], np.ones(len(q))
        for d, d0, joints in self.near(q) if self.near else ():
            if d < d0:
                alphas.append(self.alpha0 * (1 - (d / d0) ** 2))
                for i in joints:
                    w[i] = min(w[i], self.w_q0s + (1 - self.w_q0s) * d / d0)
        for i in range(len(q)):
            d = self.upper[i] - q[i] if self.old[i] >= 0 else q[i] - self.lower[i]
            du = self.du * RATE * dt
            self.u[i] = max(self.u[i] - du, d / self.d_0l) if d < self.d_0l else min(self.u[i] + du, 1)
            w[i] = min(w[i], self.w_q0l + (1 - self.w_q0l) * self.u[i])
            alphas.append(self.alpha0 * (1 - self.u[i] ** 2))
        if not self.near:
            measure = np.sqrt(max(np.linalg.det(J @ J.T), 0))
            alphas.append(self.alpha0 * (1 - measure / self.low) ** 2 if measure < self.low else 0)
        Jw = J * w
        L = np.linalg.cholesky(Jw @ Jw.T + max(alphas) * np.eye(len(e)))
        self.old = w * (Jw.T @ np.linalg.solve(L.T, np.linalg.solve(L, e)))
        return self.old, max(alphas), w
