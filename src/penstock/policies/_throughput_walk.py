"""Throughput optimisation, one step for each window: equation 3 is run and measured until the job keeps up.

What the papers leave open is how much one window proves. Here it proves little: a walk that is about to end short of
its rate and go back to an earlier plan runs the plan in force once more, and a settled job that falls behind must do so
in two windows running.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from penstock.model import Topology
from penstock.performance.bayesian.rate_library import RateRecord
from penstock.performance.bayesian.search_space import Configuration, within_bounds
from penstock.performance.throughput import keeps_up, look_back
from penstock.policies._reading import Reading


@dataclass(frozen=True)
class ThroughputWalk:
    """The walk at one rate. `tolerance` and `noise` are the policy's: of keeping up, and of the look-back."""

    record: RateRecord
    topology: Topology
    tolerance: float
    noise: float

    def doubts(self, reading: Reading) -> bool:
        """Whether the window is the first in which a plan that used to keep up does not: no evidence yet.

        The second one running opens the walk again. It then never asks for less than the plan that fell behind.
        """
        record, k = self.record, reading.configuration
        if not self._fell_behind(reading):
            record.doubted = None
        elif record.doubted != k:
            record.doubted = k
        else:
            record.reopen(floor=k)
        return record.doubted is not None

    def reconsider(self, reading: Reading) -> None:
        """Open the walk again after a window that did more than the walk ended with, as far as it knew, for good."""
        record, measured = self.record, reading.measurement
        if record.attainable is None or measured.throughput <= record.attainable * (1.0 + self.noise):
            return
        if reading.configuration == record.base and self._enough(measured.throughput, measured.input_rate):
            record.attainable = None
        else:
            record.reopen()

    def step(self, reading: Reading, recommended: Configuration, refused: Collection[Configuration]) -> None:
        """Do one step, with both its endings."""
        record, k, measured = self.record, reading.configuration, reading.measurement
        rate, enough = measured.input_rate, self._enough(measured.throughput, measured.input_rate)
        first = record.recommended is None
        if record.floor is not None:
            recommended = tuple(map(max, recommended, record.floor))
        record.steps[k] = max(measured.throughput, record.steps.get(k, 0.0))
        record.recommended = recommended
        # The first configuration may be over-provisioned: it ends the walk only if (3) asks for no smaller one.
        caught_up = enough and (not first or sum(recommended) >= sum(k))
        # Asking again for what was tried already is "the same twice in a row", and also ends a walk in circles.
        if not caught_up and recommended not in record.steps and recommended not in refused:
            return
        if not enough and self._goes_on(k, rate, refused):
            return
        self._end(rate)

    def _goes_on(self, k: Configuration, rate: float, refused: Collection[Configuration]) -> bool:
        """Whether a walk that would end short of its rate has something left to run first."""
        record = self.record
        if self._look_back(rate) == k:  # it would stay where it is
            return False
        if record.again != k:
            record.again = record.recommended = k
            return True
        enough = [step for step, throughput in record.steps.items() if self._enough(throughput, rate)]
        if not enough:
            return False
        # A larger plan keeps up, so nothing outside limits the job: (3) is short by what crowding costs its instances.
        short = rate / record.steps[k]
        grown = within_bounds(tuple(math.ceil(each * short) for each in k), self.topology)
        if grown in record.steps or grown in refused or sum(grown) >= min(map(sum, enough)):
            return False
        record.recommended = grown
        return True

    def _end(self, rate: float) -> None:
        record, base = self.record, self._look_back(rate)
        reached = record.steps[base]
        record.base = within_bounds(base, self.topology)
        record.attainable = None if self._enough(reached, rate) else reached
        record.begun_with = sum(
            measured.latency_ms is not None and all(map(int.__ge__, k, record.base))
            for k, measured in record.measured.items()
        )

    def _look_back(self, rate: float) -> Configuration:
        return look_back(self.record.steps, rate, self.tolerance, self.noise)

    def _enough(self, throughput: float, rate: float) -> bool:
        return keeps_up(throughput, rate, self.tolerance)

    def _fell_behind(self, reading: Reading) -> bool:
        """Whether a configuration that used to keep up did not in this window, so that the base may be outdated."""
        earlier, now = self.record.measured.get(reading.configuration), reading.measurement
        return (
            self.record.base is not None
            and earlier is not None
            and self._enough(earlier.throughput, earlier.input_rate)
            and not self._enough(now.throughput, now.input_rate)
        )
