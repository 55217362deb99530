"""The page of the command line, as typer itself documents it."""

from __future__ import annotations

import typer
from typer.cli import get_docs_for_click
from typer.main import get_command

from docs.generator.markdown import page
from penstock.cli.main import app
from penstock.cli.output import BROKEN_PIPE, INTERRUPTED, RUNS_FAILED, WRONG_INPUT

EXIT_CODES = f"""## Exit codes

- 0: done
- {WRONG_INPUT}: something to mend: one line on standard error names it
- {RUNS_FAILED}: some of many runs failed: each is named on standard error, the others are in the answer
- {INTERRUPTED}: ended early by Ctrl-C, with the report of what was run; a second Ctrl-C ends it at once, without
- {BROKEN_PIPE}: whoever read the output has left"""


def cli_page() -> str:
    command = get_command(app)
    context = typer.Context(command, info_name="penstock")
    text = get_docs_for_click(obj=command, ctx=context, name="penstock")
    _, _, body = text.partition("\n\n")
    # A usage line is not a command to run, as a console block would promise.
    return page("Command line", body.replace("```console\n$ ", "```text\n").strip(), EXIT_CODES)
