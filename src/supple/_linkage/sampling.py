"""Random samples of a linkage for workspaces: joint values in chunks, orientations, and a grid of voxels."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import as_completed
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supple._linkage import outline
from supple._progress import Progress
from supple._threads import pool
from supple.errors import BadInput
from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.linkage import Linkage

CHUNK = 8_192  # samples that one thread draws at a time
MAX_VOXELS = 100_000_000


def dimension(linkage: Linkage, link: str) -> int:
    """In how many dimensions a link moves, 1 to 3: the rank of its linear Jacobian; `BadInput` if it does not move."""
    sizes = np.linalg.svd(linkage.jacobian(linkage.random(32, seed=0), link)[:, :3], compute_uv=False)
    rank = int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum(axis=-1).max())
    if rank == 0:
        raise BadInput(f"no joint moves the position of link {link!r}: it has no workspace")
    return rank


def draw(linkage: Linkage, n: int, seed: int, chunk: int) -> Array:
    """The q (n, dof) of a chunk of samples: the same on any thread."""
    return linkage.random(n, seed=np.random.default_rng([seed, chunk]))


def draw_all(linkage: Linkage, samples: int, seed: int) -> Array:
    """The q (samples, dof) of all chunks."""
    parts = [draw(linkage, min(CHUNK, samples - i), seed, i // CHUNK) for i in range(0, samples, CHUNK)]
    return np.concatenate(parts)


def in_chunks(work: Callable[[int], None], samples: int, what: str, progress: bool) -> bool:
    """Do the work of every chunk on all cores; False if Ctrl-C came before the end."""
    chunks = -(-samples // CHUNK)
    wanted = os.environ.get("SUPPLE_THREADS", "")
    threads = min(256, int(wanted) if wanted.isdigit() else os.cpu_count() or 1)
    done = 0
    with pool(max(1, min(threads, chunks))) as workers, Progress(what, chunks, shown=progress) as bar:
        try:
            for future in as_completed([workers.submit(work, chunk) for chunk in range(chunks)]):
                future.result()
                done += 1
                bar.step()
        except BaseException as error:
            workers.shutdown(cancel_futures=True)
            if not (isinstance(error, KeyboardInterrupt) and done):
                raise
    return done == chunks


def grid(
    positions: Array, rank: int, voxel: float | None, filled: float
) -> tuple[bool, Frame, float, tuple[int, int, int]]:
    """A grid around samples (n, 3): whether it is flat, its lowest corner, the side of a voxel and the shape.

    Without a side, it is chosen so that about ``filled`` voxels hold samples.
    """
    few = positions[:4096] - positions[:4096].mean(axis=0)
    spread, axes = np.linalg.svd(few, full_matrices=False)[1:]
    flat = rank < 3 and len(spread) == 3 and bool(spread[2] <= 1e-9 * spread[0])
    rotation = np.eye(3)
    if flat:
        normal = np.round(axes[2], 12)  # so that a plane along the world's axes is exactly along them
        u, v = outline.directions(normal / np.linalg.norm(normal))
        rotation = np.stack([u, v, np.cross(u, v)], axis=-1)
    local = positions @ rotation
    low, high = local.min(axis=0), local.max(axis=0)
    extent = (high - low) * ([1, 1, 0] if flat else [1, 1, 1])
    if voxel is None:
        ways = 2 if flat else 3
        box = float(np.prod(np.maximum(np.sort(extent)[-ways:], 1e-3 * extent.max())))
        voxel = (0.6 * box / filled) ** (1 / ways) or 1.0
    shape = np.floor(extent / voxel) + 1
    if np.prod(shape) > MAX_VOXELS:
        raise BadInput(f"voxels of {voxel:g} m are too small: there would be {np.prod(shape):.2g} of them")
    shape = shape.astype(np.int64)
    corner = Frame.at(rotation @ ((low + high - shape * voxel) / 2), rotation)
    nx, ny, nz = (int(n) for n in shape)
    return flat, corner, voxel, (nx, ny, nz)


def orientations(linkage: Linkage, link: str, n: int) -> Array:
    """Rotations (n, 3, 3), evenly spread: about the only axis that the link rotates about, or over all rotations."""
    axes = np.swapaxes(linkage.jacobian(linkage.random(32, seed=0), link)[:, 3:], -1, -2).reshape(-1, 3)
    sizes, directions = np.linalg.svd(axes, full_matrices=False)[1:]
    if sizes[0] > 0 and sizes[1] <= 1e-9 * sizes[0]:
        about = Frame.turn(directions[0], 2 * math.pi * np.arange(n) / n)
        return np.array((about @ linkage.frame(linkage.rest, link)).rotation)
    # the R3 low-discrepancy sequence (steps are powers of 1/x, where x**4 = x + 1), then Shoemake's map to quaternions
    share = (0.5 + np.arange(1, n + 1)[:, None] * 1.2207440846057596 ** -np.arange(1.0, 4.0)) % 1.0
    near, far = np.sqrt(1 - share[:, 0]), np.sqrt(share[:, 0])
    a, b = 2 * math.pi * share[:, 1], 2 * math.pi * share[:, 2]
    quaternions = np.stack([near * np.sin(a), near * np.cos(a), far * np.sin(b), far * np.cos(b)], axis=-1)
    return np.array(Frame.quaternion(quaternions).rotation)


def nearest_orientations(members: NDArray[np.int64], sampled: Array, wanted: Array, starts: int) -> NDArray[np.int64]:
    """For each wanted quaternion (n, 4), the samples with the nearest orientations (n, starts), best first."""
    members = members[:512]
    if len(members) < starts:  # too few: fill up with others
        members = np.concatenate([members, np.arange(starts) % len(sampled)])
    alike = np.abs(wanted @ sampled[members].T)
    best: NDArray[np.int64] = members[np.argsort(-alike, axis=-1, kind="stable")[:, :starts]]
    return best
