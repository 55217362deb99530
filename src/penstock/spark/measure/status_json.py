"""Reads what Spark's status store knows as JSON: one call through the gateway, where asking figure by figure takes
ten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import SparkContext


class StatusJson:
    """Turns the objects of the status store into what `json.loads` makes of them."""

    def __init__(self, context: SparkContext) -> None:
        jvm: Any = context._jvm
        self._mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())

    def read(self, found: Any) -> Any:
        return json.loads(self._mapper.writeValueAsString(found))
