"""The command `supple figures`: the chapter's figures as files, and every method in a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli import output
from supple.cli.options import Json, complaints
from supple.errors import BadInput, UnknownName


def _names(incomplete: str) -> list[str]:
    from supple.textbook import figures

    return [name for name in figures.names() if name.startswith(incomplete)]


def figures(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write into; made if need be.")] = Path(
        "figures"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="N",
            help="Only these figures, such as 5.20; several with commas, or repeated.",
            autocompletion=_names,
        ),
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="A,B", help="How to write them: png, svg, pdf.")
    ] = "png,svg",
    as_json: Json = False,
) -> None:
    """Draw figures 5.14 to 5.25 of the chapter, and compare all methods on its goals.

    Every line in them is what the solver did. Prints the files and the table, in Markdown.

    \b
    Examples:
      supple figures --out pictures --only 5.20
      supple figures --out pictures --only 5.21,5.22 --format pdf
    """
    from supple.textbook import compare
    from supple.textbook import figures as drawn
    from supple.view import image

    with complaints():
        try:
            chosen = drawn.chosen(_split(only or []))
        except UnknownName as error:
            raise BadInput(f"--only: {error}") from None
        endings = image.checked(_split([formats]))
        files: list[Path] = []
        for name in chosen:
            files += drawn.save(out, [name], endings)
            if not as_json:
                for file in files[-len(endings) :]:
                    output.say(str(file))
    tables = compare.chapters()
    if as_json:
        output.say_json({"files": [str(file) for file in files], "tables": [table.data() for table in tables]})
    else:
        for table in tables:
            output.say(f"\n{table}")


def _split(words: list[str]) -> list[str]:
    return [piece.strip() for word in words for piece in word.split(",") if piece.strip()]
