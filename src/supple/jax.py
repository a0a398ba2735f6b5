"""Forward and inverse kinematics of JAX arrays, with gradients. Needs ``pip install 'supple[jax]'``.

The results are those of `Linkage.frame`, `Linkage.jacobian` and `Solver.solve`, in the precision of the array that was
given. ``jit``, ``vmap``, ``grad``, ``jacfwd``, ``jacrev`` and ``hessian`` work through them.

Arrays of the CPU are computed by the native core, in double precision. Arrays of a CUDA GPU stay there: XLA calls
supple, which starts its kernels in XLA's stream. They compute in the precision of the array.
"""

from __future__ import annotations

import functools
import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple import _check
from supple._gradients import rules
from supple._gradients.chain import Chain, chain_of
from supple._gradients.inverse import Inverse, inverse_of, of_goal
from supple.errors import BadInput, missing_extra
from supple.linkage import Linkage
from supple.solver import Solver

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise missing_extra("jax", "supple.jax") from error

__all__ = ["frame", "jacobian", "solve"]


def frame(linkage: Linkage, q: jax.Array, link: str) -> jax.Array:
    """Frames (..., 4, 4) of a link in the world for joint values q (..., dof), differentiable to any order.

    The gradient of a ball joint is by its values, a rotation vector.

    >>> import jax, supple
    >>> arm = supple.models.planar2()
    >>> x = lambda q: supple.jax.frame(arm, q, "tip")[0, 3]
    >>> jax.grad(x)(jax.numpy.array([0.0, 0.5])).round(4)
    Array([-4.7943, -4.7943], dtype=float32)
    """
    found: jax.Array = _evaluated(chain_of(linkage, link, "frame(linkage, q, link)"), q)[0]
    return found


def jacobian(linkage: Linkage, q: jax.Array, link: str) -> jax.Array:
    """Jacobians (..., 6, dof) of a link for joint values q (..., dof), as `Linkage.jacobian`, differentiable.

    Its columns of a ball joint are for rotations about the child's axes; its gradient is by the values, a rotation
    vector.

    >>> import jax, supple
    >>> arm = supple.models.planar2()
    >>> y = lambda q: supple.jax.jacobian(arm, q, "tip")[1, 1]
    >>> jax.grad(y)(jax.numpy.array([0.0, 0.5])).round(4)
    Array([-4.7943, -4.7943], dtype=float32)
    """
    chain = chain_of(linkage, link, "jacobian(linkage, q, link)")
    movers: jax.Array = _evaluated(chain, q)[1]
    with _whole_products():
        return movers if chain.is_q else movers @ jnp.asarray(chain.spread, dtype=movers.dtype)


def solve(
    linkage: Linkage,
    goal_frames: jax.Array,
    link: str,
    start: jax.Array | None = None,
    solver: Solver | None = None,
) -> jax.Array:
    """Joint values (..., dof) that bring a link to frames (..., 4, 4), differentiable once by the frames and the start.

    ``start`` (..., dof) and ``solver`` are those of `Solver.solve`; leading axes broadcast. The gradient is by the
    implicit function theorem, in reverse mode: exact for an arm that is not redundant. Joints at a limit do not move,
    and near a singularity the gradient is damped; see the page on gradients. A goal that is out of reach is no error:
    compare `frame` of the result with the goal.

    >>> import jax, supple
    >>> arm = supple.models.panda()
    >>> goal = jax.numpy.array(arm.frame(arm.rest, "panda_hand_tcp").matrix)
    >>> elbow = lambda goal: supple.jax.solve(arm, goal, "panda_hand_tcp", start=jax.numpy.array(arm.rest))[3]
    >>> jax.grad(elbow)(goal).shape
    (4, 4)
    """
    chain = chain_of(linkage, link, "solve(linkage, goal_frames, link)")
    solver = Solver() if solver is None else _check.instance(solver, Solver, "solver", "Solver()")
    goals = _checked(goal_frames, "goal_frames", (4, 4))
    inverse = inverse_of(chain, solver, single=goals.dtype == jnp.float32)
    if start is None:
        return _solve(inverse, goals)
    begin = _checked(start, "start", (linkage.dof,))
    lead = _check.leading_axes(goals.shape[:-2], begin.shape[:-1], what="goal_frames and start")
    begin = jnp.broadcast_to(begin, (*lead, linkage.dof)).astype(goals.dtype)
    return _solve_from(inverse, jnp.broadcast_to(goals, (*lead, 4, 4)), begin)


def _evaluated(chain: Chain, q: Any) -> Any:
    """Frame and columns of a chain."""
    values = _checked(q, "q", (chain.linkage.dof,))
    if not chain.is_q:
        gain, offset = (jnp.asarray(row, dtype=values.dtype) for row in (chain.gain, chain.offset))
        values = values[..., chain.columns] * gain + offset
    return _kinematics(chain, values)


def _checked(value: Any, what: str, last: tuple[int, ...]) -> Any:
    """An array of floats with these last axes; raises `BadInput` for anything else."""
    wanted = f"(..., {', '.join(map(str, last))})"
    if not isinstance(value, jax.Array | np.ndarray):
        raise BadInput(f"{what} must be a JAX array of shape {wanted}, got {_check.short(value)}")
    array = jnp.asarray(value)
    if array.dtype not in (jnp.float32, jnp.float64):
        raise BadInput(f"{what} must be of float32 or float64, got {array.dtype}")
    if array.ndim < len(last) or array.shape[-len(last) :] != last:
        raise BadInput(f"{what} must have shape {wanted}, not {array.shape}")
    if isinstance(array, jax.core.Tracer) or _has_cuda():
        return array
    if any(device.platform != "cpu" for device in array.devices()):
        message = f"supple.jax computes on the CPU and on CUDA GPUs; {what} is copied to the CPU and the result back"
        warnings.warn(message, stacklevel=3)
    return array


@functools.cache
def _has_cuda() -> bool:
    """Whether JAX has a CUDA GPU here; if so, the functions that XLA calls there are registered."""
    try:
        jax.devices("cuda")
    except RuntimeError:
        return False
    from supple._cuda import xla
    from supple._gradients import on_gpu

    for name, work in (("supple_evaluate", on_gpu.evaluate), ("supple_solve", on_gpu.solve)):
        _held[name] = xla.target(work, _interface_version())
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(_held[name]), platform="CUDA")
    return True


_held: dict[str, Any] = {}
"""Functions that XLA has the addresses of."""


def _interface_version() -> tuple[int, int]:
    """The version of XLA's foreign function interface, by the header of jaxlib."""
    header = (Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h").read_text("utf-8")
    major, minor = (re.search(rf"#define XLA_FFI_API_{part} (\d+)", header) for part in ("MAJOR", "MINOR"))
    return (int(major[1]) if major else 0, int(minor[1]) if minor else 1)


def _called_on_gpu(name: str, thing: Any, results: Any, *arrays: Any) -> Any:
    """A function that XLA calls; a batch of `jax.vmap` comes as one more leading axis."""
    from supple._gradients import on_gpu

    call = jax.ffi.ffi_call(name, tuple(results), vmap_method="broadcast_all")
    return call(*arrays, number=np.int64(on_gpu.number_of(thing)))


def _where_it_lies(on_cpu: Any, on_cuda: Any, thing: Any, *arrays: Any) -> Any:
    """``on_cuda(thing, *arrays)`` if the computation is compiled for a CUDA GPU, else ``on_cpu``."""
    if not _has_cuda():
        return on_cpu(thing, *arrays)
    return _chosen(on_cpu, on_cuda, thing, *arrays)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _chosen(on_cpu: Any, on_cuda: Any, thing: Any, *arrays: Any) -> Any:
    return jax.lax.platform_dependent(*arrays, cuda=partial(on_cuda, thing), default=partial(on_cpu, thing))


def _whole_products() -> Any:
    """A ``with`` block in which products of float32 matrices keep all digits: a GPU would round to 10 bits first."""
    return jax.default_matmul_precision("highest")


def _shaped(like: Any, *shapes: tuple[int, ...]) -> list[Any]:
    return [jax.ShapeDtypeStruct(shape, like.dtype) for shape in shapes]


def _called(function: Any, results: Any, *arrays: Any) -> Any:
    """The function of numpy arrays, called at run time; a batch of `jax.vmap` comes as one more leading axis."""
    kind = results[0].dtype

    def on_host(*given: Any) -> Any:
        found = function(*map(np.asarray, given))
        return tuple(np.asarray(each, dtype=kind) for each in found)

    return jax.pure_callback(on_host, tuple(results), *arrays, vmap_method="broadcast_all")


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _kinematics(chain: Chain, values: Any) -> Any:
    """Frame (..., 4, 4) and movers' columns (..., 6, count) of a chain for its values (..., count)."""
    return _where_it_lies(_kinematics_on_cpu, _kinematics_on_cuda, chain, values)


def _kinematics_on_cpu(chain: Chain, values: Any) -> Any:
    return _called(chain.evaluated, _kinematic_results(chain, values), values)


def _kinematics_on_cuda(chain: Chain, values: Any) -> Any:
    return tuple(_called_on_gpu("supple_evaluate", chain, _kinematic_results(chain, values), values))


def _kinematic_results(chain: Chain, values: Any) -> Any:
    lead = values.shape[:-1]
    return _shaped(values, (*lead, 4, 4), (*lead, 6, chain.count))


@_kinematics.defjvp  # type: ignore[untyped-decorator]
def _kinematics_jvp(chain: Chain, primals: Any, tangents: Any) -> Any:
    frames, movers = _kinematics(chain, *primals)
    with _whole_products():
        return (frames, movers), rules.push(jnp, chain, primals[0], frames, movers, tangents[0])


def _solved(inverse: Inverse, *given: Any) -> Any:
    return _where_it_lies(_solved_on_cpu, _solved_on_cuda, inverse, *given)


def _solved_on_cpu(inverse: Inverse, *given: Any) -> Any:
    return _called(lambda *arrays: (inverse.solved(*arrays),), _solve_results(inverse, given[0]), *given)[0]


def _solved_on_cuda(inverse: Inverse, *given: Any) -> Any:
    return _called_on_gpu("supple_solve", inverse, _solve_results(inverse, given[0]), *given)[0]


def _solve_results(inverse: Inverse, goal: Any) -> Any:
    return _shaped(goal, (*goal.shape[:-2], inverse.chain.linkage.dof))


def _pulled(inverse: Inverse, q: Any, gradient: Any) -> Any:
    has_double = jax.dtypes.canonicalize_dtype(jnp.float64) == jnp.float64  # jax_enable_x64
    if has_double and not inverse.balls:
        return _where_it_lies(_pulled_on_cpu, _pulled_on_cuda, inverse, q, gradient)
    if _has_cuda():
        reason = "with limits of ball joints" if inverse.balls else "without jax_enable_x64"
        warnings.warn(f"the gradient of solve {reason} is computed on the CPU", stacklevel=2)
    return _pulled_on_cpu(inverse, q, gradient)


def _pulled_on_cpu(inverse: Inverse, q: Any, gradient: Any) -> Any:
    shapes = _shaped(q, (*q.shape[:-1], 6), q.shape)
    return _called(inverse.pulled, shapes, q, gradient)


def _pulled_on_cuda(inverse: Inverse, q: Any, gradient: Any) -> Any:
    rows = jnp.asarray(q, jnp.float64), jnp.asarray(gradient, jnp.float64)  # near a singularity single is not enough
    with _whole_products():
        found = inverse.pulled_in(jnp, *rows, partial(_kinematics_on_cuda, inverse.chain))
    return tuple(each.astype(q.dtype) for each in found)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(inverse: Inverse, goal: Any) -> Any:
    return _solved(inverse, goal)


def _solve_forward(inverse: Inverse, goal: Any) -> Any:
    q = _solved(inverse, goal)
    return q, (goal, q)


def _solve_backward(inverse: Inverse, kept: Any, gradient: Any) -> Any:
    wrench, _ = _pulled(inverse, kept[1], gradient)
    return (of_goal(jnp, kept[0], wrench),)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve_from(inverse: Inverse, goal: Any, start: Any) -> Any:
    return _solved(inverse, goal, start)


def _solve_from_forward(inverse: Inverse, goal: Any, start: Any) -> Any:
    q = _solved(inverse, goal, start)
    return q, (goal, q)


def _solve_from_backward(inverse: Inverse, kept: Any, gradient: Any) -> Any:
    wrench, of_start = _pulled(inverse, kept[1], gradient)
    return of_goal(jnp, kept[0], wrench), of_start


_solve.defvjp(_solve_forward, _solve_backward)
_solve_from.defvjp(_solve_from_forward, _solve_from_backward)
