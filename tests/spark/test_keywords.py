"""Everything that a user calls refuses misspelt keywords and wrong targets in a sentence, before it needs a Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import Slo
from penstock.model import InvalidValueError
from penstock.spark import NativeQuery, Pipeline, attach, kafka, watch

job = Pipeline("job", source=kafka("clicks", servers="here:9092"))
query = NativeQuery("query", build=lambda spark, plan: spark)  # type: ignore[arg-type, return-value]
nobody: Any = None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda wrong: job.start(nobody, slo=Slo(), checkpoint="c", **wrong), "Pipeline.start"),
        (lambda wrong: job.run(nobody, slo=Slo(), checkpoint="c", **wrong), "Pipeline.run"),
        (lambda wrong: query.start(nobody, slo=Slo(), checkpoint="c", **wrong), "NativeQuery.start"),
        (lambda wrong: query.run(nobody, slo=Slo(), checkpoint="c", **wrong), "NativeQuery.run"),
        (lambda wrong: attach(nobody, slo=Slo(), executors=(1, 2), **wrong), "attach"),
        (lambda wrong: watch(nobody, slo=Slo(), executors=(1, 2), **wrong), "watch"),
    ],
)
def test_a_misspelt_option_of_a_start(call: Callable[[dict[str, Any]], object], sentence: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        call({"intervall": "1 s"})
    text = str(refused.value)
    assert text.startswith(f"{sentence}: option 'intervall' is not known; did you mean 'interval'?")
    assert text.endswith("(docs/reference/options.md says what each does)")


@pytest.mark.parametrize(
    "call",
    [
        lambda slo: job.start(nobody, slo=slo, checkpoint="c"),
        lambda slo: job.run(nobody, slo=slo, checkpoint="c"),
        lambda slo: query.start(nobody, slo=slo, checkpoint="c"),
        lambda slo: query.run(nobody, slo=slo, checkpoint="c"),
        lambda slo: attach(nobody, slo=slo, executors=(1, 2)),
        lambda slo: watch(nobody, slo=slo, executors=(1, 2)),
    ],
)
def test_a_target_that_is_none_is_refused(call: Callable[[Any], object]) -> None:
    with pytest.raises(InvalidValueError) as refused:
        call("10 s")
    assert str(refused.value) == """slo must be a Slo, such as Slo(event_latency="10 s"), not '10 s'"""


def test_a_target_of_one_query_that_is_none_is_refused_with_its_name() -> None:
    with pytest.raises(InvalidValueError, match=r"^slo of query clicks must be a Slo"):
        watch(nobody, slo=Slo(), executors=(1, 3), slo_by_query={"clicks": 10})  # type: ignore[dict-item]


def test_a_misspelt_option_of_a_topic_or_an_operator() -> None:
    with pytest.raises(InvalidValueError, match=r"kafka: option 'startingOffset' is not known.*'startingOffsets'"):
        kafka("clicks", servers="here:9092", startingOffset="latest")
    with pytest.raises(InvalidValueError, match="operator: option 'maximum' is not known"):
        job.operator("parse", lambda frame: frame, maximum=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidValueError, match="sink: option 'before' is not known"):
        job.sink(nobody, before="parse")  # type: ignore[call-arg]
