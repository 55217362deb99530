"""Penstock's own policy: a model of the job, a forecast of its load, and the cheapest plan over the next minutes.

It arranges parts that each stand in a file of their own:

    the job       `performance/job_model` with `ladder`, or `batch_model` where operators run sequentially
    the load      `forecast/weighted`
    a change      `performance/change_cost`
    a missed second  `performance/error_budget`
    the choice    `performance/horizon`
    what is ruled out  `_ruled_out`
    what is felt  `_pressure`
    the doubt     `performance/trust`; while the job is not known, true rates with headroom decide, as in DS2
    the words     `_explain`
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from penstock.forecast.weighted import Weighted
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    HoldsUpTo,
    InvalidValueError,
    Observation,
    Reason,
    ReasonCode,
    Slo,
)
from penstock.model.options import option
from penstock.performance.backlog import catching_up, draining_rate, saturated
from penstock.performance.batch_model import BatchModel
from penstock.performance.change_cost import ChangeCost, missed_by
from penstock.performance.error_budget import DAY, ErrorBudget
from penstock.performance.horizon import Option, Outlook, Terms, weigh
from penstock.performance.job_model import JobModel, target_seconds
from penstock.performance.latency_fit import latency_ms
from penstock.performance.rungs import Rung
from penstock.performance.trust import Trust
from penstock.policies import Policy, State
from penstock.policies._explain import alternatives, forecast_figures, need_figures, sentence, shared
from penstock.policies._headroom import sized_by_headroom
from penstock.policies._pressure import Pressure
from penstock.policies._ruled_out import drained_in_time, in_time

STEPS = np.array([30.0, 60.0, 90.0, 120.0, 120.0, 180.0, 300.0])
"""Seconds of each step of the horizon: a quarter of an hour, finer where it matters more."""

LONGER_PER_SILENCE, LONGEST, HALF_HOUR = 120.0, 2700.0, 1800.0
"""Seconds by which the horizon is longer for each second of silence, and at the most: a dear change must have time to
pay. What it is longer by is cut at half an hour from now."""

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.85, 0.93, 0.975, 0.995)
CHANCES = np.array([0.2, 0.2, 0.2, 0.2, 0.1, 0.06, 0.03, 0.01])
"""Quantiles of the forecast that stand for all rates, and the probability that each stands for."""

LIKELY = LEVELS.index(0.85)
"""Rates up to this quantile are likely to come."""

SURE, SOON = LEVELS.index(0.1), 3
"""The highest rate within the first steps of the horizon, five minutes, exceeds this quantile almost surely."""

CAUTIOUS, BOLD = 2.0, 1.0
"""Standard errors by which a smaller plan may turn out worse than it seems: where changing back is felt, and where it
is not, so that trying it is the way to find out."""

LEARNING = 6
"""Windows until the model of a job may decide."""

RUNGS = 12
BELOW, ABOVE = 0.85, 1.25
"""The plans that are weighed carry from this part of the lowest rate to that many times the highest."""

DRAINED_SECONDS = 60.0
"""The largest plan that is weighed drains what waits within this time."""

CATCH_UP_SECONDS = 120.0
"""While the job is not known, it is sized to work off what waits within this time, or sooner if its SLO says so."""

KEPT_SECONDS = 300.0
"""A plan that is kept now is not made smaller for so long. Waiting tells which scenario it is; if a single step were
enough for that, waiting a little longer for certainty would always seem to pay, and nothing would ever shrink."""

FOUND_OUT_SECONDS = 60.0
"""A plan that carries less than was thought has shown it after this time, and is replaced."""

CHANGE_SECONDS = 30.0
"""Seconds of the whole job that a change costs beside its silence: caches, connections, someone who reads of it."""

WORTH_CHANGING = 0.01
"""Another plan must save at least this part of the core-seconds of staying: less is within what model and forecast do
not know, and plans that are as good as each other would take turns."""

SHOWN = 0.05
"""The standard error of what a plan carries that has just been seen to carry it, as a share."""

JUMP = 1.1
"""A rate that is higher by this factor overtakes a decision even if its plan did not carry the rate before either."""

SETTLED_WINDOWS, SETTLED_SECONDS = 12, 120.0
"""After so many windows without warm-up, or at the latest after this time, what is measured is no longer the doing of
the last change. Until then the latency says little about the model, and nothing shrinks. Where windows are short, as in
a quick try, a change is settled sooner."""


@dataclass
class Predictive(Policy):
    """Runs the plan that costs least over the next quarter of an hour, by its own model of the job and of its load.

    Cost is core-seconds, seconds outside the targets, and the silence of changes as this job showed it. While it does
    not know the job, and when the model proves wrong, it sizes by true rates with headroom.
    """

    name: ClassVar[str] = "predictive"
    source: ClassVar[str] = "Penstock's own"
    measurements: ClassVar[int] = 6
    takes_care_of: ClassVar[tuple[str, ...]] = ("patience", "stabilisation")
    knows_chains: ClassVar[bool] = True
    decides_early: ClassVar[bool] = True

    miss_price: float = option(12.0, "what a second outside the targets is worth, in seconds of the whole job", "s")
    missed_share: float = option(0.004, "share of the time in which targets may be missed", "ratio")
    headroom: float = option(0.7, "how busy instances may be while the job is not known", "ratio")
    compress: float = option(1.0, "how many times as fast as in life time passes: for compressed load curves", "ratio")

    model: JobModel | BatchModel | None = field(init=False, repr=False, default=None)
    forecast: Weighted = field(init=False, repr=False, default_factory=Weighted)
    change_cost: ChangeCost = field(init=False, repr=False, default_factory=ChangeCost)
    budget: ErrorBudget = field(init=False, repr=False)
    trust: Trust = field(init=False, repr=False, default_factory=Trust)
    pressure: Pressure = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.headroom <= 1:
            raise InvalidValueError("headroom", f"must be more than 0 and at most 1, not {self.headroom!r}")
        if not self.miss_price > 0:
            raise InvalidValueError("miss_price", f"must be positive, not {self.miss_price!r}")
        if not 0 < self.missed_share < 1:
            raise InvalidValueError("missed_share", f"must be more than 0 and less than 1, not {self.missed_share!r}")
        if not self.compress > 0:
            raise InvalidValueError("compress", f"must be positive, not {self.compress!r}")
        self.budget = ErrorBudget(self.missed_share, day=DAY / self.compress)
        self.pressure = Pressure(compress=self.compress)

    @property
    def utilisation(self) -> float:
        return self.headroom

    # Learn -----------------------------------------------------------------------------------------------------------

    def learn(self, observation: Observation) -> None:
        sample, topology, slo = observation.latest, observation.topology, observation.slo
        if self.model is None:
            self.model = BatchModel() if observation.execution is Execution.SEQUENTIAL else JobModel()
        rate = sample.job_input_rate
        end = sample.end * self.compress
        if rate is not None and (self.forecast.learnt_until is None or end > self.forecast.learnt_until):
            self.forecast.learn(end, rate)
        if self.model.knows(topology):
            self._compare(observation, self.model)
        self.model.learn(sample, topology, slo)
        if self.model.knows(topology):
            self.change_cost.learn(observation, self.model)
        self.budget.learn(observation, lambda change: self._missed_by(change, observation))
        self.pressure.learn(observation)

    def _missed_by(self, change: Cycle, observation: Observation) -> float:
        """Seconds outside the targets that a change cost, by its silence."""
        rate, topology, slo = observation.latest.job_input_rate, observation.topology, observation.slo
        if self.model is None or not self.model.knows(topology) or not rate:
            return 0.0
        rung = self.model.rung(change.decision.plan.parallelism, topology, slo)
        return missed_by(self.change_cost.silence(topology), rate, rung.capacity, tolerated_seconds(slo))

    def _compare(self, observation: Observation, model: JobModel | BatchModel) -> None:
        """Compare the newest window with what the model expected of it."""
        sample, topology, slo = observation.latest, observation.topology, observation.slo
        rate = sample.job_input_rate
        plan = {name: each.parallelism for name, each in sample.operators.items()}
        if self._unsettled(observation):
            return
        if model.windows < LEARNING or not rate or plan.keys() != set(topology.names):
            return
        if saturated(sample, slo):  # latencies are those of what waited; but then the job does what it can
            capacity = model.rung(plan, topology, slo).capacity
            self.trust.learn(capacity / max(sample.throughput or 0.0, 1e-3 * rate), 1.0, 1.0)
            return
        if isinstance(model, JobModel) and catching_up(sample):
            return  # something waited for a part of the window; batches have more or fewer records by chance
        processing, event = latency_ms(sample, slo)
        measured = event if processing is None or isinstance(model, BatchModel) else processing
        if measured is not None:
            target = target_seconds(slo, 0.0)
            self.trust.learn(measured / 1e3, model.latency(plan, rate, topology, slo), target)

    # Decide ----------------------------------------------------------------------------------------------------------

    def decide(self, observation: Observation) -> Decision:
        decision = self._decide(observation)
        missed = observation.slo.violations(observation.latest)
        if not missed or decision.reason.code is not ReasonCode.STEADY:
            return decision
        # A job that misses its targets is not steady, even if there is nothing to do about it now.
        text = decision.reason.text
        text = text if " missed " in text else f"{' and '.join(missed).replace('_', ' ')} missed now; {text}"
        return replace(decision, reason=Reason(ReasonCode.LATE, text))

    def _decide(self, observation: Observation) -> Decision:
        rate, model = observation.latest.offered_rate, self.model
        outlook = self._outlook(rate, self.change_cost.silence(observation.topology))
        if model is None or not model.knows(observation.topology) or model.windows < LEARNING:
            return self._relieved(
                observation, self._by_headroom(observation, "the job is not known yet", may_shrink=False)
            )
        if not self.trust.relied_on:
            text = f"the model was wrong for {self.trust.wrong} windows" if self.trust.wrong else "the model was wrong"
            sized = self._by_headroom(observation, text, likely=float(outlook.rates[SOON, LIKELY]))
            return self._relieved(observation, sized)
        if outlook.rates.max() <= 0 and not model.waiting(observation.latest):
            return self._by_headroom(observation, "there is no input")
        return self._relieved(observation, self._by_plan(observation, model, outlook))

    def _by_plan(self, observation: Observation, model: JobModel | BatchModel, outlook: Outlook) -> Decision:
        options, terms = self._weigh(observation, model, outlook)
        stay = options[-1]
        best = min(options, key=lambda each: each.cost)
        if stay.cost - best.cost < WORTH_CHANGING * stay.core_seconds:
            best = stay
        figures = forecast_figures(self.forecast)
        highest = figures["forecast"]["300"]["0.99"]
        sooner = model.sooner(best.rung.parallelism, observation.topology) if isinstance(model, JobModel) else None
        waiting = model.waiting(observation.latest)
        too_many = waiting > terms.tolerated * observation.latest.offered_rate
        return Decision.move(
            observation.plan,
            observation.plan.changed(best.rung.parallelism),
            sentence(observation.latest.offered_rate, highest, waiting if too_many else 0.0, best, stay)
            + shared(best.rung.parallelism, observation.topology, sooner),
            figures={
                **figures,
                "need": need_figures(options, figures["forecast"]),
                "alternatives": alternatives(options, best),
                "silence_seconds": terms.silence,
                "arrival_seconds": terms.arrival,
                "price_of_a_missed_second": terms.miss,
            },
            holds_up_to=_holds_up_to(observation, best.rung.limit),
        )

    def _weigh(
        self, observation: Observation, model: JobModel | BatchModel, outlook: Outlook
    ) -> tuple[list[Option], Terms]:
        """The plans worth weighing, with their costs; the last one is to stay."""
        topology, slo, latest = observation.topology, observation.slo, observation.latest
        waiting, expected = model.waiting(latest), float(outlook.rates[0] @ outlook.chances)
        silence, tolerated = self.change_cost.silence(topology), tolerated_seconds(slo)
        draining = draining_rate(observation, waiting, expected, tolerated, silence)
        high = max(ABOVE * float(outlook.rates.max()) + waiting * self.compress / DRAINED_SECONDS, draining)
        low = max(BELOW * float(outlook.rates.min()), 0.02 * high)
        rates = [low * (high / low) ** (step / (RUNGS - 1)) for step in range(RUNGS)]
        rates = sorted([*rates, draining]) if draining else rates
        current = self._shown(observation, model.rung({n: observation.plan[n] for n in topology.names}, topology, slo))
        # To shrink, a plan must carry what is likely to come even if the model flatters it.
        least = math.inf if self._unsettled(observation) else float(outlook.rates[len(STEPS) - 1, LIKELY])
        errors = CAUTIOUS if silence > tolerated else BOLD
        ladder = model.ladder(rates, topology, slo)
        if ladder and ladder[-1].surely(errors) < least < math.inf:  # a larger one may do so
            ladder = model.ladder([*rates, least * math.exp(1.1 * errors * ladder[-1].error)], topology, slo)
        most = math.inf if observation.most_slots is None else observation.most_slots
        rungs = [
            each for each in ladder
            if each.parallelism != current.parallelism and each.slots <= max(most, current.slots)
            and (each.slots >= current.slots or each.surely(errors) >= least)
        ]  # fmt: skip
        rungs.append(current)
        needed = min((each.slots for each in rungs if each.limit >= expected), default=current.slots)
        usual = needed if self.budget.slots is None else self.budget.slots
        terms = Terms(
            miss=self.miss_price * self.budget.price * usual,
            change=CHANGE_SECONDS / self.compress * usual,
            silence=silence,
            tolerated=tolerated,
            sigma=model.noise(topology),
            kept=KEPT_SECONDS / self.compress,
            settled=min(SETTLED_SECONDS / self.compress, SETTLED_WINDOWS * latest.seconds),
            arrival=self.change_cost.arrival(observation.plan),
            found_out=FOUND_OUT_SECONDS / self.compress,
        )
        options = weigh(rungs, len(rungs) - 1, waiting, outlook, terms)
        options = drained_in_time(options, draining)
        felt = terms.silence > terms.tolerated
        return (in_time(options, float(outlook.rates[SOON, SURE])) if felt else options), terms

    def _shown(self, observation: Observation, current: Rung) -> Rung:
        """The plan in force: where the targets hold, it has shown that it carries the present rate."""
        latest = observation.latest
        if observation.slo.violations(latest):
            return current
        return replace(current, limit=max(current.limit, latest.offered_rate), error=min(current.error, SHOWN))

    def _unsettled(self, observation: Observation) -> bool:
        """Whether the last change is so young that nothing should shrink: what was measured may still be its doing."""
        change = observation.last_change
        if change is None or observation.latest.end - change.t >= SETTLED_SECONDS / self.compress:
            return False
        return len(observation.since(change.t - 1e-6)) < SETTLED_WINDOWS

    def _outlook(self, rate: float, silence: float) -> Outlook:
        """The rates of each step: the highest rate until its end, as it may turn out."""
        seconds = _steps(silence * self.compress)
        rows, before = [], [rate] * len(LEVELS)
        for end in np.cumsum(seconds).tolist():
            now = self.forecast.peaks(end, LEVELS) if self.forecast.learnt_until is not None else before
            before = [max(a, b) for a, b in zip(before, now, strict=True)]
            rows.append(before)
        return Outlook(seconds / self.compress, np.array(rows), CHANCES)

    def _relieved(self, observation: Observation, decision: Decision) -> Decision:
        """The decision, or one that grows where records wait if the user feels what the decision does not answer."""
        felt = self.pressure.felt(observation)
        names = observation.topology.names
        if felt is None or any(decision.plan[name] > observation.plan[name] for name in names):
            return decision
        parallelism, why = self.pressure.relieve(observation)
        target = observation.plan.changed(parallelism)
        figures = {**decision.figures, "felt": felt, "in_vain": list(self.pressure.in_vain)}
        why = f"{felt}: {why}"
        return Decision.move(observation.plan, target, why, figures=figures, holds_up_to=decision.holds_up_to)

    def _by_headroom(
        self, observation: Observation, why: str, likely: float = 0.0, may_shrink: bool = True
    ) -> Decision:
        """likely: the rate that is likely to come soon, if it is known."""
        rate = observation.latest.offered_rate
        growth = max(1.0, likely / rate) if rate > 0 else 1.0
        decision = sized_by_headroom(
            observation, self.headroom, why, may_shrink=may_shrink, unsettled=self._unsettled(observation),
            catch_up_seconds=min(CATCH_UP_SECONDS / self.compress, observation.slo.drain_seconds or math.inf),
            growth=growth,
        )  # fmt: skip
        carries = growth * rate / self.headroom
        return replace(decision, holds_up_to=_holds_up_to(observation, carries))

    # Remember --------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        return {
            "kind": None if self.model is None else type(self.model).__name__,
            "model": None if self.model is None else self.model.state(),
            "forecast": self.forecast.state(),
            "change_cost": self.change_cost.state(),
            "budget": self.budget.state(),
            "trust": self.trust.state(),
            "pressure": self.pressure.state(),
        }

    def restore(self, state: State) -> None:
        kinds: dict[str, type[JobModel] | type[BatchModel]] = {"JobModel": JobModel, "BatchModel": BatchModel}
        self.model = None if state["kind"] is None else kinds[state["kind"]].restored(state["model"])
        self.forecast = Weighted()
        self.forecast.restore(state["forecast"])
        self.change_cost = ChangeCost.restored(state["change_cost"])
        self.budget.restore(state["budget"])
        self.trust = Trust.restored(state["trust"])
        self.pressure = Pressure.restored(state["pressure"], self.compress)


def _steps(silence: float) -> npt.NDArray[np.float64]:
    """The steps of the horizon for changes with so many seconds of silence.

    >>> sum(_steps(0.0).tolist()), _steps(5.0).tolist()[-1], _steps(20.0).tolist()[-2:]
    (900.0, 600.0, [900.0, 1500.0])
    """
    longer = min(LONGER_PER_SILENCE * silence, LONGEST)
    until_half_hour = min(longer, HALF_HOUR - float(STEPS.sum()))
    further = [part for part in (until_half_hour, longer - until_half_hour) if part > 0]
    return np.append(STEPS, further)


def _holds_up_to(observation: Observation, carries: float) -> HoldsUpTo:
    """A decision for a plan that carries so much: more input, or as much more waiting as is tolerated, overtakes it."""
    latest, rate = observation.latest, observation.latest.offered_rate
    return HoldsUpTo(max(carries, JUMP * rate), latest.waiting + tolerated_seconds(observation.slo) * rate)


def tolerated_seconds(slo: Slo) -> float:
    """How long records may wait in the source without a target being missed for it."""
    return min(slo.tolerated_lag_seconds, target_seconds(slo, 0.0))
