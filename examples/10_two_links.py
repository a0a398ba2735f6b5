"""Two links in closed form: both solutions, the annulus they reach, and goals outside it."""

import numpy as np

import supple
from supple import Frame
from supple.analysis import TwoLink

linkage = supple.models.planar2()
arm = TwoLink(linkage, "tip")
print(arm.annulus, f"\narea {arm.annulus.area:.0f} m²")

# one goal in each quadrant: both solutions, and the error by forward kinematics
print("\n   x    y     elbow positive        elbow negative       error")
for x, y in ((12, 7), (-12, 7), (-12, -7), (12, -7)):
    found = arm.solve([x, y, 0])
    one, two = (f"({a:6.3f}, {b:6.3f})" for a, b in found.q)
    print(f"{x:4} {y:4}     {one}      {two}      {found.distance:.0e} m")

# goals on the boundary and outside: the result is the nearest q
for point in ([0, 25, 0], [0, 26, 0], [1, 0, 0], [10, 0, 3]):
    found = arm.solve(point)
    print(f"\n{point}: inside {arm.annulus.contains(point)}, {arm.annulus.distance(point):.3g} m outside")
    print(f"  {found}")

# many goals: leading axes broadcast
points = np.random.default_rng(0).uniform(-25, 25, (100_000, 3)) * [1, 1, 0]
print(f"\n{arm.solve(points)}")

# any plane: shoulder and elbow of a UR5 on a tilted base, with the other joints locked
base = Frame.at([0.2, 0.1, 0.8]) @ Frame.turn([1, 1, 0], 0.6)
robot = supple.models.ur5().at(base).locked(["shoulder_pan_joint", "wrist_1_joint"])
wrist = TwoLink(robot, "wrist_1_link")
print(f"\n{wrist!r}, moved by {' and '.join(wrist.joints)}")
print(wrist.annulus)
goal = robot.frame(robot.rest, "wrist_1_link").position
found = wrist.solve(goal)
print(f"{found}; the arm was at {robot.rest[:2].round(4)}, the solutions are")
print(found.q[:, :2].round(4))

# a linkage that is not a two-link arm is refused with the reason
try:
    TwoLink(supple.models.panda(), "panda_link2")
except supple.BadInput as reason:
    print(f"\npanda_link2: {reason}")
