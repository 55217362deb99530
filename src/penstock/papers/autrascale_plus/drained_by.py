"""AuTraScale+ with a simpler method in the place of its Algorithm 3: what the paper compares with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Observation, Slo, Topology
from penstock.papers.autrascale.steady import configuration, plan_for
from penstock.performance.bayesian.search_space import Configuration
from penstock.policies import POLICIES
from penstock.policies._drainer import Drainer
from penstock.policies._event_latency import EventLatencySearch
from penstock.policies.autrascale_plus import AuTraScalePlus


@dataclass
class DrainedBy(AuTraScalePlus):
    """Max, Proportion or Exponent choose the plan that drains; all else is as in AuTraScale+.

    What a plan can do comes from the profile; without one, from the job's busy windows and true rates. Proportion
    rounds instances up, or to the `nearest`: the paper does not say.
    """

    name: ClassVar[str] = "drained_by"

    method: str = "max"
    nearest: bool = False

    def _drained_by(self, search: EventLatencySearch, steady: Configuration) -> Configuration:
        """Exponent looks at the profile after each doubling; Proportion once, at the plan that it starts from."""
        able = self.profiler or search.able
        drainer, topology = POLICIES.create(self.method), search.observation.topology
        assert isinstance(drainer, Drainer)
        if self.nearest:
            return _nearest(steady, search.search.target / able(steady), topology)
        while True:
            seen = Observation(t=0.0, topology=topology, slo=Slo(), plan=plan_for(topology, steady), samples=())
            wanted = configuration(drainer.reach(seen, able(steady), search.search.target))
            if wanted == steady or self.method == "proportion":
                return wanted
            steady = wanted


def _nearest(steady: Configuration, times: float, topology: Topology) -> Configuration:
    """So many times the instances of each operator, rounded to the nearest."""
    return tuple(topology.clamp(name, round(times * k)) for name, k in zip(topology.names, steady, strict=True))
