"""Simple ends of a loop: a source from any iterable, a sink from any callable, one sink of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Frame
from supple.teleop.command import Command, Sink, Source, Tick

Said = Command | Frame | ArrayLike | None


class _Frames:
    def __init__(self, said: Iterable[Said]) -> None:
        self._said: Iterator[Said] = iter(said)

    def read(self) -> Command | None:
        said = next(self._said)  # its StopIteration is the end of this source too
        if said is None or isinstance(said, Command):
            return said
        hands = np.asarray(said, dtype=float)
        return Command(hands=list(hands) if hands.ndim == 3 else [hands])

    def close(self) -> None:
        close = getattr(self._said, "close", None)  # a generator's finally
        if close is not None:
            close()


class _Callback:
    def __init__(self, call: Callable[[Tick], object]) -> None:
        self._call = call

    def write(self, tick: Tick) -> None:
        self._call(tick)

    def close(self) -> None:
        pass


class _Tee:
    def __init__(self, sinks: tuple[Sink, ...]) -> None:
        self._sinks = sinks

    def write(self, tick: Tick) -> None:
        for sink in self._sinks:
            sink.write(tick)

    def close(self) -> None:
        with ExitStack() as stack:  # all of them, whatever they raise
            for sink in reversed(self._sinks):
                stack.callback(sink.close)


def frames(said: Iterable[Said]) -> Source:
    """A source from any iterable, one item a tick; when it ends, the loop stops.

    Items are hands, gripped: a Frame or array (4, 4), or (hands, 4, 4) for several. Or a whole `Command`, or None:
    nothing new.
    """
    if not isinstance(said, Iterable):
        raise BadInput(f"frames must be an iterable of frames or commands, got {said!r}")
    return _Frames(said)


def callback(call: Callable[[Tick], object]) -> Sink:
    """A sink that calls a function with every `Tick`, as ``callback(lambda tick: robot.send(tick.step.q))``."""
    if not callable(call):
        raise BadInput(f"a callback must be callable, got {call!r}")
    return _Callback(call)


def tee(*sinks: Sink | Callable[[Tick], object]) -> Sink:
    """One sink of several, written in their order; all are closed, even if one fails to."""
    return _Tee(tuple(sink_of(sink) for sink in sinks))


def source_of(source: Source | Iterable[Said]) -> Source:
    """A source as it is, an iterable as a source."""
    if isinstance(source, Source):
        return source
    if isinstance(source, Iterable):
        return frames(source)
    raise BadInput(f"a source has read() and close(), or is an iterable of frames; got {source!r}")


def sink_of(sink: Sink | Callable[[Tick], object]) -> Sink:
    """A sink as it is, a function as a sink."""
    if isinstance(sink, Sink):
        return sink
    if callable(sink):
        return callback(sink)
    raise BadInput(f"a sink has write(tick) and close(), or is a function of a tick; got {sink!r}")
