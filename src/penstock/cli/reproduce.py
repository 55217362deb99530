"""`penstock reproduce`: the papers' tables and figures, theirs and ours side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.output import talks_to_a_person
from penstock.model.errors import InvalidValueError, check_choice

if TYPE_CHECKING:
    from penstock.papers.kept import KeptItems
    from penstock.report.item import Item

SIMULATOR, SPARK = "simulator", "spark"
TITLES = {SIMULATOR: "The papers, reproduced", SPARK: "The papers, reproduced on Spark"}
Say = Callable[[str], None]
Wanted = list[tuple[str, str, "Callable[..., Item]"]]
"""Paper, table or figure, and the experiment, which on Spark is called with the runner of its trials."""


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="Which paper; all by default.")] = None,
    item: Annotated[str | None, typer.Argument(help="Which table or figure, such as fig2 or table4.")] = None,
    on: Annotated[
        str,
        typer.Option("--on", help="simulator, or spark: some of them on real Spark, scaled down, in over an hour."),
    ] = SIMULATOR,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Keep what is found in this folder; what is kept there is not run again."),
    ] = None,
    kept: Annotated[
        bool, typer.Option("--kept", help="Run nothing: show what the folder has, and name what it lacks.")
    ] = False,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write it all as Markdown to this file, pictures beside it.")
    ] = None,
) -> None:
    """Print tables and figures of the papers beside ours, and say which claims hold.

    Example: penstock reproduce autrascale fig2
    """
    from rich.console import Console

    from penstock.papers.kept import KeptItems
    from penstock.report.side_by_side import count_line, for_terminal

    check_choice("on", on, tuple(TITLES))
    if kept and results is None:
        raise InvalidValueError("--kept", "needs the folder that --results names")
    folder = KeptItems(results) if results else None
    wanted, missing = _wanted(on, paper, item), list[str]()
    if kept and folder:
        missing = [f"{name} {key}" for name, key, _ in wanted if folder.get(name, key) is None]
        wanted = [each for each in wanted if f"{each[0]} {each[1]}" not in missing]
    console, found = Console(highlight=False), []
    with _progress() as say:
        for name, result in _found(wanted, on, folder, say):
            console.print(for_terminal(result))
            found.append((name, result))
    console.print(count_line([result for _, result in found]))
    if missing:
        console.print(f"Not run: {', '.join(missing)}")
    if page is not None:
        _write(page, on, results, found, missing)


@contextmanager
def _progress() -> Iterator[Say]:
    """Show what is running: as a status on a terminal, otherwise as lines."""
    from rich.console import Console

    if not talks_to_a_person():
        yield lambda text: typer.echo(f"penstock: {text}", err=True)
        return
    with Console(stderr=True).status("") as status:
        yield status.update


def _wanted(on: str, paper: str | None, item: str | None) -> Wanted:
    from penstock.papers import catalogue

    papers, items = (
        (catalogue.PAPERS, catalogue.items)
        if on == SIMULATOR
        else (catalogue.papers_on_spark(), catalogue.items_on_spark)
    )
    chosen = papers if paper is None else [paper]
    return [(name, key, run) for name in chosen for key, run in items(name, item).items()]


def _found(wanted: Wanted, on: str, kept: KeptItems | None, say: Say) -> Iterator[tuple[str, Item]]:
    """Each item with its paper: as it is kept, or else as it is found now. Spark starts only for what must be run."""
    before = {(name, key): kept.get(name, key) if kept else None for name, key, _ in wanted}
    with _place(on, say) if None in before.values() else nullcontext(()) as arguments:
        for name, key, experiment in wanted:
            item = before[name, key]
            if item is None:
                say(f"{name} {key}")
                item = experiment(*arguments)
                if kept:
                    kept.put(name, key, item)
            yield name, item


@contextmanager
def _place(on: str, say: Say) -> Iterator[tuple[object, ...]]:
    """What experiments are called with."""
    if on == SIMULATOR:
        yield ()
        return
    from penstock.papers.spark.runner import opened

    with opened(say) as runner:
        yield (runner,)


def _write(
    page: Path, on: str, results: Path | None, found: list[tuple[str, Item]], missing: Sequence[str] = ()
) -> None:
    from penstock.papers.catalogue import paper_title
    from penstock.papers.spark.about import ABOUT
    from penstock.report.folder import ReportFolder
    from penstock.report.side_by_side import bands_for_page, count_line, draw_chart, for_page, picture_name

    folder, text, current = ReportFolder(page.parent), [f"# {TITLES[on]}", ""], None
    text += [ABOUT, bands_for_page()] if on == SPARK else [bands_for_page()]
    for name, result in found:
        if name != current:
            text += [f"## {paper_title(name)}", ""]
            current = name
        pictures = [picture_name(result.title, number) for number in range(len(result.charts))]
        for picture, chart in zip(pictures, result.charts, strict=True):
            folder.put(f"images/{picture}", draw_chart(chart))
        text.append(for_page(result, [f"images/{picture}" for picture in pictures]))
    command = "penstock reproduce" if on == SIMULATOR else f"penstock reproduce --on {on}"
    command += f" --results {results}" if results else ""
    command += " --kept" if missing else ""
    text += [
        "## In sum",
        "",
        count_line([result for _, result in found]) + ".",
        "",
        *([f"Not run: {', '.join(missing)}.", ""] if missing else ()),
        f"Made by `{command} --page {page}`.",
        "",
    ]
    folder.put(page.name, "\n".join(text).encode())
