"""Amounts over time, in a number of bins that does not grow: where there would be too many, two become one."""

from __future__ import annotations

MOST = 8192
"""A day in bins of 16 s, a month in bins of 6 minutes; a few such series of a log are all that is kept of it."""


class Series:
    """Amounts that came about evenly between two times, summed up in bins of `width` seconds.

    >>> series = Series(begin=100.0)
    >>> series.add(100.5, 102.5, 20.0)
    >>> series.width, series.amounts
    (1.0, [5.0, 10.0, 5.0])
    """

    def __init__(self, begin: float, width: float = 1.0, most: int = MOST) -> None:
        self.begin, self.width = begin, width
        self.amounts: list[float] = []
        self._most = most

    def add(self, begin: float, end: float, amount: float) -> None:
        """Nothing is added for a time before the series began; for no time at all it is added at that moment."""
        begin, end = max(0.0, begin - self.begin), end - self.begin
        if end < 0 or (amount == 0 and end / self.width < len(self.amounts)):
            return
        while end / self.width >= self._most:
            pairs = [self.amounts[i : i + 2] for i in range(0, len(self.amounts), 2)]
            self.amounts = [sum(pair) for pair in pairs]
            self.width *= 2
        first, last = int(begin / self.width), int(end / self.width)
        self.amounts += [0.0] * (last + 1 - len(self.amounts))
        if end - begin <= 0 or first == last:
            self.amounts[last] += amount
            return
        each = amount / (end - begin)
        self.amounts[first] += each * ((first + 1) * self.width - begin)
        for place in range(first + 1, last):
            self.amounts[place] += each * self.width
        self.amounts[last] += each * (end - last * self.width)

    def rates(self) -> list[float]:
        """The amounts of one second in each bin."""
        return [amount / self.width for amount in self.amounts]

    def middles(self) -> list[float]:
        """The middle of each bin, in seconds since the series began."""
        return [(place + 0.5) * self.width for place in range(len(self.amounts))]
