"""The control loop: suggest, vet, act, remember. One cycle is one call of `run_once`."""

from __future__ import annotations

import copy
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from penstock.control.deadline import Deadline, StillBusyError, TooSlowError
from penstock.control.intake import Intake, in_order
from penstock.control.ports import Actuator, Clock, Monitor, Store
from penstock.control.think import as_learner, forecast, sentence, teach, think
from penstock.forecast import Forecaster
from penstock.guards import Guard, cycles_to_remember
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    HoldsUpTo,
    JobDescription,
    Mode,
    Observation,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
    Worker,
)
from penstock.performance.sequential import ConcurrentView
from penstock.policies import Policy, State, busy_up_to

log = logging.getLogger("penstock")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the loop runs, apart from what it steers.

    interval_seconds      from one decision to the next; the horizon of a forecast
    stale_after_seconds   metrics older than this scale nothing, unless their window was longer; None: three intervals
    policy_limit_seconds  how long a policy may think; None: as long as it likes
    remembered_samples    length of the window that policies see
    remembered_cycles     length of the window that guards see; longer if one of them looks further back
    """

    interval_seconds: float = 60.0
    stale_after_seconds: float | None = None
    policy_limit_seconds: float | None = 10.0
    remembered_samples: int = 120
    remembered_cycles: int = 120

    def stale_after(self, window: Sample) -> float:
        """The age at which this window is too old: never before the next one as long could have ended."""
        usual = 3 * self.interval_seconds if self.stale_after_seconds is None else self.stale_after_seconds
        return max(usual, 3 * window.seconds)


@dataclass
class Loop:
    """Steers one job. Whatever goes wrong inside becomes a hold with its reason; the loop goes on.

    `view` is what policies see of a job whose operators run sequentially, and knows what its batches cost. `leaving`
    counts the executors that were released and are not gone yet; None where executors are not changed.
    """

    topology: Topology
    slo: Slo
    policy: Policy
    monitor: Monitor
    actuator: Actuator
    store: Store
    clock: Clock
    guards: Sequence[Guard] = ()
    forecaster: Forecaster | None = None
    execution: Execution = Execution.CONCURRENT
    trigger_seconds: float = 0.0
    workers: tuple[Worker, ...] = ()
    mode: Mode = Mode.ACTIVE
    leaving: Callable[[], int | None] = lambda: None
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=self.settings.remembered_samples)
        self._intake = Intake(self.clock, self.settings.interval_seconds, self.topology.names)
        self._unseen = 0  # how many of the newest samples no decision rests on yet
        self._measured: tuple[Sample, ...] = ()  # since the last cycle
        self._newest: Sample | None = None  # also if it does not count
        # What the last decision was made for; before the first one, nothing at all.
        self._holds_up_to = HoldsUpTo(0.0, 0.0) if getattr(self.policy, "decides_early", False) else None
        self.view = self._fresh_view()
        needed = cycles_to_remember(self.guards, self.settings.interval_seconds)
        self._history: deque[Cycle] = deque(maxlen=max(needed, self.settings.remembered_cycles))
        self._deadline = Deadline(self.settings.policy_limit_seconds)
        self._learner = as_learner(self.policy)
        self._untaught = _states(self._learner, self.forecaster)
        self._complaints: set[str] = set()
        self._described = False  # in the store

    def run_once(self) -> Cycle:
        """One cycle: monitor, analyse, plan, execute."""
        t = self._now()
        before, trouble = self._in_force()
        samples, decision = self._suggest(t, before, trouble)
        applied, problem, change_seconds = self._act(t, before, decision)
        return self._remember(Cycle(
            t=t, mode=self.mode, before=before, decision=decision, samples=samples,
            applied=applied, problem=problem, change_seconds=change_seconds, leaving=self._count_leaving(),
        ))  # fmt: skip

    def has_news(self) -> bool:
        """Whether a window that counts has ended since the last decision, so that the next one can rest on it.

        A monitor that fails has no news: the next cycle reads it again, and says what is wrong.
        """
        if self.mode is Mode.OFF:
            return False
        self._try_to_look()
        return self._unseen > 0

    @property
    def may_be_overtaken(self) -> bool:
        """Whether the last decision says what it was made for, so that it is worth looking before the next is due."""
        return self._holds_up_to is not None and self.mode is not Mode.OFF

    def overtaken(self) -> bool:
        """Whether a window has ended since the last decision that shows more than that was made for.

        A burst between two decisions is answered by the next window then, not by the next interval.
        """
        holds = self._holds_up_to
        if holds is None or self.mode is Mode.OFF:
            return False
        self._try_to_look()
        return any(holds.overtaken_by(window) for window in islice(reversed(self._samples), self._unseen))

    def resume(self) -> Plan | None:
        """Take up where an earlier process stopped: its window, its models; returns its plan, if there is one.

        What cannot be taken up (a broken store, a job that has other operators by now) is left: the loop
        starts afresh.
        """
        try:
            cycles = self.store.recent(self._history.maxlen or 0)
            state = self.store.state(self.policy.name)
        except Exception as error:
            log.warning("the store cannot be read, the loop starts afresh: %s", sentence(error))
            return None
        if not cycles or cycles[-1].before.parallelism.keys() != set(self.topology.names):
            return None
        self._intake.goes_on_after(cycles[-1].t)
        cycles = cycles[in_order([cycle.t for cycle in cycles]) :]
        cycles_of_this_job = (c for c in cycles if c.before.parallelism.keys() == set(self.topology.names))
        self._history.extend(filter(_decides, cycles_of_this_job))
        samples = self._analyse([sample for cycle in self._history for sample in cycle.samples])
        self._samples.extend(samples)
        if self.forecaster is not None:
            _take_up(self.forecaster.name, partial(teach, self.forecaster, samples))
        if state is not None and self._learner is not None:
            _take_up(self.policy.name, partial(self._learner.restore, state))
        return _after(cycles[-1])

    def description(self) -> JobDescription:
        """What is steered, and how."""
        return JobDescription(
            self.topology, self.slo, self.execution, self.policy.name, self.settings.interval_seconds
        )  # fmt: skip

    # Suggest and vet -------------------------------------------------------------------------------------------

    def _in_force(self) -> tuple[Plan, str | None]:
        """The plan in force; if that cannot be read, the last one known and the trouble."""
        try:
            return self.actuator.plan(), None
        except Exception as error:
            if not self._history:
                raise  # nothing is known of this job: there is not even a plan to hold
            return _after(self._history[-1]), f"the plan in force could not be read: {sentence(error)}"

    def _suggest(self, t: float, before: Plan, trouble: str | None) -> tuple[tuple[Sample, ...], Decision]:
        """What the policy wants, as far as the guards allow it; a hold if that cannot be known."""
        samples: tuple[Sample, ...] = ()

        def hold(code: ReasonCode, text: str) -> tuple[tuple[Sample, ...], Decision]:
            return samples, Decision.hold(before, code, text, policy=self.policy.name)

        if self.mode is Mode.OFF:
            return hold(ReasonCode.SWITCHED_OFF, "Penstock is switched off")
        if trouble is not None:
            return hold(ReasonCode.MONITOR_FAILED, trouble)
        try:
            self._look()
        except Exception as error:
            return hold(ReasonCode.MONITOR_FAILED, f"the metrics could not be read: {sentence(error)}")
        samples, self._measured = self._measured, ()
        if self._warms_up(t, samples):
            return hold(ReasonCode.WARMING_UP, "the job is warming up after a change")
        if not self._samples:
            return hold(ReasonCode.MISSING_METRICS, "nothing has been measured yet")
        if self._is_stale(t, self._samples[-1]):
            age = t - self._samples[-1].end
            return hold(ReasonCode.STALE_METRICS, f"the newest measurement is {age:.0f} s old")
        if not self._unseen:
            return hold(ReasonCode.NO_NEW_WINDOW, "no window has ended since the last decision")
        observation = self._observe(t, before)
        # Seen from here on, even if the thought fails: a sample that breaks a learner would break it again.
        unseen, self._unseen = self._unseen, 0
        try:
            return samples, self._deadline.call(lambda: self._think(observation, unseen))
        except TooSlowError as error:
            if isinstance(error, StillBusyError):  # nobody has looked
                self._unseen = unseen
            return hold(ReasonCode.POLICY_TOO_SLOW, f"{self.policy.name} was too slow: {error}")
        except Exception as error:
            log.debug("policy failed", exc_info=True)
            return hold(ReasonCode.POLICY_FAILED, f"{self.policy.name} failed: {sentence(error)}")

    def _try_to_look(self) -> None:
        self._now()
        try:
            self._look()
        except Exception:
            log.debug("the monitor failed", exc_info=True)

    def _now(self) -> float:
        """How late it is."""
        now = self.clock.now()
        if self._intake.look(now):
            self._start_afresh()
        return now

    def _look(self) -> None:
        """Take in the windows that have ended since the last look."""
        measured = tuple(self.monitor.read())
        fresh = self._analyse(measured)
        self._measured += measured
        self._samples.extend(fresh)
        self._unseen = min(self._unseen + len(fresh), len(self._samples))
        if self._intake.not_counted is not None:
            self._complain("windows", f"some windows do not count: {self._intake.not_counted}")
        elif measured:
            self._complaints.discard("windows")

    def _start_afresh(self) -> None:
        """The clock was set back: what was measured, decided and learnt lies in the future, and would for hours."""
        log.warning("the clock was set back: what was measured before is forgotten, and the loop starts afresh")
        self._samples.clear()
        self._history.clear()
        self._unseen, self._newest, self.view = 0, None, self._fresh_view()
        for learner, state in self._untaught:
            _take_up(learner.name, partial(learner.restore, copy.deepcopy(state)))

    def _fresh_view(self) -> ConcurrentView | None:
        if self.execution is not Execution.SEQUENTIAL:
            return None
        return ConcurrentView(self.slo, self.trigger_seconds, busy_up_to(self.policy))

    def _is_stale(self, t: float, window: Sample) -> bool:
        """Whether the next window should have ended by now. Under a new plan none begins before that is in force."""
        in_force_at = next((cycle.in_force_at for cycle in reversed(self._history) if cycle.changed), -math.inf)
        return t - max(window.end, in_force_at) > self.settings.stale_after(window)

    def _warms_up(self, t: float, samples: Sequence[Sample]) -> bool:
        """Whether all that was measured since the last cycle is warm-up; or nothing was, and what came last is.

        A change may have waited long for executors: windows from before it are old then, but nobody is blind.
        """
        if samples or self._unseen:
            return bool(samples) and all(sample.warm_up for sample in samples)
        newest = self._newest
        return newest is not None and newest.warm_up and t - newest.end <= self.settings.stale_after(newest)

    def _analyse(self, measured: Sequence[Sample]) -> list[Sample]:
        """The windows that count and were not seen before, as policies see them; the store keeps what was measured.

        A monitor that starts again may show a window twice. Windows of warming up do not count, but their batches show
        what a batch costs.
        """
        fresh = self._intake.counted(measured, self._samples[-1].end if self._samples else -math.inf)
        self._newest = fresh[-1] if fresh else self._newest
        if self.view is not None:
            fresh = [self.view.of(sample) for sample in fresh]
        return [sample for sample in fresh if not sample.warm_up]

    def _observe(self, t: float, plan: Plan) -> Observation:
        return Observation(
            t=t, topology=self.topology, slo=self.slo, plan=plan, execution=self.execution,
            samples=tuple(self._samples), history=tuple(self._history), workers=self.workers,
        )  # fmt: skip

    def _think(self, observation: Observation, unseen: int) -> Decision:
        """Runs under the deadline: a forecaster may take its time as well as a policy."""
        if self.forecaster is not None:
            fresh = observation.samples[len(observation.samples) - unseen :]
            expected = forecast(self.forecaster, fresh, self.settings.interval_seconds)
            observation = replace(observation, forecast=expected)
        return think(self.policy, self.guards, observation, unseen)

    # Act and remember ------------------------------------------------------------------------------------------

    def _act(self, t: float, before: Plan, decision: Decision) -> tuple[bool, str | None, float | None]:
        """Whether the decision is in force now, what went wrong, and the seconds since `t` that a change took."""
        if self.mode is not Mode.ACTIVE or decision.plan == before:
            return self.mode is Mode.ACTIVE, None, None
        try:
            self.actuator.apply(decision.plan)
        except Exception as error:
            problem = f"the change could not be made: {sentence(error)}"
            log.warning("%s; the job runs on with %s", problem, before)
            return False, problem, self._seconds_since(t)
        return True, None, self._seconds_since(t)

    def _seconds_since(self, t: float) -> float:
        return max(0.0, self.clock.now() - t)  # the clock may have been set back meanwhile

    def _count_leaving(self) -> int | None:
        try:
            return self.leaving()
        except Exception:  # a cluster that does not answer is complained of where it is measured
            log.debug("the executors that leave were not counted", exc_info=True)
            return None

    def _remember(self, cycle: Cycle) -> Cycle:
        if _decides(cycle):
            self._history.append(cycle)
            self._holds_up_to = cycle.decision.holds_up_to
        knowledge = self._knowledge()
        try:
            if not self._described:
                self.store.describe(self.description())
                self._described = True
            self.store.record(cycle, self.policy.name, knowledge)
            self._complaints.discard("store")
        except Exception as error:
            self._complain("store", f"the store is lost, the loop goes on without it: {sentence(error)}")
        return cycle

    def _knowledge(self) -> State | None:
        """What the learner knows by now; None leaves in the store what it knew before."""
        if self._learner is None or self._deadline.busy:  # left behind by its deadline, it is still learning
            return None
        try:
            return self._learner.state()
        except Exception as error:
            self._complain("state", f"{self.policy.name} cannot say what it knows: {sentence(error)}")
            return None

    def _complain(self, about: str, text: str) -> None:
        """Say it once, not at every cycle."""
        if about not in self._complaints:
            log.warning(text)
        self._complaints.add(about)


def _states(*learners: Any) -> list[tuple[Any, State]]:
    """What those who learn know now, for whoever has to begin again."""
    found = []
    for learner in learners:
        with suppress(Exception):  # one that cannot say what it knows goes on with it
            found += [] if learner is None else [(learner, copy.deepcopy(learner.state()))]
    return found


def _take_up(name: str, step: Callable[[], None]) -> None:
    try:
        step()
    except Exception as error:
        log.warning("%s cannot take up what was known, it starts afresh: %s", name, sentence(error))


def _decides(cycle: Cycle) -> bool:
    """Guards look back over decisions: cycles that wait for the next window would push these out of the history."""
    return cycle.decision.reason.code is not ReasonCode.NO_NEW_WINDOW


def _after(cycle: Cycle) -> Plan:
    """The plan that a cycle left in force."""
    return cycle.decision.plan if cycle.applied else cycle.before
