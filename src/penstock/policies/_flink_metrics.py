"""What Flink's autoscaler makes of the metrics it collected: rates, lag and thresholds of every vertex.

Glossary (ScalingMetricEvaluator, AutoScalerUtils.getTargetProcessingCapacity):

    TRUE_PROCESSING_RATE  records/s that all instances of a vertex could process: rate / load. Infinite if none came
    LOAD                  useful seconds / (instances * seconds)
    LAG                   records that wait in front of a source
    TARGET_DATA_RATE      records/s that come: for a source those from outside, which Flink takes from what it processed
                          and how its lag grew; for others what the target rates of its inputs become on the way
    CATCH_UP_DATA_RATE    lag / catch-up.duration, handed on in the same way
    capacity              at a utilisation u: catch-up rate + target rate * restart.time / catch-up.duration + target
                          rate / u, as a whole number

What differs: the samples sum over the instances of a vertex, so that the aggregator of busy times is always AVG, where
Flink's default is the busiest instance (MAX). Lag that nobody measured is refused, where Flink takes it for none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from penstock.model import MissingFigureError, Observation, OperatorSample, Sample, Topology
from penstock.performance.waiting import waiting_records
from penstock.performance.windows import merged


@dataclass(frozen=True, slots=True)
class Targets:
    """What the capacity of a vertex depends on beside its metrics."""

    catch_up_duration: float
    restart_time: float
    upper_utilization: float
    lower_utilization: float
    backlog_lag_threshold: float
    observed_lag_threshold: float
    observed_switch_threshold: float
    observed_min_observations: int

    def capacity(self, data_rate: float, catch_up_rate: float, utilization: float, *, restart: bool) -> float:
        """The records/s that a vertex must be able to process; infinite where it may not be used at all."""
        utilization = min(max(utilization, 0.0), 1.0)
        if utilization == 0:
            return math.inf
        again = data_rate * self.restart_time / self.catch_up_duration if restart and self.catch_up_duration else 0.0
        return math.floor(catch_up_rate + again + data_rate / utilization + 0.5)


@dataclass(frozen=True, slots=True)
class Vertex:
    """The evaluated metrics of one vertex."""

    parallelism: int
    true_processing_rate: float
    load: float
    target_data_rate: float
    catch_up_data_rate: float
    scale_up_threshold: float
    scale_down_threshold: float

    @property
    def outside_bounds(self) -> bool:
        """Whether the vertex can do so little or so much that it must change."""
        rate = self.true_processing_rate
        return rate < self.scale_up_threshold or rate > self.scale_down_threshold


def evaluate(observation: Observation, samples: Sequence[Sample], targets: Targets) -> dict[str, Vertex]:
    """Every vertex of the job over a metric window; raises MissingFigureError."""
    topology, window = observation.topology, merged(samples)
    lag = waiting_records(replace(observation, samples=(window,)), topology.roots)
    rates = {name: records(window, name) / window.seconds for name in topology.names}
    behind = any(lag[root] > targets.backlog_lag_threshold * rates[root] for root in topology.roots)
    upper, lower = (1.0, 0.0) if behind else (targets.upper_utilization, targets.lower_utilization)
    data, catch_up, vertices = {}, {}, {}
    for name in topology.order:
        if name in topology.roots:
            data[name] = _from_outside(window, name)
            catch_up[name] = lag[name] / targets.catch_up_duration if targets.catch_up_duration else 0.0
        else:
            ratios = {parent: output_ratio(topology, window, parent, name) for parent in topology.parents[name]}
            data[name] = sum(data[parent] * ratio for parent, ratio in ratios.items())
            catch_up[name] = sum(catch_up[parent] * ratio for parent, ratio in ratios.items())
        operator = window.operators[name]
        load = _useful_seconds(operator, name) / (operator.parallelism * window.seconds)
        busy = rates[name] / load if rates[name] and load else math.inf
        observed = _observed(observation, samples, name, targets) if name in topology.roots else None
        switch = observed is not None and busy > observed * (1 + targets.observed_switch_threshold)
        vertices[name] = Vertex(
            parallelism=operator.parallelism,
            true_processing_rate=observed if switch and observed is not None else busy,
            load=load,
            target_data_rate=data[name],
            catch_up_data_rate=catch_up[name],
            scale_up_threshold=targets.capacity(data[name], catch_up[name], upper, restart=False),
            scale_down_threshold=targets.capacity(data[name], catch_up[name], lower, restart=True),
        )
    return vertices


def output_ratio(topology: Topology, window: Sample, parent: str, child: str) -> float:
    """Records that go from `parent` to `child` for each that the parent processes; 0 if it processed none.

    What the child received is counted where it can be told; else it is what an only child processed, or what the
    parent emitted, in the order of Flink's trust in them.
    """
    came_in = records(window, parent)
    if not came_in:
        return 0.0
    received = window.operators[child].records_from
    if received is not None and parent in received:
        return received[parent] / came_in
    if len(topology.parents[child]) == 1:
        return records(window, child) / came_in
    emitted = window.operators[parent].records_out
    if emitted is None:
        raise MissingFigureError("records_out", parent)
    return emitted / came_in


def records(window: Sample, name: str) -> float:
    operator = window.operators.get(name)
    if operator is None or operator.records_in is None:
        raise MissingFigureError("records_in", name)
    return operator.records_in


def _from_outside(window: Sample, root: str) -> float:
    rate = window.input_rate_of(root)
    if rate is None:
        raise MissingFigureError("input_rate", root)
    return rate


def _useful_seconds(operator: OperatorSample, name: str) -> float:
    if operator.useful_seconds is None:
        raise MissingFigureError("useful_seconds", name)
    return operator.useful_seconds


def _observed(observation: Observation, samples: Sequence[Sample], root: str, targets: Targets) -> float | None:
    """The rate that a source showed while it caught up, when it waits for nothing but room at its output."""
    seen = []
    for sample in samples:
        operator, rate = sample.operators[root], records(sample, root) / sample.seconds
        lag = waiting_records(replace(observation, samples=(sample,)), (root,))[root]
        if not rate or operator.waiting_seconds is None or lag < targets.observed_lag_threshold * rate:
            continue
        working = 1 - operator.waiting_seconds / (operator.parallelism * sample.seconds)
        if working > 0:
            seen.append(rate / working)
    return sum(seen) / len(seen) if seen and len(seen) >= targets.observed_min_observations else None
