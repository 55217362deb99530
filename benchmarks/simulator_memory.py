"""How much memory a simulated month takes: each length in a process of its own, at its highest.

The same job as in simulator_speed, with 5 operators, ds2 and all guards.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

DAYS = (0.1, 1.0, 10.0, 30.0)
SCRIPT = """
import resource, sys
from benchmarks import simulator_speed as speed
from penstock.runs.simulation import Simulation

speed.DAYS = float(sys.argv[1])
Simulation(speed.job(5), policy="ds2").run()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@dataclass(frozen=True)
class Row:
    simulated_days: float
    highest_memory_mb: float


def rows() -> Iterator[Row]:
    for days in DAYS:
        command = [sys.executable, "-c", SCRIPT, str(days)]
        finished = subprocess.run(command, capture_output=True, text=True, check=True)
        yield Row(days, float(finished.stdout))
