"""Retarget: a tall person's steps become those of a robot, whole and frame by frame."""

import numpy as np

from supple import Frame, Goal, models
from supple.animate import Retarget, Timeline

# a clip, made here from key goals; load_clip("walk.bvh") reads one
tall = models.human(1.9)
rest = tall.frames(tall.rest)
line = Timeline(tall).pose(0, tall.rest)
for link, begin in (("left_foot", 0.5), ("right_foot", 1.3)):
    foot = rest[link].position
    for time, way in ((0, [0, 0, 0]), (begin, [0, 0, 0]), (begin + 0.35, [0.15, 0, 0.1]), (begin + 0.7, [0.3, 0, 0])):
        line = line.goal(time, Goal(link, Frame.at(foot + way)), ease=time != begin + 0.35, blend=0)
    line = line.goal(2.5, Goal(link, Frame.at(np.add(foot, [0.3, 0, 0]))), blend=0)
for time, x in ((0, 0.0), (0.5, 0.0), (2.0, 0.3), (2.5, 0.3)):
    line = line.goal(time, Goal("pelvis", Frame.at(np.add(rest["pelvis"].position, [x, 0, -0.04]))), blend=0)
clip = line.motion(rate=60)
print(clip)

# whole: the feet of the robot do not slide, and its limits and speeds are kept
retarget = Retarget(tall, models.g1())
motion = retarget.motion(clip)
print(f"scale {retarget.scale:.2f}:", motion)
left = retarget.contacts(clip)["left"]
foot = motion.frame(motion.times, "left_ankle_roll_link").position
standing = foot[(left.heel & left.toe) & (motion.times < 0.4)]
print(f"the left foot slides by {1e3 * np.ptp(standing, axis=0).max():.2f} mm before its step")
motion.save("steps.npz")

# frame by frame, as poses arrive: each comes 0.05 s late, since the stream looks ahead
stream = retarget.stream(rate=60)
steps = [stream.step(q) for q in clip.q] + stream.finish()
poses = np.array([step.q for step in steps[stream.delay_frames :]])
away = np.abs(poses - motion.q)[:, 6:].mean()
print(f"the stream is {np.degrees(away):.1f} degrees away on average")
