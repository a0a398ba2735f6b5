"""Checks that what a page needs is installed."""

from __future__ import annotations

from supple.errors import missing_extra


def check(extra: str, what: str) -> None:
    """Raises `MissingExtra` that names the extra to install, if viser or trimesh is missing."""
    try:
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise missing_extra(extra, what) from error
