"""The papers' figures on real Spark, scaled down to what two cores carry: paper, simulator and Spark side by side.

One module is one item. Each runs its trials in a `Theatre`, and the same trials in the simulator; what it makes of both
is a function of what was seen, and needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from penstock.experiments._item import Item
from penstock.experiments.on_spark import backlog, elasticity, three_step, throughput_walk, tweets
from penstock.experiments.on_spark._theatre import Theatre, opened
from penstock.model import InvalidValueError
from penstock.model.errors import unknown

__all__ = ["Theatre", "items", "opened", "papers"]

Experiment = Callable[[Theatre], Item]

ITEMS: Mapping[str, Mapping[str, Experiment]] = {
    "autoscale": {"fig9": three_step.fig_9},
    "autrascale": {"fig5": throughput_walk.fig_5},
    "autrascale_plus": {"table4": elasticity.table_4, "fig11": backlog.fig_11},
    "psps": {"table8": tweets.table_8},
}


def papers() -> list[str]:
    """The papers of which something runs on Spark."""
    return list(ITEMS)


def items(paper: str, item: str | None = None) -> Mapping[str, Experiment]:
    """What runs on Spark of a paper, or the one asked for."""
    if paper not in ITEMS:
        raise InvalidValueError("paper on Spark", unknown(paper, ITEMS))
    found = ITEMS[paper]
    if item is None:
        return found
    if item not in found:
        raise InvalidValueError(f"item of {paper} on Spark", unknown(item, found))
    return {item: found[item]}
