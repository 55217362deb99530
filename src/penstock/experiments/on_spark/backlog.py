"""Fig. 11 of AuTraScale+ on Spark: one backlog that must go within a limit, drained by four methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from penstock.experiments._event_latency_item import SAVED
from penstock.experiments._item import Chart, Claim, Curve, Item, Row
from penstock.experiments.on_spark import _simulated
from penstock.experiments.on_spark._theatre import Theatre
from penstock.experiments.on_spark._trial import KEEP_UP, Cycles, Run, Trial, plan_of
from penstock.model import Sample, Slo
from penstock.performance.backlog import met
from penstock.performance.rate_library import Measurement, RateLibrary, RateRecord
from penstock.policies import Policy
from penstock.policies.autrascale import AuTraScale
from penstock.workloads.on_spark.wordcount import JOBS, RATE
from penstock.workloads.rates import constant

(JOB,) = JOBS
BACKLOG, LIMIT_SECONDS, SECONDS = 4_800, 35.0, 90.0
SLO = Slo(processing_latency="1 s", event_latency="2 s", drain=f"{LIMIT_SECONDS:g} s")
STEADY = (1, 2, 6, 5)
"""Where AuTraScale ends at this rate: see Fig. 5."""
METHODS = ("autrascale_plus", "exponent", "proportion", "max")
OWN = "autrascale_plus"


@dataclass(frozen=True)
class Drained:
    """The most instances that a method took, and how long it needed; None: it was not done when the run ended.

    The time begins with the first window that tells how long records wait: sooner nobody can decide.
    """

    plan: tuple[int, ...]
    seconds: float | None
    core_seconds: float

    @property
    def instances(self) -> int:
        return sum(self.plan)

    @property
    def in_time(self) -> bool:
        return self.seconds is not None and self.seconds <= LIMIT_SECONDS


def steady_trial() -> Trial:
    """What the plan does when nothing waits: what AuTraScale+ knows before there is a backlog."""
    return Trial("before the backlog", JOB, "static", constant(RATE, 16.0), SLO, plan_of(JOB, STEADY))


def trial(method: str, steady_ms: float) -> Trial:
    own = method == OWN
    return Trial(
        method, JOB, method, constant(RATE, SECONDS), SLO, plan_of(JOB, STEADY), backlog=BACKLOG, enough=is_over,
        options={"keep_up_tolerance": KEEP_UP, "policy_running_time": 2.0} if own else {},
        prepare=knowing(steady_ms) if own else lambda policy: None,
    )  # fmt: skip


def knowing(steady_ms: float) -> Callable[[Policy], None]:
    """Throughput and processing latency are optimised already, as in the paper."""

    def prepare(policy: Policy) -> None:
        assert isinstance(policy, AuTraScale)
        record = RateRecord(RATE, recommended=STEADY, base=STEADY)
        record.measure(STEADY, Measurement(RATE, RATE, steady_ms))
        policy.library = RateLibrary(policy.rate_tolerance, [record])

    return prepare


def is_over(cycles: Cycles) -> bool:
    """The event latency was missed, and is met again."""
    return _first_met(cycles) is not None


def drained(run: Run) -> Drained:
    told = next((s.end for s in run.samples if s.event_latency_ms is not None), None)
    end = _first_met(run.cycles)
    largest = max((cycle.decision.plan for cycle in run.cycles), key=lambda plan: plan.total)
    until = run.samples[-1].end if end is None else end.end
    return Drained(
        plan=tuple(largest.parallelism.values()),
        seconds=None if end is None or told is None else end.end - told,
        core_seconds=sum(
            s.seconds * sum(o.parallelism for o in s.operators.values()) for s in run.samples if s.end <= until
        ),
    )


def _first_met(cycles: Cycles) -> Sample | None:
    samples = [sample for cycle in cycles for sample in cycle.samples]
    missed = False
    for sample in samples:
        if sample.event_latency_ms is None:
            continue
        if missed and met(sample, SLO):
            return sample
        missed |= not met(sample, SLO)
    return None


def fig_11(theatre: Theatre) -> Item:
    calm = theatre.run(steady_trial())
    steady_ms = latency_ms(calm)
    spark = [theatre.run(trial(method, steady_ms)) for method in METHODS]
    twins = _simulated.simulated([calm, *spark])[1:]
    return item(spark, twins, steady_ms)


def latency_ms(run: Run) -> float:
    measured = [s.processing_latency_ms for s in run.settled[-3:] if s.processing_latency_ms is not None]
    return median(latency.mean or 0.0 for latency in measured)


def item(spark: list[Run], twins: list[Run], steady_ms: float) -> Item:
    here = {run.trial.policy: drained(run) for run in spark}
    twin = {run.trial.policy: drained(run) for run in twins}
    own = here[OWN]
    rows = []
    for method in METHODS:
        rows += [
            Row(f"{method}: plan", None, str(twin[method].plan), spark=str(here[method].plan)),
            Row(f"{method}: instances", None, twin[method].instances, spark=here[method].instances),
            Row(f"{method}: time", None, twin[method].seconds, "s", spark=here[method].seconds),
            Row(f"{method}: core-seconds", None, twin[method].core_seconds, spark=here[method].core_seconds),
        ]
    saved = {method: 1 - own.instances / here[method].instances for method in SAVED}
    rows += [
        Row(f"saved against {m}", paper, 1 - twin[OWN].instances / twin[m].instances, "ratio", spark=saved[m])
        for m, paper in SAVED.items()
    ]
    late = [method for method in METHODS if not here[method].in_time]
    return Item(
        title="AuTraScale+, Fig. 11, on Spark",
        setting=f"wordcount at {RATE:.0f} records/s on the real-time engine, {BACKLOG:,} records wait at the start; "
        f"event latency {SLO.event_latency_ms:,.0f} ms within {LIMIT_SECONDS:.0f} s; all begin with {STEADY}, where "
        f"AuTraScale+ has ended before at {steady_ms:.0f} ms; the time begins with the first window that tells "
        f"how long records wait; {_simulated.SETTING}",
        rows=tuple(rows),
        claims=(
            Claim.judged("AuTraScale+ keeps the limit", own.in_time, _time(own)),
            Claim.judged(
                "Max and Exponent keep the limit",
                "max" not in late and "exponent" not in late,
                f"{_time(here['max'])} and {_time(here['exponent'])}",
            ),
            *(
                Claim.judged(
                    f"AuTraScale+ takes fewer instances than {method} (theirs: {paper:.1%} fewer)",
                    own.instances < here[method].instances,
                    f"{own.instances} against {here[method].instances}, {saved[method]:.1%}",
                )
                for method, paper in SAVED.items()
            ),
            Claim.judged(
                "what it saves is most against Max",
                saved["max"] == max(saved.values()),
                ", ".join(f"{method}: {part:.1%}" for method, part in saved.items()),
            ),
        ),
        charts=(Chart("Fig. 11 on Spark", "s", "records waiting", tuple(_waiting(run) for run in spark)),),
    )


def _time(found: Drained) -> str:
    return "not done when the run ended" if found.seconds is None else f"{found.seconds:.0f} s"


def _waiting(run: Run) -> Curve:
    return Curve(
        run.trial.policy, tuple(s.end for s in run.samples), tuple(float(s.backlog or 0.0) for s in run.samples)
    )
