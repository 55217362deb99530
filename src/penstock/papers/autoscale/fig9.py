"""Fig. 9 of AUTOSCALE: the line from minimal and from expert degrees."""

from __future__ import annotations

from statistics import median

from penstock.model import Cycle
from penstock.papers.autoscale.runs import MINUTE, OVERCOMMIT, SETTING, charts, less, seen, supervisors
from penstock.papers.traces import latency_of, samples_of
from penstock.report.bands import CHANGE, LATENCY
from penstock.report.item import Item, Row
from penstock.report.judging import agrees, calibrated

HIGH_ENDS = 1300.0  # s, when the 3-step stream begins to fall
STEPS = "how long each step of the stream lasts, chosen so that AUTOSCALE saves about as much"


def fig_9() -> Item:
    """The line under the 3-step stream.

    The paper finds equivalent performance and, in the next sentence, a significant rise of latency at a scale-in. A
    mean would contain that rise, so the two are judged apart, the first by the median over time.
    """
    storm, autoscale = seen("linear", "storm_default"), seen("linear", "autoscale")
    storm_8, autoscale_8 = seen("linear", "storm_default", expert=True), seen("linear", "autoscale", expert=True)
    unpaused = seen("linear", "autoscale", expert=True, pause=False)
    cores, memory = less(autoscale_8.cores, storm_8.cores), less(autoscale_8.memory, storm_8.memory)
    falls = [_scale_in(run) for run in autoscale_8.runs.cycles]
    before, after = supervisors(falls[0])
    calm = median(latency_of(cycle.samples[-1]) for cycle in falls)
    bump = median(
        max(latency_of(s) for s in samples_of(run) if cycle.t <= s.t < cycle.t + MINUTE)
        for cycle, run in zip(falls, autoscale_8.runs.cycles, strict=True)
    )
    return Item.of(
        title="AUTOSCALE, Fig. 9",
        setting=f"linear, 3-step stream, from minimal (a) and expert degrees (b); {SETTING}",
        rows=(
            Row("(a) Storm", "congested", storm.state),
            Row("(a) AUTOSCALE", "keeps up", autoscale.state),
            Row("(a) Storm, processed", None, 100 * storm.processed, "%"),
            Row("(a) AUTOSCALE, processed", None, 100 * autoscale.processed, "%"),
            Row("(a) Storm, dephased", None, storm.dephased(), "items"),
            Row("(a) Storm, dephased in the last minute", None, storm.dephased_in_the_last_minute, "items"),
            Row("(a) AUTOSCALE, dephased", None, autoscale.dephased(), "items"),
            Row("(b) Storm, dephased", None, storm_8.dephased(), "items"),
            Row("(b) AUTOSCALE, dephased", None, autoscale_8.dephased(), "items"),
            Row("(b) less CPU", 37.5, cores, "%", calibrated=True),
            Row("(b) less memory", 37.5, memory, "%", calibrated=True),
            Row("(b) supervisors before and after the scale-in", "3, 1", f"{before}, {after}", calibrated=True),
            Row("(b) Storm, median latency over time", None, storm_8.usual_latency, "ms"),
            Row("(b) AUTOSCALE, median latency over time", None, autoscale_8.usual_latency, "ms"),
            Row("(b) Storm, mean latency", None, storm_8.latency, "ms"),
            Row("(b) AUTOSCALE, mean latency", None, autoscale_8.latency, "ms"),
            Row("(b) the same, were a change without a pause", None, unpaused.latency, "ms"),
        ),
        claims={
            "with minimal degrees Storm congests, and replays items for ever although the load has fallen again": (
                storm.congested,
                f"{storm.processed:.0%} processed, {storm.dephased_in_the_last_minute:,.0f} items dephased in the last "
                "minute",
            ),
            "AUTOSCALE grows with the load and shrinks with it, and nothing congests": (
                autoscale.processed > 0.999
                and not autoscale.congested
                and autoscale.most("sink") > 1
                and all(plan["sink"] == 1 for plan in autoscale.runs.last_plans()),
                f"{autoscale.processed:.2%} processed, {autoscale.dephased():,.0f} items dephased; up to "
                f"{autoscale.most('sink')} sinks, and 1 at the end",
            ),
            "against expert degrees it takes 37.5 % less CPU": calibrated(
                agrees(cores / 100, 0.375, CHANGE, ".1%"), STEPS
            ),
            "and memory": calibrated(agrees(memory / 100, 0.375, CHANGE, ".1%"), STEPS),
            "and gives results of the same quality: all items in time": (
                min(storm_8.processed, autoscale_8.processed) > 0.999 and autoscale_8.dephased() == 0,
                f"{storm_8.processed:.2%} and {autoscale_8.processed:.2%} processed, {autoscale_8.dephased():,.0f} "
                "dephased",
            ),
            "the scale-in goes from three supervisors to one": calibrated(
                ((before, after) == (3, 1), f"from {before} to {after}"), OVERCOMMIT
            ),
            "and latency rises at it": (
                bump > calm,
                f"from {calm:.0f} to {bump:,.0f} ms; few sinks are left with what came in the pause of 5 s, which we "
                f"chose, while the load still falls; over all {autoscale_8.latency:.0f} ms against "
                f"{storm_8.latency:.0f}, and {unpaused.latency:.0f} if changes did not stop the job",
            ),
            "but for that performance is equivalent: the latency of most measurements (their median)": agrees(
                autoscale_8.usual_latency, storm_8.usual_latency, LATENCY, ".0f"
            ),
        },
        charts=(
            *charts("Fig. 9 (a)", storm, autoscale, "sink"),
            *charts("Fig. 9 (b)", storm_8, autoscale_8, "sink"),
        ),
    )


def _scale_in(cycles: tuple[Cycle, ...]) -> Cycle:
    """The change with which the sinks shrink when the high load ends."""
    return next(c for c in cycles if c.t > HIGH_ENDS and c.changed and c.decision.plan["sink"] < c.before["sink"])
