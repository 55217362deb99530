"""Who may change executors, and who goes first. What a real cluster does is in test_attach.py."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from penstock.spark.executors.executor_slots import Executor, ExecutorsError, ExecutorSlots, check_settings, leave_first

pytestmark = pytest.mark.spark

STANDALONE = {"spark.decommission.enabled": "true", "spark.executor.cores": "2", "spark.cores.max": "8"}


def without(setting: str) -> dict[str, str]:
    return {name: value for name, value in STANDALONE.items() if name != setting}


@pytest.mark.parametrize(
    ("master", "settings", "said"),
    [
        ("local[4]", STANDALONE, r"^master local\[4\] has no executors to change"),
        ("local", STANDALONE, "^master local has no executors"),
        ("yarn", STANDALONE | {"spark.dynamicAllocation.enabled": "true"}, "^spark.dynamicAllocation.enabled must be"),
        ("yarn", without("spark.decommission.enabled"), "^spark.decommission.enabled must be true"),
        ("spark://host:7077", without("spark.cores.max"), "^spark.cores.max must be set"),
        ("spark://host:7077", without("spark.executor.cores"), "^spark.executor.cores must be set"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(master: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(ExecutorsError, match=said) as refused:
        check_settings(master, settings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:443", "local-cluster[2,1,1024]"])
def test_every_cluster_manager_that_gives_executors_passes(master: str) -> None:
    check_settings(master, STANDALONE)


def test_only_standalone_needs_a_limit_of_its_cores() -> None:
    check_settings("yarn", without("spark.cores.max"))


def test_a_real_local_session_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ExecutorsError, match="inside the driver"):
        ExecutorSlots(spark.sparkContext)


def test_those_with_state_or_cached_data_leave_last_and_the_idle_and_young_first() -> None:
    stateful, cached = Executor("1", 2), Executor("2", 2, cached_blocks=3)
    busy, idle, young = Executor("3", 2, active_tasks=1), Executor("4", 2), Executor("10", 2)
    order = leave_first([stateful, cached, busy, idle, young], holders={"1"})
    assert order == [young, idle, busy, cached, stateful]
