"""Shell completion of names: bundled models, files, links, joints, methods, figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from supple import method, models, read
from supple.cli import inputs
from supple.errors import SuppleError
from supple.linkage import Linkage

TRACKING_METHODS = ("supple", "paper", "damped", "pseudoinverse")


def models_and_files(incomplete: str) -> list[str]:
    """Bundled models, readable files and folders that start with the incomplete word."""
    found = _starting(models.names(), incomplete)
    folder = Path(incomplete + "_").parent
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return found
    for entry in entries:
        shown = entry.as_posix() + ("/" if entry.is_dir() else "")
        if shown.startswith(incomplete) and (entry.is_dir() or entry.suffix.lower() in read.ENDINGS):
            found.append(shown)
    return found


def links(ctx: typer.Context, incomplete: str) -> list[str]:
    """Links of the linkage that stands before on the command line."""
    linkage = _linkage(ctx)
    return [] if linkage is None else _starting((link.name for link in linkage.links), incomplete)


def joints(ctx: typer.Context, incomplete: str) -> list[str]:
    """Movable joints of the linkage that stands before on the command line, each with an equals sign."""
    linkage = _linkage(ctx)
    return [] if linkage is None else _starting((f"{joint.name}=" for joint in linkage.joints if joint.dof), incomplete)


def methods(incomplete: str) -> list[str]:
    """Names of methods."""
    return _starting(method.names(), incomplete)


def figures(incomplete: str) -> list[str]:
    """Numbers of figures."""
    from supple.textbook import figures

    return _starting(figures.names(), incomplete)


def tracking_methods(incomplete: str) -> list[str]:
    """Names of the solvers that tele-operation and replay compare."""
    return _starting(TRACKING_METHODS, incomplete)


def _linkage(ctx: typer.Context) -> Linkage | None:
    # an option without its value ends the parsing, and positional arguments stay in ctx.args
    source = ctx.args[0] if ctx.args else ctx.params.get("source")
    try:
        return inputs.find(source, ctx.params.get("search") or ()) if source else None
    except (SuppleError, OSError):
        return None


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
