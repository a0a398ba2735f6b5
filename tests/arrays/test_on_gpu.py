"""Arrays of a GPU through the public calls, with the kernels run by this machine's processor and a library to match."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import host_device
import supple
from random_trees import random_tree
from supple import Goal, Solver, models
from supple._arrays import gpu, library
from supple._cuda.place import CUDA, Stream
from supple._solve import on_gpu
from supple.errors import BadInput

HAND = "panda_hand_tcp"
pytestmark = pytest.mark.slow  # the kernels are compiled for this machine


class GpuArray:
    """An array that says it is on a GPU. It has no `__array__`: nothing can copy it by mistake."""

    def __init__(self, array, number=0):
        self.inner, self.number = array, number

    shape = property(lambda self: self.inner.shape)
    ndim = property(lambda self: self.inner.ndim)
    dtype = property(lambda self: self.inner.dtype)

    def __getitem__(self, index):
        return GpuArray(self.inner[index], self.number)

    def __mul__(self, other):
        return GpuArray(self.inner * other.inner, self.number)

    def __truediv__(self, other):
        return GpuArray(self.inner / other.inner, self.number)

    def __pow__(self, power):
        return GpuArray(self.inner**power, self.number)

    def __eq__(self, number):
        return GpuArray(self.inner == number, self.number)

    __hash__ = None

    def sum(self, axis):
        return GpuArray(self.inner.sum(axis), self.number)

    def reshape(self, *shape):
        return GpuArray(self.inner.reshape(*shape), self.number)

    def view(self, dtype):
        return GpuArray(self.inner.view(dtype), self.number)

    def __dlpack__(self, **options):
        raise AssertionError("the address is known without it")


class Functions:
    @staticmethod
    def broadcast_to(array, shape):
        return GpuArray(np.broadcast_to(array.inner, shape), array.number)


class Gpu(library.Library):
    """The library of `GpuArray`, as torch and CuPy are: with a stream and memory of its own."""

    name = "gpu"

    def place(self, array):
        return (CUDA, array.number)

    def namespace(self, array):
        return Functions

    def contiguous(self, array, dtype):
        return GpuArray(np.ascontiguousarray(array.inner, dtype), array.number)

    def address(self, array):
        return array.inner.ctypes.data

    def host(self, array):
        return array.inner.copy()

    def made(self, numbers, like):
        return GpuArray(numbers, like.number)

    def strides(self, array):
        return tuple(stride // array.inner.itemsize for stride in array.inner.strides)

    def stream(self, array, ordinal):
        made = Stream(0)

        def allocate(shape, dtype):
            new = np.empty(shape, dtype)
            return new.ctypes.data, GpuArray(new, array.number)

        made.allocate = allocate
        return made


class OwnedArray(host_device.HostArray):
    """An array of the simulated device whose owner is one of the library."""

    def __init__(self, array, owner):
        self.array, self.owner = array, owner


def empty(shape, dtype, ordinal, stream):
    made = host_device.empty(shape, dtype, ordinal, stream)
    if isinstance(stream, Stream) and stream.allocate is not None:
        return OwnedArray(made.array, GpuArray(made.array))
    return made


@pytest.fixture(autouse=True)
def device(monkeypatch):
    host_device.stand_in(monkeypatch)
    from supple._cuda import blocks

    this = blocks.driver
    this.empty, this.wrapped, this.download = empty, host_device.wrapped, lambda array: array.array
    this.upload = lambda numbers, ordinal: host_device.HostArray(numbers)
    this.in_chunks = in_chunks
    for each in (gpu, on_gpu):
        monkeypatch.setattr(each, "driver", this)
    monkeypatch.setattr(gpu, "DeviceArray", host_device.HostArray)
    monkeypatch.setitem(library._by_type, GpuArray, Gpu())
    monkeypatch.setattr(host_device.HostArray, "reshape", reshaped, raising=False)


def reshaped(self, *shape):
    return OwnedArray(self.array.reshape(shape), getattr(self, "owner", None))


def in_chunks(inputs, outputs, work, ordinal, chunk_rows=7):
    for first in range(0, len(outputs[0]), chunk_rows):
        given = [host_device.HostArray(each[first : first + chunk_rows]) for each in inputs]
        for output, found in zip(outputs, work(given, 0), strict=True):
            output[first : first + chunk_rows] = found.array


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_frames_and_jacobians_on_a_gpu_are_those_of_the_cpu(kind):
    bound = 1e-12 if kind == np.float64 else 3e-5
    for tree, link in ((models.panda(), HAND), (random_tree(3), random_tree(3).tips[0])):
        q = tree.random(2, 3, seed=1).astype(kind)
        point = np.random.default_rng(0).normal(size=(3, 3)).astype(kind)
        wide = np.zeros((2, 3, 2 * tree.dof), kind)
        wide[..., ::2] = q
        for given in (GpuArray(q), GpuArray(wide[..., ::2])):
            results = [
                (tree.frame(given, link), tree.frame(q, link).matrix),
                (tree.jacobian(given, link), tree.jacobian(q, link)),
                (tree.jacobian(given, link, axes=supple.Axes.LINK), tree.jacobian(q, link, axes=supple.Axes.LINK)),
                (tree.jacobian(given, link, point=GpuArray(point)), tree.jacobian(q, link, point=point)),
                *zip(tree.frame_and_jacobian(given, link), tree.frame_and_jacobian(q, link), strict=True),
            ]
            for found, expected in results:
                assert isinstance(found, GpuArray)
                assert found.dtype == kind
                wanted = np.asarray(expected)
                assert found.shape == wanted.shape
                assert np.abs(found.inner - wanted).max() < bound * (1 + np.abs(wanted).max())
    arm = models.panda()
    found = arm.frames(GpuArray(arm.random(5, seed=2)))
    assert np.abs(found.matrix.inner - arm.frames(arm.random(5, seed=2)).matrix).max() < 1e-12
    assert found[HAND].shape == (5, 4, 4)


def test_goals_are_met_and_results_stay_on_the_gpu():
    arm = models.panda()
    frames = arm.frame(arm.random(4, 5, seed=3), HAND)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = supple.solve(arm, Goal(HAND, GpuArray(np.array(frames.matrix))))
        for name, shape in (("q", (4, 5, 8)), ("outcomes", (4, 5)), ("iterations", (4, 5)), ("distance", (4, 5, 1))):
            assert isinstance(getattr(found, name), GpuArray), name
            assert getattr(found, name).shape == shape, name
        assert found.arrived.inner.all()
    assert found.distance.inner.max() <= 1e-6
    assert np.abs(arm.frame(found.q.inner, HAND).position - frames.position).max() <= 1e-6
    with pytest.warns(UserWarning, match="computed on the CPU"):
        text = str(found)
    assert text.startswith("20 solves: 20 arrived")


def test_frames_are_solved_with_the_strides_they_have_and_taken_apart_only_when_a_part_is_read(monkeypatch):
    arm = models.panda()
    frames = np.array(arm.frame(arm.random(6, seed=12), HAND).matrix)
    spread = np.zeros((12, 4, 8))
    spread[::2, :, ::2] = frames
    single = frames.astype(np.float32)
    cases = [(spread[::2, :, ::2], frames), (np.asfortranarray(frames), frames), (frames[2], frames[2])]
    cases += [(frames.reshape(2, 3, 4, 4), frames), (frames[:0], frames[:0]), (single, single.astype(float))]

    supple.solve(arm, Goal(HAND, GpuArray(frames)))  # compiles for this kind of goal

    def taken_apart(array, index):
        raise AssertionError("the frames were taken apart")

    for given, expected in cases:
        with monkeypatch.context() as patch:
            if given.ndim < 4:
                patch.setattr(GpuArray, "__getitem__", taken_apart)
            goal = Goal(HAND, GpuArray(given))
            found = supple.solve(arm, goal)
        assert found.q.shape == (*given.shape[:-2], 8)
        assert found.q.dtype == given.dtype
        tip = arm.frame(found.q.inner.astype(float), HAND).matrix.reshape(expected.shape)
        assert np.abs(tip - expected).max(initial=0) <= 2e-6
        assert goal.shape == given.shape[:-2]
        assert np.array_equal(goal.position.inner, given[..., :3, 3])
        assert np.array_equal(goal.orientation.inner, given[..., :3, :3])
        assert (goal.priority, goal.weight, goal.slack) == (0, None, (0.0, 0.0, 0.0))
    several = Goal(HAND, GpuArray(frames))
    for position in (1e-3, 1e-9):
        distance = Solver(tolerance=supple.Tolerance(position=position)).solve(arm, several).distance.inner
        assert distance.max() <= position, "another solver is compiled anew"
    with pytest.raises(BadInput, match="frame must be of float32 or float64, got complex"):
        Goal(HAND, GpuArray(frames.astype(complex)))


def test_a_solution_is_freed_when_it_is_dropped():
    arm = models.panda()
    goal = Goal(HAND, GpuArray(np.array(arm.frame(arm.random(3, seed=13), HAND).matrix)))
    gc.disable()  # nothing may wait for it: the memory of a GPU is scarce
    try:
        found = supple.solve(arm, goal)
        assert found.arrived.inner.all()
        memory = weakref.ref(found.q)
        del found
        assert memory() is None
    finally:
        gc.enable()


def test_parts_of_goals_starts_and_several_solutions():
    arm = models.panda()
    frames, start = arm.frame(arm.random(6, seed=4), HAND), arm.random(6, seed=5)
    position, along = GpuArray(np.array(frames.position)), GpuArray(2 * frames.rotation[..., 2])
    for goal, begin in (
        (Goal(HAND, position=position), None),
        (Goal(HAND, position=position, axis=[0, 0, 1], direction=along), GpuArray(start)),
        (Goal(HAND, GpuArray(np.array(frames.matrix, np.float32))), GpuArray(start[0])),
    ):
        found = supple.solve(arm, goal, begin)
        assert found.q.shape == (6, 8)
        arrived = found.arrived.inner
        assert arrived.all()
        assert np.abs(arm.frame(found.q.inner.astype(float), HAND).position - frames.position)[arrived].max() < 2e-6
        assert arm.inside(found.q.inner.astype(float), 0).all()
    several = supple.solve(arm, Goal(HAND, GpuArray(np.array(frames.matrix))), solutions=2)
    assert several.q.shape == (6, 2, 8)
    assert np.abs(arm.frame(several.q.inner[:, 0], HAND).position - frames.position).max() < 1e-6


def test_many_numpy_goals_go_through_the_gpu_that_is_asked_for():
    arm, solver = models.panda(), Solver(device="cuda")
    frames, start = arm.frame(arm.random(4, 5, seed=6), HAND), arm.random(5, seed=7)
    for goal, begin in (
        (Goal(HAND, frames), None),
        (Goal(HAND, frames), start),
        (Goal(HAND, position=frames.position, axis=[0, 0, 1], direction=frames.rotation[..., 2]), None),
    ):
        found = solver.solve(arm, goal, begin)
        assert isinstance(found.q, np.ndarray)
        assert found.q.shape == (4, 5, 8)
        assert found.arrived.all()
        assert found.distance[found.arrived].max() <= 1e-6
    assert solver.solve(arm, Goal(HAND, frames), solutions=2).q.shape == (4, 5, 2, 8)
    assert solver.solve(arm, Goal(HAND, frames[0, 0])).q.shape == (8,), "one goal is solved by the CPU"
    assert Solver.from_dict(solver.to_dict()) == solver


def test_a_compiled_solver_solves_one_goal_there():
    arm = models.panda()
    find = Solver().compile(arm, HAND)
    frame = np.array(arm.frame(arm.random(seed=11), HAND).matrix)
    for start in (None, GpuArray(arm.rest)):
        q = find(GpuArray(frame), start)
        assert isinstance(q, GpuArray)
        assert q.shape == (8,)
        assert np.abs(arm.frame(q.inner, HAND).position - frame[:3, 3]).max() <= 1e-6
    frame[:3, 3] = 5
    assert find(GpuArray(frame)) is None


def test_paths_and_trackers_go_through_the_cpu_with_a_warning():
    arm = models.panda()
    way = np.linspace(arm.rest, arm.rest + 0.1, 12).clip(arm.lower, arm.upper)
    frames = np.array(arm.frame(way, HAND).matrix)
    with pytest.warns(UserWarning, match="solve_path computes on the CPU"):
        done = supple.solve_path(arm, Goal(HAND, GpuArray(frames)), GpuArray(way[0]))
    assert isinstance(done.q, GpuArray)
    assert bool(done)
    tracker = Solver().track(arm, HAND, way[0])
    with pytest.warns(UserWarning, match="a tracker computes on the CPU"):
        step = tracker.step(GpuArray(frames[1]), 0.01)
    assert isinstance(step.q, GpuArray)
    frames[3, 0, 3] = np.nan
    with pytest.warns(UserWarning, match="solve_path"), pytest.raises(BadInput, match="must be finite"):
        supple.solve_path(arm, Goal(HAND, GpuArray(frames)))


def test_mixed_devices_and_wrong_shapes_are_refused_by_name():
    arm = models.panda()
    frames = GpuArray(np.array(arm.frame(arm.random(3, seed=8), HAND).matrix))
    goal = Goal(HAND, frames)
    cases = (
        (lambda: supple.solve(arm, goal, arm.rest), "goal 0 is on GPU 0 and start on the CPU"),
        (lambda: supple.solve(arm, [goal, Goal("panda_link4", position=[0, 0, 1])]), "some goals are on a GPU"),
        (lambda: supple.solve(arm, goal, GpuArray(arm.rest, 1)), "goal 0 is on GPU 0 and start on GPU 1"),
        (lambda: supple.solve(arm, goal, GpuArray(arm.rest[:5])), r"start must have shape \(..., 8\)"),
        (lambda: supple.solve(arm, goal, timeout=1), "no timeout"),
        (lambda: supple.solve(arm, goal, method=supple.method.damped()), "on a GPU there is method.search"),
        (lambda: Goal(HAND, frames[..., :3]), r"frame must have shape \(..., 4, 4\)"),
        (lambda: Goal(HAND, position=GpuArray(np.zeros(4))), r"position must have shape \(..., 3\)"),
        (lambda: arm.frame(GpuArray(np.zeros(5)), HAND), r"q must have shape \(..., 8\)"),
        (lambda: arm.frame(GpuArray(np.zeros(8, np.float16)), HAND), "must be of float32 or float64, got float16"),
        (lambda: arm.manipulability(GpuArray(arm.rest), HAND), "in the memory of a GPU"),
        (lambda: arm.clamp(GpuArray(arm.rest)), "in the memory of a GPU"),
        (lambda: Solver().compile(arm, HAND)(frames), r"goal must have shape \(4, 4\)"),
        (lambda: Solver().compile(arm, HAND)(frames[0], GpuArray(arm.rest[:3])), r"start must have shape \(8,\)"),
        (lambda: Solver(device="gpu"), 'device must be "cpu", "cuda"'),
        (lambda: Solver(device="cuda", timeout=1), "no timeout"),
        (lambda: Solver(device="cuda", method=supple.method.damped()), "runs on the CPU"),
    )
    for call, message in cases:
        with pytest.raises(BadInput, match=message):
            call()


def test_without_a_driver_the_error_says_so(monkeypatch):
    monkeypatch.undo()
    from supple._cuda import library as cuda_library

    if cuda_library._NAMES and _has_driver(cuda_library):
        pytest.skip("this machine has a driver")
    arm = models.panda()
    with pytest.raises(supple.DeviceError, match="no NVIDIA driver is installed"):
        Solver(device="cuda").solve(arm, Goal(HAND, arm.frame(arm.random(3, seed=9), HAND)))


def _has_driver(cuda_library):
    try:
        cuda_library._loaded()
    except supple.DeviceError:
        return False
    return True
