"""Assembles a control loop: the only place that does, for simulations, live jobs and experiments alike.

`Steering` is the vocabulary: how a user says, in Python, on the command line and in tests, who steers a job and how.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, TypedDict, cast

from penstock.control.loop import Loop, Settings
from penstock.control.ports import Actuator, Clock, Monitor, Store
from penstock.forecast import FORECASTERS, Forecaster
from penstock.guards import Guard, GuardOptions, chain
from penstock.model import Execution, InvalidValueError, Mode, Slo, Topology, Worker, duration
from penstock.model.errors import check_choice, check_port
from penstock.model.options import option
from penstock.performance.batch_cost import batch_seconds
from penstock.policies import POLICIES, Policy
from penstock.serving.access import HERE, PLAIN, TOKEN, Access

DEFAULT_POLICY = "predictive"
"""What steers a job that nobody chose a policy for."""

POLICY_LIMIT_SECONDS = 10.0

OPTIONS = "docs/reference/options.md"
"""Where a user reads what the keywords mean."""


@dataclass(frozen=True, kw_only=True)
class Steering:
    """Who steers a job, and how.

    >>> Steering(policy="psps", interval="30 s").interval_seconds
    30.0
    """

    policy: Policy | str | None = option(None, "a name out of `penstock policies`, or a policy; none: predictive")
    policy_options: Mapping[str, Any] | None = option(None, "the options of the policy by name")
    guards: GuardOptions | None = option(
        None, "the options of guards by name, and none for a guard that is left out; `guards.only()` leaves out all"
    )
    forecaster: Forecaster | str | None = option(
        None, "a name out of `penstock forecasters`, or a forecaster; none: policies see the load as it was measured"
    )
    forecaster_options: Mapping[str, Any] | None = option(None, "the options of the forecaster by name")
    store: Store | str | None = option(
        None,
        "where cycles and models are kept: a database's URL, or a store; none: a SQLite file beside a checkpoint on a "
        "local disk, else memory",
    )
    retention: str | timedelta = option(
        "90 d", "how long a database keeps cycles; older ones are removed as new ones come"
    )
    interval: str | timedelta = option("10 s", "from one decision to the next")
    mode: Mode | str = option(
        Mode.ACTIVE, "active, monitor (decisions are made and recorded, the job is left alone) or off"
    )

    metrics_port: int | None = option(
        None,
        "the port at which a live job serves metrics for Prometheus, at /metrics; 0: any free one",
    )

    dashboard: bool = option(False, "whether a live job serves its page, at the first free port from 8787 on")

    listen: str = option(
        HERE,
        "the address at which metrics and page are served: this machine only by default. Another one needs a token in "
        f"the environment, {TOKEN}, and a certificate",
    )
    certificate: str | None = option(
        None,
        f"a PEM file with the certificate and its key, with which metrics and page are encrypted; {PLAIN}: something "
        "in front of them encrypts, such as a proxy",
    )

    def __post_init__(self) -> None:
        check_choice("mode", str(self.mode), [mode.value for mode in Mode])
        if self.metrics_port is not None:
            check_port("metrics_port", self.metrics_port)
        if self.metrics_port is not None or self.dashboard:
            _ = self.access  # refuses what is wrong before a job starts
        duration("interval", self.interval)
        duration("retention", self.retention)
        _refuse_options("policy", self.policy, self.policy_options)
        _refuse_options("forecaster", self.forecaster, self.forecaster_options)

    @property
    def interval_seconds(self) -> float:
        return duration("interval", self.interval).total_seconds()

    @property
    def access(self) -> Access:
        """Who may read metrics and page."""
        return Access.of(self.listen, self.certificate)

    def chosen_policy(self) -> Policy:
        policy = DEFAULT_POLICY if self.policy is None else self.policy
        return POLICIES.create(policy, self.policy_options) if isinstance(policy, str) else policy

    def keywords(self) -> SteeringOptions:
        """The same as keywords, for whoever takes them."""
        return cast("SteeringOptions", {field.name: getattr(self, field.name) for field in fields(Steering)})

    def chosen_forecaster(self) -> Forecaster | None:
        if isinstance(self.forecaster, str):
            return FORECASTERS.create(self.forecaster, self.forecaster_options)
        return self.forecaster


class SteeringOptions(TypedDict, total=False):
    """The fields of `Steering` as keywords; a test compares the two."""

    policy: Policy | str | None
    policy_options: Mapping[str, Any] | None
    guards: GuardOptions | None
    forecaster: Forecaster | str | None
    forecaster_options: Mapping[str, Any] | None
    store: Store | str | None
    retention: str | timedelta
    interval: str | timedelta
    mode: Mode | str
    metrics_port: int | None
    dashboard: bool
    listen: str
    certificate: str | None


def assemble(
    steering: Steering,
    *,
    topology: Topology,
    slo: Slo,
    monitor: Monitor,
    actuator: Actuator,
    clock: Clock,
    store: Store,
    execution: Execution,
    policy: Policy | None = None,
    trigger_seconds: float = 0.0,
    workers: tuple[Worker, ...] = (),
    rounding: Guard | None = None,
    leaving: Callable[[], int | None] = lambda: None,
    policy_limit_seconds: float | None = POLICY_LIMIT_SECONDS,
) -> Loop:
    """The loop that steers one job.

    policy                given where it was already made from `steering`
    trigger_seconds       from one micro-batch to the next, where operators run sequentially
    workers               the machines of the cluster, where it says
    rounding              a guard that makes a plan one that the engine can carry out, such as whole executors
    leaving               counts the executors that were released and are not gone yet, where executors are changed
    policy_limit_seconds  how long a policy may think; None: as long as it likes, in a simulation
    """
    policy = policy or steering.chosen_policy()
    return Loop(
        topology=topology,
        slo=slo,
        policy=policy,
        monitor=monitor,
        actuator=actuator,
        store=store,
        clock=clock,
        guards=chain(steering.guards, rounding, getattr(policy, "takes_care_of", ())),
        forecaster=steering.chosen_forecaster(),
        execution=execution,
        trigger_seconds=trigger_seconds,
        workers=workers,
        mode=Mode(steering.mode),
        leaving=leaving,
        settings=Settings(
            interval_seconds=steering.interval_seconds,
            stale_after_seconds=_stale_after(steering.interval_seconds, execution, slo, trigger_seconds),
            policy_limit_seconds=policy_limit_seconds,
        ),
    )


def _stale_after(interval_seconds: float, execution: Execution, slo: Slo, trigger_seconds: float) -> float:
    """Three intervals without a measurement. Micro-batches are measured when they end, which may take longer."""
    sequential = execution is Execution.SEQUENTIAL
    return 3 * max(interval_seconds, batch_seconds(slo, trigger_seconds) if sequential else 0.0)


def _refuse_options(field: str, chosen: object, options: object) -> None:
    if options is not None and chosen is not None and not isinstance(chosen, str):
        raise InvalidValueError(f"{field}_options", f"must be left out for a {field} that is given ready-made")
