"""Jobs over tables of any size: Parquet, Arrow, CSV and LeRobot datasets; joints to poses, poses to joints.

`forward`, `solve`, `path` and `track` make a `Job`; `Job.plan` says what it would do, `Job.run` does it. All columns
pass through untouched; the results are added as new columns. Needs ``pip install 'supple[jobs]'``.

    >>> from supple import jobs, models
    >>> job = jobs.solve(models.panda(), "poses", "solved", pose="ee_pose", link="panda_hand_tcp")
    >>> job
    <Job: solve, panda, from poses to solved>
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypedDict

from supple.errors import unknown_option
from supple.goal import Goal
from supple.jobs import columns, job
from supple.jobs.columns import Joints, Names, Pose
from supple.jobs.files import Source
from supple.jobs.job import Job
from supple.jobs.result import FilePlan, JobFailed, JobResult, Plan
from supple.linkage import Linkage
from supple.solver import Solver

if sys.version_info >= (3, 11):
    from typing import Unpack
elif TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "FilePlan",
    "Job",
    "JobFailed",
    "JobResult",
    "Joints",
    "Options",
    "Plan",
    "Pose",
    "forward",
    "path",
    "solve",
    "track",
]

Target = str | os.PathLike[str]


class Options(TypedDict, total=False):
    """Options of every job.

    >>> from supple import jobs, models
    >>> options: jobs.Options = {"single": True, "prefix": "ik_"}
    >>> jobs.solve(models.panda(), "poses", "solved", pose="ee_pose", link="panda_hand_tcp", **options).single
    True
    """

    format: str
    """Format of the results: "parquet", "arrow" or "csv"; by default that of each table."""
    prefix: str
    """Begins the names of the added columns outcome, position_error, angle_error and reconfigured."""
    single: bool
    """Write poses and joint values as float32; float64 by default."""
    overwrite: bool
    """Replace files that this job did not write; by default they are refused."""


def forward(
    linkage: Linkage,
    source: Source,
    target: Target,
    *,
    joints: Joints | Names,
    pose: Pose | str = "pose",
    link: str | None = None,
    **options: Unpack[Options],
) -> Job:
    """Joint values to poses of a link, row by row.

    Args:
        linkage: the linkage.
        source: a file, a folder, a pattern such as ``data/*.parquet``, a list of files, or a LeRobot dataset.
        target: a folder for the results, which keep their names; for a single file, also a file.
        joints: the columns that are read.
        pose: the columns that are added; by default one with seven numbers, position and quaternion wxyz.
        link: the end effector; by default the only tip.
        **options: see `Options`.

    >>> from supple import jobs, models
    >>> jobs.forward(models.planar3(), "episodes", "poses", joints=jobs.Joints("q", degrees=True)).link
    'tip'
    """
    _check_options(forward, options)
    read, written = columns.joints(joints), columns.pose(pose)
    return job.checked("forward", linkage, source, target, link, read, written, **options)


def solve(
    linkage: Linkage,
    source: Source,
    target: Target,
    *,
    pose: Pose | str,
    joints: Joints | Names = "q",
    link: str | Goal | None = None,
    solver: Solver | None = None,
    **options: Unpack[Options],
) -> Job:
    """Poses to joint values, each row on its own: two rows with poses near each other may have joint values far apart.

    Args:
        linkage: the linkage.
        source: as for `forward`.
        target: as for `forward`.
        pose: the columns that are read; a name alone is a column with seven numbers, position and quaternion wxyz.
        joints: the columns that are added; by default one with lists of all joint values.
        link: the end effector, by default the only tip; or a goal, whose components and weights are used.
        solver: a search by default.
        **options: see `Options`.

    >>> from supple import jobs, models
    >>> pose = jobs.Pose(position="p", quaternion="r", order="xyzw")
    >>> jobs.solve(models.planar3(), "poses", "solved", pose=pose)
    <Job: solve, planar3, from poses to solved>
    """
    _check_options(solve, options)
    read, written = columns.pose(pose), columns.joints(joints)
    return job.checked("solve", linkage, source, target, link, written, read, solver, **options)


def path(
    linkage: Linkage,
    source: Source,
    target: Target,
    *,
    pose: Pose | str,
    joints: Joints | Names = "q",
    link: str | Goal | None = None,
    solver: Solver | None = None,
    episode: str | None = None,
    time: str | None = None,
    rate: float | None = None,
    **options: Unpack[Options],
) -> Job:
    """Poses to joint values that are continuous within each episode; see `supple.solve_path`.

    Args:
        linkage: the linkage.
        source: as for `forward`.
        target: as for `forward`.
        pose: as for `solve`.
        joints: as for `solve`.
        link: as for `solve`.
        solver: its tolerance and margin are used.
        episode: the column of the episode of each row, by default ``episode_index`` if it is there; else each file is
            one episode. The rows of an episode stand together in one file.
        time: the column with the time of each row, in seconds, for the speed limits of the joints.
        rate: rows per second, if no column has the time.
        **options: see `Options`.

    >>> from supple import jobs, models
    >>> jobs.path(models.planar3(), "poses", "solved", pose="ee_pose", rate=30).rate
    30.0
    """
    _check_options(path, options)
    read, written = columns.pose(pose), columns.joints(joints)
    return job.checked(
        "path", linkage, source, target, link, written, read, solver, episode=episode, time=time, rate=rate, **options
    )


def track(
    linkage: Linkage,
    source: Source,
    target: Target,
    *,
    pose: Pose | str,
    rate: float | None = None,
    joints: Joints | Names = "q",
    link: str | Goal | None = None,
    episode: str | None = None,
    **options: Unpack[Options],
) -> Job:
    """Poses to the joint values of an arm that follows them as they come, within its bounds; see `supple.Tracker`.

    Args:
        linkage: the linkage.
        source: as for `forward`.
        target: as for `forward`.
        pose: as for `solve`.
        rate: rows per second; by default that of a LeRobot dataset.
        joints: as for `solve`.
        link: as for `solve`.
        episode: as for `path`.
        **options: see `Options`.

    >>> from supple import jobs, models
    >>> jobs.track(models.planar3(), "poses", "tracked", pose="ee_pose", rate=30).work
    'track'
    """
    _check_options(track, options)
    read, written = columns.pose(pose), columns.joints(joints)
    return job.checked("track", linkage, source, target, link, written, read, episode=episode, rate=rate, **options)


def _check_options(work: Callable[..., Job], options: Mapping[str, object]) -> None:
    """Raises `UnknownOption` for an option that a job does not have, with those jobs that have it or near matches."""
    common = Options.__annotations__
    own = {each: inspect.signature(each).parameters for each in (forward, solve, path, track)}
    for name in options:
        if name in common:
            continue
        others = [f"jobs.{each.__name__}" for each in own if name in own[each]]
        belongs = f"it is an option of {' and '.join(others)}" if others else ""
        known = [*(each for each in own[work] if each != "options"), *common]
        raise unknown_option(f"jobs.{work.__name__}", name, known, belongs=belongs)
