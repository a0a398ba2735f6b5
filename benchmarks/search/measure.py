"""How calls are timed and counted, for supple and its peers alike.

Every goal is tried several times, call by call, with the garbage collector off. The quickest try counts, with its
answer, since others share the machine; then come mean, median and 99th percentile over all goals. Of a solver that
draws random starts, or gives up after a time, the quickest try is also its luckiest. The mean of first tries, which has
no luck but all the noise, is told beside it.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Any

import numpy as np

from .judge import Array

TRIES = 3
Row = dict[str, Any]
"""What was measured of one solver, on one robot, in one part."""


@contextmanager
def no_garbage() -> Iterator[None]:
    """The garbage collector off, and back as it was."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def timed(solve: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> tuple[list[Any], Array]:
    """The answer to each call on its quickest try, an exception where it raised one, and all nanoseconds (tries, n)."""
    answers: list[Any] = [None] * len(calls)
    least = [math.inf] * len(calls)
    spent = np.empty((TRIES, len(calls)))
    _asked(solve, calls[0])  # what is made on the first call is no part of a call
    with no_garbage():
        for now in spent:
            for k, call in enumerate(calls):
                start = perf_counter_ns()
                try:
                    answer = solve(*call)
                except Exception as error:  # a peer's failure is a result
                    answer = error
                now[k] = took = perf_counter_ns() - start
                if took < least[k]:
                    answers[k], least[k] = answer, took
    return answers, spent


def _asked(solve: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    try:
        return solve(*call)
    except Exception as error:
        return error


def spread(nanoseconds: Array) -> Row:
    """In microseconds: mean, median and 99th percentile of the quickest of tries (tries, n), and mean of the first."""
    us = nanoseconds.min(axis=0) / 1e3
    told = {"mean": float(us.mean()), "p50": float(np.median(us)), "p99": float(np.quantile(us, 0.99))}
    return told | {"first": float(nanoseconds[0].mean() / 1e3)}


def clock() -> float:
    """Nanoseconds that an empty call takes by the same clock: part of every number."""
    return float(np.median(timed(lambda: None, [()] * 10_000)[1].min(axis=0)))


def stacked(answers: Sequence[Any], dof: int) -> Array:
    """Answers (n, dof); those that are None, or an exception, as NaN."""
    nothing = np.full(dof, np.nan)
    return np.array([nothing if a is None or isinstance(a, Exception) else a for a in answers]).reshape(-1, dof)
