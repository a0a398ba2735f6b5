"""The table printer: aligned text and Markdown."""

from __future__ import annotations

from supple._table import markdown_table, text_table

ROWS = [["name", "value", "unit"], ["a", "1.5", "m"], ["longer", "10", ""]]


def test_text_has_aligned_columns_without_trailing_spaces() -> None:
    assert text_table(ROWS, "<><") == ["name    value  unit", "a         1.5  m", "longer     10"]


def test_the_last_sign_holds_for_all_further_columns() -> None:
    assert text_table(ROWS, ">") == text_table(ROWS, ">>>")
    assert markdown_table(ROWS, "<>") == markdown_table(ROWS, "<>>")


def test_a_long_cell_need_not_widen_its_column() -> None:
    rows = [["a", "b"], ["a" * 50, "b"]]
    assert text_table(rows, widest=4) == ["a     b", "a" * 50 + "  b"]


def test_markdown_has_a_rule_that_aligns() -> None:
    lines = markdown_table(ROWS, "<><").splitlines()
    assert lines[1] == "| ------ | ----: | ---- |"
    assert len({len(line) for line in lines}) == 1


def test_no_rows_give_no_lines() -> None:
    assert text_table([]) == []
