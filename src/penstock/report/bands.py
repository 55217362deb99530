"""How near our figure must come to the paper's to agree with it: one band for each kind of figure, stated here only.

The bands were chosen before the runs, by what such a figure means to someone who reads it, and hold for every paper.
They are two-sided: a saving that is far larger than the paper's does not agree either.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """`points` is an absolute distance, `part` one in parts of the paper's figure; the wider of the two counts.

    >>> CHANGE.agrees(0.06, 0.093), CHANGE.agrees(-0.057, 0.093), CHANGE.agrees(2.3, 2.4695)
    (True, False, True)
    """

    kind: str
    covers: str
    words: str
    points: float = 0.0
    part: float = 0.0

    def agrees(self, ours: float, paper: float) -> bool:
        distance = abs(ours - paper) - 1e-9  # a figure at the edge agrees, whatever the rounding of floats
        return distance <= max(self.points, self.part * abs(paper))


THROUGHPUT = Band("throughput", "records or events in a second", "within 5 %", part=0.05)
LATENCY = Band("latency", "processing and event latency", "within 25 %", part=0.25)
SHARE = Band("share", "a part of a whole: processed, saved, degradation, a score", "within 0.05", points=0.05)
CHANGE = Band(
    "change", "one method against another, in percent", "within 5 points, or a tenth of it", points=0.05, part=0.1
)
INSTANCES = Band("instances", "instances, replicas, workers", "within one, or a tenth of them", points=1.0, part=0.1)
ITERATIONS = Band("iterations", "plans that were run", "within one", points=1.0)
DURATION = Band(
    "duration", "how long something takes, or when it happens, in the job's own time", "within 10 %", part=0.1
)
SPEED_UP = Band("speed-up", "how many times as fast", "within 10 %", part=0.1)
FORECAST_ERROR = Band("forecast error", "MAE, RMSE, MRE", "within 25 %", part=0.25)

BANDS = (THROUGHPUT, LATENCY, SHARE, CHANGE, INSTANCES, ITERATIONS, DURATION, SPEED_UP, FORECAST_ERROR)
