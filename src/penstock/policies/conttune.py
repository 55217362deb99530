"""ContTune: first big, so that nothing is held up, then small, by a model of what each operator could do before.

    PA(p)    processing ability: what all p instances process per second of useful time, as the mean of the last
             `top_k` windows at that parallelism
    lambda   records/s that reach an operator if all keep up
    Big      a job that completes less than comes in is under-provisioned: every operator is doubled (binary lifting),
             so that each then shows its real rates and can be sized apart from the others
    Small    for each operator p_acq, the smallest p with mu(p) >= lambda (conservative Bayesian optimisation, with the
             Gaussian process of `processing_ability` for mu). If p_acq is more than `alpha` away from all that was
             tried, the model does not know: DS2's ceil(lambda / true rate) stands in, which is careful and adds to
             what was tried

Read from its repository, which holds the model and not the controller, and from a summary of the paper: binary lifting,
the acquisition, alpha, Top-K. The listing of its Algorithm 1 was not at hand. Ours, where these leave it open:
- Big doubles all operators. One that is at its max stays there.
- Back-pressure is told by the throughput: more than 1 % below the input. A job that works off a backlog at more than
  that is not under-provisioned; ContTune, like DS2, does not size for a backlog.
- With one parallelism tried a model knows no slope: DS2 decides.
- p_acq is sought up to the largest parallelism tried or in force; if none suffices, DS2 decides.
- It tunes at every decision of the loop; the paper's controller waits until CPU use is low or the job is held up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from penstock.model import Decision, InvalidValueError, MissingFigureError, Observation
from penstock.model.errors import check_whole
from penstock.model.options import option
from penstock.performance.bayesian.processing_ability import ProcessingAbility
from penstock.performance.throughput import keeps_up
from penstock.performance.true_rates import TrueRates, arriving, input_rates, instances, true_rates
from penstock.policies import Policy, State

BEHIND = 0.01
"""Share of the input that the throughput may miss; less is rounding and records on their way."""


@dataclass
class ContTune(Policy):
    """Doubles everything while the job falls behind, then gives each operator the least that sufficed before."""

    name: ClassVar[str] = "conttune"
    source: ClassVar[str] = (
        "ContTune (VLDB 2023, arXiv 2309.12239): Big-small algorithm, conservative Bayesian optimisation; "
        "github.com/ljqcodelove/ContTune"
    )

    alpha: float = option(
        3.0, "how far from what was tried the model is believed (the paper's alpha: 0 or 3)", "instances"
    )
    top_k: int = option(5, "windows that are remembered for each parallelism (Top-K; five in the repository)")

    _abilities: dict[str, dict[int, list[float]]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < math.inf:
            raise InvalidValueError("alpha", f"must be a finite number of at least 0, not {self.alpha!r}")
        check_whole("top_k", self.top_k, 1)

    def learn(self, observation: Observation) -> None:
        for name, operator in observation.latest.operators.items():
            if operator.records_in and operator.useful_seconds:
                ability = operator.parallelism * operator.records_in / operator.useful_seconds
                self.tried(name, operator.parallelism, ability)

    def tried(self, name: str, parallelism: int, ability: float) -> None:
        """Record what an operator could process with so many instances, from a window or from an earlier run."""
        seen = self._abilities.setdefault(name, {}).setdefault(parallelism, [])
        seen.append(ability)
        del seen[: -self.top_k]

    def decide(self, observation: Observation) -> Decision:
        topology, plan, sample = observation.topology, observation.plan, observation.latest
        rates = true_rates(observation)
        load = arriving(topology, rates, input_rates(observation))
        if sample.throughput is None:
            raise MissingFigureError("throughput")
        if not keeps_up(sample.throughput, sample.offered_rate, BEHIND):
            target = plan.changed({name: topology.clamp(name, 2 * plan[name]) for name in topology.names})
            why = f"Big: {sample.throughput:,.0f} of {sample.offered_rate:,.0f} records/s are processed"
            return Decision.move(plan, target, why, figures={"phase": "big", "lambda": load})
        chosen = {name: self._small(name, load[name], rates[name], plan[name]) for name in topology.names}
        target = plan.changed({name: topology.clamp(name, p) for name, (p, _) in chosen.items()})
        modelled = sum(by == "model" for _, by in chosen.values())
        return Decision.move(
            plan,
            target,
            f"Small: the model sizes {modelled} of {len(chosen)} operators, true rates the others",
            figures={
                "phase": "small",
                "lambda": load,
                "wanted": {name: p for name, (p, _) in chosen.items()},
                "sized_by": {name: by for name, (_, by) in chosen.items()},
            },
        )

    def _small(self, name: str, load: float, rates: TrueRates, current: int) -> tuple[int, str]:
        """The parallelism for a load, and whether the model or DS2 said so."""
        abilities = {p: sum(seen) / len(seen) for p, seen in self._abilities.get(name, {}).items()}
        if len(abilities) > 1:
            model = ProcessingAbility.fit(abilities)
            p_acq = next((p for p in range(1, max(current, *abilities) + 1) if model.at(p) >= load), None)
            if p_acq is not None and min(abs(p_acq - p) for p in abilities) <= self.alpha:
                return p_acq, "model"
        return instances(load, rates.processing), "true rates"

    def state(self) -> State:
        return {
            "abilities": {
                name: [[p, list(seen)] for p, seen in abilities.items()] for name, abilities in self._abilities.items()
            }
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._abilities = {
            name: {p: list(seen) for p, seen in abilities} for name, abilities in state["abilities"].items()
        }
