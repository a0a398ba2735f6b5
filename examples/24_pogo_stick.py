"""A pogo stick: a prismatic joint between the stick and its foot, on a base that rises and falls."""

import numpy as np

from supple import Capsule, Frame, Geometry, Joint, Link, Linkage, Motion

STICK, SPRING, GRAVITY, JUMP = 1.0, 0.3, 9.81, 0.8  # metres, m/s², and the seconds of one jump in the air
grey, red = (0.5, 0.5, 0.55, 1.0), (0.8, 0.3, 0.25, 1.0)
pogo = Linkage(
    "pogo",
    [
        Joint.prismatic("height", "ground", "stick", lower=0, upper=3),
        Joint.prismatic("spring", "stick", "foot", at=Frame.at([0, 0, -SPRING]), lower=-0.05, upper=SPRING),
    ],
    [
        Link("ground"),
        Link("stick", (Geometry(Capsule(0.04, STICK), Frame.at([0, 0, STICK / 2]), red),)),
        Link("foot", (Geometry(Capsule(0.025, SPRING), Frame.at([0, 0, SPRING / 2]), grey),)),
    ],
)
air = np.linspace(0, JUMP, 21)
rises = GRAVITY * air * (JUMP - air) / 2  # free flight, from the ground to the ground
down = np.linspace(0, 0.4, 15)[1:-1]
speed = GRAVITY * JUMP / 2  # the spring takes it up like half a sine
sinks = speed * 0.4 / np.pi * np.sin(np.pi * down / 0.4)
sinks *= min(1.0, 0.9 * SPRING / sinks.max())
times, height = np.append(air, JUMP + down), np.append(SPRING + rises, SPRING - sinks)
jump = Motion(pogo, times, np.stack([height, np.maximum(SPRING - height, 0)], axis=-1))
print(pogo, jump, f"foot: {jump.frame(times, 'foot').position[:, 2].round(2) + 0.0}", sep="\n")
