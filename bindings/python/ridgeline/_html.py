"""Tables for notebooks: plain HTML, no style of its own but bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def text(plain: str) -> str:
    """Text as it is."""
    return escape(plain)


def paragraph(plain: str) -> str:
    """Text on lines of its own."""
    return f"<p>{escape(plain)}</p>"


def listing(title: str, items: Iterable[str]) -> str:
    """A list under a title; nothing where there are no items."""
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<p><b>{escape(title)}</b></p><ul>{lines}</ul>" if lines else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: bool = False) -> str:
    """A table: its first column to the left, numbers to the right, `words` to the left too. Cells made by `bar` stay as they are."""
    sides = ["left", *["left" if words else "right"] * (len(header) - 1)]
    body = "".join(_row("td", row, sides) for row in rows)
    return f"<table><thead>{_row('th', header, sides)}</thead><tbody>{body}</tbody></table>"


class Markup(str):
    """Text that is HTML already."""


def bar(share: float, low: float | None = None, high: float | None = None) -> Markup:
    """A share from 0 to 1 as a bar, lighter up to `high`, darker up to `low`."""
    certain, most = share if low is None else low, share if high is None else high
    parts = [("#0072B2", certain), ("#56B4E9", share - certain), ("#CCCCCC", most - share)]  # Okabe and Ito's palette
    spans = "".join(
        f'<span style="display:inline-block;height:0.8em;width:{120 * width:.1f}px;background:{colour}"></span>'
        for colour, width in parts
        if width > 0
    )
    return Markup(f'<span style="display:inline-block;width:120px;text-align:left;white-space:nowrap">{spans}</span>')


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    shown = (cell if isinstance(cell, Markup) else escape(cell) for cell in cells)
    whole = "".join(f'<{tag} style="text-align: {side}">{cell}</{tag}>' for side, cell in zip(sides, shown))
    return f"<tr>{whole}</tr>"
