"""Table IV of AuTraScale: the CPU time of one decision."""

from __future__ import annotations

from penstock.papers.autrascale.decision_time import (
    METERING,
    OPERATORS,
    SETTING,
    line,
    linear_claim,
    prediction_seconds,
    seconds,
)
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import cannot_be_judged

TABLE_4 = {
    "Alg1_train": ("Algorithm 1", (0.042, 0.053, 0.065, 0.076, 0.088)),
    "Alg2": ("traditional transfer", (0.070, 0.081, 0.094, 0.104, 0.116)),
}
USE = (0.0008, 0.0006, 0.0006, 0.0006, 0.0006)


def table_4() -> Item:
    """CPU time of one decision."""
    rows = [
        Row(f"{name}, {n} operators", paper, seconds(algorithm, n), "s")
        for name, (algorithm, printed) in TABLE_4.items()
        for n, paper in zip(OPERATORS, printed, strict=True)
    ]
    use = {n: prediction_seconds(n) for n in OPERATORS}
    rows += [Row(f"Alg1_use, {n} operators", paper, use[n], "s") for n, paper in zip(OPERATORS, USE, strict=True)]
    longest = max(seconds(algorithm, n) for algorithm, _ in TABLE_4.values() for n in OPERATORS)
    return Item.of(
        title="AuTraScale, Table IV",
        setting=SETTING,
        rows=tuple(rows),
        claims={
            "a trained model answers within 1 ms": (max(use.values()) < 1e-3, f"{max(use.values()):.2g} s"),
            "the time of Algorithms 1 and 2 is linear in the number of operators": linear_claim(
                [algorithm for algorithm, _ in TABLE_4.values()]
            ),
            "the seconds of the table": cannot_be_judged("other hardware, language and library than theirs"),
            "a decision is not enough to affect the job: under 1 % of a policy interval of one minute": (
                longest < 0.6,
                f"at most {longest:.2f} s",
            ),
            "exposing the true rate brings no additional overhead (section V-E)": cannot_be_judged(METERING),
        },
        charts=(
            Chart(
                "Table IV", "operators", "s", tuple(line(name, algorithm) for name, (algorithm, _) in TABLE_4.items())
            ),
        ),
    )
