"""What makes a simulation harder than its load curve and its job alone: chance, executors, and state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.errors import check_number
from penstock.simulator.arrivals import Arrivals
from penstock.simulator.executors import Executors


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a simulation; without any, as where a paper is reproduced, nothing is added to the job.

    arrivals         how records arrive around the curve; None means exactly along it
    executors        what slots are made of; None means that single slots come and go immediately
    seconds_per_key  silence for each key of an operator whose parallelism changes, beyond the engine's downtime
    """

    arrivals: Arrivals | None = None
    executors: Executors | None = None
    seconds_per_key: float = 0.0

    def __post_init__(self) -> None:
        check_number("conditions: seconds_per_key", self.seconds_per_key)


IDEAL = Conditions()

SPARK = Conditions(
    # What is left of a real stream's rate, ten seconds at a time, without its mean over five minutes and without what
    # Poisson arrivals explain: an hour of requests to Azure's language models, second by second.
    arrivals=Arrivals(deviation=0.09, burst_seconds=10.0),
    # Spark 4.3, standalone, two cores: an executor of 4 slots ran its first task 8 to 11 s after its request, and one
    # with blocks to hand over was gone 4 s after its release.
    executors=Executors(cores=4, arrive_seconds=9.0, leave_seconds=4.0),
    # Spark 4.3, state of 20,000 keys in RocksDB, from 3 to 5 partitions: 1.5 s for the repartition itself.
    seconds_per_key=1.5 / 20_000,
)
"""As measured on Spark; the figures of a machine with two cores."""

CONDITIONS: Mapping[str, Conditions] = {"ideal": IDEAL, "spark": SPARK}
