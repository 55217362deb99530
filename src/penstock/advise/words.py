"""An advice in words."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.advise.advice import Outcome, QueryAdvice
from penstock.report.words import count, milliseconds, rate, ratio, span

ALIKE = 0.02
"""A difference of less than this part of the core-hours is none."""


def headline(advice: QueryAdvice) -> str:
    """One sentence: what ran, what would have done, and what that means."""
    ran = f"{advice.query} ran {_units(advice, advice.ran)} for {lasting(advice.seconds)}"
    if advice.recommended is None:
        return f"{ran}; what policies would have done is not known: it {advice.why_not}"
    name, outcome = advice.recommended
    saved, target = advice.saving(outcome), f"with a target of {advice.target_ms / 1e3:g} s"
    really = advice.ran.violation_ratio
    outside = f"{ratio(outcome.violation_ratio)} of the time outside"
    if abs(outcome.violation_ratio - really) > 0.005:
        outside += f" (it was {ratio(really)})"
    average = f"{advice.units(outcome):.1f} on average"
    if saved > ALIKE:
        return f"{ran}; {target}, {average} would have done: {100 * saved:.0f} % fewer core-hours; {outside}"
    if saved < -ALIKE and really > outcome.violation_ratio + 0.005:
        return f"{ran}; {target}, it needs {average}: {-100 * saved:.0f} % more core-hours; {outside}"
    return f"{ran}; {target}, {name} would have saved nothing: {average}; {outside}"


def lasting(seconds: float) -> str:
    """How long a job ran; hours are what is paid for, so days are counted only when there are many.

    >>> lasting(111_594), lasting(42), lasting(2_000_000)
    ('31 h', '42 s', '23 d 3 h')
    """
    return f"{seconds / 3600:.0f} h" if 7200 <= seconds < 5 * 86_400 else span(seconds)


def percent(part: float) -> str:
    """
    >>> percent(0.531), percent(-0.001)
    ('53 %', '0 %')
    """
    return f"{round(100 * part) + 0:d} %"


def _units(advice: QueryAdvice, outcome: Outcome) -> str:
    number = advice.units(outcome)
    shown = f"{number:.0f}" if abs(number - round(number)) < 0.05 else f"{number:.1f}"
    return f"{shown} {advice.unit}{'' if shown == '1' else 's'}"


def total(queries: Sequence[QueryAdvice]) -> str:
    """One sentence about several queries: those of which it is known what a policy would have done."""
    known = [(advice.ran.core_hours, advice.recommended[1].core_hours) for advice in queries if advice.recommended]
    if not known:
        return f"{len(queries):,} queries ran; of none it is known what a policy would have done"
    ran, would = (sum(column) for column in zip(*known, strict=True))
    saved = 1 - would / ran if ran else 0.0
    change = f"{percent(abs(saved))} {'fewer' if saved >= 0 else 'more'}"
    silent = len(queries) - len(known)
    others = f"; of {silent:,} more the logs show too little" if silent else ""
    return f"{len(known):,} queries ran {hours(ran)} core-hours; {hours(would)} would have done: {change}{others}"


def hours(value: float) -> str:
    """
    >>> hours(991.95), hours(81.77), hours(8.1234), hours(0.00812)
    ('992', '81.8', '8.12', '0.0081')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.2g}"


def how_it_ran(advice: QueryAdvice) -> str:
    """Load, batches and cost, in two sentences."""
    lag = "" if advice.lag is None else f", {count(advice.lag) if advice.lag else 'none'} of them left waiting"
    text = (
        f"{advice.application} (Spark {advice.version}): {rate(advice.rate)} on average, {rate(advice.highest_rate)} "
        f"at most{lag}; tasks ran in {ratio(advice.used_ratio)} of the core time."
    )
    costs = advice.costs
    if costs is None:
        return text
    trigger = f"every {costs.trigger_seconds:g} s" if costs.trigger_seconds else "one after the other"
    return (
        f"{text} Batches, {trigger}, took {milliseconds(1e3 * costs.batch_seconds)} on average and "
        f"{milliseconds(1e3 * costs.longest_seconds)} at most; a batch costs {milliseconds(1e3 * costs.fixed)} of a "
        f"core, each record {milliseconds(1e3 * costs.per_record)} more, and the driver takes "
        f"{milliseconds(1e3 * costs.overhead)}."
    )
