"""The numbers of the chapter's figures come out of the core and of the oracle alike."""

import numpy as np
import pytest

import oracle_solve as oracle
from supple import Goal, Solver, _core, method, models, prefer

FREE = {"keep_limits": False, "max_step": 1e9}
SETS = _core.instruction_sets()


START = np.array([np.pi / 8, np.pi / 4, np.pi / 4])
ARM = models.planar3()


def flat(x, y):
    return Goal("tip", position=[x, y, 0], weight=(1, 1, 0))


def native(**how):
    solver = Solver(**({"method": method.damped()} | FREE | how), limit_escapes=0)
    return lambda goal, q: solver.step(ARM, goal, q)


def by_oracle(way, *more, pull=False, wish=None):
    def step(goal, q):
        e, J = oracle.look(ARM, [goal], q, pull)
        wished = {"v": -np.multiply(wish, q)} if wish else {}
        return oracle.integrate(ARM, q, way(e, J, *more, **wished))

    return step


def twins(way, more=(), pull=False, wish=None, **how):
    """The same step, by the core and by the oracle."""
    if wish:
        how["prefer"] = prefer.rest([0, 0, 0], wish)
    return [native(**how), by_oracle(way, *more, pull=pull, wish=wish)]


PLAIN = twins(oracle.pseudoinverse, method=method.pseudoinverse())
DAMPED = twins(oracle.damped, (25,), damping=25)
PULLED = twins(oracle.pseudoinverse, pull=True, method=method.alternative_jacobian(), damping=0)


def follow(step, x, y, inner=1):
    """All q (21, 3) of a sequence of 21 frames whose goal moves evenly to (x, y)."""
    q, rows, begin = START, [START], ARM.frame(START, "tip").position[:2]
    for k in range(1, 21):
        goal = flat(*(begin + (np.array([x, y]) - begin) * k / 20))
        for _ in range(inner):
            q = step(goal, q)
        rows.append(q)
    return np.array(rows)


def away(q, x, y):
    return np.linalg.norm(ARM.frame(q, "tip").position[:2] - [x, y])


@pytest.mark.parametrize("who", [0, 1], ids=["native", "oracle"])
@pytest.mark.parametrize("name", SETS)
def test_the_numbers_of_the_figures_come_out(who, name):
    _core.use(name)
    assert away(follow(PLAIN[who], -20, 5)[-1], -20, 5) == pytest.approx(0.095, abs=5e-4)  # figure 5.20
    assert away(follow(DAMPED[who], -20, 5)[-1], -20, 5) == pytest.approx(0.439, abs=5e-4)
    assert away(follow(PULLED[who], -20, 5)[-1], -20, 5) == pytest.approx(0.216, abs=5e-4)  # figure 5.23
    for step, largest in ((PLAIN, 1.359), (DAMPED, 0.304)):  # figure 5.21
        assert np.abs(np.diff(follow(step[who], -35, 5), axis=0)).max() == pytest.approx(largest, abs=5e-4)


@pytest.mark.parametrize("who", [0, 1], ids=["native", "oracle"])
def test_a_preferred_joint_stays_straighter(who):  # figure 5.22
    stiff_2, stiff_3 = (
        follow(twins(oracle.pseudoinverse, wish=gain, method=method.pseudoinverse())[who], -20, 5)[-1]
        for gain in ([0.1, 0.5, 0.1], [0.1, 0.1, 0.5])
    )
    assert stiff_2[1:] == pytest.approx([0.97, 1.43], abs=5e-3)
    assert stiff_3[1:] == pytest.approx([1.62, 0.04], abs=5e-3)
    assert follow(PLAIN[who], -20, 5)[-1][1:] == pytest.approx([1.371, 0.659], abs=5e-4)


@pytest.mark.parametrize("who", [0, 1], ids=["native", "oracle"])
def test_damped_and_held_out_of_reach_the_arm_comes_to_rest_at_its_boundary(who):
    q = START
    for _ in range(2000):
        q, before = DAMPED[who](flat(-35, 5), q), q
        if np.abs(q - before).max() < 1e-12:
            break
    else:
        pytest.fail("it did not come to rest")
    assert away(q, -35, 5) == pytest.approx(np.hypot(35, 5) - 30, abs=1e-9)
    assert away(q, -35, 5) == pytest.approx(5.355, abs=5e-4)
    # with too little damping it never does
    lively = twins(oracle.damped, (1,), damping=1)[who]
    for _ in range(300):
        q = lively(flat(-35, 5), q)
    assert np.abs(lively(flat(-35, 5), q) - q).max() > 0.01


@pytest.mark.parametrize("who", [0, 1], ids=["native", "oracle"])
def test_the_scale_of_the_transpose_decides(who):  # figure 5.24
    bold, meek, best = (
        twins(oracle.transpose, (scale,), method=method.transpose(scale))[who] for scale in (0.1, 0.003, None)
    )
    # a scale of 0.1 diverges, and where it ends rounding decides: it is thrown about
    thrown = [away(q, -20, 5) for q in follow(bold, -20, 5)]
    assert thrown[9] == pytest.approx(18.57, abs=0.01)
    assert max(thrown[10:]) > 30
    assert away(follow(meek, -20, 5, inner=10)[-1], -20, 5) == pytest.approx(0.04, abs=5e-3)
    assert away(follow(best, -20, 5)[-1], -20, 5) < 1


def test_both_tell_the_same_story_frame_by_frame():
    scaled = twins(oracle.transpose, (0.003,), method=method.transpose(0.003))
    for core, slow in (PLAIN, DAMPED, PULLED, scaled):
        assert np.abs(follow(core, -20, 5) - follow(slow, -20, 5)).max() < 1e-9
