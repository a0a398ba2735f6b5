"""A shoulder as a ball joint and as three revolute joints: only the latter has gimbal lock."""

import numpy as np

from supple import Frame, Joint, Linkage

elbow = Joint.fixed("elbow", "arm", "tip", at=Frame.at([0.3, 0, 0]))
ball = Linkage("ball", [Joint.ball("shoulder", "torso", "arm"), elbow])
three = Linkage("three", [*Joint.ball_from_revolutes("shoulder", "torso", "arm", order="zyx"), elbow])
print(ball)
print(three)

# the same rotation: Euler angles for three joints, a rotation vector for the ball joint
angles = np.array([0.4, 1.1, -0.7])
rotation = Frame.euler("zyx", angles)
tip = three.frame(angles, "tip")
same = ball.frame(rotation.to_rotvec(), "tip")
print(f"\nthe tip is at {tip.position.round(4)}; with the ball joint {np.abs(tip.matrix - same.matrix).max():.0e} away")
print("euler zyx ", rotation.to_euler("zyx").round(4), "rad")
print("fixed xyz ", rotation.to_fixed("xyz").round(4), "rad")
print("quaternion", rotation.to_quaternion().round(4), "wxyz")

# gimbal lock: at a middle angle of 90° the first and last axes are parallel, and the rank is 2
print("\nmiddle angle   |det J|, three     |det J|, ball     joint speed for 1 rad/s")
for degrees in (0, 45, 80, 89, 89.9, 90):
    euler = np.array([0.0, np.radians(degrees), 0.0])
    J3 = three.jacobian(euler, "tip")[3:]
    Jb = ball.jacobian(Frame.euler("zyx", euler).to_rotvec(), "tip")[3:]
    worst = np.linalg.svd(J3, compute_uv=False)[-1]
    speed = f"{1 / worst:8.1f} rad/s" if worst > 1e-12 else "infinite".rjust(14)
    print(f"{degrees:>10}°   {abs(np.linalg.det(J3)):16.6f}   {abs(np.linalg.det(Jb)):15.6f}   {speed}")

# steps of a ball joint compose as rotations
q = np.zeros(3)
for _ in range(1000):
    q = ball.integrate(q, [0, 0.01, 0])  # ten radians in all
expected = Frame.turn([0, 1, 0], 10.0).to_rotvec()
print(f"\nafter 1,000 steps: {q.round(6) + 0.0}, {np.abs(q - expected).max():.0e} from one rotation by 10 rad")
back = ball.difference(q, [0.1, 0.2, 0.3])
print(f"integrate(q, difference(q, p)) - p = {np.abs(ball.integrate(q, back) - [0.1, 0.2, 0.3]).max():.0e}")
