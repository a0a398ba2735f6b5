"""Times calls of all solvers in the same way.

Every goal is solved several times, call by call, with the garbage collector off. The shortest try counts, with its
result; mean, median and 99th percentile are over all goals. For a solver with random starts or a timeout the shortest
try is also its luckiest, so the mean of the first tries is reported too.
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
"""The results of one solver on one robot in one part."""


@contextmanager
def no_garbage() -> Iterator[None]:
    """Switch the garbage collector off inside a with block."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def timed(solve: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> tuple[list[Any], Array]:
    """The result of the shortest try of each call, or its exception, and all times (tries, n) in nanoseconds."""
    answers: list[Any] = [None] * len(calls)
    least = [math.inf] * len(calls)
    spent = np.empty((TRIES, len(calls)))
    _called(solve, calls[0])  # warm up
    with no_garbage():
        for now in spent:
            for k, call in enumerate(calls):
                start = perf_counter_ns()
                try:
                    answer = solve(*call)
                except Exception as error:  # an exception of a peer is a result
                    answer = error
                now[k] = took = perf_counter_ns() - start
                if took < least[k]:
                    answers[k], least[k] = answer, took
    return answers, spent


def _called(solve: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    try:
        return solve(*call)
    except Exception as error:
        return error


def spread(nanoseconds: Array) -> Row:
    """In microseconds: mean, median and 99th percentile of the shortest tries (tries, n), and mean of the first."""
    us = nanoseconds.min(axis=0) / 1e3
    times = {"mean": float(us.mean()), "p50": float(np.median(us)), "p99": float(np.quantile(us, 0.99))}
    return times | {"first": float(nanoseconds[0].mean() / 1e3)}


def clock() -> float:
    """Nanoseconds of an empty call, which are part of every time."""
    return float(np.median(timed(lambda: None, [()] * 10_000)[1].min(axis=0)))


def stacked(answers: Sequence[Any], dof: int) -> Array:
    """Results (n, dof); NaN for None and exceptions."""
    nothing = np.full(dof, np.nan)
    return np.array([nothing if a is None or isinstance(a, Exception) else a for a in answers]).reshape(-1, dof)
