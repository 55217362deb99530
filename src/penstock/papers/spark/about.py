"""What the page of the experiments on Spark says before it shows them."""

ABOUT = """\
## What is asked of Spark, and what two cores cannot show

The jobs, loads and targets of the papers are scaled down to what a laptop carries, and the policies run in their loop
on real Spark: in real time, where operators run at once as in Storm and Flink and a change restarts the query, or is
handed over where that of the paper interrupts nothing; or in micro-batches, where a change takes effect with the next
batch, as with PSPS' pool of replicas; or as a native query, whose state is repartitioned.

- An operator waits for its service time instead of computing, as one that calls another system does, so that dozens of
  instances find room on few cores. Such instances do not get in each other's way. AuTraScale's Fig. 2 has a job that
  computes, where they do.
- Rates are hundreds of records a second, and a second of a job is up to twenty seconds of the paper's: rates, plans and
  times are not compared with the printed ones, what follows from them is. Beside Spark stands the same job in the
  simulator, with the service times that Spark has just shown, where that can be told.
- Latency is that of Spark's engines on cores that other programs may use too: tens of milliseconds in real time, and
  seconds in micro-batches. Every trial is one run, so small differences mean nothing.
- Windows of measurement are two seconds long, for which a trial of minutes has time. In a job that is overloaded their
  rates waver: of a constant 500 records/s one showed 242 and the next 658. A policy that keeps what it knows by rate,
  as AuTraScale does, may begin anew with such a window.
- One machine has no network between workers, no placement and no memory to run short of: driver and executors are one
  process, whose memory says nothing about a plan. CPU is what instances claim,
  as in AUTOSCALE's paper, or, for PSPS, what Spark counts for its tasks, in micro-batches and in real time.
- Nothing is replayed. Queues have no limit, and events no time-out, but for PSPS' tables that say so.
- A trial whose job failed, or of which nothing was measured for half a minute, is run once more. If it breaks again,
  its experiment is not on this page.
"""
