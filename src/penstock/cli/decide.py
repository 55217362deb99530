"""`penstock decide`: what would this policy do now?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.output import print_json
from penstock.model import PenstockError

STDIN = Path("-")


def decide(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot of the job as JSON; - reads standard input.")],
    policy: Annotated[str, typer.Option("--policy", "-p", help="Which policy; `penstock policies` lists them.")],
    explain: Annotated[bool, typer.Option("--explain", help="Add every intermediate figure.")] = False,
    guards: Annotated[bool, typer.Option("--guards/--no-guards", help="Let the default guards vet it.")] = False,
) -> None:
    """Print what a policy would do with a job, as JSON.

    One snapshot serves every policy: options in it that only another policy has are left out.

    Example: penstock decide --policy ds2 snapshot.json --explain
    """
    from penstock.control.think import sentence, think
    from penstock.guards import chain
    from penstock.performance.sequential import as_if_concurrent
    from penstock.policies import POLICIES, busy_up_to
    from penstock.stores.snapshot import decision_json, read_snapshot

    read = read_snapshot(_text(snapshot))
    chosen = POLICIES.create(policy, _own(policy, read.options))
    vetting = chain() if guards else ()
    observation = as_if_concurrent(read.observation, busy_up_to(chosen))
    try:
        decision = think(chosen, vetting, observation, fresh=len(observation.samples))
    except Exception as error:  # as in the loop: whatever fails in a policy, the user gets one sentence
        raise PenstockError(f"policy {policy} failed on this snapshot: {sentence(error)}") from error
    print_json(decision_json(decision, explain))


def _own(policy: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for this policy: those that it has, and those that no policy has, which are then refused."""
    from penstock.policies import POLICIES

    def has(name: str) -> set[str]:
        return {option.name for option in POLICIES.describe(name).options}

    foreign = options.keys() - has(policy)
    if foreign:
        foreign &= set().union(*(has(name) for name in POLICIES.names()))
    return {name: value for name, value in options.items() if name not in foreign}


def _text(path: Path) -> str:
    try:
        return sys.stdin.read() if path == STDIN else path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise PenstockError(f"snapshot {path} cannot be read: it is not a text file") from None
    except OSError as error:
        raise PenstockError(f"snapshot {path} cannot be read: {error.strerror}") from None
