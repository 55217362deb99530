"""The configuration that an application needs, and the one that the page shows."""

from __future__ import annotations

import pytest

from pages import blocks, read
from penstock.spark.application.configuration import DECOMMISSIONING, needed_settings
from penstock.spark.executors.executor_slots import check_settings

PAGE = "docs/how-to/put-penstock-into-your-job.md"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:443"])
def test_with_what_it_needs_an_application_can_be_steered(master: str) -> None:
    check_settings(master, needed_settings({"spark.master": master}, most=3))


def test_what_is_set_already_stays() -> None:
    given = {"spark.master": "spark://host:7077", "spark.executor.cores": "4", "spark.decommission.enabled": "false"}
    needed = needed_settings(given, most=5)
    assert needed["spark.cores.max"] == "20"
    assert not needed.keys() & given.keys()
    assert "spark.cores.max" not in needed_settings({**given, "spark.cores.max": "8"}, most=5)
    assert "spark.cores.max" not in needed_settings({"spark.master": "yarn"}, most=5)


def test_the_page_shows_it_to_copy() -> None:
    shown = next(block.text for block in blocks(read(PAGE)) if block.kind == "properties")
    settings = dict(line.split() for line in shown.splitlines())
    assert settings.pop("spark.executor.cores")
    assert settings == DECOMMISSIONING
