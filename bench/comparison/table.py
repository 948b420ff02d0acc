"""Columns of text."""


def text(columns, rows):
    """columns: titles, a leading "<" says that the column is aligned to the left. rows: cells."""
    titles = [title.removeprefix("<") for title in columns]
    lines = [titles, None, *rows]
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(columns))]
    return "".join(_line(row, columns, widths) for row in lines)


def _line(row, columns, widths):
    if row is None:
        row = ["-" * width for width in widths]
    cells = (cell.ljust(width) if title.startswith("<") else cell.rjust(width)
             for cell, title, width in zip(row, columns, widths))
    return "  ".join(cells).rstrip() + "\n"
