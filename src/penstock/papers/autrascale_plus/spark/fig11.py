"""Fig. 11 of AuTraScale+ on Spark: one backlog that must go within a limit, drained by four methods.

As in the paper: the job stands where throughput and processing latency are optimised; from a window in which the
backlog has come, each method finds its plan; then the job runs with that plan and as much waiting, and what counts is
when its event latency is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from penstock.control.think import think
from penstock.load.curves import constant
from penstock.model import Observation, Plan, Sample, Slo
from penstock.papers.autrascale.spark.wordcount import JOBS, RATE
from penstock.papers.autrascale_plus.fig11 import SAVED
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, plan_of
from penstock.performance.backlog import met
from penstock.performance.bayesian.rate_library import Measurement, RateLibrary, RateRecord
from penstock.policies import POLICIES
from penstock.policies.autrascale import AuTraScale
from penstock.report.item import Chart, Item, Row, listed

(JOB,) = JOBS
BACKLOG, LIMIT_SECONDS = 7_000, 30.0
SLO = Slo(processing_latency="1 s", event_latency="2 s", drain=f"{LIMIT_SECONDS:g} s")
STEADY = (1, 2, 6, 5)
"""The plan that AuTraScale ends with at this rate: see Fig. 5."""
OWN = "autrascale_plus"
METHODS = (OWN, "exponent", "proportion", "max")
OPTIONS = {"keep_up_tolerance": KEEP_UP}


def is_known(cycles: Cycles) -> bool:
    """Whether three windows in a row show the latency of a settled job."""
    last = [cycle.samples[-1] for cycle in cycles[-3:]]
    return len(last) == 3 and all(s.processing_latency_ms is not None and not s.warm_up for s in last)


CALM = Trial(
    "before the backlog", JOB, constant(RATE, 60.0), SLO, plan_of(JOB, STEADY), policy="static", enough=is_known
)


def is_late(cycles: Cycles) -> bool:
    """Whether the newest window shows an event latency that is too high: before, no method would do anything."""
    newest = cycles[-1].samples[-1] if cycles else None
    return newest is not None and newest.event_latency_ms is not None and not met(newest, SLO)


BURDENED = Trial(
    "the backlog comes", JOB, constant(RATE, 60.0), SLO, plan_of(JOB, STEADY), policy="static", backlog=BACKLOG,
    enough=is_late,
)  # fmt: skip


def trial(method: str, plan: Plan, backlog: int) -> Trial:
    load = constant(RATE, 90.0)
    return Trial(method, JOB, load, SLO, plan, policy="static", backlog=backlog, enough=is_over)


def asked(method: str, calm: Run, burdened: Run) -> Plan:
    """The plan of a method for the window in which the backlog has come."""
    policy = POLICIES.create(method, OPTIONS if method == OWN else None)
    if isinstance(policy, AuTraScale):
        _teach(policy, latency_ms(calm))
    window = burdened.samples[-1]
    seen = Observation(
        t=window.end, topology=burdened.topology, slo=SLO, plan=burdened.trial.start, samples=(window,)
    )  # fmt: skip
    return think(policy, (), seen, fresh=1).plan


def _teach(policy: AuTraScale, steady_ms: float) -> None:
    """Give the policy a library in which throughput and processing latency are optimised already."""
    record = RateRecord(RATE, recommended=STEADY, base=STEADY)
    record.measure(STEADY, Measurement(RATE, RATE, steady_ms))
    policy.library = RateLibrary(policy.rate_tolerance, [record])


@dataclass(frozen=True)
class DrainedOnSpark:
    """The plan of a method, and how long it took from the job's start; None: it was not done when the run ended."""

    instances: int
    seconds: float | None

    @property
    def in_time(self) -> bool:
        return self.seconds is not None and self.seconds <= LIMIT_SECONDS

    @property
    def instance_seconds(self) -> float | None:
        return None if self.seconds is None else self.instances * self.seconds


def is_over(cycles: Cycles) -> bool:
    """Whether the event latency was missed, and is met again."""
    return _met_again([sample for cycle in cycles for sample in cycle.samples]) is not None


def drained(run: Run) -> DrainedOnSpark:
    return DrainedOnSpark(run.trial.start.total, _met_again(run.samples))


def _met_again(samples: Sequence[Sample]) -> float | None:
    """When the event latency was first met after it had been missed."""
    missed = False
    for sample in samples:
        if sample.event_latency_ms is None:
            continue
        if missed and met(sample, SLO):
            return sample.end
        missed |= not met(sample, SLO)
    return None


def fig_11(runner: TrialRunner) -> Item:
    calm, burdened = runner.run(CALM), runner.run(BURDENED)
    spark = [runner.run(one) for one in trials(calm, burdened)]
    job = simulated.twin_of([calm, burdened, *spark])

    def simulate(one: Trial) -> Run:
        return simulated.simulate(one, calm.topology, job)

    # In the simulator already the first window shows the event latency, so the same backlog as on Spark is set there.
    seen = simulate(CALM), simulate(replace(BURDENED, backlog=spark[0].trial.backlog))
    return item(spark, [simulate(one) for one in trials(*seen)], latency_ms(calm))


def trials(calm: Run, burdened: Run) -> list[Trial]:
    waiting = round(burdened.samples[-1].backlog or 0.0)
    return [trial(method, asked(method, calm, burdened), waiting) for method in METHODS]


def latency_ms(run: Run) -> float:
    measured = [s.processing_latency_ms for s in run.settled[-3:] if s.processing_latency_ms is not None]
    return median(latency.mean or 0.0 for latency in measured)


def item(spark: list[Run], twins: list[Run], steady_ms: float) -> Item:
    here, twin = ({run.trial.label: drained(run) for run in runs} for runs in (spark, twins))
    own = here[OWN]
    rows = []
    for run, same in zip(spark, twins, strict=True):
        method = run.trial.label
        rows += [
            Row(f"{method}: plan", None, str(same.plans[0]), spark=str(run.plans[0])),
            Row(f"{method}: instances", None, twin[method].instances, spark=here[method].instances),
            Row(f"{method}: time", None, twin[method].seconds, "s", spark=here[method].seconds),
            Row(
                f"{method}: instance-seconds", None, twin[method].instance_seconds, spark=here[method].instance_seconds
            ),
        ]
    saved = {method: 1 - own.instances / here[method].instances for method in SAVED}
    rows += [
        Row(f"saved against {m}", paper, 1 - twin[OWN].instances / twin[m].instances, "ratio", spark=saved[m])
        for m, paper in SAVED.items()
    ]
    late = [method for method in METHODS if not here[method].in_time]
    waiting = tuple(run.line(lambda sample: float(sample.backlog or 0.0)) for run in spark)
    return Item.of(
        title="AuTraScale+, Fig. 11, on Spark",
        setting=f"wordcount at {RATE:.0f} records/s on the real-time engine with {STEADY}, where AuTraScale+ has ended "
        f"at {steady_ms:.0f} ms; {BACKLOG:,} records come to wait; from the first window that tells how long, in which "
        f"{spark[0].trial.backlog:,} still wait, each method finds its plan for an event latency of "
        f"{SLO.event_latency_ms:,.0f} ms within {LIMIT_SECONDS:.0f} s; then the job starts with that plan and as many "
        f"waiting, until the latency is met; {simulated.SETTING}",
        rows=tuple(rows),
        claims={
            "AuTraScale+ keeps the limit": (own.in_time, _time(own)),
            "Max and Exponent keep the limit": (
                "max" not in late and "exponent" not in late,
                f"{_time(here['max'])} and {_time(here['exponent'])}",
            ),
            **{
                f"AuTraScale+ takes fewer instances than {method} (theirs: {paper:.1%} fewer)": (
                    own.instances < here[method].instances,
                    f"{own.instances} against {here[method].instances}, {saved[method]:.1%}",
                )
                for method, paper in SAVED.items()
            },
            "what it saves is most against Max": (
                saved["max"] == max(saved.values()),
                listed(saved, ".1%"),
            ),
        },
        charts=(Chart("Fig. 11 on Spark", "s", "records waiting", waiting),),
    )


def _time(found: DrainedOnSpark) -> str:
    return "not done when the run ended" if found.seconds is None else f"{found.seconds:.0f} s"
