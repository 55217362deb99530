"""The dashboard for Grafana, docs/monitoring/grafana.json: a row of panels for each question."""

from __future__ import annotations

import json
from typing import Any

JOB = '{application_id=~"$application", query_name=~"$query"}'

# title, unit in Grafana's words, and the queries with their legends; JOB stands where {} is
PANELS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Load", "short",
        (
            ("penstock_input_records_per_second{}", "{{query_name}} offered"),
            ("penstock_throughput_records_per_second{}", "{{query_name}} completed"),
        ),
    ),
    (
        "Latency against its target", "s",
        (
            ('penstock_event_latency_seconds{}', "{{query_name}} event {{statistic}}"),
            ("penstock_event_latency_target_seconds{}", "{{query_name}} event target"),
            ('penstock_processing_latency_seconds{}', "{{query_name}} processing {{statistic}}"),
        ),
    ),
    ("Backlog", "short", (("penstock_backlog_records{}", "{{query_name}}"),)),
    (
        "Time outside the targets", "percentunit",
        (
            (
                "rate(penstock_violated_seconds_total{}[$__rate_interval])"
                " / rate(penstock_measured_seconds_total{}[$__rate_interval])",
                "{{query_name}}",
            ),
        ),
    ),
    (
        "Parallelism in force and decided", "short",
        (
            ("penstock_parallelism{}", "{{operator}}"),
            ("penstock_parallelism_decided{}", "{{operator}} decided"),
            ("penstock_parallelism_wanted{}", "{{operator}} wanted"),
        ),
    ),
    ("Utilisation", "percentunit", (("penstock_utilisation_ratio{}", "{{operator}}"),)),
    (
        "Executors", "short",
        (
            ("penstock_executors{}", "{{query_name}} present"),
            ("penstock_executors_requested{}", "{{query_name}} requested"),
            ("penstock_executors_leaving{}", "{{query_name}} leaving"),
            ("penstock_executors_decided{}", "{{query_name}} decided"),
        ),
    ),
    (
        "Slots, and slot-hours of a day (nominal)", "short",
        (
            ("penstock_slots{}", "{{query_name}} slots"),
            ("increase(penstock_slot_seconds_total{}[1d]) / 3600", "{{query_name}} slot-hours of a day"),
        ),
    ),
    (
        "Decisions by reason", "short",
        (
            (
                "sum by (query_name, reason) (increase(penstock_decisions_total{}[$__rate_interval]))",
                "{{query_name}} {{reason}}",
            ),
        ),
    ),
    (
        "Changes, and what they take", "s",
        (
            (
                "rate(penstock_change_seconds_total{}[$__rate_interval])"
                " / (rate(penstock_changes_total{}[$__rate_interval])"
                " + rate(penstock_changes_failed_total{}[$__rate_interval]) > 0)",
                "{{query_name}} seconds a change",
            ),
            ("increase(penstock_changes_total{}[$__rate_interval])", "{{query_name}} changes"),
        ),
    ),
    ("How far expectations are off", "percentunit", (("penstock_expectation_error_ratio{}", "{{figure}}"),)),
    (
        "The controller", "s",
        (
            ("penstock_sample_age_seconds{}", "{{query_name}} age of the newest window"),
            ("penstock_cycle_seconds{}", "{{query_name}} a cycle"),
            ("penstock_controller_up{}", "{{query_name}} up"),
        ),
    ),
)  # fmt: skip


def grafana_dashboard() -> str:
    panels = [_panel(number, *panel) for number, panel in enumerate(PANELS)]
    variables = [
        {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
        _variable("application", "Application", "label_values(penstock_cycles_total, application_id)"),
        _variable("query", "Query", 'label_values(penstock_cycles_total{application_id=~"$application"}, query_name)'),
    ]
    dashboard = {
        "uid": "penstock",
        "title": "Penstock",
        "tags": ["penstock", "spark"],
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "graphTooltip": 1,
        "templating": {"list": variables},
        "panels": panels,
    }
    return json.dumps(dashboard, indent=2) + "\n"


def _panel(number: int, title: str, unit: str, queries: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": source,
        "gridPos": {"x": 12 * (number % 2), "y": 8 * (number // 2), "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"tooltip": {"mode": "multi"}, "legend": {"displayMode": "list", "placement": "bottom"}},
        "targets": [
            {
                "refId": chr(ord("A") + i),
                "datasource": source,
                "expr": expression.replace("{}", JOB),
                "legendFormat": legend,
            }
            for i, (expression, legend) in enumerate(queries)
        ],
    }


def _variable(name: str, label: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
