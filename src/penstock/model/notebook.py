"""How values show themselves in a notebook: a small table, in which everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """
    >>> print(html_table("a < b", [("plan", "split 2"), ("nothing", None)]))
    <table><caption style="text-align:left"><b>a &lt; b</b></caption>
    <tr><th style="text-align:left">plan</th><td style="text-align:left">split 2</td></tr>
    </table>
    """
    left = 'style="text-align:left"'
    lines = [
        f"<tr><th {left}>{escape(name)}</th><td {left}>{escape(str(value))}</td></tr>"
        for name, value in rows
        if value is not None
    ]
    return "\n".join((f"<table><caption {left}><b>{escape(title)}</b></caption>", *lines, "</table>"))
