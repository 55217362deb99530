"""`penstock reproduce`: the papers' tables and figures, theirs and ours side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Which paper; all of them without it.")] = None,
    item: Annotated[str | None, typer.Argument(help="Which table or figure, such as fig2 or table4.")] = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write it all as Markdown to this file, pictures beside it.")
    ] = None,
) -> None:
    """Print tables and figures of the papers beside ours, and say which claims hold.

    Example: penstock reproduce autrascale fig2
    """
    from rich.console import Console

    from penstock.experiments import items, paper_title, papers
    from penstock.report.folder import ReportFolder
    from penstock.report.side_by_side import count_line, draw_chart, for_page, for_terminal, picture_name

    chosen = [paper] if paper is not None else papers()
    todo = [(name, key, experiment) for name in chosen for key, experiment in items(name, item).items()]
    folder = None if page is None else ReportFolder(page.parent)
    console, working = Console(highlight=False), Console(stderr=True)
    found, text, current = [], ["# The papers, reproduced", ""], None
    for name, key, experiment in todo:
        with working.status(f"{name} {key}"):
            result = experiment()
        console.print(for_terminal(result))
        found.append(result)
        if folder is None:
            continue
        if name != current:
            text += [f"## {paper_title(name)}", ""]
            current = name
        pictures = [picture_name(result.title, number) for number in range(len(result.charts))]
        for picture, chart in zip(pictures, result.charts, strict=True):
            folder.put(f"images/{picture}", draw_chart(chart))
        text.append(for_page(result, [f"images/{picture}" for picture in pictures]))
    console.print(count_line(found))
    if folder is not None and page is not None:
        text += ["## In sum", "", count_line(found) + ".", "", f"Made by `penstock reproduce --page {page}`.", ""]
        folder.put(page.name, "\n".join(text).encode())
