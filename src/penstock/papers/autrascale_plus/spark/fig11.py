"""Fig. 11 of AuTraScale+ on Spark: a backlog that must go within a limit, drained in the loop by four methods.

The job stands in the steady plan that throughput and processing latency were optimised to, and what that plan usually
takes has been measured. Then it starts with records that wait, as after an outage, and the policy does the rest:
steady, drain, steady. The methods that the paper compares with stand in for Algorithm 3 in the same loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from penstock.load.curves import constant
from penstock.model import Cycle, ReasonCode, Slo
from penstock.papers.autrascale.spark.wordcount import JOBS, RATE
from penstock.papers.autrascale_plus.drained_by import DrainedBy
from penstock.papers.autrascale_plus.fig11 import SAVED
from penstock.papers.spark import simulated
from penstock.papers.spark.runner import TrialRunner
from penstock.papers.spark.trial import KEEP_UP, Cycles, Run, Trial, plan_of
from penstock.performance.backlog import met
from penstock.performance.bayesian.rate_library import Measurement, RateLibrary, RateRecord
from penstock.performance.bayesian.search_space import Configuration
from penstock.policies.autrascale_plus import AuTraScalePlus
from penstock.report.item import Chart, Item, Row, listed
from penstock.report.judging import Judged, Verdict, cannot_be_judged

(JOB,) = JOBS
BACKLOG, LIMIT_SECONDS, SECONDS = 8_000, 30.0, 90.0
"""Of 6,000 records so many are left when the job has settled that its steady plan works them off in 31 s: whether a
method began to drain was chance then."""
SLO = Slo(processing_latency="1 s", event_latency="2 s", drain=f"{LIMIT_SECONDS:g} s")
STEADY: Configuration = (1, 2, 6, 5)
"""The plan that AuTraScale ends with at this rate: see Fig. 5."""
OWN = "autrascale_plus"
METHODS = (OWN, "exponent", "proportion", "max")
DRAINING = "event latency optimisation"


def is_known(cycles: Cycles) -> bool:
    """Whether three windows in a row show the latency of a settled job."""
    last = [cycle.samples[-1] for cycle in cycles[-3:]]
    return len(last) == 3 and all(s.processing_latency_ms is not None and not s.warm_up for s in last)


CALM = Trial(
    "before the backlog", JOB, constant(RATE, 60.0), SLO, plan_of(JOB, STEADY), policy="static", enough=is_known
)


def trial(method: str, steady_ms: float) -> Trial:
    """Each trial has a policy of its own, which learns."""
    policy = AuTraScalePlus() if method == OWN else DrainedBy(method=method)
    policy.keep_up_tolerance = KEEP_UP
    record = RateRecord(RATE, recommended=STEADY, base=STEADY)
    record.measure(STEADY, Measurement(RATE, RATE, steady_ms))
    policy.library = RateLibrary(policy.rate_tolerance, [record])
    load = constant(RATE, SECONDS)
    return Trial(
        method, JOB, load, SLO, plan_of(JOB, STEADY), policy=policy, backlog=BACKLOG, enough=is_over
    )  # fmt: skip


@dataclass(frozen=True)
class DrainedOnSpark:
    """What came of one backlog. Times count from the decision to drain; None: not within the run.

    plan     pi_e, the plan that drained; None: no drain was decided on
    seconds  until the event latency was met
    calm     until it was met under the steady plan again, to which the policy went back
    first    from the start of the run to the first decision for which all was measured that it needs
    """

    plan: Configuration | None
    seconds: float | None
    calm: float | None
    first: float | None

    @property
    def instances(self) -> int | None:
        return None if self.plan is None else sum(self.plan)

    @property
    def in_time(self) -> bool:
        return self.seconds is not None and self.seconds <= LIMIT_SECONDS

    @property
    def instance_seconds(self) -> float | None:
        return None if self.instances is None or self.seconds is None else self.instances * self.seconds


def drained(cycles: Sequence[Cycle]) -> DrainedOnSpark:
    """Read off the cycles of a run: the drain, the moment it was over, the way back."""
    plan, began, seconds, back = None, 0.0, None, False
    first = next((cycle.t for cycle in cycles if cycle.decision.figures.get("phase")), None)
    for cycle in cycles:
        sample = cycle.samples[-1]
        if plan is None and cycle.decision.figures.get("phase") == DRAINING:
            plan, began = tuple(cycle.decision.plan.parallelism.values()), cycle.t
        elif plan is not None and seconds is None and sample.end > began and met(sample, SLO):
            seconds = sample.end - began
        elif back and not sample.warm_up and met(sample, SLO):
            return DrainedOnSpark(plan, seconds, sample.end - began, first)
        back = back or (seconds is not None and cycle.decision.reason.code is ReasonCode.RESTORE and cycle.changed)
    return DrainedOnSpark(plan, seconds, None, first)


def is_over(cycles: Cycles) -> bool:
    return drained(cycles).calm is not None


def fig_11(runner: TrialRunner) -> Item:
    calm = runner.run(CALM)
    steady_ms = latency_ms(calm)
    spark = [runner.run(trial(method, steady_ms)) for method in METHODS]
    job = simulated.twin_of([calm, *spark])
    twins = [simulated.simulate(trial(method, steady_ms), calm.topology, job) for method in METHODS]
    return item(spark, twins, steady_ms)


def latency_ms(run: Run) -> float:
    measured = [s.processing_latency_ms for s in run.settled[-3:] if s.processing_latency_ms is not None]
    return median(latency.mean or 0.0 for latency in measured)


def item(spark: list[Run], twins: list[Run], steady_ms: float) -> Item:
    here, twin = ({run.trial.label: drained(run.cycles) for run in runs} for runs in (spark, twins))
    own = here[OWN]
    rows = [row for method in METHODS for row in _rows(method, here[method], twin[method])]
    saved = {method: _saved(here, method) for method in SAVED}
    rows += [
        Row(f"saved against {m}", paper, _saved(twin, m), "ratio", spark=saved[m]) for m, paper in SAVED.items()
    ]  # fmt: skip
    waiting = tuple(run.line(lambda sample: float(sample.backlog or 0.0)) for run in spark)
    known = {method: part for method, part in saved.items() if part is not None}
    return Item.of(
        title="AuTraScale+, Fig. 11, on Spark",
        setting=f"wordcount at {RATE:.0f} records/s on the real-time engine with {STEADY}, where AuTraScale+ has ended "
        f"at {steady_ms:.0f} ms; it starts with {BACKLOG:,} records waiting, as after an outage; in one loop each "
        f"method drains them to an event latency of {SLO.event_latency_ms:,.0f} ms within {LIMIT_SECONDS:.0f} s and "
        f"goes back; throughputs from busy windows and true rates, as nothing is profiled offline; {simulated.SETTING}",
        rows=tuple(rows),
        claims={
            "AuTraScale+ keeps the limit": (own.in_time if own.plan else None, _time(own)),
            "Max and Exponent keep the limit": _both_in_time(here["max"], here["exponent"]),
            **{
                f"AuTraScale+ takes fewer instances than {method} (theirs: {paper:.1%} fewer)": _fewer(
                    here, method, saved[method]
                )
                for method, paper in SAVED.items()
            },
            "what it saves is most against Max": (
                known["max"] == max(known.values()) if "max" in known and len(known) > 1 else None,
                listed(known, ".1%"),
            ),
            "the job goes back to its steady plan, and its event latency is met there too": (
                None if own.plan is None else own.calm is not None,
                _time(own)
                if own.plan is None
                else "not within the run"
                if own.calm is None
                else f"{own.calm:.0f} s after the decision to drain",
            ),
        },
        charts=(Chart("Fig. 11 on Spark", "s", "records waiting", waiting),),
    )


def _rows(method: str, here: DrainedOnSpark, twin: DrainedOnSpark) -> list[Row]:
    def plan(found: DrainedOnSpark) -> str:
        return "none" if found.plan is None else str(found.plan)

    return [
        Row(f"{method}: plan", None, plan(twin), spark=plan(here)),
        Row(f"{method}: instances", None, twin.instances, spark=here.instances),
        Row(f"{method}: time", None, twin.seconds, "s", spark=here.seconds),
        Row(f"{method}: time until it is met after the return", None, twin.calm, "s", spark=here.calm),
        Row(f"{method}: instance-seconds", None, twin.instance_seconds, spark=here.instance_seconds),
    ]


def _saved(found: dict[str, DrainedOnSpark], method: str) -> float | None:
    own, other = found[OWN].instances, found[method].instances
    return None if own is None or other is None else 1 - own / other


def _fewer(found: dict[str, DrainedOnSpark], method: str, saved: float | None) -> Judged | Verdict:
    if saved is None:
        return cannot_be_judged(_why_never(found[OWN], found[method]))
    return saved > 0, f"{found[OWN].instances} against {found[method].instances}, {saved:.1%}"


def _both_in_time(first: DrainedOnSpark, second: DrainedOnSpark) -> Judged | Verdict:
    if first.plan is None or second.plan is None:
        return cannot_be_judged(_why_never(first, second))
    return first.in_time and second.in_time, f"{_time(first)} and {_time(second)}"


def _why_never(*found: DrainedOnSpark, which: str = "one of the two") -> str:
    """Why a drain never began. The batch in which a backlog comes lasts until it has gone through the job, and
    shows its latency and useful time only then."""
    late = max((each.first for each in found if each.plan is None and each.first is not None), default=None)
    shown = "" if late is None else f", when after {late:.0f} s a window first showed all that a decision needs"
    return f"{which} never drained: its steady plan was fast enough{shown}"


def _time(found: DrainedOnSpark) -> str:
    if found.plan is None:
        return _why_never(found, which="it")
    return "not done when the run ended" if found.seconds is None else f"{found.seconds:.0f} s"
