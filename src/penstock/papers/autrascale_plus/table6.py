"""Table VI of AuTraScale+: the CPU time of one decision."""

from __future__ import annotations

from statistics import fmean

from penstock.papers.autrascale.decision_time import METERING, OPERATORS, SETTING, line, linear_claim, seconds
from penstock.report.item import Chart, Item, Row
from penstock.report.judging import cannot_be_judged

TABLE_6 = {
    "Algorithm 1": (0.042, 0.053, 0.065, 0.076, 0.088),
    "Algorithm 3": (0.027, 0.035, 0.043, 0.048, 0.056),
    "traditional transfer": (0.070, 0.081, 0.094, 0.104, 0.116),
    "lightweight transfer": (0.036, 0.044, 0.050, 0.060, 0.073),
}


def table_6() -> Item:
    """CPU time of one decision."""
    ours = {(name, n): seconds(name, n) for name in TABLE_6 for n in OPERATORS}
    means = {name: fmean(ours[name, n] for n in OPERATORS) for name in TABLE_6}
    light = sum(ours["lightweight transfer", n] < ours["traditional transfer", n] for n in OPERATORS)
    return Item.of(
        title="AuTraScale+, Table VI",
        setting=SETTING,
        rows=tuple(
            Row(f"{name}, {n} operators", paper, ours[name, n], "s")
            for name, printed in TABLE_6.items()
            for n, paper in zip(OPERATORS, printed, strict=True)
        ),
        claims={
            "the lightweight transfer takes less time than the traditional one, whatever the number of operators": (
                light == len(OPERATORS),
                f"for {light} of {len(OPERATORS)} numbers; {means['lightweight transfer']:.3f} against "
                f"{means['traditional transfer']:.3f} s on average",
            ),
            "every decision takes less than 1 s": (max(ours.values()) < 1.0, f"at most {max(ours.values()):.3f} s"),
            "with fewer than 10 operators it takes less than 90 ms": (
                max(time for (_, n), time in ours.items() if n < 10) < 0.09,
                f"at most {max(time for (_, n), time in ours.items() if n < 10):.3f} s; their own traditional transfer "
                "takes 104 ms with 8",
            ),
            "the time of every algorithm is about linear in the number of operators": linear_claim(list(TABLE_6)),
            "exposing the true rate brings no additional overhead (section V-F)": cannot_be_judged(METERING),
        },
        charts=(Chart("Table VI", "operators", "s", tuple(line(name, name) for name in TABLE_6)),),
    )
