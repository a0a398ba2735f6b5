"""What the commands share: common options, help texts with examples, and how errors end a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from supple._solve.tolerance import Tolerance
from supple.cli import completion
from supple.cli.output import without_controls
from supple.errors import BadInput, SuppleError, UnknownName

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|NAME",
        help="A file (.urdf, .xacro, MJCF as .xml or .mjcf, .bvh, .gltf, .glb) or the name of a bundled model, "
        "such as panda.",
        autocompletion=completion.models_and_files,
        show_default=False,
    ),
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link",
        metavar="LINK",
        help="The end effector. Not needed if the linkage has one tip.",
        autocompletion=completion.links,
    ),
]
Search = Annotated[
    list[Path] | None,
    typer.Option("--search", metavar="DIR", help="A further folder with packages and meshes. May be repeated."),
]
TOLERANCE = f"Largest position error that is accepted; {Tolerance().position:g} by default."
Degrees = Annotated[bool, typer.Option("--degrees", help="Angles are in degrees, in and out; radians by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the page, or the next free one; 0 for any.")]


_LONGEST_NAME = 500  # characters of a file's name in a message


def epilog(*examples: str, exit_codes: str = "") -> str:
    """The end of a help text: example command lines, and the exit codes if they have a special meaning."""
    lines = "\n".join(f"  {line}" for line in examples)
    codes = f"\n\n\b\nExit codes:\n  {exit_codes}" if exit_codes else ""
    return f"\b\nExamples:\n{lines}{codes}"


@contextmanager
def errors_to_stderr(unknown_name: int = 1, spelled: Callable[[str], str] = str) -> Iterator[None]:
    """Errors of supple become one paragraph on stderr, with exit code 2 for bad arguments, such as files that do not
    exist, and 1 for all others.

    ``unknown_name`` is the exit code for unknown names; ``spelled`` changes the names of options in a message.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = error.filename and error.strerror
        text = f"{str(error.filename)[:_LONGEST_NAME]}: {error.strerror}" if named else str(error)
        _exit(text, 2 if isinstance(error, FileNotFoundError) else 1)
    except SuppleError as error:
        code = unknown_name if isinstance(error, UnknownName) else 2 if isinstance(error, BadInput) else 1
        _exit(spelled(str(error)), code)


def _exit(text: str, code: int) -> None:
    typer.echo(f"supple: {without_controls(text)}", err=True)
    raise typer.Exit(code) from None


def check_picture(path: Path | None, option: str) -> None:
    """Raise before any work if a picture cannot be written to a path."""
    if path is None:
        return
    from supple.view import _style, image

    if path.suffix[1:].lower() not in image.FORMATS:
        endings = ", ".join("." + ending for ending in image.FORMATS)
        raise BadInput(f"{option} takes a file that ends in {endings}, got {path}")
    check_folder(path, option)
    with _style.plot_style():
        pass


def check_folder(path: Path, option: str) -> None:
    """Raise if the folder of a file to be written does not exist."""
    if not path.parent.is_dir():
        raise BadInput(f"{option}: there is no folder {path.parent}")
