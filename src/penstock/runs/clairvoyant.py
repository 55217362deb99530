"""A dynamic programme over the simulator itself: the cheapest schedules for a load curve that is known beforehand.

Time is cut into the intervals in which everybody decides. At the end of each interval the search knows, for each plan
that may be in force then, the cheapest ways to come there by their violated seconds (`front`). What an interval costs
and how many of its seconds miss a target is not modelled: it is simulated (`rehearsal`), with downtime, backlog,
back-pressure and executors that take time to arrive. Ways that leave the job calm are one from then on; where records
wait at the end of an interval, the next one is simulated from that very moment.

The plans that it chooses from are the cheapest for some rate (`ladder`): in each interval those for the load of that
interval, and for the highest load of spans around it, since it may be cheaper to keep a plan than to change twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from penstock.load.trace import Trace
from penstock.model import Execution, Plan
from penstock.runs.front import SIZE, Floats, Front, Ints, cheapest_of
from penstock.runs.schedule import Schedule
from penstock.runs.simulation import Simulation
from penstock.simulator.executors import Executors
from penstock.simulator.ladder import Rung, ladder
from penstock.simulator.rehearsal import Moment, Rehearsal, later

WORTH_SHOWING = 0.03
"""Violations of more than this part of all seconds are of no interest."""

AMPLE = 0.8
"""A plan that needs at most this part of what it can carry has no wait to speak of: its interval is not simulated."""

TO_DRAIN = 1.35
"""Plans are considered that carry more than the highest load by this factor: what waited has to be worked off."""

FEW, SHORT = 8, 30
"""With no more plans and intervals than this, all plans are tried in each interval, and nothing likely is left out."""

SPANS = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
"""Intervals over which it may be worth keeping a plan."""

KEPT_AT_FIRST = 60
"""For so many intervals the plan that the job starts with may be kept, if it is not one of the cheapest."""

UNSETTLED = 4
"""At most so many moments with records waiting are followed at a time."""

LIKELY = 100
"""The same for few plans and intervals."""

PHASES = 40
"""With few plans and intervals, micro-batches are told apart by so many phases between two triggers."""

DRAINING = (0, 1, 3, 8)
"""Where records wait, plans are tried that are larger than needed by so many rungs."""

PRICE = 15.0
"""About so many seconds of the whole job's slots are worth as much as a second in violation, near the allowed part."""


@dataclass
class Node:
    """A plan in force at the end of an interval, the moment in the simulator, and the ways that lead there.

    phase  what tells it from other moments of its plan; None where the past still matters
    """

    plan: int
    moment: Moment
    phase: int | None
    front: Front = field(default_factory=Front.empty)


@dataclass(frozen=True, slots=True)
class Way:
    """A schedule as the search expects it to turn out."""

    violated_seconds: float
    core_seconds: float
    schedule: Schedule


def schedules(simulation: Simulation, margin: float = 0.0) -> tuple[Way, ...]:
    """The cheapest schedules by growing violations, for a load that is higher by the margin."""
    return _Search(simulation, margin).run()


class _Search:
    def __init__(self, simulation: Simulation, margin: float) -> None:
        workload = simulation.workload
        trace = replace(workload.trace, rates=tuple(rate * (1 + margin) for rate in workload.trace.rates))
        self._execution = workload.job.engine.execution
        self._executors = simulation.conditions.executors
        self._rehearsal = Rehearsal(
            workload.job, trace, workload.slo,
            step_seconds=simulation.step_seconds, change=simulation.change, conditions=simulation.conditions,
        )  # fmt: skip
        self._steps = round(simulation.interval_seconds / simulation.step_seconds)
        total = max(1, round(trace.seconds / simulation.step_seconds))
        self._intervals = math.ceil(total / self._steps)
        self._last_steps = total - (self._intervals - 1) * self._steps
        self._seconds = simulation.interval_seconds
        self._width = max(
            simulation.step_seconds, min(trace.seconds, max(WORTH_SHOWING * trace.seconds, SIZE - 1.0)) / (SIZE - 1)
        )
        self._peaks = _peaks(trace, self._intervals, simulation.interval_seconds)
        # Until executors have arrived the old plan is in force: the highest rate of that time.
        arrive = 0.0 if self._executors is None else self._executors.arrive_seconds
        begins = np.arange(self._intervals) * simulation.interval_seconds
        self._leads = np.maximum(trace.at(begins), trace.at(begins + arrive))
        steps = ladder(workload.job, workload.slo, TO_DRAIN * float(self._peaks.max()))
        rungs = _fullest(steps.rungs, self._executors)
        started = self._rehearsal.plan()
        self._plans = _plans(rungs, started)
        self._started = next(n for n, plan in enumerate(self._plans) if plan.parallelism == started.parallelism)
        self._small = len(self._plans) <= FEW and self._intervals <= SHORT
        self._slots = np.array([self._execution.slots(plan, workload.job.topology) for plan in self._plans])
        # Nobody has asked what the plan that the job starts with can carry: its intervals are all simulated.
        self._rates = np.array([rung.rate for rung in rungs] + [0.0] * (len(self._plans) - len(rungs)))
        self._rungs = len(rungs)
        self._needed = np.minimum(np.searchsorted(self._rates[: self._rungs], self._peaks), self._rungs - 1)
        self._history: list[list[tuple[int, Ints]]] = []  # of each interval: plans in force, and how they came about

    def run(self) -> tuple[Way, ...]:
        nodes = [self._first()]
        for interval in range(1, self._intervals):
            self._history.append([(node.plan, node.front.came_by) for node in nodes])
            nodes = list(self._next(interval, nodes))
        self._history.append([(node.plan, node.front.came_by) for node in nodes])
        return self._ways(nodes)

    # One interval ----------------------------------------------------------------------------------------------------

    def _length(self, interval: int) -> int:
        return self._last_steps if interval == self._intervals - 1 else self._steps

    def _first(self) -> Node:
        """Everybody starts with the plan that the job has."""
        violated = self._rehearsal.go_on(self._plans[self._started], self._length(0))
        node = self._reached(self._started, 0)
        one = np.array([self._price(None, self._started, 0)])
        node.front.add(one, np.array([violated]), np.array([0]), self._width)
        return node

    def _next(self, interval: int, nodes: Sequence[Node]) -> Iterator[Node]:
        settled: dict[tuple[int, int], Node] = {}
        unsettled: list[Node] = []

        def take(outcome: tuple[float, Node], sources: Sequence[Node]) -> None:
            """Let the ways of the sources, all of which have this outcome, go on to the node that it leads to."""
            violated, node = outcome
            if node.phase is None:
                unsettled.append(node)
            else:
                node = settled.setdefault((node.plan, node.phase), node)
            extra = np.array([self._price(source.plan, node.plan, interval) for source in sources])
            cost, before, which, places = cheapest_of([source.front for source in sources], extra)
            numbers = np.array([_index(nodes, source) for source in sources])
            node.front.add(cost, before + violated, numbers[which] * SIZE + places, self._width)

        drains = any(node.phase is None for node in nodes)
        for target in self._candidates(interval, drains):
            for node in nodes:
                if node.phase is not None and node.plan == target:
                    take(self._stay(interval, node), [node])
            for group in self._alike(interval, nodes, target):
                take(self._try(interval, group[0], target), group)
        for node in settled.values():
            node.front.trim()
        yield from settled.values()
        yield from self._worth_following(interval, unsettled, list(settled.values()))

    def _try(self, interval: int, source: Node, target: int) -> tuple[float, Node]:
        self._rehearsal.go_back(source.moment)
        violated = self._rehearsal.go_on(self._plans[target], self._length(interval))
        return violated, self._reached(target, interval)

    def _stay(self, interval: int, node: Node) -> tuple[float, Node]:
        highest = self._peaks[interval : interval + 2].max()
        if self._execution is Execution.CONCURRENT and highest <= AMPLE * self._rates[node.plan]:
            return 0.0, Node(node.plan, later(node.moment, self._length(interval)), node.phase)
        return self._try(interval, node, node.plan)

    def _reached(self, plan: int, interval: int) -> Node:
        return Node(
            plan,
            self._rehearsal.moment(),
            self._rehearsal.phase(float(self._peaks[interval]), PHASES if self._small else 1),
        )

    def _alike(self, interval: int, nodes: Sequence[Node], target: int) -> list[list[Node]]:
        """Nodes from which a change to the target comes to the same: calm ones of one phase, whatever plan they leave.

        If the change has to wait for executors, the old plan must not miss a target meanwhile. Where records wait, each
        node is one of its own; it may keep its plan, or go to one that carries the load and drains what waits.
        """
        need = int(self._needed[interval])
        larger = {min(self._rungs - 1, need + more) for more in DRAINING}
        larger |= {int(self._needed[interval : interval + span + 1].max()) for span in SPANS}
        alone: list[list[Node]] = []
        together: dict[tuple[int, bool], list[Node]] = {}
        for node in nodes:
            waits = self._holding(target) > self._holding(node.plan)
            if node.phase is None:
                if node.plan == target or target in larger:
                    alone.append([node])
            elif node.plan == target:
                continue
            elif waits and self._leads[interval] > self._rates[node.plan]:
                alone.append([node])
            else:
                together.setdefault((node.phase, waits), []).append(node)
        return [*together.values(), *alone]

    def _holding(self, plan: int) -> int:
        """How many executors a plan needs; 0 where there are none to wait for."""
        return 0 if self._executors is None else self._executors.holding(int(self._slots[plan]))

    def _price(self, source: int | None, target: int, interval: int) -> float:
        """Core-seconds of an interval: the slots of the target, and executors of the source until they are gone."""
        seconds = self._length(interval) * self._seconds / self._steps
        if self._executors is None:
            return float(self._slots[target]) * seconds
        leaving = 0 if source is None else max(0, self._holding(source) - self._holding(target))
        gone_after = min(seconds, self._executors.leave_seconds)
        return self._executors.cores * (self._holding(target) * seconds + leaving * gone_after)

    def _worth_following(self, interval: int, unsettled: Sequence[Node], settled: Sequence[Node]) -> list[Node]:
        """The moments with records waiting that may still lead to something cheaper than the calm ones do."""
        for node in unsettled:
            node.front.trim()
            for calm in settled:
                if calm.plan == node.plan:
                    node.front.drop(node.front.surpassed_by(calm.front))
        alive = [node for node in unsettled if len(node.front.ways)]
        slots, rate = float(self._slots[self._needed[interval]]), max(1.0, float(self._peaks[interval]))

        def hopeless(node: Node) -> float:
            """What a node has cost, in seconds of the whole job, with the violations that its backlog will bring."""
            late = node.front.violated + node.moment.waiting_records / rate
            return float((node.front.cost / slots + PRICE * late).min())

        return sorted(alive, key=hopeless)[: LIKELY if self._small else UNSETTLED]

    # Which plans -----------------------------------------------------------------------------------------------------

    def _candidates(self, interval: int, drains: bool) -> list[int]:
        """The plans to try in an interval; larger ones as well where a backlog has to be drained."""
        if self._small:
            return list(range(len(self._plans)))
        need = int(self._needed[interval])
        larger = DRAINING if drains else (1,)
        found = {max(0, need - 1), need, *(min(self._rungs - 1, need + more) for more in larger)}
        for span in SPANS:
            found.add(int(self._needed[interval : interval + span + 1].max()))
            found.add(int(self._needed[max(0, interval - span) : interval + 1].max()))
        return sorted(found | ({self._started} if interval <= KEPT_AT_FIRST else set()))

    # The end ---------------------------------------------------------------------------------------------------------

    def _ways(self, nodes: Sequence[Node]) -> tuple[Way, ...]:
        found = sorted(
            (float(node.front.violated[place]), float(node.front.cost[place]), number, int(place))
            for number, node in enumerate(nodes) for place in node.front.ways
        )  # fmt: skip
        ways: list[Way] = []
        for violated, cost, number, place in found:
            if not ways or cost < ways[-1].core_seconds:
                ways.append(Way(violated, cost, self._schedule(number, place)))
        return tuple(ways)

    def _schedule(self, number: int, place: int) -> Schedule:
        plans: list[Plan] = []
        for nodes in reversed(self._history):
            plan, came_by = nodes[number]
            plans.append(self._plans[plan])
            number, place = divmod(int(came_by[place]), SIZE)
        return Schedule(tuple(reversed(plans)))


def _index(nodes: Sequence[Node], node: Node) -> int:
    return next(number for number, other in enumerate(nodes) if other is node)


def _peaks(trace: Trace, intervals: int, seconds: float) -> Floats:
    """The highest rate of each interval."""
    edges = np.arange(intervals + 1) * seconds
    at_edges = trace.at(edges)
    peaks = np.maximum(at_edges[:-1], at_edges[1:])
    places = ((np.array(trace.times) - trace.times[0]) // seconds).astype(np.int64)
    np.maximum.at(peaks, np.minimum(places, intervals - 1), np.array(trace.rates))
    return peaks


def _fullest(rungs: Sequence[Rung], executors: Executors | None) -> Sequence[Rung]:
    """The rungs that are worth considering: of those that cost the same executors, the one that carries the most."""
    if executors is None:
        return rungs
    return list({executors.holding(rung.slots): rung for rung in rungs}.values())


def _plans(rungs: Sequence[Rung], started: Plan) -> list[Plan]:
    """The plans of the rungs, and the one that the job starts with if it is not among them."""
    plans = [rung.plan for rung in rungs]
    return plans if any(plan.parallelism == started.parallelism for plan in plans) else [*plans, started]
