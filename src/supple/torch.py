"""Forward and inverse kinematics of torch tensors, with gradients. Needs ``pip install 'supple[torch]'``.

The results are those of `Linkage.frame`, `Linkage.jacobian` and `Solver.solve`, computed in double precision by the
same source, and returned in the precision of the tensor that was given. `torch.func` (grad, jacrev, jacfwd, hessian,
vmap) works through them. Tensors are on the CPU or on a CUDA device, where they stay; only the gradient of `solve` for
a linkage whose ball joints have limits is computed on the CPU, and a warning says so once.
"""

from __future__ import annotations

import warnings
from typing import Any

from supple import _check
from supple._gradients import rules
from supple._gradients.chain import Chain, chain_of
from supple._gradients.inverse import Inverse, of_goal
from supple.errors import BadInput, missing_extra
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver

try:
    import torch
except ImportError as error:
    raise missing_extra("torch", "supple.torch") from error

__all__ = ["frame", "jacobian", "solve"]


def frame(linkage: Linkage, q: torch.Tensor, link: str) -> torch.Tensor:
    """Frames (..., 4, 4) of a link in the world for joint values q (..., dof), differentiable to any order.

    The gradient of a ball joint is by its values, a rotation vector.

    >>> import torch, supple
    >>> arm = supple.models.planar2()
    >>> q = torch.tensor([0.0, 0.5], requires_grad=True)
    >>> supple.torch.frame(arm, q, "tip")[0, 3].backward()
    >>> q.grad
    tensor([-4.7943, -4.7943])
    """
    chain = chain_of(linkage, link, "frame(linkage, q, link)")
    _check_tensor(q, "q", (linkage.dof,))
    found: torch.Tensor = _Frame.apply(q.double(), chain)
    return found.to(q.dtype)


def jacobian(linkage: Linkage, q: torch.Tensor, link: str) -> torch.Tensor:
    """Jacobians (..., 6, dof) of a link for joint values q (..., dof), as `Linkage.jacobian`, differentiable.

    Its columns of a ball joint are for rotations about the child's axes; its gradient is by the values, a rotation
    vector.

    >>> import torch, supple
    >>> arm = supple.models.planar2()
    >>> q = torch.tensor([0.0, 0.5], requires_grad=True)
    >>> supple.torch.jacobian(arm, q, "tip")[1, 1].backward()
    >>> q.grad
    tensor([-4.7943, -4.7943])
    """
    chain = chain_of(linkage, link, "jacobian(linkage, q, link)")
    _check_tensor(q, "q", (linkage.dof,))
    movers = _Kinematics.apply(_values(chain, q.double()), chain)[1]
    return (movers if chain.is_q else movers @ _space(q).asarray(chain.spread)).to(q.dtype)


def solve(
    linkage: Linkage,
    goal_frames: torch.Tensor,
    link: str,
    start: torch.Tensor | None = None,
    solver: Solver | None = None,
) -> torch.Tensor:
    """Joint values (..., dof) that bring a link to frames (..., 4, 4), differentiable once by the frames and the start.

    ``start`` (..., dof) and ``solver`` are those of `Solver.solve`; leading axes broadcast. The gradient is by the
    implicit function theorem: exact for an arm that is not redundant. Joints at a limit do not move, and near a
    singularity the gradient is damped; see the page on gradients. A goal that is out of reach is no error: compare
    `frame` of the result with the goal.

    >>> import torch, supple
    >>> arm = supple.models.panda()
    >>> goal = torch.tensor(arm.frame(arm.rest, "panda_hand_tcp").matrix, requires_grad=True)
    >>> q = supple.torch.solve(arm, goal, "panda_hand_tcp", start=torch.tensor(arm.rest))
    >>> q[1].backward()
    >>> goal.grad[:3, 3].shape
    torch.Size([3])
    """
    chain = chain_of(linkage, link, "solve(linkage, goal_frames, link)")
    solver = Solver() if solver is None else _check.instance(solver, Solver, "solver", "Solver()")
    _check_tensor(goal_frames, "goal_frames", (4, 4))
    if start is not None:
        _check_tensor(start, "start", (linkage.dof,))
        axes = tuple(goal_frames.shape[:-2]), tuple(start.shape[:-1])
        lead = _check.leading_axes(*axes, what="goal_frames and start")
        goal_frames, start = goal_frames.expand(*lead, 4, 4), start.expand(*lead, linkage.dof).double()
        if start.device != goal_frames.device:
            raise BadInput(f"goal_frames is on {goal_frames.device} and start on {start.device}")
    inverse = Inverse(chain, solver, single=goal_frames.dtype == torch.float32)
    found: torch.Tensor = _Solve.apply(goal_frames.double(), start, inverse)
    return found.to(goal_frames.dtype)


def _values(chain: Chain, q: torch.Tensor) -> torch.Tensor:
    """The values (..., count) of a chain for q (..., dof) of float64."""
    space = _space(q)
    return q if chain.is_q else q @ space.asarray(chain.spread).T + space.asarray(chain.offset)


class _Space:
    """The functions of torch, with constants on one device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def asarray(self, value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Numbers as a tensor on the device."""
        return torch.asarray(value, dtype=dtype, device=self._device)


def _space(array: torch.Tensor) -> Any:
    return _Space(array.device)


def _check_tensor(value: Any, what: str, last: tuple[int, ...]) -> None:
    """Raises `BadInput` unless a value is a tensor of floats on the CPU or on a CUDA device with these last axes."""
    wanted = f"(..., {', '.join(map(str, last))})"
    if not isinstance(value, torch.Tensor):
        raise BadInput(f"{what} must be a torch.Tensor of shape {wanted}, got {_check.short(value)}")
    if value.dtype not in (torch.float32, torch.float64):
        raise BadInput(f"{what} must be of float32 or float64, got {value.dtype}")
    if value.device.type not in ("cpu", "cuda"):
        raise BadInput(f"{what} is on {value.device}; tensors of the CPU and of CUDA are taken: write {what}.cpu()")
    if tuple(value.shape[-len(last) :]) != last or value.ndim < len(last):
        raise BadInput(f"{what} must have shape {wanted}, not {tuple(value.shape)}")


def _first(array: torch.Tensor | None, dim: int | None, size: int) -> Any:
    """A tensor of a batch with the axis of the batch first; one that all of the batch share is repeated."""
    if array is None:
        return None
    return array.expand(size, *array.shape) if dim is None else array.movedim(dim, 0)


class _Frame(torch.autograd.Function):  # type: ignore[misc]
    """Frames (..., 4, 4) for q (..., dof). The core computes the first derivative, `_Kinematics` those above."""

    @staticmethod
    def forward(q: torch.Tensor, chain: Chain) -> torch.Tensor:
        if q.is_cuda:
            return chain.linkage.frame(q.detach(), chain.link)
        return torch.from_numpy(chain.frame(q.detach().numpy()))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        q, ctx.chain = inputs
        ctx.save_for_backward(q)
        ctx.save_for_forward(q)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (q,), chain = ctx.saved_tensors, ctx.chain
        if not torch.is_grad_enabled():
            return _PulledFrame.apply(q, gradients[0], chain), None
        values = _values(chain, q)
        frames, movers = _Kinematics.apply(values, chain)
        of_values = rules.pull(_space(q), chain, values, frames, movers, gradients[0], None)
        return of_values if chain.is_q else of_values @ _space(q).asarray(chain.spread), None

    @staticmethod
    def jvp(ctx: Any, *changes: Any) -> Any:
        (q,), chain = ctx.saved_tensors, ctx.chain
        values, change = _values(chain, q), changes[0] @ _space(q).asarray(chain.spread).T
        frames, movers = _Kinematics.apply(values, chain)
        return rules.push(_space(q), chain, values, frames, movers, change)[0]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], q: torch.Tensor, chain: Chain) -> Any:
        return _Frame.apply(_first(q, in_dims[0], info.batch_size), chain), 0


class _PulledFrame(torch.autograd.Function):  # type: ignore[misc]
    """The gradient by q (..., dof) for one by frames (..., 4, 4), where no gradient of it is wanted."""

    @staticmethod
    def forward(q: torch.Tensor, gradient: torch.Tensor, chain: Chain) -> torch.Tensor:
        if not q.is_cuda:
            return torch.from_numpy(rules.pull_frame(chain, q.detach().numpy(), gradient.detach().numpy()))
        space, values = _space(q), _values(chain, q.detach())
        frames, movers = chain.alone.frame_and_jacobian(values, chain.link)
        of_values = rules.pull(space, chain, values, frames, movers, gradient.detach(), None)
        return of_values if chain.is_q else of_values @ space.asarray(chain.spread)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], q: Any, gradient: Any, chain: Chain) -> Any:
        q, gradient = (_first(each, dim, info.batch_size) for each, dim in zip((q, gradient), in_dims, strict=False))
        return _PulledFrame.apply(q, gradient, chain), 0


class _Kinematics(torch.autograd.Function):  # type: ignore[misc]
    """Frame (..., 4, 4) and movers' columns (..., 6, count) of a chain for its values (..., count)."""

    @staticmethod
    def forward(values: torch.Tensor, chain: Chain) -> tuple[torch.Tensor, torch.Tensor]:
        if values.is_cuda:
            return chain.alone.frame_and_jacobian(values.detach(), chain.link)
        frames, movers = chain.evaluated(values.detach().numpy())  # numpy's memory has huge pages, torch's has not
        return torch.from_numpy(frames), torch.from_numpy(movers)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
        ctx.chain = inputs[1]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(inputs[0], *output)
        ctx.save_for_forward(inputs[0], *output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, None]:
        if gradients[0] is None and gradients[1] is None:
            return None, None
        return rules.pull(_space(ctx.saved_tensors[0]), ctx.chain, *ctx.saved_tensors, *gradients), None

    @staticmethod
    def jvp(ctx: Any, *changes: Any) -> Any:
        values, frames, movers = ctx.saved_tensors
        return rules.push(_space(values), ctx.chain, values, frames, movers, changes[0])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], values: torch.Tensor, chain: Chain) -> Any:
        return _Kinematics.apply(_first(values, in_dims[0], info.batch_size), chain), (0, 0)


class _Solve(torch.autograd.Function):  # type: ignore[misc]
    """Joint values (..., dof) for goals (..., 4, 4) and a start (..., dof) or None."""

    @staticmethod
    def forward(goal: torch.Tensor, start: torch.Tensor | None, inverse: Inverse) -> torch.Tensor:
        if goal.is_cuda:
            kind = torch.float32 if inverse.single else torch.float64
            there = [None if each is None else each.detach().to(kind) for each in (goal, start)]
            found = inverse.solver.solve(inverse.chain.linkage, Goal(inverse.chain.link, there[0]), there[1])
            return torch.asarray(found.q, dtype=torch.float64)
        begin = None if start is None else start.detach().numpy()
        return torch.from_numpy(inverse.solved(goal.detach().numpy(), begin))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        goal, start, ctx.inverse = inputs
        ctx.has_start = start is not None
        ctx.save_for_backward(goal, output)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        goal, q = ctx.saved_tensors
        wrench, of_start = _Pulled.apply(q, gradients[0], ctx.inverse)
        return of_goal(_space(goal), goal, wrench), of_start if ctx.has_start else None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], goal: Any, start: Any, inverse: Inverse) -> Any:
        goal, start = (_first(each, dim, info.batch_size) for each, dim in zip((goal, start), in_dims, strict=False))
        return _Solve.apply(goal, start, inverse), 0


class _Pulled(torch.autograd.Function):  # type: ignore[misc]
    """The gradients of `_Solve`. They are not differentiated again."""

    @staticmethod
    def forward(q: torch.Tensor, gradient: torch.Tensor, inverse: Inverse) -> tuple[torch.Tensor, torch.Tensor]:
        if q.is_cuda and not inverse.balls:
            rows = torch.broadcast_shapes(q.shape, gradient.shape)
            alone, link = inverse.chain.alone, inverse.chain.link
            there = q.detach().expand(rows), gradient.detach().expand(rows)
            return inverse.pulled_in(_space(q), *there, lambda values: alone.frame_and_jacobian(values, link))
        if q.is_cuda:
            warnings.warn("the gradient of solve with limits of ball joints is computed on the CPU", stacklevel=2)
        wrench, of_start = inverse.pulled(q.detach().cpu().numpy(), gradient.detach().cpu().numpy())
        return torch.from_numpy(wrench).to(q.device), torch.from_numpy(of_start).to(q.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise NotImplementedError("supple.torch.solve is differentiable once; its gradient has no gradient")

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], q: Any, gradient: Any, inverse: Inverse) -> Any:
        q, gradient = (_first(each, dim, info.batch_size) for each, dim in zip((q, gradient), in_dims, strict=False))
        return _Pulled.apply(q, gradient, inverse), (0, 0)
