"""What a page, a series and a file must not be harmed by, or harm."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loop_fakes import Job, Wants, a_loop
from penstock.control.loop import Loop
from penstock.model import Operator, OperatorSample, Plan, Sample, Topology

NASTY = '</script><script>alert("1")</script>\n"\\'
"""A name that would end a script, a string, a label and a line."""


def nasty_loop(**parts: Any) -> Loop:
    window = Sample(t=0, seconds=10, operators={NASTY: OperatorSample(1, 1000.0, 1000.0, 5.0)}, input_rate=100.0)
    topology = Topology((Operator(NASTY),))
    job, policy = Job(in_force=Plan({NASTY: 1})), Wants(Plan({NASTY: 2}))
    return a_loop(readings=[[window]], topology=topology, actuator=job, policy=policy, **parts)


@contextmanager
def no_umask() -> Iterator[None]:
    """Others may read and write whatever is made without care."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def others_may(path: Path) -> int:
    """The rights of everybody but the owner."""
    return stat.S_IMODE(path.stat().st_mode) & 0o077
