"""KEDA's Kafka scaler: one replica of the consumer for every `lag_threshold` records that wait in the source.

    lag      records that wait in front of the roots: the source's backlog, and queues that a pushing source fills
    replicas ceil(lag / lag_threshold), unless lag / (lag_threshold * replicas) is within the tolerance of 1
    cap      a lag of more than `lag_threshold` for each partition counts as exactly that much

The replicas then pass the rules of the horizontal autoscaler that KEDA creates (`_replicas`). A replica runs the whole
consumer, so every operator has as many instances as there are replicas.

The cap compares whole quotients, as KEDA does: with a threshold of 10 and 3 partitions, a lag of 35 asks for 4
replicas, a lag of 40 for 3. What the sample cannot show is left out: limitToPartitionsWithLag, excludePersistentLag
and partitionLimitation need the lag of each partition. A job here never has 0 instances, so that minReplicaCount,
activationLagThreshold and cooldownPeriod have nothing to decide; maxReplicaCount is the operator's max.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from penstock.model import Observation
from penstock.model.errors import check_whole
from penstock.model.options import option
from penstock.performance.waiting import waiting_records
from penstock.policies._replicas import Recommendation, ReplicaScaler


@dataclass
class KedaLag(ReplicaScaler):
    """Sizes the whole job by the records that wait in the source, whatever an instance can do."""

    name: ClassVar[str] = "keda_lag"
    source: ClassVar[str] = (
        "KEDA 2.17, Apache Kafka scaler (kafka_scaler.go: getTotalLag), with the autoscaler of Kubernetes that it "
        "creates (replica_calculator.go: GetExternalPerPodMetricReplicas)"
    )

    lag_threshold: int = option(10, "records that one replica may have waiting (lagThreshold)", "records")
    allow_idle_consumers: bool = option(False, "more replicas than partitions (allowIdleConsumers)")
    ensure_even_distribution_of_partitions: bool = option(
        False, "only numbers that divide the partitions (ensureEvenDistributionOfPartitions)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("lag_threshold", self.lag_threshold, 1)

    def _recommend(self, observation: Observation) -> Recommendation:
        topology, current = observation.topology, observation.plan.widest
        lag = int(sum(waiting_records(observation, topology.roots).values()))
        counted = self._counted(lag, topology.source_partitions)
        ratio = counted / (self.lag_threshold * current)
        replicas = current if self._within_tolerance(ratio) else math.ceil(counted / self.lag_threshold)
        why = f"{lag:,d} records wait in the source, {self.lag_threshold:,d} a replica are the target"
        figures = {"lag": lag, "counted_lag": counted, "usage_ratio": ratio}
        return Recommendation(dict.fromkeys(topology.names, replicas), why, figures)

    def _counted(self, lag: int, partitions: int | None) -> int:
        """The lag that KEDA reports: capped by the partitions, and rounded up to a number that divides them."""
        if partitions is None or (self.allow_idle_consumers and not self.ensure_even_distribution_of_partitions):
            return lag
        if self.ensure_even_distribution_of_partitions:
            divisors = (each for each in range(1, partitions + 1) if partitions % each == 0)
            lag = self.lag_threshold * next((k for k in divisors if k * self.lag_threshold >= lag), partitions)
        return partitions * self.lag_threshold if lag // self.lag_threshold > partitions else lag
