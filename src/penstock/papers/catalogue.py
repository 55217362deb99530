"""Finds what the papers' folders have: tables and figures, workloads, and what of them runs on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from penstock.model.errors import check_choice
from penstock.report.item import Item
from penstock.runs.workload import Workload

if TYPE_CHECKING:
    from penstock.papers.spark.runner import TrialRunner
    from penstock.runs.spark_workload import SparkWorkload

Experiment = Callable[[], Item]
SparkExperiment = Callable[["TrialRunner"], Item]

PAPERS = ("autoscale", "autrascale", "autrascale_plus", "dp_stream", "psps")
"""The papers that can be reproduced, by the names of their folders."""


def paper_title(paper: str) -> str:
    title: str = _figures(paper).PAPER
    return title


def items(paper: str, item: str | None = None) -> Mapping[str, Experiment]:
    """The tables and figures of a paper, or the one asked for."""
    found: Mapping[str, Experiment] = _figures(paper).ITEMS
    return _chosen(found, item, f"item of {paper}")


def workloads() -> dict[str, Workload]:
    """The simulated jobs of all papers by name."""
    return {each.name: each for paper in PAPERS for each in _of(paper, "workloads", "WORKLOADS")}


def workload(name: str) -> Workload:
    known = workloads()
    check_choice("workload", name, tuple(known))
    return known[name]


def spark_workloads() -> dict[str, SparkWorkload]:
    """The jobs of all papers that Spark can run, by name."""
    return {each.name: each for paper in PAPERS for each in _of(paper, "spark", "JOBS")}


def papers_on_spark() -> list[str]:
    """The papers of which something runs on Spark."""
    return [paper for paper in PAPERS if _of(paper, "spark", "EXPERIMENTS")]


def items_on_spark(paper: str, item: str | None = None) -> Mapping[str, SparkExperiment]:
    """What runs on Spark of a paper, or the one asked for."""
    check_choice("paper on Spark", paper, papers_on_spark())
    return _chosen(dict(_of(paper, "spark", "EXPERIMENTS")), item, f"item of {paper} on Spark")


def _chosen(found: Mapping[str, Any], item: str | None, field: str) -> Mapping[str, Any]:
    if item is None:
        return found
    check_choice(field, item, tuple(found))
    return {item: found[item]}


def _figures(paper: str) -> Any:
    check_choice("paper", paper, PAPERS)
    return import_module(f"penstock.papers.{paper}.figures")


def _of(paper: str, part: str, name: str) -> Any:
    """What a part of a paper's folder lists under a name; nothing where the folder has no such part or name."""
    module = f"penstock.papers.{paper}.{part}"
    return getattr(import_module(module), name, ()) if find_spec(module) else ()
