"""Every table and figure of the papers, theirs and ours side by side. One module is one paper.

A module has `PAPER`, its name, and `ITEMS`: for each table or figure a function without arguments that runs it.
Nothing in an item is tuned to it: jobs are calibrated once, in `workloads`, and seeds are fixed.
Beside them, `contest` compares policies over loads and seeds, and `sweep` spreads runs over Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from penstock.experiments._item import Chart, Claim, Curve, Item, Row, Verdict
from penstock.model import InvalidValueError
from penstock.model.errors import unknown

__all__ = ["Chart", "Claim", "Curve", "Item", "Row", "Verdict", "items", "paper_title", "papers"]

Experiment = Callable[[], Item]

PAPERS = ("autoscale", "autrascale", "autrascale_plus", "dp_stream", "psps")


def papers() -> list[str]:
    """The papers that can be reproduced, by the names of their modules."""
    return list(PAPERS)


def paper_title(paper: str) -> str:
    title: str = _module(paper).PAPER
    return title


def items(paper: str, item: str | None = None) -> Mapping[str, Experiment]:
    """The tables and figures of a paper, or the one asked for."""
    found: Mapping[str, Experiment] = _module(paper).ITEMS
    if item is None:
        return found
    if item not in found:
        raise InvalidValueError(f"item of {paper}", unknown(item, found))
    return {item: found[item]}


def _module(paper: str) -> Any:
    if paper not in papers():
        raise InvalidValueError("paper", unknown(paper, papers()))
    return import_module(f"{__name__}.{paper}")
