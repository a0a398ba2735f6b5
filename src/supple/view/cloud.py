"""Draws a workspace: as a point cloud in the viewer, or as a section in a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check
from supple.errors import missing_extra
from supple.frame import Array

if TYPE_CHECKING:
    from supple.view import Viewer
    from supple.workspace import Workspace

# from low to high; each is lighter than the one before, so that the order is visible in grey too
COLOURS = ((45, 50, 102), (42, 98, 132), (54, 148, 139), (132, 195, 113), (244, 222, 92))


def add(
    viewer: Viewer,
    workspace: Workspace,
    *,
    points: int = 60_000,
    beyond: ArrayLike | None = None,
    dexterity: float = 0.0,
    name: str = "/workspace",
) -> Any:
    """Show a workspace around the linkage of a viewer. Returns the handle of viser, whose ``remove()`` removes it.

    Colours show the dexterity if it is known, else the density of the samples.

    Args:
        viewer: a viewer from `supple.view.serve`.
        workspace: a workspace from `supple.workspace.reachable` or `supple.workspace.dexterous`.
        points: largest number of points.
        beyond: a direction (3,); only points on that side of the base are shown, which gives a view of the inside.
        dexterity: show only points with at least this dexterity.
        name: name of the node in the scene; a second cloud needs another.
    """
    points = _check.whole(points, "points", 1)
    shown = workspace.positions[workspace.contains(workspace.positions, dexterity)]
    if beyond is not None:
        side = _check.vector(beyond, 3, "beyond")
        shown = shown[(shown - workspace.base) @ side >= 0]
    shown = shown[:: max(1, -(-len(shown) // points))]
    return viewer._server.scene.add_point_cloud(
        name,
        points=shown.astype(np.float32),
        colors=coloured(_relative(workspace, shown)),
        point_size=0.0022 * float(np.linalg.norm(np.subtract(*workspace.bounds))),
        point_shape="circle",
    )


def section(workspace: Workspace, ax: Any, normal: ArrayLike | None, through: ArrayLike | None) -> Any:
    """Draw a section of a workspace into matplotlib axes; see `Workspace.draw`."""
    try:
        from matplotlib import colors, pyplot
    except ImportError as error:
        raise missing_extra("plot", "a picture of a workspace") from error
    _, origin, u, v = workspace._plane(normal, through)
    ax = pyplot.figure(layout="constrained").add_subplot() if ax is None else ax
    size = workspace.voxel * np.array(workspace.counts.shape)
    corners = workspace.corner.apply(size * np.indices((2, 2, 2)).reshape(3, -1).T)
    # one pixel per voxel if the section is aligned with the grid, else three
    fine = 1 if np.abs(np.stack([u, v]) @ workspace.corner.rotation).max(axis=-1).min() > 1 - 1e-9 else 3
    edges = [
        np.linspace(low, high, 1 + fine * max(1, round((high - low) / workspace.voxel)))
        for low, high in ((float((corners @ w).min()), float((corners @ w).max())) for w in (u, v))
    ]
    x, y = ((edge[1:] + edge[:-1]) / 2 for edge in edges)
    values = workspace.values(origin + x[None, :, None] * u + y[:, None, None] * v)
    palette = colors.LinearSegmentedColormap.from_list("supple", np.array(COLOURS) / 255)
    scale, label = colors.Normalize(0, 1), "part of orientations reached"
    if workspace.dexterity is None:  # densities differ by orders of magnitude
        values = np.where(values > 0, values, np.nan)
        scale, label = colors.LogNorm(), "samples in a voxel"
    image = ax.pcolormesh(*edges, np.ma.masked_invalid(values), cmap=palette, norm=scale, rasterized=True)
    around = workspace.outline(normal, through)
    if len(around):
        ring = np.concatenate([around, around[:1]])
        ax.plot(ring @ u, ring @ v, color="0.35", linewidth=0.8)
    ax.figure.colorbar(image, ax=ax, label=label, shrink=0.8)
    ax.set(xlabel=f"{_axis_name(u)} (m)", ylabel=f"{_axis_name(v)} (m)", aspect="equal")
    return ax


def coloured(shares: Array) -> NDArray[np.uint8]:
    """Colours (n, 3) of values (n,) between 0 and 1."""
    at = np.linspace(0, 1, len(COLOURS))
    return np.stack([np.interp(shares, at, channel) for channel in np.transpose(COLOURS)], axis=-1).astype(np.uint8)


def _relative(workspace: Workspace, points: Array) -> Array:
    """A value (n,) between 0 and 1 for points (n, 3): the dexterity, or the logarithm of the density."""
    values = workspace.values(points)
    if workspace.dexterity is not None:
        return np.nan_to_num(values)
    relative: Array = np.log1p(values) / np.log1p(workspace.counts.max())
    return relative


def _axis_name(direction: Array) -> str:
    for name, axis in zip("xyz", np.eye(3), strict=True):
        if abs(direction @ axis) > 1 - 1e-9:
            return name
    return "along (" + ", ".join(f"{x + 0.0:.2g}" for x in np.round(direction, 2)) + ")"
