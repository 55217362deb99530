"""Fig. 12 of AUTOSCALE: the advertising job."""

from __future__ import annotations

from penstock.papers.autoscale.runs import OVERCOMMIT, SETTING, charts, less, seen, supervisors
from penstock.report.bands import CHANGE
from penstock.report.item import Item, Row
from penstock.report.judging import agrees, calibrated, theirs, unless

SELECTIVITY = "the shares that pass filter and join, from these 12 %"


def fig_12() -> Item:
    """The advertising job, whose filter spares the slow operators behind it."""
    storm, autoscale = seen("advertising", "storm_default"), seen("advertising", "autoscale")
    storm_8 = seen("advertising", "storm_default", expert=True)
    autoscale_8 = seen("advertising", "autoscale", expert=True)
    more_cores, more_memory = -less(autoscale.cores, storm.cores), -less(autoscale.memory, storm.memory)
    less_cores, less_memory = less(autoscale_8.cores, storm_8.cores), less(autoscale_8.memory, storm_8.memory)
    storm_4, autoscale_4 = (seen("advertising", policy, slow=4) for policy in ("storm_default", "autoscale"))
    of_four = {"CPU": less(autoscale_4.cores, storm_4.cores), "memory": less(autoscale_4.memory, storm_4.memory)}
    degrees = theirs(
        "the degrees that somebody would choose by latency alone are not printed; the most of each, eight, is our "
        f"choice. Of four each AUTOSCALE saves {of_four['CPU']:.0f} % of CPU and {of_four['memory']:.0f} % of memory"
    )
    fewest = min(supervisors(cycle)[1] for run in autoscale_8.runs.cycles for cycle in run)
    smallest = sum(operator.cpu_cores for operator in storm.topology.operators)
    return Item.of(
        title="AUTOSCALE, Fig. 12",
        setting=f"advertising, 3-step stream, from minimal (a) and latency-only degrees (b); {SETTING}",
        rows=(
            Row("(a) more CPU than needed", 12.0, more_cores, "%", calibrated=True),
            Row("(a) more memory than needed", 12.0, more_memory, "%", calibrated=True),
            Row("(a) Storm, processed", None, 100 * storm.processed, "%"),
            Row("(a) AUTOSCALE, processed", None, 100 * autoscale.processed, "%"),
            Row("(b) less CPU", 50.0, less_cores, "%"),
            Row("(b) less memory", 50.0, less_memory, "%"),
            Row("(b) less CPU, from four of each slow operator", 50.0, of_four["CPU"], "%"),
            Row("(b) less memory, from four of each slow operator", 50.0, of_four["memory"], "%"),
            Row("(b) supervisors after the scale-in", 1.0, float(fewest), calibrated=True),
        ),
        claims={
            "minimal degrees do not congest, yet AUTOSCALE scales out, and throughput is much the same": (
                min(storm.processed, autoscale.processed) > 0.999 and autoscale.cores > storm.cores,
                f"{storm.processed:.2%} and {autoscale.processed:.2%} processed",
            ),
            "its overhead does not exceed 12 % of CPU and memory": calibrated(
                (max(more_cores, more_memory) <= 12.0, f"{more_cores:.1f} % and {more_memory:.1f} %"), SELECTIVITY
            ),
            "against degrees chosen by latency alone it takes 50 % less CPU": unless(
                agrees(less_cores / 100, 0.5, CHANGE, ".1%"), degrees
            ),
            "and memory": unless(agrees(less_memory / 100, 0.5, CHANGE, ".1%"), degrees),
            "with a similar throughput": (autoscale_8.processed > 0.999, f"{autoscale_8.processed:.2%} processed"),
            "the scale-in gathers the whole job on a single supervisor": calibrated(
                (
                    fewest == 1,
                    f"on {fewest}, from 6: at minimal degrees it claims {smallest:.1f} cores with Table III's loads, "
                    "and a supervisor has 2",
                ),
                OVERCOMMIT,
            ),
        },
        charts=(
            *charts("Fig. 12 (a)", storm, autoscale, "ip_processor"),
            *charts("Fig. 12 (b)", storm_8, autoscale_8, "ip_processor"),
        ),
    )
