"""Targets are read with their units; a figure that was not measured misses none of them."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model import InvalidValueError, Latency, OperatorSample, Sample, Slo, duration

UNITS = '"500 ms"'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500 ms", 0.5), ("10 s", 10), ("10s", 10), (" 1.5 min ", 90), ("6 min", 360), ("1 h", 3600), ("0.5 h", 1800)],
)
def test_a_time_is_read_with_its_unit(text: str, seconds: float) -> None:
    assert duration("drain", text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("value", ["", "500", "ms", "-1 s", "1 day", "1e3 s", "1 s 2", 500, 1.5, None])
def test_a_time_without_a_unit_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        duration("slo: drain", value)
    assert str(refused.value) == f"slo: drain must be a time with its unit, such as {UNITS}, not {value!r}"


@pytest.mark.parametrize("value", ["0 s", "0.0 ms", "0.0001 ms", timedelta(0), timedelta(seconds=-1)])
def test_no_time_at_all_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Slo(event_latency=value)
    assert str(refused.value) == f"slo: event_latency must be positive, not {value!r}"


def test_a_time_beyond_all_calendars_is_refused() -> None:
    with pytest.raises(InvalidValueError) as refused:
        Slo(drain="99999999999999 h")
    assert str(refused.value) == "slo: drain must be shorter than a million years, not '99999999999999 h'"


def test_a_target_for_processing_above_the_one_for_events_is_refused() -> None:
    """Processing is a part of the way from a record's creation to its leaving."""
    with pytest.raises(
        InvalidValueError, match=r"^slo: processing_latency must be at most event_latency, 200 ms, not 5"
    ):
        Slo(processing_latency="500 ms", event_latency="200 ms")
    assert Slo(processing_latency="200 ms", event_latency="200 ms").latency_ms == 200.0


def test_an_unknown_statistic_is_refused() -> None:
    with pytest.raises(InvalidValueError) as refused:
        Slo(statistic="p94")
    assert str(refused.value) == (
        "slo: statistic 'p94' is not known; did you mean 'p99'? There is: mean, p50, p95, p99"
    )


@given(st.integers(1, 10**7))
def test_milliseconds_come_out_exactly_as_they_went_in(milliseconds: int) -> None:
    slo = Slo(processing_latency=f"{milliseconds} ms", event_latency=f"{milliseconds} ms", drain=f"{milliseconds} s")
    assert slo.processing_latency_ms == slo.event_latency_ms == slo.drain_seconds == milliseconds


@pytest.mark.parametrize(
    ("slo", "latency_ms"),
    [
        (Slo(), None),
        (Slo(processing_latency="60 ms"), 60.0),
        (Slo(event_latency="200 ms"), 200.0),
        (Slo(processing_latency="60 ms", event_latency="200 ms"), 60.0),
    ],
)
def test_the_event_latency_stands_in_where_no_processing_latency_is_asked_for(
    slo: Slo, latency_ms: float | None
) -> None:
    assert slo.latency_ms == latency_ms


def window(**figures: Any) -> Sample:
    return Sample(t=0, seconds=10, operators={"split": OperatorSample(1)}, **figures)


@pytest.mark.parametrize(
    ("slo", "figures", "missed"),
    [
        (Slo(), {}, ()),
        (Slo(processing_latency="100 ms"), {"processing_latency_ms": Latency(mean=100)}, ()),
        (Slo(processing_latency="100 ms"), {"processing_latency_ms": Latency(mean=101)}, ("processing_latency",)),
        (Slo(processing_latency="100 ms"), {"processing_latency_ms": Latency(p99=101)}, ()),
        (Slo(processing_latency="100 ms"), {"event_latency_ms": Latency(mean=101)}, ()),
        (Slo(event_latency="100 ms"), {"event_latency_ms": Latency(mean=101)}, ("event_latency",)),
        (Slo(event_latency="1 s", statistic="p95"), {"event_latency_ms": Latency(mean=1, p95=1001)},
         ("event_latency",)),
        (Slo(event_latency="1 s", statistic="p95"), {"event_latency_ms": Latency(mean=1001, p95=1)}, ()),
        (Slo(event_latency="1 s", statistic="p95"), {"event_latency_ms": Latency(mean=1001)}, ("event_latency",)),
        (Slo(event_latency="2 s"), {"input_rate": 100, "backlog": 200}, ()),
        (Slo(event_latency="2 s"), {"input_rate": 100, "backlog": 201}, ("keep_up",)),
        (Slo(), {"input_rate": 100, "backlog": 500}, ()),  # five seconds of input where nothing else is asked for
        (Slo(), {"input_rate": 100, "backlog": 501}, ("keep_up",)),
        (Slo(), {"input_rate": {"a": 50, "b": 50}, "backlog": 501}, ("keep_up",)),
        (Slo(), {"input_rate": 0, "backlog": 1}, ("keep_up",)),
        (Slo(), {"backlog": 501}, ()),
        (Slo(), {"input_rate": 100}, ()),
    ],
)  # fmt: skip
def test_a_window_misses_what_it_was_measured_to_miss(slo: Slo, figures: dict[str, Any], missed: tuple[str]) -> None:
    assert slo.violations(window(**figures)) == missed


def test_every_target_can_be_missed_at_once() -> None:
    slow = window(processing_latency_ms=Latency(mean=9), event_latency_ms=Latency(mean=9), input_rate=1, backlog=100)
    slo = Slo(processing_latency="1 ms", event_latency="2 ms")
    assert slo.violations(slow) == ("processing_latency", "event_latency", "keep_up")
