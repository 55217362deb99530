"""The workloads show the figures of Dp-Stream that they were made for."""

from __future__ import annotations

import pytest

from penstock.cli.workloads import workload
from workload_runs import run


@pytest.mark.parametrize(("name", "paper_ms"), [("dp_wordcount", 4.66), ("dp_top_n", 4.84)])
def test_storms_default_scheduler_is_as_slow_as_dp_stream_found_it(name: str, paper_ms: float) -> None:
    result, _ = run(workload(name), "storm_default", interval="20 s")

    assert result.processing_latency_ms.mean == pytest.approx(paper_ms, rel=0.1)
    assert result.processed_ratio == 1.0
