"""`penstock decide`: what would this policy do now, and what would be expected of a plan?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.output import print_json
from penstock.cli.values import pairs
from penstock.model import InvalidValueError, PenstockError
from penstock.model.errors import unknown

if TYPE_CHECKING:
    from penstock.model import Observation
    from penstock.stores.snapshot import Snapshot

STDIN = Path("-")


def decide(
    snapshot: Annotated[Path, typer.Argument(help="A snapshot of the job as JSON; - reads standard input.")],
    policy: Annotated[
        str | None, typer.Option("--policy", "-p", help="Which policy; `penstock policies` lists them.")
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(help="Say what is expected of this plan, such as parse=3,count=4; others stay as they are."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add every intermediate figure.")] = False,
    guards: Annotated[bool, typer.Option("--guards/--no-guards", help="Let the default guards vet it.")] = False,
) -> None:
    """Print what a policy would do with a job, or what is expected of a plan, as JSON.

    One snapshot serves every policy: options in it that only another policy has are left out.

    Example: penstock decide --policy ds2 snapshot.json --explain

    Example: penstock decide --plan split=2,count=3 snapshot.json
    """
    from penstock.stores.snapshot import read_snapshot

    if policy is None and plan is None:
        raise typer.BadParameter("name a policy with --policy, or a plan with --plan")
    read = read_snapshot(_text(snapshot))
    answer = {} if policy is None else _decision(policy, read, explain, guards)
    if plan is not None:
        expected = _outlook(plan, read.observation)
        answer = expected if policy is None else answer | {"what_if": expected}
    print_json(answer)


def _outlook(plan: str, observation: Observation) -> dict[str, Any]:
    from penstock.performance.what_if import outlook
    from penstock.stores.snapshot import outlook_json

    given = pairs("--plan", plan.split(","))
    for name, k in given.items():
        if name not in observation.topology.names:
            raise InvalidValueError("--plan: operator", unknown(name, observation.topology.names))
        if not k.strip().isdecimal():
            raise InvalidValueError(f"--plan: {name}", f"must be a whole number of at least 1, not {k!r}")
    wanted = observation.plan.changed({name: int(k) for name, k in given.items()})
    return outlook_json(outlook(observation, wanted))


def _decision(policy: str, read: Snapshot, explain: bool, guards: bool) -> dict[str, Any]:
    from penstock.control.think import sentence, think
    from penstock.guards import chain
    from penstock.performance.sequential import as_if_concurrent
    from penstock.policies import POLICIES, busy_up_to
    from penstock.stores.snapshot import decision_json

    chosen = POLICIES.create(policy, _own(policy, read.options))
    vetting = chain() if guards else ()
    observation = as_if_concurrent(read.observation, busy_up_to(chosen))
    try:
        decision = think(chosen, vetting, observation, fresh=len(observation.samples))
    except Exception as error:  # as in the loop: whatever fails in a policy, the user gets one sentence
        raise PenstockError(f"policy {policy} failed on this snapshot: {sentence(error)}") from error
    return decision_json(decision, explain)


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
