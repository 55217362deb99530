"""`penstock reproduce`: the papers' tables and figures, theirs and ours side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.output import talks_to_a_person
from penstock.model.errors import check_choice

if TYPE_CHECKING:
    from penstock.report.item import Item

SIMULATOR, SPARK = "simulator", "spark"
TITLES = {SIMULATOR: "The papers, reproduced", SPARK: "The papers, reproduced on Spark"}
Say = Callable[[str], None]
Todo = list[tuple[str, str, "Callable[[], Item]"]]


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Which paper; all by default.")] = None,
    item: Annotated[str | None, typer.Argument(help="Which table or figure, such as fig2 or table4.")] = None,
    on: Annotated[
        str,
        typer.Option("--on", help="simulator, or spark: some of them on real Spark, scaled down, in some 40 minutes."),
    ] = SIMULATOR,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write it all as Markdown to this file, pictures beside it.")
    ] = None,
) -> None:
    """Print tables and figures of the papers beside ours, and say which claims hold.

    Example: penstock reproduce autrascale fig2
    """
    from rich.console import Console

    from penstock.report.side_by_side import count_line, for_terminal

    check_choice("on", on, tuple(TITLES))
    console, found = Console(highlight=False), []
    with _progress() as say, _todo(on, paper, item, say) as todo:
        for name, key, experiment in todo:
            say(f"{name} {key}")
            result = experiment()
            console.print(for_terminal(result))
            found.append((name, result))
    console.print(count_line([result for _, result in found]))
    if page is not None:
        _write(page, on, found)


@contextmanager
def _progress() -> Iterator[Say]:
    """Show what is running: as a status on a terminal, otherwise as lines."""
    from rich.console import Console

    if not talks_to_a_person():
        yield lambda text: typer.echo(f"penstock: {text}", err=True)
        return
    with Console(stderr=True).status("") as status:
        yield status.update


@contextmanager
def _todo(on: str, paper: str | None, item: str | None, say: Say) -> Iterator[Todo]:
    """The experiments to run, with what they need while they run."""
    from penstock.papers import catalogue

    if on == SIMULATOR:
        chosen = [paper] if paper is not None else catalogue.PAPERS
        yield [(name, key, run) for name in chosen for key, run in catalogue.items(name, item).items()]
        return
    from penstock.papers.spark.runner import opened

    chosen = [paper] if paper is not None else catalogue.papers_on_spark()
    wanted = [(name, key, run) for name in chosen for key, run in catalogue.items_on_spark(name, item).items()]
    with opened(say) as runner:
        yield [(name, key, partial(run, runner)) for name, key, run in wanted]


def _write(page: Path, on: str, found: list[tuple[str, Item]]) -> None:
    from penstock.papers.catalogue import paper_title
    from penstock.report.folder import ReportFolder
    from penstock.report.side_by_side import bands_for_page, count_line, draw_chart, for_page, picture_name

    folder, text, current = ReportFolder(page.parent), [f"# {TITLES[on]}", "", bands_for_page()], None
    for name, result in found:
        if name != current:
            text += [f"## {paper_title(name)}", ""]
            current = name
        pictures = [picture_name(result.title, number) for number in range(len(result.charts))]
        for picture, chart in zip(pictures, result.charts, strict=True):
            folder.put(f"images/{picture}", draw_chart(chart))
        text.append(for_page(result, [f"images/{picture}" for picture in pictures]))
    command = "penstock reproduce" if on == SIMULATOR else f"penstock reproduce --on {on}"
    text += [
        "## In sum",
        "",
        count_line([result for _, result in found]) + ".",
        "",
        f"Made by `{command} --page {page}`.",
        "",
    ]
    folder.put(page.name, "\n".join(text).encode())
