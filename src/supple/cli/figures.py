"""The command `supple figures`: the figures of the textbook chapter as files, and a comparison of all methods."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from supple.cli import completion, output
from supple.cli.options import Json, epilog, errors_to_stderr
from supple.errors import BadInput, UnknownName

EPILOG = epilog(
    "supple figures --out pictures --only 5.20",
    "supple figures --out pictures --only 5.21,5.22 --format pdf",
)


def figures(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the files; made if it does not exist.")
    ] = Path("figures"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="N",
            help="Draw only these figures, such as 5.20, with commas or repeated; default all. All tables are printed.",
            autocompletion=completion.figures,
        ),
    ] = None,
    formats: Annotated[str, typer.Option("--format", metavar="A,B", help="Formats: png, svg, pdf.")] = "png,svg",
    as_json: Json = False,
) -> None:
    """Draw figures 5.14 to 5.25 of the textbook chapter, and compare all methods on its goals.

    The figures show results of the solver. Prints the files and the tables, in Markdown. Needs the extra "plot": pip
    install 'supple[plot]'.
    """
    from supple.textbook import compare
    from supple.textbook import figures as drawings
    from supple.view import image

    with errors_to_stderr():
        try:
            chosen = drawings.chosen(_split(only or []))
        except UnknownName as error:
            raise BadInput(f"--only: {error}") from None
        endings = image.checked(_split([formats]))
        files: list[Path] = []
        for name in chosen:
            written = drawings.save(out, [name], endings)
            files += written
            if not as_json:
                output.print_text("\n".join(map(str, written)))
    tables = compare.chapter_tables()
    if as_json:
        output.print_json({"files": [str(file) for file in files], "tables": [table.data() for table in tables]})
    else:
        for table in tables:
            output.print_text(f"\n{table}")


def _split(words: list[str]) -> list[str]:
    return [piece.strip() for word in words for piece in word.split(",") if piece.strip()]
