"""Connection: a real arm that is read and written in a thread of its own."""

from __future__ import annotations

import atexit
import math
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from supple import _check
from supple._solve import margins
from supple.errors import BadInput
from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop import arm_input
from supple.teleop.arm_end import leave
from supple.teleop.arm_input import Mistake, described
from supple.teleop.beyond import Beyond
from supple.teleop.clock import checked_rate
from supple.teleop.command import Tick
from supple.teleop.gripper import GripperJoints
from supple.teleop.latency import real_time_priority
from supple.teleop.plug import OnExit as OnExit
from supple.teleop.plug import Plug
from supple.teleop.plug import Robot as Robot
from supple.teleop.readings import Reading, Readings

MAX_AGE = 0.1
"""Seconds after which a reading is too old: the arm is held."""
LATCH_AFTER = 1.0
"""Seconds without a good reading, or of failures again and again, after which the arm must be armed again."""
SETTLE = 0.25
"""Seconds without a gap that must pass after a reading was too old until the arm is driven again."""
RETRY = 0.5
"""Seconds between two attempts to connect again."""
RATE = 100.0
"""Readings per second, unless the arm has an attribute ``rate``."""
HOW_TO_GO_ON = "; to go on call loop.rearm(), or press re-arm on the page"
_ZEROS = "waiting: every joint value that the arm gives is exactly 0, as before its first answer"
_SHORTEST = 1e-9  # s; between two writes, where the clock is coarse: a speed without a limit times 0 would be nan
_CLOSING = 2.0  # s; how long the end waits for a bus that hangs


class Lost(Exception):
    """There is no reading of the arm that is new enough."""


class Waiting(Lost):
    """The arm is not used yet, though nothing has failed: its first reading is on its way, or it has just returned."""


class Connection:
    """A robot that is read and written in a thread of its own, at the rate of its bus. Safe from any thread.

    What is written is always finite and within the limits of the linkage. It differs from the last target by at most
    what the speed limits allow in two periods of the bus. An arm that begins outside its limits is written back towards
    them and never outward again. Nothing is written before the first valid reading, and nothing until `start` has taken
    over the measured pose.

    An arm that is suddenly elsewhere, or far from where it was sent, is not driven back: it must be armed again. A
    first reading that is in degrees, or far beyond the limits, is a `mistake`. A connection serves one loop, which
    closes it.
    """

    def __init__(
        self,
        robot: Robot | Callable[[], Robot],
        linkage: Linkage,
        links: Sequence[str] = (),
        *,
        rate: float | None = None,
        on_exit: OnExit = "hold",
    ) -> None:
        """Connects, in its thread.

        Args:
            robot: the arm, or a function that connects to it and returns it; it is called again after a failure.
            linkage: the linkage whose joint values the robot has.
            links: the driven links, whose grippers are opened.
            rate: readings and writes per second; by default ``robot.rate``, or 100.
            on_exit: at the end the arm is held ("hold", it keeps its pose) or its torque is switched off ("release").
        """
        self._plug, self._linkage = Plug(robot, on_exit), _check.instance(linkage, Linkage, "linkage")
        if not isinstance(links, Sequence) or isinstance(links, str):
            raise BadInput(f"links must be a sequence of names of links, got {_check.short(links)}")
        self.fingers = GripperJoints(linkage, [linkage.link(link).name for link in links])
        """The joint values that are grippers."""
        self._given_rate = None if rate is None else checked_rate(rate)
        self._readings = Readings(linkage, [int(k) for k in self.fingers.every])
        self._good = self._tried = -math.inf  # the last good cycle; the last attempt to connect
        self._since = time.monotonic()  # connected or trying since
        self._awake = self._since, awake()  # at the last good cycle: two clocks, the second counts sleep too
        self._rate, self._limited = self._given_rate or RATE, ""  # as the arm says; only its thread asks it
        self._took = 0.0  # s; how long the arm needed for the last cycle
        self._part = ""  # of the arm that is in use, for the text of an error
        self._gap = -math.inf  # when a reading was last too old
        self._failed = self._failing_since = -math.inf  # the last failure; the first of those that follow each other
        self._error = ""
        self._epoch, self._started, self._lost = 0, -1, True
        self._armed = -math.inf  # when the arm was connected or armed last
        self._target: tuple[int, Array, float] | None = None
        self._written: tuple[Array, float] | None = None
        self._low, self._high = linkage.lower, linkage.upper
        self._beyond = Beyond(linkage, linkage.rest, linkage.rest)
        self._margin: tuple[float, ...] = (0.0,)  # to the limits, of the tracker that leads the arm
        self._opening = math.nan  # the last known of the arm's own gripper
        self._holding = self._asked_to_hold = False
        self.latched = ""
        """Why the arm must be armed again: it was lost, fails again and again, or is elsewhere; else empty."""
        self.starts = 0
        """How often a loop has begun from the measured pose."""
        self.cycles = self.errors = 0
        self.mistake = ""
        """Why the arm cannot be used at all, as if it has another number of joint values; else empty.

        It is found until the first reading. The thread has ended then, and so does the loop.
        """
        self.end_failure = ""
        """What failed when the arm was held or released and closed at the end; else empty."""
        self._answered = threading.Event()
        self._end, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="supple arm", daemon=True)
        atexit.register(self.close)
        self._thread.start()

    # -- for the loop: no method blocks -------------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """Readings per second."""
        return self._rate

    @property
    def closed(self) -> bool:
        """Whether it was closed, as by the loop that used it."""
        return self._end.is_set()

    @property
    def reading(self) -> Reading | None:
        """The newest reading; None before the first."""
        return self._readings.newest

    @property
    def state(self) -> str:
        """``"connecting"``, ``"connected"``, or the error because of which the newest reading is too old."""
        if self._error and time.monotonic() - self._good > MAX_AGE:
            return self._error
        return "connected" if self.reading else "connecting"

    def _wait_for_answer(self, seconds: float) -> None:
        """Waits for the first reading or the first failure, at most so long; raises `BadInput` for a `mistake`."""
        self._answered.wait(seconds)
        if self.mistake:
            raise BadInput(self.mistake)

    @property
    def needs_start(self) -> bool:
        """Whether the arm has been connected anew, so that the loop must begin where it is."""
        return self._started != self._epoch

    @property
    def _leads(self) -> bool:
        """Whether the arm is driven, so that it must be where it is led."""
        return self._started == self._epoch and not self.latched

    def measured(self) -> Array:
        """The measured joint values (dof,); raises `Lost` with the reason if the newest are too old."""
        now, reading = time.monotonic(), self.reading
        if reading is None:
            raise (Lost if self._error else Waiting)(f"no reading of the arm yet{_because(self._error)}")
        age = now - min(self._good, reading.t)
        if age > MAX_AGE:
            self._gap = now
            if age > LATCH_AFTER:
                self._latch(f"the arm was lost{_because(self._error)}")
            raise Lost(f"the arm does not answer{_because(self._error or self._slow) or f' for {age:.1f} s'}")
        if now - self._gap < SETTLE:
            if self._slow:  # this does not end: one text, though some readings are new enough
                raise Waiting(f"the arm does not answer{_because(self._slow)}")
            raise Waiting(f"waiting until the arm has answered for {SETTLE:g} s")
        return reading.q

    @property
    def _slow(self) -> str:
        """Why the arm can never be read often enough; empty if it can."""
        least = f"at least {math.floor(1 / MAX_AGE) + 1} readings per second are needed"
        if 1 / self.rate >= MAX_AGE:
            return f"its rate is {self.rate:g} readings per second; {least}"
        if self._took < MAX_AGE:
            return ""
        return f"its read() and write() take {10 * round(100 * self._took)} ms; {least}"

    def _inside(self, q: Array) -> Array:
        """Measured joint values (dof,) as the loop leads them: without what the arm is beyond its limits."""
        led: Array = q - self._beyond.way
        return led

    @property
    def beyond(self) -> str:
        """Which joints are beyond their limits, and by how much; empty if none is. They come back while driven."""
        return self._beyond.text

    @property
    def limited(self) -> str:
        """Why the arm does not go where it is sent, if it says so; else empty."""
        return self._limited

    def _come_back(self, dt: float, driven: bool) -> bool:
        """A tick of dt seconds in which joints beyond their limits come back, if driven; whether all are back."""
        self._beyond.step(dt, driven)
        return self._beyond.ended

    def start(self) -> tuple[Array, Array] | None:
        """The joint values (dof,) and grippers (links,) to begin with; None while the arm still moves.

        They are the measured ones, or the nearest within the limits. From then on `write` is obeyed. Raises `Lost` if
        the readings cannot be trusted.
        """
        self.measured()
        if self._readings.doubtful_zeros:
            raise Waiting(_ZEROS)
        epoch, newest = self._epoch, self._readings.standing(self._armed)
        if newest is None:
            return None
        self._readings.begin(newest)
        self._low, self._high = np.minimum(self._linkage.lower, newest.q), np.maximum(self._linkage.upper, newest.q)
        self._target, self._written = None, (newest.q, newest.t)
        self._holding = self._asked_to_hold = False
        openings = self.fingers.opening(newest.q)
        inside = self.fingers.put(margins.clamp(self._linkage, newest.q, self._margin), openings)
        self._beyond = Beyond(self._linkage, newest.q, inside)
        self._started = epoch
        self.starts += 1
        return inside, np.where(np.isnan(openings), newest.gripper, openings)

    def write(self, tick: Tick) -> None:
        """Takes the joint values and the gripper of a tick; they are written as soon as the bus is free."""
        q = tick.step.q
        if self._started != self._epoch or not np.isfinite(q).all():
            return
        opening = float(tick.grippers[0]) if len(tick.grippers) else math.nan
        self._target = (self._epoch, self.fingers.put(q, tick.grippers) + self._beyond.way, opening)

    def hold(self) -> None:
        """Calls the robot's own ``hold``, until it does not raise, and writes nothing more until `start`."""
        self._asked_to_hold = True

    def arm(self) -> None:
        """Arms it again after it was lost or held: the loop begins anew from the measured pose."""
        self._begin_epoch()  # first: the arm's thread must not write the target from before
        self._asked_to_hold = False  # a hold() that always fails must not keep it from being armed
        self.latched = ""

    def close(self) -> None:
        """Holds or releases the arm, as chosen, and ends the thread; waits for that, but not for a bus that hangs."""
        atexit.unregister(self.close)
        first = not self._end.is_set()
        self._end.set()
        if not self._ended.wait(_CLOSING):
            self.end_failure = f"the arm has not answered for {_CLOSING:g} s: it may still be on its way"
        if first and self.end_failure:
            warnings.warn(f"at the end of the arm: {self.end_failure}", RuntimeWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"<Connection to {type(self._plug.arm).__name__} at {self.rate:g} Hz: {self.state}>"

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        due = time.monotonic()
        try:
            with real_time_priority():
                while not self._end.is_set():
                    try:
                        self._cycle()
                    except BaseException as error:  # the loop holds the arm and shows the error
                        if isinstance(error, Mistake) and not self.cycles:
                            self.mistake = self._error = str(error)
                            break
                        self._fail(error)
                    self._answered.set()
                    due = max(due + 1 / self.rate, time.monotonic())
                    self._end.wait(max(due - time.monotonic(), 0.0))
        finally:
            self._answered.set()
            self._finish()
            self._ended.set()

    def _cycle(self) -> None:
        """Reads, and then writes what the loop wants."""
        self._part = ""
        if not self._connected():
            return
        begin = time.monotonic()
        self._ask_arm()
        q, gripper = self._read()
        if self._lost:
            arm_input.check_first(q, self._linkage)
            self._lost = False
            self._begin_epoch()
        self._check_awake()
        elsewhere = self._readings.add(Reading(time.monotonic(), q, gripper, begin), self._leads)
        if elsewhere:
            self._latch(elsewhere)
            self.hold()  # its last target is elsewhere too
        self._write()
        now = time.monotonic()
        self._took = now - begin
        if self.cycles and now - self._good > MAX_AGE:  # also if the loop was too late to notice
            self._gap = now
        self._good, self._error = now, ""
        self.cycles += 1

    def _ask_arm(self) -> None:
        """Asks the arm for its rate, and whether it is limited."""
        arm = self._plug.arm
        if self._given_rate is None:
            self._rate = RATE
            with suppress(BadInput):  # of an arm whose rate was right when it was connected
                self._rate = arm_input.own_rate(arm) or RATE
        try:
            self._limited = str(getattr(arm, "limited", ""))
        except Exception:  # of an arm that cannot tell
            self._limited = ""

    def _check_awake(self) -> None:
        """The arm must be armed again if the program or the machine stood still: it may have been moved unwatched."""
        now, before = (time.monotonic(), awake()), self._awake
        self._awake = now
        stood = now[1] - before[1]  # s since the last good cycle
        asleep = stood - (now[0] - before[0])
        longest = max(LATCH_AFTER, MAX_AGE)  # a test may set a longer age
        if self.cycles and (asleep > longest or (stood > longest and not self._error)):
            self._latch(f"the arm was lost: it was not read for {stood:.1f} s")

    def _begin_epoch(self) -> None:
        """The loop must begin anew, by readings from now on: the arm may have been moved since the last."""
        self._armed = time.monotonic()
        self._epoch += 1

    def _connected(self) -> bool:
        """Whether there is an arm to read; connects if it is time for that."""
        now = time.monotonic()
        if self._plug.arm is None:  # none yet, or it was closed
            self._end.wait(max(self._tried + RETRY - now, 0.0))
            if self._end.is_set():
                return False
        elif not (self._plug.opens and self._lost and now - self._since > RETRY and self._error):
            return True
        self._tried = self._since = time.monotonic()
        self._plug.connect()
        return True

    def _read(self) -> tuple[Array, float]:
        """The measured joint values (dof,), and how far the arm's own gripper is open: the last known; nan if none."""
        q = arm_input.joint_values(self._plug.arm.read(), self._linkage)
        gripper = getattr(self._plug.arm, "gripper", None)
        if gripper is not None:
            self._part = "the gripper: "
            found = arm_input.opening(gripper.read())
            self._opening = self._opening if math.isnan(found) else found
            self._part = ""
        return q, self._opening

    def _write(self) -> None:
        target, written = self._target, self._written
        if self._asked_to_hold:
            self._hold_now()
        if target is None or written is None or target[0] != self._epoch or self._asked_to_hold or self.latched:
            return
        now = time.monotonic()
        q = np.clip(self._near(target[1], written, now), self._low, self._high)
        self._plug.arm.write(q.copy())  # which it may change
        self._written = (q, now)
        self._low = np.minimum(self._linkage.lower, np.maximum(self._low, q))  # where it has come back, it stays
        self._high = np.maximum(self._linkage.upper, np.minimum(self._high, q))
        self._readings.wrote(now, q)
        gripper = getattr(self._plug.arm, "gripper", None)
        if gripper is not None and not math.isnan(target[2]):
            self._part = "the gripper: "
            gripper.write(target[2])
            self._part = ""

    def _hold_now(self) -> None:
        """Calls the robot's own ``hold``, again in each cycle until it does not raise."""
        if not self._holding and hasattr(self._plug.arm, "hold"):
            self._part = "hold() failed: "
            self._plug.arm.hold()
            self._part = ""
        self._holding = True

    def _near(self, q: Array, written: tuple[Array, float], now: float) -> Array:
        """Joint values q (dof,), as far as the speed limits allow since the last write, of two periods at most."""
        last, when = written
        way = self._linkage.speed * max(min(now - when, 2 / self.rate), _SHORTEST)
        near: Array = np.clip(q, last - way, last + way)
        return near

    def _fail(self, error: BaseException) -> None:
        self.errors += 1
        self._error = f"{self._part}{described(error)}"
        now = time.monotonic()
        if now - self._failed > LATCH_AFTER:
            self._failing_since = now
        self._failed = now
        if now - self._good > MAX_AGE:
            if not self._lost:
                self._lost, self._since = True, now
            if now - self._failing_since > LATCH_AFTER:
                self._latch(f"the arm fails again and again: {self._error}")
            self._target = None
            self._end.wait(min(RETRY, 10 / self.rate))

    def _latch(self, why: str) -> None:
        """The arm must be armed again, if it was driven."""
        if not self.latched and self._started >= 0:
            self.latched = f"{why}{HOW_TO_GO_ON}"

    def _finish(self) -> None:
        """Leaves the arm where the loop brought it to rest, as ``on_exit`` says, as far as it can still be reached."""
        self.end_failure = leave(self._plug.arm, self._plug.on_exit, self._write)


def awake() -> float:
    """Seconds of a clock that also counts while the machine sleeps, where there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def _because(error: str) -> str:
    return f": {error}" if error else ""
