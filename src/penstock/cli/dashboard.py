"""`penstock dashboard`: the page of a store, or of the folder of a simulation."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import choices
from penstock.model import PenstockError
from penstock.serving.access import HERE, LOOPBACK, SHORTEST_TOKEN, TOKEN, Access


def dashboard(
    store: Annotated[
        str, typer.Argument(help="A database's URL or SQLite file, or the folder of a report.", metavar="STORE")
    ],
    listen: choices.Listen = HERE,
    certificate: choices.Certificate = None,
    port: Annotated[
        int | None,
        typer.Option(help="The port; the first free one from 8787 on by default.", min=0, max=65535, metavar="PORT"),
    ] = None,
) -> None:
    """Serve the page of the jobs in a store: what they do and why, while they run and afterwards. It only reads.

    Other machines are asked for a token: PENSTOCK_TOKEN of the environment, or one that it makes and prints.

    Example: penstock dashboard sqlite:///penstock.db
    """
    from penstock.dashboard.server import Dashboard

    token = os.environ.get(TOKEN) or (None if listen in LOOPBACK else secrets.token_urlsafe(SHORTEST_TOKEN))
    with Dashboard(_url(store), Access(listen, certificate, token), port) as page:
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
