"""Finds the Java that Spark and Kafka run on. `python -m penstock.testbed.java` succeeds where there is one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from penstock.model.errors import PenstockError

OLDEST = 17


class JavaMissingError(PenstockError):
    """There is no Java, or it is too old for Spark 4."""


def java() -> str:
    """The command that starts Java: the one of JAVA_HOME, else the first on the path."""
    home = os.environ.get("JAVA_HOME")
    command = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if command is None or not os.path.exists(command):
        raise JavaMissingError(f"Java {OLDEST} or newer is missing: install it, or set JAVA_HOME")
    said = subprocess.run([command, "-version"], capture_output=True, text=True, check=False).stderr
    if (version := major_version(said)) is None or version < OLDEST:
        raise JavaMissingError(f"Java {OLDEST} or newer is needed, but {command} is {said.splitlines()[:1]}")
    return command


def major_version(said: str) -> int | None:
    """The major version in the output of `java -version`.

    >>> major_version('openjdk version "17.0.15" 2025-04-15'), major_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else None


if __name__ == "__main__":
    try:
        java()
    except JavaMissingError:
        sys.exit(1)
