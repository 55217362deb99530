"""Fig. 10 and 12 on Spark: what the experiments make of runs that are written by hand."""

from __future__ import annotations

from dataclasses import replace

from penstock.model import Latency, Sample
from penstock.papers.autoscale.spark import others
from penstock.papers.spark.trial import Run, Trial
from penstock.report.judging import Judgement
from spark_trials import Configuration, figure, judgement, story, window


def streamed(trial: Trial, *plans: Configuration, waiting: float = 1.0) -> Run:
    """Two seconds of each plan at 100 items a second; so many wait at the end."""
    return story(trial, *(
        (plan, [window(2.0 * n, trial, plan, 100, rate=100.0, backlog=waiting)]) for n, plan in enumerate(plans)
    ))  # fmt: skip


def test_sudden_peaks_on_spark() -> None:
    storm, own = others.trials(others.PEAKS)
    runs = [
        streamed(storm, *[(1, 1, 1)] * 4, waiting=600),
        streamed(own, (1, 1, 1), (1, 1, 8), (1, 1, 8), (1, 1, 2)),
    ]
    item = others.peaks_item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    assert figure(item, "AUTOSCALE: highest degree of sink").spark == 8
    assert judgement(others.peaks_item([runs[1], runs[0]], runs), "AUTOSCALE grows") is Judgement.FAILS


def test_the_advertising_job_on_spark() -> None:
    storm, own = others.trials(others.ADVERTISING)
    ones = (1,) * 8
    runs = [streamed(storm, *[ones] * 2), streamed(own, ones, (1, 1, 1, 1, 1, 1, 1, 2))]
    item = others.advertising_item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    more = figure(item, "more CPU than minimal degrees").spark
    assert isinstance(more, float)
    assert 0.0 < more < 30.0  # one processor of 0.8 cores more for half of the time


def test_the_advertising_job_under_sudden_peaks_on_spark() -> None:
    storm, own = others.trials(others.ADVERTISING_PEAKS)
    ones, two = (1,) * 8, (1, 1, 1, 1, 1, 1, 1, 2)
    slow = replace(streamed(storm, *[ones] * 3), trial=storm)
    late = [replace(c, samples=tuple(_later(sample) for sample in c.samples)) for c in slow.cycles]
    runs = [replace(slow, cycles=tuple(late)), streamed(own, ones, two, ones)]
    item = others.advertising_peaks_item(runs, runs)
    assert [claim.judgement for claim in item.claims] == [Judgement.HOLDS] * 3
    assert figure(item, "Storm, minimal: event latency").spark == 5_000.0
    assert judgement(others.advertising_peaks_item(runs[::-1], runs), "wait for less long") is Judgement.FAILS


def test_the_sudden_peak_is_more_than_one_instance_of_a_processor_carries() -> None:
    busy = others.ADVERTISING_PEAKS.busy(others.ADVERTISING_PEAKS.trace.peak)
    assert 1.0 < busy["ip_processor"] < 2.0
    assert max(busy[name] for name in busy if not name.endswith("processor")) < 1.0
    assert others.ADVERTISING.busy(others.ADVERTISING.trace.peak)["ip_processor"] < 1.0


def _later(sample: Sample) -> Sample:
    return replace(sample, event_latency_ms=Latency(5e3, 5e3, 5e3, 5e3))


def test_the_line_has_the_papers_most_instances_under_either_stream() -> None:
    topology = others.PEAKS.pipeline(None, None).topology()  # type: ignore[arg-type]
    assert {operator.name: operator.max for operator in topology.operators} == {
        "spout": 1,
        "intermediate": 8,
        "sink": 8,
    }
