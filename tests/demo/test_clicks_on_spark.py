"""The demo's job on real Spark gives the answer that plain Python gives, and is fit for both engines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.demo.clicks_on_spark import CLICKS
from spark_answers import Answer, answer_of_micro_batches, records_of, rows_of, unfit_for_real_time

pytestmark = pytest.mark.spark

RECORDS = 120


def sessions(values: Sequence[str]) -> Answer:
    fields = [value.split(",") for value in values]
    return rows_of("publish", [
        (int(number), user, page.replace("/news/", "c")) for number, user, page, robot, opens in fields
        if (robot, opens) == ("0", "1")
    ])  # fmt: skip


def test_micro_batches_give_the_answer_of_plain_python(spark: SparkSession, tmp_path: Path) -> None:
    expected = sessions(records_of(CLICKS, RECORDS))

    assert answer_of_micro_batches(spark, CLICKS, RECORDS, tmp_path) == expected
    assert expected.total() == RECORDS * CLICKS.visits["publish"]


def test_every_operator_is_fit_for_real_time(spark: SparkSession) -> None:
    assert unfit_for_real_time(spark, CLICKS) == []
