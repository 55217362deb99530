"""The five papers, one folder each: their workloads, their jobs on Spark, their tables and figures beside ours.

A paper's folder has `figures`, which lists its title `PAPER` and its tables and figures `ITEMS`: a function without
arguments runs one. A table or figure has a file of its own, such as `fig9`, or shares one with those that show the same
runs. The folder may have `workloads`, with the simulated jobs `WORKLOADS`, and `spark`, with the same jobs on Spark
`JOBS` and the experiments that run there `EXPERIMENTS`. `catalogue` finds them all. Nothing in an item is tuned to it:
jobs are calibrated once, and seeds are fixed.
"""

from penstock.model.extras import ensure

ensure("simulator")
