"""On a cluster every executor is told the cut: what handover_story.py saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster_story import run
from penstock.testbed.broker import Broker
from penstock.testbed.standalone import standalone_cluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


def test_nothing_is_lost_and_nothing_doubled_on_two_executors(own_broker: Broker, tmp_path: Path) -> None:
    with standalone_cluster(workers=1, cores=12) as cluster:
        place = str(Path(__file__).parent / "handover_story.py")
        seen = json.loads(run(place, cluster.master, own_broker.servers, str(tmp_path)))
    print({**seen, "twice": seen["twice"][:5]})
    assert ["work"] in seen["handed_over"]
    assert seen["sent"] == seen["delivered"]
    # Nothing comes twice, unless a machine that is busy for seconds tells a cut too late: that is counted, at most.
    assert len(seen["twice"]) <= seen["written"] - seen["delivered"] <= seen["counted"]
