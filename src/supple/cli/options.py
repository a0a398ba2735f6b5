"""What the commands share: the arguments they take alike, and how they complain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from supple.cli import inputs
from supple.errors import BadInput, SuppleError

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME",
        help="A file that describes a linkage, or a stock name such as panda.",
        autocompletion=inputs.complete,
        show_default=False,
    ),
]
Search = Annotated[
    list[Path] | None,
    typer.Option(
        "--search", metavar="DIR", help="One more folder to look in for packages and meshes; may be repeated."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@contextmanager
def complaints() -> Iterator[None]:
    """What supple raises on purpose becomes one paragraph on stderr: exit code 2 for bad arguments, 1 for the rest."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (SuppleError, OSError) as error:
        named = isinstance(error, OSError) and error.filename and error.strerror
        typer.echo(f"supple: {f'{error.filename}: {error.strerror}' if named else error}", err=True)  # type: ignore[union-attr]
        raise typer.Exit(2 if isinstance(error, BadInput) else 1) from None


def drawable(picture: Path | None, option: str) -> None:
    """Raise before any work if a picture cannot be written."""
    if picture is None:
        return
    from supple.view import _style, image

    if picture.suffix[1:].lower() not in image.FORMATS:
        endings = ", ".join("." + ending for ending in image.FORMATS)
        raise BadInput(f"{option} takes a file that ends in {endings}, got {picture}")
    if not picture.parent.is_dir():
        raise BadInput(f"{option}: there is no folder {picture.parent}")
    with _style.look():
        pass
