"""Key poses and key goals: a figure raises an arm, reaches with the other hand, and its elbow points outward."""

import numpy as np

from supple import Goal, models, solve
from supple.animate import Timeline, blend

human = models.human()
hand = human.frame(human.rest, "right_hand").position
shelf = np.add(hand, [0.35, 0.1, 0.55])

# key poses: joints ease in and out; only the left arm is keyed at 1 s
wave = human.q(left_elbow=1.6, left_shoulder=[0, 0, 1.0])
line = Timeline(human).pose(0, human.rest).pose(3, human.rest)
line = line.pose(1, wave, joints=["left_elbow", "left_shoulder"])

# key goals: from 1 s to 2 s the right hand follows a path; it moves what hangs on the chest
line = line.goal(1.0, Goal("right_hand", position=np.add(hand, [0.2, 0, 0.2])), base="chest")
line = line.goal(1.6, Goal("right_hand", position=shelf), base="chest")
line = line.goal(2.0, Goal("right_hand", position=shelf), base="chest")

motion = line.motion(rate=60)
print(motion)
print(
    "the hand misses the shelf by", f"{1e3 * np.linalg.norm(motion.frame(1.6, 'right_hand').position - shelf):.2f} mm"
)

# a pole: the same reach with the elbow up, and with the elbow down
feet = [Goal(f"{side}_foot", human.frame(human.rest, f"{side}_foot")) for side in ("left", "right")]
for name, height in (("up", 0.5), ("down", -0.5)):
    pole = Goal("right_hand", pole=np.add(shelf, [-0.2, -0.4, height]))
    found = solve(human, [*feet, Goal("right_hand", position=shelf), pole], human.rest)
    elbow = human.frame(found.q, "right_forearm").position
    print(f"elbow {name}: {elbow[2]:.2f} m high, {found.outcome.name.lower()}")

# between a keyed pose and a solved one, limb by limb
half = blend(human, human.rest, found.q, {"chest": 0.5})
print("half way:", f"{human.frame(half, 'right_hand').position[2]:.2f} m")
motion.save("reach.glb")  # opens in any viewer
