"""The report as one HTML file that needs nothing else: the page itself, with its answers inside."""

from __future__ import annotations

import json
from contextlib import closing

from penstock.dashboard import answers
from penstock.dashboard.server import static
from penstock.report.story import Story, targets
from penstock.report.words import ratio, span
from penstock.stores.history import History, Recorded, Span

MOST_CHANGES, MOST_OTHERS = 300, 150
"""So many decisions are in the file, the newest ones, each with its figures: others are in the database beside it."""

# The questions of the page, answered from DATA.
ANSWERS = """
window.PENSTOCK_REPORT = (() => {
  const DATA = %s;
  return {
    words: DATA.words,
    "/api/jobs": () => DATA.jobs,
    "/api/job": () => DATA.job,
    "/api/decision": (asked) => DATA.details[asked.number],
    "/api/decisions": (asked) => ({
      decisions: DATA.decisions.filter((each) => (asked.kind !== "changes" || each.changed) && !asked.before),
      first: Infinity,
    }),
  };
})();
"""


def html_page(store: str, story: Story) -> str:
    """The page of a run whose cycles are in `store`, a database of its own."""
    with closing(History(store)) as history:
        (name,) = history.jobs()
        found = history.span(name)
        assert found is not None
        shown = _shown(history, found)
        data = {
            "words": _words(story),
            "jobs": answers.jobs(history),
            "job": answers.job(history, name),
            "decisions": [answers.summary(each) for each in shown],
            "details": {each.number: answers.decision(history, name, each.number) for each in shown},
        }
    # No text inside can end the script: JSON may write "<" as a number.
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = static("page.html").replace(
        '<link rel="stylesheet" href="page.css">', f"<style>{static('page.css')}</style>"
    )
    head, scripts = page.split('<script src="charts.js"></script>')
    _, foot = scripts.split('<script src="page.js"></script>')
    inside = (ANSWERS % text, static("charts.js"), static("page.js"))
    return head + "\n".join(f"<script>{each}</script>" for each in inside) + foot


def _shown(history: History, found: Span) -> list[Recorded]:
    changes = history.decisions(found, MOST_CHANGES, changes=True)
    others = history.decisions(found, MOST_OTHERS)
    by_number = {each.number: each for each in (*changes, *others)}
    return [by_number[number] for number in sorted(by_number, reverse=True)]


def _words(story: Story) -> str:
    result = story.result
    kind = "on real Spark" if story.live else "simulated"
    fixed = "" if story.rival is None else f"; the fixed plan: {story.rival.result.core_seconds:,.0f}"
    return (
        f"{story.title}: {span(result.seconds)} {kind}. Targets: {targets(story.slo)}. "
        f"{result.core_seconds:,.0f} core-seconds{fixed}; {ratio(result.violation_ratio)} of the time outside"
    )
