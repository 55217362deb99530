"""`make bench`: run every benchmark, print its rows, and keep them with their configuration in benchmarks/results."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
BENCHMARKS = (
    "simulator_speed",
    "simulator_memory",
    "policy_cost",
    "predictive",
    "predictive_rivals",
    "predictive_real",
    "predictive_later_days",
    "predictive_conditions",
    "policies_microbatch",
    "policies_realtime",
    "autrascale_decisions",
    "realtime",
    "realtime_metering",
    "chains",
    "chains_load",
    "chains_simulated",
    "chains_choice",
    "chains_twin",
    "realtime_changes",
    "realtime_batches",
    "realtime_demos",
    "executors_live",
    "state",
    "microbatch",
    "controller",
    "page",
    "many_logs",
    "scale",
    "scale_on_spark",
    "soak",
    "twin_error",
)


def main(names: list[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 120)
    for name in names or BENCHMARKS:
        module = import_module(f"benchmarks.{name}")
        summary = (module.__doc__ or name).strip().partition("\n")[0]
        console.rule(f"{name}: {summary}")
        with console.status("measuring"):
            tables: dict[type, list[dict[str, Any]]] = {}  # one for each kind of row
            for row in module.rows():
                tables.setdefault(type(row), []).append(asdict(row))
        if not tables:
            console.print("There are no load curves: PENSTOCK_TRACES names a folder with files of t_seconds,rate.")
            continue
        for rows in tables.values():
            console.print(table(rows), "")
        RESULTS.mkdir(exist_ok=True)
        kept = {"benchmark": summary, "configuration": configuration(module), "rows": [*chain(*tables.values())]}
        (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


def configuration(module: Any) -> dict[str, Any]:
    """The machine, the versions that matter, and the constants of the benchmark itself."""
    constants = {name: value for name, value in vars(module).items() if name.isupper()}
    return {
        "machine": f"{platform.machine()}, one thread",
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "numba", "scipy", "scikit-learn")},
        **{name: value for name, value in constants.items() if is_plain(value)},
    }


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(is_plain(each) for each in value.values())
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    return isinstance(value, str | int | float)


def table(rows: list[dict[str, Any]]) -> Table:
    shown = Table(box=None, pad_edge=False)
    for name in rows[0]:
        shown.add_column(name.replace("_", " "), justify="left" if isinstance(rows[0][name], str) else "right")
    for row in rows:
        shown.add_row(*map(cell, row.values()))
    return shown


def cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return "" if value is None else str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
