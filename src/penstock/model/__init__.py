"""What everyone speaks: values with units in their names, refused where they are made. Standard library only."""

from penstock.model.decision import Decision, Expected, HoldsUpTo, Origin, Reason, ReasonCode, Verdict, direction
from penstock.model.description import JobDescription
from penstock.model.errors import InvalidValueError, MissingFigureError, PenstockError
from penstock.model.frozen import FrozenMap
from penstock.model.observation import Cycle, Forecast, Mode, Observation
from penstock.model.plan import Execution, Plan, Worker
from penstock.model.sample import Batch, Latency, OperatorSample, Sample
from penstock.model.slo import Slo, duration
from penstock.model.topology import JOB, Actuation, Operator, Topology

__all__ = [
    "JOB",
    "Actuation",
    "Batch",
    "Cycle",
    "Decision",
    "Execution",
    "Expected",
    "Forecast",
    "FrozenMap",
    "HoldsUpTo",
    "InvalidValueError",
    "JobDescription",
    "Latency",
    "MissingFigureError",
    "Mode",
    "Observation",
    "Operator",
    "OperatorSample",
    "Origin",
    "PenstockError",
    "Plan",
    "Reason",
    "ReasonCode",
    "Sample",
    "Slo",
    "Topology",
    "Verdict",
    "Worker",
    "direction",
    "duration",
]
