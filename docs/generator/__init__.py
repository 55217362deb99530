"""Makes the pages of docs/reference, that of reliability, and the dashboard for Grafana, from the code: `make docs`."""

from __future__ import annotations

from pathlib import Path

from docs.generator.command_line import cli_page
from docs.generator.costs import costs_page
from docs.generator.dependencies import dependencies_page
from docs.generator.families import forecasters_page, guards_page, policies_page
from docs.generator.grafana import grafana_dashboard
from docs.generator.mathematics import mathematics_page
from docs.generator.options import options_page
from docs.generator.prometheus import prometheus_page
from docs.generator.reliability import reliability_page
from docs.generator.values import metrics_page, reasons_page, snapshot_page
from docs.generator.workloads import workloads_page

REFERENCE = Path(__file__).parent.parent / "reference"
RELIABILITY = Path(__file__).parent.parent / "reliability.md"
GRAFANA = Path(__file__).parent.parent / "monitoring" / "grafana.json"

PAGES = {
    "cli.md": cli_page,
    "costs.md": costs_page,
    "dependencies.md": dependencies_page,
    "forecasters.md": forecasters_page,
    "guards.md": guards_page,
    "mathematics.md": mathematics_page,
    "metrics.md": metrics_page,
    "options.md": options_page,
    "policies.md": policies_page,
    "prometheus.md": prometheus_page,
    "reasons.md": reasons_page,
    "snapshot.md": snapshot_page,
    "workloads.md": workloads_page,
}


def write() -> None:
    """Write every page; what the code no longer speaks of goes away."""
    REFERENCE.mkdir(exist_ok=True)
    for page in REFERENCE.iterdir():
        if page.name not in PAGES:
            page.unlink()
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make(), encoding="utf-8")
    RELIABILITY.write_text(reliability_page(), encoding="utf-8")
    GRAFANA.write_text(grafana_dashboard(), encoding="utf-8")
