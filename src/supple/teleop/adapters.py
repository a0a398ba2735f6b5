"""Adapters: a source from an iterable, a sink from a function, one sink from several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack

from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Frame
from supple.teleop.command import Command, Sink, Source, Tick

CommandLike = Command | Frame | ArrayLike | None


class _Frames:
    def __init__(self, items: Iterable[CommandLike]) -> None:
        self._items: Iterator[CommandLike] = iter(items)
        self.failure: Exception | None = None
        """What the iterator raised last, if it has given nothing since: a generator that raised cannot go on."""

    def read(self) -> Command | None:
        try:
            item = next(self._items)  # its StopIteration ends this source too
        except StopIteration:
            raise
        except Exception as error:
            self.failure = error
            raise
        self.failure = None
        return command_of(item)

    def close(self) -> None:
        close = getattr(self._items, "close", None)  # runs the finally of a generator
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

    def _at_rate(self, rate: float) -> None:
        for sink in self._sinks:
            tell_rate(sink, rate)

    def close(self) -> None:
        with ExitStack() as stack:  # closes all, even if one raises
            for sink in reversed(self._sinks):
                stack.callback(sink.close)


def command_of(item: CommandLike) -> Command | None:
    """What a source gave as a command: a frame or an array (4, 4) is an engaged hand, (hands, 4, 4) are several."""
    if item is None or isinstance(item, Command):
        return item
    hands = _check.numbers(item, "an item of a source", "(4, 4)")
    if hands.ndim not in (2, 3) or hands.shape[-2:] != (4, 4):
        raise BadInput(f"an item of a source must be a Command, a Frame or an array (4, 4), got {_check.short(item)}")
    return Command(hands=list(hands) if hands.ndim == 3 else [hands])


def frames(items: Iterable[CommandLike]) -> Source:
    """A source from an iterable, one item a tick; when it ends, the loop stops.

    An item is the frame of an engaged hand, a Frame or an array (4, 4), or (hands, 4, 4) for several hands; or a
    `Command`; or None for nothing new.
    """
    if not isinstance(items, Iterable):
        raise BadInput(f"frames must be an iterable of frames or commands, got {_check.short(items)}")
    return _Frames(items)


def callback(call: Callable[[Tick], object]) -> Sink:
    """A sink that calls a function with every `Tick`, as ``callback(lambda tick: robot.send(tick.step.q))``."""
    return _Callback(_check.function(call, "callback"))


def tee(*sinks: Sink | Callable[[Tick], object]) -> Sink:
    """One sink from several, written in this order; all are closed, even if one raises."""
    return _Tee(tuple(sink_of(sink) for sink in sinks))


def source_of(source: Source | Iterable[CommandLike]) -> Source:
    """A source unchanged, or an iterable as a source."""
    if isinstance(source, Source):
        return source
    if isinstance(source, Iterable):
        return frames(source)
    raise BadInput(f"a source has read() and close(), or is an iterable of frames; got {_check.short(source)}")


def sink_of(sink: Sink | Callable[[Tick], object]) -> Sink:
    """A sink unchanged, or a function as a sink."""
    if isinstance(sink, Sink):
        return sink
    if callable(sink):
        return callback(sink)
    raise BadInput(f"a sink has write(tick) and close(), or is a function of a tick; got {_check.short(sink)}")


def tell_rate(sink: Sink, rate: float) -> None:
    """Tells a recorder, also one of several sinks, the rate of the loop that will write to it."""
    tell = getattr(sink, "_at_rate", None)
    if tell is not None:
        tell(rate)
