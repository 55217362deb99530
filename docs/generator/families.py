"""The pages of what can be chosen by name: policies, guards and forecasters, with their options."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from docs.generator.markdown import code, default, page, prose, table
from docs.generator.mathematics import mathematics_of
from penstock.forecast import FORECASTERS
from penstock.guards import DEFAULT_ORDER, GUARDS
from penstock.model.catalog import Catalog
from penstock.model.options import Option, describe
from penstock.policies import POLICIES, Learner


def policies_page() -> str:
    return page(
        "Policies",
        "A policy suggests a plan. Choose one with `--policy NAME`, give it options with `--policy-option name=value` "
        "or in a snapshot's `options`. `module:Class` brings [your own](../how-to/bring-your-own-policy.md). What each "
        "paper adds stands in [the papers](../explanation/papers.md).",
        _contents(POLICIES, POLICIES.names()),
        *(_policy(name) for name in POLICIES.names()),
    )


def guards_page() -> str:
    return page(
        "Guards",
        "A guard vets what a policy wants. All of them are on by default, in this order: what the one before left is "
        "what the next one sees. Tune one with `--guard-option guard.name=value`, leave one out with `--guard-option "
        "guard=off`, leave all out with `--no-guards`. Why each exists: [the guards](../explanation/guards.md).",
        _contents(GUARDS, DEFAULT_ORDER),
        *(_member(GUARDS, name) for name in DEFAULT_ORDER),
    )


def forecasters_page() -> str:
    return page(
        "Forecasters",
        "A forecaster says which input rate to expect over the next cycle, and measures its own error as it goes. "
        "Choose one with `--forecaster NAME`, give it options with `--forecaster-option name=value`.",
        _contents(FORECASTERS, FORECASTERS.names()),
        *(_member(FORECASTERS, name) for name in FORECASTERS.names()),
    )


def _contents(catalog: Catalog[Any], names: Any) -> str:
    rows = [[f"[{name}](#{name})", catalog.describe(name).summary] for name in names]
    return table(["name", "what it does"], rows)


def _member(catalog: Catalog[Any], name: str, *notes: str) -> str:
    member, entry = catalog.load(name), catalog.describe(name)
    module = sys.modules[member.__module__]
    summary, _, terms = inspect.cleandoc(module.__doc__ or "").partition("\n")
    return "\n\n".join(part for part in (
        f"## {name}",
        summary,
        f"Source: {entry.source}." if entry.source else "",
        prose(member.__doc__),
        prose(terms),
        *notes,
        _options(describe(member)),
        f"Code: [{path(member)}](../../{path(member)})",
    ) if part)  # fmt: skip


def _policy(name: str) -> str:
    policy = POLICIES.load(name)
    equations = ", ".join(f"[{each}](mathematics.md#{each})" for each in mathematics_of(policy))
    return _member(POLICIES, name, _ways(policy), f"Mathematics: {equations}." if equations else "")


def _ways(policy: Any) -> str:
    """What the loop and the simulator do differently for a policy."""
    ways = []
    if issubclass(policy, Learner):
        ways.append("It learns: the store keeps what it knows.")
    if policy.measurements > 1:
        ways.append(f"It wants {policy.measurements} samples of each decision interval.")
    if policy.actuation is not None:
        ways.append(f"Its own system changes a job by `{policy.actuation}`, and so does the simulator for it.")
    return " ".join(ways)


def _options(options: tuple[Option, ...]) -> str:
    if not options:
        return "It has no options."
    rows = [[code(each.name), default(each), each.unit, each.meaning] for each in options]
    return table(["option", "default", "unit", "meaning"], rows)


def path(member: type) -> str:
    """Where a class is written, from the root of the repository."""
    return f"src/{member.__module__.replace('.', '/')}.py"
