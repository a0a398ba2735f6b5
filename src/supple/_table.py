"""Rows of cells as a table: aligned text for a terminal, Markdown for a page, HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def text_table(rows: Rows, align: str = "<", widest: int | None = None) -> list[str]:
    """The rows as lines of aligned columns, two spaces apart, without trailing spaces.

    Args:
        rows: the cells of each row, as many in each.
        align: "<" (left) or ">" (right) for each column; the last sign also holds for all further columns.
        widest: cells longer than this do not widen their column.
    """
    cells, _ = _padded(rows, align, widest)
    return ["  ".join(row).rstrip() for row in cells]


def markdown_table(rows: Rows, align: str = "<") -> str:
    """The rows as a Markdown table whose first row is the head; ``align`` as in `text_table`."""
    cells, widths = _padded(rows, align, None)
    signs = _signs(align, len(widths))
    rule = ["-" * width if sign == "<" else "-" * (width - 1) + ":" for sign, width in zip(signs, widths, strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))


def html_table(caption: str, rows: Rows, align: str = "<") -> str:
    """The rows as an HTML table below a caption; the first row is the head; ``align`` as in `text_table`."""
    from html import escape  # here, since most programs never need it

    head, *body = rows
    sides = [{"<": "left", ">": "right"}[sign] for sign in _signs(align, len(head))]
    heads = "".join(
        f'<th style="text-align: {side}">{escape(cell)}</th>' for cell, side in zip(head, sides, strict=True)
    )
    cells = (
        "".join(
            f'<td style="text-align: {side}; white-space: pre">{escape(cell)}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        for row in body
    )
    lines = "".join(f"<tr>{row}</tr>" for row in cells)
    # not a <caption>, which would be as narrow as its table
    return f"<div>{escape(caption)}</div><table><tr>{heads}</tr>{lines}</table>"


def _signs(align: str, count: int) -> str:
    return align.ljust(count, align[-1])[:count]


def _padded(rows: Rows, align: str, widest: int | None) -> tuple[list[list[str]], list[int]]:
    """The cells, each as wide as its column, and the widths of the columns."""
    lengths = [[len(row[i]) for row in rows] for i in range(len(rows[0]) if rows else 0)]
    widths = [max(n if widest is None else min(n, widest) for n in column) for column in lengths]
    signs = _signs(align, len(widths))
    cells = [[f"{cell:{sign}{width}}" for cell, sign, width in zip(row, signs, widths, strict=True)] for row in rows]
    return cells, widths
