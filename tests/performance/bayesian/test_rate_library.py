"""The library of rates: which record belongs to a rate, and how it survives the process."""

from __future__ import annotations

import json

from penstock.performance.bayesian.rate_library import REMEMBERED, Measurement, RateLibrary, RateRecord


def test_a_drifting_rate_is_measured_from_where_the_search_began() -> None:
    library = RateLibrary(tolerance=0.1)
    first = library.at(100.0)
    assert [library.at(rate) is first for rate in (104.0, 108.0, 110.0)] == [True, True, True]
    assert library.at(111.0) is not first


def test_a_rate_between_two_known_ones_belongs_to_the_nearer() -> None:
    library = RateLibrary(tolerance=0.1)
    low, high = library.at(100.0), library.at(115.0)
    library.at(200.0)
    assert library.at(105.0) is low
    library.at(200.0)
    assert library.at(109.0) is high


def test_the_nearest_record_is_sought_among_the_others_that_are_fit() -> None:
    library = RateLibrary(tolerance=0.1)
    far, near, here = library.at(100.0), library.at(180.0), library.at(200.0)
    assert library.nearest(here, lambda record: True) is near
    assert library.nearest(here, lambda record: record is not near) is far
    assert library.nearest(here, lambda record: False) is None


def test_the_newest_measurement_of_a_configuration_counts_and_old_configurations_are_forgotten() -> None:
    record = RateRecord(100.0)
    for k in range(REMEMBERED):
        record.measure((k + 1,), Measurement(100.0, 100.0, 5.0))
    record.measure((1,), Measurement(100.0, 100.0, 7.0))
    record.measure((REMEMBERED + 1,), Measurement(100.0, 100.0, 9.0))
    assert len(record.measured) == REMEMBERED
    assert record.measured[(1,)].latency_ms == 7.0
    assert (2,) not in record.measured


def test_a_library_goes_through_json_unchanged() -> None:
    library = RateLibrary(tolerance=0.1)
    record = library.at(0.1 + 0.2)
    record.steps[(1, 2)] = 1 / 3
    record.recommended, record.base, record.attainable = (2, 2), (1, 2), 2 / 7
    record.measure((1, 2), Measurement(1 / 3, 1 / 9, None))
    library.at(100.0)
    again = RateLibrary.from_json(json.loads(json.dumps(library.to_json())), 0.1)
    assert again == library
    assert again.current is again.records[1]
