"""Keeps what Py4J has found out about the classes of the JVM with which PySpark makes columns and frames.

Whenever Python names a class of the JVM or one of its methods, Py4J asks the JVM what that is: up to two calls before
the one that is meant. The frames of a micro-batch are built anew for each batch, while all cores wait, and nearly half
of the calls that build them ask for what was the same in the batch before.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember

CLASSES = ("functions", "org.apache.spark.sql.functions", "PythonUtils")
"""As PySpark names them."""


class _KnownClass(JavaClass):  # type: ignore[misc]  # Py4J has no types
    """A class that asks the JVM once for each of its methods."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):  # it holds no more than the names of the class and the method
            setattr(self, name, found)  # so Python finds it, and does not ask here again
        return found


def keep_classes(jvm: Any) -> None:
    """From now on, whoever uses this view of the JVM asks once for each of the classes and their methods."""
    for name in CLASSES:
        found = getattr(jvm, name)
        if not isinstance(found, _KnownClass):
            setattr(jvm, name, _KnownClass(found._fqn, found._gateway_client))
