"""The measures of a run under a real operator: after the lag that was stated, with room for the tremor."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import difference
from supple.gauntlet.measure import ANGLE, POSITION, Measures, always, followed, held, lengths, recovery
from supple.gauntlet.operator import Operator
from supple.gauntlet.optimum import nearest
from supple.gauntlet.run import Run


def noisy(run: Run, operator: Operator) -> Measures:
    """What a run did with a trembling, sampled, lossy command, as plain data.

    The clean command, shifted by the controller's stated lag, is what should have been followed; the amplitude of the
    tremor is added to the tolerance. Where samples travel, their mean delay may be added to the lag: nobody without
    stamps can know it. Once the hand rests, what counts is the command as it was received then: rounded, but still.

    As for clean runs, and: lag_s (stated, on average), lag_max_s, lag_best_s (the shift, up to 80 ms, that leaves the
    least error), closure_rad (|q at the end - the q for the last command received, on the branch of the
    start|), end_mm, end_deg (error at the end against that command).
    """
    hazard = run.hazard
    stated = np.broadcast_to(run.lag, run.times.shape)
    shifts = [stated, stated + operator.late] if operator.late else [stated]
    found = max((_after(run, operator, shift) for shift in shifts), key=lambda row: row["in_tol_frac_reachable"] or 0.0)
    found |= always(run) | {"lag_best_s": _best_lag(run)}
    if hazard.hold is not None:
        found |= _held(run)
    if hazard.key != "s7_hand":
        last = run.commands[-1]
        there, _ = nearest(hazard.arm, hazard.start, last)
        far, off = lengths(hazard.arm.error(run.q[-1:], last[None]))
        found["closure_rad"] = float(np.abs(run.q[-1] - there).max())
        found |= {"end_mm": float(far[0] * 1e3), "end_deg": float(np.degrees(off[0]))}
    return found


def _after(run: Run, operator: Operator, lag: Array) -> Measures:
    """The measures against the clean command of so many seconds (N,) ago."""
    error = run.error(run.hazard.hand(np.maximum(run.times - lag, 0.0)))
    late = float(lag.mean())
    far, off = lengths(error)
    good = (far < POSITION + operator.tremor) & (off < ANGLE + operator.turn_tremor)
    return followed(run, error, good, late) | recovery(run, good, late) | {"lag_s": late, "lag_max_s": float(lag.max())}


def _best_lag(run: Run) -> float:
    """The shift in seconds that leaves the least squared error, among whole milliseconds, after the first second."""
    clean, arm = run.hazard.frames(1000.0), run.hazard.arm
    ticks = np.flatnonzero(run.times > 1.0)[:: max(1, round(run.rate / 100))]
    frames, at = arm.frames(run.q[1:][ticks]), np.round(run.times[ticks] * 1000).astype(int)
    left = [((difference(clean[at - shift], frames) * arm.weights) ** 2).sum() for shift in range(81)]
    return float(np.argmin(left)) / 1000


def _held(run: Run) -> Measures:
    """The hold window, against the command as received in it."""
    hazard = run.hazard
    assert hazard.hold is not None
    tick = int(np.searchsorted(run.times, np.mean(hazard.hold)))
    goal = run.commands[tick]
    starts = [run.q[tick + 1], *([] if hazard.reference.held is None else [hazard.reference.held])]
    least = min(nearest(hazard.arm, start, goal)[1] for start in starts)
    weighted = np.linalg.norm(run.error(np.broadcast_to(goal, run.commands.shape)) * hazard.arm.weights, axis=1)
    return held(run, weighted, least)
