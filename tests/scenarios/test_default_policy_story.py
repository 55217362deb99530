"""What a user gets without a word, where true rates alone are misled: in a trial in real time the event latency was 9
to 16 s of 0.5 and 28,000 records waited in front of one operator, whose instances seemed to be busy half of the time.

The trial is told with the windows that it had. Cores are shared: an instance waits for its turn inside what is counted
as free time, and by its true rate it could do twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from penstock.control.assembly import Steering, assemble
from penstock.control.loop import Loop
from penstock.model import (
    Cycle,
    Execution,
    Latency,
    Operator,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.stores.memory import MemoryStore

JOB = Topology.chain(*(Operator(name, max=8) for name in ("parse", "count", "publish")))
HALF_A_SECOND = Slo(event_latency="500 ms")
RATE, USEFUL = 2_000.0, 0.52  # records/s; share of the time that each instance seems to be busy


@dataclass
class BusyCores:
    """A job in real time on cores that it shares: `count` does 470 records/s with each instance, whatever it says.

    most  the most that `count` can do altogether, where something outside holds it back
    """

    most: float = float("inf")
    in_force: Plan = field(default_factory=lambda: Plan({"parse": 2, "count": 4, "publish": 2}))
    queue: float = 28_000.0
    t: float = 0.0
    windows: list[Sample] = field(default_factory=list)

    def now(self) -> float:
        return self.t

    def plan(self) -> Plan:
        return self.in_force

    def apply(self, plan: Plan) -> None:
        self.in_force = plan

    def read(self) -> list[Sample]:
        ended, self.windows = self.windows, []
        return ended

    def run(self, seconds: float = 10.0) -> None:
        does = min(470.0 * self.in_force["count"], self.most)
        done = min(does, RATE + self.queue / seconds)
        self.queue = max(0.0, self.queue + (RATE - done) * seconds)
        late = 1e3 * (0.2 + self.queue / does)

        def operator(name: str, records: float, queue: float) -> OperatorSample:
            k = self.in_force[name]
            return OperatorSample(k, records * seconds, records * seconds, USEFUL * k * seconds, queue=queue)

        self.windows.append(Sample(
            t=self.t, seconds=seconds, input_rate=RATE, throughput=done, backlog=0.0,
            operators={
                "parse": operator("parse", RATE, 0.0), "count": operator("count", done, self.queue),
                "publish": operator("publish", done, 0.0),
            },
            processing_latency_ms=Latency(late), event_latency_ms=Latency(late),
        ))  # fmt: skip
        self.t += seconds


def steered(job: BusyCores) -> Loop:
    return assemble(
        Steering(), topology=JOB, slo=HALF_A_SECOND, monitor=job, actuator=job, clock=job, store=MemoryStore(),
        execution=Execution.CONCURRENT, policy_limit_seconds=None,
    )  # fmt: skip


def cycles_of(job: BusyCores, seconds: float) -> list[Cycle]:
    loop, cycles = steered(job), []
    while job.t < seconds:
        job.run()
        cycles.append(loop.run_once())
    return cycles


def late(cycle: Cycle) -> bool:
    return any(HALF_A_SECOND.violations(window) for window in cycle.samples)


def test_a_job_that_is_seconds_late_is_neither_called_steady_nor_made_smaller() -> None:
    cycles = cycles_of(BusyCores(), 600.0)
    while_late = [cycle for cycle in cycles if late(cycle)]
    assert while_late[0].samples[-1].event_latency_ms.mean > 9_000  # type: ignore[union-attr, operator]
    assert all(cycle.decision.reason.code is not ReasonCode.SCALE_DOWN for cycle in while_late)
    assert all(cycle.decision.reason.code is not ReasonCode.STEADY for cycle in while_late)
    assert while_late[2].decision.reason.code is ReasonCode.SCALE_UP  # the third window, and no later
    assert all("missed" in c.decision.reason.text for c in while_late if c.decision.reason.code is ReasonCode.LATE)


def test_it_grows_the_operator_in_front_of_which_records_wait_until_the_targets_hold() -> None:
    job = BusyCores()
    cycles = cycles_of(job, 600.0)
    assert job.in_force["count"] >= 5
    assert not any(late(cycle) for cycle in cycles[-20:])
    assert job.in_force["parse"] <= 3
    assert job.in_force["publish"] <= 3


def test_where_something_outside_holds_the_job_back_it_says_that_it_cannot_help() -> None:
    job = BusyCores(most=1_880.0)
    cycles = cycles_of(job, 1_800.0)
    said = [cycle.decision.reason.text for cycle in cycles]
    assert any("cannot help" in text for text in said)
    calm = (ReasonCode.STEADY, ReasonCode.SCALE_DOWN)
    assert not any(cycle.decision.reason.code in calm for cycle in cycles if late(cycle))


@pytest.mark.parametrize("windows", [1, 2, 3])
def test_few_windows_and_missing_figures_are_no_reason_to_shrink(windows: int) -> None:
    job = BusyCores()
    loop = steered(job)
    for _ in range(windows):
        job.run()
        poor = job.windows[-1]
        job.windows[-1] = Sample(t=poor.t, seconds=poor.seconds, operators={
            name: OperatorSample(each.parallelism) for name, each in poor.operators.items()
        }, input_rate=RATE)  # fmt: skip
        cycle = loop.run_once()
        assert cycle.decision.plan == cycle.before
        assert cycle.decision.reason.code is ReasonCode.MISSING_METRICS
