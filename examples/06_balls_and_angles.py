"""A shoulder as a ball joint and as three revolutes: the same turns, but only one of them locks up."""

import numpy as np

from supple import Frame, Joint, Linkage

elbow = Joint.fixed("elbow", "arm", "hand", at=Frame.at([0.3, 0, 0]))
ball = Linkage("ball", [Joint.ball("shoulder", "torso", "arm"), elbow])
three = Linkage("three", [*Joint.ball_from_revolutes("shoulder", "torso", "arm", order="zyx"), elbow])
print(ball)
print(three)

# the same turn, written both ways: Euler angles for the three, a rotation vector for the ball
angles = np.array([0.4, 1.1, -0.7])
turn = Frame.euler("zyx", angles)
hand = three.frame(angles, "hand")
same = ball.frame(turn.to_rotvec(), "hand")
print(f"\nthe hand is at {hand.position.round(4)}; the ball puts it {np.abs(hand.matrix - same.matrix).max():.0e} away")
print("euler zyx ", turn.to_euler("zyx").round(4), "rad")
print("fixed xyz ", turn.to_fixed("xyz").round(4), "rad: the same, read backwards")
print("quaternion", turn.to_quaternion().round(4), "w first")

# gimbal lock: at a middle angle of 90° the first and last axes are one, and a direction of turning is gone
print("\nmiddle angle   freedom of three   freedom of ball   joint speed for 1 rad/s")
for degrees in (0, 45, 80, 89, 89.9, 90):
    euler = np.array([0.0, np.radians(degrees), 0.0])
    J3 = three.jacobian(euler, "hand")[3:]
    Jb = ball.jacobian(Frame.euler("zyx", euler).to_rotvec(), "hand")[3:]
    worst = np.linalg.svd(J3, compute_uv=False)[-1]
    speed = f"{1 / worst:8.1f} rad/s" if worst > 1e-12 else "     out of all bounds"
    print(f"{degrees:>10}°   {abs(np.linalg.det(J3)):16.6f}   {abs(np.linalg.det(Jb)):15.6f}   {speed}")

# a ball turns on and on about its own axes: steps compose on the group
q = np.zeros(3)
for _ in range(1000):
    q = ball.integrate(q, [0, 0.01, 0])  # ten radians in all, through every "lock" on the way
expected = Frame.turn([0, 1, 0], 10.0).to_rotvec()
print(f"\nafter 1,000 steps: {q.round(6) + 0.0}, {np.abs(q - expected).max():.0e} from one turn of 10 rad")
back = ball.difference(q, [0.1, 0.2, 0.3])
print(f"difference undoes integrate to {np.abs(ball.integrate(q, back) - [0.1, 0.2, 0.3]).max():.0e}")
