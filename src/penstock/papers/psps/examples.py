"""Table II, Fig. 3 and Fig. 5 of PSPS: worked examples that anyone can check by hand."""

from __future__ import annotations

from dataclasses import replace

from penstock.model import Observation, Operator, OperatorSample, Plan, Sample, Slo, Topology
from penstock.policies.psps import Psps
from penstock.report.item import Item, Row
from penstock.report.judging import Judged, calibrated, theirs, unless

THETAS = {"O1": 1.0, "O2": 0.833, "O3": 0.625}


def table_2() -> Item:
    """Three operators in a row, one of them with much work and a long queue."""
    chain = Topology(tuple(map(Operator, ("O1", "O2", "O3"))), (("O1", "O2"), ("O2", "O3")))
    operators = {
        "O1": OperatorSample(2, records_in=140, queue=0),
        "O2": OperatorSample(3, records_in=120, queue=7, records_from={"O1": 117}),
        "O3": OperatorSample(9, records_in=90, queue=20, records_from={"O2": 90}),
    }
    policy = Psps(window_seconds=1.0, execution_ms={"O1": 16.6, "O2": 25.0, "O3": 100.0})
    decision = policy.decide(_observed(chain, operators, input_rate=100.0))
    printed = {"received": (100, 84, 63), "to_process": (100, 91, 83), "replicas": (2, 3, 9)}
    found = tuple(
        Row(f"{name}: {figure.replace('_', ' ')}", paper, float(decision.figures[figure][name]))
        for figure, values in printed.items()
        for name, paper in zip(chain.names, values, strict=True)
    )
    thetas = tuple(
        Row(f"{name}: theta", paper, round(decision.figures["theta"][name], 4)) for name, paper in THETAS.items()
    )
    return Item.of(
        title="PSPS, Table II",
        setting="one decision of psps, td 1 s, et 16.6, 25 and 100 ms; counts and queues of Table II (a)",
        rows=(*thetas, *found),
        claims={
            "every count and every replica is as printed": _exact(found),
            "every theta is as printed": unless(
                _exact(thetas),
                theirs(
                    "by (2c) with the table's own counts they are 117/140 = 0.8357 and 117/140 * 90/120 = 0.6268; "
                    "0.833 and 0.625 are 5/6 and 5/8. With either, 84 and 63 events are received"
                ),
            ),
        },
    )


def fig_3() -> Item:
    """Three operators that do not depend on each other, with as many events and different execution times."""
    alone = Topology(tuple(Operator(name, max=8) for name in ("O1", "O2", "O3")))
    execution_ms = {"O1": 20.0, "O2": 10.0, "O3": 40.0}
    operators = {name: OperatorSample(2, records_in=100, queue=0) for name in alone.names}
    policy = Psps(window_seconds=1.0, execution_ms=execution_ms)
    start = Plan(dict.fromkeys(alone.names, 2))
    decision = policy.decide(replace(_observed(alone, operators, input_rate=100.0), plan=start))
    printed = {"O1": 2.0, "O2": 1.0, "O3": 4.0}
    found = tuple(Row(f"replicas of {name}", paper, float(decision.plan[name])) for name, paper in printed.items())
    return Item.of(
        title="PSPS, Fig. 3",
        setting="one decision of psps, td 1 s, 100 events for each operator, from two replicas each; et 20, 10 and "
        "40 ms, chosen, as the figure's are in a picture",
        rows=found,
        claims={
            "two replicas become two, one and four, by execution time alone": calibrated(
                _exact(found), "execution times, of which the text gives only the result"
            ),
        },
    )


def fig_5() -> Item:
    """A stream that is split, thinned out on one side and joined again."""
    diamond = Topology(
        tuple(map(Operator, ("O1", "O2", "O3", "O4"))), (("O1", "O2"), ("O1", "O3"), ("O2", "O4"), ("O3", "O4"))
    )
    operators = {
        "O1": OperatorSample(1, records_in=100, queue=0),
        "O2": OperatorSample(1, records_in=70, queue=0, records_from={"O1": 70}),
        "O3": OperatorSample(1, records_in=30, queue=0, records_from={"O1": 30}),
        "O4": OperatorSample(1, records_in=58, queue=0, records_from={"O2": 28, "O3": 30}),
    }
    policy = Psps(window_seconds=1.0, execution_ms=dict.fromkeys(diamond.names, 1.0))
    theta = policy.decide(_observed(diamond, operators, input_rate=100.0)).figures["theta"]
    printed = {"O1": 1.0, "O2": 0.7, "O3": 0.3, "O4": 0.58}
    found = tuple(Row(f"theta of {name}", paper, round(theta[name], 12)) for name, paper in printed.items())
    return Item.of(
        title="PSPS, Fig. 5",
        setting="one decision of psps: of 100 events 70 go to O2, 30 to O3; 0.4 and all of these go on to O4",
        rows=found,
        claims={"every theta is as printed": _exact(found)},
    )


def _observed(topology: Topology, operators: dict[str, OperatorSample], input_rate: float) -> Observation:
    sample = Sample(t=0.0, seconds=1.0, operators=operators, input_rate=input_rate)
    return Observation(t=1.0, topology=topology, slo=Slo(), plan=Plan.smallest(topology), samples=(sample,))


def _exact(found: tuple[Row, ...]) -> Judged:
    equal = sum(row.paper == row.ours for row in found)
    return equal == len(found), f"{equal} of {len(found)} equal"
