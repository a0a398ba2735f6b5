"""Two links in closed form: both elbows, the ring they reach, and what happens outside it."""

import numpy as np

import supple
from supple import Frame
from supple.analysis import TwoLink

linkage = supple.models.planar2()
arm = TwoLink(linkage, "tip")
print(arm.annulus, f"\narea {arm.annulus.area:.0f} m²")

# one goal in each quadrant: both answers, checked by moving forward again
print("\n   x    y     elbow one way         the other way        miss")
for x, y in ((12, 7), (-12, 7), (-12, -7), (12, -7)):
    found = arm.solve([x, y, 0])
    one, two = (f"({a:6.3f}, {b:6.3f})" for a, b in found.q)
    print(f"{x:4} {y:4}     {one}      {two}      {found.distance:.0e} m")

# the annulus can be asked without solving; not arriving is a result, with the nearest q
for point in ([0, 25, 0], [0, 26, 0], [1, 0, 0], [10, 0, 3]):
    found = arm.solve(point)
    print(f"\n{point}: contained {arm.annulus.contains(point)}, {arm.annulus.distance(point):.3g} m outside")
    print(f"  {found}")

# many at once: leading axes broadcast
points = np.random.default_rng(0).uniform(-25, 25, (100_000, 3)) * [1, 1, 0]
print(f"\n{arm.solve(points)}")

# any plane in space: shoulder lift and elbow of a UR5 on a tilted stand, its other joints locked
stand = Frame.at([0.2, 0.1, 0.8]) @ Frame.turn([1, 1, 0], 0.6)
robot = supple.models.ur5().at(stand).locked(["shoulder_pan_joint", "wrist_1_joint"])
wrist = TwoLink(robot, "wrist_1_link")
print(f"\n{wrist!r}, moved by {' and '.join(wrist.joints)}")
print(wrist.annulus)
goal = robot.frame(robot.rest, "wrist_1_link").position
found = wrist.solve(goal)
print(f"{found}; the arm was at {robot.rest[:2].round(4)}, the answers are")
print(found.q[:, :2].round(4))

# what is no two-link arm says why
try:
    TwoLink(supple.models.panda(), "panda_link2")
except supple.BadInput as reason:
    print(f"\npanda_link2: {reason}")
