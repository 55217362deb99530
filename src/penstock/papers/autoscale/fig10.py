"""Fig. 10 of AUTOSCALE: the line under sudden peaks."""

from __future__ import annotations

from penstock.papers.autoscale.runs import MINUTE, SETTING, charts, seen
from penstock.papers.catalogue import workload
from penstock.papers.traces import samples_of
from penstock.report.item import Item, Row
from penstock.report.judging import calibrated

FIRST_PEAK, FALL, SECOND_PEAK = 360.0, 720.0, 1080.0  # where the 5-step stream rises, falls, and rises again
MEASUREMENT = 10.0


def fig_10() -> Item:
    """The line under sudden peaks."""
    storm, autoscale = seen("linear_peaks", "storm_default"), seen("linear_peaks", "autoscale")
    grown = [[c.t for c in run if c.changed and c.decision.plan["sink"] > c.before["sink"]]
             for run in autoscale.runs.cycles]  # fmt: skip
    stages = [sum(c.changed and FIRST_PEAK <= c.t <= FALL for c in run) for run in autoscale.runs.cycles]
    again = [min(t for t in times if t >= SECOND_PEAK) - SECOND_PEAK for times in grown]
    quick = 1e3 / workload("linear_peaks").job.behaviours["intermediate"].service_ms
    emitted = max(
        s.operators["intermediate"].records_in or 0.0 for run in autoscale.runs.cycles for s in samples_of(run)
    )
    return Item.of(
        title="AUTOSCALE, Fig. 10",
        setting=f"linear_peaks, 5-step stream, from minimal degrees; {SETTING}",
        rows=(
            Row("Storm", "congested", storm.state),
            Row("AUTOSCALE", "keeps up", autoscale.state),
            Row("first scale-out after the second peak", None, max(again), "s"),
            Row("Storm, processed", None, 100 * storm.processed, "%"),
            Row("AUTOSCALE, processed", None, 100 * autoscale.processed, "%"),
            Row("Storm, dephased", None, storm.dephased(), "items"),
            Row("AUTOSCALE, dephased", None, autoscale.dephased(), "items"),
            Row(
                "highest degree of the intermediate operator",
                "more than 1",
                autoscale.most("intermediate"),
                calibrated=True,
            ),
        ),
        claims={
            "Storm congests at the sudden rise, and the fall does not restore it": (
                storm.congested,
                f"{storm.processed:.0%} processed, {storm.dephased_in_the_last_minute:,.0f} items dephased in the last "
                "minute",
            ),
            "AUTOSCALE reacts in several stages, and its queues are worked off after the load has fallen": (
                min(stages) >= 2
                and autoscale.processed > 0.999
                and autoscale.dephased(SECOND_PEAK - 2 * MINUTE, SECOND_PEAK) == 0,
                f"{min(stages)} changes from the first peak to its fall; {autoscale.dephased(until=FALL):,.0f} items "
                f"dephased before the fall, {autoscale.dephased(FALL, SECOND_PEAK):,.0f} after it, none in the last "
                f"two minutes before the second peak; {autoscale.processed:.2%} processed in the end",
            ),
            "even the quick intermediate operator is scaled out as a precaution": calibrated(
                (
                    autoscale.most("intermediate") > 1,
                    f"to {autoscale.most('intermediate')}: with what is sent again up to {emitted / MEASUREMENT:,.0f} "
                    f"items/s reach it, and one instance does {quick:,.0f}",
                ),
                "the height of the peak, which is not printed, so that replays pile up to that",
            ),
            "a reconfiguration follows as soon as the second peak appears (within a window)": (
                max(again) <= MINUTE,
                f"{max(again):.0f} s after it at the latest",
            ),
        },
        charts=charts("Fig. 10", storm, autoscale, "sink"),
    )
