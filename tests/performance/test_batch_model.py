"""A job in micro-batches, learnt from its batches."""

import json

import pytest

from penstock.model import Batch, Latency, Operator, OperatorSample, Sample, Slo, Topology
from penstock.performance.batch_model import BatchModel

JOB = Topology((Operator("split", max=40), Operator("count", max=40)), (("split", "count"),))
SLO = Slo(event_latency="5 s")
FIXED, PER_RECORD, OVERHEAD, TRIGGER = 0.4, 0.002, 0.3, 1.0


def duration(rate: float, slots: int) -> tuple[float, float]:
    """Seconds of a batch, and from one to the next."""
    seconds = OVERHEAD + (FIXED + PER_RECORD * rate * TRIGGER) / slots
    if seconds > TRIGGER:
        seconds = (OVERHEAD + FIXED / slots) / (1 - PER_RECORD * rate / slots)
    return seconds, max(seconds, TRIGGER)


def window(t: float, rate: float, slots: int) -> Sample:
    seconds, interval = duration(rate, slots)
    useful = FIXED + PER_RECORD * rate * interval
    batch = Batch(records=rate * interval, seconds=seconds, useful_seconds=useful, stage_seconds=useful / slots)
    return Sample(
        t=t, seconds=10, operators={name: OperatorSample(slots, records_in=10 * rate) for name in JOB.names},
        input_rate=rate, throughput=rate, backlog=rate, batches=(batch,),
        processing_latency_ms=Latency(1e3 * seconds), event_latency_ms=Latency(1e3 * (seconds + interval / 2)),
    )  # fmt: skip


def taught() -> BatchModel:
    model = BatchModel()
    for n in range(90):
        model.learn(window(10.0 * n, 500 + 50 * (n % 20), 4), JOB, SLO)
    return model


def test_it_predicts_rates_and_slots_that_it_has_not_seen() -> None:
    model = taught()
    for rate, slots in ((700.0, 2), (2500.0, 8), (3800.0, 8)):
        seconds, interval = duration(rate, slots)
        assert model.latency({"split": slots, "count": slots}, rate, JOB, SLO) == pytest.approx(
            seconds + interval / 2, rel=0.15
        )


def test_the_trigger_is_read_off_batches_that_waited_for_it() -> None:
    assert taught().trigger == pytest.approx(TRIGGER, rel=0.05)


def test_what_slots_carry_is_where_the_target_is_just_met() -> None:
    rung = taught().rung({"split": 6, "count": 6}, JOB, SLO)
    seconds, interval = duration(rung.limit, 6)
    assert seconds + interval / 2 == pytest.approx(5.0, rel=0.3)
    assert rung.slots == 6
    assert rung.capacity == pytest.approx(6 / PER_RECORD, rel=0.05)


def test_the_ladder_has_the_fewest_slots_for_each_rate_the_same_for_all() -> None:
    rungs = taught().ladder([400.0, 900.0, 1800.0, 3600.0], JOB, SLO)
    for rate, rung in zip((400.0, 900.0, 1800.0, 3600.0), rungs, strict=True):
        assert len(set(rung.parallelism.values())) == 1
        assert rung.limit >= rate
        fewer = {name: k - 1 for name, k in rung.parallelism.items()}
        assert rung.slots == 1 or taught().rung(fewer, JOB, SLO).limit < rate


def test_what_waits_for_the_next_batch_is_no_backlog() -> None:
    model = taught()
    assert model.waiting(window(0, 800.0, 4)) == pytest.approx(0.0, abs=40)


def test_operators_of_different_width_do_not_show_what_a_slot_does() -> None:
    model, uneven = taught(), window(1000, 800.0, 4)
    before = model.stretch.state()
    operators = {**uneven.operators, "count": OperatorSample(1, records_in=1.0)}
    model.learn(Sample(t=1000, seconds=10, operators=operators, input_rate=800.0, batches=uneven.batches), JOB, SLO)
    assert model.stretch.state() == before


def test_a_window_without_a_batch_is_no_trouble() -> None:
    model = BatchModel()
    model.learn(Sample(t=0, seconds=10, operators={}), JOB, SLO)
    assert not model.knows(JOB)


def test_it_goes_on_where_it_stopped() -> None:
    model = taught()
    for n in range(150):  # enough that some batches are remembered by their size only
        model.learn(window(1000.0 + 10 * n, 3000.0, 8), JOB, SLO)
    again = BatchModel.restored(json.loads(json.dumps(model.state())))
    for each in (model, again):
        each.learn(window(5000.0, 900.0, 4), JOB, SLO)
    assert again.state() == model.state()
    assert again.rung({"split": 5, "count": 5}, JOB, SLO) == model.rung({"split": 5, "count": 5}, JOB, SLO)
