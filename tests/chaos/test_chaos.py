"""A slice of `make chaos`: each fault that needs no minutes, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.faults import Fault
from chaos.input_faults import kill_broker
from chaos.process_faults import kill_driver, nothing
from chaos.run import chaos
from chaos.store_faults import cut_off_store, delete_store, lock_store

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("job", "faults"),
    [
        ("microbatch", (nothing, kill_driver, delete_store, lock_store, cut_off_store)),
        ("restart", (kill_broker, kill_driver)),
        ("handover", (kill_driver, kill_broker)),
        ("native", (kill_driver,)),
    ],
)
def test_nothing_is_lost_whatever_happens_to_driver_store_and_broker(
    job: str, faults: tuple[Fault, ...], tmp_path: Path
) -> None:
    run = chaos(job, tmp_path, seed=1, seconds=None, faults=faults)
    assert {outcome.fault for outcome in run.outcomes} == {fault.__name__ for fault in faults}
    assert run.holds, run
    assert run.account.records > 0
    assert run.changes > 0
