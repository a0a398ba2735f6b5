"""Compares gradients of forward kinematics with pytorch-kinematics and with JAX's own: the Panda's tool, in batches.

    python benchmarks/gradients.py [--rows 100000] [--rounds 5]

A peer that is not installed is left out. Times are minima of some rounds: CPU time of all threads, since other programs
change it least. All gradients are first checked against each other. Needs the extras `torch` and `jax`, and
`pip install pytorch-kinematics`.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import supple
from supple._table import text_table

LINK = "panda_hand_tcp"
BAR = 50
"""How many times faster than pytorch-kinematics forward and backward together should be."""
Timed = tuple[float, float]


def shortest(call: Callable[[], object], rounds: int) -> Timed:
    """CPU time and wall time in seconds, the minima of some rounds."""
    cpu = wall = float("inf")
    call()
    for _ in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        call()
        cpu, wall = min(cpu, time.process_time() - used), min(wall, time.perf_counter() - began)
    return cpu, wall


def with_torch(q: np.ndarray, weight: np.ndarray, rounds: int) -> dict[str, tuple[Timed, np.ndarray]]:
    """Times and gradients of the libraries on torch: of supple, and of pytorch-kinematics if it is installed."""
    import torch

    arm, weights, values = supple.models.panda(), torch.tensor(weight), torch.tensor(q, requires_grad=True)

    def measured(frames: Callable[[], torch.Tensor]) -> tuple[Timed, np.ndarray]:
        def forward_and_backward() -> None:
            values.grad = None
            frames().backward(weights)

        took = shortest(forward_and_backward, rounds)
        assert values.grad is not None
        return took, values.grad.numpy().copy()

    found = {"supple.torch": measured(lambda: supple.torch.frame(arm, values, LINK))}
    if importlib.util.find_spec("pytorch_kinematics"):
        import pytorch_kinematics

        file = Path(supple.__file__).parent / "data" / "panda.urdf"
        chain = pytorch_kinematics.build_serial_chain_from_urdf(file.read_bytes(), LINK).to(dtype=torch.float64)
        moved = len(chain.get_joint_parameter_names())
        found["pytorch-kinematics"] = measured(lambda: chain.forward_kinematics(values[:, :moved]).get_matrix())
    return found


def with_jax(q: np.ndarray, weight: np.ndarray, rounds: int) -> dict[str, tuple[Timed, np.ndarray]]:
    """Times and gradients on JAX: of supple, and of a forward kinematics written in JAX, both compiled."""
    import jax

    jax.config.update("jax_enable_x64", True)
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
    import oracle_jax

    arm = supple.models.panda()

    def measured(frames: Callable[[jax.Array], jax.Array]) -> tuple[Timed, np.ndarray]:
        gradient = jax.jit(jax.grad(lambda q, weight: (frames(q) * weight).sum()))
        at, weights = jax.numpy.array(q), jax.numpy.array(weight)
        took = shortest(lambda: gradient(at, weights).block_until_ready(), rounds)
        return took, np.asarray(gradient(at, weights))

    return {
        "supple.jax": measured(lambda q: supple.jax.frame(arm, q, LINK)),
        "plain JAX": measured(jax.vmap(lambda q: oracle_jax.frame(arm, q, LINK))),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=100_000)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    q = supple.models.panda().random(given.rows, seed=0)
    weight = np.random.default_rng(0).normal(size=(given.rows, 4, 4))
    found: dict[str, tuple[Timed, np.ndarray]] = {}
    for library, measure in (("torch", with_torch), ("jax", with_jax)):
        if importlib.util.find_spec(library):
            found |= measure(q, weight, given.rounds)
    ours, reference = next(iter(found.values()))
    for name, (_, gradient) in found.items():
        worst = np.abs(gradient - reference).max()
        assert worst < 1e-6, f"{name} disagrees by {worst:g}"
    rows = [
        [name, f"{1e3 * cpu:.1f}", f"{1e3 * wall:.1f}", f"{cpu / ours[0]:.1f}"]
        for name, ((cpu, wall), _) in found.items()
    ]
    print(f"forward and backward of {given.rows:,} rows; bar: {BAR} times pytorch-kinematics")
    print(*text_table([["library", "CPU ms", "wall ms", "times supple.torch"], *rows], "<>"), sep="\n")


if __name__ == "__main__":
    main()
