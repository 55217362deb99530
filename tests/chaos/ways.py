"""Every way to run a job, each with a job that chaos happens to."""

from __future__ import annotations

from collections.abc import Callable

from chaos.applications import attached, watched
from chaos.jobs import Given, Steered, in_micro_batches, in_real_time, with_state

JOBS: dict[str, Callable[[Given], Steered]] = {
    "microbatch": in_micro_batches,
    "restart": in_real_time("restart"),
    "handover": in_real_time("handover"),
    "native": with_state,
    "attached": attached,
    "watched": watched,
}
"""By the name of the way to run. In real time there are two ways to change."""
ON_A_CLUSTER = ("attached", "watched")
