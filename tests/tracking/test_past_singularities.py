"""Commands past singularities that the joints can follow are followed, and smoothly."""

import numpy as np
import pytest

from supple import Frame, Joint, Linkage, Solver, gauntlet, models
from supple.gauntlet.arms import arm_from_linkage

RATE = 300
U = np.linspace(0, 1, 3 * RATE)
MOTION = U**3 * (10 + U * (6 * U - 15))  # 0 to 1 in 3 s, at rest at both ends


def random_arm(rng: np.random.Generator, count: int) -> Linkage:
    joints, last = [], "base"
    for i in range(count):
        at = Frame.at(rng.uniform(-0.35, 0.35, 3) * (rng.random(3) < 0.6))
        axis = np.eye(3)[rng.integers(3)]
        joints.append(Joint.revolute(f"j{i}", last, f"l{i}", at=at, axis=axis, lower=-2.9, upper=2.9, speed=3.0))
        last = f"l{i}"
    return Linkage("random", [*joints, Joint.fixed("end", last, "tool", at=Frame.at(rng.uniform(-0.15, 0.15, 3)))])


def past_a_singularity(seed: int, count: int = 6) -> tuple[Linkage, np.ndarray] | None:
    """A random arm and joint values (ticks, count) that pass a singularity at a distance of 0.04 to 0.1."""
    rng = np.random.default_rng([5, seed])
    arm = random_arm(rng, count)
    known = arm_from_linkage(arm, "tool")
    start, way, bend = (rng.uniform(-x, x, (60, count)) for x in (2.0, 1.2, 0.5))
    u = np.linspace(0, 1, 21)[:, None]
    for a, b, c in zip(start, way, bend, strict=True):
        smallest = known.singular_values(a + u * b + 4 * u * (1 - u) * c)[:, -1]
        if 0.04 < smallest.min() < 0.1 and 5 < smallest.argmin() < 15:
            s = MOTION[:, None]
            return arm, a + s * b + 4 * s * (1 - s) * c
    return None


def followed(arm: Linkage, q: np.ndarray) -> tuple[float, float]:
    """The largest error in mm and the jerk, rms in rad/s3, of a tracker that follows the frames at q."""
    frames = arm.frame(q, "tool")
    found, _ = Solver().track(arm, "tool", start=q[0], acceleration=15.0).replay(frames, 1 / RATE)
    error = np.linalg.norm(arm.frame(found, "tool").position - frames.position, axis=-1)
    return float(1e3 * error.max()), float(np.sqrt((np.diff(found, n=3, axis=0) ** 2).mean()) * RATE**3)


@pytest.mark.parametrize("seed", [1, 3, 7, 31, 33])
def test_an_arm_that_leaves_a_singularity_is_not_held_off_its_command(seed):
    case = past_a_singularity(seed)
    assert case is not None
    error, _ = followed(*case)
    assert error < 0.3


def test_what_the_joints_can_follow_past_singularities_is_followed_smoothly():
    cases = [case for seed in range(40) if (case := past_a_singularity(seed))]
    assert len(cases) > 15
    error, jerk = np.array([followed(arm, q) for arm, q in cases]).T
    assert np.median(error) < 0.3
    assert (error > 1).sum() <= 5
    assert np.exp(np.log(jerk).mean()) < 60


def test_an_arm_with_a_null_space_is_not_held_off_its_command_past_singularities():
    cases = [case for seed in range(200, 240) if (case := past_a_singularity(seed, count=7))]
    assert len(cases) > 15
    error, jerk = np.array([followed(arm, q) for arm, q in cases]).T
    assert np.median(error) < 0.004
    assert (error > 1).sum() <= 4
    assert np.exp(np.log(jerk).mean()) < 42


def circled(arm: Linkage, start: list[float], centre: list[float], normal: list[float], speed: float) -> float:
    """The largest error in mm on a circle at constant orientation, once about a centre, given from where it starts."""
    q, out, axis = np.array(start), np.array(centre), np.array(normal) / np.linalg.norm(normal)
    out = out - (out @ axis) * axis
    radius, begin = np.linalg.norm(out), arm.frame(q, "tool0").matrix
    ticks = round((2 * np.pi * radius / speed + 1) * RATE)
    faster = np.minimum(np.arange(ticks) / RATE, 1)
    angle = np.cumsum(faster**3 * (10 + faster * (6 * faster - 15))) / RATE * speed / radius
    frames = np.tile(begin, (ticks, 1, 1))
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    frames[:, :3, 3] += out - cos * out - sin * np.cross(axis, out)
    found, _ = Solver().track(arm, "tool0", start=q, acceleration=15.0).replay(frames, 1 / RATE)
    return float(1e3 * np.linalg.norm(arm.frame(found, "tool0").position - frames[:, :3, 3], axis=-1).max())


def test_a_slow_circle_past_a_wrist_is_not_left_for_a_better_posture():
    """A null space that climbs fast overshoots: the arm swings, and misses its command by centimetres."""
    start = [1.516231, 0.367229, 0.32343, 1.660514, -1.921191, -0.606115, -0.552367]
    centre, normal = [-0.106565, -0.05319, 0.050812], [0.18989, 0.452104, 0.871518]
    assert circled(models.iiwa14(), start, centre, normal, 0.05) < 1


def test_a_circle_that_touches_a_wrist_singularity_is_not_left_for_the_remembered_posture():
    start, centre = [1.249867, 1.448442, 2.5195, -0.826349, 0.655606, 0.266557], [0.05359, 0.005742, 0.077967]
    assert circled(models.ur5(), start, centre, [-0.374831, 0.907241, 0.190829], 0.2) < 2


def through(arm: str, key: str) -> tuple[np.ndarray, np.ndarray]:
    """The accelerations (ticks, dof) and the reported damping (ticks,) of a hazard that leads through a singularity."""
    hazard = next(each for each in gauntlet.hazards(arm) if each.key.startswith(key))
    loop = gauntlet.tracked()(hazard.arm, 1 / RATE)
    loop.reset(hazard.start)
    steps = [loop.tracker.step(frame, 1 / RATE) for frame in hazard.frames(RATE)]
    q = np.array([hazard.start] * 2 + [step.q for step in steps])
    return np.diff(q, n=2, axis=0) * RATE**2, np.array([step.damping for step in steps])


def test_the_null_space_goes_on_where_another_singular_value_vanishes():
    """Shoulder and wrist of an iiwa are singular at once in a tick: which direction is null is then rounding."""
    acceleration, _ = through("iiwa14", "s2")
    assert np.abs(acceleration).max() < 3


def test_the_null_space_does_not_lead_along_a_fold():
    """Joints 3 and 5 turn the elbow of an iiwa about its straight arm."""
    acceleration, _ = through("iiwa14", "s3")
    assert np.abs(acceleration[:, [2, 4]]).max() < 12


@pytest.mark.parametrize("arm", ["iiwa14", "puma560"])
def test_damping_does_not_vanish_where_the_command_turns_back(arm):
    _, damping = through(arm, "s3")
    assert damping.max() > 1e-3
    assert np.diff(damping).min() > -0.15 * damping.max()
