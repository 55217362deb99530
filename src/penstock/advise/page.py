"""An advice as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from penstock.advise.advice import Failure, QueryAdvice
from penstock.advise.caveats import ASSUMED
from penstock.advise.chart import Line, chart
from penstock.advise.tables import rows
from penstock.advise.words import headline, hours, how_it_ran, lasting, percent, total
from penstock.report.words import milliseconds, ratio

DETAILED = 50
"""So many queries have charts on a page; those below would save least."""

STYLE = """
:root { color-scheme: light dark; --ink: #22303c; --dim: #61707d; --line: #d9dfe4; --back: #ffffff; --soft: #f3f6f8;
  --ran: #9aa7b2; --advised: #0b6fb8; --oracle: #0b8a6f; --target: #c8102e; --load: #7a3fb0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4eaef; --dim: #94a3b0; --line: #33404b; --back: #14191e;
  --soft: #1d252c; --ran: #5d6b77; --advised: #5bb0f0; --oracle: #46c9a8; --target: #ff6b7d; --load: #b894e6; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 940px; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.05rem; color: var(--dim); font-weight: 600; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; line-height: 1.35; margin: 2.6rem 0 .5rem; }
h1 + h2, h1 + section h2 { margin-top: .2rem; }
p, li { color: var(--dim); max-width: 80ch; } ul { padding-left: 1.1rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { text-align: right; padding: .35rem .7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--dim); font-weight: 600; font-size: .85rem; } th:first-child, td:first-child { text-align: left; }
td.text, th.text { text-align: left; } tr.advised td { font-weight: 700; background: var(--soft); }
a { color: var(--advised); } figure { margin: 1.1rem 0 0; } svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; margin-bottom: .2rem; } figcaption small { color: var(--dim); margin-right: .8rem; }
svg text { font: 11px system-ui, sans-serif; fill: var(--dim); } .grid { stroke: var(--line); }
polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
polygon.ran { fill: var(--ran); opacity: .45; } polyline.ran { stroke: var(--ran); }
polyline.advised { stroke: var(--advised); stroke-width: 2.2; } polygon.load { fill: var(--load); opacity: .35; }
polyline.oracle { stroke: var(--oracle); stroke-dasharray: 5 4; }
line.level { stroke: var(--target); stroke-dasharray: 6 4; stroke-width: 1.4; }
.key::before { content: ""; display: inline-block; width: 1.1em; height: .6em; margin: 0 .4em 0 .8em;
  border-radius: 2px; background: currentColor; } .key { font-size: .85rem; }
.key.ran { color: var(--ran); } .key.advised { color: var(--advised); } .key.oracle { color: var(--oracle); }
@media (max-width: 600px) { svg text { font-size: 20px; } }
.key.level { color: var(--target); } .key.load { color: var(--load); }
"""


def page(queries: Sequence[QueryAdvice], failures: Sequence[Failure]) -> str:
    """The text of the page; queries come in the order in which they are shown."""
    body = [f"<h1>Penstock: advice from event logs, {len(queries):,} quer{'y' if len(queries) == 1 else 'ies'}</h1>"]
    if len(queries) > 1:
        body.append(_ranking(queries))
    body += [_section(number, advice) for number, advice in enumerate(queries[:DETAILED])]
    if len(queries) > DETAILED:
        body.append(f"<p>The first {DETAILED} are shown in full.</p>")
    if any(advice.policies for advice in queries):
        lines = "".join(f"<li>{escape(each)}</li>" for each in ASSUMED)
        body.append(f"<h3>What is assumed</h3><ul>{lines}</ul>")
    if failures:
        lines = "".join(f"<li>{escape(str(failure))}</li>" for failure in failures)
        body.append(f"<h2>Logs that could not be read</h2><ul>{lines}</ul>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Penstock: advice</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _ranking(queries: Sequence[QueryAdvice]) -> str:
    head = ("query", "ran", "core-hours", "fewer", "cores saved", "outside", "application")
    lines = []
    for number, advice in enumerate(queries):
        best = advice.recommended
        name = escape(advice.query)
        told = ("–", "–", "–") if best is None else (
            percent(advice.saving(best[1])), f"{advice.cores_saved + 0.0:.1f}", ratio(best[1].violation_ratio)
        )  # fmt: skip
        link = f'<a href="#query{number}">{name}</a>' if number < DETAILED else name
        ran = (lasting(advice.seconds), hours(advice.ran.core_hours))
        lines.append(_row((link, *ran, *told, escape(advice.application))))
    return f"<h2>{escape(total(queries))}.</h2>{_table(head, lines)}"


def _section(number: int, advice: QueryAdvice) -> str:
    began = datetime.fromtimestamp(advice.begin, UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [
        f'<section id="query{number}"><h2>{escape(headline(advice))}.</h2>',
        f"<p>{escape(how_it_ran(advice))} From {began} on, by {escape(advice.file.name)}.</p>",
    ]
    if advice.policies:
        parts.append(_outcomes(advice))
    parts += _charts(advice)
    if advice.notes:
        notes = "".join(f"<li>{escape(note)}</li>" for note in advice.notes)
        parts.append(f"<h3>What to know about it</h3><ul>{notes}</ul>")
    return "".join([*parts, "</section>"])


def _outcomes(advice: QueryAdvice) -> str:
    head = ("", "core-hours", "fewer", f"{advice.unit}s", "time outside", "latency", "p95", "changes")
    lines = []
    for number, (name, outcome) in enumerate(rows(advice)):
        cells = (
            escape(name), hours(outcome.core_hours), percent(advice.saving(outcome)) if number else "",
            f"{advice.units(outcome):.1f}", ratio(outcome.violation_ratio), milliseconds(outcome.latency_ms),
            milliseconds(outcome.latency_p95_ms), str(outcome.changes),
        )  # fmt: skip
        lines.append(_row(cells, "advised" if number == 1 else ""))
    return _table(head, lines)


def _charts(advice: QueryAdvice) -> list[str]:
    seconds = advice.seconds
    cores = [Line(advice.ran.cores, "ran", "as it ran", area=True)]
    if advice.recommended is not None:
        cores.append(Line(advice.recommended[1].cores, "advised", escape(advice.recommended[0])))
    if advice.oracle is not None:
        cores.append(Line(advice.oracle.cores, "oracle", "oracle"))
    target = advice.target_ms / 1e3
    latency, level = [Line(advice.latency, "ran", "on average")], (target, f"target {target:g} s")
    return [
        chart("Load", "records/s", seconds, [Line(advice.load, "load", "what came", area=True)]),
        chart("Cores", "", seconds, cores),
        chart("Event latency as it ran", "s", seconds, latency, level),
    ]


def _table(head: Sequence[str], lines: Sequence[str]) -> str:
    cells = "".join(f"<th>{name}</th>" for name in head)
    return f'<div class="scroll"><table><tr>{cells}</tr>{"".join(lines)}</table></div>'


def _row(cells: Sequence[str], style: str = "") -> str:
    inside = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{style}">{inside}</tr>' if style else f"<tr>{inside}</tr>"
