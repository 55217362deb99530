"""The policy that steers where none is named, on a real standalone cluster: what default_policy_story.py saw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster_story import run
from penstock.testbed.broker import Broker

pytestmark = [pytest.mark.spark, pytest.mark.cluster]


def test_a_quick_try_without_a_policy_goes_down_to_one_executor_up_to_three_and_down_again(broker: Broker) -> None:
    told = json.loads(run(str(Path(__file__).parent / "default_policy_story.py"), broker.servers))
    assert told["executors"] == [1, 3, 1]
    assert "changes made" in told["text"]
