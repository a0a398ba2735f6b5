"""Typical user code: checked by `mypy --strict` and run by a test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import supple
from supple import (
    Frame,
    Goal,
    GoalPath,
    Linkage,
    Outcome,
    Solution,
    Solver,
    Step,
    Tolerance,
    Tracker,
    TrackingStatus,
    damping,
    method,
    prefer,
)


def load(path: str) -> Linkage:
    arm = supple.load(path)
    print(arm.name, arm.dof, arm.names, arm.lower.min(), arm.tips[0])
    return arm


def solve_one(arm: Linkage, link: str, frame: Frame) -> NDArray[np.float64] | None:
    found: Solution = supple.solve(arm, Goal(link, frame), max_iterations=5000, tolerance=Tolerance(position=1e-4))
    if found:
        return found.q
    if found.outcome is Outcome.STUCK:
        print(found.why, float(found.distance[0]), float(found.angle[0]))
    return None


def solve_many(arm: Linkage, link: str, count: int) -> int:
    frames = arm.frame(arm.random(count, seed=0), link)
    try:
        found = supple.solve(arm, Goal(link, frames), progress=False)
    except supple.Interrupted as interrupted:
        found = interrupted.found
    good: NDArray[np.float64] = found.q[found.arrived]
    stuck: NDArray[np.bool_] = found.outcomes == Outcome.STUCK.value
    if found.arrived.all() and not stuck.any():
        print(f"all of {len(found)} arrived after {found.iterations.mean():.1f} iterations")
    first: Outcome = found[0].outcome
    print(first.name, good.shape)
    return int(found.arrived.sum())


def goals_for_real_work(arm: Linkage, link: str, other: str) -> bool:
    """Goals relative to a link, looks, distances and a centre of mass."""
    goals = [
        Goal(link, Frame(), relative_to=other),
        Goal(link, axis=[0, 0, 1], look_at=np.zeros((5, 3)), turn_slack=0.1),
        Goal(link, position=(0, 0, 1), distance=0.2, slack=0.01),
        Goal(link, position=[0, 0, 1], line=[0, 0, 1]),
        Goal.center_of_mass([0, 0, 1], weight=(1, 1, 0)),
    ]
    near: float | None = goals[2].distance
    seen: NDArray[np.float64] | None = goals[1].look_at
    who: str | None = goals[0].relative_to
    return near == 0.2 and seen is not None and who == other and arm.dof > 0


def by_other_methods(arm: Linkage, goal: Goal) -> list[str]:
    scheme = damping.singularities() | damping.limits(region=0.1)

    def gentle(q: NDArray[np.float64], e: NDArray[np.float64], J: NDArray[np.float64], dt: float) -> float:
        return 1e-3 * float(e @ e)

    solvers = [
        Solver(),
        Solver(timeout=1e-3, joint_weights={arm.names[0]: 0.5}),
        Solver(method=method.damped(), damping=1e-2, prefer=prefer.centre() + prefer.dexterity(0.2)),
        Solver(method=method.damped(), damping=scheme),
        Solver(method=method.damped(), damping=gentle),
        Solver(method=method.coordinate_descent(method.Rank.MOST_ROOM)),
    ]
    again = [Solver.from_dict(solver.to_dict()) for solver in solvers[:4]]
    assert again == solvers[:4]
    return [solver.solve(arm, goal, start=arm.rest).outcome.name for solver in solvers]


def compiled(arm: Linkage, link: str, frames: Frame) -> int:
    find = Solver().compile(arm, link)
    q = np.empty(arm.dof)
    return sum(find(frame, start=arm.rest, out=q) is not None for frame in frames.matrix)


def track(arm: Linkage, link: str, ticks: int) -> TrackingStatus:
    tracker: Tracker = Solver().track(arm, link, arm.rest, acceleration=10.0)
    command = Frame.at([0, 0, -0.02]) @ arm.frame(arm.rest, link)
    step: Step = tracker.step(command, dt=0.01)
    for _ in range(ticks):
        step = tracker.step(command, dt=0.01, stamp=None, measured=step.q)
        if step.status is not TrackingStatus.FOLLOWING:
            print(step.why, step.at_bounds, float(step.lag), float(step.damping), step.distance.max())
    step = tracker.push([0, 0, 0.1, 0, 0, 0], 0.01)
    statuses: NDArray[np.int64] = step.statuses
    print(statuses, tracker.q.shape, step.velocity.max(), step.error.shape)
    tracker.reset(arm.rest)
    return tracker.step(arm.frame(arm.rest, link), 0.01).status


def along_a_path(arm: Linkage, link: str) -> bool:
    here = arm.frame(arm.rest, link)
    path = GoalPath.line(here, Frame.at([0, 0.05, -0.05]) @ here)
    done = supple.solve_path(arm, path.goal(link, 11), duration=2.0)
    if not done:
        print(done.left, done.distance.max())
    q: NDArray[np.float64] = done.motion.at(0.5)
    print(q.shape, done.change.max())
    return bool(done.arrived)


def teleop(arm: Linkage, link: str) -> int:
    from supple import teleop

    sent: list[NDArray[np.float64]] = []

    def commands() -> list[teleop.Command]:
        return [teleop.Command(arm.frame(arm.rest, link), stamp=0.01 * k) for k in range(5)]

    def sink(tick: teleop.Tick) -> None:
        sent.append(tick.step.q)

    statistics = teleop.drive(commands(), teleop.Mapping(), Solver().track(arm, link), sink, 200, patience=60)
    print(statistics)
    return len(sent)


def main() -> None:
    arm, link = supple.models.panda(), "panda_hand_tcp"
    frames = arm.frame(arm.random(5, seed=1), link)
    assert solve_one(arm, link, frames[0]) is not None
    assert solve_many(arm, link, 20) == 20
    assert goals_for_real_work(arm, link, arm.root)
    assert by_other_methods(arm, Goal(link, position=[0.4, 0, 0.5]))[0] == "ARRIVED"
    assert compiled(arm, link, frames) == 5
    assert track(arm, link, 100) is not TrackingStatus.HELD
    assert along_a_path(arm, link)
    assert teleop(arm, link) > 0


if __name__ == "__main__":
    main()
