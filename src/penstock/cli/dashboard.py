"""`penstock dashboard`: the page of a store, or of the folder of a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.model import PenstockError


def dashboard(
    store: Annotated[
        str, typer.Argument(help="A database's URL or SQLite file, or the folder of a report.", metavar="STORE")
    ],
    host: Annotated[
        str, typer.Option(help="The address to listen on; another than this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="The port; the first free one from 8787 on by default.", min=0, max=65535, metavar="PORT"),
    ] = None,
    token: Annotated[str | None, typer.Option(help="The token that a reader must show; made if needed.")] = None,
) -> None:
    """Serve the page of the jobs in a store: what they do and why, while they run and afterwards. It only reads.

    Example: penstock dashboard sqlite:///penstock.db
    """
    from penstock.dashboard.server import Dashboard

    with Dashboard(_url(store), host, port, token) as page:
        typer.echo(f"The page is at {page.url} (Ctrl-C ends it)")
        page.wait()


def _url(store: str) -> str:
    """
    >>> _url("postgresql://db/history")
    'postgresql://db/history'
    """
    from penstock.report.folder import HISTORY

    if "://" in store:
        return store
    path = Path(store)
    file = path / HISTORY if path.is_dir() else path
    if not file.is_file():
        what = f"has no {HISTORY}" if path.is_dir() else "is neither a file nor a folder"
        raise PenstockError(f"{store} {what}: name a store such as sqlite:///penstock.db, or the folder of a report")
    return f"sqlite:///{file}"
