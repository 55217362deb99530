"""The `penstock` command: its subcommands, and how it ends when something goes wrong."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from penstock import __version__
from penstock.cli import advise, bench, catalogues, clean, dashboard, decide, demo, reproduce, simulate
from penstock.cli import run as run_script
from penstock.cli.output import BROKEN_PIPE, INTERRUPTED, WRONG_INPUT
from penstock.model import PenstockError
from penstock.model.secrets import without_secrets

app = typer.Typer(
    name="penstock",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo.demo,
    advise.advise,
    simulate.simulate,
    bench.bench,
    dashboard.dashboard,
    decide.decide,
    reproduce.reproduce,
    catalogues.policies,
    catalogues.guards,
    catalogues.forecasters,
    catalogues.workloads,
    clean.clean,
):
    app.command()(command)
# All that stands behind the script is its own.
app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False})(run_script.run)


@app.callback(invoke_without_command=True)
def penstock(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and end.")] = False,
) -> None:
    """Keeps a Spark streaming job inside its latency target with as few cores as possible.

    Begin with: penstock demo
    """
    if version:
        typer.echo(f"penstock {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error that a user can fix is one line, never a traceback."""
    logging.basicConfig(format="penstock: %(message)s")
    try:
        code = get_command(app).main(list(arguments), prog_name="penstock", standalone_mode=False)
        sys.stdout.flush()
    except PenstockError as error:
        return _complain(str(error))
    except typer.TyperException as error:
        return _complain(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone. Python would complain when it closes the pipe: let it close another one.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else 0


def _complain(sentence: str) -> int:
    typer.echo(f"penstock: {' '.join(without_secrets(sentence).split())}", err=True)
    return WRONG_INPUT


def main() -> None:
    sys.path.append("")  # my_policy:MyPolicy is found in the working directory; last, so that it shadows nothing
    sys.exit(run(sys.argv[1:]))
