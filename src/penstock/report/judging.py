"""Whether what a paper claims holds here: judged by a band or by direction, true by calibration, or not to be judged.

A claim whose figure our constants were set from says nothing about the paper: it is an assumption, and is counted
apart. A claim that does not hold has a cause, ours or theirs, once an experiment has shown it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.report.bands import Band

Judged = tuple[bool | None, str]
"""Whether a claim holds, None where that cannot be judged, and the measure behind it, or why it cannot."""


class Judgement(StrEnum):
    HOLDS = "holds"
    CALIBRATED = "holds by calibration"
    FAILS = "does not hold"
    OPEN = "cannot be judged"


class Whose(StrEnum):
    OURS = "ours"
    THEIRS = "theirs"
    UNKNOWN = "not found out"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a claim does not hold, and the experiment that shows it.

    >>> print(Cause(Whose.THEIRS, "34! is 0 in 32 bits, so M/M/k gives no number"))
    theirs: 34! is 0 in 32 bits, so M/M/k gives no number
    """

    whose: Whose
    text: str = ""

    def __str__(self) -> str:
        return f"{self.whose}: {self.text}" if self.text else str(self.whose)


UNKNOWN = Cause(Whose.UNKNOWN)


def ours(text: str) -> Cause:
    """A cause in our simulator, policy or reading of the paper."""
    return Cause(Whose.OURS, text)


def theirs(text: str) -> Cause:
    """A cause in what the paper prints, or in the system that it measured."""
    return Cause(Whose.THEIRS, text)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a claim.

    `why` is the measure behind it; `band` is how near a figure had to come; `calibrated` names the constants that were
    set from this very figure; `cause` is why the claim fails, and counts only if it does.
    """

    holds: bool | None = None
    why: str = ""
    band: Band | None = None
    calibrated: str = ""
    cause: Cause = UNKNOWN

    @property
    def judgement(self) -> Judgement:
        """A claim that fails in spite of its calibration fails.

        >>> Verdict(True, "250,000", calibrated="service times").judgement.value
        'holds by calibration'
        >>> Verdict(False, "240,000", calibrated="service times").judgement.value
        'does not hold'
        """
        if self.holds is None:
            return Judgement.OPEN
        if not self.holds:
            return Judgement.FAILS
        return Judgement.CALIBRATED if self.calibrated else Judgement.HOLDS


def verdict(found: Judged | Verdict) -> Verdict:
    return found if isinstance(found, Verdict) else Verdict(*found)


def agrees(
    figure: float | None, paper: float, band: Band, form: str = ",.4g", missing: str = "not measured"
) -> Verdict:
    """Whether our figure agrees with the paper's, by the band of its kind.

    >>> from penstock.report.bands import SHARE
    >>> agrees(0.5623, 0.5617, SHARE).judgement.value, agrees(None, 0.5617, SHARE).judgement.value
    ('holds', 'cannot be judged')
    """
    if figure is None:
        return Verdict(None, missing, band)
    return Verdict(band.agrees(figure, paper), f"{figure:{form}} against {paper:{form}}", band)


def calibrated(found: Judged | Verdict, constants: str) -> Verdict:
    """A claim that rests on a figure from which these constants of ours were set."""
    return replace(verdict(found), calibrated=constants)


def unless(found: Judged | Verdict, cause: Cause) -> Verdict:
    """A claim, and the cause should it fail."""
    return replace(verdict(found), cause=cause)


def cannot_be_judged(why: str) -> Verdict:
    return Verdict(None, why)
