"""The workloads on Spark are the simulated ones, on a laptop's scale. Nothing here starts Spark."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from penstock.cli.workloads import spark_workload, workload, workloads
from penstock.cli.workloads import spark_workloads as all_spark_workloads
from penstock.model import Execution, InvalidValueError, Plan
from penstock.papers.autrascale.spark.nexmark import QUERIES
from penstock.papers.autrascale.spark.yahoo import REQUESTS
from penstock.papers.autrascale.workloads.yahoo import STORE_RATE
from penstock.papers.catalogue import spark_workloads
from penstock.runs.live import NOWHERE
from penstock.runs.spark_workload import SparkWorkload
from penstock.runs.workload import RunsOn
from penstock.simulator.job import Job
from penstock.spark.segments import segments
from penstock.testbed.place import SLOTS, most_that_fit

JOBS = all_spark_workloads()
PAPERS = sorted(spark_workloads())


def work_of_a_record(simulated: Job) -> dict[str, float]:
    """Milliseconds that one record of the source means for each operator of a simulated job."""
    visits = {
        name: 1.0 if name in simulated.topology.roots else 0.0 for name in simulated.topology.names
    }  # fmt: skip
    for parent in simulated.topology.order:
        for child in simulated.topology.children[parent]:
            visits[child] += visits[parent] * simulated.behaviours[parent].selectivity_to(child)
    return {name: visits[name] * simulated.behaviours[name].service_ms for name in visits}


def shares(work: dict[str, float]) -> dict[str, float]:
    return {name: part / sum(work.values()) for name, part in work.items()}


def slots(chosen: SparkWorkload, most: int) -> int:
    """What the largest plan takes in real time."""
    pipeline = chosen.pipeline(NOWHERE, NOWHERE, most=most)
    return Plan.largest(pipeline.topology()).total + sum(max(1, len(s.after)) for s in segments(pipeline))


@pytest.mark.parametrize("place", [RunsOn.MICROBATCH, RunsOn.REALTIME])
def test_the_workloads_that_say_so_are_those_that_spark_runs_as_pipelines(place: RunsOn) -> None:
    assert {name for name, each in workloads().items() if place in each.runs_on} == set(JOBS)


def test_the_workloads_that_say_so_are_those_that_spark_runs_as_native_queries() -> None:
    assert {name for name, each in workloads().items() if RunsOn.NATIVE in each.runs_on} == set(QUERIES)


@pytest.mark.parametrize("name", PAPERS)
def test_a_job_has_the_operators_and_edges_of_the_simulated_one(name: str) -> None:
    ours, simulated = JOBS[name].pipeline(NOWHERE, NOWHERE).topology(), workload(name).job.topology

    assert ours.names == simulated.names
    assert set(ours.edges) == set(simulated.edges)


@pytest.mark.parametrize("name", ["wordcount", "linear", "twitter"])
def test_what_keeps_state_in_the_paper_has_a_key_here(name: str) -> None:
    ours, simulated = JOBS[name].pipeline(NOWHERE, NOWHERE).topology(), workload(name).job.topology

    assert [operator.stateful for operator in ours.operators] == [o.stateful for o in simulated.operators]


@pytest.mark.parametrize("name", PAPERS)
def test_a_record_means_as_much_work_to_each_operator_as_in_the_simulated_job(name: str) -> None:
    """Relative to the others; whole milliseconds leave a difference of a few hundredths."""
    on_spark, simulated = shares(JOBS[name].busy(1.0)), shares(work_of_a_record(workload(name).job))

    assert on_spark == pytest.approx(simulated, abs=0.03)


@pytest.mark.parametrize("name", JOBS)
def test_two_cores_carry_the_load(name: str) -> None:
    chosen = JOBS[name]

    assert sum(chosen.busy(chosen.trace.peak).values()) <= 12
    assert 60 <= chosen.trace.seconds <= 120.001
    assert all(ms == 0 or ms >= 1 for ms in chosen.service_ms.values())  # nothing sleeps for less than a millisecond


@pytest.mark.parametrize("name", JOBS)
def test_real_time_has_room_for_the_instances_that_the_peak_keeps_busy(name: str) -> None:
    chosen = JOBS[name]
    most = most_that_fit(chosen.pipeline)

    assert slots(chosen, most) <= SLOTS
    assert chosen.sized_for(chosen.trace.peak, Execution.CONCURRENT, busy=1.0).widest <= most
    chosen.start.check(chosen.pipeline(NOWHERE, NOWHERE).topology())


def test_as_many_instances_fit_as_there_are_slots_left_by_the_readers() -> None:
    star = JOBS["star"]  # two spouts read the source, the centre two topics, each sink one: six readers
    most = most_that_fit(star.pipeline)

    assert most == (SLOTS - 6 - 1 - 1 - 2) // 2  # a spout has one instance, the centre two at most
    assert slots(star, most + 1) > SLOTS


@pytest.mark.parametrize("name", JOBS)
def test_a_record_depends_on_its_number_alone(name: str) -> None:
    values = JOBS[name].values
    whole = list(values(np.arange(1000)))

    assert [*values(np.arange(600)), *values(np.arange(600, 1000))] == whole
    assert len(set(whole)) > 100


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nexmark_q5", "workload 'nexmark_q5' runs on the simulator, Spark as a native query"),
        ("yaho", "workload 'yaho' is not known; did you mean 'yahoo'"),
    ],
)
def test_what_no_engine_runs_is_refused_with_a_reason(name: str, complaint: str) -> None:
    with pytest.raises(InvalidValueError, match=complaint):
        spark_workload(name)


def test_the_store_is_as_far_from_the_peak_as_in_the_simulated_benchmark() -> None:
    yahoo, simulated = JOBS["yahoo"], workload("yahoo")

    requests_at_the_peak = yahoo.trace.peak * yahoo.visits["join"]
    assert requests_at_the_peak / REQUESTS == pytest.approx(simulated.trace.peak / STORE_RATE)


def test_words_and_known_authors_are_spread_evenly() -> None:
    words = Counter(JOBS["wordcount"].values(np.arange(20_000)))
    assert len(words) == 10_000
    assert set(words.values()) == {2}
    tweets = [text.decode().split(",") for text in JOBS["twitter"].values(np.arange(6_000))]
    assert Counter(int(followers) > 10_000 for _, _, followers, _ in tweets)[True] == pytest.approx(600, rel=0.1)
