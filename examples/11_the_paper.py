"""The paper's scheme on an arm like the one it was made for: singularities by name, limits with ramps, many at once."""

import importlib.util
from math import pi

import numpy as np

from supple import Frame, Solver, damping, method, models
from supple.damping import Singularity
from supple.textbook import paper

# det J of this arm is a constant times sin(elbow), cos(wrist_yaw) and the wrist's distance from the azimuth axis
arm = models.kraft()
named = (
    Singularity.bend("elbow", joints=["shoulder", "elbow", "wrist_pitch"]),
    Singularity.bend("wrist_yaw", (-pi / 2, pi / 2), joints=["wrist_pitch", "wrist_roll"]),
    Singularity.off_axis("azimuth", "wrist_yaw_link", region=0.3, joints=["azimuth"]),
)
scheme = damping.schinstock(named)

# alpha_0 may be a number, or the condition number that it shall leave at a singularity
straight, weight = arm.q(elbow=0.0), pi / arm.reach("tool")
for alpha in (0.0, 1e-4, 1e-2):
    print(
        f"elbow straight, alpha {alpha:g}: condition number {arm.condition(straight, 'tool', alpha, weight=weight):.4g}"
    )
bounded = Solver(method=method.damped(), damping=damping.schinstock(named, damping.condition_bound(300)))
here = Frame(arm.frame(straight, "tool").matrix[None])
print(f"condition number 300 takes alpha {paper.drive(bounded, arm, here, straight).damping[0]:.4f} there\n")

# back until elbow and wrist are at their limits, then turned aside until the wrist is singular, all at once
start = arm.q(shoulder=0.2, elbow=-0.9, wrist_pitch=0.7)
hand = arm.frame(start, "tool")
back = paper.along(hand, [-0.75, 0.0, 0.0], seconds=2, hold=0)
turns = [Frame.at(back[-1].position, Frame.turn([0, 0, 1], angle) @ hand) for angle in np.linspace(0, 1.7, 1200)]
goals = Frame(np.concatenate([back.matrix, [frame.matrix for frame in turns]]))
for name, solver in (
    ("exact", paper.EXACT),
    ("paper", Solver(method=method.damped(), damping=scheme, keep_limits=False)),
):
    run = paper.drive(solver, arm, goals, start)
    print(
        f"{name}: asks for up to {run.asked.max():.3g} times the speed limits\n   time    alpha  off by   spared joints"
    )
    for k in range(299, len(goals), 300):
        spared = [f"{n} {w:.2f}" for n, w in zip(arm.names, run.weights[k], strict=True) if w < 0.995]
        off = np.linalg.norm(run.hand[k] - goals.position[k])
        print(f"  {(k + 1) / 300:4.1f} s  {run.damping[k]:7.4f}  {off:.3f} m  {', '.join(spared)}")

# the picture: the hand along a straight command, approximated in the joints and in the task
for words, exact, approximate in paper.runs():
    print(f"{words}: strays {100 * exact.stray:.0f} cm clipped, {100 * approximate.stray:.0f} cm as the paper does")
if importlib.util.find_spec("matplotlib"):  # pip install 'supple[plot]'
    paper.save("paper.png")
