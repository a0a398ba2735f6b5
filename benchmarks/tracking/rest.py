"""Random jumps and holds: the joints come to rest, and the end effectors do not go away from their commands."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.frame import Array

from . import arms, motion
from .arms import Arm
from .report import Asked, Row, counted
from .unrest import Unrest, kind_of

ARMS = (*arms.TUNE, *arms.JUDGE, *arms.TUNE_TREES, *arms.JUDGE_TREES)
QUICK = ("panda", "ur5", "kinova", "xarm7", "z1", "baxter2", "g1_2", "g1_3")
RATES = (60, 90, 125, 300, 1000)
AT_REST = 1e-6  # rad/s or m/s
WITHIN = 3.0  # s after the latest of what the law names
WATCHED = 2.0  # s for which the joints must stay at rest
LONGEST = 120.0  # s after which a trial ends in any case
AWAY = 0.02  # m
SETTLED = 0.5  # s after a jump in mid-flight from which the distance is watched: momentum may carry the arm on


@dataclass(frozen=True)
class Trial:
    """What is commanded: hold, perhaps jump and hold, then jump or glide, then rest."""

    rate: int
    start: Array
    commands: Array
    """Frames (N, links, 4, 4) until the command comes to rest; the last one is held."""
    jump: int
    """Tick of the last jump, or at which the glide ends."""
    moving: bool
    """Whether the arm moves when the command comes to rest."""
    words: str


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    unrest: Unrest | None
    grown: float
    """Metres by which the distance to the command grew, at most, while the command was at rest."""
    beyond: float
    """Metres by which the distance was above its value at the jump, at most."""
    weighted: float
    """The same growth of the weighted error that the law lowers, times reach/pi, in metres."""
    returning: float
    """The largest distance in metres while the tracker said that it returned."""
    momentum: tuple[float, float]
    """What `grown` and `beyond` would be if all joints had braked from the moment at which the command came to rest:
    the less of braking together and each by itself.
    """


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm."""
    arm = arms.get(name)
    trials = asked.trials(2000, 10 if len(arm.links) > 1 else 25)
    restless: dict[str, list[tuple[float, int, str]]] = {"cycle": [], "creep": [], "late": []}
    grown, beyond, weighted, raised, carried, returning = [], [], [], [], [], 0.0
    for number in trials:
        trial = random_trial(arm, number)
        try:
            found = outcome(arm, trial, asked)
        except Exception as error:  # an exception breaks the law, whatever it is
            raised.append((1.0, number, f"{type(error).__name__}: {error}"))
            continue
        if found.unrest:
            restless[found.unrest.kind].append((found.unrest.speed, number, f"{trial.words}: {found.unrest}"))
        for cases, far, braking in ((grown, found.grown, 0), (beyond, found.beyond, 1)):
            if far <= AWAY:
                continue
            least = found.momentum[braking]
            words = f"{trial.words}: {1e3 * far:.0f} mm, braking at once {1e3 * least:.0f} mm"
            (carried if least > AWAY else cases).append((far, number, words))
        if found.weighted > AWAY:
            weighted.append((found.weighted, number, f"{trial.words}: {1e3 * found.weighted:.0f} mm"))
        returning = max(returning, found.returning)
    total = len(trials)
    rows = [counted("rest", name, f"never at rest: {kind}", cases, total) for kind, cases in restless.items()]
    rows.append(counted("rest", name, "command at rest, distance grew > 20 mm", grown, total))
    rows.append(counted("rest", name, "distance > 20 mm above that at the jump", beyond, total))
    told = counted("rest", name, "either of these, but braking at once leads > 20 mm too", carried, total)
    rows.append(replace(told, bar=None))
    rows.append(counted("rest", name, "weighted error grew > 20 mm pi/reach", weighted, total))
    rows.append(counted("rest", name, "exceptions", raised, total))
    if motion.RETURNING >= 0:
        rows.append(Row("rest", name, "largest distance while RETURNING", 1e3 * returning, "mm"))
    return rows


def random_trial(arm: Arm, number: int) -> Trial:
    """The trial of that number."""
    rng = motion.random_of(arm, "rest", number)
    rate = RATES[number % len(RATES)]
    start = motion.inside(arm, rng, 0.95)
    here = arm.frames(start)
    commands, words, moving = [np.tile(here, (round(0.1 * rate), 1, 1, 1))], f"{rate} Hz", False
    if rng.random() < 0.25:
        middle, _ = _goal(arm, start, here, rng)
        seconds = rng.uniform(0.05, 1.0)
        commands.append(np.tile(middle, (round(seconds * rate) + 1, 1, 1, 1)))
        words, moving = f"{words}, jump, {seconds:.2f} s later", True
    there, which = _goal(arm, start, here, rng)
    if rng.random() < 0.4:
        seconds = rng.uniform(0.5, 3.0)
        u = motion.smooth(np.arange(1, round(seconds * rate) + 1) / round(seconds * rate))
        commands.append(motion.towards(commands[-1][-1], there, u))
        words = f"{words}, glide in {seconds:.1f} s to {which}"
    else:
        commands.append(there[None])
        words = f"{words}, jump to {which}"
    whole = np.concatenate(commands)
    return Trial(rate, start, whole, len(whole) - 1, moving, words)


def _goal(arm: Arm, start: Array, here: Array, rng: np.random.Generator) -> tuple[Array, str]:
    """Frames (links, 4, 4) to go to, and their kind in words."""
    kind = rng.choice(["anywhere", "near", "beyond", "turned", "past a limit"])
    if kind == "anywhere":
        return arm.frames(motion.inside(arm, rng, 1.0)), "a place within limits"
    if kind == "near":
        scale = rng.uniform(0.02, 0.5)
        q = np.clip(start + scale * rng.normal(size=len(start)), arm.low, arm.high)
        return arm.frames(q), "a near place within limits"
    if kind == "past a limit":
        q, joint = start.copy(), rng.integers(len(start))
        wide = arm.high[joint] - arm.low[joint]
        past = min(rng.uniform(0.01, 0.6), wide)
        q[joint] = arm.high[joint] + past if rng.random() < 0.5 else arm.low[joint] - past
        return arm.frames(q), f"{past:.2f} past a limit of joint {joint + 1}"
    count = len(arm.links)
    moves = rng.random(count) < 0.6
    moves[rng.integers(count)] = True
    way, axis = rng.normal(size=(2, count, 3))
    way *= (rng.uniform(0.1, 1.2, count) * moves / np.linalg.norm(way, axis=-1))[:, None]
    axis *= (rng.uniform(0.0, 3.1, count) * moves / np.linalg.norm(axis, axis=-1))[:, None]
    reaches = np.array([arm.reach(k) for k in range(count)])[:, None]
    if kind == "turned":
        return motion.moved(here, 0.1 * way * reaches, axis), "a far turn"
    return motion.moved(here, way * reaches, 0.4 * axis), "a far shift"


def outcome(arm: Arm, trial: Trial, asked: Asked) -> Outcome:
    """Run a trial for as long as the law needs."""
    follow = motion.tracker(arm, trial.start, asked.options)
    rate, last = trial.rate, trial.commands[-1]
    before, _ = follow.replay(trial.commands, 1 / rate)
    began = max(trial.jump - 1, 0)
    rested = np.vstack([before[-2:-1], before[-1:]])
    q, status = motion.hold(follow, last, WITHIN + WATCHED, rate)
    rows, said = [rested[-1:], q], [np.array([0]), status]
    while True:
        q, status = np.vstack(rows), np.concatenate(said)
        due = _due(arm, follow, before[began], q, status, rate) + WITHIN
        have = (len(q) - 1) / rate
        if have >= due + WATCHED or have >= LONGEST:
            break
        more = motion.hold(follow, last, min(due + WATCHED - have, LONGEST - have) + 1 / rate, rate)
        rows.append(more[0])
        said.append(more[1])
    speeds = np.abs(np.diff(q, axis=0)).max(axis=1) * rate
    late = speeds[round(due * rate) :]
    unrest = None
    if late.size and late.max() > AT_REST:
        unrest = kind_of(motion.hold(follow, last, 10.0, rate)[0], rate, float(late.max()))
    momentum = _momentum(arm, trial, follow, before)
    return Outcome(unrest, *_distances(arm, trial, before[began], q, status), momentum)


def _due(arm: Arm, follow: motion.Tracker, begin: Array, q: Array, status: Array, rate: float) -> float:
    """Seconds after the command's rest at which the law's clock of 3 s starts."""
    bounds = motion.needed(arm, follow, q[-1] - begin)
    returning = np.flatnonzero(status == motion.RETURNING)
    return max(bounds, (returning[-1] + 1) / rate if returning.size else 0.0)


def _distances(arm: Arm, trial: Trial, begin: Array, q: Array, status: Array) -> tuple[float, ...]:
    """How much the distance and the weighted error grew, how far above its value at the jump the distance was, and its
    most while returning.
    """
    last = trial.commands[-1]
    distance = motion.far(arm, q, last[None])
    free = status != motion.RETURNING
    returning = float(distance[~free].max()) if (~free).any() else 0.0
    skip = round(SETTLED * trial.rate) if trial.moving else 0
    reaches = np.array([arm.reach(k) for k in range(len(arm.links))])
    length = float(reaches.max())
    size = np.sqrt(
        ((distance * length / reaches) ** 2 + (motion.off(arm, q, last[None]) * length / np.pi) ** 2).sum(axis=1)
    )
    grown = weighted = 0.0
    for part in np.split(np.arange(skip, len(q)), np.flatnonzero(~free[skip:])):
        part = part[free[part]]
        if part.size:
            grown = max(grown, float((distance[part] - np.minimum.accumulate(distance[part])).max()))
            weighted = max(weighted, float((size[part] - np.minimum.accumulate(size[part])).max()))
    beyond = 0.0
    if not trial.moving:
        at_jump = motion.far(arm, begin[None], last[None])
        beyond = float((distance - at_jump)[free].max()) if free.any() else 0.0
    return grown, beyond, weighted, returning


def _momentum(arm: Arm, trial: Trial, follow: motion.Tracker, before: Array) -> tuple[float, float]:
    """Metres by which the distance grows, and is above its value at the jump, if all joints brake from there on."""
    begin, start = before[max(trial.jump - 1, 0)], before[-1]
    velocity = (start - before[-2]) * trial.rate
    times = np.divide(np.abs(velocity), follow.acceleration, out=np.zeros_like(velocity), where=velocity != 0)
    least = np.full(2, np.inf)
    for stop in (np.full_like(times, times.max()), times):  # together, and each by itself
        u = np.minimum(np.linspace(0, times.max(), 100)[:, None], stop)
        way = u - 0.5 * np.divide(u**2, stop, out=np.zeros_like(u), where=stop > 0)
        q = np.clip(start + velocity * way, arm.low, arm.high)
        distance = motion.far(arm, q, trial.commands[-1:])
        grown = (distance - np.minimum.accumulate(distance)).max()
        at_jump = motion.far(arm, begin[None], trial.commands[-1:])
        least = np.minimum(least, (grown, (distance - at_jump).max()))
    return float(least[0]), float(least[1])
