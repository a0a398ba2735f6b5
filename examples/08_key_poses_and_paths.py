"""Two ways from here to there: in-betweens of joint values, and a straight path followed frame by frame."""

import importlib.util

import numpy as np

from supple import GoalPath, Interpolation, Motion, models, solve_path

arm = models.planar3()  # three turns, links 15, 10 and 5 m long
here = arm.frame(arm.rest, "tip").position
there = np.array([-20.0, 5.0, 0.0])
line = GoalPath.line(here, there)
print(f"{line}, from {here.round(2)} to {there}")

# follow the line: each frame is solved from where the one before ended
followed = solve_path(arm, line.goal("tip", 101), arm.rest, duration=2.0)
print(followed)
along = followed.motion

# or take the two q at its ends as key poses, and go from one to the other
direct = Motion(arm, [0, 2], along.q[[0, -1]], Interpolation.SMOOTH)
print(direct)


def astray(motion):
    """How far the hand is from the straight line, in metres, 500 times a second."""
    hand = motion.frame(np.linspace(motion.start, motion.end, 1001), "tip").position
    return np.linalg.norm(np.cross(hand - here, (there - here) / line.length), axis=-1)


print("\ngreatest distance of the hand from the straight line")
print(f"  in-betweens of two key poses: {astray(direct).max():7.3f} m")
print(f"  the line followed, 101 goals: {astray(along).max():7.3f} m")

# key poses: linear in-betweens turn corners, smooth ones do not, and neither overshoots
keys = arm.rest + np.array([[0, 0, 0], [0.4, 0.9, -0.5], [0.6, 0.9, 0.3], [0, 0, 0]])
print("\nthrough four key poses       jump of velocity   fastest   joint2 at most")
for between in Interpolation:
    wave = Motion(arm, [0, 1, 1.5, 3], keys, between)
    jump = np.abs(wave.leaving[1:] - wave.arriving[:-1]).max()
    top = wave.at(np.linspace(0, 3, 3001))[:, 1].max()
    print(f"  {between.value:<27}{jump:10.2f} rad/s {wave.speed.max():6.2f} rad/s {top:10.4f} rad")

wave.save("wave.csv")  # a table for any program; .npz keeps the in-betweens too
again = Motion.load("wave.csv", arm, Interpolation.SMOOTH)
print(f"\nsaved, loaded, and {'the same' if again == wave else 'different'}: {again}")

if importlib.util.find_spec("matplotlib"):  # pip install 'supple[plot]'
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6, 4), layout="constrained").subplots()
    for motion, name in ((direct, "in-betweens"), (along, "followed")):
        axes.plot(*motion.frame(np.linspace(0, 2, 201), "tip").position[:, :2].T, label=name)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.legend()
    axes.figure.savefig("paths.png")
