"""How long a change of plan stops a job, as its own windows show it."""

from __future__ import annotations

from penstock.model import Observation
from penstock.performance.backlog import saturated


def downtime_of(observation: Observation) -> float | None:
    """Seconds in which nothing left the job after its last change; None where its windows do not tell.

    They do when records waited all along: a job that does `able` in a second once it runs again did less in its warm-up
    by what its silence took.
    """
    change, latest = observation.last_change, observation.latest
    if change is None or latest.t < change.t or not latest.throughput or not saturated(latest, observation.slo):
        return None
    warming_up = [
        window
        for cycle in observation.history
        if cycle.t > change.t
        for window in cycle.samples
        if window.warm_up and window.t >= change.t
    ]
    if not warming_up or any(window.throughput is None for window in warming_up):
        return None
    able = latest.throughput
    return max(0.0, sum(window.seconds * (1.0 - (window.throughput or 0.0) / able) for window in warming_up))
