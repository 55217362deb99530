"""Records that arrive at random around a load curve: Poisson, or in bursts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.model.errors import check_number
from penstock.simulator.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How records arrive: a Poisson process whose rate is the curve times a factor that changes from burst to burst.

    deviation      relative deviation of the factor, which is gamma distributed with a mean of 1; 0 means Poisson
    burst_seconds  how long each factor lasts

    At a rate of r records a second, the records of one burst have an index of dispersion (variance over mean) of
    1 + r * burst_seconds * deviation².
    """

    deviation: float = 0.0
    burst_seconds: float = 10.0

    def __post_init__(self) -> None:
        check_number("arrivals: deviation", self.deviation)
        check_number("arrivals: burst_seconds", self.burst_seconds, 1e-3)


class ArrivalProcess:
    """The arrivals of one run: the same for the same seed, however the run is cut into windows."""

    def __init__(self, arrivals: Arrivals, seed: int) -> None:
        self._arrivals = arrivals
        # Generators of their own: service times are the same as without them, and as with other bursts.
        self._bursts, self._counts = (np.random.default_rng([seed, stream]) for stream in (1, 2))
        self._burst, self._factor = -1, 1.0

    def counts(self, expected: Floats, middles: npt.NDArray[np.floating]) -> Ints:
        """Records for each step and root, of which `expected` come on average; `middles` are the times of the steps."""
        factors = np.ones(len(middles))
        if self._arrivals.deviation:
            bursts = (middles // self._arrivals.burst_seconds).astype(np.int64)
            for burst in range(int(bursts[0]), int(bursts[-1]) + 1):
                self._reach(burst)
                factors[bursts == burst] = self._factor
        return self._counts.poisson(expected * factors[:, None]).astype(np.int64)

    def _reach(self, burst: int) -> None:
        shape = 1.0 / self._arrivals.deviation**2
        while self._burst < burst:
            self._factor = float(self._bursts.gamma(shape, 1.0 / shape))
            self._burst += 1
