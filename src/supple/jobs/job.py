"""Job: one kind of work over the tables of a folder; made by `forward`, `solve`, `path` and `track`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from supple import __version__, _check
from supple._linkage.argument import checked_linkage
from supple.errors import BadInput
from supple.goal import Goal
from supple.jobs import files, tables
from supple.jobs.columns import Joints, Pose
from supple.jobs.files import Files, Source
from supple.jobs.receipts import JobFolder
from supple.jobs.result import JobResult, Plan
from supple.linkage import Linkage
from supple.solver import Solver

Work = Literal["forward", "solve", "path", "track"]
_LAYOUT = 1  # of the written columns and of the job folder


@dataclass(frozen=True)
class Job:
    """Work over tables: `plan` says what would be done, `run` does it. A frozen value.

    >>> from supple import jobs, models
    >>> job = jobs.forward(models.panda(), "episodes", "poses", joints="q", link="panda_hand_tcp")
    >>> job
    <Job: forward, panda, from episodes to poses>
    """

    work: Work
    linkage: Linkage
    source: Source
    """A file, a folder, a pattern such as ``data/*.parquet``, a list of files, or a LeRobot dataset."""
    target: str | os.PathLike[str]
    """A folder; for a single file, also a file."""
    goal: Goal
    """The end effector, and which parts of its pose count."""
    joints: Joints
    """The columns with joint values, read by forward kinematics and written by inverse kinematics."""
    pose: Pose
    """The columns with poses, written by forward kinematics and read by inverse kinematics."""
    solver: Solver
    episode: str | None
    """The column that tells episodes apart; ``episode_index`` if it is there, else the whole file is one."""
    time: str | None
    """The column with the time of each row, in seconds."""
    rate: float | None
    """Rows in a second."""
    format: str | None
    """Format of the results: "parquet", "arrow" or "csv"; None for that of each table."""
    prefix: str
    """Put before the names of the columns outcome, position_error, angle_error and reconfigured."""
    single: bool
    """Whether poses and joint values are written as float32; in LeRobot datasets they are in any case."""
    overwrite: bool
    """Whether files that are no results of this job are replaced."""

    @property
    def link(self) -> str:
        """Name of the end effector."""
        return self.goal.link

    @property
    def is_dataset(self) -> bool:
        """Whether the source is a LeRobot dataset."""
        return is_dataset(self.source)

    def plan(self) -> Plan:
        """What `run` would do: files, rows, columns found, columns added. Nothing is written.

        Raises `BadInput` for whatever `run` would refuse.
        """
        from supple.jobs import running

        found, folder = self._folder()
        return running.plan(self, found, folder)

    def run(self, *, workers: int | None = None, ray: bool | str = False, progress: bool | None = None) -> JobResult:
        """Do the work; files that an earlier run finished are kept.

        Args:
            workers: how many files are worked on at the same time; by default one for each core, at most 8.
            ray: True to start Ray here or use the cluster this process belongs to; or the address of a cluster. Each
                file is one task; all machines must see the same files.
            progress: whether to show a bar on stderr; by default on a terminal, after one second.

        Raises `BadInput` before any work, and `JobFailed` when all other files are done. Ctrl-C leaves finished files.
        """
        from supple.jobs import running

        if workers is not None:
            _check.whole(workers, "workers", 1)
        found, folder = self._folder()
        return running.run(self, found, folder, workers, ray, progress)

    def _folder(self) -> tuple[Files, JobFolder]:
        found = files.find(self.source, self.target, self.format, self.is_dataset)
        return found, JobFolder(found, self.options())

    def options(self) -> dict[str, Any]:
        """All that decides what is written, as plain data."""
        return {
            "supple": __version__,
            "layout": _LAYOUT,
            "work": self.work,
            "linkage": self.linkage.to_dict(geometry=False),
            "goal": _exact(self.goal._value()),
            "joints": repr(self.joints),
            "pose": repr(self.pose),
            "solver": _solver_data(self.solver),
            "episode": self.episode,
            "time": self.time,
            "rate": self.rate,
            "format": self.format,
            "prefix": self.prefix,
            "single": self.single,
        }

    def __repr__(self) -> str:
        source = self.source if isinstance(self.source, str | os.PathLike) else f"{len(self.source)} files"
        return f"<Job: {self.work}, {self.linkage.name}, from {source} to {self.target}>"


def _exact(value: object) -> Any:
    """Values as plain data with all digits of their numbers."""
    if isinstance(value, tuple):
        return [_exact(each) for each in value]
    return value.hex() if isinstance(value, bytes | float) else value


def _solver_data(solver: Solver) -> Any:
    try:
        return solver.to_dict()
    except BadInput:  # it has functions
        return repr(solver)


def checked(
    work: Work,
    linkage: Linkage,
    source: Source,
    target: str | os.PathLike[str],
    link: str | Goal | None,
    joints: Joints,
    pose: Pose,
    solver: Solver | None = None,
    *,
    episode: str | None = None,
    time: str | None = None,
    rate: float | None = None,
    format: str | None = None,
    prefix: str = "",
    single: bool = False,
    overwrite: bool = False,
) -> Job:
    """A job whose arguments are checked; the options after ``solver`` are those of `supple.jobs.Options`."""
    checked_linkage(linkage, f"jobs.{work}(linkage, source, target)")
    if not isinstance(source, str | os.PathLike):
        if not isinstance(source, list | tuple):
            raise BadInput(f"source must be a path or a list of paths, got {_check.short(source)}")
        source = tuple(_check.file_name(path, "source") for path in source)
    else:
        _check.file_name(source, "source")
    _check.file_name(target, "target")
    if time is not None and rate is not None:
        raise BadInput("give time or rate, not time and rate")
    if work == "path" and isinstance(solver, Solver) and not (solver.searches and not solver.prefer.terms):
        raise BadInput("path needs a solver with method.search(), without preferences")
    return Job(
        work,
        linkage,
        source,
        target,
        _goal(linkage, link, pose, work),
        joints,
        pose,
        Solver() if solver is None else _check.instance(solver, Solver, "solver"),
        None if episode is None else _check.text(episode, "episode"),
        None if time is None else _check.text(time, "time"),
        _rate(work, source, rate),
        None if format is None else _check.one_of(format, "format", tuple(tables.FORMATS)),
        _check.text(prefix, "prefix", empty=True),
        _check.flag(single, "single"),
        _check.flag(overwrite, "overwrite"),
    )


def _rate(work: Work, source: Source, rate: float | None) -> float | None:
    if rate is not None:
        return _check.positive(rate, "rate", "rows per second")
    if work in ("path", "track") and is_dataset(source):
        from supple.jobs import lerobot

        return lerobot.rate(source)  # type: ignore[arg-type]
    if work == "track":
        raise BadInput("track needs rate=, the rows per second")
    return None


def is_dataset(source: Source) -> bool:
    """Whether a source is a LeRobot dataset."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(os.path.join(source, "meta", "info.json"))


def _goal(linkage: Linkage, link: str | Goal | None, pose: Pose, work: str) -> Goal:
    """The goal whose kind all rows have: a whole pose, or the part that the columns have."""
    if isinstance(link, Goal):
        goal = link
        if goal.is_center_of_mass or goal.look_at is not None or goal.distance is not None:
            raise BadInput("a job takes goals for a position, an orientation or an axis of a link")
    else:
        if link is None and len(linkage.tips) > 1:
            raise BadInput(f"{linkage.name} has {len(linkage.tips)} tips; give link=: {', '.join(linkage.tips)}")
        name = linkage.tips[0] if link is None else linkage.link(link).name
        if work == "forward" or (pose.places and pose.turns):
            return Goal(name, np.eye(4))
        goal = Goal(name, position=np.zeros(3)) if pose.places else Goal(name, orientation=np.eye(3))
    linkage.link(goal.link)
    if work != "forward" and goal.position is not None and not pose.places:
        raise BadInput("the goal has a position, and the pose has none")
    if work != "forward" and goal.position is None and goal.orientation is None and goal.axis is None:
        raise BadInput("the goal needs a position, an orientation or an axis")
    if work != "forward" and (goal.orientation is not None or goal.axis is not None) and not pose.turns:
        raise BadInput("the goal has an orientation, and the pose has none")
    return goal
