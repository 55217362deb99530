"""`python -m benchmarks.chains_picture`: draws docs/images/chains.png from what `chains_load` has measured."""

from __future__ import annotations

import json
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.__main__ import RESULTS
from benchmarks.chains_simulated import WAYS, load
from penstock.report.picture import DPI, GRID, INK, OPERATOR_COLOURS, PANEL_HEIGHT, WIDTH

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "chains.png"


def main() -> None:
    rows = json.loads((RESULTS / "chains_load.json").read_text())["rows"]
    moments = [row for row in rows if "slots" in row]
    figure = Figure(figsize=(WIDTH, 2.4 * PANEL_HEIGHT), dpi=DPI, layout="constrained", facecolor="white")
    above, slots = figure.subplots(2, 1, sharex=True, height_ratios=(1, 2))
    curve = load()
    above.plot(curve.times, curve.rates, color=INK, lw=1.6)
    for number, way in enumerate(WAYS):
        own = [row for row in moments if row["way"] == way]
        t = [row["t"] for row in own]
        slots.step(t, [row["slots"] for row in own], where="post", color=OPERATOR_COLOURS[number], lw=2.0, label=way)
    above.set_ylabel("records/s", color=INK)
    slots.set_ylabel("slots that the plan holds", color=INK)
    slots.set_xlabel("seconds", color=INK)
    slots.legend(frameon=False, labelcolor=INK)
    for axes in (above, slots):
        axes.set_ylim(bottom=0)
        axes.grid(color=GRID, lw=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, format="png", metadata={"Software": None})


if __name__ == "__main__":
    main()
