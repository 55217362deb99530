"""Fig. 9 of AUTOSCALE: the line from minimal and from expert degrees."""

from __future__ import annotations

from statistics import fmean

from penstock.papers.autoscale.runs import MINUTE, SETTING, charts, less, seen, supervisors
from penstock.papers.traces import latency_of, samples_of
from penstock.report.item import Item, Row


def fig_9() -> Item:
    """The line under the 3-step stream.

    The paper finds equivalent performance and, in the next sentence, a significant rise of latency at a scale-in. A
    mean would contain that rise, so the two are judged apart, the first by the median over time.
    """
    storm, autoscale = seen("linear", "storm_default"), seen("linear", "autoscale")
    storm_8, autoscale_8 = seen("linear", "storm_default", expert=True), seen("linear", "autoscale", expert=True)
    unpaused = seen("linear", "autoscale", expert=True, pause=False)
    cores, memory = less(autoscale_8.cores, storm_8.cores), less(autoscale_8.memory, storm_8.memory)
    # The last scale-in, when the stream has fallen: the workers it leaves, and the latency around it.
    last = [[cycle for cycle in run if cycle.changed][-1] for run in autoscale_8.runs.cycles]
    before, after = supervisors(last[0])
    calm = fmean(latency_of(cycle.samples[-1]) for cycle in last)
    bump = fmean(
        max(latency_of(s) for s in samples_of(run) if cycle.t <= s.t < cycle.t + MINUTE)
        for cycle, run in zip(last, autoscale_8.runs.cycles, strict=True)
    )
    return Item.of(
        title="AUTOSCALE, Fig. 9",
        setting=f"linear, 3-step stream, from minimal (a) and expert degrees (b); {SETTING}",
        rows=(
            Row("(a) Storm", "congested", storm.state),
            Row("(a) AUTOSCALE", "keeps up", autoscale.state),
            Row("(a) Storm, processed", None, 100 * storm.processed, "%"),
            Row("(a) AUTOSCALE, processed", None, 100 * autoscale.processed, "%"),
            Row("(a) Storm, dephased in the last minute", None, storm.dephased_in_the_last_minute, "items"),
            Row("(a) AUTOSCALE, dephased at all", None, autoscale.dephased(), "items"),
            Row("(b) less CPU", 37.5, cores, "%"),
            Row("(b) less memory", 37.5, memory, "%"),
            Row("(b) supervisors before and after the scale-in", "3, 1", f"{before}, {after}"),
            Row("(b) Storm, median latency over time", None, storm_8.usual_latency, "ms"),
            Row("(b) AUTOSCALE, median latency over time", None, autoscale_8.usual_latency, "ms"),
            Row("(b) Storm, mean latency", None, storm_8.latency, "ms"),
            Row("(b) AUTOSCALE, mean latency", None, autoscale_8.latency, "ms"),
            Row("(b) the same, were a change without a pause", None, unpaused.latency, "ms"),
        ),
        claims={
            "with minimal degrees Storm congests, and replays items for ever although the load has fallen again": (
                storm.congested,
                f"{storm.processed:.0%} processed; {storm.dephased_in_the_last_minute:,.0f} items dephased in the last "
                "minute, six minutes after the fall",
            ),
            "AUTOSCALE grows with the load, shrinks with it, and never congests": (
                not autoscale.congested
                and autoscale.dephased() == 0
                and autoscale.most("sink") == 8
                and all(plan["sink"] == 1 for plan in autoscale.runs.last_plans()),
                f"{autoscale.processed:.2%} processed, none dephased; the sink grows to {autoscale.most('sink')} "
                "and ends at 1",
            ),
            "from expert degrees it takes about 37.5 % less CPU and memory (within 5 points)": (
                all(abs(saved - 37.5) <= 5 for saved in (cores, memory)),
                f"{cores:.1f} % and {memory:.1f} %",
            ),
            "and gives results of the same quality: all items in time": (
                min(storm_8.processed, autoscale_8.processed) > 0.999 and autoscale_8.dephased() == 0,
                f"{storm_8.processed:.2%} and {autoscale_8.processed:.2%} processed, none dephased",
            ),
            "latency rises markedly at the scale-in to one supervisor": (
                after == 1 and bump > 2 * calm,
                f"from {calm:.0f} to {bump:,.0f} ms, {before} supervisors before and {after} after; one sink is left "
                "with what came in the pause, while the load still falls",
            ),
            "and equivalent performance but for that: the latency of most measurements within 25 % (their median)": (
                autoscale_8.usual_latency <= 1.25 * storm_8.usual_latency,
                f"{autoscale_8.usual_latency:.0f} against {storm_8.usual_latency:.0f} ms; means "
                f"{autoscale_8.latency:.0f} and {storm_8.latency:.0f}, or {unpaused.latency:.0f} if changes did not "
                "stop the job for 5 s",
            ),
        },
        charts=(
            *charts("Fig. 9 (a)", storm, autoscale, "sink"),
            *charts("Fig. 9 (b)", storm_8, autoscale_8, "sink"),
        ),
    )
