"""What an experiment found: the paper's figures beside ours, and whether what the paper claims of them holds here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.report.judging import Judged, Judgement, Verdict, verdict

Figure = float | str | None
"""A number, words where the paper prints words (a plan, "yes"), or None where there is none."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of a table: theirs, ours in the simulator and, in experiments that run there, ours on Spark.

    `calibrated` says that constants of ours were set from this figure of the paper.
    """

    label: str
    paper: Figure = None
    ours: Figure = None
    unit: str = ""
    spark: Figure = None
    calibrated: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours divided by theirs, where both are numbers.

        >>> Row("throughput", 250e3, 275e3, "records/s").ratio
        1.1
        """
        return _over(self.ours, self.paper)

    @property
    def spark_ratio(self) -> float | None:
        """Spark divided by the simulator: a job on Spark is scaled down, so the paper's figure is no measure for it.

        >>> Row("throughput", 350e3, 400.0, "records/s", spark=380.0).spark_ratio
        0.95
        """
        return _over(self.spark, self.ours)


def _over(figure: Figure, reference: Figure) -> float | None:
    if isinstance(figure, str) or isinstance(reference, str) or figure is None or not reference:
        return None
    return figure / reference


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says follows from its figures, and whether that follows from ours as well."""

    text: str
    verdict: Verdict

    @property
    def judgement(self) -> Judgement:
        return self.verdict.judgement

    @property
    def why(self) -> str:
        return self.verdict.why


def lower(ours: float, other: float) -> Judged:
    """Whether our figure is lower than another one.

    >>> lower(1.5, 2.0), lower(0.1, 0.0)
    ((True, 'by 25.00%'), (False, '0.1 against 0'))
    """
    return ours < other, f"by {1 - ours / other:.2%}" if other else f"{ours:.4g} against 0"


def listed(figures: Mapping[str, float], form: str) -> str:
    """Figures with their names.

    >>> listed({"WordCount": 0.125, "Yahoo": 0.5}, ".1%")
    'WordCount: 12.5%, Yahoo: 50.0%'
    """
    return ", ".join(f"{name}: {figure:{form}}" for name, figure in figures.items())


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart, or the bars of one colour."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure to draw: lines over x, or bars where `bars` is set (then x is the place of each bar, from 0)."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    bars: bool = False
    ticks: tuple[str, ...] = ()


def bar_chart(
    title: str, x_label: str, y_label: str, ticks: Sequence[object], colours: Mapping[str, Iterable[float]]
) -> Chart:
    """A chart with a group of bars at each tick: for every colour, by its label, the bar at each of them."""
    places = tuple(float(place) for place in range(len(ticks)))
    series = tuple(Series(label, places, tuple(map(float, heights))) for label, heights in colours.items())
    return Chart(title, x_label, y_label, series, bars=True, ticks=tuple(map(str, ticks)))


@dataclass(frozen=True, slots=True)
class Item:
    """One table or figure. `setting` names job, load, seeds and options, so that anyone can run it again."""

    title: str
    setting: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]
    charts: tuple[Chart, ...] = ()

    @classmethod
    def of(
        cls,
        title: str,
        setting: str,
        rows: Iterable[Row],
        claims: Mapping[str, Judged | Verdict],
        charts: Iterable[Chart] = (),
    ) -> Item:
        """An item whose claims are given by their texts."""
        judged = (Claim(text, verdict(found)) for text, found in claims.items())
        return cls(title, setting, tuple(rows), tuple(judged), tuple(charts))
