from __future__ import annotations

import sys

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from penstock.testbed.java import JavaMissingError, java

pytestmark = pytest.mark.spark


def test_workers_run_the_python_of_the_driver(spark: SparkSession) -> None:
    interpreter = F.udf(lambda _: sys.executable, "string")
    assert spark.range(1).select(interpreter("id")).first() == (sys.executable,)


def test_a_missing_java_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(JavaMissingError, match="JAVA_HOME"):
        java()
