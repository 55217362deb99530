"""One vocabulary for whoever steers a job, and one place that makes a loop of it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import penstock
from loop_fakes import LARGE, TOPOLOGY, Job, Script, Ticks, Wants, sample
from penstock import Slo
from penstock.cli import bench, simulate
from penstock.control.assembly import Steering, SteeringOptions, assemble
from penstock.control.loop import Loop
from penstock.guards import Guard, chain, only
from penstock.model import Batch, Decision, Execution, InvalidValueError, Mode, Observation
from penstock.policies.predictive import Predictive
from penstock.policies.psps import Psps
from penstock.stores.memory import MemoryStore

FIELDS = {field.name: field for field in dataclasses.fields(Steering)}


@dataclass(frozen=True)
class Refuses(Guard):
    """A guard of somebody's own."""

    name: ClassVar[str] = "refuses"

    def vet(self, decision: Decision, observation: Observation) -> Decision:
        return decision


def loop_of(steering: Steering, **parts: Any) -> Loop:
    given: dict[str, Any] = {
        "topology": TOPOLOGY, "slo": Slo(), "monitor": Script([[sample(0)]]), "actuator": Job(), "clock": Ticks(),
        "store": MemoryStore(), "execution": Execution.CONCURRENT,
    }  # fmt: skip
    return assemble(steering, **(given | parts))


def test_only_the_assembler_makes_a_loop() -> None:
    root = Path(penstock.__file__).parent
    makers = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Loop"
    }
    assert makers == {"control/assembly.py"}


def test_the_keywords_are_the_fields_with_the_same_types() -> None:
    assert typing.get_type_hints(SteeringOptions) == typing.get_type_hints(Steering)


@pytest.mark.parametrize("command", [simulate.simulate, bench.bench])
def test_the_command_line_says_the_same_words(command: Any) -> None:
    options = set(inspect.signature(command).parameters)
    singular = {name.removesuffix("s") if name.endswith("_options") else name for name in FIELDS}
    assert not {"option", "decide_every", "interval_seconds", "decide_seconds"} & options
    assert {"policy", "guards", "interval"} <= options & singular


def test_without_a_word_predictive_steers_and_all_guards_vet_whose_work_it_does_not_do() -> None:
    loop = loop_of(Steering())
    assert isinstance(loop.policy, Predictive)
    assert {guard.name for guard in loop.guards} == {guard.name for guard in chain()} - {"patience", "stabilisation"}
    assert loop.mode is Mode.ACTIVE
    assert loop.settings.interval_seconds == 10.0
    assert loop.forecaster is None


def test_every_choice_reaches_the_loop() -> None:
    steering = Steering(
        policy="psps", policy_options={"window_seconds": 20}, guards={"calendar": None, "mine": Refuses()},
        forecaster="holt", interval="500 ms", mode="monitor",
    )  # fmt: skip
    loop = loop_of(steering)
    assert loop.policy == Psps(window_seconds=20.0)
    names = [guard.name for guard in loop.guards]
    assert "calendar" not in names
    assert names.index("refuses") == names.index("bounds") - 1
    assert loop.forecaster is not None
    assert loop.forecaster.name == "holt"
    assert (loop.mode, loop.settings.interval_seconds) == (Mode.MONITOR, 0.5)


def test_a_policy_of_ones_own_is_used_as_it_is() -> None:
    own = Wants()
    assert loop_of(Steering(policy=own, guards=only())).policy is own


def test_what_an_engine_rounds_comes_behind_all_that_changes_a_plan() -> None:
    names = [guard.name for guard in loop_of(Steering(policy="ds2"), rounding=Refuses()).guards]
    assert names[-3:] == ["refuses", "stabilisation", "calendar"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"mode": "on"}, "mode 'on' is not known"),
        ({"interval": "0 s"}, "interval must be positive"),
        ({"interval": 30}, "interval must be a time with its unit"),
        ({"policy": Wants(), "policy_options": {}}, "policy_options must be left out for a policy that is given"),
        ({"guards": {"patients": {}}}, "guard 'patients' is not known; did you mean 'patience'?"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        loop_of(Steering(**options))


def test_policies_see_a_sequential_job_as_if_it_were_concurrent_and_the_store_keeps_what_was_measured() -> None:
    own, store = Wants(answer=LARGE), MemoryStore()
    measured = dataclasses.replace(sample(0), throughput=100.0, batches=(Batch(100, 2.0, 1.5, 1.5),))
    loop = loop_of(
        Steering(policy=own, guards=only()), execution=Execution.SEQUENTIAL, store=store, monitor=Script([[measured]]),
        policy_limit_seconds=None,
    )  # fmt: skip
    loop.run_once()
    assert store.recent(1)[0].samples == (measured,)
    (seen,) = own.seen[0].samples
    assert seen.operators["split"].useful_seconds == pytest.approx(10 * 100 * 0.015 / (1 - 0.5 / 2.5))


def test_micro_batches_may_take_longer_than_three_intervals_before_a_measurement_is_stale() -> None:
    quick, slo = Steering(interval="1 s"), Slo(event_latency="20 s")  # so batches may take 10 s
    assert loop_of(quick, slo=slo).settings.stale_after_seconds == 3.0
    assert loop_of(quick, slo=slo, execution=Execution.SEQUENTIAL).settings.stale_after_seconds == 30.0
    assert loop_of(quick, execution=Execution.SEQUENTIAL, trigger_seconds=60.0).settings.stale_after_seconds == 180.0
