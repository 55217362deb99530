"""What would be expected of a plan, whether or not a policy chose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model import Expected, MissingFigureError, Observation, Plan
from penstock.performance.expectation import expect
from penstock.performance.sequential import as_if_concurrent
from penstock.performance.true_rates import arriving, headroom, input_rates, true_rates


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan should bring at the present load.

    plan         the plan
    slots        slots that it holds
    slots_now    slots that the plan in force holds
    expected     throughput and latency; None if too little was measured to say
    carries      records per second that it carries; None likewise
    utilisation  how busy the instances of each operator would be, from 0 to 1; above 1 they fall behind
    misses       the targets that it would miss, as far as is known
    """

    plan: Plan
    slots: int
    slots_now: int
    expected: Expected | None
    carries: float | None
    utilisation: Mapping[str, float]
    misses: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """
        >>> Outlook(Plan({"a": 2}), 2, 3, None, None, {}, ()).sentence
        'too little was measured to say what a 2 would bring; it holds 2 slots, now there are 3'
        """
        held = f"{self.slots} slots, now there are {self.slots_now}"
        if self.expected is None or self.carries is None:
            return f"too little was measured to say what {self.plan} would bring; it holds {held}"
        if self.misses:
            outcome = f"it would miss {' and '.join(miss.replace('_', ' ') for miss in self.misses)}"
        else:
            outcome = "it would stay inside the targets"
        return f"{self.plan} carries {self.carries:,.0f} records/s with {held}: {outcome}"


def outlook(observation: Observation, plan: Plan) -> Outlook:
    """What to expect of `plan` at the load that was measured last.

    observation  as it was measured: operators that run sequentially are put right here
    """
    plan.check_bounds(observation.topology)
    execution = observation.execution
    slots, now = (execution.slots(each, observation.topology) for each in (plan, observation.plan))
    seen = as_if_concurrent(observation)
    expected = expect(seen, plan)
    try:
        rates, inputs = true_rates(seen), input_rates(seen)
    except MissingFigureError:
        return Outlook(plan, slots, now, None, None, {}, ())
    load = arriving(seen.topology, rates, inputs)
    times, offered = headroom(plan.parallelism, rates, load, seen.topology), seen.latest.offered_rate
    busy = {name: load[name] / (plan[name] * rates[name].processing) for name in seen.topology.names}
    return Outlook(
        plan, slots, now, expected, times * offered if offered else None, busy, _misses(observation, expected, times)
    )  # fmt: skip


def _misses(observation: Observation, expected: Expected | None, times: float) -> tuple[str, ...]:
    """A plan that just carries the load does not fall behind; latencies are compared where they are known."""
    slo = observation.slo
    missed = ["keep_up"] if times < 1.0 else []
    if expected is not None:
        for name, then, target in (
            ("processing_latency", expected.processing_latency_ms, slo.processing_latency_ms),
            ("event_latency", expected.event_latency_ms, slo.event_latency_ms),
        ):
            if then is not None and target is not None and then > target:
                missed.append(name)
    return tuple(missed)
