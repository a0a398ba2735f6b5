"""The measures of a run under a real operator: after the lag that was stated, with room for the tremor."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import difference
from supple.gauntlet.measures import ANGLE, POSITION, Measures, always, followed, held, lengths, recovery, windows
from supple.gauntlet.nearest_pose import nearest
from supple.gauntlet.operator import Operator
from supple.gauntlet.reference import Mask
from supple.gauntlet.runner import Run


def noisy(run: Run, operator: Operator) -> Measures:
    """What a run did with a trembling, sampled, lossy command, as plain data.

    The clean command, shifted by the controller's stated lag, is what should have been followed; the amplitude of the
    tremor is added to the tolerance. Where samples travel, their mean delay may be added to the lag: nobody without
    stamps can know it. Once the hand rests, what counts is the command as it was received then: rounded, but still.

    As for clean runs, and: lag_s (stated, on average), lag_max_s, shift_s (allowed); lag_best_s, in_tol_frac_best (the
    shift, up to 80 ms, that would put the most ticks within tolerance, and their part: for those who state no lag);
    and, where the hand rests at the end, closure_rad (|q at the end - the q for the last command received, on the
    branch of the start|), end_mm, end_deg (error at the end against that command).
    """
    hazard = run.hazard
    stated = np.broadcast_to(run.lag, run.times.shape)
    shifts = [stated, stated + operator.late] if operator.late else [stated]
    found = max((_after(run, operator, shift) for shift in shifts), key=lambda row: row["in_tol_frac_reachable"] or 0.0)
    found |= {"lag_s": float(stated.mean()), "lag_max_s": float(stated.max())}
    found |= always(run) | _best_shift(run, operator)
    if hazard.hold is not None:
        found |= _held(run)
    end = hazard.hand(hazard.duration - np.array([0.5, 0.25, 0.0]))
    if np.abs(end - end[-1]).max() < 1e-9:  # the hand rests at the end
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
    good = _good(error, operator)
    return followed(run, error, good, late) | recovery(run, good, late) | {"shift_s": late}


def _good(error: Array, operator: Operator) -> Mask:
    """Which errors (N, 6) are within tolerance, with room for the tremor."""
    far, off = lengths(error)
    return np.asarray((far < POSITION + operator.tremor) & (off < ANGLE + operator.turn_tremor))


def _best_shift(run: Run, operator: Operator) -> Measures:
    """The shift that puts the most ticks within tolerance, among whole milliseconds, and that part of the ticks."""
    clean, arm = run.hazard.frames(1000.0), run.hazard.arm
    within, _ = windows(run.hazard, run.hazard.reference, run.times)
    ticks = np.flatnonzero(within & (run.times > 0.1))[:: max(1, round(run.rate / 100))]
    if not len(ticks):
        return {"lag_best_s": None, "in_tol_frac_best": None}
    frames, at = arm.frames(run.q[1:][ticks]), np.round(run.times[ticks] * 1000).astype(int)
    parts = [float(_good(difference(clean[at - shift], frames), operator).mean()) for shift in range(81)]
    best = np.flatnonzero(np.array(parts) >= max(parts) - 1e-12)
    return {"lag_best_s": float(np.median(best)) / 1000, "in_tol_frac_best": max(parts)}


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
