"""The control loop: suggest, vet, act, remember. One cycle is one call of `run_once`."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.control.deadline import Deadline, TooSlowError
from penstock.control.ports import Actuator, Clock, Monitor, Store
from penstock.control.think import think
from penstock.forecast import Forecaster
from penstock.guards import Guard
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    Forecast,
    Mode,
    Observation,
    PenstockError,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Worker,
)
from penstock.policies import Learner, Policy

log = logging.getLogger("penstock")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the loop runs, apart from what it steers.

    interval_seconds      from one decision to the next; the horizon of a forecast
    stale_after_seconds   metrics older than this scale nothing; None: three intervals
    policy_limit_seconds  how long a policy may think; None: as long as it likes
    remembered_samples    length of the window that policies see
    remembered_cycles     length of the window that guards see
    """

    interval_seconds: float = 60.0
    stale_after_seconds: float | None = None
    policy_limit_seconds: float | None = 10.0
    remembered_samples: int = 120
    remembered_cycles: int = 120

    @property
    def stale_after(self) -> float:
        return 3 * self.interval_seconds if self.stale_after_seconds is None else self.stale_after_seconds


@dataclass
class Loop:
    """Steers one job. Whatever goes wrong inside becomes a hold with its reason; the loop goes on."""

    topology: Topology
    slo: Slo
    policy: Policy
    monitor: Monitor
    actuator: Actuator
    store: Store
    clock: Clock
    guards: Sequence[Guard] = ()
    forecaster: Forecaster | None = None
    execution: Execution = Execution.AT_ONCE
    workers: tuple[Worker, ...] = ()
    mode: Mode = Mode.ACTIVE
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=self.settings.remembered_samples)
        self._history: deque[Cycle] = deque(maxlen=self.settings.remembered_cycles)
        self._deadline = Deadline(self.settings.policy_limit_seconds)
        self._store_is_lost = False
        self._forecast_from = -math.inf  # the newest time that the forecaster knows

    def run_once(self) -> Cycle:
        """One cycle: monitor, analyse, plan, execute."""
        t, before = self.clock.now(), self.actuator.plan()
        samples, decision = self._suggest(t, before)
        applied, problem = self._act(before, decision)
        return self._remember(Cycle(
            t=t, mode=self.mode, before=before, decision=decision,
            samples=samples, applied=applied, problem=problem,
        ))  # fmt: skip

    def resume(self) -> Plan | None:
        """Take up where an earlier process stopped: its window, its models; returns its plan, if there is one."""
        cycles = self.store.recent(self.settings.remembered_cycles)
        for cycle in cycles:
            self._history.append(cycle)
            self._take(cycle.samples)
        state = self.store.state(self.policy.name)
        if state is not None and isinstance(self.policy, Learner):
            self.policy.restore(state)
        if not cycles:
            return None
        last = cycles[-1]
        return last.decision.plan if last.applied else last.before

    # Suggest and vet -------------------------------------------------------------------------------------------

    def _suggest(self, t: float, before: Plan) -> tuple[tuple[Sample, ...], Decision]:
        """What the policy wants, as far as the guards allow it; a hold if that cannot be known."""
        samples: tuple[Sample, ...] = ()

        def hold(code: ReasonCode, text: str) -> tuple[tuple[Sample, ...], Decision]:
            return samples, Decision.hold(before, code, text, policy=self.policy.name)

        if self.mode is Mode.OFF:
            return hold(ReasonCode.SWITCHED_OFF, "Penstock is switched off")
        try:
            samples = tuple(self.monitor.read())
        except Exception as error:
            return hold(ReasonCode.MONITOR_FAILED, f"the metrics could not be read: {_sentence(error)}")
        fresh = self._take(samples)
        if samples and not fresh:
            return hold(ReasonCode.WARMING_UP, "the job is still settling after a change")
        if not self._samples:
            return hold(ReasonCode.MISSING_METRICS, "nothing has been measured yet")
        age = t - self._samples[-1].end
        if age > self.settings.stale_after:
            return hold(ReasonCode.STALE_METRICS, f"the newest measurement is {age:.0f} s old")
        observation = self._observe(t, before)
        try:
            return samples, self._deadline.call(lambda: think(self.policy, self.guards, observation, fresh))
        except TooSlowError as error:
            return hold(ReasonCode.POLICY_TOO_SLOW, f"{self.policy.name} was too slow: {error}")
        except Exception as error:
            log.debug("policy failed", exc_info=True)
            return hold(ReasonCode.POLICY_FAILED, f"{self.policy.name} failed: {_sentence(error)}")

    def _observe(self, t: float, plan: Plan) -> Observation:
        return Observation(
            t=t, topology=self.topology, slo=self.slo, plan=plan, execution=self.execution,
            samples=tuple(self._samples), history=tuple(self._history), forecast=self._forecast(),
            workers=self.workers,
        )  # fmt: skip

    def _forecast(self) -> Forecast | None:
        if self.forecaster is None:
            return None
        rate = self.forecaster.predict(self.settings.interval_seconds)
        return None if rate is None else Forecast(self.forecaster.name, rate, self.forecaster.mean_absolute_error)

    def _take(self, samples: Iterable[Sample]) -> int:
        """Put the samples that count into the window; how many there were."""
        fresh = [sample for sample in samples if not sample.warm_up]
        self._samples.extend(fresh)
        if self.forecaster is not None:
            for sample in fresh:
                # A monitor that starts again may show a window twice; forecasters take times that grow.
                if sample.input_rate is not None and sample.end > self._forecast_from:
                    self.forecaster.learn(sample.end, sample.job_input_rate)
                    self._forecast_from = sample.end
        return len(fresh)

    # Act and remember ------------------------------------------------------------------------------------------

    def _act(self, before: Plan, decision: Decision) -> tuple[bool, str | None]:
        if self.mode is not Mode.ACTIVE or decision.plan == before:
            return self.mode is Mode.ACTIVE, None
        try:
            self.actuator.apply(decision.plan)
        except Exception as error:
            problem = f"the change could not be made: {_sentence(error)}"
            log.warning("%s; the job runs on with %s", problem, before)
            return False, problem
        return True, None

    def _remember(self, cycle: Cycle) -> Cycle:
        self._history.append(cycle)
        # A policy left behind by its deadline is still at work on what it knows: keep what was stored last.
        learner = self.policy if isinstance(self.policy, Learner) and not self._deadline.busy else None
        state = None if learner is None else learner.state()
        try:
            self.store.record(cycle, self.policy.name, state)
            self._store_is_lost = False
        except Exception as error:
            if not self._store_is_lost:  # say it once, not at every cycle
                log.warning("the store is lost, the loop goes on without it: %s", _sentence(error))
            self._store_is_lost = True
        return cycle


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, PenstockError) else str(error)
