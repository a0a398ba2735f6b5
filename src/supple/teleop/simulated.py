"""SimulatedArm: an arm with lag, friction and noise, for tests and for people without hardware."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage

_STEP = 0.002  # s; greatest speed and acceleration are found at moments so far apart
_LONGEST = 1.0  # s; what is simulated at most in one call
_MOMENTS = np.arange(math.ceil(_LONGEST / _STEP) + 1.0)[:, None]


class SimulatedArm:
    """An arm that follows what is written, late and with friction, and is measured with noise. Safe from any thread.

    Each joint follows its target as a critically damped spring does: by `lag` seconds late in steady motion. A joint
    that stands begins to move only when its target is more than `friction` away.

    >>> import time
    >>> from supple import models
    >>> from supple.teleop import SimulatedArm
    >>> arm = SimulatedArm(models.so101(), noise=0)
    >>> arm.write(arm.read() + 0.1)
    >>> time.sleep(0.01)
    >>> bool(arm.read()[0] > 0)
    True
    """

    rate = 100.0
    """Readings per second that it is asked for."""

    def __init__(
        self,
        linkage: Linkage,
        start: ArrayLike | None = None,
        *,
        lag: float = 0.06,
        friction: float = 0.002,
        noise: float = 5e-4,
        gripper: bool = False,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """An arm at rest.

        Args:
            linkage: its linkage.
            start: joint values (dof,) at first; by default its rest.
            lag: how late it follows, in seconds.
            friction: how far a target must be away before a standing joint moves, in radians or metres.
            noise: standard deviation of the measured joint values, in radians or metres.
            gripper: whether it has a gripper beside its joints; that of a linkage with fingers is one of its joints.
            seed: of the noise.
            clock: returns the time in seconds.
        """
        self._linkage = _check.instance(linkage, Linkage, "linkage")
        self._clock = _check.function(clock, "clock")
        self._lag = _check.positive(lag, "lag", "seconds")
        self._friction = _check.positive(friction, "friction", zero=True)
        self._noise = _check.positive(noise, "noise", zero=True)
        self._random = np.random.default_rng(_check.whole(seed, "seed", 0))
        self._q: Array = np.array(linkage.rest if start is None else _check.vector(start, linkage.dof, "start"))
        self._velocity: Array = np.zeros(linkage.dof)
        self._target = self._q.copy()
        self._t = clock()
        self._lock = threading.RLock()
        self._plugged, self._blocked = True, 0.0
        self.gripper = SimulatedGripper(self) if _check.flag(gripper, "gripper") else None
        """Its gripper: ``read()`` and ``write(opening)``, 0 closed to 1 open; None without one."""
        self.speed: Array = np.zeros(linkage.dof)
        """The greatest speed of each joint so far (dof,), per second."""
        self.acceleration: Array = np.zeros(linkage.dof)
        """The greatest acceleration of each joint so far (dof,), per second squared."""
        self.step: Array = np.zeros(linkage.dof)
        """The greatest change from one target to the next (dof,)."""
        self.targets: deque[tuple[float, Array]] = deque(maxlen=100_000)
        """The targets written so far, with their times; the newest 100,000."""
        self.outside = 0
        """Targets outside the limits of the linkage or not finite; they are refused with an error."""
        self.state = "on"
        """"on", "held" or "released", by `hold` and `release`."""

    @property
    def q(self) -> Array:
        """Where it is, without noise (dof,)."""
        with self._lock:
            self._advance()
            q: Array = self._q.copy()
            return q

    def read(self) -> Array:
        """The measured joint values (dof,); OSError if it is unplugged."""
        with self._lock:
            self._use_bus()
            measured: Array = self._q + self._noise * self._random.standard_normal(len(self._q))
            return measured

    def write(self, q: ArrayLike) -> None:
        """Moves towards joint values q (dof,); OSError if it is unplugged."""
        target: Array = np.array(_check.numbers(q, "q", self._linkage.dof))
        with self._lock:
            self._use_bus()
            low, high = np.minimum(self._linkage.lower, self._q), np.maximum(self._linkage.upper, self._q)
            slack = 6 * self._noise + self._friction + 1e-9  # where it stood when it was read
            if target.shape != self._q.shape or not ((target >= low - slack) & (target <= high + slack)).all():
                self.outside += 1
                raise BadInput(f"a target outside the limits: {_check.short(target)}")
            if self.targets:
                self.step = np.maximum(self.step, np.abs(target - self._target))
            self.targets.append((self._t, target))
            self._target, self.state = target, "on"

    def hold(self) -> None:
        """Stops where it is."""
        with self._lock:
            self._use_bus()
            self._target, self.state = self._q.copy(), "held"

    def release(self) -> None:
        """Torque off: it stays where it is, and `push` moves it."""
        self.hold()
        self.state = "released"

    def unplug(self) -> None:
        """From now on it cannot be reached, and moves no more."""
        with self._lock:
            self._advance()
            self._plugged, self._target = False, self._q.copy()

    def plug(self) -> None:
        """It can be reached again."""
        with self._lock:
            self._plugged = True

    def block(self, seconds: float) -> None:
        """The next call of `read` or `write` takes so many seconds, as on a bus that hangs."""
        self._blocked = _check.positive(seconds, "seconds", zero=True)

    def push(self, q: ArrayLike) -> None:
        """Someone moves it to joint values q (dof,) by hand."""
        pushed = np.array(_check.vector(q, self._linkage.dof, "q"))
        with self._lock:
            self._advance()
            self._q = self._target = pushed
            self._velocity = np.zeros(len(self._q))

    def _use_bus(self) -> None:
        seconds, self._blocked = self._blocked, 0.0
        if seconds:
            time.sleep(seconds)
        if not self._plugged:
            raise OSError("the arm is unplugged")
        self._advance()

    def _advance(self) -> None:
        """Simulates up to now: e'' = -w^2 e - 2 w e' of e = q - target, with 2 / w the lag in steady motion.

        Its solution is e = (e0 + b t) exp(-w t), e' = (v0 - w b t) exp(-w t) with b = v0 + w e0.
        """
        now = self._clock()
        left, self._t = min(now - self._t, _LONGEST), now
        if left > 0:
            w, error, velocity = 2 / self._lag, self._q - self._target, self._velocity
            stands = (np.abs(velocity) < 1e-4) & (np.abs(error) < self._friction)
            velocity[stands] = 0.0
            rest, error[stands] = error[stands], 0.0
            count = math.ceil(left / _STEP)
            t = left / count * _MOMENTS[: count + 1]
            b, decay = velocity + w * error, np.exp(-w * t)
            errors, velocities = (error + t * b) * decay, (velocity - w * t * b) * decay
            accelerations = w * (w * errors + 2 * velocities)
            np.maximum(self.speed, np.abs(velocities).max(axis=0), out=self.speed)
            np.maximum(self.acceleration, np.abs(accelerations).max(axis=0), out=self.acceleration)
            self._q, self._velocity = self._target + errors[-1], velocities[-1]
            self._q[stands] += rest
        if self.gripper is not None:
            self.gripper._advance(left)

    def __repr__(self) -> str:
        return f"<SimulatedArm {self._linkage.name!r}, {self.state if self._plugged else 'unplugged'}>"


class SimulatedGripper:
    """The gripper of a simulated arm."""

    def __init__(self, arm: SimulatedArm, opening: float = 0.5, fastest: float = 5.0) -> None:
        """Open so far, 0 closed to 1 open; it moves by at most ``fastest`` openings per second."""
        self._arm, self._opening, self._target, self._fastest = arm, opening, opening, fastest
        self.step = 0.0
        """The greatest change from one target to the next."""

    def read(self) -> float:
        """How far it is open: 0 closed to 1 open."""
        with self._arm._lock:
            self._arm._use_bus()
            return self._opening

    def write(self, opening: float) -> None:
        """Opens it so far."""
        with self._arm._lock:
            self._arm._use_bus()
            opening = _check.fraction(opening, "opening", zero=True)
            self.step = max(self.step, abs(opening - self._target))
            self._target = opening

    def _advance(self, dt: float) -> None:
        way = self._fastest * dt
        self._opening += min(max(self._target - self._opening, -way), way)
