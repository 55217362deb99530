"""The page of the options with which anything is steered: the same words in Python and on the command line."""

from __future__ import annotations

from docs.generator.markdown import code, page, table
from penstock.control.assembly import Steering
from penstock.model.options import describe

COMMAND_LINE = {
    "policy": "`--policy NAME`",
    "policy_options": "`--policy-option name=value`",
    "guards": "`--guard-option guard.name=value`, `--guard-option guard=off`, `--no-guards`",
    "forecaster": "`--forecaster NAME`",
    "forecaster_options": "`--forecaster-option name=value`",
    "store": "`--store URL`",
    "retention": "`--retention TIME` of `penstock run`",
    "interval": "`--interval TIME`",
    "mode": "`--mode MODE`",
    "metrics_port": "`--metrics-port PORT` (`penstock run`)",
    "dashboard": "`--dashboard` (`penstock run`)",
    "listen": "`--listen ADDRESS` (`penstock run`, `penstock dashboard`)",
    "certificate": "`--certificate FILE` (`penstock run`, `penstock dashboard`)",
}


def options_page() -> str:
    return page(
        "Options",
        "How a job is steered is said with the same keywords everywhere: in `penstock.runs.simulation.Simulation`, in "
        "`Pipeline.run`, `NativeQuery.run`, `watch` and `attach`, and on the command line.",
        table(
            ["keyword", "default", "on the command line", "meaning"],
            [
                [code(each.name), code(_default(each.default)), COMMAND_LINE[each.name], each.meaning]
                for each in describe(Steering)
            ],
        ),
        'A time is written with its unit: "500 ms", "10 s", "6 min", "1 h", "90 d".',
        "Two defaults differ where something else suits most users: a simulation decides every 60 s; `watch`, which "
        "acts on a query that somebody else started, begins in mode `monitor` and decides every 30 s.",
    )


def _default(value: object) -> str:
    return "None" if value is None else f'"{value}"'
