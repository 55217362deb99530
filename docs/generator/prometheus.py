"""The page of the series for Prometheus."""

from __future__ import annotations

from docs.generator.markdown import code, page, table
from penstock.metrics.series import JOB_LABELS, SERIES


def prometheus_page() -> str:
    return page(
        "Series for Prometheus",
        "What `metrics_port=` (in Python) and `--metrics-port` (`penstock run`) serve at `/metrics`. Names, labels and "
        "units stay as they are from version to version. How to use them: "
        "[watch a job with Prometheus](../how-to/watch-a-job-with-prometheus.md).",
        f"Every series has the labels {code(JOB_LABELS[0])} (Spark's id of the application) and {code(JOB_LABELS[1])} "
        "(the name of the query or the pipeline). None has the id of a run: a query that starts again goes on with its "
        "series. A figure that was not measured has no line.",
        table(
            ["name", "type", "labels besides", "meaning"],
            [
                [code(each.name), each.kind, ", ".join(map(code, each.labels)), each.meaning]
                for each in SERIES
            ],
        ),
    )  # fmt: skip
