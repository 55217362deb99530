"""`penstock demo`: a policy steers a real Spark job through a surge, seen live, and is compared with a fixed plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ENGINES = ("microbatch", "realtime", "simulator")


def demo(
    policy: Annotated[str, typer.Option("--policy", "-p", help="Which policy steers.")] = "predictive",
    engine: Annotated[
        str, typer.Option(help="microbatch: local Spark; realtime: Spark's real-time mode on a local Kafka; simulator.")
    ] = "microbatch",
    workload: Annotated[str, typer.Option(help="Which job: see penstock workloads.")] = "clicks",
    seconds: Annotated[
        float | None,
        typer.Option(
            help="How long the load lasts on Spark; else as the workload has it: 60 for clicks, on a cluster 120.",
            min=10.0,
            metavar="SECONDS",
        ),
    ] = None,
    cluster: Annotated[
        bool,
        typer.Option(
            "--cluster", help="Start a standalone cluster, where executors come and go, and count their cores."
        ),
    ] = False,
    change: Annotated[
        str | None,
        typer.Option(
            help="How a plan changes in real time: handover (the default), ordered or restart.", metavar="WAY"
        ),
    ] = None,
    chaining: Annotated[
        bool | None,
        typer.Option(
            "--chaining/--no-chaining",
            help="Whether operators with as many instances share them on Spark; else as the policy has it.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the simulator's random numbers.", min=0, metavar="N")] = 0,
    report: Annotated[Path, typer.Option(help="The folder of the report.")] = Path("out/demo"),
    fast: Annotated[
        bool, typer.Option("--fast", help="Run the simulator at full speed, not at one that can be watched.")
    ] = False,
) -> None:
    """Watch a policy steer a job through a surge: a real Spark job of a minute, or hours of a simulated one.

    Ends with a report that compares it with a plan sized for the peak that never changes, under the same load.

    Example: penstock demo --engine realtime --cluster
    """
    from penstock.model import InvalidValueError
    from penstock.model.errors import check_choice

    check_choice("engine", engine, ENGINES)
    if cluster and engine == "simulator":
        raise InvalidValueError("cluster", "must be left out with --engine simulator, which starts no Spark")
    if change is not None:
        if engine != "realtime":
            raise InvalidValueError("change", "must be left out without --engine realtime: nothing else is restarted")
        from penstock.spark.realtime.engine import WAYS

        check_choice("change", change, WAYS)
    if chaining is not None and engine == "simulator":
        raise InvalidValueError("chaining", "must be left out with --engine simulator, which starts no Spark")
    if engine == "simulator":
        from penstock.cli.demo_simulated import demo_simulated

        demo_simulated(workload, policy, seed, report, fast)
    else:
        from penstock.cli.demo_on_spark import demo_on_spark

        demo_on_spark(workload, policy, engine, seconds, report, cluster, change, chaining)
