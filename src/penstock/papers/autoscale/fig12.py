"""Fig. 12 of AUTOSCALE: the advertising job."""

from __future__ import annotations

from penstock.papers.autoscale.runs import SETTING, charts, less, seen, supervisors
from penstock.report.item import Item, Row


def fig_12() -> Item:
    """The advertising job, whose filter spares the slow operators behind it."""
    storm, autoscale = seen("advertising", "storm_default"), seen("advertising", "autoscale")
    storm_8 = seen("advertising", "storm_default", expert=True)
    autoscale_8 = seen("advertising", "autoscale", expert=True)
    more_cores, more_memory = -less(autoscale.cores, storm.cores), -less(autoscale.memory, storm.memory)
    less_cores, less_memory = less(autoscale_8.cores, storm_8.cores), less(autoscale_8.memory, storm_8.memory)
    fewest = min(supervisors(cycle)[1] for run in autoscale_8.runs.cycles for cycle in run)
    smallest = sum(operator.cpu_cores for operator in storm.topology.operators)
    return Item.of(
        title="AUTOSCALE, Fig. 12",
        setting=f"advertising, 3-step stream, from minimal (a) and latency-only degrees (b); {SETTING}",
        rows=(
            Row("(a) more CPU than needed", 12.0, more_cores, "%"),
            Row("(a) more memory than needed", 12.0, more_memory, "%"),
            Row("(a) Storm, processed", None, 100 * storm.processed, "%"),
            Row("(a) AUTOSCALE, processed", None, 100 * autoscale.processed, "%"),
            Row("(b) less CPU", 50.0, less_cores, "%"),
            Row("(b) less memory", 50.0, less_memory, "%"),
            Row("(b) supervisors after the scale-in", 1.0, float(fewest)),
        ),
        claims={
            "minimal degrees do not congest, yet AUTOSCALE scales out, and throughput is much the same": (
                min(storm.processed, autoscale.processed) > 0.999 and autoscale.cores > storm.cores,
                f"{storm.processed:.2%} and {autoscale.processed:.2%} processed",
            ),
            "its overhead does not exceed 12 % of CPU and memory": (
                max(more_cores, more_memory) <= 12.0,
                f"{more_cores:.1f} % and {more_memory:.1f} %; how full each processor gets is not printed, and the job "
                "is calibrated by this figure",
            ),
            "against degrees chosen by latency alone it takes half of the resources, or less": (
                min(less_cores, less_memory) >= 50.0 and autoscale_8.processed > 0.999,
                f"{less_cores:.0f} % less CPU, {less_memory:.0f} % less memory, {autoscale_8.processed:.2%} processed",
            ),
            "the scale-in gathers the whole job on a single supervisor": (
                fewest == 1,
                f"on {fewest}, from 6: at minimal degrees it claims {smallest:.1f} cores with Table III's loads, and a "
                "supervisor has 2; CPU claims may exceed a machine by half, as the scheduler they cite allows",
            ),
        },
        charts=(
            *charts("Fig. 12 (a)", storm, autoscale, "ip_processor"),
            *charts("Fig. 12 (b)", storm_8, autoscale_8, "ip_processor"),
        ),
    )
