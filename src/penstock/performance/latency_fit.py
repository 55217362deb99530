"""How a job's latency follows from what queueing theory says of it: a fixed part and a factor, learnt with forgetting.

Glossary:

    x   what theory says of the time in queues and service along the heaviest path, in seconds
    L   the latency that was measured, in seconds, by the statistic that the user asks for
    L = fixed + factor * x,  fixed >= 0 and factor >= 0

`fixed` is what no parallelism changes: hops, buffers, polling. `factor` is 1 if theory is right and the mean is asked
for; it is the burstiness of the job where nobody measured that of its operators, and what a percentile adds.
Before windows of different x were seen, `factor` is taken for what the mean alone shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model import Sample, Slo

FADE = 0.995
PRIOR = 5.0
"""The factor that is assumed at first counts like this many windows whose x differ by as much as x itself."""


LEAST = 0.02
"""Where the fixed part of the latency fills its target, this part of the target is planned for: no plan can hold it."""


def latency_ms(sample: Sample, slo: Slo) -> tuple[float | None, float | None]:
    """Processing and event latency of a window, by the statistic of the slo; None where it was not measured."""
    processing, event = sample.processing_latency_ms, sample.event_latency_ms
    return (
        None if processing is None else processing.at(slo.statistic),
        None if event is None else event.at(slo.statistic),
    )


class LatencyFit:
    """Least squares with forgetting over x and L.

    >>> fit = LatencyFit()
    >>> for x in (0.01, 0.02, 0.04) * 100:
    ...     fit.learn(x, 0.05 + 3.0 * x)
    >>> round(fit.at(0.03), 2), round(fit.fixed, 2), round(fit.factor, 1)
    (0.14, 0.05, 2.8)
    """

    def __init__(self) -> None:
        self._sums = [0.0] * 5  # weight, x, L, x x, x L
        self._fit()

    def __bool__(self) -> bool:
        return self._sums[0] > 0

    def learn(self, x: float, latency: float) -> None:
        """Take in a window. A long latency is an uncertain one, so a window counts by the inverse of its square."""
        w = 1.0 / max(latency, 1e-6) ** 2
        for place, each in enumerate((w, w * x, w * latency, w * x * x, w * x * latency)):
            self._sums[place] = FADE * self._sums[place] + each
        self._fit()

    def _fit(self) -> None:
        n, sx, sy, sxx, sxy = self._sums
        self.fixed, self.factor = 0.0, 1.0
        if not n:
            return
        x, y = sx / n, sy / n
        prior = min(1.0, y / x) if x > 0 else 1.0
        weight = PRIOR / (y * y) * x * x
        spread = max(0.0, sxx - n * x * x)
        self.factor = max(0.0, (sxy - n * x * y + weight * prior) / (spread + weight)) if spread + weight > 0 else prior
        self.fixed = max(0.0, y - self.factor * x)
        if self.fixed == 0.0 and x > 0:
            self.factor = y / x

    def at(self, x: float) -> float:
        return self.fixed + self.factor * x

    def budget(self, latency: float) -> float:
        """What x may be for a latency; a little where the fixed part alone takes longer."""
        if not self:
            return latency
        return max(latency - self.fixed, LEAST * latency) / max(self.factor, 1e-9)

    def state(self) -> dict[str, Any]:
        return {"sums": list(self._sums)}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> LatencyFit:
        fit = cls()
        fit._sums = list(state["sums"])
        fit._fit()
        return fit
