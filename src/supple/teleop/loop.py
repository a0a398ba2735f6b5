"""The timed loop: command to goal to joint values, at a fixed rate, with a watchdog."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._solve.arguments import start_values
from supple.errors import BadInput
from supple.frame import Array
from supple.teleop.adapters import CommandLike, sink_of, source_of, tell_rate
from supple.teleop.clock import Clock, Timer, checked_rate
from supple.teleop.command import Sink, Source, Tick
from supple.teleop.latency import collect, low_latency
from supple.teleop.mapping import Mapping
from supple.teleop.process import stop_on_interrupt
from supple.teleop.robot import Connection, Robot
from supple.teleop.statistics import Statistics
from supple.teleop.steering import Steering, one_for_each
from supple.teleop.ticker import Move, Ticker
from supple.teleop.watchdog import Watchdog
from supple.tracker import Tracker

_BRAKE_TIMEOUT = 1.0  # s; the loop ends after this time even if the arm still moves


def drive(
    source: Source | Iterable[CommandLike],
    mapping: Mapping | Sequence[Mapping],
    tracker: Tracker,
    sink: Sink | Callable[[Tick], object],
    rate: float = 300.0,
    *,
    seconds: float | None = None,
    patience: float = 0.25,
    measured: Callable[[], ArrayLike | None] | None = None,
    arm: Robot | Connection | None = None,
    grippers: ArrayLike | None = None,
    clock: Timer | None = None,
) -> Statistics:
    """Drives an arm in real time until the source ends, `seconds` have passed, or Ctrl-C.

    Then the arm brakes, and source and sink are closed. The arguments are those of `Loop`, which also says when the arm
    is held.

    >>> from supple import Frame, Solver, models
    >>> from supple.teleop import Mapping, drive
    >>> tracker, sent = Solver().track(models.ur5(), "tool0"), []
    >>> hands = (Frame.at([0, 0.001 * k, 0]) for k in range(30))
    >>> statistics = drive(hands, Mapping(scale=0.5), tracker, lambda tick: sent.append(tick.step.q))
    >>> len(sent) == statistics.ticks > 0
    True
    """
    loop = Loop(
        source,
        mapping,
        tracker,
        sink,
        rate,
        patience=patience,
        measured=measured,
        arm=arm,
        grippers=grippers,
        clock=clock,
    )
    return loop.run(seconds)


class Loop:
    """A loop from an operator to an arm. It runs once: in this thread by `run`, or in its own by `start`.

    Tick k is due k / rate seconds after the beginning, whatever happened before it, so the rate does not drift. A tick
    that is late by a whole period is skipped and its time is added to the next time step; there is no catching up.

    The arm is held (braked, then at rest) while the loop is paused, while the source raises or is silent for
    `patience` seconds, and while the commands are stale or invalid (see `Watchdog`). The next valid command ends the
    hold. Then each goal starts from the end effector's current frame, and an engaged hand is engaged again from its
    current frame, so nothing jumps.
    """

    statistics: Statistics
    """Counts of the loop so far; may be read at any time."""

    def __init__(
        self,
        source: Source | Iterable[CommandLike],
        mapping: Mapping | Sequence[Mapping],
        tracker: Tracker,
        sink: Sink | Callable[[Tick], object],
        rate: float = 300.0,
        *,
        patience: float = 0.25,
        measured: Callable[[], ArrayLike | None] | None = None,
        arm: Robot | Connection | None = None,
        grippers: ArrayLike | None = None,
        clock: Timer | None = None,
    ) -> None:
        """A loop that has not begun.

        Args:
            source: where commands come from: a `Source`, or any iterable of frames or commands.
            mapping: how the hand moves the goal; for several links, one mapping for each.
            tracker: of one arm. When the loop begins, it is reset to its joint values, at rest.
            sink: where ticks go: a `Sink`, or any function of a `Tick`.
            rate: ticks per second.
            patience: how long the operator may be silent or late, in seconds.
            measured: returns the measured joint values of the arm (dof,), or None; see `Tracker.step`. It must not
                block.
            arm: a real arm, read and written in a thread of its own: a `Robot`, or its `Connection`, which is closed
                at the end. The loop begins where the arm is, and holds it while it cannot be read.
            grippers: how far the grippers are open at first (links,), 0 closed to 1 open; those of ``arm`` are read.
            clock: a clock in place of the machine's.
        """
        self._rate, patience = checked_rate(rate), _check.positive(patience, "patience", "seconds")
        mappings = one_for_each(mapping)
        steering = Steering(mappings, grippers)
        _checked(tracker, len(mappings))
        if arm is not None and measured is not None:
            raise BadInput("give arm or measured, not both: an arm is measured")
        if measured is not None:
            _check.function(measured, "measured")
        self._source, self._sink = source_of(source), sink_of(sink)
        self._clock = Clock() if clock is None else clock
        self._arm = _connected(arm, tracker)
        self.statistics = Statistics(self._rate)
        self._ticker = Ticker(
            self._source,
            steering,
            _checked(tracker, len(mappings)),
            self._sink,
            Watchdog(patience, len(mappings)),
            self.statistics,
            self._clock,
            measured,
            self._arm,
        )
        self._begun = threading.Lock()
        self._ended = threading.Event()
        self._runner: threading.Thread | None = None  # the thread it runs in
        self._thread: threading.Thread | None = None  # its own thread, if it has one
        self._failed: BaseException | None = None

    # -- control, from any thread --------------------------------------------------------------------------------------

    @property
    def held(self) -> str:
        """Why the arm is held; empty while it is not."""
        return self._ticker.held

    @property
    def q(self) -> Array:
        """The joint values (dof,) of the newest tick."""
        return np.array(self._ticker.q)

    @property
    def stopped(self) -> str:
        """Why the arm is stopped and must be armed again by `rearm`; empty if it need not be."""
        return self._ticker.stopped

    @property
    def moves(self) -> tuple[str, ...]:
        """The reasons of the moves that were requested and have not ended; see `move`."""
        return tuple(move.why for move in list(self._ticker.moves) if not move.cancelled)

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._runner is not None and not self._ended.is_set()

    def start(self) -> None:
        """Begins, in its own thread."""
        self._start_once()
        self._thread = threading.Thread(target=self._run, args=(math.inf,), name="supple teleop", daemon=True)
        self._runner = self._thread
        self._thread.start()

    def run(self, seconds: float | None = None) -> Statistics:
        """Runs in this thread until `stop`, the end of the source, `seconds` have passed, or Ctrl-C."""
        longest = math.inf if seconds is None else _check.real(seconds)
        if not longest > 0:  # inf is allowed
            raise BadInput(f"seconds must be positive, got {_check.short(seconds)}")
        self._start_once()
        self._runner = threading.current_thread()
        self._run(longest)
        self._raise_mistake()
        return self.statistics

    def pause(self, why: str = "paused") -> None:
        """Holds the arm from the next tick on. The loop keeps ticking."""
        self._ticker.paused = _check.text(why, "why", empty=True) or "paused"

    def resume(self) -> None:
        """Ends a pause: the goals start from the end effectors."""
        self._ticker.paused = ""

    def stop_arm(self, why: str = "stopped") -> None:
        """Stops the arm from the next tick on, within its bounds. It stays until `rearm`, whatever else happens."""
        self._ticker.stop(_check.text(why, "why", empty=True) or "stopped")

    def rearm(self) -> None:
        """Ends `stop_arm`, and lets a real arm that was lost go on: from where it is measured, softly."""
        self._ticker.rearm()

    def reset(self, q: ArrayLike) -> None:
        """Sets the joint values to q (dof,), at rest, in the next tick. Only without a real arm: they jump there."""
        if self._arm is not None:
            raise BadInput("reset jumps, and a real arm must not: use move(q), which moves it there within its bounds")
        begin = self._joint_values(q)
        self._ticker.requests.append(lambda: self._ticker.reset(begin))

    def move(
        self,
        q: ArrayLike | None = None,
        done: Callable[[], None] = lambda: None,
        *,
        speed: float = 1.0,
        why: str = "moving to other joint values",
    ) -> None:
        """Brakes, and then moves all joints straight to q (dof,), within the bounds of speed and acceleration.

        The arm is held meanwhile; afterwards the goals start from the end effectors. It waits while the arm is held for
        another reason, such as a real arm that is not connected yet, and `stop_arm` ends it. An arm that is stopped
        does not move, with a warning: `rearm` comes first. Without q nothing moves: neither a stop nor `cancel_moves`
        ends that.

        Args:
            q: the joint values, which are kept within their limits; None: where the arm comes to rest.
            done: called in the loop's thread when it is there, a real arm too; it must be quick.
            speed: share of the bounds of speed and acceleration that is used, above 0 and at most 1.
            why: the reason to hold that is shown meanwhile.
        """
        end = None if q is None else self._ticker.tracker.linkage.clamp(self._joint_values(q))
        move = Move(_check.text(why, "why"), end, _check.fraction(speed, "speed"), _check.function(done, "done"))
        stopped = self._ticker.stays_stopped
        if stopped and end is not None:
            warnings.warn(
                f"the arm is stopped ({stopped}), and does not move: call rearm() before move(q)", stacklevel=2
            )
            return
        self._ticker.moves.append(move)

    def cancel_moves(self, why: str | None = None) -> None:
        """Ends the moves that were requested, or those with this reason: the arm brakes, and ``done`` is not called."""
        self._ticker.cancel(None if why is None else _check.text(why, "why"))

    def use(self, tracker: Tracker) -> None:
        """Uses another tracker, of the same linkage and number of links, from the next tick on, starting at rest.

        A moving arm is stopped in that tick. A real arm is brought to rest first.
        """
        _checked(tracker, len(self._ticker.tracker.goals))
        if tracker.linkage.names != self._ticker.tracker.linkage.names:
            raise BadInput("the new tracker must be of the same linkage")
        if self._arm is None:
            self._ticker.requests.append(lambda: self._ticker.use(tracker))
        else:
            self.move(None, lambda: self._ticker.use(tracker), why="changing the method")

    def _joint_values(self, q: ArrayLike) -> Array:
        linkage = self._ticker.tracker.linkage
        values = start_values(linkage, _check.finite(_check.numbers(q, "q", f"({linkage.dof},)"), "q"))
        if values.ndim != 1:
            raise BadInput(f"q must have shape ({linkage.dof},), not {values.shape}")
        return values

    def stop(self) -> Statistics:
        """Brakes the arm, ends the loop, closes source and sink, and waits for that.

        Raises the exception that ended the loop, if one did, and `BadInput` for an arm that cannot be used. Called from
        the loop's thread it only requests the end.
        """
        self._stop()
        if self._begun.acquire(blocking=False):  # it has not begun
            self._close()
            self._ended.set()
        elif self._runner is not threading.current_thread():
            self._ended.wait()
            if self._thread is not None:
                self._thread.join()
            if self._failed is not None:
                raise self._failed
            self._raise_mistake()
        return self.statistics

    def _raise_mistake(self) -> None:
        if self._arm is not None and self._arm.mistake:
            raise BadInput(self._arm.mistake)

    def __enter__(self) -> Loop:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # -- ticks ---------------------------------------------------------------------------------------------------------

    def _run_ticks(self, seconds: float) -> None:
        clock, rate, statistics = self._clock, self._rate, self.statistics
        real = isinstance(clock, Clock)
        start, number, last, end = clock.now(), 0, -1, math.inf
        while True:
            clock.wait(start + number / rate)
            now = clock.now()
            late = now - start - number / rate
            due = max(number, int((now - start) * rate))
            statistics.skipped += due - number
            statistics.missed += due - number
            number = due
            if self._ticker.stopping or number >= seconds * rate:
                self._ticker.stopping = True
                end = min(end, now + _BRAKE_TIMEOUT)
                if self._ticker.at_rest or now > end:
                    if self._ticker.failure is not None:
                        raise self._ticker.failure
                    return
            try:
                self._ticker.tick(
                    number, number / rate, (number - last) / rate, now, max(now - start - number / rate, 0.0)
                )
            except (Exception, SystemExit) as error:
                if self._arm is None or self._ticker.failure is not None:  # without an arm the sink is all there is
                    raise
                self._ticker.failure, self._ticker.stopping = error, True  # the arm brakes, and it is raised then
            done = clock.now()
            statistics.count(late)
            statistics.work_seconds += done - now
            statistics.seconds = done - start
            last, number = number, number + 1
            left = start + number / rate - done
            statistics.missed += left < 0
            if real:
                collect(left)

    # -- beginning and end ---------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        self._ticker.stopping = True

    def _start_once(self) -> None:
        if not self._begun.acquire(blocking=False):
            raise BadInput("a loop runs once, because it closes its source and sink; make a new one")

    def _run(self, seconds: float) -> None:
        try:
            try:
                tell_rate(self._sink, self._rate)
                # no real-time priority with a simulated clock: it never sleeps and would block the machine
                latency = low_latency() if isinstance(self._clock, Clock) else nullcontext()
                with latency, stop_on_interrupt(self._stop):
                    self._run_ticks(seconds)
            finally:
                self._close()
        except BaseException as error:
            self._failed = error  # raised again by stop
            raise
        finally:
            self._ended.set()

    def _close(self) -> None:
        self._ticker.held = "ended"
        with ExitStack() as stack:  # closes all, even if one raises
            if self._arm is not None:
                stack.callback(self._leave_arm, self._arm)
            stack.callback(self._sink.close)
            stack.callback(self._source.close)

    def _leave_arm(self, arm: Connection) -> None:
        try:
            arm.close()
        finally:
            self.statistics.arm_end = arm.end_failure


def _checked(tracker: Tracker, mappings: int) -> Tracker:
    if not (isinstance(tracker, Tracker) and tracker._single):
        raise BadInput(f"tracker must be a Tracker of one arm, got {_check.short(tracker)}")
    if len(tracker.goals) != mappings:
        raise BadInput(f"one mapping for each link is needed: {len(tracker.goals)} links, {mappings} mappings")
    return tracker


def _connected(arm: Robot | Connection | None, tracker: Tracker) -> Connection | None:
    """The connection of an arm."""
    if isinstance(arm, Connection) and arm.closed:
        raise BadInput("this connection is closed: a loop closes the one that it used; make a new Connection")
    if arm is None or isinstance(arm, Connection):
        return arm
    return Connection(arm, tracker.linkage, [goal.link for goal in tracker.goals])
