"""What the series of one job are read from: its newest cycle, and sums over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from penstock.control.controller import Controller
from penstock.model import Cycle, Latency, Plan, Sample

LONGEST_HELD_INTERVALS = 5
"""A job that shows no cycle for longer than this many intervals was not running: its plan cost nothing then."""


class JobFigures:
    """Follows the cycles of one job; an observer of its controller."""

    def __init__(self, application_id: str, query_name: str, controller: Controller) -> None:
        self.application_id = application_id
        self.query_name = query_name
        self.controller = controller
        self.loop = controller.loop
        self.cycle: Cycle | None = None
        self.sample: Sample | None = None  # the newest that counts
        self.cycles = 0
        self.decisions: Counter[str] = Counter()
        self.vetoes: Counter[str] = Counter()
        self.missed_seconds: Counter[str] = Counter()
        self.measured_seconds = self.violated_seconds = self.warm_up_seconds = 0.0
        self.changes = self.failed_changes = 0
        self.change_seconds = 0.0
        self.slot_seconds = 0.0
        self.errors: dict[str, float] = {}  # of what was expected, by figure

    def __call__(self, cycle: Cycle) -> None:
        self._judge(cycle)
        if self.cycle is not None:
            longest = LONGEST_HELD_INTERVALS * self.loop.settings.interval_seconds
            held = min(longest, max(0.0, cycle.t - self.cycle.t))
            self.slot_seconds += held * self.loop.execution.slots(cycle.before, self.loop.topology)
        for sample in cycle.samples:
            self._add(sample)
        self.decisions[cycle.decision.reason.code.value] += 1
        self.vetoes.update(verdict.guard for verdict in cycle.decision.verdicts)
        if cycle.change_seconds is not None:
            self.changes += cycle.changed
            self.failed_changes += not cycle.changed
            self.change_seconds += cycle.change_seconds
        self.cycles += 1
        self.cycle = cycle

    def _add(self, sample: Sample) -> None:
        self.measured_seconds += sample.seconds
        missed = self.loop.slo.violations(sample)
        self.missed_seconds.update(dict.fromkeys(missed, sample.seconds))
        self.violated_seconds += sample.seconds if missed else 0.0
        if sample.warm_up:
            self.warm_up_seconds += sample.seconds
        else:
            self.sample = sample

    def _judge(self, cycle: Cycle) -> None:
        """Compare what the last decision expected with what was measured since, in windows that count."""
        expected = None if self.cycle is None else self.cycle.decision.expected
        window = next((sample for sample in reversed(cycle.samples) if not sample.warm_up), None)
        if expected is None or window is None:
            return
        for figure, then, now in (
            ("throughput", expected.throughput, window.throughput),
            ("processing_latency", expected.processing_latency_ms, _mean(window.processing_latency_ms)),
            ("event_latency", expected.event_latency_ms, _mean(window.event_latency_ms)),
        ):
            if then is not None and now:
                self.errors[figure] = abs(then - now) / now

    # What series ask for --------------------------------------------------------------------------------------------

    @property
    def in_force(self) -> Plan | None:
        """The plan that the newest cycle left in force."""
        if self.cycle is None:
            return None
        return self.cycle.decision.plan if self.cycle.applied else self.cycle.before

    @property
    def decided(self) -> Plan | None:
        return None if self.cycle is None else self.cycle.decision.plan

    @property
    def wanted(self) -> Plan | None:
        return None if self.cycle is None else self.cycle.decision.wanted

    def utilisation(self) -> Mapping[str, float]:
        """The share of their time that the instances of each operator spent on records."""
        if self.sample is None:
            return {}
        return {
            name: figures.useful_seconds / (figures.parallelism * self.sample.seconds)
            for name, figures in self.sample.operators.items()
            if figures.useful_seconds is not None
        }

    def queues(self) -> Mapping[str, float]:
        operators = {} if self.sample is None else self.sample.operators
        return {name: figures.queue for name, figures in operators.items() if figures.queue is not None}

    def sample_age(self) -> float | None:
        return None if self.sample is None else max(0.0, self.loop.clock.now() - self.sample.end)


def _mean(latency: Latency | None) -> float | None:
    return None if latency is None else latency.mean
