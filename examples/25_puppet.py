"""A puppet with two arms: the left hand waves by its angles, the right hand follows a circle by inverse kinematics."""

import numpy as np

from supple import Goal, GoalPath, Motion, models, solve_path

puppet = models.puppet()
print(puppet)

# forward kinematics: angles are given, and both arms hang from the same root
wave = [puppet.q(left_shoulder=1.6, left_elbow=angle) for angle in (0.3, 1.3, 0.3, 1.3, 0.3)]
waving = Motion(puppet, np.linspace(0, 2, 5), wave)
print("left hand", *(f"({y:.2f}, {z:.2f})" for _, y, z in waving.frame(waving.times, "left_hand").position))

# inverse kinematics: the right hand goes around, and the left hand stays where it is
hand = puppet.frame(puppet.rest, "right_hand").position
centre = hand + np.array([0, 0.04, 0])
circle = GoalPath.circle(hand, centre, [1, 0, 0], 2 * np.pi)
hold = Goal("left_hand", position=puppet.frame(puppet.rest, "left_hand").position)
done = solve_path(puppet, [circle.goal("right_hand", 61), hold], duration=2)
print(done)
print(f"right hand at most {1e6 * done.distance[:, 0].max():.1g} µm from the circle")
done.motion.save("puppet.glb")  # body and arms, in any viewer of glTF
