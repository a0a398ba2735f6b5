"""Laws of the damping schemes: the paper's equations against the oracle, as printed and as mended."""

import numpy as np
import pytest

import oracle_damping as oracle
from damping_cases import DT, ENDS, arm_of, planned, random_scheme, rank_of
from oracle import columns
from supple import Frame, Goal, Joint, Linkage, Mimic, Solver, damping, models, prefer
from supple._solve import compilation
from supple.damping import Singularity
from supple.joint import Kind


@pytest.mark.parametrize("seed", range(250))
def test_every_equation_is_the_oracles_as_printed_and_mended(seed):
    arm, goals = arm_of(seed)
    rng = np.random.default_rng([seed, 8])
    used = list(compilation.compiled(arm, goals, Solver()).columns)
    rank = rank_of(seed)
    kinds = rng.choice(9, rng.integers(1, 5), replace=False) if seed % 3 else [seed // 3 % 9]
    pairs = [random_scheme(arm, used, rank, rng, kind) for kind in kinds]
    merged = damping.none
    for value, _ in pairs:
        merged |= value
    schemes = [each for _, each in pairs]
    plan, tick = planned(arm, goals, merged)
    numbers = np.stack([goal._encoded(()) for goal in goals])
    q, way = arm.random(seed=seed), rng.normal(size=arm.dof)
    for _ in range(12):
        way = np.where(rng.random(arm.dof) < 0.2, rng.normal(size=arm.dof), way)
        q = q + 0.1 * way
        dt = float(10 ** rng.uniform(-3, -1.5))
        e, J = plan.evaluate(q, numbers, False)[:2]
        alpha, w, Jw = oracle.merge(schemes, q, e, J, used, rank, dt)
        dq, got_alpha, got_w = tick(q, numbers, dt)
        assert got_alpha == pytest.approx(alpha, abs=1e-10, rel=1e-10)
        assert got_w[used] == pytest.approx(w[used], abs=1e-10)
        if np.linalg.cond(Jw @ Jw.T + alpha * np.eye(len(e))) < 1e6:
            wanted = oracle.step(e, J, w, alpha)
            assert dq == pytest.approx(wanted, abs=1e-10 * (1 + np.abs(wanted).max()))
        for scheme in schemes:
            scheme.moved(dq)


def test_a_point_off_an_axis_is_measured_along_the_tangent_of_a_cylinder():
    rng = np.random.default_rng(3)
    for name, end in ENDS.items():
        arm = models.get(name)
        turns = [j for j in arm.joints if j.kind is Kind.REVOLUTE and not j.mimic and columns(arm)[j.name] < 5]
        for _ in range(10):
            joint, carrier = rng.choice(turns, 2)
            point, region = rng.uniform(-0.2, 0.2, 3), float(rng.uniform(0.5, 30))
            radius = float(rng.uniform(0, 0.3))
            spared = [turns[0].name]
            named = Singularity.off_axis(joint.name, carrier.child, point, radius, region=region, joints=spared)
            measure = oracle.off_axis(arm, joint.name, carrier.child, point, radius)
            scheme = oracle.Named(1e-2, measure, region, [columns(arm)[spared[0]]], 0.1)
            goals = [Goal(end, arm.frame(arm.rest, end))]
            plan, tick = planned(arm, goals, damping.singularities(named))
            for q in arm.random(5, seed=int(rng.integers(1000))):
                e, J = plan.evaluate(q, np.stack([goals[0]._encoded(())]), False)[:2]
                alpha, w, _ = oracle.merge([scheme], q, e, J, list(plan.columns), 1, DT)
                _, got_alpha, got_w = tick(q)
                assert got_alpha == pytest.approx(alpha, abs=1e-12)
                assert got_w == pytest.approx(w, abs=1e-12)


def test_a_mimic_bends_by_what_it_does_itself():
    at = Frame.at([1, 0, 0])
    joints = [
        Joint.revolute("a", "base", "l1"),
        Joint.revolute("b", "l1", "l2", at=at, mimic=Mimic("a", -2.0, 0.5)),
        Joint.revolute("c", "l2", "tip", at=at),
    ]
    arm = Linkage("arm", joints)
    named = Singularity.bend("b", 0.1, region=1.0, joints=["c"])
    _, tick = planned(arm, [Goal("tip", position=[1, 1, 0])], damping.singularities(named))
    for a in (-0.2, 0.0, 0.15, 0.3, 3.3):
        x = oracle.bend(0, [0.1], True, -2.0, 0.5)(np.array([a]))
        wanted = 1e-2 * (1 - x**2) ** 2 if x < 1 else 0
        assert tick(np.array([a, 0.4]))[1] == pytest.approx(wanted, abs=1e-14)


# -- the step ---------------------------------------------------------------------------------------------------


def test_the_step_minimises_what_the_paper_says_with_alpha_not_squared():
    rng = np.random.default_rng(0)
    for seed in range(200):
        arm, goals = arm_of(2 * seed)
        weights, alpha = rng.uniform(0.1, 1, arm.dof), float(10 ** rng.uniform(-3, 0))
        plan, tick = planned(arm, goals, lambda q, e, J, dt, said=(alpha, weights): said)
        q = arm.random(seed=seed)
        e, J = plan.evaluate(q, np.stack([g._encoded(()) for g in goals]), False)[:2]
        dq = tick(q)[0]
        least = oracle.cost(e, J, weights, alpha, dq)
        for _ in range(5):
            other = dq + 1e-3 * rng.normal(size=arm.dof)
            assert oracle.cost(e, J, weights, alpha, other) > least
        slope = J.T @ (e - J @ dq) - alpha * dq / weights**2
        assert np.abs(slope[list(plan.columns)]).max() < 1e-10 * (1 + np.abs(J.T @ e).max())


def test_a_preference_leaks_by_alpha_P_J_v_and_no_weight_stops_a_joint():
    rng = np.random.default_rng(1)
    arm, end = models.panda(), "panda_hand_tcp"
    for seed in range(300):
        q, v = arm.random(seed=seed), 0.3 * rng.normal(size=arm.dof)
        v[7] = 0  # a finger has no part in it
        weights, alpha = rng.uniform(0.0, 1, arm.dof), float(10 ** rng.uniform(-4, -1))
        weights[rng.integers(7)] = 0
        goals = [Goal(end, arm.frame(q + 0.01 * rng.normal(size=arm.dof), end))]
        wish = prefer.rest(q + v, 1.0)

        def said(q, e, J, dt, say=(alpha, weights)):
            return say

        plan, tick = planned(arm, goals, said, prefer=wish)
        _, plain = planned(arm, goals, said)
        e, J = plan.evaluate(q, goals[0]._encoded(())[None], False)[:2]
        dq = tick(q)[0]
        assert dq == pytest.approx(oracle.step(e, J, weights, alpha, v), abs=1e-10)
        assert (dq[weights == 0] == 0).all()
        leak = J @ (dq - plain(q)[0])
        Jw = J * weights
        bound = alpha * np.linalg.solve(Jw @ Jw.T + alpha * np.eye(6), Jw @ v)
        assert leak == pytest.approx(bound, abs=1e-10)
        # as printed the wish goes past the weights
        _, tick = planned(arm, goals, damping.function(said) | damping.limits(0.0, as_printed=True), prefer=wish)
        past, _, w = tick(q)
        assert past == pytest.approx(oracle.step(e, J, w, alpha, v, printed=True), abs=1e-10)
        assert past[weights == 0] == pytest.approx(v[weights == 0])


AWAY = damping.singularities() | damping.limits()


@pytest.mark.parametrize("name", ENDS)
def test_away_from_singularities_and_limits_damping_is_none_and_the_step_is_the_pseudoinverse(name):
    arm, end = models.get(name), ENDS[name]
    rng, seen = np.random.default_rng(4), 0
    for q in arm.random(600, seed=6):
        room = np.minimum(arm.upper - q, q - arm.lower)
        slides = np.array([joint.kind is Kind.PRISMATIC for joint in arm.joints if joint.dof])
        goals = [Goal(end, arm.frame(q + 0.02 * rng.normal(size=arm.dof), end))]
        plan, tick = planned(arm, goals, AWAY)
        e, J = plan.evaluate(q, goals[0]._encoded(())[None], False)[:2]
        used = list(plan.columns)
        sizes = np.linalg.svd(J[:, used], compute_uv=False)
        rank = {"planar3": 3}.get(name, min(6, len(used)))
        if sizes[rank - 1] < 0.05 * sizes[0] or (room[~slides] < 0.2).any():
            continue
        seen += 1
        dq, alpha, w = tick(q)
        assert alpha == 0.0
        assert (w == 1.0).all()
        wanted = np.zeros(arm.dof)
        wanted[used] = np.linalg.pinv(J[:, used], rcond=1e-9) @ e
        assert np.abs(dq - wanted).max() < 1e-12
    assert seen > 30


def test_five_joints_are_not_always_singular():
    arm, end = models.so101(), "gripper_frame_link"
    goals = [Goal(end, arm.frame(arm.rest, end))]
    for scheme in (damping.singularities(), damping.nakamura_hanafusa(), damping.mayorga(), damping.kelmar_khosla()):
        assert planned(arm, goals, scheme)[1](arm.rest)[1] == 0
    printed = damping.nakamura_hanafusa(as_printed=True)
    assert planned(arm, goals, printed)[1](arm.rest)[1] == 1e-2


def test_a_flat_arm_is_not_singular_because_space_has_three_dimensions():
    arm = models.planar3()
    goals = [Goal("tip", position=[10, 5, 0])]
    _, tick = planned(arm, goals, damping.singularities())
    assert tick(arm.rest)[1] == 0
    assert tick(np.array([0.3, 0.0, 0.0]))[1] == pytest.approx(1e-2)  # stretched


def test_damping_looks_at_the_weighted_jacobian():
    arm = models.planar2()
    goals = [Goal("tip", position=[10, 5, 0], weight=(1, 1, 0))]

    def frozen(q, e, J, dt):
        return 0.0, [1.0, 0.0]

    for scheme in (damping.singularities(), damping.nakamura_hanafusa(), damping.mayorga()):
        assert planned(arm, goals, scheme)[1](arm.rest)[1] == 0
        assert planned(arm, goals, scheme | damping.function(frozen))[1](arm.rest)[1] == pytest.approx(1e-2)
    printed = damping.nakamura_hanafusa(as_printed=True) | damping.function(frozen)
    assert planned(arm, goals, printed)[1](arm.rest)[1] == 0


# -- condition numbers ------------------------------------------------------------------------------------------

STRETCHED = models.kraft().q(elbow=0.0)


@pytest.mark.parametrize("kappa", [10.0, 300.0, 1e5])
@pytest.mark.parametrize(
    "make",
    [
        lambda bound: damping.singularities(alpha0=bound),
        lambda bound: damping.singularities(Singularity.bend("elbow", joints=["elbow", "shoulder"]), alpha0=bound),
        lambda bound: damping.schinstock([Singularity.bend("elbow")], bound, as_printed=True),
        lambda bound: damping.nakamura_hanafusa(bound),
        lambda bound: damping.mayorga(bound),
        lambda bound: damping.constant(bound),
    ],
)
def test_a_bound_on_the_condition_number_is_kept_at_the_singularity(make, kappa):
    arm = models.kraft()
    goals = [Goal("tool", arm.frame(STRETCHED, "tool"))]
    plan, tick = planned(arm, goals, make(damping.condition_bound(kappa)))
    _, alpha, w = tick(STRETCHED)
    J = plan.evaluate(STRETCHED, goals[0]._encoded(())[None], False)[1]
    assert oracle.condition(J * w, alpha) == pytest.approx(kappa, rel=1e-6)
    assert np.linalg.cond((J * w) @ (J * w).T + alpha * np.eye(6)) == pytest.approx(kappa, rel=1e-6)


def test_a_linkage_tells_its_condition_number():
    rng = np.random.default_rng(0)
    for name, end in ENDS.items():
        arm = models.get(name)
        q, used = (
            arm.random(20, seed=2),
            list(compilation.compiled(arm, [Goal(end, arm.frame(arm.rest, end))], Solver()).columns),
        )
        J, alpha, weight = arm.jacobian(q, end), float(rng.uniform(0, 0.1)), float(rng.uniform(0.5, 2))
        for rows, given in ((np.s_[:6], {}), (np.s_[:3], {"orientation": False}), (np.s_[3:], {"position": False})):
            scaled = (J * np.array([weight] * 3 + [1.0] * 3)[:, None])[:, rows][..., used]
            wanted = [oracle.condition(each, alpha) for each in scaled]
            got = arm.condition(q, end, alpha, weight=weight, **given)
            assert got == pytest.approx(np.array(wanted), rel=1e-9)
            assert arm.condition(q[3], end, alpha, weight=weight, **given) == pytest.approx(got[3], rel=1e-9)
    arm = models.kraft()
    assert arm.condition(STRETCHED, "tool") > 1e15
    assert arm.condition(STRETCHED, "base") == np.inf
    assert arm.condition(STRETCHED, "tool", 1e9) == pytest.approx(1, abs=1e-6)
