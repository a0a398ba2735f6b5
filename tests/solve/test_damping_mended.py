"""Laws of damping at work: what mending the paper buys, the paper to its letter, and solving with schemes."""

import math

import numpy as np
import pytest

import oracle_damping as oracle
from damping_cases import DT, ENDS, planned
from supple import Goal, Joint, Linkage, Solver, damping, method, models
from supple._solve import compilation
from supple.damping import Singularity

# -- what mending buys ------------------------------------------------------------------------------------------


def held(scheme, q, ticks):
    """Damping and weights while a straightish arm stands still."""
    arm = models.planar3()
    _, tick = planned(arm, [Goal("tip", arm.frame(q, "tip"), turn_weight=(0, 0, 1))], scheme)
    return [tick(np.asarray(q))[1] for _ in range(ticks)]


def test_conditioning_alternates_as_printed_and_settles_as_mended():
    singular = [0.2, 1e-6, 1e-6]
    printed = np.array(held(damping.mayorga(1e-2, 1e3, as_printed=True), singular, 40))
    assert printed[1::2].min() > 1e6 * 1e-2
    assert printed[2::2].max() < 1e-9 * printed.max()
    mended = np.array(held(damping.mayorga(1e-2, 1e3), singular, 40))
    assert np.ptp(mended) == 0
    assert 0 < mended[0] <= 1e-2


@pytest.mark.parametrize("seed", range(30))
def test_conditioning_as_printed_is_the_oracles(seed):
    rng = np.random.default_rng(seed)
    arm, end = models.ur5(), "tool0"
    q = arm.rest + 0.2 * rng.normal(size=6)
    goals, scheme = [Goal(end, arm.frame(arm.rest, end))], oracle.Conditioning(1e-4, 1e3, printed=True)
    plan, tick = planned(arm, goals, damping.mayorga(1e-4, 1e3, as_printed=True))
    alphas = []
    for _ in range(20):
        q = q + 0.05 * rng.normal(size=6)
        e, J = plan.evaluate(q, goals[0]._encoded(())[None], False)[:2]
        alpha, w, _ = oracle.merge([scheme], q, e, J, range(6), 6, DT)
        dq, got, _ = tick(q)
        assert got == pytest.approx(alpha, rel=1e-10)
        assert dq == pytest.approx(oracle.step(e, J, w, alpha), abs=1e-10)
        alphas.append(alpha)
    assert max(alphas) > 0


@pytest.mark.parametrize("printed", [True, False])
def test_named_singularities_have_no_kink_unless_printed(printed):
    arm, h = models.planar3(), 1e-6
    named = Singularity.bend("joint2", region=0.5, joints=["joint2"], weight=0.2)
    scheme = damping.singularities(named, alpha0=1.0, as_printed=printed)
    _, tick = planned(arm, [Goal("tip", position=[10, 5, 0])], scheme)
    inside, edge = (tick(np.array([0.3, x, 0.4])) for x in (0.5 - h, 0.5))
    slope, weight_slope = (edge[1] - inside[1]) / h, (edge[2][1] - inside[2][1]) / h
    assert edge[1] == 0
    assert edge[2][1] == 1
    assert slope == pytest.approx(-4 if printed else 0, abs=1e-4)
    assert weight_slope == pytest.approx(1.6 if printed else 0, abs=1e-4)
    at = tick(np.array([0.3, 0.0, 0.4]))
    assert at[1] == 1
    assert at[2] == pytest.approx([1, 0.2, 1])


def test_inside_a_singularity_is_at_it():
    arm = models.planar3()
    for printed in (True, False):
        named = Singularity.function(lambda q: -0.3, region=0.5, joints=["joint2"], weight=0.2)
        scheme = damping.singularities(named, as_printed=printed)
        _, alpha, weights = planned(arm, [Goal("tip", position=[10, 5, 0])], scheme)[1](arm.rest)
        assert alpha == 1e-2
        assert weights == pytest.approx([1, 0.2, 1])


SLIDER = Linkage(
    "one", [Joint.revolute("a", "base", "l", lower=-1, upper=1), Joint.revolute("b", "l", "tip", lower=-2, upper=2)]
)
TURN = [Goal("tip", orientation=SLIDER.frame([0.0, 0.0], "tip"), turn_weight=(0, 0, 1))]


def turned(angle):
    """The goal's numbers for that turn about z."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, s, c, 0, 0, 0, 1, 0, 0, 0]])


def ramped(scheme, wishes, q=-1.0, dt=DT):
    """Weights of a joint at its low limit while a wish pushes it, tick by tick; then where it ends."""
    plan = compilation.compiled(SLIDER, TURN, Solver(method=method.damped(), damping=scheme, keep_limits=False))
    memory, weights, q = plan.memory(), [], np.array([q, 0.0])
    for wish in wishes:
        dq, _, w = plan.tick(q, turned(q[0] + q[1] + wish * dt), dt, memory)
        q = np.array([np.clip(q[0] + dq[0], -1, 1), 0.0])
        weights.append(w[0])
    return np.array(weights), q[0]


def test_a_joint_that_rests_on_its_low_limit_is_protected_unless_printed():
    printed, _ = ramped(damping.limits(as_printed=True), [0.0] * 100)
    assert (printed == 1).all()  # it counts as moving up
    mended, _ = ramped(damping.limits(), [0.0] * 100)
    assert mended[-1] == pytest.approx(0.01)


@pytest.mark.parametrize("scheme", [damping.limits(), damping.limits(as_printed=True)])
def test_a_joint_leaves_its_limit_when_it_is_asked_to(scheme):
    _, held = ramped(scheme, [-0.5] * 200)
    assert held == -1
    weights, end = ramped(scheme, [-0.5] * 200 + [0.5] * 400)
    assert end > -0.7
    assert weights[-1] == 1


def test_a_ramp_never_jumps_nor_turns_negative_unless_printed():
    rng = np.random.default_rng(0)
    places = np.cumsum(0.05 * rng.choice([-1, 1], 5000)) % 3.4 - 1.7
    ways = rng.choice([-0.1, 0.1], 5000)
    places[:200], ways[:200] = -1.3, -0.1  # beyond the limit, and on
    for printed in (False, True):
        _, tick = planned(SLIDER, TURN, damping.limits(as_printed=printed))
        weights = [tick(np.array([q, 0.0]), turned(q + way))[2][0] for q, way in zip(places, ways, strict=True)]
        if printed:
            assert np.diff(weights).max() > 0.1
            assert np.min(weights) < -0.1  # and squared it lets the joint move again
        else:
            assert np.min(weights) == pytest.approx(0.01)
            assert np.abs(np.diff(weights)).max() < 1.5 * 0.02 + 1e-12  # the steepest of a smooth step


def test_ramps_take_the_same_time_at_any_rate():
    found = []
    for rate in (100, 300, 1000):
        weights, _ = ramped(damping.limits(), [-0.5] * int(0.1 * rate), dt=1 / rate)
        found.append(weights[-1])
    assert found == pytest.approx([found[0]] * 3, abs=1e-9)
    assert 0.01 < found[0] < 0.9


def test_tiny_changes_outward_are_discarded_at_a_limit_and_others_are_not():
    for tiny, q, wish, moves in (
        (0.01, -1.0, -1e-3, False),
        (0.0, -1.0, -1e-3, True),
        (0.01, -1.0, 1e-3, True),
        (0.01, -0.99, -1e-3, True),
        (0.01, -1.0, -10.0, True),
        (0.01, 1.0, 1e-3, False),
    ):
        _, tick = planned(SLIDER, TURN, damping.limits(tiny=tiny))
        dq = tick(np.array([q, 0.0]), turned(q + wish * DT))[0]
        assert (dq[0] != 0) == moves
        assert dq[1] != 0


def test_falling_damps_on_the_way_in_only():
    arm = models.planar3()
    _, tick = planned(arm, [Goal("tip", position=[10, 5, 0], weight=(1, 1, 0))], damping.kelmar_khosla())
    bends = np.concatenate([np.linspace(1.2, 0.0, 300), np.linspace(0.0, 1.2, 300)])
    alphas = np.array([tick(np.array([0.3, bend, bend]))[1] for bend in bends])
    assert alphas[0] == 0
    assert alphas[260:299].min() > 0
    assert (alphas[301:] == 0).all()


# -- W_x, and the whole ------------------------------------------------------------------------------------------


def test_the_goals_weights_may_change_from_tick_to_tick():
    arm, end, rng = models.puma560(), "tool", np.random.default_rng(2)
    frame, scheme = arm.frame(arm.rest, end), damping.schinstock() | damping.kelmar_khosla() | damping.mayorga()
    template = Goal(end, frame, weight=0.7, turn_weight=(2.0, 0.5, 1.0))
    plan, tick = planned(arm, [template], scheme)
    shared = plan.memory()
    q = arm.rest
    for _ in range(50):
        q = q + 0.05 * rng.normal(size=6)
        place, turn = rng.uniform(0.5, 3, (2, 3))
        goal = Goal(end, frame, weight=place, turn_weight=turn)
        other = compilation.compiled(arm, [goal], Solver(method=method.damped(), damping=scheme, keep_limits=False))
        wanted = other.tick(q, goal._encoded(())[None], DT, shared)  # a memory fits plans that differ in weights alone
        got = tick(q, template._encoded(())[None], rows=np.concatenate([place, turn]))
        assert got[0] == pytest.approx(wanted[0], abs=1e-12)
        assert got[1] == pytest.approx(wanted[1], abs=1e-14)
        assert got[2] == pytest.approx(wanted[2], abs=1e-14)


def _ur5(q):
    frames = models.ur5().frames(q)
    p = frames["wrist_3_link"].position
    return (
        (abs(math.sin(q[4])), 0.30, (1, 2, 3, 5)),
        (abs(math.sin(q[2])), 0.30, (1, 2, 3)),
        (math.sqrt(max(p[0] ** 2 + p[1] ** 2 - 0.10915**2, 0)), 0.12, (0,)),
    )


def _puma(q):
    p = models.puma560().frame(q, "link5").position
    return (
        (abs(q[4]), 0.30, (3, 5)),
        (abs(q[2] - 1.61768), 0.30, (1, 2)),
        (math.sqrt(max(p[0] ** 2 + p[1] ** 2 - 0.14909**2, 0)), 0.12, (0,)),
    )


def _names(arm, *columns):
    return [[joint.name for joint in arm.joints if joint.dof][i] for i in columns]


@pytest.mark.parametrize("name", ["ur5", "puma560", "panda"])
@pytest.mark.parametrize("dt", [1 / 300, 1 / 1000])
def test_the_paper_as_printed_takes_the_oracles_steps(name, dt):
    arm, end, rng = models.get(name), ENDS[name], np.random.default_rng(9)
    if name == "panda":
        arm = arm.locked(["panda_finger_joint1"])
    j = _names(arm, *range(arm.dof))
    near, named = None, []
    if name == "ur5":
        near, named = (
            _ur5,
            [
                Singularity.sine(j[4], joints=_names(arm, 1, 2, 3, 5)),
                Singularity.sine(j[2], joints=_names(arm, 1, 2, 3)),
                Singularity.off_axis(j[0], "wrist_3_link", radius=0.10915, region=0.12, joints=j[:1]),
            ],
        )
    elif name == "puma560":
        near, named = (
            _puma,
            [
                Singularity.bend(j[4], joints=_names(arm, 3, 5)),
                Singularity.bend(j[2], 1.61768, joints=_names(arm, 1, 2)),
                Singularity.off_axis(j[0], "link5", radius=0.14909, region=0.12, joints=j[:1]),
            ],
        )
    template = Goal(end, arm.frame(arm.rest, end))
    scheme = damping.schinstock(named, as_printed=True)
    home = compilation.compiled(arm, [template], Solver()).evaluate(arm.rest, template._encoded(())[None], False)[1]
    low = 0.3 * math.sqrt(np.linalg.det(home @ home.T))
    plan, _ = planned(arm, [template], scheme)
    damped, worst = 0, 0.0
    for trial in range(25):
        letter, memory = oracle.Paper(arm.lower, arm.upper, near, low), plan.memory()
        q, way = arm.random(seed=trial), rng.normal(size=arm.dof)
        for k in range(60):
            way = rng.normal(size=arm.dof) if k % 20 == 0 else way
            goal = Goal(end, arm.frame(q + 3 * dt * way, end))
            e, J = plan.evaluate(q, goal._encoded(())[None], False)[:2]
            dq, alpha, w = plan.tick(q, goal._encoded(())[None], dt, memory)
            wanted, wanted_alpha, wanted_w = letter.step(q, e, J, dt)
            worst = max(worst, np.abs(dq - wanted).max() / max(1, np.abs(wanted).max()))
            assert alpha == pytest.approx(wanted_alpha, abs=1e-10)
            assert w == pytest.approx(wanted_w, abs=1e-10)
            damped += alpha > 0
            q = arm.clamp(q + np.clip(dq, -3 * dt, 3 * dt))
    assert worst < 1e-9
    assert 300 < damped < 1500


def test_the_paper_is_singularities_and_limits():
    elbow = Singularity.bend("elbow", joints=["elbow"])
    assert damping.schinstock([elbow]) == damping.singularities(elbow) | damping.limits()
    assert damping.schinstock() == damping.singularities() | damping.limits()
    assert damping.schinstock([elbow], 0.1, as_printed=True) == damping.singularities(
        elbow, alpha0=0.1, as_printed=True
    ) | damping.limits(0.1, as_printed=True)
    assert damping.schinstock(as_printed=True) == damping.nakamura_hanafusa(as_printed=True) | damping.limits(
        as_printed=True
    )


# -- solving ----------------------------------------------------------------------------------------------------

SOLVING = [
    damping.none,
    damping.constant(1e-3),
    damping.singularities() | damping.limits(),
    damping.schinstock(as_printed=True),
    damping.chan_lawrence(),
    damping.kelmar_khosla() | damping.mayorga(),
]


@pytest.mark.parametrize("scheme", SOLVING)
def test_solvers_with_schemes_arrive_and_keep_limits(scheme):
    arm, end = models.ur5(), "tool0"
    q = arm.rest + 0.6 * np.random.default_rng(1).normal(size=(60, 6))
    found = Solver(method=method.damped(), damping=scheme).solve(arm, Goal(end, arm.frame(q, end)))
    assert np.mean(found.arrived) > 0.9
    assert np.all(arm.inside(found.q))


@pytest.mark.parametrize("scheme", SOLVING)
def test_nothing_is_remembered_from_one_solve_to_the_next(scheme):
    arm, solver = models.kraft(), Solver(method=method.damped(), damping=scheme)
    goals, starts = arm.frame(arm.random(60, seed=1), "tool"), arm.random(60, seed=2)
    forward = solver.solve(arm, Goal("tool", goals), starts).q
    backward = solver.solve(arm, Goal("tool", goals[::-1]), starts[::-1]).q
    assert np.array_equal(forward, backward[::-1])


def test_a_constant_scheme_solves_as_the_number_does():
    arm, end = models.panda(), "panda_hand_tcp"
    goal = Goal(end, arm.frame(arm.random(40, seed=1), end))
    number, scheme = (
        Solver(method=method.damped(), damping=each).solve(arm, goal) for each in (1e-3, damping.constant(1e-3))
    )
    assert np.array_equal(number.iterations, scheme.iterations)
    assert number.q == pytest.approx(scheme.q, abs=1e-9)


def test_a_function_in_a_solve_is_asked_and_never_different():
    arm, end, calls = models.ur5(), "tool0", []

    def error(q, e, J, dt):
        calls.append((q.shape, e.shape, J.shape, dt))
        return 0.02 * float(e @ e)

    goal = Goal(end, arm.frame(arm.rest + 0.3, end))
    asked, native = (
        Solver(method=method.damped(), damping=each).solve(arm, goal) for each in (error, damping.chan_lawrence(0.02))
    )
    assert asked.q == pytest.approx(native.q, abs=1e-12)
    assert asked.iterations == native.iterations
    assert calls[0] == ((6,), (6,), (6, 6), 1 / 300)
    assert Solver(method=method.damped(), damping=error).step(arm, goal, arm.rest) == pytest.approx(
        Solver(method=method.damped(), damping=damping.chan_lawrence(0.02)).step(arm, goal, arm.rest), abs=1e-14
    )


# -- the picture ------------------------------------------------------------------------------------------------


def test_an_approximation_in_the_task_space_stays_with_the_hand_and_one_in_the_joints_does_not():
    from supple.textbook import paper

    for _, exact, approximate in paper.runs():
        assert exact.deviation > 0.15
        assert approximate.deviation < 0.04
        assert approximate.speed_ratio.max() < 0.1 * exact.speed_ratio.max()
        for run in (exact, approximate):
            assert np.all(run.linkage.inside(run.q))
            speed = np.abs(np.diff(run.q, axis=0)).max(axis=0) * 300
            assert (speed <= run.linkage.speed * (1 + 1e-9)).all()


def test_the_singularities_of_the_kraft_like_arm_are_all_there_are():
    from supple.textbook import paper

    arm = models.kraft()
    q = arm.random(2000, seed=1)
    volume = np.linalg.det(arm.jacobian(q, "tool"))
    wrist = arm.frame(q, "wrist_yaw_link").position
    out = np.cos(q[:, 0]) * wrist[:, 0] + np.sin(q[:, 0]) * wrist[:, 1]
    parts = np.sin(q[:, 2]) * np.cos(q[:, 4]) * out
    assert np.ptp(volume / parts) < 1e-9 * np.abs(volume / parts).max()
    assert len(paper.SINGULARITIES) == 3


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from supple.textbook import paper

    written = paper.save(tmp_path / "paper.png", dpi=30)
    assert written.read_bytes().startswith(b"\x89PNG")
    assert len(paper.draw().axes) == 4
