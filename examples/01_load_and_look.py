"""Take a robot from the box, print it, and ask where its hand is and how each joint moves it."""

import numpy as np

import supple

arm = supple.models.panda()  # or supple.load("robot.urdf")
print(arm)

# q is one value for each degree of freedom; the names say which is which
q = arm.q(panda_joint1=0.5, panda_joint4=-2.0)  # the others at rest
print("\nq", dict(zip(arm.names, q.round(3).tolist(), strict=True)))

hand = arm.frame(q, "panda_hand_tcp")
print("\nthe hand is a", hand)
print("as a quaternion, w first", hand.to_quaternion().round(4))

# rows: linear velocity, then angular, in the world's axes; a column for each value of q
J = arm.jacobian(q, "panda_hand_tcp")
print("\nJacobian", J.shape)
print(J.round(3) + 0.0)

# the first joint turns the hand about the world's z: across the line from the base, as fast as it is far
across = np.cross([0, 0, 1], hand.position)
print("first column is what geometry says to", f"{np.abs(J[:3, 0] - across).max():.0e} m")
print("manipulability", f"{arm.manipulability(q, 'panda_hand_tcp'):.4f}")
print("reach", f"{arm.reach('panda_hand_tcp'):.3f} m from the shoulder")
