"""DS2: the least parallelism that carries the input by true rates, in one walk over the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Decision, InvalidValueError, Observation
from penstock.model.options import option
from penstock.performance.true_rates import arriving, input_rates, instances, true_rates
from penstock.policies import Policy


@dataclass(frozen=True)
class Ds2(Policy):
    """Sizes each operator from its true processing rate and the load that reaches it.

    A parent passes on all that it receives (its parallelism is not rounded on the way), so the walk ends with
    the optimum in one step if rates scale linearly.
    """

    utilisation: float = option(1.0, "how busy instances may be; 1 is the paper's, less leaves headroom", "ratio")

    name: ClassVar[str] = "ds2"
    source: ClassVar[str] = "DS2 (OSDI 2018), as AuTraScale (2021) compares with it: equations 2, 3"

    def __post_init__(self) -> None:
        if not 0 < self.utilisation <= 1:
            raise InvalidValueError("utilisation", f"must be more than 0 and at most 1, not {self.utilisation!r}")

    def decide(self, observation: Observation) -> Decision:
        topology, rates = observation.topology, true_rates(observation)
        load = arriving(topology, rates, input_rates(observation))
        needed = {name: instances(load[name], rates[name].processing * self.utilisation) for name in topology.names}
        target = observation.plan.changed({name: topology.clamp(name, k) for name, k in needed.items()})
        busiest = max(topology.names, key=lambda n: load[n] / rates[n].processing / observation.plan[n])
        utilisation = load[busiest] / rates[busiest].processing / observation.plan[busiest]
        return Decision.move(
            observation.plan,
            target,
            f"{busiest} would be busy {utilisation:.0%} of the time at {load[busiest]:,.0f} records/s",
            figures={
                "true_processing_rate": {name: rates[name].processing for name in topology.names},
                "true_output_rate": {name: rates[name].output for name in topology.names},
                "target_rate": load,
                "throughput_parallelism": needed,
            },
        )
