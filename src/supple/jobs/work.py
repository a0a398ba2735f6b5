"""The work of a job on the rows of a table: forward kinematics, or inverse row by row or episode by episode."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple._path import solve_many
from supple._solve import misread
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.jobs import outcomes
from supple.jobs.columns import moving_values
from supple.jobs.episodes import Episodes, whole_episodes
from supple.jobs.layout import Layout
from supple.solver import Solver

if TYPE_CHECKING:
    from supple.jobs.job import Job


@dataclass
class Result:
    """The columns that a job adds to some rows, and how these rows ended."""

    arrays: list[Any]
    """Arrow arrays, in the order of `Layout.fields`."""
    counts: Any
    """How many rows ended with each outcome (words,)."""
    reconfigured: int = 0
    """How many rows are marked as reconfigured."""
    note: str = ""
    """What the rows may have been misread as, see `misread.note`."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.arrays[0])


def goal_for(job: Job, frames: Frame) -> Goal:
    """The goals (rows,) of the end effector at frames (rows,): of the kind that the job's template has."""
    kind = job.goal
    options: dict[str, Any] = {
        name: getattr(kind, name) for name in ("point", "weight", "turn_weight", "slack", "turn_slack", "relative_to")
    }
    position = None if kind.position is None else frames.position
    if kind.axis is not None:
        options |= {"axis": kind.axis, "direction": frames.rotation @ kind.axis}
        options["turn_slack"] = kind.turn_slack[0]
    elif kind.orientation is not None:
        options["orientation"] = frames
    return Goal(kind.link, position=position, **options)


class Forward:
    """Joint values to poses."""

    def __init__(self, job: Job, layout: Layout) -> None:
        self.job, self.layout = job, layout
        self.rounding = layout.joint_rounding

    def rows(self, batch: Any) -> Result:
        """The result of a batch."""
        q, good = self.layout.joints(batch)
        frames = self.job.linkage.frame(q, self.job.link)
        codes = outcomes.forward_codes(self.job.linkage, q, good, self.rounding)
        arrays = self.layout.forward_arrays(frames, codes)
        return Result(arrays, np.bincount(codes, minlength=len(outcomes.FORWARD)))


class Inverse:
    """Poses to joint values: the parts that all kinds of it share."""

    words: tuple[str, ...] = outcomes.SOLVE

    def __init__(self, job: Job, layout: Layout) -> None:
        self.job, self.layout = job, layout
        self.moving = moving_values(job.linkage, job.link)
        self._is_first = True

    def note(self, frames: Frame, codes: Any) -> str:
        """What frames (rows,), of the first rows of a table, may have been misread as; empty for later rows."""
        if not self._is_first or not len(codes):
            return ""
        self._is_first = False
        pose = self.job.pose
        order = pose.order if pose.turns and pose.matrix is None else ""
        return misread.note(self.job.linkage, goal_for(self.job, frames), codes == 0, self.job.solver, order)

    def result(
        self,
        good: Any,
        q: Array,
        codes: Any,
        distance: Array,
        angle: Array,
        reconfigured: Any | None = None,
        note: str = "",
    ) -> Result:
        """The result of all rows from those of the good ones; the others are invalid, with nan."""
        if not good.all():
            q, distance, angle = _spread(good, q), _spread(good, distance), _spread(good, angle)
            full = np.full(len(good), self.words.index("invalid"), dtype=np.int8)
            full[good] = codes
            codes = full
            if reconfigured is not None:
                marks = np.zeros(len(good), dtype=bool)
                marks[good] = reconfigured
                reconfigured = marks
        arrays = self.layout.solve_arrays(q, codes, distance, angle, reconfigured)
        count = 0 if reconfigured is None else int(np.count_nonzero(reconfigured))
        return Result(arrays, np.bincount(codes, minlength=len(self.words)), count, note)

    def solved(self, frames: Frame, solver: Solver) -> tuple[Array, Any, Array, Array]:
        """Joint values (rows, dof) for frames (rows,), their codes, distances and angles."""
        goal = goal_for(self.job, frames)
        found = solver.solve(self.job.linkage, goal, progress=False)
        codes = outcomes.solve_codes(
            self.job.linkage, self.job.goal, solver, goal.position, found.q, found.outcomes, self.moving
        )
        return found.q, codes, found.distance[:, 0], found.angle[:, 0]


def _spread(good: Any, rows: Array) -> Array:
    """Rows of the good ones as rows of all, with nan for the others."""
    full = np.full((len(good), *rows.shape[1:]), np.nan)
    full[good] = rows
    return full


class RowByRow(Inverse):
    """Each pose on its own."""

    def rows(self, batch: Any) -> Result:
        """The result of a batch."""
        frames, good = self.job.pose.frames(self.layout.poses(batch))
        usable = frames if good.all() else frames[good]
        found = self.solved(usable, self.job.solver)
        return self.result(good, *found, note=self.note(usable, found[1]))


class EpisodeWork(Inverse):
    """Work that needs whole episodes."""

    def results(self, batches: Iterable[Any]) -> Iterator[Result]:
        """The results of all batches, for some whole episodes at a time."""
        for episodes in whole_episodes(self.layout, batches):
            yield self.one(episodes)

    def one(self, episodes: Episodes) -> Result:
        """The result of some whole episodes."""
        raise NotImplementedError


class Continuous(EpisodeWork):
    """Joint values that are continuous within each episode; invalid rows are left out of its path."""

    def one(self, episodes: Episodes) -> Result:
        """The result of some whole episodes."""
        job = self.job
        frames, good = job.pose.frames(episodes.numbers)
        if episodes.times is not None:
            good = good & np.isfinite(episodes.times)
        times = self._times(episodes, good)
        offsets = episodes.offsets
        if not good.all():
            frames, offsets = frames[good], np.append(0, np.cumsum(good))[offsets]
            times = None if times is None else times[good]
        goal = goal_for(job, frames)
        even = times is None or (episodes.times is None and good.all())
        found = solve_many(
            job.linkage,
            goal,
            offsets,
            job.solver,
            dt=1 / job.rate if even and job.rate is not None else None,
            times=None if even else times,
        )
        codes = outcomes.solve_codes(
            job.linkage, job.goal, job.solver, goal.position, found.q, found.outcome, self.moving
        )
        note = self.note(frames, codes)
        return self.result(good, found.q, codes, found.distance, found.angle, found.reconfigured, note)

    def _times(self, episodes: Episodes, good: Any) -> Array | None:
        """Times (rows,) in seconds, that increase over the good rows of each episode; None if nothing tells them."""
        begins = np.repeat(episodes.offsets[:-1], np.diff(episodes.offsets))
        if episodes.times is None:
            if self.job.rate is None:
                return None
            even: Array = (np.arange(len(begins)) - begins) / self.job.rate
            return even
        rows = np.flatnonzero(good)
        same = begins[rows[1:]] == begins[rows[:-1]]
        wrong = np.flatnonzero(same & (np.diff(episodes.times[rows]) <= 0))
        if len(wrong):
            before, row = rows[wrong[0]], rows[wrong[0] + 1]
            raise BadInput(
                f"{self.layout.table.path}: row {episodes.first + row}: the time must increase within an episode, and "
                f"column {self.layout.time!r} has {episodes.times[before]:g}, then {episodes.times[row]:g}"
            )
        return episodes.times


class Tracked(EpisodeWork):
    """Through the tracker, tick by tick; each episode starts at joint values that reach its first pose, at rest."""

    words = outcomes.TRACK

    def one(self, episodes: Episodes) -> Result:
        """The result of some whole episodes."""
        job = self.job
        assert job.rate is not None  # checked when the job was made
        frames, good = job.pose.frames(episodes.numbers)
        commands = np.where(good[:, None, None], frames.matrix, np.nan)
        rows = len(commands)
        q, codes = np.empty((rows, job.linkage.dof)), np.zeros(rows, dtype=np.int8)
        tracker = Solver().track(job.linkage, job.goal)
        for first, last in itertools.pairwise(episodes.offsets.tolist()):
            part = slice(first, last)
            usable = np.flatnonzero(good[part])
            if not len(usable):
                q[part] = job.linkage.rest
                continue
            begin = first + int(usable[0])
            tracker.reset(self.solved(frames[begin : begin + 1], job.solver)[0][0])
            q[part], codes[part] = tracker.replay(commands[part], 1 / job.rate)
        distance, angle = self._errors(frames, q)
        codes[~good] = self.words.index("invalid")
        distance[~good] = angle[~good] = np.nan
        note = self.note(frames[good], codes[good])
        return self.result(np.ones(rows, dtype=bool), q, codes, distance, angle, note=note)

    def _errors(self, frames: Frame, q: Array) -> tuple[Array, Array]:
        from supple._solve.goal_error import goal_error

        error = goal_error(self.job.linkage, goal_for(self.job, frames), q, (len(q),))
        return np.linalg.norm(error[:, :3], axis=1), np.linalg.norm(error[:, 3:], axis=1)


WORKS: dict[str, type[Forward] | type[RowByRow] | type[Continuous] | type[Tracked]] = {
    "forward": Forward,
    "solve": RowByRow,
    "path": Continuous,
    "track": Tracked,
}
