"""AuTraScale: throughput first, then latency by Bayesian optimisation, and transfer when the input rate changes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation, Reason, ReasonCode, direction
from penstock.model.errors import check_required_number, check_whole
from penstock.model.options import option
from penstock.performance.backlog import works_off
from penstock.performance.bayesian.acquisition import XI, Surrogate
from penstock.performance.bayesian.bayesian_search import arrays
from penstock.performance.bayesian.gaussian_process import GaussianProcess
from penstock.performance.bayesian.matern import check_smoothness
from penstock.performance.bayesian.rate_library import Measurement, RateLibrary, RateRecord
from penstock.performance.bayesian.search_space import Configuration, SearchSpace
from penstock.performance.bayesian.transfer import residual_model, with_estimates
from penstock.performance.throughput import throughput_parallelism
from penstock.performance.true_rates import input_rates, true_rates
from penstock.policies import Policy, State
from penstock.policies._latency_search import LatencySearch, Proposal, Scores
from penstock.policies._reading import Reading, by_name, configuration_of, plan_of, read, refused, settling
from penstock.policies._throughput_walk import ThroughputWalk


@dataclass
class AuTraScale(Policy):
    """Finds the least parallelism that keeps up, then the best one for latency; remembers what it learnt per rate.

    The paper's: true rates (2) and throughput optimisation (3) with both its endings and the look-back; the score (4);
    the bootstrap set; a Gaussian process with a Matern kernel and expected improvement (5 to 7) over k' <= k <= P_max;
    the end (8, 9); the transfer of Algorithm 2, until `num` real samples; a library of models by rate, the nearest of
    which is transferred; the policy running time.

    Ours, where the paper says nothing or cannot be followed:
      - alpha 0.8 and w 1 are derived from its printed scores; xi 0.01, M 6 and nu 2.5 are chosen.
      - Outputs per input are measured, so (3) holds for any graph of operators, not for selectivity 1 alone.
      - Every plan is run by the job itself, one for each policy interval (the loop's), and what is learnt is recorded
        for the plan that was really in force. A plan that was refused is not asked for again at that rate.
      - A job that works off a backlog has full buffers: its latency then does not replace what its plan showed before.
      - The input rate has changed when it leaves `rate_tolerance` around the rate at which the search began.
      - Asking for any configuration tried already ends throughput optimisation, not only the last one. Before it ends
        short of the rate and goes back to an earlier plan, the plan in force is run once more, as p4 in the paper's
        Fig. 5 (b). Where a larger plan keeps up, nothing outside limits the job: then (3), repeated in vain, is scaled
        by what its throughput lacks. A window that does more than was thought attainable opens the walk again; so does
        a plan that kept up and falls behind in two windows running, and then nothing shrinks.
      - A search ends at the plan in force, as in Algorithm 1; also at a bootstrap sample, while that runs, as the job
        itself runs them. Plans that a model was trained with before the job began do not end it.
      - `num` counts the samples that the transfer itself takes, as line 16 of Algorithm 2 does.
      - After `max_iterations` trials the best of them is kept; the paper goes on until (8, 9) holds.
      - The model sees log k / log P_max. The whole space is listed up to 200,000 points and climbed beyond.
      - Without a target for processing latency the one for event latency stands in, as processing is a part of it.
        Without either it holds where throughput optimisation ends.
    """

    lightweight: ClassVar[bool] = False
    name: ClassVar[str] = "autrascale"
    source: ClassVar[str] = "AuTraScale (IPDPS 2021): equations 2 to 9, Algorithms 1 and 2"

    alpha: float = option(0.8, "weight of latency against resources in the score", "ratio")
    over_allocation_ratio: float = option(1.0, "w: how much more than needed is accepted at the end", "ratio")
    xi: float = option(XI, "least improvement of the score worth a trial", "score")
    uniform_samples: int = option(6, "M: bootstrap samples with all operators alike", "samples")
    num: int | None = option(
        None,
        "real samples that a transfer takes before it ends; none: until there are more than the bootstrap set has",
        "samples",
    )
    policy_running_time: float = option(0.0, "how long windows are left out after a change of plan", "seconds")
    backlog_patience: float = option(
        0.0, "how much longer they are left out while the job works off what waited for its restart", "seconds"
    )
    rate_tolerance: float = option(0.1, "change of the input rate that needs another model", "ratio")
    keep_up_tolerance: float = option(0.01, "how far throughput may be measured below the input rate", "ratio")
    throughput_noise: float = option(0.05, "throughputs closer than this count as equal in the look-back", "ratio")
    max_iterations: int = option(30, "trials at one rate beyond the bootstrap set before it settles", "trials")
    nu: float = option(2.5, "smoothness of the Matern kernel: 1.5 or 2.5")
    by_instance: bool = option(
        False, "true rates as the mean of the instances' own, where they are measured one by one; else sum over sum"
    )
    seed: int = option(0, "seed of the random candidates in spaces too large to list")

    library: RateLibrary = field(init=False, repr=False)
    refused: list[Configuration] = field(init=False, repr=False, default_factory=list)
    job: list[list[Any]] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        for name in ("alpha", "rate_tolerance", "keep_up_tolerance", "throughput_noise"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidValueError(name, f"must be between 0 and 1, not {getattr(self, name)!r}")
        for name in ("over_allocation_ratio", "xi", "policy_running_time", "backlog_patience"):
            check_required_number(name, getattr(self, name))
        check_whole("uniform_samples", self.uniform_samples, 1)
        if self.num is not None:
            check_whole("num", self.num)
        check_whole("max_iterations", self.max_iterations)
        check_whole("seed", self.seed)
        check_smoothness(self.nu)
        self.library = RateLibrary(self.rate_tolerance)

    # Learn -----------------------------------------------------------------------------------------------------

    def learn(self, observation: Observation) -> None:
        """Learn from the newest window, unless it lacks a figure or began too soon after a change."""
        if self._settling(observation):
            return
        topology = observation.topology
        try:
            reading = read(observation)
            recommended = throughput_parallelism(
                topology, true_rates(observation, self.by_instance), input_rates(observation)
            )
        except MissingFigureError:
            return
        job = [[name, topology[name].min, topology.ceiling(name)] for name in topology.names]
        if self.job and self.job != job:
            self._forget()
        self.job = job
        before = self.library.current
        record = self.library.at(reading.measurement.input_rate)
        if record is not before:
            self._begin()
        denied = refused(observation, reading)
        if denied is not None and denied not in self.refused:
            self.refused.append(denied)
        self._add_window(observation, record, reading, recommended)

    def _settling(self, observation: Observation) -> bool:
        """Whether the newest window shows a change of plan rather than the plan."""
        return settling(observation, self.policy_running_time, self.backlog_patience)

    def _forget(self) -> None:
        """Forget everything, as another job or other bounds make the configurations learnt before invalid."""
        self.library = RateLibrary(self.rate_tolerance)
        self._begin()

    def _begin(self) -> None:
        """Begin with another rate, at which what was refused before may be granted."""
        self.refused.clear()

    def _add_window(
        self, observation: Observation, record: RateRecord, reading: Reading, recommended: Configuration
    ) -> None:
        """Add the newest window to the record of its rate, unless it is no evidence yet."""
        walk = ThroughputWalk(record, observation.topology, self.keep_up_tolerance, self.throughput_noise)
        if walk.doubts(reading):
            return
        walk.reconsider(reading)
        record.measure(reading.configuration, self._without_backlog(observation, record, reading))
        if record.base is None:
            walk.step(reading, recommended, self.refused)

    @staticmethod
    def _without_backlog(observation: Observation, record: RateRecord, reading: Reading) -> Measurement:
        """The newest measurement; while a backlog is worked off, with the latency measured before it, if known."""
        earlier = record.measured.get(reading.configuration)
        if earlier is None or not works_off(observation.latest, observation.slo):
            return reading.measurement
        return replace(reading.measurement, latency_ms=earlier.latency_ms)

    # Decide ----------------------------------------------------------------------------------------------------

    def decide(self, observation: Observation) -> Decision:
        figures, record = self._figures(observation), self.library.current
        if record is None or self._settling(observation):
            text = "the policy running time is not over yet"
            return Decision.hold(observation.plan, ReasonCode.WARMING_UP, text, figures=figures)
        proposal = self._propose(observation, record)
        return Decision(
            plan=plan_of(proposal.configuration, observation),
            reason=Reason(proposal.code, proposal.text),
            figures={**figures, **proposal.figures},
        )

    def _figures(self, observation: Observation) -> dict[str, Any]:
        """The figures behind every decision. Raises MissingFigureError for the one that is missing."""
        reading, record = read(observation), self.library.current
        rates = true_rates(observation, self.by_instance)
        figures: dict[str, Any] = {
            "true_processing_rate": {name: rate.processing for name, rate in rates.items()},
            "input_rate": input_rates(observation),
            "throughput": reading.measurement.throughput,
        }
        if record is not None:
            base = record.recommended if record.base is None else record.base
            figures["model_rate"] = record.rate
            figures["steps"] = [[list(step), throughput] for step, throughput in record.steps.items()]
            figures["throughput_parallelism"] = None if base is None else by_name(base, observation.topology)
            search = self._search(observation, record)
            figures |= {} if search is None else search.figures(reading.configuration)
        return figures

    def _propose(self, observation: Observation, record: RateRecord) -> Proposal:
        if (settled := self._settled(observation, record)) is not None:
            return settled
        search = self._search(observation, record)
        if search is None:
            return self._walk(observation, record)
        current = configuration_of(observation.plan, observation.topology)
        return search.explore(current, self.refused, self._transfer)

    def _walk(self, observation: Observation, record: RateRecord) -> Proposal:
        """The next step of throughput optimisation."""
        assert record.recommended is not None  # a record is begun with its first step
        latest = record.measured[next(reversed(record.measured))]
        text = (
            f"throughput optimisation, step {len(record.steps)}: "
            f"{latest.throughput:,.0f} of {latest.input_rate:,.0f} records/s get through"
        )
        code = direction(observation.plan, plan_of(record.recommended, observation))
        return Proposal(record.recommended, code, text, {"phase": "throughput optimisation"})

    def _settled(self, observation: Observation, record: RateRecord) -> Proposal | None:
        """The configuration to stay with, if throughput and latency are both optimised."""
        current = configuration_of(observation.plan, observation.topology)
        search = self._search(observation, record)
        if search is not None:
            return search.settle(current, self.refused)
        if record.base is None:
            return None
        code = ReasonCode.STEADY if current == record.base else ReasonCode.RESTORE
        text = "the least parallelism that keeps up; no latency is asked for"
        return Proposal(record.base, code, text, {"phase": "steady"})

    def _search(self, observation: Observation, record: RateRecord) -> LatencySearch | None:
        target_ms = observation.slo.latency_ms
        if target_ms is None or record.base is None:
            return None
        space = SearchSpace.above(record.base, observation.topology)
        search = LatencySearch(record, space, target_ms, options=self)
        return replace(search, source=self.library.nearest(record, search.can_teach))

    def _transfer(
        self, old: GaussianProcess, space: SearchSpace, scores: Scores, bootstrap: tuple[Configuration, ...]
    ) -> tuple[Surrogate, float]:
        """The traditional transfer: estimates for the bootstrap set are added to the real samples."""
        inputs, outputs = arrays(space, scores)
        points = [k for k in bootstrap if k not in scores]
        if not points:
            return GaussianProcess.fit(inputs, outputs, self.nu), float(outputs.max())
        residual = residual_model(old, inputs, outputs, self.nu)
        surrogate = with_estimates(old, residual, inputs, outputs, space.unit(points), self.nu)
        return surrogate, float(surrogate.outputs.max())

    # Remember --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        return {
            "library": self.library.to_json(),
            "refused": [list(k) for k in self.refused],
            "job": [list(operator) for operator in self.job],
        }

    def restore(self, state: State) -> None:
        self.library = RateLibrary.from_json(state["library"], self.rate_tolerance)
        self.refused = [tuple(k) for k in state["refused"]]
        self.job = [list(operator) for operator in state["job"]]
