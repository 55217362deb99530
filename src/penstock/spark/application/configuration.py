"""The Spark configuration under which executors can come and go without harm."""

from __future__ import annotations

from collections.abc import Mapping

DECOMMISSIONING = {
    "spark.dynamicAllocation.enabled": "false",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.shuffleBlocks.enabled": "true",
    "spark.storage.decommission.rddBlocks.enabled": "true",
    # An executor that leaves looks that often whether it still has blocks to hand over. By default every 30 s, and its
    # cores are paid for until then.
    "spark.storage.decommission.replicationReattemptInterval": "3s",
}


def needed_settings(given: Mapping[str, str], most: int) -> dict[str, str]:
    """The settings that an application with at most so many executors needs and does not have.

    >>> needed_settings({"spark.master": "spark://host:7077", "spark.executor.cores": "4"}, 20)["spark.cores.max"]
    '80'
    """
    settings = dict(DECOMMISSIONING)
    if given.get("spark.master", "").startswith(("spark://", "local-cluster")):
        cores = given.get("spark.executor.cores", "1")
        settings |= {"spark.executor.cores": cores, "spark.cores.max": str(most * int(cores))}
    return {name: value for name, value in settings.items() if name not in given}
