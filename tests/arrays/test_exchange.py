"""Arrays of torch and JAX in, arrays of the same library out: the same numbers, types, and what is refused."""

import pickle

import numpy as np
import pytest

import supple
from random_trees import random_tree
from supple import Goal, Joint, Linkage, Outcome, Solver, models
from supple.errors import BadInput, UnknownName

HAND = "panda_hand_tcp"


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = pytest.importorskip("torch", reason="arrays of torch need torch")

    def array(self, numbers, kind=np.float64):
        return self.torch.from_numpy(np.array(numbers, dtype=kind))

    def is_ours(self, array, kind):
        return isinstance(array, self.torch.Tensor) and str(array.dtype) == f"torch.{np.dtype(kind).name}"

    def numbers(self, array):
        return array.numpy()


class Jax:
    name = "jax"

    def __init__(self):
        self.jax = pytest.importorskip("jax", reason="arrays of JAX need jax")
        self.jax.config.update("jax_enable_x64", True)

    def array(self, numbers, kind=np.float64):
        return self.jax.numpy.asarray(np.array(numbers, dtype=kind))

    def is_ours(self, array, kind):
        return isinstance(array, self.jax.Array) and array.dtype == kind

    def numbers(self, array):
        return np.asarray(array)


@pytest.fixture(params=[Torch, Jax], ids=["torch", "jax"])
def library(request):
    return request.param()


KINDS = (np.float64, np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_forward_kinematics_has_the_same_numbers(library, kind):
    rng = np.random.default_rng(0)
    for seed in range(6):
        tree = random_tree(seed)
        link = tree.tips[0]
        for shape in ((), (5,), (2, 3), (0,)):
            q = tree.random(*shape, seed=seed).astype(kind)
            given, point = library.array(q, kind), rng.normal(size=(*shape, 3)).astype(kind)
            results = [
                (tree.frame(given, link), tree.frame(q, link).matrix),
                (tree.frames(given).matrix, tree.frames(q).matrix),
                (tree.frames(given)[link], tree.frames(q)[link].matrix),
                (tree.jacobian(given, link), tree.jacobian(q, link)),
                (tree.jacobian(given, link, axes=supple.Axes.LINK), tree.jacobian(q, link, axes=supple.Axes.LINK)),
                (tree.jacobian(given, link, point=library.array(point, kind)), tree.jacobian(q, link, point=point)),
                (tree.jacobian(given, link, point=[1, 2, 3]), tree.jacobian(q, link, point=[1, 2, 3])),
                *zip(tree.frame_and_jacobian(given, link), tree.frame_and_jacobian(q, link), strict=True),
            ]
            for found, expected in results:
                assert library.is_ours(found, kind)
                assert np.array_equal(library.numbers(found), np.asarray(expected).astype(kind))


def test_a_numpy_q_with_a_foreign_point_gives_foreign_arrays(library):
    arm = models.ur5()
    found = arm.jacobian(arm.rest, "tool0", point=library.array([0, 0, 0.1]))
    assert library.is_ours(found, np.float64)
    assert np.array_equal(library.numbers(found), arm.jacobian(arm.rest, "tool0", point=[0, 0, 0.1]))


@pytest.mark.parametrize("shape", [(), (7,), (2, 3)])
def test_a_solve_has_the_same_numbers(library, shape):
    arm = models.panda()
    frames = arm.frame(arm.random(*shape, seed=1), HAND).matrix
    expected = supple.solve(arm, Goal(HAND, frames))
    found = supple.solve(arm, Goal(HAND, library.array(frames)))
    for name, kind in (("q", np.float64), ("outcomes", np.int64), ("iterations", np.int64), ("error", np.float64)):
        assert library.is_ours(getattr(found, name), kind), name
        assert np.array_equal(library.numbers(getattr(found, name)), getattr(expected, name)), name
    assert np.array_equal(library.numbers(found.arrived), expected.arrived)
    assert isinstance(found, supple.Solution)
    assert str(found) == str(expected)
    assert np.array_equal(pickle.loads(pickle.dumps(found)).q, expected.q)
    if shape:
        assert len(found) == len(expected)
        assert library.is_ours(found[1].q, np.float64)
        assert np.array_equal(library.numbers(found[1].q), expected[1].q)
        rows = library.array([True, False, True, True, False, False, True] if shape == (7,) else [True, False], bool)
        assert np.array_equal(library.numbers(found[rows].q), expected[library.numbers(rows)].q)
    else:
        assert bool(found)
        assert found.outcome is Outcome.ARRIVED
        assert found.why == ""


def test_parts_of_goals_starts_and_several_solutions(library):
    arm = models.panda()
    frames, start = arm.frame(arm.random(4, seed=2), HAND), arm.random(4, seed=3)
    cases = (
        (Goal(HAND, position=library.array(frames.position)), Goal(HAND, position=frames.position)),
        (Goal(HAND, orientation=library.array(frames.rotation)), Goal(HAND, orientation=frames.rotation)),
        (
            Goal(HAND, position=frames.position, axis=[0, 0, 1], direction=library.array([0, 0, -2])),
            Goal(HAND, position=frames.position, axis=[0, 0, 1], direction=[0, 0, -2]),
        ),
        (
            [
                Goal(HAND, position=frames.position),
                Goal("panda_link4", position=library.array([0, 0, 0.6]), priority=1),
            ],
            [Goal(HAND, position=frames.position), Goal("panda_link4", position=[0, 0, 0.6], priority=1)],
        ),
    )
    for given, expected in cases:
        for begin in (None, start):
            found = supple.solve(arm, given, None if begin is None else library.array(begin))
            assert library.is_ours(found.q, np.float64)
            assert np.array_equal(library.numbers(found.q), supple.solve(arm, expected, begin).q)
    found = supple.solve(arm, Goal(HAND, frames), library.array(start), solutions=3)
    assert np.array_equal(library.numbers(found.q), supple.solve(arm, Goal(HAND, frames), start, solutions=3).q)
    assert library.is_ours(found.q, np.float64)


def test_single_precision_stays_within_limits_and_its_error_is_measured(library):
    arm = models.panda()
    third = 1 / 3  # no float32: rounded up to 0.33333334
    tight = Linkage(
        "tight",
        [
            Joint.revolute("a", "base", "one", lower=-third, upper=third, axis=[0, 0, 1]),
            Joint.revolute("b", "one", "two", lower=-third, upper=third, at=supple.Frame.at([1, 0, 0])),
            Joint.ball("c", "two", "tip", at=supple.Frame.at([1, 0, 0]), swing=third),
        ],
    )
    for linkage, link, reach in ((arm, HAND, 1.0), (tight, "tip", 2.0)):
        q = linkage.random(300, seed=4)
        q[:100] = linkage.clamp(np.sign(linkage.random(100, seed=5)) * 9)  # at limits
        found = supple.solve(linkage, Goal(link, library.array(linkage.frame(q, link).matrix, np.float32)))
        assert library.is_ours(found.q, np.float32)
        values = library.numbers(found.q).astype(float)
        assert linkage.inside(values, 1e-12).all()
        assert library.numbers(found.arrived).mean() > 0.95
        assert library.is_ours(found.distance, np.float32)
        away = np.linalg.norm(linkage.frame(values, link).position - linkage.frame(q, link).position, axis=-1)
        arrived = library.numbers(found.arrived)
        assert away[arrived].max() < 4e-6 * reach
    assert tight.upper[0] < np.float32(third), "the limit is one that float32 rounds beyond"


def test_compiled_solvers_trackers_and_paths(library):
    arm = models.panda()
    frames = arm.frame(arm.random(3, seed=6), HAND).matrix
    find = Solver().compile(arm, HAND)
    for kind in KINDS:
        q = find(library.array(frames[0], kind))
        assert library.is_ours(q, kind)
        assert np.allclose(library.numbers(q), find(frames[0].astype(kind)), rtol=0, atol=1e-6)
    far = frames[0].copy()
    far[:3, 3] = 9
    assert find(library.array(far)) is None
    with pytest.raises(BadInput, match="out is for NumPy arrays"):
        find(library.array(frames[0]), out=np.empty(8))

    trackers = [Solver().track(arm, HAND, start=np.tile(arm.rest, (3, 1))) for _ in range(2)]
    for _ in range(5):
        step, plain = trackers[0].step(library.array(frames), 0.01), trackers[1].step(frames, 0.01)
    for name in ("q", "velocity", "error", "statuses", "lag"):
        assert np.array_equal(library.numbers(getattr(step, name)), getattr(plain, name)), name
    assert library.is_ours(step.q, np.float64)
    assert np.array_equal(library.numbers(step[1].q), plain[1].q)
    assert library.is_ours(trackers[0].step(library.array(frames, np.float32), 0.01).q, np.float32)

    line = np.linspace([0.4, -0.2, 0.5], [0.4, 0.2, 0.5], 21)
    done, plain = (
        supple.solve_path(arm, Goal(HAND, position=library.array(line))),
        supple.solve_path(arm, Goal(HAND, position=line)),
    )
    assert library.is_ours(done.q, np.float64)
    assert np.array_equal(library.numbers(done.q), plain.q)
    assert np.array_equal(library.numbers(done.reconfigured), plain.reconfigured)
    assert bool(done) == bool(plain)


def test_arrays_that_do_not_fit_together_are_refused_by_name(library):
    arm = models.ur5()
    q = library.array(arm.rest)
    with pytest.raises(BadInput, match=r"q must have shape \(..., 6\), not \(5,\)"):
        arm.frame(q[:5], "tool0")
    with pytest.raises(UnknownName, match="tool0"):
        arm.frame(q, "tool")
    with pytest.raises(BadInput, match="out is for NumPy arrays"):
        arm.frame(q, "tool0", out=np.empty((4, 4)))
    with pytest.raises(BadInput, match="out is for NumPy arrays"):
        supple.solve(arm, Goal("tool0", arm.frame(q, "tool0")), out=np.empty(6))
    for kind in (np.float16, np.complex128):
        with pytest.raises(BadInput, match=f"q must be of float32 or float64, got {np.dtype(kind).name}"):
            arm.frame(library.array(arm.rest, kind), "tool0")
    whole = arm.frame(library.array([0, 1, 0, 1, 0, 1], np.int64), "tool0")
    assert np.allclose(library.numbers(whole), arm.frame([0, 1, 0, 1, 0, 1], "tool0").matrix, rtol=0, atol=1e-7)
    bad = library.array(arm.rest * np.nan)
    with pytest.raises(BadInput, match="q must be finite"):
        arm.frame(bad, "tool0")


def test_other_methods_give_numpy_arrays(library):
    arm = models.panda()
    q = library.array(arm.rest)
    for found in (
        arm.manipulability(q, HAND),
        arm.condition(q, HAND),
        arm.transform_points(q, [0, 0, 0.1], HAND),
        arm.clamp(q),
        models.g1().center_of_mass(library.array(models.g1().rest)),
    ):
        assert isinstance(found, np.ndarray | np.generic)
    assert len(list(models.ur5().world_geometry(library.array(models.ur5().rest)))) > 3


def test_two_libraries_do_not_mix():
    torch, jax = Torch(), Jax()
    arm = models.ur5()
    frame = arm.frame(arm.rest, "tool0").matrix
    with pytest.raises(BadInput, match=r"start.* an array of jax|start one of jax"):
        supple.solve(arm, Goal("tool0", torch.array(frame)), jax.array(arm.rest))
    with pytest.raises(BadInput, match="q is an array of torch and point one of jax"):
        arm.jacobian(torch.array(arm.rest), "tool0", point=jax.array([0, 0, 1]))


def test_torch_tensors_with_odd_strides_and_gradients():
    torch = Torch().torch
    arm = models.panda()
    rows = arm.random(6, seed=7)
    wide = torch.zeros(12, 16, dtype=torch.float64)
    wide[::2, ::2] = torch.from_numpy(rows)
    assert np.array_equal(arm.frame(wide[::2, ::2], HAND).numpy(), arm.frame(rows, HAND).matrix)
    turned = torch.from_numpy(np.array(rows.T)).T
    assert np.array_equal(arm.frame(turned, HAND).numpy(), arm.frame(rows, HAND).matrix)
    same = torch.from_numpy(rows[:1]).expand(6, 8)
    assert np.array_equal(arm.frame(same, HAND).numpy(), arm.frame(np.repeat(rows[:1], 6, 0), HAND).matrix)
    for call in (
        lambda q: arm.frame(q, HAND),
        lambda q: arm.jacobian(q, HAND),
        lambda q: supple.solve(arm, Goal(HAND, arm.frame(rows, HAND)), q),
    ):
        with pytest.raises(BadInput, match=r"gradients go through supple.torch"):
            call(torch.from_numpy(rows).requires_grad_())
    with pytest.raises(BadInput, match=r"gradients go through supple.torch"):
        Goal(HAND, position=torch.zeros(3, requires_grad=True))
    with pytest.raises(BadInput, match="q must be of float32 or float64, got bfloat16"):
        arm.frame(torch.from_numpy(rows).bfloat16(), HAND)
    with pytest.raises(BadInput, match="tensors of the device 'meta' are not supported"):
        arm.frame(torch.empty(8, device="meta"), HAND)


def test_under_jit_the_module_for_it_is_named():
    jax = Jax().jax
    arm = models.ur5()
    with pytest.raises(BadInput, match=r"gradients go through supple.jax"):
        jax.jit(lambda q: arm.frame(q, "tool0"))(jax.numpy.zeros(6))


def test_jax_without_double_precision_gives_single():
    jax = Jax().jax
    arm = models.ur5()
    jax.config.update("jax_enable_x64", False)
    try:
        found = supple.solve(arm, Goal("tool0", arm.frame(jax.numpy.asarray(arm.rest), "tool0")))
        assert found.q.dtype == jax.numpy.float32
        assert found.outcomes.dtype == jax.numpy.int32
    finally:
        jax.config.update("jax_enable_x64", True)


def test_read_only_arrays_and_other_types_with_dlpack_work():
    arm = models.ur5()
    locked = arm.random(3, seed=8)
    locked.flags.writeable = False
    assert arm.frame(locked, "tool0").shape == (3,)
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array(arm.rest)
    assert isinstance(arm.frame(column, "tool0"), supple.Frame), "pyarrow takes no arrays back"
