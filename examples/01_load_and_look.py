"""Load a robot, print it, and compute the pose and the Jacobian of its end effector."""

import numpy as np

import supple

arm = supple.models.panda()  # or supple.load("robot.urdf")
print(arm)

# q has one value for each degree of freedom, in the order of arm.names
q = arm.q(panda_joint1=0.5, panda_joint4=-2.0)  # the others at rest
print("\nq", dict(zip(arm.names, q.round(3).tolist(), strict=True)))

tool = arm.frame(q, "panda_hand_tcp")
print("\nthe tool is at", tool)
print("as a quaternion, wxyz", tool.to_quaternion().round(4))

# rows: linear then angular velocity, in world axes; one column for each value of q
J = arm.jacobian(q, "panda_hand_tcp")
print("\nJacobian", J.shape)
print(J.round(3) + 0.0)

# the first joint rotates about the z axis of the world: v = z x p
expected = np.cross([0, 0, 1], tool.position)
print("first column minus z x p", f"{np.abs(J[:3, 0] - expected).max():.0e} m")
print("manipulability", f"{arm.manipulability(q, 'panda_hand_tcp'):.4f}")
print("reach", f"{arm.reach('panda_hand_tcp'):.3f} m from the shoulder")
