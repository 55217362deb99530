"""The snapshot that other programs send to `penstock decide`, and the decision that they get back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict

from penstock.model import (
    Decision,
    Execution,
    Expected,
    InvalidValueError,
    Observation,
    Operator,
    Plan,
    Sample,
    Topology,
    Worker,
)
from penstock.model.errors import check_whole, unknown
from penstock.performance.what_if import Outlook
from penstock.stores.codec import SloInNumbers, from_json, parsed, plain
from penstock.stores.complaint import shown, spelt


@dataclass(frozen=True)
class Snapshot:
    """What was observed, and the options of the policy."""

    observation: Observation
    options: Mapping[str, Any]


def read_snapshot(text: str) -> Snapshot:
    """Read a snapshot; an error is one sentence that names the field.

    >>> snapshot = read_snapshot(
    ...     '{"operators": [{"name": "split", "parallelism": 2, "max": 40}], "options": {"alpha": 0.8},'
    ...     ' "samples": [{"t": 0, "seconds": 10, "input_rate": 100, "operators": {"split": {"parallelism": 2}}}]}'
    ... )
    >>> snapshot.observation.t, str(snapshot.observation.plan), snapshot.options
    (10.0, 'split 2', {'alpha': 0.8})
    """
    _refuse_infinite_numbers(parsed(text))
    form = from_json(SnapshotForm, text)
    topology = Topology(
        tuple(operator.operator() for operator in form.operators), form.edges, form.source_partitions
    )  # fmt: skip
    _check_samples(form.samples, topology)
    samples = tuple(sample for sample in form.samples if not sample.warm_up)
    if not samples:
        raise InvalidValueError("samples", "must contain at least one without warm_up")
    observation = Observation(
        t=samples[-1].end, topology=topology, slo=form.slo.slo(), samples=samples,
        plan=Plan({operator.name: operator.parallelism for operator in form.operators}, form.executors),
        execution=form.execution, workers=form.workers,
    )  # fmt: skip
    return Snapshot(observation, form.options)


def decision_json(decision: Decision, explain: bool = False) -> dict[str, Any]:
    """A decision as other programs read it: every key is always present, null where nothing is known.

    >>> answer = decision_json(Decision.move(Plan({"split": 1}), Plan({"split": 2}), "split is busy"))
    >>> answer["parallelism"], answer["reason"], answer["expected"]["throughput"]
    ({'split': 2}, {'code': 'scale_up', 'text': 'split is busy'}, None)
    """
    answer = {
        "policy": decision.policy,
        "parallelism": plain(decision.plan.parallelism),
        "executors": decision.plan.executors,
        "placement": plain(decision.plan.placement),
        "reason": plain(decision.reason),
        "expected": _expected(decision.expected),
        "guards": [{"name": verdict.guard, **plain(verdict.reason)} for verdict in decision.verdicts],
    }
    return answer | {"figures": finite(plain(decision.figures))} if explain else answer


def outlook_json(outlook: Outlook) -> dict[str, Any]:
    """What is expected of a plan, as other programs read it: every key is always present.

    >>> answer = outlook_json(Outlook(Plan({"split": 2}), 2, 3, None, None, {}, ()))
    >>> answer["parallelism"], answer["slots"], answer["carries"], answer["misses"]
    ({'split': 2}, 2, None, [])
    """
    answer: dict[str, Any] = finite({
        "parallelism": plain(outlook.plan.parallelism),
        "slots": outlook.slots,
        "slots_now": outlook.slots_now,
        "expected": _expected(outlook.expected),
        "carries": outlook.carries,
        "utilisation": dict(outlook.utilisation),
        "misses": list(outlook.misses),
        "sentence": outlook.sentence,
    })  # fmt: skip
    return answer


def _expected(expected: Expected | None) -> dict[str, float | None]:
    known = expected or Expected()
    return {
        "throughput": known.throughput,
        "processing_latency_ms": known.processing_latency_ms,
        "event_latency_ms": known.event_latency_ms,
    }


# The form of a snapshot ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentOperator(Operator):
    """An operator as it runs now.

    parallelism  instances in force; they may be outside the bounds, into which a policy brings them back
    """

    parallelism: int

    def __post_init__(self) -> None:
        Operator.__post_init__(self)  # super() does not work here, as slots=True makes a new class
        check_whole("parallelism", self.parallelism, 1)

    def operator(self) -> Operator:
        return Operator(**{name: getattr(self, name) for name in Operator.__slots__})


def _mean_latency(given: Any) -> Any:
    """Read a latency that is a single number as its mean."""
    if not isinstance(given, dict):
        return given
    latencies = {name: given.get(name) for name in ("processing_latency_ms", "event_latency_ms")}
    return given | {name: {"mean": value} for name, value in latencies.items() if not isinstance(value, dict | None)}


@dataclass(frozen=True, kw_only=True)
class SnapshotForm:
    """The fields of a snapshot.

    operators          the steps of the job; those without a parent are roots and read the outside stream
    samples            what was measured, oldest first; a learner learns from each, one after the other
    edges              pairs of a parent and a child, along which records flow
    slo                the targets
    options            the policy's own options, by name
    executors          executors in force, where the cluster can change them
    source_partitions  partitions of the source; a root cannot use more instances than that
    execution          how the engine runs the operators: concurrent or sequential
    workers            the machines, where the cluster reports them
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)

    operators: tuple[PresentOperator, ...]
    samples: tuple[Annotated[Sample, BeforeValidator(_mean_latency)], ...]
    edges: tuple[tuple[str, str], ...] = ()
    slo: SloInNumbers = field(default_factory=SloInNumbers)
    options: dict[str, Any] = field(default_factory=dict)
    executors: int | None = None
    source_partitions: int | None = None
    execution: Execution = Execution.CONCURRENT
    workers: tuple[Worker, ...] = ()

    def __post_init__(self) -> None:
        if self.executors is not None:
            check_whole("executors", self.executors)


# Checks across fields ----------------------------------------------------------------------------------


def _check_samples(samples: tuple[Sample, ...], topology: Topology) -> None:
    """Refuse samples of another job, and samples that are not oldest first."""
    for i, sample in enumerate(samples):
        here = f"samples[{i}]"
        if i and sample.t < samples[i - 1].t:
            raise InvalidValueError(
                f"{here}.t",
                f"must not be earlier than that of the sample before it, but {sample.t:g} < {samples[i - 1].t:g}",
            )
        rates = sample.input_rate if isinstance(sample.input_rate, Mapping) else {}
        _check_names(f"{here}.input_rate", rates, topology.roots, topology, "a root")
        _check_names(f"{here}.operators", sample.operators, topology.names, topology, "an operator")
        for name, figures in sample.operators.items():
            received, parents = figures.records_from or {}, topology.parents[name]
            _check_names(f"{here}.operators.{name}.records_from", received, parents, topology, f"a parent of {name}")


def _check_names(field: str, given: Iterable[str], right: Sequence[str], topology: Topology, role: str) -> None:
    for name in given:
        if name not in topology.names:
            raise InvalidValueError(f"{field}:", unknown(name, right))
        if name not in right:
            raise InvalidValueError(f"{field}:", f"{name!r} is not {role}. There is: {', '.join(right) or 'nothing'}")


def _refuse_infinite_numbers(given: Any) -> None:
    """Refuse NaN and Infinity anywhere, in the options too, and integers too large for a float."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), given)]
    while waiting:  # no recursion: a text may be nested more deeply than the stack allows
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, name), item) for name, item in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, i), item) for i, item in enumerate(value)]
        elif isinstance(value, int | float) and not _is_finite(value):
            raise InvalidValueError(spelt(path), f"must be a finite number, not {shown(value)}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def finite(value: Any) -> Any:
    """Figures with None for NaN and Infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
