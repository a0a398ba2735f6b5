"""The timed loop: hand to goal to joint values, many times a second, with a watchdog over it."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext

import numpy as np
from numpy.typing import ArrayLike

from supple._solve.arguments import start_values
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.adapters import Said, sink_of, source_of
from supple.teleop.clock import Clock, Timer
from supple.teleop.command import Command, Sink, Source, Tick
from supple.teleop.mapping import Mapping
from supple.teleop.process import interrupts, prompt
from supple.teleop.statistics import Statistics
from supple.teleop.steering import Steering
from supple.teleop.watchdog import Watchdog
from supple.tracker import Tracker

_BRAKE = 1.0  # s: an arm that is not at rest by then never will be
_STILL = 1e-6  # joint speed, per second, that counts as rest


def drive(
    source: Source | Iterable[Said],
    mapping: Mapping | Sequence[Mapping],
    tracker: Tracker,
    sink: Sink | Callable[[Tick], object],
    rate: float = 300.0,
    *,
    seconds: float | None = None,
    patience: float = 0.25,
    measured: Callable[[], ArrayLike | None] | None = None,
    clock: Timer | None = None,
) -> Statistics:
    """Drives an arm by hand, in real time, until the source ends, `seconds` have passed, or Ctrl-C.

    Then the arm brakes, and source and sink are closed. The arguments are those of `Loop`, and what holds the arm and
    what lets it go on is said there.

    >>> import supple
    >>> tracker, sent = supple.Solver().track(supple.models.ur5(), "tool0"), []
    >>> hands = (Frame.at([0, 0.001 * k, 0]) for k in range(30))
    >>> statistics = drive(hands, Mapping(scale=0.5), tracker, lambda tick: sent.append(tick.step.q))
    >>> len(sent) == statistics.ticks >= 30
    True
    """
    return Loop(source, mapping, tracker, sink, rate, patience=patience, measured=measured, clock=clock).run(seconds)


class Loop:
    """A loop from an operator to an arm, to be run once: here by `run`, or in a thread of its own by `start`.

    Tick k is due at k / rate after the beginning, whatever became of those before: nothing drifts. A tick that comes
    too late for its turn is skipped, and the tracker is given its time with the next; so it never races to catch up.

    The arm is held, that is braked and kept at rest, while it is paused, while the source raises or is silent for
    `patience` seconds, and while its commands are stale or not finite (see `Watchdog`). The first good command ends
    that. What was asked before is forgotten then: the goal begins anew where the arm is, and a gripped hand takes hold
    anew where it is, so nothing jumps.
    """

    statistics: Statistics
    """How it went so far; may be read at any time."""

    def __init__(
        self,
        source: Source | Iterable[Said],
        mapping: Mapping | Sequence[Mapping],
        tracker: Tracker,
        sink: Sink | Callable[[Tick], object],
        rate: float = 300.0,
        *,
        patience: float = 0.25,
        measured: Callable[[], ArrayLike | None] | None = None,
        clock: Timer | None = None,
    ) -> None:
        """A loop that has not begun.

        Args:
            source: where commands come from: a `Source`, or any iterable of frames or commands.
            mapping: how the hand becomes a goal; for several links one for each.
            tracker: of one arm. It is reset to where it is, at rest, when the loop begins.
            sink: where ticks go: a `Sink`, or any function of a `Tick`.
            rate: ticks a second.
            patience: how long the operator may be silent, or late, in seconds.
            measured: gives the real arm's joint values (dof,), or None; see `Tracker.step`. It must not block.
            clock: another clock than the machine's.
        """
        for name, value in (("rate", rate), ("patience", patience)):
            if not (isinstance(value, int | float) and 0 < value < math.inf):
                raise BadInput(f"{name} must be finite and positive, got {value!r}")
        mappings = [mapping] if isinstance(mapping, Mapping) else list(mapping)
        self._steering = Steering(mappings)
        self._tracker = _checked(tracker, len(mappings))
        self._source, self._sink = source_of(source), sink_of(sink)
        self._rate, self._measured, self._clock = float(rate), measured, Clock() if clock is None else clock
        self._watchdog = Watchdog(float(patience), len(mappings))
        self.statistics = Statistics(self._rate)
        self._q: Array = np.array(tracker.q)
        self._wishes: deque[Callable[[], None]] = deque([lambda: self._reset(self._q)])
        self._begin: Array | None = None  # where the tracker was reset in this tick
        self._command: Command | None = None
        self._nowhere = np.full((len(mappings), 4, 4), np.nan)
        self._nowhere.flags.writeable = False
        self._anew = True  # whether the goals are to begin where the arm is
        self._paused = ""
        self._held = "not begun"
        self._at_rest = True
        self._stopping = False
        self._begun = threading.Lock()
        self._ended = threading.Event()
        self._runner: threading.Thread | None = None  # whose thread it runs in
        self._thread: threading.Thread | None = None  # its own, if it has one
        self._failed: BaseException | None = None

    # -- for the one who drives it; all of it may be called from any thread ------------------------------------------

    @property
    def held(self) -> str:
        """Why the arm is held, in words; empty while it is not."""
        return self._held

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._runner is not None and not self._ended.is_set()

    def start(self) -> None:
        """Begins, in a thread of its own."""
        self._claim()
        self._thread = threading.Thread(target=self._run, args=(math.inf,), name="supple teleop", daemon=True)
        self._runner = self._thread
        self._thread.start()

    def run(self, seconds: float | None = None) -> Statistics:
        """Begins here, and returns when it has ended: by `stop`, the source's end, after `seconds`, or by Ctrl-C."""
        if not (seconds is None or seconds > 0):
            raise BadInput(f"seconds must be positive, got {seconds!r}")
        self._claim()
        self._runner = threading.current_thread()
        self._run(math.inf if seconds is None else seconds)
        return self.statistics

    def pause(self, why: str = "paused") -> None:
        """Holds the arm from the next tick on. Ticks go on."""
        self._paused = why or "paused"

    def resume(self) -> None:
        """Ends a pause: the goal begins anew where the arm is."""
        self._paused = ""

    def reset(self, q: ArrayLike) -> None:
        """From the next tick on the arm is at joint values q (dof,), at rest. For simulated arms: they jump there."""
        begin = start_values(self._tracker.linkage, q)
        if begin.ndim != 1:
            raise BadInput(f"q must have shape ({self._tracker.linkage.dof},), not {begin.shape}")
        self._wishes.append(lambda: self._reset(begin))

    def use(self, tracker: Tracker) -> None:
        """From the next tick on another tracker of the same linkage and as many links, from where the arm is, at rest.

        An arm that moves stops there at once, so let a real one come to rest first: `pause`.
        """
        _checked(tracker, len(self._tracker.goals))
        if tracker.linkage.names != self._tracker.linkage.names:
            raise BadInput("another tracker must be of the same linkage")
        self._wishes.append(lambda: self._use(tracker))

    def stop(self) -> Statistics:
        """Brakes the arm, ends the loop, closes source and sink. Waits for that, and raises what ended the loop if it
        failed; called from within the loop, it only asks for the end.
        """
        self._stop()
        if self._begun.acquire(blocking=False):  # it never began
            self._close()
            self._ended.set()
        elif self._runner is not threading.current_thread():
            self._ended.wait()
            if self._thread is not None:
                self._thread.join()
            if self._failed is not None:
                raise self._failed
        return self.statistics

    def __enter__(self) -> Loop:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # -- time -----------------------------------------------------------------------------------------------------

    def _go(self, seconds: float) -> None:
        clock, rate, told = self._clock, self._rate, self.statistics
        start, number, last, end = clock.now(), 0, -1, math.inf
        while True:
            clock.wait(start + number / rate)
            now = clock.now()
            late = now - start - number / rate
            due = max(number, int((now - start) * rate))
            told.skipped += due - number
            told.missed += due - number
            number = due
            if self._stopping or number >= seconds * rate:
                self._stopping = True
                end = min(end, now + _BRAKE)
                if self._at_rest or now > end:
                    return
            self._tick(number, (number - last) / rate, now, max(now - start - number / rate, 0.0))
            done = clock.now()
            told.note(late)
            told.work_seconds += done - now
            told.seconds = done - start
            last, number = number, number + 1
            told.missed += done - start > number / rate

    def _tick(self, number: int, dt: float, now: float, late: float) -> None:
        self._begin = None
        while self._wishes:
            self._wishes.popleft()()
        fresh, failed = self._listen(now)
        measured, blind = self._feel()
        told = self.statistics
        told.failures += bool(failed) + bool(blind)
        why = "stopping" if self._stopping else self._paused or failed or blind or self._watchdog.why(now)
        if why:
            if not self._stopping:
                told.holds += not self._anew
                told.held += 1
                told.said = why
            self._anew = True
            goals, stamp = self._nowhere, math.nan
        else:
            if self._anew:
                self._steering.begin(self._where())
            if self._command is not None and (fresh or self._anew):
                self._steering.take(self._command, now)
            self._anew = False
            goals, stamp = self._steering.goals, self._steering.stamp
        self._held = why
        before = self._clock.now()
        step = self._tracker.step(
            goals[0] if len(goals) == 1 else list(goals), dt, None if math.isnan(stamp) else stamp, measured
        )
        told.tracker_seconds += self._clock.now() - before
        self._q = step.q
        self._at_rest = not (np.abs(step.velocity) > _STILL).any()
        t = number / self._rate
        self._sink.write(
            Tick(number, t, dt, late, self._command, fresh, goals, stamp, measured, step, why, self._begin)
        )

    # -- what a tick is made of -----------------------------------------------------------------------------------

    def _listen(self, now: float) -> tuple[bool, str]:
        """Whether a new good command has come, and why not if the source failed."""
        try:
            command = self._source.read()
        except StopIteration:
            self._stopping = True
            return False, ""
        except Exception as error:  # whatever it is, the arm is held and the loop lives
            return False, f"the source failed: {type(error).__name__}: {error}"
        if command is None or not self._watchdog.hear(command, now):
            return False, ""
        self._command = command
        return True, ""

    def _feel(self) -> tuple[Array | None, str]:
        """The real arm's joint values, and why not if they cannot be had."""
        if self._measured is None:
            return None, ""
        try:
            felt = self._measured()
            if felt is None:
                return None, ""
            q: Array = np.array(felt, dtype=float)
        except Exception as error:  # as of a source
            return None, f"the arm cannot be read: {type(error).__name__}: {error}"
        if q.shape != self._q.shape or not np.isfinite(q).all():
            return None, f"the arm's joint values must be {self._q.size} finite numbers"
        return q, ""

    def _where(self) -> Array:
        """Where the end effectors are (links, 4, 4)."""
        linkage = self._tracker.linkage
        frames = [linkage.frame(self._q, goal.link) @ Frame.at(goal.point) for goal in self._tracker.goals]
        return np.array([frame.matrix for frame in frames])

    def _reset(self, q: Array) -> None:
        self._tracker.reset(q)
        self._q = self._begin = np.array(q)
        self._anew = self._at_rest = True

    def _use(self, tracker: Tracker) -> None:
        self._tracker = tracker
        tracker.reset(self._q)
        self._begin = np.array(self._q)

    # -- beginning and end ----------------------------------------------------------------------------------------

    def _stop(self) -> None:
        self._stopping = True

    def _claim(self) -> None:
        if not self._begun.acquire(blocking=False):
            raise BadInput("a loop runs once, since its source and sink are closed then; make another")

    def _run(self, seconds: float) -> None:
        try:
            try:
                # a simulated clock never waits: with priority it would take the machine for itself
                with prompt() if isinstance(self._clock, Clock) else nullcontext(), interrupts(self._stop):
                    self._go(seconds)
            finally:
                self._close()
        except BaseException as error:
            self._failed = error  # for who waits in stop
            raise
        finally:
            self._ended.set()

    def _close(self) -> None:
        self._held = "ended"
        with ExitStack() as stack:  # all of it, whatever is raised
            stack.callback(self._sink.close)
            stack.callback(self._source.close)


def _checked(tracker: Tracker, mappings: int) -> Tracker:
    if not (isinstance(tracker, Tracker) and tracker._single):
        raise BadInput(f"a loop drives the tracker of one arm, got {tracker!r}")
    if len(tracker.goals) != mappings:
        raise BadInput(f"a mapping for each link: {len(tracker.goals)} links, {mappings} mappings")
    if any(goal.axis is not None for goal in tracker.goals):
        raise BadInput("a hand gives whole frames: track a link, or a goal without an axis")
    return tracker
