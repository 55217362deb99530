from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from penstock.spark.executors.slots import FixedSlots, NotEnoughSlotsError


@pytest.mark.spark
def test_slots_that_are_fixed_are_counted_and_never_change(spark: SparkSession) -> None:
    slots = FixedSlots(spark)
    assert (slots.slots(), slots.executors()) == (16, None)  # inside the driver
    slots.require(16)
    with pytest.raises(NotEnoughSlotsError) as refused:
        slots.require(17)
    assert (refused.value.needed, refused.value.available) == (17, 16)
    slots.give_back(1)
    assert slots.slots() == 16


def test_the_reason_for_missing_slots_is_said_where_it_is_known() -> None:
    assert str(NotEnoughSlotsError(17, 16)) == "the plan needs 17 slots, but only 16 are available"
    assert str(NotEnoughSlotsError(17, 16, "no worker is free")).endswith("are available: no worker is free")
