"""Two motions between two poses: interpolated joint values, and a straight path of the end effector."""

import importlib.util

import numpy as np

from supple import GoalPath, Interpolation, Motion, models, solve_path

arm = models.planar3()  # three revolute joints, links of 15, 10 and 5 m
first = arm.frame(arm.rest, "tip").position
last = np.array([-20.0, 5.0, 0.0])
line = GoalPath.line(first, last)
print(f"{line}, from {first.round(2)} to {last}")

# the line: joint values for all frames, planned together
solved = solve_path(arm, line.goal("tip", 101), arm.rest, duration=2.0)
print(solved)
along = solved.motion

# or only its two ends as key poses, with interpolated joint values
direct = Motion(arm, [0, 2], along.q[[0, -1]], Interpolation.SMOOTH)
print(direct)


def deviation(motion):
    """Distance of the tip from the straight line in metres, 500 times per second."""
    tip = motion.frame(np.linspace(motion.start, motion.end, 1001), "tip").position
    return np.linalg.norm(np.cross(tip - first, (last - first) / line.length), axis=-1)


print("\nlargest distance of the tip from the straight line")
print(f"  two key poses, interpolated: {deviation(direct).max():7.3f} m")
print(f"  the line, 101 goals solved:  {deviation(along).max():7.3f} m")

# key poses: linear interpolation has jumps in velocity, smooth interpolation has none; neither overshoots
keys = arm.rest + np.array([[0, 0, 0], [0.4, 0.9, -0.5], [0.6, 0.9, 0.3], [0, 0, 0]])
print("\nthrough four key poses       jump of velocity   top speed   largest joint2")
for kind in Interpolation:
    wave = Motion(arm, [0, 1, 1.5, 3], keys, kind)
    jump = np.abs(wave.leaving[1:] - wave.arriving[:-1]).max()
    top = wave.at(np.linspace(0, 3, 3001))[:, 1].max()
    print(f"  {kind.value:<27}{jump:10.2f} rad/s {wave.speed.max():6.2f} rad/s {top:10.4f} rad")

wave.save("wave.csv")  # .npz also keeps the interpolation
again = Motion.load("wave.csv", arm, Interpolation.SMOOTH)
print(f"\nsaved, loaded, and {'the same' if again == wave else 'different'}: {again}")

if importlib.util.find_spec("matplotlib"):  # pip install 'supple[plot]'
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6, 4), layout="constrained").subplots()
    for motion, name in ((direct, "interpolated"), (along, "solved")):
        axes.plot(*motion.frame(np.linspace(0, 2, 201), "tip").position[:, :2].T, label=name)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.legend()
    axes.figure.savefig("paths.png")
