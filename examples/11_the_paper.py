"""The damping scheme of the paper on a Kraft-like arm: named singularities and joint limits."""

import importlib.util
from math import pi

import numpy as np

from supple import Frame, Solver, damping, method, models
from supple.damping import Singularity
from supple.textbook import paper

# det J = constant * sin(elbow) * cos(wrist_yaw) * (distance of the wrist from the azimuth axis)
arm = models.kraft()
named = (
    Singularity.bend("elbow", joints=["shoulder", "elbow", "wrist_pitch"]),
    Singularity.bend("wrist_yaw", (-pi / 2, pi / 2), joints=["wrist_pitch", "wrist_roll"]),
    Singularity.off_axis("azimuth", "wrist_yaw_link", region=0.3, joints=["azimuth"]),
)
scheme = damping.schinstock(named)

# alpha_0 may be a number, or follow from a bound of the condition number at a singularity
straight, weight = arm.q(elbow=0.0), pi / arm.reach("tool")
for alpha in (0.0, 1e-4, 1e-2):
    print(
        f"elbow straight, alpha {alpha:g}: condition number {arm.condition(straight, 'tool', alpha, weight=weight):.4g}"
    )
bounded = Solver(method=method.damped(), damping=damping.schinstock(named, damping.condition_bound(300)))
here = Frame(arm.frame(straight, "tool").matrix[None])
print(f"a condition number of 300 needs alpha {paper.drive(bounded, arm, here, straight).damping[0]:.4f} there\n")

# back until elbow and wrist are at their limits, then rotated until the wrist is singular
start = arm.q(shoulder=0.2, elbow=-0.9, wrist_pitch=0.7)
tool = arm.frame(start, "tool")
back = paper.straight_line(tool, [-0.75, 0.0, 0.0], seconds=2, hold=0)
turns = [Frame.at(back[-1].position, Frame.turn([0, 0, 1], angle) @ tool) for angle in np.linspace(0, 1.7, 1200)]
goals = Frame(np.concatenate([back.matrix, [frame.matrix for frame in turns]]))
for name, solver in (
    ("exact", paper.EXACT),
    ("paper", Solver(method=method.damped(), damping=scheme, keep_limits=False)),
):
    run = paper.drive(solver, arm, goals, start)
    print(f"{name}: requests up to {run.speed_ratio.max():.3g} times the speed limits")
    print("   time    alpha    error   reduced weights")
    for k in range(299, len(goals), 300):
        reduced = [f"{n} {w:.2f}" for n, w in zip(arm.names, run.weights[k], strict=True) if w < 0.995]
        error = np.linalg.norm(run.tool[k] - goals.position[k])
        print(f"  {(k + 1) / 300:4.1f} s  {run.damping[k]:7.4f}  {error:.3f} m  {', '.join(reduced)}")

# the picture: a straight command, with approximation in joint space and in task space
for words, exact, approximate in paper.runs():
    print(
        f"{words}: {100 * exact.deviation:.0f} cm off the line clipped, {100 * approximate.deviation:.0f} cm weighted"
    )
if importlib.util.find_spec("matplotlib"):  # pip install 'supple[plot]'
    paper.save("paper.png")
