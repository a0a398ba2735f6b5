"""Arrays of torch, CuPy and JAX on a real GPU. Also a program: `python tests/arrays/test_cuda.py` says what holds."""

import importlib
import inspect
import itertools
import sys
import time
import traceback
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

try:
    import pytest
except ImportError:  # the program runs without it
    pytest = None

import supple
from supple import Goal, Solver, models
from supple._gradients.chain import chain_of
from supple._gradients.inverse import Inverse, of_goal

HAND = "panda_hand_tcp"
ROWS = 2000


LIBRARIES = ("torch", "cupy", "jax")
KINDS = (np.float64, np.float32)


def library(name):
    """A library that has a GPU here; the test is skipped where there is none."""
    try:
        found = importlib.import_module(name)
        has = {
            "torch": lambda: found.cuda.is_available(),
            "cupy": lambda: found.cuda.runtime.getDeviceCount() > 0,
            "jax": lambda: any(device.platform in ("gpu", "cuda") for device in found.devices()),
        }[name]()
    except Exception:  # not installed, no driver, or one that does not fit
        has = False
    if not has:
        raise unittest.SkipTest(f"{name} has no GPU here")
    return found


def for_each(*choices):
    """Decorator: the test with each choice of its arguments; under pytest, one test for each."""

    def decorated(test):
        test.cases = list(itertools.product(*choices))
        if pytest is None:
            return test
        names = ",".join(inspect.signature(test).parameters)
        return pytest.mark.parametrize(names, test.cases if len(choices) > 1 else [case[0] for case in test.cases])(
            test
        )

    return decorated


def placed(name, numbers):
    """NumPy numbers on the first GPU, and how to get numbers back."""
    module = library(name)
    if name == "torch":
        return module.tensor(numbers, device="cuda"), lambda array: array.cpu().numpy()
    if name == "cupy":
        return module.asarray(numbers), lambda array: array.get()
    module.config.update("jax_enable_x64", True)
    return module.device_put(numbers, module.devices()[0]), np.asarray


@for_each(LIBRARIES, KINDS)
def test_forward_kinematics(name, kind):
    for arm, link in ((models.panda(), HAND), (models.g1(), models.g1().tips[0]), (models.human(), "left_hand")):
        rows = arm.random(ROWS, seed=0).astype(kind)
        q, back = placed(name, rows)
        bound = 1e-11 if kind == np.float64 else 3e-5
        pairs = [(arm.frame(q, link), arm.frame(rows, link).matrix), (arm.jacobian(q, link), arm.jacobian(rows, link))]
        pairs.append((arm.frames(q).matrix, arm.frames(rows).matrix))
        pairs += zip(arm.frame_and_jacobian(q, link), arm.frame_and_jacobian(rows, link), strict=True)
        for found, expected in pairs:
            assert type(found) is type(q)
            assert np.abs(back(found) - np.asarray(expected)).max() < bound
        assert back(arm.frame(q[:0], link)).shape == (0, 4, 4)


@for_each(LIBRARIES, KINDS, (1, ROWS, 20_000))
def test_goals_are_met_within_limits(name, kind, rows):
    arm = models.panda()
    frames = np.array(arm.frame(arm.random(rows, seed=1), HAND).matrix, kind)
    goals, back = placed(name, frames)
    found = supple.solve(arm, Goal(HAND, goals))
    q = back(found.q).astype(float)
    assert type(found.q) is type(goals)
    share = back(found.arrived).mean()
    assert share >= 0.9999, share  # q in single precision is judged as it is
    assert arm.inside(q, 0).all()
    away = np.linalg.norm(arm.frame(q, HAND).position - frames[:, :3, 3], axis=-1)
    assert away[back(found.arrived)].max() <= (1e-6 if kind == np.float64 else 1.2e-6)


@for_each(LIBRARIES)
def test_starts_parts_and_several_solutions(name):
    arm = models.panda()
    frames, start = arm.frame(arm.random(300, seed=2), HAND), arm.random(300, seed=3)
    position, back = placed(name, np.array(frames.position))
    begin, _ = placed(name, start)
    found = supple.solve(arm, Goal(HAND, position=position), begin)
    assert back(found.arrived).all()
    assert np.linalg.norm(arm.frame(back(found.q), HAND).position - frames.position, axis=-1).max() <= 1e-6
    several = supple.solve(arm, Goal(HAND, placed(name, np.array(frames.matrix))[0]), solutions=4)
    assert several.q.shape == (300, 4, 8)


def test_the_callers_stream_is_used():
    torch = library("torch")
    arm, stream = models.panda(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for seed in range(5):
            q = torch.tensor(arm.random(ROWS, seed=seed), device="cuda")
            busy = torch.randn(2000, 2000, device="cuda")
            for _ in range(20):
                busy = busy @ busy * 1e-3
            later = q + 0 * busy.sum().double().nan_to_num()
            found = arm.frame(later, HAND)
            expected = arm.frame(arm.random(ROWS, seed=seed), HAND).matrix
            assert np.abs(found.cpu().numpy() - expected).max() < 1e-11


def test_gradients_of_cuda_tensors():
    torch = library("torch")
    import supple.torch

    arm = models.panda()
    rows = torch.tensor(arm.random(50, seed=4), requires_grad=True)
    there = rows.detach().cuda().requires_grad_()
    for function in (supple.torch.frame, supple.torch.jacobian):
        for q in (rows, there):
            q.grad = None
            function(arm, q, HAND).square().sum().backward()
        assert torch.allclose(rows.grad, there.grad.cpu(), rtol=0, atol=1e-9)
    goal = torch.tensor(arm.frame(arm.random(20, seed=5), HAND).matrix, device="cuda", requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = supple.torch.solve(arm, goal, HAND)
        found.sum().backward()
    assert goal.grad.is_cuda
    inverse = Inverse(chain_of(arm, HAND), Solver())
    wrench, _ = inverse.pulled(found.detach().cpu().numpy(), np.ones(found.shape))
    expected = of_goal(np, goal.detach().cpu().numpy(), wrench)
    assert np.abs(goal.grad.cpu().numpy() - expected).max() <= 1e-9 * np.abs(expected).max()


def on_cpu_and_gpu(numbers):
    """Numbers as JAX arrays of the CPU and of the first GPU."""
    jax = library("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.device_put(numbers, jax.devices("cpu")[0]), jax.device_put(numbers, jax.devices("cuda")[0])


def agree_there(function, numbers, bound, *others):
    """Whether a function of JAX gives the same on CPU and GPU, eagerly and under jit; the results of the GPU are
    there, nothing is copied through the host and nothing is warned of."""
    jax = library("jax")
    here, there = on_cpu_and_gpu(numbers)
    pairs = [on_cpu_and_gpu(each) for each in others]
    expected = function(here, *(pair[0] for pair in pairs))
    for chosen in (function, jax.jit(function)):
        chosen(there, *(pair[1] for pair in pairs))  # constants of a first call come from the host
        with warnings.catch_warnings(), jax.transfer_guard_device_to_host("disallow"):
            warnings.simplefilter("error")
            found = chosen(there, *(pair[1] for pair in pairs))
            found.block_until_ready()
        assert {device.platform for device in found.devices()} == {"gpu"}
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        error = np.abs(np.asarray(found) - np.asarray(expected)).max(initial=0)
        assert error <= bound * max(1, np.abs(np.asarray(expected)).max(initial=0)), error


@for_each(KINDS)
def test_jax_kinematics_and_its_derivatives(kind):
    jax = library("jax")
    import supple.jax

    bound = 1e-11 if kind == np.float64 else 3e-5
    for arm, link in ((models.panda(), HAND), (models.g1(), models.g1().tips[0]), (models.human(), "left_hand")):
        q = arm.random(6, seed=7).astype(kind).reshape(2, 3, -1)

        def height(row):
            return supple.jax.frame(arm, row, link)[2, 3]  # noqa: B023

        def jacobian(row):
            return supple.jax.jacobian(arm, row, link)  # noqa: B023

        twice = lambda function: jax.vmap(jax.vmap(function))  # noqa: E731
        agree_there(lambda q: supple.jax.frame(arm, q, link), q, bound)  # noqa: B023
        agree_there(jacobian, q, bound)
        agree_there(jacobian, q[:0], bound)
        derivatives = (jax.grad(height), jax.jacfwd(jacobian), jax.hessian(height), jax.jacrev(jacobian))
        for derivative in derivatives if arm.dof < 9 else derivatives[:1]:  # XLA compiles those of a tree slowly
            agree_there(twice(derivative), q, 10 * bound)


@for_each(KINDS, (1, ROWS, 20_000))
def test_jax_solves_and_their_gradients(kind, rows):
    jax = library("jax")
    import supple.jax

    arm = models.panda()
    numbers = arm.random(rows, seed=8)
    start = numbers.astype(kind)
    frames = np.array(arm.frame(numbers, HAND).matrix, kind)
    _, goals = on_cpu_and_gpu(frames)
    _, begin = on_cpu_and_gpu(start)

    def solved(goal):
        return supple.jax.solve(arm, goal, HAND)

    for solve in (solved, jax.jit(solved), jax.vmap(solved), jax.jit(jax.vmap(solved))):
        q = np.asarray(solve(goals)).astype(float)
        away = np.linalg.norm(arm.frame(q, HAND).position - frames[:, :3, 3], axis=-1)
        assert (away <= 1.2e-6).mean() >= 0.9999
        assert arm.inside(q, 0).all()
    from_start = jax.jit(lambda goal, start: supple.jax.solve(arm, goal, HAND, start))(goals, begin)
    assert np.abs(np.asarray(from_start) - start).max() < 1e-3
    inverse = Inverse(chain_of(arm, HAND), Solver())

    def pulled(q):
        return jax.numpy.concatenate(supple.jax._pulled(inverse, q, 1 + 0 * q), -1)

    agree_there(pulled, start, 1e-8 if kind == np.float64 else 1e-6)
    found, pull = jax.vjp(solved, goals)
    (gradient,) = jax.jit(pull)(jax.numpy.ones_like(found))
    wrench, _ = inverse.pulled(np.asarray(found), np.ones(found.shape))
    expected = of_goal(np, frames.astype(float), wrench)
    error = np.abs(np.asarray(gradient) - expected).max() / np.abs(expected).max()
    assert error <= (1e-8 if kind == np.float64 else 1e-6), error


def test_without_double_precision_jax_computes_the_gradient_of_a_solve_on_the_cpu():
    jax = library("jax")
    import supple.jax

    arm = models.panda()
    q = arm.random(ROWS, seed=9).astype(np.float32)
    inverse = Inverse(chain_of(arm, HAND), Solver())
    expected = np.concatenate(inverse.pulled(q, np.ones_like(q)), -1)
    _, there = on_cpu_and_gpu(q)
    jax.config.update("jax_enable_x64", False)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            pulled = jax.jit(lambda q: jax.numpy.concatenate(supple.jax._pulled(inverse, q, 1 + 0 * q), -1))
            found = np.asarray(pulled(there))
    finally:
        jax.config.update("jax_enable_x64", True)
    assert any("without jax_enable_x64" in str(each.message) for each in said)
    assert found.dtype == np.float32
    error = np.linalg.norm(found - expected, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert error.max() <= 1e-5, error.max()


def test_jax_computes_in_the_order_of_its_stream():
    """The numbers that go in are made by long work of the GPU just before, and used just after."""
    jax = library("jax")
    import supple.jax

    arm = models.panda()
    rows = arm.random(ROWS, seed=9)
    _, q = on_cpu_and_gpu(rows)
    _, noise = on_cpu_and_gpu(np.random.default_rng(0).normal(size=(2000, 2000)))

    @jax.jit
    def loss(q, noise):
        for _ in range(10):
            noise = jax.numpy.tanh(noise @ noise)
        later = q + 0 * noise.sum()
        return supple.jax.frame(arm, supple.jax.solve(arm, supple.jax.frame(arm, later, HAND), HAND), HAND)

    expected = arm.frame(rows, HAND).matrix
    several = [loss(q, noise + k) for k in range(5)]
    errors = [np.abs(np.asarray(each) - expected)[:, :3, 3].max() for each in several]
    assert max(errors) <= 1e-6, errors


def test_jax_from_several_threads():
    """Threads that call, wait for the GPU and use torch there do not block one another."""
    jax, torch = library("jax"), library("torch")
    import supple.jax

    arm = models.ur5()
    rows = arm.random(500, seed=10)
    _, q = on_cpu_and_gpu(rows)
    expected = arm.frame(rows, "tool0").matrix
    gradient = jax.jit(jax.vmap(jax.grad(lambda row: supple.jax.frame(arm, row, "tool0")[0, 3])))

    def work(_):
        there = torch.tensor(rows, device="cuda")
        for _ in range(20):
            assert np.abs(np.asarray(supple.jax.frame(arm, q, "tool0")) - expected).max() < 1e-11
            assert np.isfinite(gradient(q)).all()
            assert np.abs(arm.frame(there, "tool0").cpu().numpy() - expected).max() < 1e-11
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8), timeout=100))


def test_an_error_on_the_gpu_is_raised_by_jax():
    library("jax")
    import supple.jax

    arm = models.ur5()
    _, goal = on_cpu_and_gpu(np.array(arm.frame(arm.rest, "tool0").matrix))
    said = ""
    try:
        supple.jax.solve(arm, goal, "tool0", solver=Solver(timeout=0.1)).block_until_ready()
    except Exception as error:  # its class has another name in each version of JAX
        said = str(error)
    assert "on a GPU a solve has no timeout" in said
    assert np.isfinite(supple.jax.solve(arm, goal, "tool0")).all()


@for_each(LIBRARIES)
def test_a_compiled_solver_and_the_calls_of_the_cpu(name):
    arm = models.panda()
    frames = np.array(arm.frame(np.linspace(arm.rest, arm.rest + 0.05, 8).clip(arm.lower, arm.upper), HAND).matrix)
    given, back = placed(name, frames)
    q = Solver().compile(arm, HAND)(given[3])
    assert type(q) is type(given)
    assert np.abs(arm.frame(back(q), HAND).position - frames[3, :3, 3]).max() <= 1e-6
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = supple.solve_path(arm, Goal(HAND, given))
        step = Solver().track(arm, HAND, arm.rest).step(given[1], 0.01)
    assert sum("computes on the CPU" in str(each.message) for each in said) == 2
    assert type(done.q) is type(given)
    assert type(step.q) is type(given)
    assert bool(done)


@for_each((10, 300_000))
def test_numpy_goals_through_the_gpu(rows):
    library("torch")
    arm = models.panda()
    frames = arm.frame(arm.random(rows, seed=6), HAND)
    found = Solver(device="cuda").solve(arm, Goal(HAND, frames))
    assert found.arrived.mean() >= 0.9999
    assert found.distance[found.arrived].max() <= 1e-6
    assert arm.inside(found.q, 0).all()


def main():
    """Runs every test that can run here, or those with a word of the command line; prints a line for each."""
    words = sys.argv[1:]
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    tests = [test for test in tests if not words or any(word in test.__name__ for word in words)]
    cases = [(test, arguments) for test in tests for arguments in getattr(test, "cases", [()])]
    for test, arguments in cases:
        began = time.perf_counter()
        try:
            test(*arguments)
            said = "holds"
        except unittest.SkipTest as skipped:
            said = f"skipped: {skipped}"
        except BaseException:
            said = "FAILS\n" + traceback.format_exc(limit=-6)
        words = ", ".join(getattr(each, "__name__", str(each)) for each in arguments)
        print(f"{test.__name__}({words}): {said} ({time.perf_counter() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
