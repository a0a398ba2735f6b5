"""The sun, the earth and the moon: each turns relative to the one above it, and only an angle each is given."""

import numpy as np

from supple import Frame, Geometry, Joint, Link, Linkage, Motion, Sphere

YEAR, MONTH = 10.0, 10.0 * 27.3 / 365.25  # seconds of the animation; distances and sizes are not to scale
system = Linkage(
    "system",
    [
        Joint.continuous("year", "sun", "around_sun"),
        Joint.fixed("orbit", "around_sun", "earth", at=Frame.at([1.0, 0, 0])),
        Joint.continuous("month", "earth", "around_earth"),
        Joint.fixed("moon_orbit", "around_earth", "moon", at=Frame.at([0.25, 0, 0])),
    ],
    [
        Link("sun", (Geometry(Sphere(0.2), colour=(1.0, 0.8, 0.2, 1)),)),
        *(Link("around_sun"), Link("around_earth")),
        Link("earth", (Geometry(Sphere(0.08), colour=(0.2, 0.4, 0.9, 1)),)),
        Link("moon", (Geometry(Sphere(0.03), colour=(0.7, 0.7, 0.7, 1)),)),
    ],
)
print(system)
turns = 2 * np.pi * YEAR * np.array([1 / YEAR, 1 / MONTH - 1 / YEAR])  # the month is counted from the turning earth
motion = Motion(system, [0, YEAR], [[0, 0], turns])
t = np.linspace(0, YEAR, 7)
print("moon at", *(f"({x:.2f}, {y:.2f})" for x, y, _ in motion.frame(t, "moon").position))
motion.save("system.glb", rate=30)  # opens in any viewer of glTF
