"""DABS-Storm: AUTOSCALE's decisions, applied by restarts that lose what waits in the queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.policies.autoscale import Autoscale


@dataclass(frozen=True)
class Dabs(Autoscale):
    """AUTOSCALE as PSPS compares with it: each change restarts the operators and drops their queues.

    It decides as AUTOSCALE does; what differs is the cost of a change. The simulator runs it with lossy restarts.
    """

    name: ClassVar[str] = "dabs"
    source: ClassVar[str] = "DABS-Storm, as PSPS (2022) compares with it; decisions of AUTOSCALE (2017)"
    actuation: ClassVar[str | None] = "lossy_restart"
